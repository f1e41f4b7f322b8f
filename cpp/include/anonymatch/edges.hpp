// Loose edges into sorted rows (CSR).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anonymatch {

struct SortedEdges {
    std::vector<std::int32_t> indptr;   ///< n_rows + 1: where each row begins
    std::vector<std::int32_t> indices;  ///< columns, never decreasing within a row
    std::vector<std::int32_t> order;    ///< position in the input of each edge, if asked for; empty
                                        ///< if the edges came sorted
    std::int32_t duplicates = 0;        ///< edges that equal the one before them
};

/// Sorts edges by row and column; equal edges keep the order in which they came and stay in.
///
/// Preconditions: rows and columns have one size, at most 2^31 - 1; 0 <= row < n_rows and
/// 0 <= column.
/// Cost: one pass if the edges come sorted without duplicates. Else a counting sort by row and a
/// sort of every row: short ones by comparisons, long ones by the digits of their columns, so that
/// the whole is linear in edges and rows. Bytes: 4 a row and 4 an edge beside the result; 8 an edge
/// with `ordered`.
SortedEdges sort_edges(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                       std::int32_t n_rows, bool ordered);

}  // namespace anonymatch
