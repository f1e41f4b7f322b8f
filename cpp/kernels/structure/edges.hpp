// Loose edges into sorted rows (CSR).
#pragma once

#include <cstdint>
#include <span>

#include "common/large_vector.hpp"

namespace anonymatch {

struct SortedEdges {
    LargeVector<std::int32_t> indptr;   ///< n_rows + 1: where each row begins
    LargeVector<std::int32_t> indices;  ///< columns, never decreasing within a row
    LargeVector<std::int32_t> order;    ///< position in the input of each edge, if asked for; empty
                                        ///< if the edges came sorted
    std::int32_t duplicates = 0;        ///< edges that equal the one before them
};

/// Sorts edges by row and column; equal edges keep the order in which they came and stay in.
///
/// Preconditions: rows and columns have one size, at most 2^31 - 1; 0 <= row < n_rows and
/// 0 <= column.
/// Cost: one pass if the edges come sorted without duplicates. Else a counting sort by row and a
/// sort of every row: short ones by comparisons, long ones by the digits of their columns, so that
/// the whole is linear in edges and rows. Bytes beside the result: 4 a row, 8 an edge if `ordered`,
/// and 4 (8) an edge of the longest row.
SortedEdges sort_edges(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                       std::int32_t n_rows, bool ordered);

}  // namespace anonymatch
