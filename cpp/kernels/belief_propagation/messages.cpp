#include "belief_propagation/messages.hpp"

#include <algorithm>

namespace anonymatch {
namespace {

/// The range of logs that one stage of the scaling faces.
constexpr double stage_range = 30.0;
constexpr int sweeps_a_stage = 4;

/// Adds to `potentials` what makes the exponentials of each row (or column) sum to one.
class LogSums {
public:
    explicit LogSums(Index n) : largest_(at(n)), sums_(at(n)) {}

    template <class Ends>
    void balance(std::span<const double> logs, const Ends& ends, std::vector<double>& potentials) {
        std::fill(largest_.begin(), largest_.end(), -HUGE_VAL);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        for (std::size_t e = 0; e < logs.size(); ++e) {
            const std::size_t end = ends(e);
            largest_[end] = std::max(largest_[end], logs[e]);
        }
        for (std::size_t e = 0; e < logs.size(); ++e) {
            const std::size_t end = ends(e);
            sums_[end] += std::exp(logs[e] - largest_[end]);
        }
        for (std::size_t k = 0; k < potentials.size(); ++k)
            potentials[k] -= largest_[k] + std::log(sums_[k]);
    }

private:
    std::vector<double> largest_, sums_;
};

std::vector<Index> rows_of_edges(const SquareBlock& block) {
    std::vector<Index> rows(block.indices.size());
    for (Index i = 0; i < block.n; ++i)
        std::fill(rows.begin() + block.indptr[at(i)], rows.begin() + block.indptr[at(i) + 1], i);
    return rows;
}

}  // namespace

Sweeps scaled_weights(const SquareBlock& block) {
    Sweeps state;
    const std::size_t n_edges = block.indices.size();
    state.scaled.assign(n_edges, 1.0);
    state.complements.assign(n_edges, 1.0);
    if (block.weights.empty()) return state;

    std::vector<double> given(n_edges), logs(n_edges), rows(at(block.n), 0.0),
        columns(at(block.n), 0.0);
    for (std::size_t e = 0; e < n_edges; ++e) given[e] = std::log(block.weights[e]);
    const auto [least, largest] = std::minmax_element(given.begin(), given.end());
    const double range = *largest - *least;
    const auto stages = static_cast<int>(std::ceil(std::log2(std::max(range / stage_range, 1.0))));
    const std::vector<Index> row_of = rows_of_edges(block);
    const auto by_row = [&](std::size_t e) { return at(row_of[e]); };
    const auto by_column = [&](std::size_t e) { return at(block.indices[e]); };
    LogSums sums(block.n);
    for (int stage = stages; stage >= 0; --stage) {
        const double exponent = std::ldexp(1.0, -stage);
        const auto rescale = [&] {
            for (std::size_t e = 0; e < n_edges; ++e)
                logs[e] = exponent * given[e] + rows[by_row(e)] + columns[by_column(e)];
        };
        for (int k = 0; k < sweeps_a_stage; ++k) {
            rescale();
            sums.balance(logs, by_row, rows);
            rescale();
            sums.balance(logs, by_column, columns);
        }
        if (stage == 0) {
            rescale();
            break;
        }
        for (double& row : rows) row *= 2;
        for (double& column : columns) column *= 2;
    }
    for (std::size_t e = 0; e < n_edges; ++e)
        state.scaled[e] = std::max(std::exp(logs[e]), least_scaled_weight);
    for (const double row : rows) state.log_scale -= row;
    for (const double column : columns) state.log_scale -= column;
    return state;
}

}  // namespace anonymatch
