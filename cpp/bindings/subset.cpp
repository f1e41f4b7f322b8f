#include "subset/subset.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_subset(nb::module_& m) {
    m.attr("subset_limit") = am::subset_limit;
    m.def(
        "subset_fits",
        [](std::int32_t n, const Reals& weights) { return am::subset_fits(n, view(weights)); },
        "n"_a, "weights"_a);
    m.def("subset_bytes", &am::subset_bytes, "n"_a, "posteriors"_a);
    nb::class_<am::SubsetProgramme>(m, "SubsetProgramme")
        .def(
            "__init__",
            [](am::SubsetProgramme* job, std::int32_t n, const Reals& weights, bool posteriors) {
                new (job) am::SubsetProgramme(n, view(weights), posteriors);
            },
            "n"_a, "weights"_a, "posteriors"_a)
        .def(
            "run",
            [](am::SubsetProgramme& job, double max_subsets) {
                const nb::gil_scoped_release nogil;
                return job.run(max_subsets);
            },
            "max_subsets"_a)
        .def_prop_ro("subsets_done", &am::SubsetProgramme::subsets_done)
        .def_prop_ro("subsets_in_all", &am::SubsetProgramme::subsets_in_all)
        .def("count_real",
             [](const am::SubsetProgramme& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::SubsetProgramme& job) { return owned(job.posteriors()); });
}

}  // namespace anonymatch::bindings
