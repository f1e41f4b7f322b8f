// How the floating minors of glynn.hpp are laid out: which columns run fastest, which rows feel
// them.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "glynn/glynn_double_problem.hpp"

namespace anonymatch::glynn {

/// The two fastest columns are those that the fewest rows feel. Rows stand in pairs, sorted by which
/// of the two changes them: neither, only the second, only the first, both. Rows that feel less may
/// stand in for a missing partner; where there are none, `nobody` does: a row of constant sum 1.
struct MinorsPlan {
    static constexpr std::size_t nobody = glynn_largest_n;
    static constexpr std::size_t most_pairs =
        glynn_largest_n / 2 + 2;  // at most four rows are nobody

    std::vector<std::size_t> columns;   // fastest first; the last one stays +1
    std::vector<std::size_t> rows;      // pair after pair
    std::array<std::size_t, 4> ends{};  // of each kind, in pairs

    explicit MinorsPlan(const DoubleProblem& problem) {
        const auto n = static_cast<std::size_t>(problem.n);
        const auto feels = [&](std::size_t row, std::size_t column) {
            return problem.weight[row * n + column] != 0;
        };
        const auto kind = [&](std::size_t row, std::size_t one, std::size_t two) {
            return static_cast<std::size_t>(feels(row, two)) +
                   2 * static_cast<std::size_t>(feels(row, one));
        };
        // Floating-point operations for two rows of each kind and four sign vectors. Only columns that
        // run inside every unit may move, so that all paths agree on what a unit is.
        constexpr std::array<int, 4> price{17, 27, 39, 52};
        std::pair<std::size_t, std::size_t> best{0, 1};
        int lowest = price[3] * glynn_largest_n + 1;
        for (std::size_t two = 0; two < problem.inner(); ++two)
            for (std::size_t one = 0; one < problem.inner(); ++one) {
                if (one == two) continue;
                int sum = 0;
                for (std::size_t row = 0; row < n; ++row) sum += price[kind(row, one, two)];
                if (sum < lowest) lowest = sum, best = {one, two};
            }
        columns = {best.first, best.second};
        for (std::size_t column = 0; column < n; ++column)
            if (column != best.first && column != best.second) columns.push_back(column);

        std::array<std::vector<std::size_t>, 4> kinds;
        for (std::size_t row = 0; row < n; ++row)
            kinds[kind(row, best.first, best.second)].push_back(row);
        const auto move = [&](std::size_t from, std::size_t to) {
            kinds[to].push_back(kinds[from].back());
            kinds[from].pop_back();
        };
        if (kinds[2].size() % 2 != 0 && kinds[3].size() % 2 != 0) move(2, 3);
        for (const std::size_t odd : {std::size_t{1}, std::size_t{2}, std::size_t{3}})
            if (kinds[odd].size() % 2 != 0 && !kinds[0].empty()) move(0, odd);
        for (std::size_t k = 0; k < 4; ++k) {
            if (kinds[k].size() % 2 != 0) kinds[k].push_back(nobody);
            rows.insert(rows.end(), kinds[k].begin(), kinds[k].end());
            ends[k] = rows.size() / 2;
        }
    }
};

}  // namespace anonymatch::glynn
