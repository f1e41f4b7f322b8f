#include "table_chain/table_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_table_chain(nb::module_& m) {
    nb::class_<am::TableChain>(m, "TableChain")
        .def(
            "__init__",
            [](am::TableChain* chain, const Ints& kinds, const Ints& classes, const Ints& people) {
                const nb::gil_scoped_release nogil;
                new (chain) am::TableChain(view(kinds), view(classes), view(people));
            },
            "kinds"_a, "classes"_a, "people"_a)
        .def(
            "run",
            [](const am::TableChain& chain, const Ints& start, std::uint64_t seed,
               std::uint64_t index, std::uint64_t worms, std::uint64_t most_steps,
               const Bytes& cancel) {
                auto stretch = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.run(view(start), seed, index, worms, most_steps,
                                     cancel_flag(cancel));
                }();
                return std::make_tuple(owned(std::move(stretch.means)),
                                       owned(std::move(stretch.numbers)), stretch.worms,
                                       stretch.steps);
            },
            "start"_a, "seed"_a, "index"_a, "worms"_a, "most_steps"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
