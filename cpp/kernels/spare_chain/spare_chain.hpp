// A Markov chain over the ways to give every row a column of its own where columns are left over: ring
// signatures, of which each spends one of its members. Ways are in proportion to the product of their
// weights.
//
// A move takes the column from a random row. Then, until it ends: the row without one picks among all
// its columns in proportion to their weights; if the column is free it stays there and the move ends;
// else whoever has the column loses it and picks next. Free columns move and rows exchange theirs alike.
//
// Each move is reversible for the product of weights. Give a state in which row h has none the product
// of the others' weights times the sum W(h) of row h, over the number n of rows. Then to take the column
// from a row (1 / n) and to pick a free one (w / W) balance, and so do "h picks c and j loses it" and "j
// picks c and h loses it": both are the product of the weights of all but h and j times w(h, c) w(j, c)
// / n. States in which all rows have a column, watched alone, keep their law. Samples are taken after a
// fixed number of moves; after a fixed number of picks they would be biased. Where columns are left over
// and every edge is in some way, moves lead from every way to every other: a free column can be brought
// to any cycle, which then turns.
//
// With `rest` > 0 rows may also rest, with this weight, and need no column.
//
// What is recorded of a sample is not the column of each row, but its law given all others: over the
// columns that are free or its own. Its mean is the same, and it varies far less.
//
// Cost: 1 / (share of picks that find a free column) picks a move, 15 to 60 ns each; a sample 1 to 2 ns
// an edge. 8 bytes an edge (16 with weights), and 8 more an edge for sums; 8 a row and a column.
// No sum overflows: weights are scaled by row to a largest of 1, and rows have fewer than 2^31 edges.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// Sorted rows; `weights` empty where all are 1, else positive and at most 1.
struct WideBlock {
    std::int32_t columns = 0;
    std::span<const std::int32_t> indptr, indices;
    std::span<const double> weights;
};

struct SpareSamples {
    std::vector<double> sums;     // an edge: its probability given the others, over all samples
    std::vector<double> resting;  // a sample: over rows, the sum of 1 / (rest + free weight)
    std::vector<std::int32_t> matchings;  // sample-major, columns by row, if asked for
    std::vector<std::int32_t> last;       // columns by row, -1 if it rests: to go on from
    std::uint64_t samples = 0;            // taken: fewer than asked for when stopped
    std::uint64_t picks = 0;
};

/// What is kept of each sample.
struct SpareRecord {
    bool edges = false, resting = false, matchings = false;
};

class SpareChain {
public:
    /// std::invalid_argument unless rows are sorted, not empty, and within the columns.
    explicit SpareChain(const WideBlock& block);
    ~SpareChain();
    SpareChain(SpareChain&&) noexcept;
    SpareChain& operator=(SpareChain&&) noexcept;

    /// `samples`, each `moves` after the one before, from `start`: a column for each row, or -1 where
    /// `rest` > 0 (std::invalid_argument otherwise). A function of its arguments: to go on, pass `last`
    /// and another index. It gives up after about `most_picks`.
    [[nodiscard]] SpareSamples run(std::span<const std::int32_t> start, std::uint64_t seed,
                                   std::uint64_t index, std::uint64_t samples, std::uint64_t moves,
                                   double rest, SpareRecord record, CancelFlag cancel = {},
                                   std::uint64_t most_picks = ~std::uint64_t{0}) const;

private:
    class Job;
    std::unique_ptr<const Job> job_;
};

}  // namespace anonymatch
