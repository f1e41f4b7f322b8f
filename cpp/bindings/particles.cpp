#include "particles/particles.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_particles(nb::module_& m) {
    nb::class_<am::Particles>(m, "Particles")
        .def(
            "__init__",
            [](am::Particles* job, std::int32_t n_columns, const Ints& indptr, const Ints& indices,
               const Reals& weights, const Ints& order, int sweeps, double tolerance) {
                const nb::gil_scoped_release nogil;
                new (job) am::Particles({n_columns, view(indptr), view(indices), view(weights)},
                                        view(order), sweeps, tolerance);
            },
            "n_columns"_a, "indptr"_a, "indices"_a, "weights"_a, "order"_a, "sweeps"_a,
            "tolerance"_a)
        .def_prop_ro("balanced", &am::Particles::balanced)
        .def_prop_ro("width", &am::Particles::width)
        .def(
            "run",
            [](const am::Particles& job, std::uint64_t seed, std::uint64_t first,
               std::uint64_t last, std::size_t particles, bool matchings, const Bytes& cancel) {
                auto runs = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.run(seed, first, last, particles, matchings, cancel_flag(cancel));
                }();
                return std::make_tuple(owned(std::move(runs.log_weights)),
                                       owned(std::move(runs.matchings)));
            },
            "seed"_a, "first"_a, "last"_a, "particles"_a, "matchings"_a, "cancel"_a)
        .def(
            "along",
            [](const am::Particles& job, const Ints& matchings, std::uint64_t seed,
               std::uint64_t first, std::size_t particles, const Bytes& cancel) {
                auto log_weights = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.along(view(matchings), seed, first, particles, cancel_flag(cancel));
                }();
                return owned(std::move(log_weights));
            },
            "matchings"_a, "seed"_a, "first"_a, "particles"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
