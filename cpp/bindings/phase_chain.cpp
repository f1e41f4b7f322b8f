#include "phase_chain/phase_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

namespace {

auto phase_rows(am::PhaseRows&& rows) {
    return std::make_tuple(
        owned(std::move(rows.departed)), owned(std::move(rows.inside)),
        owned(std::move(rows.collision)), owned(std::move(rows.shannon)),
        owned(std::move(rows.shannon_error)), owned(std::move(rows.shannon_all)),
        owned(std::move(rows.shannon_all_error)), owned(std::move(rows.largest)),
        owned(std::move(rows.largest_error)), owned(std::move(rows.guess)),
        owned(std::move(rows.allowed)), owned(std::move(rows.guessing)),
        owned(std::move(rows.guessing_apart)), owned(std::move(rows.shannon_batches)),
        owned(std::move(rows.largest_batches)), owned(std::move(rows.guessing_batches)),
        owned(std::move(rows.group_shannon)), owned(std::move(rows.group_largest)),
        owned(std::move(rows.group_guess)), owned(std::move(rows.pair_logs)),
        owned(std::move(rows.inside_logs)), owned(std::move(rows.unseen_logs)),
        owned(std::move(rows.asked)), rows.error);
}

int stages_of(std::span<const double> rates) {
    return static_cast<int>(std::min<std::size_t>(rates.size(), am::phase_chain_largest + 1));
}

std::array<double, am::phase_chain_largest> rates_of(std::span<const double> rates) {
    std::array<double, am::phase_chain_largest> all{1, 1, 1, 1};
    if (rates.size() <= all.size()) std::copy(rates.begin(), rates.end(), all.begin());
    return all;
}

}  // namespace

void bind_phase_chain(nb::module_& m) {
    m.attr("phase_chain_largest") = am::phase_chain_largest;
    using Chain = am::PhaseChain;
    nb::class_<Chain>(m, "PhaseChain")
        .def(
            "__init__",
            [](Chain* chain, const Reals& arrivals, const Reals& departures, double end,
               const Reals& rates, double loss, double cover, int counted, std::int32_t count_end,
               std::int32_t total_end, double epsilon, const Reals& early) {
                const nb::gil_scoped_release nogil;
                const am::PhaseModel model{stages_of(view(rates)),
                                           rates_of(view(rates)),
                                           loss,
                                           cover,
                                           static_cast<am::PhaseCount>(counted),
                                           count_end,
                                           total_end,
                                           epsilon};
                new (chain) Chain(model, view(arrivals), view(departures), end, view(early));
            },
            "arrivals"_a, "departures"_a, "end"_a, "rates"_a, "loss"_a, "cover"_a, "counted"_a,
            "count_end"_a, "total_end"_a, "epsilon"_a, "early"_a)
        .def(
            "group", [](Chain& chain, const Ints& groups) { chain.group(view(groups)); },
            "groups"_a)
        .def(
            "ask", [](Chain& chain, const Ints& departures) { chain.ask(view(departures)); },
            "departures"_a)
        .def("forward", &Chain::forward, "work"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("backward", &Chain::backward, "keep"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("possible", &Chain::possible)
        .def_prop_ro("log_evidence", &Chain::log_evidence)
        .def_prop_ro("share_done", &Chain::share_done)
        .def_prop_ro("work", &Chain::work)
        .def_prop_ro("cells", &Chain::cells)
        .def_prop_ro("stretches", &Chain::stretches)
        .def_prop_ro("cut_off", &Chain::cut_off)
        .def_prop_ro("cut_off_near", &Chain::cut_off_near)
        .def_prop_ro("kept_bytes", &Chain::kept_bytes)
        .def("lost", [](const Chain& chain) { return owned(chain.lost()); })
        .def("real", [](const Chain& chain) { return owned(chain.real()); })
        .def("row_work", [](const Chain& chain) { return owned(chain.row_work()); })
        .def(
            "rows",
            [](const Chain& chain, std::size_t first, std::size_t last, double tolerance,
               const Reals& inside_logs, const Reals& unseen_logs, std::size_t n_pairs,
               const Bytes& cancel) {
                std::vector<double> pairs(n_pairs, 0.0);
                auto rows = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.rows(first, last, tolerance, view(inside_logs), view(unseen_logs),
                                      pairs, cancel_flag(cancel));
                }();
                return std::make_tuple(phase_rows(std::move(rows)), owned(std::move(pairs)));
            },
            "first"_a, "last"_a, "tolerance"_a, "inside_logs"_a, "unseen_logs"_a, "n_pairs"_a,
            "cancel"_a);
    m.def(
        "stage_survival",
        [](const Reals& rates, const Reals& times) {
            std::vector<double> result;
            {
                const nb::gil_scoped_release nogil;
                result = am::stage_survival(
                    {.hops = stages_of(view(rates)), .rates = rates_of(view(rates))}, view(times));
            }
            return owned(std::move(result));
        },
        "rates"_a, "times"_a);
    m.def(
        "stage_log_density",
        [](const Reals& rates, const Reals& times) {
            std::vector<double> result;
            {
                const nb::gil_scoped_release nogil;
                result = am::stage_log_density(
                    {.hops = stages_of(view(rates)), .rates = rates_of(view(rates))}, view(times));
            }
            return owned(std::move(result));
        },
        "rates"_a, "times"_a);
    using Sampler = am::PhaseSampler;
    nb::class_<Sampler>(m, "PhaseSampler")
        .def(
            "__init__",
            [](Sampler* sampler, Chain& chain, std::size_t batches, std::size_t each,
               std::uint64_t seed, const Reals& inside_logs, const Reals& unseen_logs) {
                new (sampler)
                    Sampler(chain, batches, each, seed, view(inside_logs), view(unseen_logs));
            },
            "chain"_a, "batches"_a, "each"_a, "seed"_a, "inside_logs"_a, "unseen_logs"_a,
            nb::keep_alive<1, 2>())
        .def("back", &Sampler::back, nb::call_guard<nb::gil_scoped_release>())
        .def("rows",
             [](const Sampler& sampler) { return phase_rows(am::PhaseRows(sampler.rows())); });
}

}  // namespace anonymatch::bindings
