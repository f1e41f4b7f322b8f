// Sequential importance sampling guided by belief propagation: unbiased draws of the permanent.
//
// A draw takes the row or column with the fewest edges left, chooses one of its edges with chance
// proportional to the message along it, deletes both ends, and refreshes the messages near by:
// those whose sums moved by more than a tolerance, first come first served; next to the choice by
// more than a fifth of it. Its weight is the product of edge weights over chances. Whenever three
// fifths of the rows are gone, the rest is reduced again: edges in no matching are dropped,
// components are taken apart, messages made afresh. Components of at most `exact_rows` are solved
// exactly, larger ones are estimated by the mean of `children` independent runs (a tree of runs,
// which takes away the variance of the late choices). The weight of a draw is the product over
// components: independent factors, each unbiased, so that its mean is the permanent whatever the
// messages are. A dead end weighs nothing.
//
// A draw is a function of the block, the options, the seed and its number alone: draws can be
// made in any order, on any thread, in any number of calls.
// Cost with 10 edges a row: about 8 us a row; 120 bytes an edge a call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "belief_propagation/belief_propagation.hpp"
#include "common/cancel.hpp"

namespace anonymatch {

inline constexpr std::int32_t exact_rows = 12;

struct ImportanceOptions {
    double kappa = 1.0;       // of the messages, in [0, 1]; below 1 for proposals that are flatter
    int children = 2;         // 1: plain sampling
    double tolerance = 0.05;  // of the sum of messages at a vertex before it is refreshed
    int refreshes = 1000;     // at most so many a choice
};

/// What to collect beside the weights.
struct ImportanceWishes {
    bool marginals = false;
    bool matchings = false;
};

/// Draws [first, first + log_weights.size()). With W = exp(log_weight - scale) and m the chance of
/// an edge given what a draw chose at random (exact in the parts that were solved exactly),
/// sum W m / sum W estimates its posterior, and sum W^2 (m - posterior)^2 / (sum W)^2 the square of
/// its standard error. Sums of several calls add up once they have one scale.
struct ImportanceDraws {
    std::vector<double> log_weights;  // -infinity for a dead end
    double scale = 0;                 // the largest of them, or 0 when all are -infinity
    std::vector<double> first;        // sum of W m, one an edge
    std::vector<double> square;       // sum of W^2 m
    std::vector<double> second;       // sum of W^2 m^2
    /// Draw-major, columns by row: each matching with chance so that weight times its indicator has
    /// the weight of the matching as mean; -1 in dead ends.
    std::vector<std::int32_t> matchings;
};

class Importance {
public:
    /// Copies the block and runs belief propagation on it. n >= 1.
    explicit Importance(const SquareBlock& block, const ImportanceOptions& options = {},
                        CancelFlag cancel = {});
    ~Importance();
    Importance(Importance&&) noexcept;
    Importance& operator=(Importance&&) noexcept;

    /// Fewer draws than asked for when `cancel` is raised.
    [[nodiscard]] ImportanceDraws draws(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                        const ImportanceWishes& wishes = {},
                                        CancelFlag cancel = {}) const;

    /// For each matching (columns by row, one after another; each must be perfect and within the
    /// block): the log weight of the plain draw that chooses it. With matchings in proportion to
    /// their weights, this is the other side of a bridge to plain draws (children 1).
    [[nodiscard]] std::vector<double> log_weights_of(std::span<const std::int32_t> matchings,
                                                     CancelFlag cancel = {}) const;

private:
    class Job;
    std::unique_ptr<const Job> job_;
};

}  // namespace anonymatch
