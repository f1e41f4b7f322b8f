#include "swap_chain/swap_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

namespace {

/// The arrays of a band, which live as long as what is made from it.
struct Band {
    Ints first, last;
    Reals weights;

    [[nodiscard]] am::SwapBand view_of() const { return {view(first), view(last), view(weights)}; }
};

std::vector<double> by_lane(const std::array<double, am::swap_chain_lanes>& sums) {
    return {sums.begin(), sums.end()};
}

}  // namespace

void bind_swap_chain(nb::module_& m) {
    m.attr("swap_chain_lanes") = am::swap_chain_lanes;
    nb::class_<Band>(m, "SwapBand")
        .def(
            "__init__",
            [](Band* band, const Ints& first, const Ints& last, const Reals& weights) {
                new (band) Band{first, last, weights};
            },
            "first"_a, "last"_a, "weights"_a);
    using Scaling = am::BandScaling;
    nb::class_<Scaling>(m, "BandScaling")
        .def(
            "__init__",
            [](Scaling* scaling, const Band& band) {
                const nb::gil_scoped_release nogil;
                new (scaling) Scaling(band.view_of());
            },
            "band"_a, nb::keep_alive<1, 2>())
        .def(
            "steps",
            [](Scaling& scaling, int number, double relaxation, const Bytes& cancel) {
                const nb::gil_scoped_release nogil;
                return scaling.steps(number, relaxation, cancel_flag(cancel));
            },
            "number"_a, "relaxation"_a, "cancel"_a)
        .def("finish", &Scaling::finish, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("stray", &Scaling::stray)
        .def("shifts", [](const Scaling& scaling) { return owned(std::vector(scaling.shifts())); })
        .def("rows", [](const Scaling& scaling) { return owned(std::vector(scaling.rows())); })
        .def("columns",
             [](const Scaling& scaling) { return owned(std::vector(scaling.columns())); });
    using Chain = am::SwapChain;
    nb::class_<Chain>(m, "SwapChain")
        .def(
            "__init__",
            [](Chain* chain, const Band& band, const Ints& reach, std::uint64_t seed) {
                const nb::gil_scoped_release nogil;
                new (chain) Chain(band.view_of(), view(reach), seed);
            },
            "band"_a, "reach"_a, "seed"_a, nb::keep_alive<1, 2>())
        .def(
            "sweep",
            [](Chain& chain, double tilt, std::int32_t most, int sweeps, const Bytes& cancel) {
                auto sums = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.sweep(tilt, most, sweeps, cancel_flag(cancel));
                }();
                return owned(by_lane(sums));
            },
            "tilt"_a, "most"_a, "sweeps"_a, "cancel"_a)
        .def(
            "record",
            [](Chain& chain, int samples, int thin, const Reals& row_logs, const Reals& column_logs,
               const Bytes& cancel) {
                auto record = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.record(samples, thin, view(row_logs), view(column_logs),
                                        cancel_flag(cancel));
                }();
                return std::make_tuple(owned(by_lane(record.weights)),
                                       owned(by_lane(record.shares)));
            },
            "samples"_a, "thin"_a, "row_logs"_a, "column_logs"_a, "cancel"_a)
        .def(
            "set_reach", [](Chain& chain, const Ints& reach) { chain.set_reach(view(reach)); },
            "reach"_a)
        .def(
            "likeliest",
            [](const Chain& chain, const Scaling& scaling, std::int32_t real) {
                return owned(chain.likeliest(scaling, real));
            },
            "scaling"_a, "real"_a)
        .def(
            "set_guesses",
            [](Chain& chain, const Ints& guesses) { chain.set_guesses(view(guesses)); },
            "guesses"_a)
        .def("guessed", [](const Chain& chain) { return owned(std::vector(chain.guessed())); })
        .def("state", [](const Chain& chain) { return owned(chain.state()); })
        .def(
            "restore", [](Chain& chain, const Bytes& state) { return chain.restore(view(state)); },
            "state"_a)
        .def_prop_ro("accepted", &Chain::accepted)
        .def_prop_ro("samples", &Chain::samples)
        .def(
            "matching",
            [](const Chain& chain, std::size_t lane) { return owned(chain.matching(lane)); },
            "lane"_a)
        .def(
            "rows",
            [](const Chain& chain, const Scaling& scaling, std::size_t begin, std::size_t end,
               std::int32_t real) {
                auto rows = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.rows(scaling, begin, end, real);
                }();
                return std::make_tuple(
                    owned(std::move(rows.gone)), owned(std::move(rows.shannon)),
                    owned(std::move(rows.collision)), owned(std::move(rows.largest)),
                    owned(std::move(rows.guess)), owned(std::move(rows.guessing)),
                    owned(std::move(rows.distance)), owned(std::move(rows.upper)), rows.lower,
                    rows.size, rows.positive);
            },
            "scaling"_a, "begin"_a, "end"_a, "real"_a);
}

}  // namespace anonymatch::bindings
