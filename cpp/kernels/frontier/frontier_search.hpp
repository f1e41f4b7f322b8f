// Searching row orders, and pricing one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_order.hpp"

namespace anonymatch::frontier {

struct Price {
    std::int32_t width = 0;
    double peak = 1;
    double states = 0;
    double transitions = 0;
    std::int32_t widest = 0;  // steps done at the layer with the most states
    bool possible = true;     // false if some layer has none
};

/// Upper bounds for a run in this order; infinite beyond frontier_width_limit.
Price price_order(const BlockView& block, std::span<const std::int32_t> order);

/// The most states that a layer can have: subsets of `live` columns of between `least` and `most`.
double subsets_between(std::int32_t live, std::int32_t least, std::int32_t most);

std::vector<std::int32_t> search_order(const BlockView& block, double effort);

}  // namespace anonymatch::frontier
