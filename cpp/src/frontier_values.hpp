// What a state's value can be: a word modulo 2^64, several residues, or a double.
//
// Each kind has
//   words()      words a value
//   sums()       words of a running sum of products
//   forward      out[place] += weight * value[source], over the pairs of a stream
//   backward     back[source] += weight * next[place], and sum += value[source] * next[place]
//   settle       brings values into their normal form after all streams of a chunk
//   finish       a running sum as a value
//   one          the value 1
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "anonymatch/frontier.hpp"

namespace anonymatch::frontier {

__extension__ typedef unsigned __int128 u128;

using Pairs = std::span<const std::uint32_t>;

class Wrapping {
public:
    using Word = std::uint64_t;
    explicit Wrapping(const FrontierWords& values)
        : weights_(values.weights.begin(), values.weights.end()) {}

    [[nodiscard]] std::size_t words() const noexcept { return 1; }
    [[nodiscard]] std::size_t sums() const noexcept { return 1; }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const Word* value,
                 Word* out) const noexcept {
        const Word weight = weight_of(edge);
        if (weight == 1) {
            for (std::size_t k = 0; k < sources.size(); ++k) out[places[k]] += value[sources[k]];
        } else {
            for (std::size_t k = 0; k < sources.size(); ++k)
                out[places[k]] += weight * value[sources[k]];
        }
    }
    void backward(std::int32_t edge, Pairs sources, Pairs places, const Word* value, const Word* next,
                  Word* back, Word* sum) const noexcept {
        const Word weight = weight_of(edge);
        Word total = 0;
        for (std::size_t k = 0; k < sources.size(); ++k) {
            const Word ahead = next[places[k]];
            back[sources[k]] += weight * ahead;
            total += value[sources[k]] * ahead;
        }
        *sum += total;
    }
    void settle(Word*, std::size_t) const noexcept {}
    void finish(const Word* sum, Word* out) const noexcept { *out = *sum; }
    void one(Word* out) const noexcept { *out = 1; }

private:
    [[nodiscard]] Word weight_of(std::int32_t edge) const noexcept {
        return weights_.empty() || edge < 0 ? 1 : weights_[static_cast<std::size_t>(edge)];
    }
    std::vector<Word> weights_;
};

/// L words: modulo 2^64, then modulo odd numbers below 2^63. L = 0: their number is known at run time.
template <std::size_t L>
class Residues {
public:
    using Word = std::uint64_t;
    explicit Residues(const FrontierWords& values)
        : moduli_(1, 0), weights_(values.weights.begin(), values.weights.end()) {
        moduli_.insert(moduli_.end(), values.primes.begin(), values.primes.end());
        quotients_.resize(weights_.size());
        for (std::size_t k = 0; k < weights_.size(); ++k) {
            const Word modulus = moduli_[k % moduli_.size()];
            if (modulus != 0)
                quotients_[k] = static_cast<Word>((static_cast<u128>(weights_[k]) << 64) / modulus);
        }
    }

    [[nodiscard]] std::size_t words() const noexcept { return L == 0 ? moduli_.size() : L; }
    [[nodiscard]] std::size_t sums() const noexcept { return 2 * words(); }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const Word* value,
                 Word* out) const noexcept {
        const std::size_t n = words();
        for (std::size_t k = 0; k < sources.size(); ++k)
            add_product(edge, value + sources[k] * n, out + places[k] * n);
    }
    void backward(std::int32_t edge, Pairs sources, Pairs places, const Word* value, const Word* next,
                  Word* back, Word* sum) const noexcept {
        const std::size_t n = words();
        for (std::size_t k = 0; k < sources.size(); ++k) {
            const Word* ahead = next + places[k] * n;
            const Word* here = value + sources[k] * n;
            add_product(edge, ahead, back + sources[k] * n);
            for (std::size_t w = 0; w < n; ++w) {
                // The running sum stays below modulus * 2^64: a product is below modulus^2, so
                // their sum is below 2 * modulus * 2^64 <= 2^128 and one subtraction is enough.
                const u128 total = static_cast<u128>(here[w]) * ahead[w] +
                                   (static_cast<u128>(sum[2 * w + 1]) << 64 | sum[2 * w]);
                const auto high = static_cast<Word>(total >> 64);
                sum[2 * w] = static_cast<Word>(total);
                sum[2 * w + 1] = std::min(high, high - moduli_[w]);
            }
        }
    }
    void settle(Word*, std::size_t) const noexcept {}
    void one(Word* out) const noexcept { std::fill_n(out, words(), Word{1}); }
    void finish(const Word* sum, Word* out) const noexcept {
        for (std::size_t w = 0; w < words(); ++w) {
            const u128 total = static_cast<u128>(sum[2 * w + 1]) << 64 | sum[2 * w];
            out[w] = moduli_[w] == 0 ? sum[2 * w] : static_cast<Word>(total % moduli_[w]);
        }
    }

private:
    void add_product(std::int32_t edge, const Word* from, Word* to) const noexcept {
        const std::size_t n = words();
        const Word* moduli = moduli_.data();
        if (edge < 0 || weights_.empty()) {
            // Both below the modulus, so the sum is below 2^64; subtracting the modulus wraps to
            // something larger exactly when the sum was already reduced. Modulus 0 stands for 2^64.
            for (std::size_t w = 0; w < n; ++w) {
                const Word total = to[w] + from[w];
                to[w] = std::min(total, total - moduli[w]);
            }
            return;
        }
        const Word* weights = weights_.data() + static_cast<std::size_t>(edge) * n;
        const Word* quotients = quotients_.data() + static_cast<std::size_t>(edge) * n;
        for (std::size_t w = 0; w < n; ++w) {
            // Shoup: with q = floor(weight * 2^64 / modulus), the estimate floor(q * x / 2^64) is at
            // most one short, so the remainder is below 2 * modulus < 2^64. Modulus 0 has q = 0.
            const auto estimate = static_cast<Word>(static_cast<u128>(quotients[w]) * from[w] >> 64);
            const Word rough = weights[w] * from[w] - estimate * moduli[w];
            const Word total = to[w] + std::min(rough, rough - moduli[w]);
            to[w] = std::min(total, total - moduli[w]);
        }
    }
    std::vector<Word> moduli_;
    std::vector<Word> weights_;
    std::vector<Word> quotients_;
};

/// Doubles with an exponent of their own: two words, a mantissa and the bits of a signed integer.
/// Values of one layer can differ by any factor (a ring has states with one way and states with
/// phi^n), so a common scale would lose some and no bound could be proved. Settled values are
/// 0, 0 or have a mantissa in [1, 2).
class Real {
public:
    using Word = double;
    explicit Real(const FrontierReals& values);

    [[nodiscard]] std::size_t words() const noexcept { return 2; }
    [[nodiscard]] std::size_t sums() const noexcept { return 3; }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                 double* out) const noexcept;
    void backward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                  const double* next, double* back, double* sum) const noexcept;
    void settle(double* values, std::size_t n) const noexcept;
    void finish(const double* sum, double* out) const noexcept;
    void one(double* out) const noexcept {
        out[0] = 1;
        out[1] = 0;
    }
    /// The value times the weight of the edge.
    [[nodiscard]] ScaledReal product(std::int32_t edge, const double* value) const noexcept;

private:
    [[nodiscard]] const ScaledReal& weight_of(std::int32_t edge) const noexcept {
        return weights_.empty() || edge < 0 ? one_ : weights_[static_cast<std::size_t>(edge)];
    }
    std::vector<ScaledReal> weights_;
    ScaledReal one_{1.0, 0};
};

}  // namespace anonymatch::frontier
