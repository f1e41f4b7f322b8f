#include "passage/passage.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_passage(nb::module_& m) {
    m.def(
        "passage_stay",
        [](const Ints& inside) {
            auto stay = [&] {
                const nb::gil_scoped_release nogil;
                return am::passage_stay(view(inside));
            }();
            return std::make_tuple(owned(std::move(stay.allowed)), owned(std::move(stay.shannon)),
                                   owned(std::move(stay.collision)), owned(std::move(stay.largest)),
                                   owned(std::move(stay.guess)), owned(std::move(stay.guesses)));
        },
        "inside"_a);
    m.def(
        "flush_stay",
        [](const Ints& inside, const Ints& leaving) {
            auto stay = [&] {
                const nb::gil_scoped_release nogil;
                return am::flush_stay(view(inside), view(leaving));
            }();
            return std::make_tuple(owned(std::move(stay.departs)), owned(std::move(stay.stays)),
                                   owned(std::move(stay.shannon)), owned(std::move(stay.collision)),
                                   owned(std::move(stay.largest)), owned(std::move(stay.ranks)),
                                   owned(std::move(stay.guess)));
        },
        "inside"_a, "leaving"_a);
}

}  // namespace anonymatch::bindings
