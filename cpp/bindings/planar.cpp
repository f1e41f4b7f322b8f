#include "planar/planar.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_planar(nb::module_& m) {
    m.attr("planar_lanes") = am::planar_lanes;
    m.attr("planar_prime_limit") = am::planar_prime_limit;
    nb::class_<am::PlanarResidues>(m, "PlanarResidues")
        .def_ro("stopped", &am::PlanarResidues::stopped)
        .def_ro("found", &am::PlanarResidues::found)
        .def_ro("count", &am::PlanarResidues::count)
        .def("through", [](const am::PlanarResidues& result) {
            return owned(std::vector<double>(result.through));
        });
    nb::class_<am::PlanarPlan>(m, "PlanarPlan")
        .def_prop_ro("work", &am::PlanarPlan::work)
        .def_prop_ro("width", &am::PlanarPlan::width)
        .def("run_bytes", &am::PlanarPlan::run_bytes, "edges"_a)
        .def(
            "run",
            [](const am::PlanarPlan& plan, const Reals& primes, const Reals& weights, bool edges,
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
        "plan_planar",
        [](std::int32_t n, const Ints& indptr, const Ints& indices, const Bytes& cancel) {
            const nb::gil_scoped_release nogil;
            return am::PlanarPlan::make({n, n, view(indptr), view(indices)}, cancel_flag(cancel));
        },
        "n"_a, "indptr"_a, "indices"_a, "cancel"_a);
    m.def(
        "chinese_coefficients",
        [](const Words& primes) { return owned(am::chinese_coefficients(view(primes))); },
        "primes"_a);
    m.def(
        "add_fractions",
        [](const Reals& residues, std::int32_t lane, std::uint64_t prime, std::uint64_t coefficient,
           nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> sums) {
            const nb::gil_scoped_release nogil;
            if (residues.size() * 2 != sums.size() * static_cast<std::size_t>(am::planar_lanes))
                throw std::invalid_argument("two words an edge");
            am::add_fractions(view(residues), lane, prime, coefficient, {sums.data(), sums.size()});
        },
        "residues"_a, "lane"_a, "prime"_a, "coefficient"_a, "sums"_a);
}

}  // namespace anonymatch::bindings
