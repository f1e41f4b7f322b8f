// Messages through a network of mixes of which every link is seen: where each may have come out.
//
// A link event is one packet that leaves a mix (or a sender) and comes to a mix (or a receiver).
// Mixes that choose uniformly among those inside make every packet that leaves one in n of the n
// inside. So the probability that a target is inside a mix is passed on in equal shares, forwards in
// time, exactly: one pass gives the marginal posteriors of all targets that it carries along.
//
// A pass carries `lanes` targets, which share the events between the first of them and the moment
// when all but `least` of their probability has come out. Cost: 1 to 3 ns a lane and event. All
// terms are positive: an entry rounds by a few units in the last place a hop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// What a `from` or a `to` says if it is no mix.
inline constexpr std::int32_t network_outside = -1;  // a sender, or a receiver
inline constexpr std::int32_t network_carried = -2;  // under way, or through a mix that tells

/// Link events in order of time, each as: from, to, and, if from is `network_carried`, the event
/// before of the same packet, whose `to` is `network_carried`.
struct NetworkEvents {
    std::span<const std::int32_t> from, to;
    std::span<const std::int64_t> before;
    std::int32_t mixes = 0;
};

/// Packets inside the mix that each event leaves, just before; 0 where none is left. Ends at the
/// first event that leaves an empty mix: its entry is -1. std::invalid_argument for a mix that is
/// not there.
[[nodiscard]] std::vector<std::int32_t> network_inside(const NetworkEvents& events);

/// One entry a target.
struct NetworkTargets {
    std::vector<double> shannon;    // bits, over the events at which it may have come out
    std::vector<double> collision;  // the sum of squares
    std::vector<double> largest;
    std::vector<std::int64_t> guess;  // the likeliest event, the first of equals; -1 if none
    std::vector<double> left;         // probability that it came out at all
    std::vector<double> asked;        // probability of the event that was asked for
    std::vector<double> guesses;      // until it is named, likeliest first, given that it came out
    std::vector<std::int64_t> ended;  // the event after which nothing more was looked at
    std::vector<std::int64_t> candidates;  // events at which it came out with more than 1e-12
    bool finished = true;                  // false if cancelled
};

struct NetworkPass {
    std::size_t lanes = 64;  // a multiple of 8, at most 64
    double least = 1e-12;
    bool ranked = false;  // whether to make `guesses`: 12 bytes an event that comes out, and a sort
};

/// `targets`: events that leave a sender, in order. `asked`: an event for each, or -1.
/// std::invalid_argument if they are not so.
[[nodiscard]] NetworkTargets network_forward(const NetworkEvents& events,
                                             std::span<const std::int32_t> inside,
                                             std::span<const std::int64_t> targets,
                                             std::span<const std::int64_t> asked,
                                             const NetworkPass& pass, const CancelFlag& cancel);

/// What each of `targets` gives every event, row by row: for small logs. Events that do not come
/// out have 0.
[[nodiscard]] std::vector<double> network_rows(const NetworkEvents& events,
                                               std::span<const std::int32_t> inside,
                                               std::span<const std::int64_t> targets);

/// When a mix sends on, and how many of those inside.
struct NetworkMix {
    enum class Kind : std::int32_t {
        exponential = 0,   // each on its own, after `seconds` on average
        batch = 1,         // `batch` of `batch + kept`, as soon as so many are inside
        timed = 2,         // every `seconds`: all but `kept`
        timed_share = 3,   // every `seconds`: the share, but all but `kept` at most
        coins = 4,         // every `seconds` each with probability min(share, 1 - kept / inside)
        normal_coins = 5,  // every `seconds` each with probability Phi((inside - centre) / spread)
    };
    Kind kind = Kind::exponential;
    double seconds = 1;
    std::int32_t batch = 1, kept = 0;
    double share = 1, centre = 0, spread = 1;
};

/// A log that was drawn: events as above, each with its packet. Packets that stay inside have fewer
/// of them.
struct NetworkLog {
    std::vector<double> time;
    std::vector<std::int32_t> from, to;
    std::vector<std::int64_t> before, packet;
    bool finished = true;  // false if cancelled
};

/// `arrivals`: when each packet is sent, in order. `routes`: its mixes, at most
/// `hops`, with -1 behind the last of a shorter route. `link`:
/// seconds on every link; if not 0, a packet on a link is two events, and the last link none. In
/// exponential mixes the delay of a packet at a hop depends on the seed, the packet and the hop
/// alone, in units of its mean. Clocks of timed mixes begin at random. Ends when nothing more comes
/// in and nothing more can leave.
[[nodiscard]] NetworkLog network_draw(std::span<const double> arrivals,
                                      std::span<const std::int32_t> routes, std::size_t hops,
                                      std::int32_t mixes, const NetworkMix& mix, double link,
                                      std::uint64_t seed, const CancelFlag& cancel);

}  // namespace anonymatch
