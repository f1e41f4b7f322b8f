// Square blocks for the tests of estimates, and their exact answers by definition.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "belief_propagation/belief_propagation.hpp"
#include "structure/structure.hpp"

namespace blocks {

struct Block {
    int n = 0;
    std::vector<std::int32_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> weights;

    [[nodiscard]] anonymatch::SquareBlock view() const { return {n, indptr, indices, weights}; }
    [[nodiscard]] int row_of(std::size_t e) const {
        const auto next =
            std::upper_bound(indptr.begin(), indptr.end(), static_cast<std::int32_t>(e));
        return static_cast<int>(next - indptr.begin()) - 1;
    }
    [[nodiscard]] double weight(std::size_t e) const { return weights.empty() ? 1.0 : weights[e]; }
};

inline Block from_rows(const std::vector<std::set<int>>& rows) {
    Block block;
    block.n = static_cast<int>(rows.size());
    block.indptr.push_back(0);
    for (const auto& row : rows) {
        block.indices.insert(block.indices.end(), row.begin(), row.end());
        block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
    }
    return block;
}

inline Block complete(int n) {
    std::set<int> all;
    for (int j = 0; j < n; ++j) all.insert(j);
    return from_rows(std::vector<std::set<int>>(static_cast<std::size_t>(n), all));
}

/// Row i has the columns i and i + 1, cyclically.
inline Block cycle(int n) {
    std::vector<std::set<int>> rows;
    for (int i = 0; i < n; ++i) rows.push_back({i, (i + 1) % n});
    return from_rows(rows);
}

/// A cycle, so that the block is irreducible, and random edges up to `degree` a row.
inline Block random(int n, int degree, unsigned seed) {
    std::mt19937 bits(seed);
    std::vector<std::set<int>> rows;
    for (int i = 0; i < n; ++i) {
        std::set<int> row{i, (i + 1) % n};
        while (static_cast<int>(row.size()) < std::min(degree, n))
            row.insert(static_cast<int>(bits() % static_cast<unsigned>(n)));
        rows.push_back(row);
    }
    return from_rows(rows);
}

/// Log-normal weights.
inline void spread(Block& block, double sigma, unsigned seed) {
    std::mt19937 bits(seed);
    std::normal_distribution<double> normal(0.0, sigma);
    block.weights.clear();
    for (std::size_t e = 0; e < block.indices.size(); ++e)
        block.weights.push_back(std::exp(normal(bits)));
}

struct Exact {
    double log = 0;
    std::vector<double> posteriors;
};

/// Over subsets of columns, forward and backward; n at most 16.
inline Exact exact(const Block& block) {
    const auto n = static_cast<std::size_t>(block.n);
    const std::size_t full = (std::size_t{1} << n) - 1;
    std::vector<double> ahead(full + 1, 0.0), back(full + 1, 0.0);
    Exact result{0, std::vector<double>(block.indices.size(), 0.0)};
    ahead[0] = back[full] = 1;
    const auto each = [&](std::size_t mask, const auto& visit) {
        const auto row = static_cast<std::size_t>(std::popcount(mask));
        if (row == n) return;
        for (auto e = static_cast<std::size_t>(block.indptr[row]);
             e < static_cast<std::size_t>(block.indptr[row + 1]); ++e) {
            const std::size_t bit = std::size_t{1} << block.indices[e];
            if ((mask & bit) == 0) visit(e, mask | bit);
        }
    };
    for (std::size_t mask = 0; mask <= full; ++mask)
        each(mask, [&](std::size_t e, std::size_t next) {
            ahead[next] += ahead[mask] * block.weight(e);
        });
    for (std::size_t mask = full + 1; mask-- > 0;)
        each(mask, [&](std::size_t e, std::size_t next) {
            back[mask] += back[next] * block.weight(e);
            result.posteriors[e] += ahead[mask] * block.weight(e) * back[next] / ahead[full];
        });
    result.log = std::log(ahead[full]);
    return result;
}

}  // namespace blocks
