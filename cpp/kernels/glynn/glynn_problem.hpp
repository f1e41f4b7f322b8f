// What every path of glynn.hpp shares: the matrix made ready, wide totals, and the doors to the paths.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "glynn/glynn.hpp"

namespace anonymatch::glynn {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

inline constexpr int unit_bits = 20;  // sign vectors of a unit, as a power of two

/// The columns are numbered by how often their sign changes: 0 .. unit_bits-1 run inside a unit, the
/// bits of the unit's number give the signs of the next ones (bit set: -1), column n-1 stays +1.
struct GlynnProblem {
    int n = 0;
    int halved =
        0;  // rows whose sum is even: r_i is even for every sign vector, so r_i / 2 is kept
    std::array<std::array<std::int64_t, glynn_largest_n>, glynn_largest_n>
        change{};                                       // 2 a_ij, or a_ij if halved
    std::array<std::int64_t, glynn_largest_n> bound{};  // of |r_i| as kept
    std::array<bool, glynn_largest_n> even{};

    GlynnProblem(std::span<const std::uint32_t> matrix, int size) noexcept : n(size) {
        for (int i = 0; i < n; ++i) {
            std::int64_t sum = 0;
            for (int j = 0; j < n; ++j) sum += matrix[cell(i, j)];
            const auto row = static_cast<std::size_t>(i);
            even[row] = sum % 2 == 0;
            halved += even[row];
            bound[row] = even[row] ? sum / 2 : sum;
            for (int j = 0; j < n; ++j)
                change[row][static_cast<std::size_t>(j)] =
                    static_cast<std::int64_t>(matrix[cell(i, j)]) * (even[row] ? 1 : 2);
        }
    }

    [[nodiscard]] std::size_t cell(int i, int j) const noexcept {
        return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
               static_cast<std::size_t>(j);
    }

    /// Free columns inside a unit.
    [[nodiscard]] int inner() const noexcept { return n - 1 < unit_bits ? n - 1 : unit_bits; }

    /// r_i, as kept, at the start of a unit: all inner columns at +1.
    [[nodiscard]] std::int64_t start(int i, std::uint64_t unit) const noexcept {
        const auto& row = change[static_cast<std::size_t>(i)];
        std::int64_t sum = bound[static_cast<std::size_t>(i)];
        for (int j = inner(); j < n - 1; ++j)
            if (unit >> (j - inner()) & 1) sum -= row[static_cast<std::size_t>(j)];
        return sum;
    }
};

/// A number modulo 2^192 in two's complement.
class Total {
public:
    Total() = default;
    explicit Total(i128 value) noexcept
        : words_{static_cast<std::uint64_t>(value),
                 static_cast<std::uint64_t>(static_cast<u128>(value) >> 64),
                 value < 0 ? ~std::uint64_t{0} : 0} {}

    Total& operator+=(const Total& other) noexcept {
        u128 carry = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            carry += static_cast<u128>(words_[k]) + other.words_[k];
            words_[k] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
        return *this;
    }

    Total operator-() const noexcept {
        Total result(1);
        Total flipped;
        for (std::size_t k = 0; k < 3; ++k) flipped.words_[k] = ~words_[k];
        return result += flipped;
    }

    Total& operator-=(const Total& other) noexcept { return *this += -other; }

    Total operator<<(int shift) const noexcept {
        auto words = words_;
        for (; shift >= 64; shift -= 64) words = {0, words[0], words[1]};
        if (shift > 0)
            words = {words[0] << shift, words[1] << shift | words[0] >> (64 - shift),
                     words[2] << shift | words[1] >> (64 - shift)};
        Total result;
        result.words_ = words;
        return result;
    }

    Total operator*(const Total& other) const noexcept {
        Total result;
        for (std::size_t i = 0; i < 3; ++i) {
            u128 carry = 0;
            for (std::size_t j = 0; i + j < 3; ++j) {
                carry += static_cast<u128>(words_[i]) * other.words_[j] + result.words_[i + j];
                result.words_[i + j] = static_cast<std::uint64_t>(carry);
                carry >>= 64;
            }
        }
        return result;
    }

    /// Adds this number to the words at `out`, modulo 2^(64 out.size()).
    void add_to(std::span<std::uint64_t> out) const noexcept {
        u128 carry = 0;
        for (std::size_t k = 0; k < out.size(); ++k) {
            carry += static_cast<u128>(out[k]) + words_[k];
            out[k] = static_cast<std::uint64_t>(carry);
            carry >>= 64;
        }
    }

private:
    std::array<std::uint64_t, 3> words_{};
};

using Range = std::array<std::uint64_t, 2>;  // first and last unit

void count_portable(const GlynnProblem& problem, Range units,
                    std::span<std::uint64_t> out) noexcept;
void minors_portable(const GlynnProblem& problem, Range units,
                     std::span<std::uint64_t> out) noexcept;

// The vector paths say false, and touch nothing, when the matrix is too small or too heavy for them.
#if defined(__x86_64__)
[[nodiscard]] bool count_avx2(const Packed& packed, Range units,
                              std::span<std::uint64_t> out) noexcept;
[[nodiscard]] bool count_avx512(const Packed& packed, Range units,
                                std::span<std::uint64_t> out) noexcept;
/// Modulo 2^(104 + halved) alone.
[[nodiscard]] bool count_kept_avx512(const Packed& packed, Range units,
                                     std::span<std::uint64_t> out) noexcept;
[[nodiscard]] bool minors_avx512(const GlynnProblem& problem, Range units,
                                 std::span<std::uint64_t> out) noexcept;
#endif

}  // namespace anonymatch::glynn
