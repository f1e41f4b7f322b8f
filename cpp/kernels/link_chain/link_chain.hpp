// Explanations of wide logs by chance: each message in (a row) is one of a run of messages out
// (columns) or none of them, columns that are left are nobody's. A Markov chain on them, sixteen
// independent replicas abreast, and the scaling of the weights that its samples correct.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "common/large_vector.hpp"
#include "common/random.hpp"
#include "link_chain/link_chain_sweep.hpp"

namespace anonymatch {

inline constexpr std::size_t link_chain_lanes = 16;

/// Row i has columns first[i] to last[i] - 1, none if the two are equal; both ends never fall from
/// row to row. Weights, all positive, of all rows follow each other; none are given if all are 1.
struct LinkBand {
    std::span<const std::int32_t> first;
    std::span<const std::int32_t> last;
    std::span<const double> weights;
    std::int32_t columns;
};

/// The weights scaled by factors of rows and columns, so that x(i) (u(i) + sum over j of w(i,j)
/// y(j)) = 1 and y(j) (c + sum over i of x(i) w(i,j)) = 1, where u(i) is the weight of row i to have
/// no column and c that of a column to be nobody's: what Sinkhorn's scaling is without the two.
class LinkScaling {
public:
    LinkScaling(const LinkBand& band, std::span<const double> unpaired, double cover);

    void set_weights(std::span<const double> unpaired, double cover);
    /// So many steps, each over all rows and then all columns; factors take the power `relaxation`
    /// of what would balance them. Gives the largest deviation of a row's sum from 1 that the last
    /// step met. Cost O(entries) a step.
    double steps(int number, double relaxation, CancelFlag cancel);

    [[nodiscard]] const std::vector<double>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<double>& columns() const { return columns_; }
    /// Probability of each row to have no column.
    [[nodiscard]] std::vector<double> alone() const;

private:
    LinkBand band_;
    std::vector<std::int64_t> offsets_;
    std::vector<double> unpaired_, rows_, columns_, sums_;
    double cover_;
};

/// Sums over the samples of each replica.
struct LinkRecord {
    std::array<double, link_chain_lanes> samples{};  // that counted
    std::array<double, link_chain_lanes> weights{};  // log weight of the explanation
    std::array<double, link_chain_lanes> shares{};   // logs of rows, columns and weights of pairs
    std::array<double, link_chain_lanes> paired{};   // rows that were asked for and had a column
};

/// Numbers that are told, negative where they are not: of pairs, and of lost rows among those
/// without a column.
struct LinkNumbers {
    std::int32_t pairs = -1;
    std::int32_t lost = -1;
};

/// Sums over the sweeps of each replica.
struct LinkSums {
    std::array<double, link_chain_lanes> shares{};  // of rows without a column and of nobody's ones
    std::array<double, link_chain_lanes> pairs{};   // their number
    std::array<double, link_chain_lanes> squares{};  // and its square
    std::array<double, link_chain_lanes> hits{};     // sweeps after which numbers were those told
    std::array<double, link_chain_lanes> lost{};     // rows that were lost
    std::array<double, link_chain_lanes> lost_squares{};
    std::array<double, link_chain_lanes> products{};  // of both numbers
};

/// What the scaled weights and the counts of a chain say of some rows, given that they have a column.
struct LinkRows {
    std::vector<double> shannon;        // entropy of the row's shares, in bits
    std::vector<double> collision;      // sum of their squares
    std::vector<double> largest;        // the largest of them
    std::vector<std::int32_t> guess;    // and where that is; -1 if there is none
    std::vector<double> guessing;       // guesses until the right one, the likeliest first
    std::vector<std::int32_t> allowed;  // columns with a share above 1e-12
    // Twice the divergence of the posterior from the shares, in nats, of what is given that the row
    // has a column, times the probability of that: to its second order without bias, p once by the
    // first half of the replicas and once by the second; where counts are dense, to all orders.
    std::vector<double> distance;
    // Columns of a group taken together, where groups are told.
    std::vector<double> group_shannon;
    std::vector<double> group_largest;
    std::vector<std::int32_t> group_guess;
};

/// How the shares of a scaling and the counts of a chain are put together: relative variance of
/// posterior probabilities about the shares, and variance of counts over that of independent
/// samples.
struct LinkBlend {
    double spread;
    double noise;
};

/// The likeliest column of each row, given that it has one, by shares and counts together.
struct LinkTop {
    std::vector<std::int32_t> guess;  // the first of equals; -1 if there is none
    std::vector<double> largest;      // its probability
    std::vector<double> high;  // largest of a column's probability plus a multiple of its error
};

/// Each row in turn gets the first column that is left, which matches as many as can be.
std::vector<std::int32_t> first_in_first_out(const LinkBand& band);

/// A Markov chain on explanations: those of weight prod w(i,j) prod u(i) prod c. Rows swap what they
/// have, take a column that is nobody's, or give theirs up. Cost O(rows) a sweep, some 100 ns a row
/// for all replicas.
class LinkChain {
public:
    /// `reach[i]`: row i swaps with one of the next reach[i] rows. All replicas begin with `start`:
    /// the column of each row, or -1.
    LinkChain(const LinkBand& band, std::span<const std::int32_t> reach,
              std::span<const std::int32_t> start, std::uint64_t seed);

    /// Natural logs of weights: of each row to have no column, and of a column to be nobody's.
    /// Those below -200 are taken as that, so that what cannot be is left soon and never entered.
    void set_weights(std::span<const double> unpaired, double cover);
    /// Numbers of pairs that a replica may have from now on, beside the one it has.
    void set_limits(std::int32_t least, std::int32_t most);
    /// Probability of each row to be lost where it has no column, else it is still inside; nothing
    /// if the two are not told apart. Which it is depends on nothing else, and is drawn anew after
    /// each sweep.
    void set_losses(std::span<const double> losses);
    /// So many sweeps; `shares`, one a row, and `cover_share` are added up after each.
    LinkSums sweep(int sweeps, std::span<const double> shares, double cover_share,
                   LinkNumbers exactly, CancelFlag cancel);
    /// So many samples, `thin` sweeps apart, which add to the counts: at most 8000 in all. Those
    /// with other numbers than `exactly` do not count. Rows whose `row_logs` are not finite are left
    /// out of shares. Log weights are with those of being lost or inside, where these are told apart.
    LinkRecord record(int samples, int thin, LinkNumbers exactly, std::span<const double> row_logs,
                      std::span<const double> column_logs, CancelFlag cancel);
    [[nodiscard]] int samples() const { return samples_; }
    [[nodiscard]] std::vector<std::int32_t> explanation(std::size_t lane) const;
    /// What sweeps and samples have changed, as bytes.
    [[nodiscard]] std::vector<std::uint8_t> state() const;
    /// Goes on from such a state of a chain that was made and set in the same way. Gives whether it
    /// fits this one; nothing has changed if not. What would lead beyond an array does not fit.
    bool restore(std::span<const std::uint8_t> state);
    /// Columns, one a row or -1, whose samples are counted by replica from now on.
    void set_guesses(std::span<const std::int32_t> guesses) {
        guesses_.assign(guesses.begin(), guesses.end());
        guessed_.assign(guesses_.size() * link_chain_lanes, 0);
    }
    /// Samples by replica, those of a row or column one after another, that counted and in which a
    /// row had its guess; in which it had no column; in which it was lost, where that is told apart;
    /// and in which a column was somebody's.
    [[nodiscard]] const std::vector<std::uint16_t>& guessed() const { return guessed_; }
    [[nodiscard]] const std::vector<std::uint16_t>& alone() const { return alone_; }
    [[nodiscard]] const std::vector<std::uint16_t>& lost() const { return lost_; }
    [[nodiscard]] const std::vector<std::uint16_t>& real() const { return real_; }

    /// The likeliest columns of rows `begin` to `end` - 1 by a scaling of the same band and by all
    /// counts so far. Shares get the weight that `blend` leaves them; a column whose count is far
    /// from its share is known by its count alone. Cost O(entries).
    [[nodiscard]] LinkTop top(const LinkScaling& scaling, std::size_t begin, std::size_t end,
                              LinkBlend blend, double errors) const;
    /// Figures of rows `begin` to `end` - 1 by a scaling of the same band. `groups`: a number for
    /// each column, or nothing.
    [[nodiscard]] LinkRows rows(const LinkScaling& scaling, std::size_t begin, std::size_t end,
                                std::span<const std::int32_t> groups) const;

private:
    void run(int sweeps, CancelFlag cancel);
    /// Say of each row without a column whether it is lost; gives the number of those that are.
    std::array<std::int32_t, link_chain_lanes> draw_losses();

    LinkBand band_;
    std::vector<std::int64_t> offsets_;
    std::vector<link_chain::Run> runs_, cores_;
    std::vector<std::int32_t> reach_;
    LargeVector<float> logs_;      // of weights, and one more; empty if all are 1
    std::vector<float> unpaired_;  // log weights
    std::vector<float> log_lengths_;
    float cover_ = 0.0F;
    std::vector<std::int32_t> held_;
    std::vector<float> held_logs_;
    std::vector<std::uint16_t> open_;
    std::array<std::int32_t, link_chain_lanes> pairs_{};
    std::int32_t least_ = 0, most_ = std::numeric_limits<std::int32_t>::max();
    LargeVector<std::uint16_t> counts_[2];
    std::vector<std::int32_t> guesses_;
    std::vector<std::uint16_t> guessed_, alone_, lost_, real_;
    std::vector<double> losses_;             // of each row
    std::vector<std::uint16_t> lost_lanes_;  // of each row, a bit a replica
    Random label_random_;
    std::array<double, 2> counted_{};  // samples of replicas, by halves
    std::uint32_t random_[4][link_chain_lanes];
    std::uint64_t shared_;
    int samples_ = 0;
};

}  // namespace anonymatch
