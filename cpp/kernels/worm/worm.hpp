// A Markov chain over perfect matchings whose chances are in proportion to their weights.
//
// A worm unmatches a random row u, which leaves a hole at its column v. Then, until it closes: a
// row k of column v is picked with chance proportional to its weight there; if k is u, v is u's
// column and the worm ends; else k takes v and the hole moves to the column k had (Prokof'ev and
// Svistunov 2001). Each worm is reversible for the product of weights: a state with hole v has the
// weight of its edges times the sum of column v. Samples are taken after a fixed number of worms;
// after a fixed number of steps they would be biased.
//
// Cost: about n steps a worm on random graphs, few on bands; 10 to 25 ns a step up to 10^4 rows.
// 8 bytes an edge and 8 a row; 16 an edge with weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "belief_propagation/belief_propagation.hpp"
#include "common/cancel.hpp"

namespace anonymatch {

struct WormSamples {
    std::vector<std::int32_t> matchings;  // sample-major, columns by row, if kept
    std::vector<std::uint32_t> counts;    // one an edge: samples that use it
    std::vector<std::int32_t> last;       // the last sample, to go on from
    std::uint64_t samples = 0;            // taken: fewer than asked for when stopped
    std::uint64_t steps = 0;
};

class Worm {
public:
    explicit Worm(const SquareBlock& block);
    ~Worm();
    Worm(Worm&&) noexcept;
    Worm& operator=(Worm&&) noexcept;

    /// `samples` matchings, each `worms` after the one before, from a perfect matching of the block
    /// (std::invalid_argument otherwise). A function of its arguments: to go on, pass `last` and
    /// another index. It gives up after about `most_steps`: worms of some blocks hardly ever close.
    [[nodiscard]] WormSamples run(std::span<const std::int32_t> matching, std::uint64_t seed,
                                  std::uint64_t index, std::uint64_t samples, std::uint64_t worms,
                                  bool keep_matchings, CancelFlag cancel = {},
                                  std::uint64_t most_steps = ~std::uint64_t{0}) const;

    /// The same from several matchings, one after another in `matchings`, with the indices from
    /// `index` on: what run() gives for each. Their steps take turns, so that in large blocks the
    /// waits for memory overlap. It gives up when one has made about `most_steps`.
    [[nodiscard]] std::vector<WormSamples> run_together(
        std::span<const std::int32_t> matchings, std::uint64_t seed, std::uint64_t index,
        std::uint64_t samples, std::uint64_t worms, bool keep_matchings, CancelFlag cancel = {},
        std::uint64_t most_steps = ~std::uint64_t{0}) const;

private:
    class Job;
    std::unique_ptr<const Job> job_;
};

}  // namespace anonymatch
