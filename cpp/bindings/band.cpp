#include "band/band.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_band(nb::module_& m) {
    nb::class_<am::BandPlan>(m, "BandPlan")
        .def_ro("feasible", &am::BandPlan::feasible)
        .def_ro("digit_bits", &am::BandPlan::digit_bits)
        .def_ro("width", &am::BandPlan::width)
        .def_ro("work", &am::BandPlan::work)
        .def_ro("words_work", &am::BandPlan::words_work)
        .def_ro("words_bytes", &am::BandPlan::words_bytes)
        .def_ro("roundings", &am::BandPlan::roundings)
        .def_ro("peak_states", &am::BandPlan::peak_states)
        .def_ro("meeting", &am::BandPlan::meeting)
        .def("row_work", [](const am::BandPlan& plan) { return owned(std::vector(plan.row_work)); })
        .def("row_bits", [](const am::BandPlan& plan) { return owned(std::vector(plan.row_bits)); })
        .def("layer_states",
             [](const am::BandPlan& plan) { return owned(std::vector(plan.layer_states)); })
        .def_prop_ro("real_bytes", &am::BandPlan::real_bytes)
        .def("kept_bytes", &am::BandPlan::kept_bytes, "stretches"_a = 1.0)
        .def("edge_bytes", &am::BandPlan::edge_bytes, "stretches"_a = 1.0, "byte_limit"_a = 0.0);
    m.def(
        "plan_band",
        [](const Ints& starts, const Ints& stops) {
            const nb::gil_scoped_release nogil;
            return am::plan_band({view(starts), view(stops)});
        },
        "starts"_a, "stops"_a);
    nb::enum_<am::BandTask>(m, "BandTask")
        .value("count_words", am::BandTask::count_words)
        .value("count_real", am::BandTask::count_real)
        .value("edges", am::BandTask::edges)
        .value("forward_words", am::BandTask::forward_words)
        .value("back_words", am::BandTask::back_words)
        .value("forward_real", am::BandTask::forward_real)
        .value("back_real", am::BandTask::back_real);
    m.def(
        "meet_words",
        [](const Words& before, const Words& after, std::size_t states, int digit_bits) {
            return owned(am::meet_words(view(before), view(after), states, digit_bits));
        },
        "before"_a, "after"_a, "states"_a, "digit_bits"_a);
    m.def(
        "meet_real",
        [](const Reals& before, const Reals& after) {
            return am::meet_real(view(before), view(after));
        },
        "before"_a, "after"_a);
    nb::class_<am::Band>(m, "Band")
        .def_static(
            "make",
            [](const Ints& starts, const Ints& stops, const Reals& weights, am::BandTask task,
               std::size_t byte_limit, std::size_t first, std::size_t last, const Words& digits,
               const Reals& before, const Reals& after) {
                return am::Band({view(starts), view(stops)}, view(weights), task, byte_limit,
                                {first, last, view(digits), view(before), view(after)});
            },
            "starts"_a, "stops"_a, "weights"_a, "task"_a, "byte_limit"_a, "first"_a, "last"_a,
            "digits"_a, "before"_a, "after"_a)
        .def(
            "run",
            [](am::Band& job, double max_work) {
                const nb::gil_scoped_release nogil;
                return job.run(max_work);
            },
            "max_work"_a)
        .def_prop_ro("work_done", &am::Band::work_done)
        .def_prop_ro("failed", &am::Band::failed)
        .def("count_words", [](const am::Band& job) { return owned(job.count_words()); })
        .def("count_real",
             [](const am::Band& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::Band& job) { return owned(job.posteriors()); })
        .def("digits", [](const am::Band& job) { return owned(job.digits()); })
        .def("layer", [](const am::Band& job) {
            am::BandLayer layer = job.layer();
            return std::make_tuple(owned(std::move(layer.values)), layer.exponent);
        });
}

}  // namespace anonymatch::bindings
