#include "small/small.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <vector>

namespace anonymatch {
namespace {

template <class Value>
struct Tables {
    std::vector<Value> before = std::vector<Value>(std::size_t{1} << small_behaviours);
    std::vector<Value> after = std::vector<Value>(std::size_t{1} << small_behaviours);
};

/// One block; Weight(e) is the weight of edge e.
template <class Value, class Weight>
Value solve(std::span<const std::int32_t> rows, std::span<const std::int32_t> indices,
            int behaviours, Weight weight, Tables<Value>& tables, Value* minors) {
    const auto users = static_cast<int>(rows.size()) - 1;
    const std::uint32_t end = std::uint32_t{1} << behaviours;
    auto& before = tables.before;
    auto& after = tables.after;
    std::fill_n(before.begin(), end, Value{0});
    before[0] = Value{1};
    Value total{0};
    for (std::uint32_t used = 0; used < end; ++used) {
        const Value ways = before[used];
        if (ways == Value{0}) continue;
        const int user = std::popcount(used);
        if (user == users) {
            total += ways;
            continue;
        }
        for (auto e = rows[static_cast<std::size_t>(user)];
             e < rows[static_cast<std::size_t>(user) + 1]; ++e) {
            const auto bit = std::uint32_t{1} << indices[static_cast<std::size_t>(e)];
            if ((used & bit) == 0) before[used | bit] += ways * weight(static_cast<std::size_t>(e));
        }
    }
    if (minors == nullptr) return total;

    for (std::uint32_t used = end; used-- > 0;) {
        const int user = std::popcount(used);
        if (user >= users) {
            after[used] = user == users ? Value{1} : Value{0};
            continue;
        }
        Value ways{0};
        for (auto e = rows[static_cast<std::size_t>(user)];
             e < rows[static_cast<std::size_t>(user) + 1]; ++e) {
            const auto bit = std::uint32_t{1} << indices[static_cast<std::size_t>(e)];
            if ((used & bit) != 0) continue;
            const Value rest = after[used | bit];
            ways += rest * weight(static_cast<std::size_t>(e));
            minors[e] += before[used] * rest;
        }
        after[used] = ways;
    }
    return total;
}

template <class Value, class Weight>
void solve_all(const SmallBlocks& blocks, Weight weight, std::span<Value> totals,
               std::span<Value> minors) {
    Tables<Value> tables;
    std::fill(minors.begin(), minors.end(), Value{0});
    for (std::size_t b = 0; b < totals.size(); ++b) {
        assert(blocks.behaviour_counts[b] <= small_behaviours);
        const auto first = static_cast<std::size_t>(blocks.user_offsets[b]);
        const auto last = static_cast<std::size_t>(blocks.user_offsets[b + 1]);
        totals[b] = solve<Value>(blocks.indptr.subspan(first, last - first + 1), blocks.indices,
                                 blocks.behaviour_counts[b], weight, tables,
                                 minors.empty() ? nullptr : minors.data());
    }
}

}  // namespace

void small_counts(const SmallBlocks& blocks, std::span<std::uint64_t> totals,
                  std::span<std::uint64_t> minors) {
    solve_all<std::uint64_t>(blocks, [](std::size_t) { return std::uint64_t{1}; }, totals, minors);
}

void small_counts(const SmallBlocks& blocks, std::span<const double> weights,
                  std::span<double> totals, std::span<double> minors) {
    solve_all<double>(blocks, [weights](std::size_t e) { return weights[e]; }, totals, minors);
}

}  // namespace anonymatch
