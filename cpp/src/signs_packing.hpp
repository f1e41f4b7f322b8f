// How rows are put together so that their products fit 16-bit lanes and two factors below 2^51.
#pragma once

#include "signs_problem.hpp"

#include <algorithm>
#include <numeric>

namespace anonymatch::detail {

struct Packing {
    static constexpr std::size_t most_groups = 8;

    std::array<std::size_t, signs_largest_n> rows{};   // in the order of the groups
    std::array<std::size_t, most_groups + 1> ends{};   // group g is rows[ends[g]] .. rows[ends[g + 1] - 1]
    std::size_t left = 0;                              // groups of the first factor, 1 .. 4
    std::size_t right = 0;                             // and of the second, 1 .. left
    bool fits = false;
};

/// First fit, heaviest row first, into groups whose bounds multiply to less than 2^15; then the
/// choice of at most four groups for each factor that keeps both below 2^51.
inline Packing pack(const SignsProblem& problem) noexcept {
    const auto n = static_cast<std::size_t>(problem.n);
    Packing packing;
    std::array<std::size_t, signs_largest_n> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto heaviness = [&](std::size_t i) { return std::max<std::int64_t>(problem.bound[i], 1); };
    std::stable_sort(order.begin(), order.begin() + problem.n,
                     [&](std::size_t a, std::size_t b) { return heaviness(a) > heaviness(b); });

    std::array<std::int64_t, Packing::most_groups> product{};
    std::array<std::size_t, signs_largest_n> group_of{};
    std::size_t groups = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::int64_t row = heaviness(order[k]);
        if (row >= 1 << 15) return packing;
        std::size_t group = 0;
        while (group < groups && product[group] * row >= 1 << 15) ++group;
        if (group == groups) {
            if (groups == Packing::most_groups) return packing;
            product[groups++] = 1;
        }
        product[group] *= row;
        group_of[order[k]] = group;
    }
    if (groups < 2) return packing;  // so light a matrix is small, too

    const i128 limit = std::int64_t{1} << 51;
    std::size_t best = 0;
    std::size_t best_size = 0;
    for (std::size_t subset = 1; subset + 1 < std::size_t{1} << groups; ++subset) {
        std::array<i128, 2> factor{1, 1};
        std::size_t size = 0;
        for (std::size_t group = 0; group < groups; ++group) {
            const bool in = (subset >> group & 1) != 0;
            size += in;
            factor[in] = std::min(factor[in] * product[group], limit);
        }
        if (size > 4 || groups - size > size || factor[0] >= limit || factor[1] >= limit) continue;
        // Even numbers of groups widen in pairs without waste: prefer four and the rest.
        if (size > best_size) best = subset, best_size = size;
    }
    if (best == 0) return packing;

    std::size_t filled = 0;
    std::size_t next = 0;
    for (const bool in : {true, false})
        for (std::size_t group = 0; group < groups; ++group) {
            if (((best >> group & 1) != 0) != in) continue;
            for (std::size_t i = 0; i < n; ++i)
                if (group_of[i] == group) packing.rows[filled++] = i;
            packing.ends[++next] = filled;
        }
    packing.left = best_size;
    packing.right = groups - best_size;
    packing.fits = true;
    return packing;
}

}  // namespace anonymatch::detail
