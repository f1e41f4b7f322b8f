// How rows are put together so that their products fit 16-bit lanes and two factors below 2^51.
#pragma once

#include <algorithm>
#include <numeric>

#include "glynn/glynn_problem.hpp"

namespace anonymatch::glynn {

struct Packing {
    static constexpr std::size_t most_groups = 16;

    std::array<std::size_t, glynn_largest_n> rows{};  // in the order of the groups
    std::array<std::size_t, most_groups + 1>
        ends{};              // group g is rows[ends[g]] .. rows[ends[g + 1] - 1]
    std::size_t left = 0;    // groups of the first factor, 1 .. 4
    std::size_t right = 0;   // and of the second, 1 .. left
    std::size_t third = 0;   // 0, or 4: then all factors have four groups, some of them empty
    std::size_t fourth = 0;  // the same
    bool fits = false;

    /// How many there are; 0 if the rows do not fit.
    [[nodiscard]] int factors() const noexcept {
        return !fits ? 0 : fourth != 0 ? 4 : third != 0 ? 3 : 2;
    }
};

/// Rows in groups whose bounds multiply to less than 2^15.
struct Groups {
    std::array<std::int64_t, Packing::most_groups> product{};
    std::array<std::size_t, glynn_largest_n> group_of{};
    std::size_t number = 0;  // 0 if they do not fit

    /// The rows, group by group and factor by factor; `packing` has the sizes of the factors.
    void arrange(const GlynnProblem& problem,
                 const std::array<std::size_t, Packing::most_groups>& factor_of,
                 Packing& packing) const noexcept {
        std::size_t filled = 0;
        std::size_t slot = 0;
        const std::array<std::size_t, 4> sizes{packing.left, packing.right, packing.third,
                                               packing.fourth};
        for (std::size_t factor = 0; factor < 4; ++factor) {
            const std::size_t slots = slot + sizes[factor];
            for (std::size_t group = 0; group < number; ++group) {
                if (factor_of[group] != factor) continue;
                for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n); ++i)
                    if (group_of[i] == group) packing.rows[filled++] = i;
                packing.ends[++slot] = filled;
            }
            while (slot < slots) packing.ends[++slot] = filled;
        }
        packing.fits = true;
    }
};

/// First fit, heaviest row first.
inline Groups group_rows(const GlynnProblem& problem) noexcept {
    const auto n = static_cast<std::size_t>(problem.n);
    std::array<std::size_t, glynn_largest_n> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto heaviness = [&](std::size_t i) {
        return std::max<std::int64_t>(problem.bound[i], 1);
    };
    std::stable_sort(order.begin(), order.begin() + problem.n,
                     [&](std::size_t a, std::size_t b) { return heaviness(a) > heaviness(b); });

    Groups made;
    for (std::size_t k = 0; k < n; ++k) {
        const std::int64_t row = heaviness(order[k]);
        if (row >= 1 << 15) return {};
        std::size_t group = 0;
        while (group < made.number && made.product[group] * row >= 1 << 15) ++group;
        if (group == made.number) {
            if (made.number == Packing::most_groups) return {};
            made.product[made.number++] = 1;
        }
        made.product[group] *= row;
        made.group_of[order[k]] = group;
    }
    return made;
}

/// Two factors of at most four groups, which stay below 2^60, for sums modulo 2^104.
inline Packing pack_kept(const GlynnProblem& problem, const Groups& groups) noexcept {
    Packing packing;
    if (groups.number < 5 || groups.number > 8) return packing;
    packing.left = 4;
    packing.right = groups.number < 8 ? 3 : 4;
    std::array<std::size_t, Packing::most_groups> factor_of{};
    for (std::size_t group = 0; group < groups.number; ++group) factor_of[group] = group % 2;
    groups.arrange(problem, factor_of, packing);
    return packing;
}

/// The choice of at most four groups for each factor that keeps both, or else three or four of them,
/// below 2^51.
inline Packing pack(const GlynnProblem& problem, const Groups& grouped) noexcept {
    const auto& product = grouped.product;
    const std::size_t groups = grouped.number;
    Packing packing;
    if (groups < 2) return packing;  // so light a matrix is small, too

    const i128 limit = std::int64_t{1} << 51;
    std::array<std::size_t, Packing::most_groups> factor_of{};
    std::size_t best_size = 0;
    for (std::size_t subset = 1; groups <= 8 && subset + 1 < std::size_t{1} << groups; ++subset) {
        std::array<i128, 2> factor{1, 1};
        std::size_t size = 0;
        for (std::size_t group = 0; group < groups; ++group) {
            const bool in = (subset >> group & 1) != 0;
            size += in;
            factor[in] = std::min(factor[in] * product[group], limit);
        }
        if (size > 4 || groups - size > size || factor[0] >= limit || factor[1] >= limit) continue;
        if (size <= best_size)
            continue;  // pairs of groups widen without waste: prefer four and the rest
        best_size = size;
        for (std::size_t group = 0; group < groups; ++group)
            factor_of[group] = (subset >> group & 1) == 0;
    }
    packing.left = best_size;
    packing.right = groups - best_size;
    for (std::size_t factors = 3; best_size == 0; ++factors) {
        if (factors > 4) return packing;
        std::array<i128, 4> factor{1, 1, 1, 1};
        std::array<std::size_t, 4> size{};
        bool below = groups <= 4 * factors;
        for (std::size_t group = 0; below && group < groups; ++group) {
            // First fit made the heaviest come first.
            std::size_t lightest = factors;
            for (std::size_t k = 0; k < factors; ++k)
                if (size[k] < 4 && (lightest == factors || factor[k] < factor[lightest]))
                    lightest = k;
            factor[lightest] *= product[group];
            below = factor[lightest] < limit;
            ++size[lightest];
            factor_of[group] = lightest;
        }
        if (!below) continue;
        packing.left = packing.right = packing.third = best_size = 4;
        packing.fourth = factors == 4 ? 4 : 0;
    }

    grouped.arrange(problem, factor_of, packing);
    return packing;
}

/// A matrix made ready.
struct Packed {
    GlynnProblem problem;
    Packing packing;
    Packing kept;  // two factors for sums modulo 2^104, where exact ones take more

    Packed(std::span<const std::uint32_t> matrix, int n) noexcept : problem(matrix, n) {
        const Groups groups = group_rows(problem);
        packing = pack(problem, groups);
        if (packing.factors() > 2) kept = pack_kept(problem, groups);
    }
};

}  // namespace anonymatch::glynn
