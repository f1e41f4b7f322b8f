// The two sweeps of the subset programme over blocks of eight subsets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anonymatch::subset {

/// Eight subsets that differ in the three lowest columns. GCC and Clang cut it to the registers
/// that the target has; it is only ever used in memory or inside one function.
typedef double Lanes __attribute__((vector_size(64)));

/// weights[h * columns + c] has in lane l the weight of (row h + popcount(l), column c), 0 past the
/// end: the row that a subset of popcount h + popcount(l) matches next. Low columns (c < 3) have 0
/// in lanes that hold c already.
struct Sweep {
    std::size_t columns = 0;  // n
    const Lanes* weights = nullptr;
    Lanes* ahead = nullptr;  // f, or on the way back the finished f
    Lanes* back = nullptr;   // g
    Lanes* sums = nullptr;   // like weights: f[S] * g[S + c]
};

using SweepRange = void (*)(const Sweep& sweep, std::uint64_t first, std::uint64_t last);

/// f for blocks [first, last), rising; block 0 included sets f of the empty set to 1.
SweepRange forward_sweep();
/// g and the sums for blocks [first, last), falling from last - 1.
SweepRange backward_sweep();

}  // namespace anonymatch::subset
