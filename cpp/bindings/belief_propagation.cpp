#include "belief_propagation/belief_propagation.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "square_block.hpp"

namespace anonymatch::bindings {

void bind_belief_propagation(nb::module_& m) {
    m.def(
        "propagate_beliefs",
        [](const Ints& indptr, const Ints& indices, const Reals& weights, double kappa,
           double tolerance, int sweeps, double damping, const Bytes& cancel) {
            auto found = [&] {
                const nb::gil_scoped_release nogil;
                return am::propagate_beliefs(square_block(indptr, indices, weights),
                                             {kappa, tolerance, sweeps, damping},
                                             cancel_flag(cancel));
            }();
            return std::make_tuple(found.log, owned(std::move(found.marginals)), found.residual,
                                   found.sweeps);
        },
        "indptr"_a, "indices"_a, "weights"_a, "kappa"_a, "tolerance"_a, "sweeps"_a, "damping"_a,
        "cancel"_a);
}

}  // namespace anonymatch::bindings
