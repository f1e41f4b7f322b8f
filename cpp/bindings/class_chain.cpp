#include "class_chain/class_chain.hpp"

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_class_chain(nb::module_& m) {
    nb::class_<am::ClassFigures> figures(m, "ClassFigures");
    figures.def_ro("log_evidence", &am::ClassFigures::log_evidence)
        .def_ro("explained", &am::ClassFigures::explained)
        .def_ro("finished", &am::ClassFigures::finished);
    show<&am::ClassFigures::stayed>(figures, "stayed");
    show<&am::ClassFigures::users>(figures, "users");
    show<&am::ClassFigures::loops>(figures, "loops");
    show<&am::ClassFigures::lost>(figures, "lost");
    show<&am::ClassFigures::inside>(figures, "inside");
    show<&am::ClassFigures::entries>(figures, "entries");
    show<&am::ClassFigures::entry_event>(figures, "entry_event");
    show<&am::ClassFigures::entry_value>(figures, "entry_value");
    m.def(
        "class_chain",
        [](const Bytes& arrival, const Reals& users, const Reals& loops, const Reals& stay,
           const Reals& keep, const Reals& gap, bool drained, bool rows, double cut,
           double tolerance, const Bytes& cancel) {
            const nb::gil_scoped_release nogil;
            return am::class_chain(
                {view(arrival), view(users), view(loops), view(stay), view(keep), view(gap)},
                {drained, rows, cut, tolerance}, cancel_flag(cancel));
        },
        "arrival"_a, "users"_a, "loops"_a, "stay"_a, "keep"_a, "gap"_a, "drained"_a, "rows"_a,
        "cut"_a, "tolerance"_a, "cancel"_a);
}

}  // namespace anonymatch::bindings
