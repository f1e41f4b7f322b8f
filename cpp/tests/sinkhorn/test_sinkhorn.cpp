#include <cmath>
#include <vector>

#include "check.hpp"
#include "sinkhorn/sinkhorn.hpp"

namespace {

/// Rows 110/111/011 with targets (1,1,1), then one user and two behaviours with a second, free row.
void check_sums(const std::vector<std::int32_t>& indptr, const std::vector<std::int32_t>& indices,
                const std::vector<double>& weights, const std::vector<double>& targets,
                std::int32_t n_columns, int sweeps) {
    std::vector<double> shares(indices.size());
    std::vector<double> logs(static_cast<std::size_t>(n_columns));
    const auto outcome = anonymatch::sinkhorn_scaling(
        {indptr, indices, weights, targets, n_columns}, sweeps, 1e-13, shares, logs);
    CHECK(outcome.balanced);
    std::vector<double> columns(static_cast<std::size_t>(n_columns), 0.0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        double sum = 0.0;
        for (auto e = static_cast<std::size_t>(indptr[i]);
             e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
            sum += shares[e];
            columns[static_cast<std::size_t>(indices[e])] += shares[e];
        }
        CHECK(std::abs(sum - targets[i]) < 1e-14);
    }
    for (const double column : columns) CHECK(std::abs(column - 1.0) < 1e-14);
}

}  // namespace

int main() {
    const std::vector<double> ones(7, 1.0);
    check_sums({0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, ones, {1, 1, 1}, 3, 1000);
    check_sums({0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, ones, {1, 1, 1}, 3,
               30);  // the correction works
    check_sums({0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {1e200, 3, 2, 1, 5, 1e-3, 7}, {1, 1, 1}, 3,
               5000);
    check_sums({0, 2, 5}, {0, 1, 0, 1, 2}, {1, 2, 1, 1, 1}, {1, 2}, 3, 1000);
    return check::report("test_sinkhorn");
}
