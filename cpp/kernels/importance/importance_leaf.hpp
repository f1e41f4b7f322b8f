// Small parts, solved exactly over subsets of columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "importance/importance.hpp"

namespace anonymatch {

/// A part of at most `exact_rows` rows. Edges row by row; columns are numbered within the part.
/// Rows are scaled so that nothing underflows unless it is below 1e-200 of the whole.
class Leaf {
public:
    struct Edge {
        std::int32_t column;
        double weight;
    };

    Leaf();
    void clear();
    void add_edge(std::int32_t column, double weight) { edges_.push_back({column, weight}); }
    void end_row();

    /// Log of the sum over matchings of products of weights; -infinity when there is none.
    double solve();
    /// The chance of each edge, in the order in which they were added. After solve.
    void marginals(std::vector<double>& chances);
    /// The edge of each row, by number. After solve.
    void sample(Random& random, std::vector<std::int32_t>& choice) const;

private:
    [[nodiscard]] std::size_t n_rows() const noexcept { return starts_.size() - 1; }

    std::vector<Edge> edges_;
    std::vector<std::size_t> starts_;
    std::vector<double> ahead_, back_;
};

}  // namespace anonymatch
