// Subsets of a given size, by rising mask: how many, where they lie, and what joins what below.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "band/band.hpp"

namespace anonymatch::band {

inline constexpr int low_limit = 8;    // bits of a block
inline constexpr int fresh_limit = 4;  // columns that come with a row; others come before it

namespace detail {
inline constexpr int rows = 2 * band_width_limit + 4;
using Binomials = std::array<std::array<std::uint64_t, rows>, rows>;
constexpr Binomials make_binomials() {
    Binomials table{};
    for (std::size_t n = 0; n < rows; ++n) {
        table[n][0] = 1;
        for (std::size_t k = 1; k <= n; ++k) table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
    }
    return table;
}
inline constexpr Binomials binomials = make_binomials();
}  // namespace detail

/// Subsets of size k of n things; 0 where there are none.
[[nodiscard]] inline std::size_t subsets(int n, int k) noexcept {
    if (k < 0 || k > n) return 0;
    return detail::binomials[static_cast<std::size_t>(n)][static_cast<std::size_t>(k)];
}

/// One way to join: index into a block, and the bit that makes the difference.
struct Join {
    std::uint8_t index;
    std::uint8_t bit;
};

/// For blocks of `bits` bits. ups[j]: for every set of size j + 1 its j + 1 subsets of size j;
/// downs[j]: for every set of size j its bits - j supersets of size j + 1.
struct Joins {
    std::array<std::vector<Join>, low_limit + 1> ups;
    std::array<std::vector<Join>, low_limit + 1> downs;
};
const Joins& joins(int bits);

/// For blocks of `bits` bits whose lowest `fresh` are new, size j: places of the sets that hold
/// none of them, of those that hold just the c-th, and of the others.
struct Insertion {
    std::vector<std::uint8_t> none;
    std::array<std::vector<std::uint8_t>, fresh_limit> one;
    std::vector<std::uint8_t> more;
};
const Insertion& insertion(int bits, int fresh, int size);

/// Where the block of every upper mask begins: sets of `size` out of upper + low bits. It remembers
/// what it was made for last, because every digit asks again.
class BlockOffsets {
public:
    void locate(int upper, int low, int size);
    [[nodiscard]] std::uint32_t operator[](std::size_t mask) const noexcept {
        return offsets_[mask];
    }
    [[nodiscard]] std::size_t blocks() const noexcept { return std::size_t{1} << upper_; }

private:
    int upper_ = -1;
    int low_ = 0;
    int size_ = 0;
    std::vector<std::uint32_t> offsets_;
};

}  // namespace anonymatch::band
