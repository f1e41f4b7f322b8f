#include "hidden_chain/hidden_chain.hpp"

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_hidden_chain(nb::module_& m) {
    nb::enum_<am::Counted>(m, "Counted")
        .value("nothing", am::Counted::nothing)
        .value("cover", am::Counted::cover)
        .value("losses", am::Counted::losses);
    nb::class_<am::HiddenFigures> figures(m, "HiddenFigures");
    figures.def_ro("log_evidence", &am::HiddenFigures::log_evidence)
        .def_ro("joint_bits", &am::HiddenFigures::joint_bits)
        .def_ro("busy", &am::HiddenFigures::busy)
        .def_ro("miss", &am::HiddenFigures::miss)
        .def_ro("widest", &am::HiddenFigures::widest);
    show<&am::HiddenFigures::lost>(figures, "lost");
    show<&am::HiddenFigures::inside>(figures, "inside");
    show<&am::HiddenFigures::departed>(figures, "departed");
    show<&am::HiddenFigures::shannon>(figures, "shannon");
    show<&am::HiddenFigures::shannon_all>(figures, "shannon_all");
    show<&am::HiddenFigures::collision>(figures, "collision");
    show<&am::HiddenFigures::probability>(figures, "probability");
    show<&am::HiddenFigures::guessing>(figures, "guessing");
    show<&am::HiddenFigures::group_shannon>(figures, "group_shannon");
    show<&am::HiddenFigures::group_probability>(figures, "group_probability");
    show<&am::HiddenFigures::guess>(figures, "guess");
    show<&am::HiddenFigures::allowed>(figures, "allowed");
    show<&am::HiddenFigures::group_guess>(figures, "group_guess");
    show<&am::HiddenFigures::real>(figures, "real");
    show<&am::HiddenFigures::pairs>(figures, "pairs");
    show<&am::HiddenFigures::entries>(figures, "entries");
    show<&am::HiddenFigures::entry_column>(figures, "entry_column");
    show<&am::HiddenFigures::entry_value>(figures, "entry_value");
    show<&am::HiddenFigures::asked>(figures, "asked");
    nb::class_<am::HiddenChain>(m, "HiddenChain")
        .def(
            "__init__",
            [](am::HiddenChain* chain, const Bytes& arrival, const Reals& move, const Reals& stay,
               const Reals& gap, std::int64_t end_inside, am::Counted counted, std::int32_t number,
               double cut, std::int32_t together, double tolerance, std::int32_t guessing_every,
               bool rows, bool pairs, bool sparse, const Ints& groups, const Ints& asked) {
                const nb::gil_scoped_release nogil;
                new (chain) am::HiddenChain({view(arrival), view(move), view(stay), view(gap)},
                                            {end_inside, counted, number, cut, together, tolerance,
                                             guessing_every, rows, pairs, sparse},
                                            view(groups), view(asked));
            },
            "arrival"_a, "move"_a, "stay"_a, "gap"_a, "end_inside"_a, "counted"_a, "number"_a,
            "cut"_a, "together"_a, "tolerance"_a, "guessing_every"_a, "rows"_a, "pairs"_a,
            "sparse"_a, "groups"_a, "asked"_a)
        .def("stuck", &am::HiddenChain::stuck)
        .def("log_evidence", &am::HiddenChain::log_evidence)
        .def("done", &am::HiddenChain::done)
        .def("advance", &am::HiddenChain::advance, "events"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def("figures", &am::HiddenChain::figures);
}

}  // namespace anonymatch::bindings
