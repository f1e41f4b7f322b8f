#include "structure/structure.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "structure/edges.hpp"
#include "structure/factorise.hpp"

namespace anonymatch::bindings {

namespace {

void bind_edges(nb::module_& m) {
    m.def(
        "group_hashes",
        [](const Words& hashes) {
            auto groups = [&] {
                const nb::gil_scoped_release nogil;
                return am::group_hashes(view(hashes));
            }();
            return std::make_tuple(owned(std::move(groups.codes)), owned(std::move(groups.first)));
        },
        "hashes"_a);
    m.def(
        "sort_edges",
        [](const Ints& rows, const Ints& columns, std::int32_t n_rows, bool ordered) {
            auto edges = [&] {
                const nb::gil_scoped_release nogil;
                return am::sort_edges(view(rows), view(columns), n_rows, ordered);
            }();
            return std::make_tuple(owned(std::move(edges.indptr)), owned(std::move(edges.indices)),
                                   owned(std::move(edges.order)), edges.duplicates);
        },
        "rows"_a, "columns"_a, "n_rows"_a, "ordered"_a);
}

}  // namespace

void bind_structure(nb::module_& m) {
    bind_edges(m);
    using am::BlockTable, am::Structure;
    const auto graph = [](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices) {
        return am::BipartiteView{static_cast<std::int32_t>(indptr.size()) - 1, n_behaviours,
                                 view(indptr), view(indices)};
    };
    nb::class_<Structure> structure(m, "Structure");
    structure.def_ro("n_matched", &Structure::n_matched);
    structure.def_ro("n_blocks", &Structure::n_blocks);
    show<&Structure::behaviour_of_user>(structure, "behaviour_of_user");
    show<&Structure::user_of_behaviour>(structure, "user_of_behaviour");
    show<&Structure::block_of_user>(structure, "block_of_user");
    show<&Structure::block_of_behaviour>(structure, "block_of_behaviour");
    show<&Structure::witness_users>(structure, "witness_users");
    show<&Structure::witness_behaviours>(structure, "witness_behaviours");
    m.def(
        "find_structure",
        [graph](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices) {
            const nb::gil_scoped_release nogil;
            return am::find_structure(graph(n_behaviours, indptr, indices));
        },
        "n_behaviours"_a, "indptr"_a, "indices"_a);
    nb::class_<BlockTable> table(m, "BlockTable");
    show<&BlockTable::user_offsets>(table, "user_offsets");
    show<&BlockTable::users>(table, "users");
    show<&BlockTable::behaviour_offsets>(table, "behaviour_offsets");
    show<&BlockTable::behaviours>(table, "behaviours");
    show<&BlockTable::edge_offsets>(table, "edge_offsets");
    show<&BlockTable::row_offsets>(table, "row_offsets");
    show<&BlockTable::local_indices>(table, "local_indices");
    show<&BlockTable::edges>(table, "edges");
    show<&BlockTable::class_of_block>(table, "class_of_block");
    show<&BlockTable::class_first>(table, "class_first");
    m.def(
        "block_table",
        [graph](std::int32_t n_behaviours, const Ints& indptr, const Ints& indices,
                const Structure& structure, const Reals& weights) {
            const nb::gil_scoped_release nogil;
            return am::build_block_table(graph(n_behaviours, indptr, indices), structure,
                                         view(weights));
        },
        "n_behaviours"_a, "indptr"_a, "indices"_a, "structure"_a, "weights"_a);
}

}  // namespace anonymatch::bindings
