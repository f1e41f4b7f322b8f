#include "worm/worm.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>
#include <vector>

#include "square_block.hpp"

namespace anonymatch::bindings {

void bind_worm(nb::module_& m) {
    const auto samples = [](am::WormSamples& found) {
        return std::make_tuple(owned(std::move(found.matchings)), owned(std::move(found.counts)),
                               owned(std::move(found.last)), found.steps);
    };
    nb::class_<am::Worm>(m, "Worm")
        .def(
            "__init__",
            [](am::Worm* job, const Ints& indptr, const Ints& indices, const Reals& weights) {
                const nb::gil_scoped_release nogil;
                new (job) am::Worm(square_block(indptr, indices, weights));
            },
            "indptr"_a, "indices"_a, "weights"_a)
        .def(
            "run",
            [samples](const am::Worm& job, const Ints& matching, std::uint64_t seed,
                      std::uint64_t index, std::uint64_t number, std::uint64_t worms,
                      bool matchings, const Bytes& cancel, std::uint64_t most_steps) {
                auto found = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.run(view(matching), seed, index, number, worms, matchings,
                                   cancel_flag(cancel), most_steps);
                }();
                return samples(found);
            },
            "matching"_a, "seed"_a, "index"_a, "number"_a, "worms"_a, "matchings"_a, "cancel"_a,
            "most_steps"_a)
        .def(
            "run_together",
            [samples](const am::Worm& job, const Ints& starts, std::uint64_t seed,
                      std::uint64_t index, std::uint64_t number, std::uint64_t worms,
                      bool matchings, const Bytes& cancel, std::uint64_t most_steps) {
                auto found = [&] {
                    const nb::gil_scoped_release nogil;
                    return job.run_together(view(starts), seed, index, number, worms, matchings,
                                            cancel_flag(cancel), most_steps);
                }();
                std::vector<decltype(samples(found.front()))> lanes;
                for (auto& lane : found) lanes.push_back(samples(lane));
                return lanes;
            },
            "starts"_a, "seed"_a, "index"_a, "number"_a, "worms"_a, "matchings"_a, "cancel"_a,
            "most_steps"_a);
}

}  // namespace anonymatch::bindings
