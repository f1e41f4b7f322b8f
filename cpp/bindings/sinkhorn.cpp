#include "sinkhorn/sinkhorn.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace anonymatch::bindings {

void bind_sinkhorn(nb::module_& m) {
    m.def(
        "sinkhorn_scaling",
        [](const Ints& indptr, const Ints& indices, const Reals& weights, const Reals& row_targets,
           std::int32_t n_columns, int sweeps, double tolerance) {
            std::vector<double> shares(indices.size());
            std::vector<double> column_logs(static_cast<std::size_t>(n_columns));
            const auto outcome = [&] {
                const nb::gil_scoped_release nogil;
                return am::sinkhorn_scaling(
                    {view(indptr), view(indices), view(weights), view(row_targets), n_columns},
                    sweeps, tolerance, shares, column_logs);
            }();
            return std::make_tuple(outcome.balanced, owned(std::move(shares)),
                                   owned(std::move(column_logs)));
        },
        "indptr"_a, "indices"_a, "weights"_a, "row_targets"_a, "n_columns"_a, "sweeps"_a,
        "tolerance"_a);
}

}  // namespace anonymatch::bindings
