#include "tree/tree.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_tree(nb::module_& m) {
    m.attr("tree_width_limit") = am::tree_width_limit;
    nb::class_<am::TreePlan>(m, "TreePlan")
        .def_prop_ro("work", &am::TreePlan::work)
        .def_prop_ro("width", &am::TreePlan::width)
        .def("run_bytes", &am::TreePlan::run_bytes, "edges"_a)
        .def(
            "run",
            [](const am::TreePlan& plan, const Reals& primes, const Reals& weights, bool edges,
               const Bytes& cancel) {
                if (primes.size() != static_cast<std::size_t>(am::planar_lanes))
                    throw std::invalid_argument("a prime a lane");
                am::PlanarPrimes chosen;
                std::copy_n(primes.data(), chosen.size(), chosen.begin());
                const nb::gil_scoped_release nogil;
                return plan.run(chosen, view(weights), edges, cancel_flag(cancel));
            },
            "primes"_a, "weights"_a, "edges"_a, "cancel"_a);
    m.def(
        "plan_tree",
        [](std::int32_t n_users, std::int32_t n_behaviours, const Ints& indptr, const Ints& indices,
           double most, std::int32_t width, const Bytes& cancel) {
            const nb::gil_scoped_release nogil;
            return am::TreePlan::make({n_users, n_behaviours, view(indptr), view(indices)}, most,
                                      width, cancel_flag(cancel));
        },
        "n_users"_a, "n_behaviours"_a, "indptr"_a, "indices"_a, "most"_a, "width"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
