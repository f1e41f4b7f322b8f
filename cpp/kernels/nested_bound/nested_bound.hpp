// Nested bounds: a proven upper bound on the weighted count of a square block, and independent draws whose
// mean is the count and which never exceed the bound. Exact samples by rejection come with it.
//
// Columns are taken one by one in a fixed order; each picks one of the rows that are left. Let
// G_i(t) > 0 be the height of row i before column t, and V_t(R) = product of G_i(t) over the rows R
// that are left. Column t picks row i in R with chance w_it / G_i(t+1) / sum, where sum adds the same
// over R. With l_t > 0, put b = l_t * w_it and
//     G_i(t) = H * exp(b / H),  H = max(G_i(t+1), b),  and G_i(t) = G_i(t+1) where w_it = 0,
// from the last column back, beginning at 0, and use H in place of G_i(t+1) in step t.
//
// Bound. For every R and S = the rows of R with w_it > 0, x_i = w_it / H_i: since y <= exp(y - 1),
//     e * l_t * sum of x_i over S <= product of exp(l_t * x_i) over S = product of G_i(t) / H_i,
// and so e * l_t * sum of w_it * V_{t+1}(R - i) <= V_t(R) (heights only grow from G to H). By
// induction the weighted number of ways to finish from R times product of e * l_s over s >= t is at
// most V_t(R): the bound U = product of G_i(0) / product of e * l_t is at least the count, it nests
// along every path, and a draw, weight / chance of its matching, lies in [0, U] and has the count as
// its mean. If each matching is kept with chance draw / U, it is kept in proportion to its weight.
// l = 1/e and equal weights give the bound of Huber and Law (2008) as Harviainen, Roysko and
// Koivisto (2021) sharpened it; ln U is convex in ln l, so the best l is found by sweeps. Light
// columns first make U small, and moves of columns make it smaller.
//
// Draws are importance weights of nested bounds (Harviainen, Koivisto 2024). As heights depend on the
// column alone and not on who is left, they are tables: a draw costs one multiplication an edge,
// eight draws at once.
//
// Rounding. A draw has at most edges + 4 * n roundings, a height 4 * n: the slack in log_bound is
// more. Weights are given as logs and are scaled so that the largest of each row and column is 1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier_order.hpp"

namespace anonymatch {

/// Least weight after scaling.
inline constexpr double nested_bound_spread = 1e-60;

/// Draws come in groups of so many; draw k of group g has index 8 * g + k.
inline constexpr std::uint64_t nested_bound_group = 8;

/// What a sequence of draws says, each divided by the bound, so that it lies in [0, 1].
struct NestedBoundTally {
    double draws = 0;
    double sum = 0;
    double squares = 0;
    std::vector<double> gains;   // sum of log(1 + b * draw) for each bet b on "the mean is larger"
    std::vector<double> losses;  // sum of log(1 - b * draw) for each bet b on "the mean is smaller"
};

struct NestedBoundSamples {
    std::vector<std::uint64_t> indices;  // of the draws that were kept, rising
    std::vector<std::int32_t> columns;   // n a sample: the column of each row
};

class NestedBound {
public:
    /// A square block; `log_weights` is empty (all 1) or one finite log an edge.
    /// std::invalid_argument when a weight is below nested_bound_spread after scaling.
    NestedBound(const BlockView& block, std::span<const double> log_weights);
    ~NestedBound();
    NestedBound(NestedBound&&) noexcept;
    NestedBound& operator=(NestedBound&&) noexcept;

    /// Tries `moves` of one column to another place, each of about (edges of a column) * (edges of a
    /// row) steps; those that lower the bound are kept. Deterministic in its arguments.
    void improve(std::uint64_t moves, std::uint64_t seed, CancelFlag cancel = {});

    [[nodiscard]] double log_bound() const noexcept;

    /// Groups [first, last): every draw is a function of the plan, the seed and its index. Bets on a
    /// smaller mean lie in (0, 1), those on a larger one are positive.
    [[nodiscard]] NestedBoundTally tally(std::uint64_t seed, std::uint64_t first,
                                         std::uint64_t last, std::span<const double> larger,
                                         std::span<const double> smaller,
                                         CancelFlag cancel = {}) const;
    /// The same draws, divided by the bound.
    [[nodiscard]] std::vector<double> draws(std::uint64_t seed, std::uint64_t first,
                                            std::uint64_t last) const;
    /// Those of the draws that rejection keeps: matchings distributed exactly by their weights.
    [[nodiscard]] NestedBoundSamples samples(std::uint64_t seed, std::uint64_t first,
                                             std::uint64_t last, CancelFlag cancel = {}) const;

private:
    class Plan;
    std::unique_ptr<Plan> plan_;
};

}  // namespace anonymatch
