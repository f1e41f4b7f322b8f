// Splitting one run of the frontier programme into several that need less memory and go side by
// side.
//
// A perfect matching of a square block gives column c either to a row done before step t or to one
// done later. So its count is the sum of two: without the later edges of c, and without the earlier
// ones. In both c is not live at t. Where t is the widest layer, its states are shared out among
// the two runs, and only what lies far from it is done twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier_order.hpp"

namespace anonymatch {

/// One of the runs: in the same order, over some of the edges.
struct FrontierPart {
    std::vector<std::uint8_t> kept;  // one an edge, CSR order: 1 if it is in this part
    double peak_states = 0;          // upper bounds, as those of a plan
    double transitions = 0;
};

struct SplitLimits {
    double peak_states = 0;  // parts with more are split in any case,
    double longest = 0;      // and those with more transitions than this;
    double worth = 0;        // others if they have more than this
    double stretch = 1;      // and all parts together have so many times those of one run at most
    std::int32_t parts = 1;  // never more parts than this
};

/// Parts that share no perfect matching and together have all of a square block; those that clearly
/// have none are left out. The longest come first. Deterministic in its arguments, and fewer and
/// longer parts once `cancel` is raised.
std::vector<FrontierPart> split_frontier(const BlockView& block,
                                         std::span<const std::int32_t> order,
                                         const SplitLimits& limits, CancelFlag cancel = {});

}  // namespace anonymatch
