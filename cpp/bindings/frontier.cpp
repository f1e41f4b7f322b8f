#include "frontier/frontier.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "frontier/frontier_split.hpp"

namespace anonymatch::bindings {

void bind_frontier(nb::module_& m) {
    m.attr("frontier_width_limit") = am::frontier_width_limit;
    const auto block = [](std::int32_t n_columns, const Ints& indptr, const Ints& indices) {
        return am::BlockView{static_cast<std::int32_t>(indptr.size()) - 1, n_columns, view(indptr),
                             view(indices)};
    };
    nb::class_<am::FrontierPlan> plan(m, "FrontierPlan");
    show<&am::FrontierPlan::order>(plan, "order");
    plan.def_ro("width", &am::FrontierPlan::width)
        .def_ro("feasible", &am::FrontierPlan::feasible)
        .def_ro("peak_states", &am::FrontierPlan::peak_states)
        .def_ro("transitions", &am::FrontierPlan::transitions)
        .def("count_bytes", &am::FrontierPlan::count_bytes, "words"_a)
        .def("edge_bytes", &am::FrontierPlan::edge_bytes, "words"_a)
        .def("least_edge_bytes", &am::FrontierPlan::least_edge_bytes, "words"_a);
    m.def(
        "plan_frontier",
        [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices, double effort) {
            const nb::gil_scoped_release nogil;
            return am::plan_frontier(block(n_columns, indptr, indices), effort);
        },
        "n_columns"_a, "indptr"_a, "indices"_a, "effort"_a);
    nb::class_<am::FrontierPart>(m, "FrontierPart")
        .def("kept", [](const am::FrontierPart& part) { return owned(std::vector(part.kept)); })
        .def_ro("peak_states", &am::FrontierPart::peak_states)
        .def_ro("transitions", &am::FrontierPart::transitions);
    m.def(
        "split_frontier",
        [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices, const Ints& order,
                double peak_states, double longest, double worth, double stretch,
                std::int32_t parts, const Bytes& cancel) {
            const nb::gil_scoped_release nogil;
            return am::split_frontier(block(n_columns, indptr, indices), view(order),
                                      {peak_states, longest, worth, stretch, parts},
                                      cancel_flag(cancel));
        },
        "n_columns"_a, "indptr"_a, "indices"_a, "order"_a, "peak_states"_a, "longest"_a, "worth"_a,
        "stretch"_a, "parts"_a, "cancel"_a);
    nb::class_<am::Frontier>(m, "Frontier")
        .def_static(
            "words",
            [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                    const Ints& order, const Words& primes, const Words& weights, bool edges,
                    std::size_t byte_limit) {
                return am::Frontier(block(n_columns, indptr, indices), view(order),
                                    am::FrontierWords{view(primes), view(weights)},
                                    edges ? am::FrontierTask::edges : am::FrontierTask::count,
                                    byte_limit);
            },
            "n_columns"_a, "indptr"_a, "indices"_a, "order"_a, "primes"_a, "weights"_a, "edges"_a,
            "byte_limit"_a)
        .def_static(
            "reals",
            [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                    const Ints& order, const Reals& weights, bool edges, std::size_t byte_limit) {
                return am::Frontier(block(n_columns, indptr, indices), view(order),
                                    am::FrontierReals{view(weights)},
                                    edges ? am::FrontierTask::edges : am::FrontierTask::count,
                                    byte_limit);
            },
            "n_columns"_a, "indptr"_a, "indices"_a, "order"_a, "weights"_a, "edges"_a,
            "byte_limit"_a)
        .def_static(
            "sampler",
            [block](std::int32_t n_columns, const Ints& indptr, const Ints& indices,
                    const Ints& order, const Reals& weights, std::size_t size, std::uint64_t seed,
                    std::size_t byte_limit) {
                return am::Frontier(block(n_columns, indptr, indices), view(order),
                                    am::FrontierReals{view(weights)}, size, seed, byte_limit);
            },
            "n_columns"_a, "indptr"_a, "indices"_a, "order"_a, "weights"_a, "size"_a, "seed"_a,
            "byte_limit"_a)
        .def(
            "run",
            [](am::Frontier& job, double max_transitions) {
                const nb::gil_scoped_release nogil;
                return job.run(max_transitions);
            },
            "max_transitions"_a)
        .def_prop_ro("transitions_done", &am::Frontier::transitions_done)
        .def_prop_ro("peak_states", &am::Frontier::peak_states)
        .def("count_words", [](const am::Frontier& job) { return owned(job.count_words()); })
        .def("edge_words", [](const am::Frontier& job) { return owned(job.edge_words()); })
        .def("count_real",
             [](const am::Frontier& job) {
                 const auto real = job.count_real();
                 return std::make_tuple(real.mantissa, real.exponent);
             })
        .def("posteriors", [](const am::Frontier& job) { return owned(job.posteriors()); })
        .def("samples", [](const am::Frontier& job) { return owned(job.samples()); });
}

}  // namespace anonymatch::bindings
