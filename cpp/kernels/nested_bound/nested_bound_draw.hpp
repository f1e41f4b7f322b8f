// Eight draws at once through the tables of a nested bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anonymatch::nested_bound {

/// GCC and Clang cut it to the registers that the target has; it is only ever used in memory or
/// inside one function.
typedef double Lanes __attribute__((vector_size(64), aligned(64)));

struct alignas(64) Eight {
    Lanes lanes;
};

/// One edge at the step of its column.
struct Choice {
    std::int32_t row;
    double rate;    // e * l * weight / height
    double height;  // H of the row at this step / its height at the beginning
};

/// Columns in order. Choices [starts[t], forced[t]) are rows that have no later column: if one of
/// them is left, it must be picked.
struct Table {
    std::size_t n = 0;
    std::vector<std::uint32_t> starts;
    std::vector<std::uint32_t> forced;
    std::vector<Choice> choices;
    double shrink = 1;  // takes the slack of the bound off each draw
};

/// Memory of one call.
struct Scratch {
    explicit Scratch(const Table& table);
    std::vector<Eight> left;           // 1 or 0, for each row
    std::vector<Eight> totals;         // running sums over a column's choices
    std::vector<std::uint32_t> picks;  // [step * 8 + lane]: index of a choice
    double draws[8] = {};              // divided by the bound
    double coins[8] = {};              // uniform, of no use to the draws
};

using DrawGroup = void (*)(const Table& table, std::uint64_t seed, std::uint64_t group,
                           Scratch& scratch);
DrawGroup draw_group();

}  // namespace anonymatch::nested_bound
