// Who writes to whom over many rounds: a Markov chain on the matchings of all rounds at once, in which
// the profiles of senders, Dirichlet by their prior, are integrated out; and exact marginals of rounds
// under given profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "common/random.hpp"
#include "profile_chain/group_draw.hpp"

namespace anonymatch {

/// Messages in and out by round; a round has as many of both. Entries of a message are the messages out
/// that it fits: all of its round, or a run of them with weights.
struct RoundLog {
    std::int32_t senders = 0, receivers = 0;
    std::span<const std::int32_t>
        starts;  // where messages of each round begin; one more at the end
    std::span<const std::int32_t> sender;    // of a message in; -1: nobody's, to anybody alike
    std::span<const std::int32_t> receiver;  // of a message out; -1: nobody's, of one that was lost
    std::span<const std::int32_t> first, last;  // runs of messages out; empty: whole rounds
    std::span<const float> weights;             // of all runs; empty: 1 each
};

/// Where the entries of each message begin; one more at the end.
std::vector<std::int64_t> round_entries(const RoundLog& log);

/// What senders are thought to be like: their profiles are Dirichlet with this strength around a base,
/// how popular receivers are; and that is Dirichlet too, with this evenness for each receiver.
struct ProfilePrior {
    double strength = 2.0;
    double evenness = 8.0;
};

/// How sweeps are made. `power`: weights of whole rounds to this power, below 1 to begin with a
/// disordered matching; the law is that of power 1. `learn`: the prior and its base are drawn too.
/// `record`: the probability of each entry is added up.
struct SweepKind {
    double power = 1.0;
    bool learn = false;
    bool record = false;
};

/// A chain whose law is that of all matchings given what was seen: prod over senders of
/// prod_r Gamma(a g_r + C) / Gamma(a + n), times weights. C counts a sender's messages to a receiver.
///
/// Whole rounds: a visit takes the messages of a round out of the counts, loads the weight of every
/// pair once, exchanges pairs of messages many times on these weights, and puts the messages back. Of
/// a sender that comes several times in a round one message takes part, the others stay: all of them
/// have the same law, so their messages out are shuffled among them before, whatever these are.
/// O(b^2 + b p) for a round of b with p exchanges a message.
/// Runs: the messages of a group, each of another sender, are drawn among what they have, exactly:
/// O(k 2^k) for k of them.
class ProfileChain {
public:
    /// `start`: the message out of each message in, of its round and among its entries. The log's
    /// arrays must outlive the chain. `base`: how popular each receiver is, sum 1.
    /// `reach`: how far apart messages are that can be taken for each other, where entries are runs.
    ProfileChain(const RoundLog& log, std::span<const double> base, ProfilePrior prior,
                 std::span<const std::int32_t> start, std::int32_t reach, std::uint64_t seed);

    /// Begins at the best matching of each whole round by a mean field: expected counts instead of
    /// counts, `passes` times over all rounds, marginals of a round by belief propagation. Such a
    /// matching is likelier than those that are drawn. Gives false if cancelled.
    bool order(int passes, CancelFlag cancel);

    /// So many sweeps. Gives false if cancelled.
    bool sweep(int sweeps, SweepKind kind, CancelFlag cancel);

    [[nodiscard]] const std::vector<std::int32_t>& matching() const { return matching_; }
    [[nodiscard]] ProfilePrior prior() const { return prior_; }
    /// Log of the law of the matching after each sweep so far, but for a constant; and the
    /// prior's strength.
    [[nodiscard]] const std::vector<double>& trace() const { return trace_; }
    [[nodiscard]] const std::vector<double>& strengths() const { return strengths_; }
    [[nodiscard]] const std::vector<double>& base() const { return base_; }
    /// Sums over recorded sweeps of the base.
    [[nodiscard]] const std::vector<double>& base_sums() const { return base_sums_; }
    /// Probability of each entry, times the recorded sweeps; empty if there are none.
    [[nodiscard]] std::vector<float> sums() const;

private:
    void number_pairs();
    void visit(std::size_t round, SweepKind kind);
    void choose(std::size_t round);
    void load(std::size_t round, double power);
    void exchange_pairs(std::size_t round, bool record);
    void draw_runs(std::int32_t begin, std::int32_t end, bool record);
    void draw_some(bool record);
    void draw_group(std::span<const std::int32_t> group, bool record);
    void swap_pair(std::int32_t i, std::int32_t k);
    void exchange(std::int32_t a, std::int32_t b);
    void pass(std::size_t round, std::vector<float>& shares, std::vector<double>& expected);
    void best_of(std::size_t round, std::span<const float> shares);
    void learn(bool base_too);
    void learn_base();
    [[nodiscard]] double fit(double strength);
    [[nodiscard]] double law(std::int32_t message, std::int32_t out) const;
    [[nodiscard]] std::int64_t entry(std::int32_t message, std::int32_t out) const;
    [[nodiscard]] double chance(std::int32_t message) const;
    void remove(std::int32_t message);
    void add(std::int32_t message, std::int32_t out);
    std::size_t below(std::size_t size);

    RoundLog log_;
    std::vector<double> base_, base_sums_;
    ProfilePrior prior_;
    std::size_t reach_;
    Random random_;
    profile_chain::GroupDraw draw_;
    std::vector<std::int64_t> entries_;
    std::vector<std::int32_t> matching_, round_of_, own_, own_starts_;
    std::vector<std::uint8_t> repeats_;  // rounds in which a sender comes twice
    std::vector<std::int32_t> twin_;     // the next message of the same sender and round; or -1
    std::vector<std::int32_t> lead_;     // the first of these
    // Pairs of a sender and a receiver that share a round have numbers; 0 is for what is not counted.
    std::vector<std::int32_t> pairs_;   // of each entry
    std::vector<std::int32_t> counts_;  // of each pair
    std::vector<std::int32_t> seen_;    // zeros, but while all messages are gone through
    std::vector<std::int32_t> held_;    // the pair of each message now
    std::vector<std::int32_t> totals_;  // counted messages of each sender
    std::vector<double> sums_;
    std::vector<std::int64_t> visits_;  // recorded, of each message
    std::int64_t recorded_ = 0;
    std::vector<double> trace_, strengths_;
    std::vector<std::int32_t> active_, columns_, place_;  // of a visit
    std::vector<double> weights_, scaled_, powers_;
    std::vector<float> row_messages_, column_messages_, bethe_, sums_by_column_;
    std::vector<std::int32_t> order_, later_, members_, outs_;  // of one call each
    std::vector<std::size_t> drawn_;
    std::vector<std::int64_t> stamp_;  // of senders that are in the present group
    std::int64_t stamps_ = 0;
};

/// Probabilities of all entries of a log of whole rounds whose entries have these weights: each round a
/// matching by itself. Rounds of at most `round_marginals_limit` messages; O(b 2^b) each. A round
/// without a matching of positive weight gives zeros. False if cancelled.
inline constexpr std::size_t round_marginals_limit = 20;
bool round_marginals(const RoundLog& log, std::span<const double> weights,
                     std::vector<double>& shares, CancelFlag cancel);

}  // namespace anonymatch
