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

}  // namespace anonymatch
