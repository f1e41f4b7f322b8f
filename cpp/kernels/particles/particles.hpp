// Particle filters over matchings: unbiased estimates of a count, user after user.
//
// Sinkhorn's factors turn the weights a of a block into shares q = r a c, of which those of every
// column add up to 1. If every column picked a row by its shares, independently of the others, each
// row would be picked by exactly one column with probability
//     P = count * product of r * product of c,
// for the terms of P are the products of the shares of each matching. A filter estimates P: rows in
// turn, each particle with its own set of columns that are still free. Column j, free so far, picks
// row i with hazard h = q_ij / (q_ij + shares of rows to come), so that the weight of a particle
// gains P1, the probability that exactly one of its free columns does, and that column is drawn
// in proportion. As sums of hazards are near 1, where P1 is stationary, weights differ little.
// Particles are resampled (systematically) when few of them carry the weight. The mean weight
// is unbiased (Del Moral 2004), also with this rule (Whiteley, Lee, Heine 2016).
//
// Columns beyond the number of rows may stay free: they pick nobody by a share of their own. With
// factor r0 of nobody and s spare columns, P has r0^s as one more factor.
//
// A run along a given matching, drawn in proportion to its weight, has a weight w for which 1/w is
// unbiased for 1/count (Andrieu, Doucet, Holenstein 2010): what chains find can be held against
// what filters found.
//
// Cost: about 0.3 ns an edge and particle with 512-bit vectors; 4 bytes a particle and column that
// is open at the same time. Each run is a function of seed, number and particles alone, the same on
// every machine: operations are those of IEEE floats, in one order. Floats change a log weight by
// about rows * 2^-24 at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// Rows of a block: at least as many columns as rows; weights are empty for ones.
struct ParticleBlock {
    std::int32_t n_columns;
    std::span<const std::int32_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> weights;
};

struct ParticleRuns {
    std::vector<double> log_weights;      // one a run; -inf if no particle lived
    std::vector<std::int32_t> matchings;  // run-major, columns by row, -1 if none lived
};

class Particles {
public:
    /// Balances the weights (at most so many sweeps, until sums of rows are within `tolerance`) and
    /// lays rows out in `order`. std::invalid_argument if that is no order of the rows.
    Particles(const ParticleBlock& block, std::span<const std::int32_t> order, int sweeps,
              double tolerance);

    /// Whether balancing stayed within the range of doubles; else nothing may be run.
    [[nodiscard]] bool balanced() const noexcept { return balanced_; }
    /// Columns that are open at the same time at most.
    [[nodiscard]] std::size_t width() const noexcept { return width_; }

    /// Runs [first, last) of so many particles (a multiple of 16); the first of them if cancelled.
    [[nodiscard]] ParticleRuns run(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                   std::size_t particles, bool matchings,
                                   CancelFlag cancel = {}) const;

    /// The log weight of a run along each of the matchings (columns by row, one after another);
    /// the k-th has the number first + k.
    [[nodiscard]] std::vector<double> along(std::span<const std::int32_t> matchings,
                                            std::uint64_t seed, std::uint64_t first,
                                            std::size_t particles, CancelFlag cancel = {}) const;

private:
    class Filter;
    struct Step {  // an edge in the order of work
        std::uint32_t slot;
        float hazard;
    };
    void balance(const ParticleBlock& block, int sweeps, double tolerance);
    void lay_out(const ParticleBlock& block, std::span<const std::int32_t> order);

    bool balanced_ = false;
    std::size_t width_ = 0;
    double log_scale_ = 0.0;  // log of count / P, less what rows gain besides
    std::vector<double> row_factors_, column_factors_;
    double nobody_ = 0.0;                      // share of nobody is this times the column's factor
    std::vector<std::int32_t> order_;          // rows by step
    std::vector<std::size_t> begins_;          // of a row's steps
    std::vector<Step> steps_;                  // edges, row after row
    std::vector<std::int32_t> columns_;        // of each step
    std::vector<std::size_t> opening_begins_;  // of a row's openings
    std::vector<std::uint32_t> openings_;      // slots that a row opens
};

}  // namespace anonymatch
