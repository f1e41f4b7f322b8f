// Planarity of a connected bipartite graph, and the signs that turn its permanent into a
// determinant.
//
// The test is the left-right algorithm [1]: a depth-first search orients the edges, a second one
// keeps a stack of intervals of back edges that must lie on different sides. Linear in the edges but
// for sorting at each vertex; nothing recurses. The faces of the embedding give Kasteleyn's signs
// [2]: in every face of length l the product of signs is (-1)^(l/2 + 1).
//
// The embedding is checked by Euler's formula and the signs on the last face, which nothing was
// chosen for: std::logic_error if either fails, so that no wrong sign is ever used.
//
// [1] Brandes. The left-right planarity test. 2009. [2] Kasteleyn. Graph theory and crystal
// physics. 1967.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "structure/structure.hpp"

namespace anonymatch {

/// The sign of every edge, 1 or -1; nothing if the graph is not planar. The graph must be connected
/// and have an edge.
std::optional<std::vector<std::int8_t>> kasteleyn_signs(const BipartiteView& graph);

}  // namespace anonymatch
