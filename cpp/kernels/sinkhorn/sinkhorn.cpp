#include "sinkhorn/sinkhorn.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace anonymatch {
namespace {

using Index = std::size_t;

Index at(std::int32_t i) {
    return static_cast<Index>(i);
}

/// One sweep: rows to their targets, then columns to 1. Gives the largest deviation of a row found.
double sweep(const SinkhornProblem& problem, std::span<double> shares, std::vector<double>& columns,
             std::span<double> column_logs) {
    std::fill(columns.begin(), columns.end(), 0.0);
    double worst = 0.0;
    for (Index i = 0; i < problem.row_targets.size(); ++i) {
        const Index first = at(problem.indptr[i]);
        const Index last = at(problem.indptr[i + 1]);
        double sum = 0.0;
        for (Index e = first; e < last; ++e) sum += shares[e];
        worst = std::max(worst, std::abs(sum - problem.row_targets[i]));
        const double factor = problem.row_targets[i] / sum;
        for (Index e = first; e < last; ++e) {
            shares[e] *= factor;
            columns[at(problem.indices[e])] += shares[e];
        }
    }
    for (Index j = 0; j < columns.size(); ++j) {
        column_logs[j] -= std::log(columns[j]);
        columns[j] = 1.0 / columns[j];
    }
    for (Index e = 0; e < shares.size(); ++e) shares[e] *= columns[at(problem.indices[e])];
    return worst;
}

/// Vertices: rows first, then columns.
struct Forest {
    std::vector<std::int32_t> order;        // parents before children
    std::vector<std::int32_t> parent;       // -1 for roots
    std::vector<std::int32_t> parent_edge;  // edge to the parent
};

Forest spanning_forest(const SinkhornProblem& problem) {
    const Index n_rows = problem.row_targets.size();
    const Index n_columns = at(problem.n_columns);
    const Index n_edges = problem.indices.size();
    std::vector<std::int32_t> starts(n_columns + 1, 0);
    std::vector<std::int32_t> row_of(n_edges);
    std::vector<std::int32_t> edge_of(n_edges);
    for (const auto column : problem.indices) ++starts[at(column) + 1];
    for (Index j = 0; j < n_columns; ++j) starts[j + 1] += starts[j];
    auto next = starts;
    for (Index i = 0; i < n_rows; ++i) {
        for (auto e = problem.indptr[i]; e < problem.indptr[i + 1]; ++e) {
            const auto slot = at(next[at(problem.indices[at(e)])]++);
            row_of[slot] = static_cast<std::int32_t>(i);
            edge_of[slot] = e;
        }
    }

    Forest forest;
    forest.parent.assign(n_rows + n_columns, -2);
    forest.parent_edge.assign(n_rows + n_columns, -1);
    forest.order.reserve(n_rows + n_columns);
    const auto visit = [&forest](Index vertex, Index from, std::int32_t edge) {
        if (forest.parent[vertex] != -2) return;
        forest.parent[vertex] = static_cast<std::int32_t>(from);
        forest.parent_edge[vertex] = edge;
        forest.order.push_back(static_cast<std::int32_t>(vertex));
    };
    for (Index root = 0; root < n_rows; ++root) {
        if (forest.parent[root] != -2) continue;
        forest.parent[root] = -1;
        forest.order.push_back(static_cast<std::int32_t>(root));
        for (Index done = forest.order.size() - 1; done < forest.order.size(); ++done) {
            const auto vertex = at(forest.order[done]);
            if (vertex < n_rows) {
                for (auto e = problem.indptr[vertex]; e < problem.indptr[vertex + 1]; ++e)
                    visit(n_rows + at(problem.indices[at(e)]), vertex, e);
            } else {
                const Index column = vertex - n_rows;
                for (auto s = starts[column]; s < starts[column + 1]; ++s)
                    visit(at(row_of[at(s)]), vertex, edge_of[at(s)]);
            }
        }
    }
    return forest;
}

}  // namespace

SinkhornOutcome sinkhorn_scaling(const SinkhornProblem& problem, int sweeps, double tolerance,
                                 std::span<double> shares, std::span<double> column_logs) {
    const Index n_rows = problem.row_targets.size();
    for (Index i = 0; i < n_rows; ++i) {
        // Starting from the row's largest weight keeps sums finite whatever the unit of the
        // weights.
        const Index first = at(problem.indptr[i]);
        const Index last = at(problem.indptr[i + 1]);
        double largest = 0.0;
        for (Index e = first; e < last; ++e) largest = std::max(largest, problem.weights[e]);
        for (Index e = first; e < last; ++e)
            shares[e] = std::max(problem.weights[e] / largest, 1e-150);
    }
    std::vector<double> columns(at(problem.n_columns));
    std::fill(column_logs.begin(), column_logs.end(), 0.0);
    double residual = HUGE_VAL;
    for (int k = 0; k < sweeps && residual > tolerance; ++k)
        residual = sweep(problem, shares, columns, column_logs);

    std::vector<double> missing(n_rows + columns.size(), 1.0);
    std::copy(problem.row_targets.begin(), problem.row_targets.end(), missing.begin());
    for (Index i = 0; i < n_rows; ++i) {
        for (auto e = problem.indptr[i]; e < problem.indptr[i + 1]; ++e) {
            missing[i] -= shares[at(e)];
            missing[n_rows + at(problem.indices[at(e)])] -= shares[at(e)];
        }
    }
    const Forest forest = spanning_forest(problem);
    for (Index k = forest.order.size(); k-- > 0;) {
        const auto vertex = at(forest.order[k]);
        if (forest.parent[vertex] < 0) continue;
        shares[at(forest.parent_edge[vertex])] += missing[vertex];
        missing[at(forest.parent[vertex])] -= missing[vertex];
    }
    const bool positive =
        std::all_of(shares.begin(), shares.end(), [](double share) { return share > 0.0; });
    return {positive, residual};
}

}  // namespace anonymatch
