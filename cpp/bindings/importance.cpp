#include "importance/importance.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "square_block.hpp"

namespace anonymatch::bindings {

void bind_importance(nb::module_& m) {
    nb::class_<am::Importance>(m, "Importance")
        .def(
            "__init__",
            [](am::Importance* job, const Ints& indptr, const Ints& indices, const Reals& weights,
               double kappa, int children, double tolerance, int refreshes, const Bytes& cancel) {
                const nb::gil_scoped_release nogil;
                new (job)
                    am::Importance(square_block(indptr, indices, weights),
                                   {kappa, children, tolerance, refreshes}, cancel_flag(cancel));
            },
            "indptr"_a, "indices"_a, "weights"_a, "kappa"_a, "children"_a, "tolerance"_a,
            "refreshes"_a, "cancel"_a)
        .def(
            "draws",
            [](const am::Importance& job, std::uint64_t seed, std::uint64_t first,
               std::uint64_t last, bool marginals, bool matchings, const Bytes& cancel) {
                auto drawn = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.draws(seed, first, last, {marginals, matchings},
                                     cancel_flag(cancel));
                }();
                return std::make_tuple(
                    owned(std::move(drawn.log_weights)), drawn.scale, owned(std::move(drawn.first)),
                    owned(std::move(drawn.square)), owned(std::move(drawn.second)),
                    owned(std::move(drawn.matchings)));
            },
            "seed"_a, "first"_a, "last"_a, "marginals"_a, "matchings"_a, "cancel"_a)
        .def(
            "log_weights_of",
            [](const am::Importance& job, const Ints& matchings, const Bytes& cancel) {
                auto logs = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.log_weights_of(view(matchings), cancel_flag(cancel));
                }();
                return owned(std::move(logs));
            },
            "matchings"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
