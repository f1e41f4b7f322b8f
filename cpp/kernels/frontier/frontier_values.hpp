// What a state's value can be: a word modulo 2^64, several residues, or a double.
//
// Each kind has
//   words()      words a value
//   sums()       words of a running sum of products
//   forward      out[place] += weight * value[source], over the pairs of a stream
//   backward     back[source] += weight * next[place], and sum += value[source] * next[place]
//   settle       brings values into their normal form after all streams of a chunk
//   layer_made   what is to be done when a layer is complete (again: not for the first time)
//   back_made    the same on the way back
//   finish       a running sum as a value
//   one          the value 1
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier.hpp"

namespace anonymatch::frontier {

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
    void backward(std::int32_t edge, Pairs sources, Pairs places, const Word* value,
                  const Word* next, Word* back, Word* sum) const noexcept {
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
    void layer_made(Word*, std::size_t, bool) const noexcept {}
    void back_made(Word*, std::size_t) const noexcept {}
    void finish(const Word* sum, Word* out) const noexcept { *out = *sum; }
    void one(Word* out) const noexcept { *out = 1; }

private:
    [[nodiscard]] Word weight_of(std::int32_t edge) const noexcept {
        return weights_.empty() || edge < 0 ? 1 : weights_[static_cast<std::size_t>(edge)];
    }
    std::vector<Word> weights_;
};

/// One word modulo 2^64, then words modulo odd numbers below 2^63. Kept as modulus 0 for 2^64.
class Residues {
public:
    using Word = std::uint64_t;
    explicit Residues(const FrontierWords& values);

    [[nodiscard]] std::size_t words() const noexcept { return moduli_.size(); }
    [[nodiscard]] std::size_t sums() const noexcept { return 2 * words(); }

    void forward(std::int32_t edge, Pairs sources, Pairs places, const Word* value,
                 Word* out) const noexcept {
        add_(sources, places, value, out, factor_of(edge));
    }
    void backward(std::int32_t edge, Pairs sources, Pairs places, const Word* value,
                  const Word* next, Word* back, Word* sum) const noexcept {
        add_(places, sources, next, back, factor_of(edge));
        add_products(sources, places, value, next, sum);
    }
    void settle(Word*, std::size_t) const noexcept {}
    void layer_made(Word*, std::size_t, bool) const noexcept {}
    void back_made(Word*, std::size_t) const noexcept {}
    void finish(const Word* sum, Word* out) const noexcept;
    void one(Word* out) const noexcept { std::fill_n(out, words(), Word{1}); }

    struct Factor {
        std::span<const Word> moduli;
        const Word* weights;    // nullptr: one
        const Word* quotients;  // floor(weight * 2^64 / modulus), 0 for modulus 0
    };
    /// to[targets[k]] += factor * from[origins[k]]
    using Add = void (*)(Pairs origins, Pairs targets, const Word* from, Word* to,
                         const Factor& factor);

private:
    /// sum += left[lefts[k]] * right[rights[k]], as 128-bit words whose high half is below the
    /// modulus
    void add_products(Pairs lefts, Pairs rights, const Word* left, const Word* right,
                      Word* sum) const noexcept;
    [[nodiscard]] Factor factor_of(std::int32_t edge) const noexcept {
        if (edge < 0 || weights_.empty()) return {moduli_, nullptr, nullptr};
        const std::size_t at = static_cast<std::size_t>(edge) * words();
        return {moduli_, weights_.data() + at, quotients_.data() + at};
    }
    std::vector<Word> moduli_;
    std::vector<Word> weights_;
    std::vector<Word> quotients_;
    Add add_;
};

}  // namespace anonymatch::frontier
