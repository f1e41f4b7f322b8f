// One exponential mix with packets of two classes, users' packets and loops: the chain over the
// hidden numbers (a, b) of both inside.
//
//   time dt      weighs e^{-(a + b) dt}, dt in mean delays
//   an arrival   is a user's packet that is kept (a + 1, weight `users`), a loop that is kept
//                (b + 1, weight `loops`), or neither enters the pool (weight `stay`)
//   a departure  is a user's packet (a - 1, weight a * `users`), a loop (b - 1, weight b * `loops`),
//                or a packet that did not enter during the log (weight `stay`)
//
// A forward pass keeps the weights before each event, scaled to the sum 1, and a backward pass the
// weights to come. Rows follow a tagged user's packet from its arrival, in the same scale, until
// less than `tolerance` of it is inside. States whose weight is below `cut` of the sum are left out.
//
// Cost: 2 events x states for the passes, and arrivals x events until the tag has left x states for
// the rows. Memory: 16 bytes a state and event.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// Events in order of time; one entry an event, but for `gap`, which has one more at the end.
struct ClassLog {
    std::span<const std::uint8_t> arrival;
    std::span<const double> users, loops, stay;
    std::span<const double> keep;  // of a tagged packet that arrives: probability not to be lost
    std::span<const double> gap;   // in mean delays
};

struct ClassOptions {
    bool drained = false;  // whether nothing is inside at the end
    bool rows = false;
    double cut = 1e-16;
    double tolerance = 1e-12;
};

/// Sums over states of alpha M just after each event, where M is the weight to come: of the state
/// itself, and with one user's packet or one loop more (arrivals) or less (departures, times their
/// number).
struct ClassFigures {
    double log_evidence = 0.0;
    std::vector<double> stayed, users, loops;
    // Of tagged packets, one entry an arrival: probabilities, the entries of rows and their events.
    std::vector<double> lost, inside;
    std::vector<std::int64_t> entries, entry_event;
    std::vector<double> entry_value;
    bool explained = true;
    bool finished = true;  // false if cancelled
};

/// std::invalid_argument if sizes differ, or a weight is negative or not finite.
[[nodiscard]] ClassFigures class_chain(const ClassLog& log, const ClassOptions& options,
                                       const CancelFlag& cancel);

}  // namespace anonymatch
