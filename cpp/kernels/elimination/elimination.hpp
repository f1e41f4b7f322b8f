// An order in which the vertices of a sparse graph are eliminated, each joining its neighbours.
//
// The vertex with the fewest neighbours goes first; they become neighbours of each other, its
// front. Fronts are the bags of a tree decomposition, and the pattern of a triangular
// factorisation. Adjacency is kept explicitly, so the search costs a few steps for each pair in a
// front, about as much as one factorisation.
//
// Overflow: vertices number less than 2^31; entries of fronts are counted in 64 bits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

struct Elimination {
    bool complete = false;            ///< false: a front passed the limit; order ends there
    std::vector<std::int32_t> order;  ///< vertices, first to last
    /// The front of the vertex at rank k: ranks of its neighbours when it goes, ascending, all above
    /// k, at [starts[k], starts[k + 1]) of fronts. Empty unless complete.
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> fronts;
    std::int32_t width = 0;  ///< the largest front
    double work = 0;         ///< the sum of squares of all fronts
};

/// Neighbours of vertex v are neighbours[starts[v], starts[v + 1]), symmetric, ascending, without v.
/// Gives up where a front would have more than `limit` vertices, or when cancelled.
Elimination minimum_degree(std::span<const std::int32_t> starts,
                           std::span<const std::int32_t> neighbours,
                           std::int32_t limit = std::numeric_limits<std::int32_t>::max(),
                           CancelFlag cancel = {});

}  // namespace anonymatch
