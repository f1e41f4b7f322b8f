// One sweep of the chain over a stretch of rows, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anonymatch::swap_chain {

/// What a sweep reads and writes. Entries of a row and of random numbers lie by replica.
struct Sweep {
    const std::int32_t* first;
    const std::int32_t* lengths;
    const std::int64_t* offsets;
    const std::int32_t* reach;
    const float* logs;  // null if all weights are 1
    std::int32_t* held;
    float* held_logs;
    std::uint32_t (*random)[16];
    std::uint64_t* shared;
    std::size_t rows;
    float tilt;
    std::int32_t most;  // reach of any row
};

/// Rows `begin` to `end` - 1, each with a later one. Adds to `crossing` and `taken`, by replica, and
/// gives the number of pairs looked at. At most 1024 rows, so that sums fit.
using SweepStretch = std::int32_t (*)(const Sweep& sweep, std::size_t begin, std::size_t end,
                                      std::int32_t* crossing, std::int32_t* taken);

SweepStretch sweep_stretch(bool weighted, bool tilted);
/// By the instructions that each name has; only where the processor knows them.
SweepStretch sweep_stretch_portable(bool weighted, bool tilted);
SweepStretch sweep_stretch_avx2(bool weighted, bool tilted);
SweepStretch sweep_stretch_avx512(bool weighted, bool tilted);

}  // namespace anonymatch::swap_chain
