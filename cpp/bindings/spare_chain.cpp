#include "spare_chain/spare_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_spare_chain(nb::module_& m) {
    nb::class_<am::SpareChain>(m, "SpareChain")
        .def(
            "__init__",
            [](am::SpareChain* chain, std::int32_t columns, const Ints& indptr, const Ints& indices,
               const Reals& weights) {
                const nb::gil_scoped_release nogil;
                new (chain) am::SpareChain({columns, view(indptr), view(indices), view(weights)});
            },
            "columns"_a, "indptr"_a, "indices"_a, "weights"_a)
        .def(
            "run",
            [](const am::SpareChain& chain, const Ints& start, std::uint64_t seed,
               std::uint64_t index, std::uint64_t samples, std::uint64_t moves, double rest,
               bool edges, bool resting, bool matchings, const Bytes& cancel,
               std::uint64_t most_picks) {
                auto drawn = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.run(view(start), seed, index, samples, moves, rest,
                                     {edges, resting, matchings}, cancel_flag(cancel), most_picks);
                }();
                return std::make_tuple(owned(std::move(drawn.sums)),
                                       owned(std::move(drawn.resting)),
                                       owned(std::move(drawn.matchings)),
                                       owned(std::move(drawn.last)), drawn.samples, drawn.picks);
            },
            "start"_a, "seed"_a, "index"_a, "samples"_a, "moves"_a, "rest"_a, "edges"_a,
            "resting"_a, "matchings"_a, "cancel"_a, "most_picks"_a);
}

}  // namespace anonymatch::bindings
