// Square blocks as the estimating kernels take them.
#pragma once

#include "belief_propagation/belief_propagation.hpp"
#include "bindings.hpp"

namespace anonymatch::bindings {

inline am::SquareBlock square_block(const Ints& indptr, const Ints& indices, const Reals& weights) {
    return {static_cast<std::int32_t>(indptr.size()) - 1, view(indptr), view(indices),
            view(weights)};
}

}  // namespace anonymatch::bindings
