// One mix without memory of which only the ends are seen: exact probabilities with losses, cover
// traffic and an end of the log.
//
// Whoever is inside may leave, all alike, so only *how many* real messages are inside is hidden.
// Given that number k, a log is a chain of events:
//   time dt      weighs e^{-mu k dt}
//   an arrival   is kept (k + 1, weight `move`) or lost (k, weight `stay`)
//   a departure  is real (k - 1, weight k * `move`) or cover (k, weight `stay`)
// Weights to come before (alpha) and after (beta) each event give the evidence, who is lost and
// what is cover. Where a message goes that is inside follows backwards: h_j(k), the probability
// that a tagged one leaves at j if k are inside, is q(k)/k just before j, and before an earlier
// departure q(k) (k-1)/k h_j(k-1) + (1-q(k)) h_j(k), q being the probability that the event moves k.
//
// All h_j obey the same recursion, and their numerical rank is small (10 to 18) however many are
// inside. So they are kept as Q(k, r) C(r, j) with orthonormal rows of C: a new departure adds a
// column to Q and its own unit row to C, and now and then the rows of sqrt(posterior) Q are
// compressed by pivoted Gram-Schmidt to a tolerance. The recursion is a contraction in L2 of the
// posterior of k, so errors add up: at most one tolerance a compression.
//
// A number of cover messages or of losses that is known makes a second index x of the state: how
// many there were so far.
//
// Values of k whose weight is below `cut` of the sum are left out, consistently in both directions:
// what is computed is exact for the explanations that stay, and evidence only falls.
//
// Cost: events x width for the evidence, events x width x ~40 for the rows' basis, and messages x
// departures in play x rank for the rows. Memory: alpha of 1024 events at a time, 8 bytes a state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace anonymatch {

/// Events in order of time, arrivals before departures at the same time.
struct HiddenLog {
    std::span<const std::uint8_t> arrival;  // 1 for an arrival, 0 for a departure
    std::span<const double> move;           // finite, not negative
    std::span<const double> stay;
    std::span<const double> gap;  // mu times the seconds before each event; last: to the log's end
};

enum class Counted : std::uint8_t { nothing, cover, losses };

struct HiddenOptions {
    std::int64_t end_inside = -1;  // how many are inside at the end; -1: any number
    Counted counted = Counted::nothing;
    std::int32_t number = 0;  // of what is counted
    double cut = 1e-30;
    std::int32_t together = 32;  // departures between two compressions
    double tolerance = 1e-12;
    std::int32_t guessing_every = 0;  // each so many-th message has its guessing entropy; 0: none
    bool rows = true;                 // what becomes of each message, not only evidence and sums
    bool pairs = false;               // the whole matrix of probabilities
    bool sparse = false;              // its entries above 1e-14
};

/// What is known of each arrival and each departure, in their order.
struct HiddenFigures {
    double log_evidence = 0.0;  // natural; without what does not depend on the explanation
    double joint_bits = 0.0;    // entropy of the explanation
    double busy = 0.0;          // expected sum over gaps of k times the gap
    double miss = 0.0;          // the largest difference between a row's sum and what it should be
    std::int32_t widest = 0;    // values of k at once
    std::vector<double> lost, inside, departed, shannon, shannon_all, collision, probability;
    std::vector<double> guessing;       // NaN where it was not asked for
    std::vector<double> group_shannon;  // of the groups of departures, given that it departed
    std::vector<double> group_probability;
    std::vector<std::int32_t> guess, allowed, group_guess;
    std::vector<double> real;
    std::vector<double> pairs;  // arrivals x departures
    // Sparse entries of the matrix, the last arrival first: how many each arrival has, their
    // departures and their probabilities.
    std::vector<std::int32_t> entries, entry_column;
    std::vector<double> entry_value;
    std::vector<double> asked;  // probability of the departure that was asked for; 0 for none
};

class HiddenChain {
public:
    /// `groups` of the departures, numbered from 0, or empty. `asked`: by arrival, or empty: the
    /// departure whose probability is wanted, -1 for none. std::invalid_argument if the log is not
    /// one.
    HiddenChain(const HiddenLog& log, const HiddenOptions& options,
                std::span<const std::int32_t> groups, std::span<const std::int32_t> asked = {});
    ~HiddenChain();
    HiddenChain(HiddenChain&&) noexcept;
    HiddenChain& operator=(HiddenChain&&) noexcept;

    /// The first event after which no number inside is possible; -1 if there is none. By counting
    /// alone, before any weight is looked at.
    [[nodiscard]] std::int64_t stuck() const noexcept;

    /// Goes on by so many events, forwards and then backwards; whether there are more.
    bool advance(std::int64_t events);

    /// Natural log of the evidence after the way forward; -inf if nothing explains the log.
    [[nodiscard]] double log_evidence() const noexcept;

    /// Events, both ways, that are done.
    [[nodiscard]] std::int64_t done() const noexcept;

    /// After advance() returned false, once.
    [[nodiscard]] HiddenFigures figures();

private:
    class Job;
    std::unique_ptr<Job> job_;
};

}  // namespace anonymatch
