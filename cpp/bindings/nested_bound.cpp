#include "nested_bound/nested_bound.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_nested_bound(nb::module_& m) {
    m.attr("nested_bound_group") = am::nested_bound_group;
    nb::class_<am::NestedBound>(m, "NestedBound")
        .def(
            "__init__",
            [](am::NestedBound* nested_bound, std::int32_t n, const Ints& indptr,
               const Ints& indices, const Reals& log_weights) {
                const nb::gil_scoped_release nogil;
                new (nested_bound)
                    am::NestedBound({n, n, view(indptr), view(indices)}, view(log_weights));
            },
            "n"_a, "indptr"_a, "indices"_a, "log_weights"_a)
        .def(
            "improve",
            [](am::NestedBound& nested_bound, std::uint64_t moves, std::uint64_t seed) {
                const nb::gil_scoped_release nogil;
                nested_bound.improve(moves, seed);
            },
            "moves"_a, "seed"_a)
        .def_prop_ro("log_bound", &am::NestedBound::log_bound)
        .def(
            "tally",
            [](const am::NestedBound& nested_bound, std::uint64_t seed, std::uint64_t first,
               std::uint64_t last, const Reals& larger, const Reals& smaller) {
                auto tally = [&] {
                    const nb::gil_scoped_release nogil;
                    return nested_bound.tally(seed, first, last, view(larger), view(smaller));
                }();
                return std::make_tuple(tally.draws, tally.sum, tally.squares,
                                       owned(std::move(tally.gains)),
                                       owned(std::move(tally.losses)));
            },
            "seed"_a, "first"_a, "last"_a, "larger"_a, "smaller"_a)
        .def(
            "draws",
            [](const am::NestedBound& nested_bound, std::uint64_t seed, std::uint64_t first,
               std::uint64_t last) {
                auto drawn = [&] {
                    const nb::gil_scoped_release nogil;
                    return nested_bound.draws(seed, first, last);
                }();
                return owned(std::move(drawn));
            },
            "seed"_a, "first"_a, "last"_a)
        .def(
            "samples",
            [](const am::NestedBound& nested_bound, std::uint64_t seed, std::uint64_t first,
               std::uint64_t last) {
                auto kept = [&] {
                    const nb::gil_scoped_release nogil;
                    return nested_bound.samples(seed, first, last);
                }();
                return owned(std::move(kept.columns));
            },
            "seed"_a, "first"_a, "last"_a);
}

}  // namespace anonymatch::bindings
