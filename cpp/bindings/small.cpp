#include "small/small.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_small(nb::module_& m) {
    m.attr("small_behaviours") = am::small_behaviours;
    m.def(
        "small_counts",
        [](const Ints& user_offsets, const Ints& behaviour_counts, const Ints& indptr,
           const Ints& indices, bool minors) {
            std::vector<std::uint64_t> totals(behaviour_counts.size());
            std::vector<std::uint64_t> through(minors ? indices.size() : 0);
            {
                const nb::gil_scoped_release nogil;
                am::small_counts(
                    {view(user_offsets), view(behaviour_counts), view(indptr), view(indices)},
                    totals, through);
            }
            return std::make_tuple(owned(std::move(totals)), owned(std::move(through)));
        },
        "user_offsets"_a, "behaviour_counts"_a, "indptr"_a, "indices"_a, "minors"_a);
    m.def(
        "small_counts_weighted",
        [](const Ints& user_offsets, const Ints& behaviour_counts, const Ints& indptr,
           const Ints& indices, const Reals& weights, bool minors) {
            std::vector<double> totals(behaviour_counts.size());
            std::vector<double> through(minors ? indices.size() : 0);
            {
                const nb::gil_scoped_release nogil;
                am::small_counts(
                    {view(user_offsets), view(behaviour_counts), view(indptr), view(indices)},
                    view(weights), totals, through);
            }
            return std::make_tuple(owned(std::move(totals)), owned(std::move(through)));
        },
        "user_offsets"_a, "behaviour_counts"_a, "indptr"_a, "indices"_a, "weights"_a, "minors"_a);
}

}  // namespace anonymatch::bindings
