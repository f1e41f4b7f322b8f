// A log and its filter, as the passes over it share them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "phase_chain/phase_chain.hpp"
#include "phase_chain/phase_chain_cells.hpp"

namespace anonymatch::phase_chain {

struct Event {
    Kind kind;
    double time;        // in mean stages
    double gap;         // since the event before
    std::size_t which;  // its number among arrivals or departures
    double stay;        // weight to be lost, or to be nobody's
    Index least, most;  // messages inside just before it, or no end can be reached
    Index least_count;  // the same of what is counted
};

/// Sums of a slice over all but one side, each cell times a factor.
struct Sums {
    std::array<std::vector<double>, sides> by_side;
    double total = 0;
};

/// What follows from the posterior of one message over its departures.
struct Entropies {
    double departed = 0, shannon = 0, shannon_all = 0, collision = 0, largest = 0;
};

/// Sorts what it gets: guesses that are needed on average to name the departure.
[[nodiscard]] double guesses(std::vector<double>& probability, double departed);

/// The same message's groups of departures.
struct GroupFigures {
    double shannon = 0, largest = 0;
    std::int64_t guess = -1;
};

/// Sorts what it gets: groups and probabilities.
[[nodiscard]] GroupFigures over_groups(std::vector<std::pair<Index, double>>& entries,
                                       double departed);

[[nodiscard]] Entropies entropies(std::span<const double> probability, double inside, double lost);

}  // namespace anonymatch::phase_chain

namespace anonymatch {

class PhaseChain::Job {
public:
    using Cells = phase_chain::Cells;
    using Event = phase_chain::Event;

    /// What a table was divided by: e^log, after the gap's e^(-gap) for each of `fewest` inside.
    struct Norm {
        double log = 0;
        phase_chain::Index fewest = 0;
    };

    Job(const PhaseModel& model, std::span<const double> arrivals,
        std::span<const double> departures, double end, std::span<const double> early);

    bool forward(double work);
    bool backward(bool keep);
    [[nodiscard]] PhaseRows rows(std::size_t first, std::size_t last, double tolerance,
                                 std::span<const double> inside_logs,
                                 std::span<const double> unseen_logs, std::span<double> pairs,
                                 CancelFlag cancel) const;
    [[nodiscard]] std::vector<double> row_work() const;
    void look_from_end(const Cells& last, bool keep);
    void look_back(std::size_t event, const Cells& before, const Cells& after, bool keep);
    [[nodiscard]] double cut_off_near() const;

    /// Tables just before the events of a stretch, and before the first event after it.
    [[nodiscard]] std::vector<Cells> tables(std::size_t stretch) const;
    /// The table after an event, from that before.
    [[nodiscard]] Cells after(const Cells& before, std::size_t event) const {
        return rules.after(before, events[event].kind, events[event].stay);
    }

    phase_chain::Rules rules;
    std::vector<double> arrivals, departures;
    std::vector<phase_chain::Index> groups;  // of departures, if any
    std::vector<std::int32_t> asked;         // a departure by message, if any
    std::vector<Event> events;               // the last one is the end
    std::vector<std::size_t> arrival_event;  // of each message
    std::vector<Norm> norms;                 // of the table before each event
    std::vector<std::size_t> starts;         // first events of stretches
    std::vector<Cells> checkpoints;          // tables before them
    Cells current;                           // the table before event `position`
    std::size_t position = 0;
    bool possible = true;
    bool nobodys = false;  // whether some departure may be nobody's
    double log_evidence = 0, work = 0, cells = 0, slices = 0;

    std::size_t behind = 0;  // stretches not yet looked at from behind
    Cells weights;           // to come, just before the first event looked at
    std::vector<double> lost, real;
    double cut_off = 0;
    std::vector<double> cut_at;  // of each event

    struct Kept {
        Cells table;  // of arrivals: before; of departures and the end: weights to come after
        std::vector<phase_chain::Slice> lanes;  // where others may be, just before the event
    };
    std::vector<Kept> kept;
    double kept_bytes = 0;

private:
    /// Time after which a message has left.
    [[nodiscard]] double longest_stay() const { return 28.0 + 4.0 * rules.model.hops; }
    [[nodiscard]] phase_chain::Transitions transitions(double gap) const {
        return rules.stages.transitions(std::min(gap, rules.stages.longest_gap()));
    }
    void merge(double end, std::span<const double> early);
    void add_pauses();
    void bound();
    bool step(const Cells& after, std::size_t next, Cells& before, Norm& norm, double& effort,
              std::vector<phase_chain::Room>& rooms) const;
    void cut(std::size_t event, double share);
    [[nodiscard]] Cells weights_after(const Cells& after, const Cells& before_next,
                                      std::size_t next, double& drift) const;
    [[nodiscard]] double posterior_least() const;
    template <class Row>
    [[nodiscard]] phase_chain::Sums use_of(const phase_chain::Slice& slice,
                                           const phase_chain::Leaving& leaving, std::size_t event,
                                           Row&& row) const;
    [[nodiscard]] double missing(const Cells& table, const Cells& to_come, std::size_t event) const;
    void keep_event(std::size_t event, const Cells& before, const Cells& weights_before,
                    const Cells& after, const Cells& weights_after);
    [[nodiscard]] Cells follow(const Cells& others, std::size_t next) const;
};

}  // namespace anonymatch
