// Messages through a mix whose delays are sums of `hops` exponential stages, of which only the ends
// are seen: exact by how many messages are in each stage.
//
// Messages in one stage are exchangeable, so the hidden state is the counts by stage. Within a gap
// a message moves from stage a to b with weight e^-x x^(b-a) / (b-a)!, x the gap in mean stages.
// That matrix is a product of positive steps a -> a+1 (Loewner, Whitney): for three stages 1->2 by
// x/2, 2->3 by x, 1->2 by x/2. So a gap is a few passes over a table, each along one direction, all
// terms positive, and moves can be drawn one direction after another.
//
// A state is a slice (messages inside, and how many were lost or cover so far if that number is
// told) and a box of counts for all stages but the last. With neither loss nor cover there is one
// slice. Tables are trimmed where their border holds less than `epsilon` of the weight, which only
// drops positive terms; slices from which no end can be reached are dropped exactly. Nothing
// overflows: every table is divided by its sum, and weights of moves by the largest sum of them.
//
// Cost: about 15 multiplications a cell for each direction, 0.3 ns each; cells grow with the
// messages inside to the power (hops - 1) / 2, and as much again for each slice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

constexpr int phase_chain_largest = 4;  // stages: boxes have at most three sides

enum class PhaseCount : std::uint8_t { nothing, cover, lost };

struct PhaseModel {
    int hops = 1;
    // Of the stages, in that of the slowest, which is the last: none is below 1.
    std::array<double, phase_chain_largest> rates{1, 1, 1, 1};
    double loss = 0;   // probability to be lost on entry, below 1
    double cover = 0;  // departures in one mean stage that are nobody's
    PhaseCount counted = PhaseCount::nothing;
    std::int32_t count_end = 0;   // what is counted must be this in the end
    std::int32_t total_end = -1;  // messages inside in the end; -1: any number
    double epsilon = 1e-16;
};

/// For each time, in means of the slowest stage: the natural log of the probability that the sum of
/// all stages is larger, and of its density there.
[[nodiscard]] std::vector<double> stage_survival(const PhaseModel& model,
                                                 std::span<const double> times);
[[nodiscard]] std::vector<double> stage_log_density(const PhaseModel& model,
                                                    std::span<const double> times);

/// Figures of messages, one entry each, and sums over them, one entry a batch of samples.
struct PhaseRows {
    std::vector<double> departed, inside, collision;
    std::vector<double> shannon, shannon_error;          // given departed, bits
    std::vector<double> shannon_all, shannon_all_error;  // over departures, lost and inside
    std::vector<double> largest, largest_error;          // of the likeliest departure
    std::vector<std::int64_t> guess, allowed;
    std::vector<double> guessing;        // guesses needed on average, given departed
    std::vector<double> guessing_apart;  // the same, put in order by one half of the samples
    // Where samples were drawn, by message and batch: estimates whose mean is the figure.
    std::vector<float> shannon_batches, largest_batches, guessing_batches;
    // Over groups of departures, if there are some: as above.
    std::vector<double> group_shannon, group_largest;
    std::vector<std::int64_t> group_guess;
    std::vector<double> pair_logs;    // sums of P(i = j) ln f(t_j - s_i), f in mean stages
    std::vector<double> inside_logs;  // sums of P(i inside) times what was given for i
    std::vector<double> unseen_logs;  // the same with the other weights
    std::vector<double> asked;        // probability of the departure that was asked for, or 0
    double error = 0;                 // how far the worst row was from adding up
};

class PhaseChain {
public:
    /// Sorted times in mean stages; at equal times arrivals come first. std::invalid_argument for
    /// anything else. `early`: by departure, or empty: weight to be of a message that was inside
    /// before the first event, beside that of cover.
    PhaseChain(const PhaseModel& model, std::span<const double> arrivals,
               std::span<const double> departures, double end, std::span<const double> early = {});
    ~PhaseChain();
    PhaseChain(PhaseChain&&) noexcept;
    PhaseChain& operator=(PhaseChain&&) noexcept;

    /// Groups of departures whose probabilities are added up, one number a departure.
    void group(std::span<const std::int32_t> groups);
    /// By message, the departure whose probability is wanted; -1 for none.
    void ask(std::span<const std::int32_t> departures);

    /// Filters a stretch of about `work` cells times passes; false once the end is reached or no
    /// explanation is left.
    bool forward(double work);
    /// Whether some explanation is left so far.
    [[nodiscard]] bool possible() const noexcept;
    /// ln of the sum of weights, where a pair weighs (1-l) f(d), f in mean stages.
    [[nodiscard]] double log_evidence() const noexcept;
    [[nodiscard]] double share_done() const noexcept;
    /// Work of all stretches filtered so far, and the cells of all their events.
    [[nodiscard]] double work() const noexcept;
    [[nodiscard]] double cells() const noexcept;
    [[nodiscard]] std::size_t stretches() const noexcept;

    /// The last stretch not yet looked at from behind: P(lost), P(real); with `keep`, also what
    /// rows() needs. False when all are done.
    bool backward(bool keep);
    [[nodiscard]] std::vector<double> lost() const;
    [[nodiscard]] std::vector<double> real() const;
    /// Sum over events of the posterior at borders that were cut: how much may be missing.
    [[nodiscard]] double cut_off() const noexcept;
    /// The same over the events that matter for any one message.
    [[nodiscard]] double cut_off_near() const;
    /// Predicted work of the rows of each message, after backward(true).
    [[nodiscard]] std::vector<double> row_work() const;
    [[nodiscard]] double kept_bytes() const noexcept;

    /// Exact figures of messages [first, last), after backward(true): each is left out of the
    /// filter and followed until less than `tolerance` of it is left. `pairs`, if not empty, gets
    /// last - first rows of P(i = j). `inside_logs` and `unseen_logs`: one weight a message.
    [[nodiscard]] PhaseRows rows(std::size_t first, std::size_t last, double tolerance,
                                 std::span<const double> inside_logs,
                                 std::span<const double> unseen_logs, std::span<double> pairs,
                                 CancelFlag cancel = {}) const;

private:
    friend class PhaseSampler;
    class Job;
    std::unique_ptr<Job> job_;
};

/// Paths of counts drawn from their posterior, backwards through the filter, independent of each
/// other; given a path, where each message goes is known in closed form.
class PhaseSampler {
public:
    /// `chain` has been filtered to its end, and outlives this. It is looked at from behind on the
    /// way: afterwards it knows P(lost) and P(real). Samples come in `batches` of equal size.
    PhaseSampler(PhaseChain& chain, std::size_t batches, std::size_t each, std::uint64_t seed,
                 std::span<const double> inside_logs, std::span<const double> unseen_logs);
    ~PhaseSampler();
    PhaseSampler(PhaseSampler&&) noexcept;
    PhaseSampler& operator=(PhaseSampler&&) noexcept;

    /// One stretch back; false when all are done.
    bool back();
    /// Figures of all messages; errors are standard errors by the jackknife over batches.
    [[nodiscard]] const PhaseRows& rows() const noexcept;

private:
    class Job;
    std::unique_ptr<Job> job_;
};

}  // namespace anonymatch
