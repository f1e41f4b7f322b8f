#include "link_chain/link_chain.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

namespace {

/// The arrays of a band, which live as long as what is made from it.
struct LinkArrays {
    Ints first, last;
    Reals weights;
    std::int32_t columns;

    [[nodiscard]] am::LinkBand view_of() const {
        return {view(first), view(last), view(weights), columns};
    }
};

auto by_lane(const std::array<double, am::link_chain_lanes>& sums) {
    return owned(std::vector<double>(sums.begin(), sums.end()));
}

}  // namespace

void bind_link_chain(nb::module_& m) {
    m.attr("link_chain_lanes") = am::link_chain_lanes;
    nb::class_<LinkArrays>(m, "LinkBand")
        .def(
            "__init__",
            [](LinkArrays* band, const Ints& first, const Ints& last, const Reals& weights,
               std::int32_t columns) { new (band) LinkArrays{first, last, weights, columns}; },
            "first"_a, "last"_a, "weights"_a, "columns"_a);
    m.def(
        "first_in_first_out",
        [](const LinkArrays& band) { return owned(am::first_in_first_out(band.view_of())); },
        "band"_a);
    using Scaling = am::LinkScaling;
    nb::class_<Scaling>(m, "LinkScaling")
        .def(
            "__init__",
            [](Scaling* scaling, const LinkArrays& band, const Reals& unpaired, double cover) {
                new (scaling) Scaling(band.view_of(), view(unpaired), cover);
            },
            "band"_a, "unpaired"_a, "cover"_a, nb::keep_alive<1, 2>())
        .def(
            "set_weights",
            [](Scaling& scaling, const Reals& unpaired, double cover) {
                scaling.set_weights(view(unpaired), cover);
            },
            "unpaired"_a, "cover"_a)
        .def(
            "steps",
            [](Scaling& scaling, int number, double relaxation, const Bytes& cancel) {
                const nb::gil_scoped_release nogil;
                return scaling.steps(number, relaxation, cancel_flag(cancel));
            },
            "number"_a, "relaxation"_a, "cancel"_a)
        .def("rows", [](const Scaling& scaling) { return owned(std::vector(scaling.rows())); })
        .def("columns",
             [](const Scaling& scaling) { return owned(std::vector(scaling.columns())); })
        .def("alone", [](const Scaling& scaling) { return owned(scaling.alone()); });
    using Chain = am::LinkChain;
    nb::class_<Chain>(m, "LinkChain")
        .def(
            "__init__",
            [](Chain* chain, const LinkArrays& band, const Ints& reach, const Ints& start,
               std::uint64_t seed) {
                const nb::gil_scoped_release nogil;
                new (chain) Chain(band.view_of(), view(reach), view(start), seed);
            },
            "band"_a, "reach"_a, "start"_a, "seed"_a, nb::keep_alive<1, 2>())
        .def(
            "set_weights",
            [](Chain& chain, const Reals& unpaired, double cover) {
                chain.set_weights(view(unpaired), cover);
            },
            "unpaired"_a, "cover"_a)
        .def(
            "set_losses", [](Chain& chain, const Reals& losses) { chain.set_losses(view(losses)); },
            "losses"_a)
        .def("set_limits", &Chain::set_limits, "least"_a, "most"_a)
        .def(
            "sweep",
            [](Chain& chain, int sweeps, const Reals& shares, double cover_share,
               std::int32_t pairs, std::int32_t lost, const Bytes& cancel) {
                const auto sums = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.sweep(sweeps, view(shares), cover_share, {pairs, lost},
                                       cancel_flag(cancel));
                }();
                return std::make_tuple(by_lane(sums.shares), by_lane(sums.pairs),
                                       by_lane(sums.squares), by_lane(sums.hits),
                                       by_lane(sums.lost), by_lane(sums.lost_squares),
                                       by_lane(sums.products));
            },
            "sweeps"_a, "shares"_a, "cover_share"_a, "pairs"_a, "lost"_a, "cancel"_a)
        .def(
            "record",
            [](Chain& chain, int samples, int thin, std::int32_t pairs, std::int32_t lost,
               const Reals& row_logs, const Reals& column_logs, const Bytes& cancel) {
                const auto record = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.record(samples, thin, {pairs, lost}, view(row_logs),
                                        view(column_logs), cancel_flag(cancel));
                }();
                return std::make_tuple(by_lane(record.samples), by_lane(record.weights),
                                       by_lane(record.shares), by_lane(record.paired));
            },
            "samples"_a, "thin"_a, "pairs"_a, "lost"_a, "row_logs"_a, "column_logs"_a, "cancel"_a)
        .def("state", [](const Chain& chain) { return owned(chain.state()); })
        .def(
            "restore", [](Chain& chain, const Bytes& state) { return chain.restore(view(state)); },
            "state"_a)
        .def_prop_ro("samples", &Chain::samples)
        .def(
            "explanation",
            [](const Chain& chain, std::size_t lane) { return owned(chain.explanation(lane)); },
            "lane"_a)
        .def(
            "set_guesses",
            [](Chain& chain, const Ints& guesses) { chain.set_guesses(view(guesses)); },
            "guesses"_a)
        .def("guessed", [](const Chain& chain) { return owned(std::vector(chain.guessed())); })
        .def("alone", [](const Chain& chain) { return owned(std::vector(chain.alone())); })
        .def("lost", [](const Chain& chain) { return owned(std::vector(chain.lost())); })
        .def("real", [](const Chain& chain) { return owned(std::vector(chain.real())); })
        .def(
            "top",
            [](const Chain& chain, const Scaling& scaling, std::size_t begin, std::size_t end,
               double spread, double noise, double errors) {
                auto top = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.top(scaling, begin, end, {spread, noise}, errors);
                }();
                return std::make_tuple(owned(std::move(top.guess)), owned(std::move(top.largest)),
                                       owned(std::move(top.high)));
            },
            "scaling"_a, "begin"_a, "end"_a, "spread"_a, "noise"_a, "errors"_a)
        .def(
            "rows",
            [](const Chain& chain, const Scaling& scaling, std::size_t begin, std::size_t end,
               const Ints& groups) {
                auto rows = [&] {
                    const nb::gil_scoped_release nogil;
                    return chain.rows(scaling, begin, end, view(groups));
                }();
                return std::make_tuple(
                    owned(std::move(rows.shannon)), owned(std::move(rows.collision)),
                    owned(std::move(rows.largest)), owned(std::move(rows.guess)),
                    owned(std::move(rows.guessing)), owned(std::move(rows.allowed)),
                    owned(std::move(rows.distance)), owned(std::move(rows.group_shannon)),
                    owned(std::move(rows.group_largest)), owned(std::move(rows.group_guess)));
            },
            "scaling"_a, "begin"_a, "end"_a, "groups"_a);
}

}  // namespace anonymatch::bindings
