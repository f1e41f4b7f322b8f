// Row orders for the frontier programme, and what a run in such an order will cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anonymatch {

/// One block: users are rows, behaviours are columns; `indices[indptr[i] .. indptr[i + 1])` are the
/// columns of row i, rising. 1 <= n_rows <= n_columns, every row and every column has an edge.
struct BlockView {
    std::int32_t n_rows = 0;
    std::int32_t n_columns = 0;
    std::span<const std::int32_t> indptr;
    std::span<const std::int32_t> indices;
};

/// A column is live while some of its rows are done and some are not (both ends included).
/// A state is one 64-bit key; the highest key is kept free as the end mark of a merge.
inline constexpr std::int32_t frontier_width_limit = 63;

/// A row order and its price. All predictions are upper bounds: the programme meets at most
/// C(live, used) states at a step, and those that cannot arise are never stored.
struct FrontierPlan {
    std::vector<std::int32_t> order;  // order[t] is the row done at step t
    std::int32_t width = 0;           // most live columns at any row
    bool feasible = false;            // width <= frontier_width_limit
    double peak_states = 0;           // most states of a layer
    double total_states = 0;          // states of all layers together
    double transitions = 0;  // states looked at, once an edge of the row: the unit of `run`

    /// Bytes of a count with `words` words a value (doubles: 1, or 2 when their range is wide): two
    /// layers.
    [[nodiscard]] double count_bytes(std::int32_t words) const;
    /// Bytes of all edge counts or of sampling when every layer is kept.
    [[nodiscard]] double edge_bytes(std::int32_t words) const;
    /// The least bytes of the same when layers are dropped and made again (byte_limit of the
    /// engine).
    [[nodiscard]] double least_edge_bytes(std::int32_t words) const;
};

/// The price of the given order (a permutation of the rows). Linear in edges.
FrontierPlan assess_order(const BlockView& block, std::vector<std::int32_t> order);

/// The best order found: natural, Cuthill-McKee both ways, greedy from many starts, beam search.
/// The search costs at most `effort` * 15 % or so of the predicted run (of a count in one word:
/// pass a larger effort when the run will be dearer), next to nothing when the natural order is
/// narrow, and is near linear in edges for large blocks. Deterministic in its arguments.
FrontierPlan plan_frontier(const BlockView& block, double effort = 1.0);

}  // namespace anonymatch
