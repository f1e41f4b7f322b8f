// Matchings of wide bands by chance: a Markov chain that swaps what two rows have, sixteen
// independent replicas abreast, and the doubly stochastic scaling that its samples correct.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// Replicas that move in lockstep: the same pair of rows is looked at in all of them, and each
/// decides by itself.
inline constexpr std::size_t swap_chain_lanes = 16;

/// A square matrix whose row i is positive at columns first[i] to last[i] - 1 and nowhere else; both
/// ends never fall from row to row, and first[i] <= i < last[i]. Every entry is in some perfect matching, as
/// scaling would not end else. Weights of all rows follow each
/// other; none are given if all are 1.
struct SwapBand {
    std::span<const std::int32_t> first;
    std::span<const std::int32_t> last;
    std::span<const double> weights;
};

/// Where rows of a band begin among its entries.
std::vector<std::int64_t> swap_offsets(const SwapBand& band);

/// Sinkhorn's scaling of a band with over-relaxed steps. The band's arrays must outlive it.
class BandScaling {
public:
    explicit BandScaling(const SwapBand& band);

    /// So many steps, each over all rows and then all columns; factors take the power `relaxation`
    /// of what would balance them, 1 <= relaxation < 2. Gives the largest deviation of a row's sum
    /// from 1 that the last step met. Cost O(entries) a step.
    double steps(int number, double relaxation, CancelFlag cancel);
    /// Rows sum to 1 after this, and `shifts` says how columns would; gives the largest deviation of
    /// a column's sum.
    double finish();

    [[nodiscard]] const std::vector<double>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<double>& columns() const { return columns_; }
    /// What columns 0 to j have too much is moved on to column j + 1: in each row that has both,
    /// this share of the smaller of the two.
    [[nodiscard]] const std::vector<double>& shifts() const { return shifts_; }
    /// The most that could not be moved, as no row has both: rounding, where blocks end.
    [[nodiscard]] double stray() const { return stray_; }

private:
    [[nodiscard]] double row_sum(std::size_t i) const;
    void add_row(std::size_t i);

    SwapBand band_;
    std::vector<std::int64_t> offsets_;
    std::vector<double> rows_, columns_, sums_, shifts_;
    double stray_ = 0.0;
};

/// What the scaled band and the counts of a chain say of some rows; given that they are not gone.
struct SwapRows {
    std::vector<double> gone;         // share of the columns that are not told apart
    std::vector<double> shannon;      // entropy of the row's other shares, in bits
    std::vector<double> collision;    // sum of their squares
    std::vector<double> largest;      // the largest of them
    std::vector<std::int32_t> guess;  // and where that is; -1 if the row is gone
    std::vector<double> guessing;     // guesses until the right one, the likeliest first
    // Sum of (p - share)^2 / share without bias: p once by the first half of the replicas and once
    // by the second. Shares below a fiftieth of the largest are taken together. 0 without counts.
    std::vector<double> distance;
    std::vector<double> upper;  // log of Soules' factor of each row
    double lower = 0.0;    // sum over entries of (1-p) ln(1-p) + p ln(w/p), p doubly stochastic
    double size = 0.0;     // sum of the absolute values of logs in it, for rounding
    bool positive = true;  // whether that matrix is positive, so that `lower` holds
};

/// Sums over the samples of each replica.
struct SwapRecord {
    std::array<double, swap_chain_lanes> weights{};  // log weight of the matching
    std::array<double, swap_chain_lanes> shares{};   // logs of rows, columns and weights, as asked
};

/// A Markov chain on the perfect matchings of a band that has the law of W tilted,
/// prod W(i, s(i)) exp(tilt i s(i)): for large tilts it is frozen in s(i) = i, for 0 it is the law
/// of W. Cost O(rows) a sweep and some 1 to 4 ns a row and replica.
class SwapChain {
public:
    /// `reach[i]`: row i is paired with one of the next reach[i] rows. All replicas start in s(i)=i.
    SwapChain(const SwapBand& band, std::span<const std::int32_t> reach, std::uint64_t seed);

    /// So many sweeps under a tilt, in which rows are paired with one of the next `most` at most.
    /// Gives for each replica the sum over sweeps of sum i^2 - sum i s(i), which is 0 for s(i) = i
    /// and positive else.
    std::array<double, swap_chain_lanes> sweep(double tilt, std::int32_t most, int sweeps,
                                               CancelFlag cancel);
    /// So many samples, `thin` sweeps apart, of the law of W, which add to the counts of entries: at
    /// most 8000 samples in all. `row_logs`, one for each row, are added up over samples with
    /// `column_logs` of what the row has, and its log weight; rows whose log is not finite are left
    /// out.
    SwapRecord record(int samples, int thin, std::span<const double> row_logs,
                      std::span<const double> column_logs, CancelFlag cancel);
    /// Another reach of each row from now on.
    void set_reach(std::span<const std::int32_t> reach) {
        reach_.assign(reach.begin(), reach.end());
    }
    /// Share of the proposed swaps that were taken in the last call.
    [[nodiscard]] double accepted() const;
    [[nodiscard]] int samples() const { return samples_; }
    /// The column of each row with the largest share, the first of equals, among those before `real`;
    /// -1 if there is none.
    [[nodiscard]] std::vector<std::int32_t> likeliest(const BandScaling& scaling,
                                                      std::int32_t real) const;
    /// Columns, one a row or -1, whose samples are counted by replica from now on.
    void set_guesses(std::span<const std::int32_t> guesses) {
        guesses_.assign(guesses.begin(), guesses.end());
    }
    /// Samples, by row and replica, in which a row had its guess.
    [[nodiscard]] const std::vector<std::uint16_t>& guessed() const { return guessed_; }
    /// What sweeps and samples have changed, as bytes.
    [[nodiscard]] std::vector<std::uint8_t> state() const;
    /// Goes on from such a state of a chain that was made and set in the same way. Gives whether it
    /// fits this one; nothing has changed if not. What would lead beyond an array does not fit.
    bool restore(std::span<const std::uint8_t> state);
    /// Columns of the rows of a replica.
    [[nodiscard]] std::vector<std::int32_t> matching(std::size_t lane) const;

    /// Figures of rows `begin` to `end` - 1 by a scaling of the same band that is finished. Columns
    /// from `real` on are not told apart: they are one outcome, "gone".
    [[nodiscard]] SwapRows rows(const BandScaling& scaling, std::size_t begin, std::size_t end,
                                std::int32_t real) const;

private:
    [[nodiscard]] double distance(std::size_t i, std::span<const double> shares, std::size_t known,
                                  double top, double half) const;

    SwapBand band_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> lengths_, reach_;
    std::vector<float> logs_;         // of weights; empty if all are 1
    std::vector<std::int32_t> held_;  // column of each row and replica
    std::vector<float> held_logs_;    // and its log weight
    std::vector<std::uint16_t> counts_[2];
    std::vector<std::int32_t> guesses_;
    std::vector<std::uint16_t> guessed_;
    std::array<double, swap_chain_lanes> crossing_{};  // sum i^2 - sum i s(i) now
    std::uint32_t random_[4][swap_chain_lanes];
    std::uint64_t shared_;
    int samples_ = 0;
    double proposed_ = 0.0, taken_ = 0.0;
};

}  // namespace anonymatch
