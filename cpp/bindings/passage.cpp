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
}

}  // namespace anonymatch::bindings
