// Messages through one exponential mix from which everything leaves: what is open for a message that
// is inside just before each departure, backwards over the departures.
//
// With N inside a message leaves now with probability 1/N. All terms are positive, so each step rounds
// by a few units in the last place. Cost: about 10 ns a departure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anonymatch {

/// One entry a departure, in order of time, and a last one for messages that never leave.
struct PassageStay {
    std::vector<std::int64_t> allowed;  // departures that it may be; to stay inside counts as one
    std::vector<double> shannon, collision, largest;  // bits, squares, and the largest probability
    std::vector<std::int64_t> guess;  // the likeliest departure, the first of equals
    std::vector<double> guesses;      // until it is named, on average, given that it departs
};

/// `inside`: messages just before each departure, at least 1. std::invalid_argument otherwise.
[[nodiscard]] PassageStay passage_stay(std::span<const std::int32_t> inside);

/// The same for a mix of which some leave together: one entry a flush, in order of time, and a last
/// one for messages that come later. Nothing is given that they depart: sums are over departures.
struct FlushStay {
    std::vector<double> departs, stays;  // probability to leave at all, and to be inside at the end
    std::vector<double> shannon;         // bits; to stay counts as one more outcome
    std::vector<double> collision, largest;
    std::vector<double> ranks;        // sum of rank times probability, in order of time
    std::vector<std::int64_t> guess;  // flush of the likeliest departure, the first of equals
};

/// `inside`: messages just before each flush; `leaving`: how many of them leave, drawn uniformly.
/// std::invalid_argument if more leave than are inside.
[[nodiscard]] FlushStay flush_stay(std::span<const std::int32_t> inside,
                                   std::span<const std::int32_t> leaving);

}  // namespace anonymatch
