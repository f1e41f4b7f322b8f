// Doubly stochastic matrices on the pattern of a graph: what the proven lower bounds are made of.
#pragma once

#include <cstdint>
#include <span>

namespace anonymatch {

/// Rows of a bipartite pattern with positive weights, and the sum that each row shall have; columns
/// shall sum to 1. Row targets above 1 stand for several equal rows at once.
struct SinkhornProblem {
    std::span<const std::int32_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> weights;
    std::span<const double> row_targets;
    std::int32_t n_columns;
};

struct SinkhornOutcome {
    bool balanced;    // every entry positive after the correction: the sums hold up to rounding
    double residual;  // largest deviation of a sum before the correction
};

/// Sinkhorn's scaling (alternating normalisation, at most `sweeps`, stopping below `tolerance`),
/// then a correction along a spanning forest that makes all sums right: deviations are pushed from
/// the leaves to the root of each tree, so only tree edges change, by at most the sum of
/// deviations. `shares` gets one entry an edge. Sums are right up to (vertices + degree) * 2^-52
/// when `balanced`. Needs the row targets of every connected component to add up to its number of
/// columns. Cost O(edges) a sweep.
SinkhornOutcome sinkhorn_scaling(const SinkhornProblem& problem, int sweeps, double tolerance,
                                 std::span<double> shares, std::span<double> column_logs);

}  // namespace anonymatch
