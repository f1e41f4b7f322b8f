#include "frontier/frontier_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontier/frontier_search.hpp"

namespace anonymatch {

double FrontierPlan::count_bytes(std::int32_t words) const {
    return 2.0 * peak_states * 8.0 * (1.0 + words);
}

double FrontierPlan::edge_bytes(std::int32_t words) const {
    return total_states * 8.0 * (1.0 + words) + 2.0 * peak_states * 8.0 * words;
}

double FrontierPlan::least_edge_bytes(std::int32_t words) const {
    // k kept layers and the layers between two of them, each at most the peak, with k^2 = rows.
    const double layers = 2.0 * std::sqrt(static_cast<double>(order.size())) + 1.0;
    return std::min(edge_bytes(words),
                    layers * peak_states * 8.0 * (1.0 + words) + 2.0 * peak_states * 8.0 * words);
}

FrontierPlan assess_order(const BlockView& block, std::vector<std::int32_t> order) {
    FrontierPlan plan;
    const frontier::Price price = frontier::price_order(block, order);
    plan.order = std::move(order);
    plan.width = price.width;
    plan.feasible = price.width <= frontier_width_limit;
    plan.peak_states = price.peak;
    plan.total_states = price.states;
    plan.transitions = price.transitions;
    return plan;
}

FrontierPlan plan_frontier(const BlockView& block, double effort) {
    return assess_order(block, frontier::search_order(block, effort));
}

}  // namespace anonymatch
