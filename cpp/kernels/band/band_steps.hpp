// The rows of a band as steps from layer to layer, and what each costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "band/band.hpp"
#include "band/band_tables.hpp"

namespace anonymatch::band {

/// Sizes of the sets of a layer: one in a square block; none if least > most.
struct Sizes {
    int least = 0;
    int most = 0;
};

/// States of a layer: all sets of these sizes, one size after the other.
[[nodiscard]] std::size_t states(int width, Sizes sizes);
/// Where the sets of a size begin.
[[nodiscard]] std::size_t class_offset(int width, Sizes sizes, int size);

/// One row. Early columns come before it, unused; `gone` columns leave with it, `fresh` come with
/// it, `rest` stay.
struct Step {
    std::int32_t start = 0;  // first column of the row
    std::int32_t stop = 0;   // columns below this are live once the early ones have come
    std::size_t first_edge = 0;
    int early = 0;
    int gone = 0;
    int fresh = 0;
    int rest = 0;
    int width_before = 0;
    int width_after = 0;
    Sizes before;
    Sizes after;

    [[nodiscard]] int width() const noexcept { return gone + rest; }
    [[nodiscard]] std::size_t states_before() const { return states(width_before, before); }
    [[nodiscard]] std::size_t states_after() const { return states(width_after, after); }
    [[nodiscard]] std::size_t degree() const noexcept {
        return static_cast<std::size_t>(stop + fresh - start);
    }
    /// Stretches of the layer before that are added up.
    [[nodiscard]] double stretches() const;
    /// A value after the row is a sum of at most so many before it.
    [[nodiscard]] double terms() const;
    [[nodiscard]] double work() const;  // of the step over doubles, or over one digit
    /// log2 of Bregman's bound on what the row adds to a count.
    [[nodiscard]] double bits() const;
};

/// The stretch of the sets of `size` whose bits above `rest` are `held`, among `width` bits.
[[nodiscard]] std::size_t stretch_offset(std::uint32_t held, int rest, int size);

/// Calls f(held) for all sets of `size` of `gone` things.
template <class F>
void for_each_subset(int gone, int size, F&& f) {
    if (size < 0 || size > gone) return;
    if (size == 0) return f(std::uint32_t{0});
    std::uint64_t held = (std::uint64_t{1} << size) - 1;
    while (held < (std::uint64_t{1} << gone)) {
        f(static_cast<std::uint32_t>(held));
        const std::uint64_t low = held & (~held + 1);
        const std::uint64_t next = held + low;
        held = next | (((held ^ next) >> 2) / low);
    }
}

/// Refuses what is no band; the widest window is told even if it is too wide for steps.
struct Steps {
    explicit Steps(const BandView& band);

    std::vector<Step> rows;
    std::int32_t width = 0;
    bool feasible = false;
    int digit_bits = 0;  // of whole numbers: see digit_bits_of
};

/// The layer at which ways before and ways after meet, with least work in digits.
struct Meeting {
    std::size_t layer = 0;
    double work = 0;
    double bytes = 0;
};
[[nodiscard]] Meeting best_meeting(const std::vector<Step>& rows, int digit_bits);

/// Bits of a digit: as many as leave a word room for the sum of all digits that any row adds up. In
/// a square block a row adds up few; where many behaviours are spare, digits are narrower.
[[nodiscard]] int digit_bits_of(const std::vector<Step>& rows);
/// Digits of so many bits that a word may add up.
[[nodiscard]] double most_terms(int digit_bits);

}  // namespace anonymatch::band
