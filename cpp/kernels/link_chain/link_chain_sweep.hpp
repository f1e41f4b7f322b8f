// One sweep of the chain of link_chain.hpp over a stretch of rows, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anonymatch::link_chain {

/// A run of columns.
struct Run {
    std::int32_t first;
    std::int32_t length;
};

/// What a sweep reads and writes. Entries of a row and of random numbers lie by replica.
struct Sweep {
    const Run* runs;   // of each row
    const Run* cores;  // what weighs most of them
    const std::int64_t* offsets;
    const std::int32_t* reach;
    const float* logs;         // of weights; null if all are 1
    const float* log_lengths;  // of runs
    const float* unpaired;     // log weight of each row to have no column
    float cover;               // log weight of a column to be nobody's
    std::int32_t* held;        // column of each row and replica; -1 if none
    float* held_logs;          // and its log weight, where weights are
    std::uint16_t* open;       // for each column a bit a replica: whether it is nobody's
    std::int32_t* pairs;       // of each replica
    std::int32_t least, most;  // of pairs, in any replica
    std::uint32_t (*random)[16];
    std::uint64_t* shared;
    std::size_t rows;
};

/// Rows `begin` to `end` - 1: each swaps with a later one, makes or gives up a pair, and
/// moves to another column.
using SweepStretch = void (*)(const Sweep& sweep, std::size_t begin, std::size_t end);

SweepStretch sweep_stretch(bool weighted);
/// By the instructions that each name has; only where the processor knows them.
SweepStretch sweep_stretch_portable(bool weighted);
SweepStretch sweep_stretch_avx2(bool weighted);
SweepStretch sweep_stretch_avx512(bool weighted);

}  // namespace anonymatch::link_chain
