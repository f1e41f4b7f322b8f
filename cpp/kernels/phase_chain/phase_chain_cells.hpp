// Tables over counts of messages by stage, and what happens to them in a gap and at an event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phase_chain/phase_chain.hpp"
#include "phase_chain/phase_chain_lanes.hpp"
#include "phase_chain/phase_chain_stages.hpp"

namespace anonymatch::phase_chain {

using Index = std::int32_t;

constexpr std::size_t sides = phase_chain_largest - 1;

inline std::size_t at(std::ptrdiff_t index) {
    return static_cast<std::size_t>(index);
}

using Point = std::array<Index, sides>;

/// Counts [low, high] on every side. Stages take the last sides; those before them are [0, 0].
struct Box {
    Point low{}, high{};

    [[nodiscard]] std::size_t length(std::size_t side) const {
        return at(high[side] - low[side] + 1);
    }
    [[nodiscard]] std::size_t cells() const { return length(0) * length(1) * length(2); }
    [[nodiscard]] std::size_t stride(std::size_t side) const {
        return side == 2 ? 1 : side == 1 ? length(2) : length(1) * length(2);
    }
    [[nodiscard]] bool holds(const Point& point) const {
        for (std::size_t side = 0; side < sides; ++side)
            if (point[side] < low[side] || point[side] > high[side]) return false;
        return true;
    }
    [[nodiscard]] std::size_t index(const Point& point) const {
        return (at(point[0] - low[0]) * length(1) + at(point[1] - low[1])) * length(2) +
               at(point[2] - low[2]);
    }
    [[nodiscard]] bool empty() const {
        for (std::size_t side = 0; side < sides; ++side)
            if (low[side] > high[side]) return true;
        return false;
    }
};

[[nodiscard]] Box hull(const Box& a, const Box& b);
[[nodiscard]] Box overlap(const Box& a, const Box& b);

struct Slice {
    Index total = 0, count = 0;  // inside; lost or cover so far, if counted
    Box box;
    std::size_t offset = 0;  // of its first cell
    Box wide;                // where its messages may be in the gap before
    // Shares of all weight that were cut off below and above, by side.
    std::array<double, sides> cut_below{}, cut_above{};
};

inline bool earlier(const Slice& a, const Slice& b) {
    return a.total != b.total ? a.total < b.total : a.count < b.count;
}

/// Slices in order, and their cells one after another, the last side fastest.
struct Cells {
    std::vector<Slice> slices;
    std::vector<double> values;

    /// Slices in order get zeros for cells.
    void allocate();
    /// The same with any values.
    void place();
    [[nodiscard]] const Slice* find(Index total, Index count) const;
    /// The value of a state; 0 outside.
    [[nodiscard]] double value(Index total, Index count, const Point& point) const;
    [[nodiscard]] double sum() const;
};

/// Sum of products where both have cells; those of `b` with so many more counted.
[[nodiscard]] double product(const Cells& a, const Cells& b, Index counted = 0);

/// Calls function(point of the row's first cell, index of that cell, length) for every row.
template <class Function>
void each_row(const Box& box, Function&& function) {
    Point point = box.low;
    std::size_t index = 0;
    const std::size_t length = box.length(2);
    for (point[0] = box.low[0]; point[0] <= box.high[0]; ++point[0])
        for (point[1] = box.low[1]; point[1] <= box.high[1]; ++point[1], index += length)
            function(point, index, length);
}

/// How many of the last stage may leave, and what else weighs: at the first cell of a row, and one
/// fewer in each cell after it, but none below 0.
class Leaving {
public:
    Leaving(const std::vector<Slice>& slices, double stay);
    [[nodiscard]] const double* from(Index last) const { return &numbers_[at(most_ - last)]; }

private:
    Index most_ = 0;
    std::vector<double> numbers_;
};

enum class Kind : std::uint8_t { arrival, departure, pause, end };

/// What the model says of an event: weights to stay and to move.
struct Rules {
    PhaseModel model;
    Stages stages;

    [[nodiscard]] std::size_t first_side() const {
        return sides - static_cast<std::size_t>(model.hops - 1);
    }
    [[nodiscard]] Index counts(PhaseCount what) const { return model.counted == what ? 1 : 0; }
    /// The table after an event, from that before. `stay`: weight of a message that comes in to be
    /// lost, or of one that leaves to be nobody's.
    [[nodiscard]] Cells after(const Cells& before, Kind kind, double stay) const;
    /// Adds weights to come just before an event to the states of `before`, from those after it.
    void weights_before(Cells& before, const Cells& after, Kind kind, double stay) const;
};

/// Weights of the moves in one gap: s^m binomial(n, m) over a common scale, step after step, and what
/// messages weigh that stay.
class Moves {
public:
    /// `least` and `largest`: counts on each side.
    Moves(const Stages& stages, double gap, const Point& least, const Point& largest, double cut);

    /// ln of what all weights were divided by.
    [[nodiscard]] double log_scale() const { return log_scale_; }
    /// Passes over a cell that a gap takes.
    [[nodiscard]] double passes() const { return passes_; }
    [[nodiscard]] std::size_t steps() const { return step_.size(); }
    [[nodiscard]] std::size_t side(std::size_t step) const { return step_[step].side; }
    /// Weight that m of n move on.
    [[nodiscard]] double weight(std::size_t step, Index n, Index m) const {
        const Table& table = tables_[step_[step].table];
        return table.weights[at(m) * table.width + at(n)];
    }
    [[nodiscard]] Index terms(std::size_t step) const {
        return static_cast<Index>(tables_[step_[step].table].terms);
    }
    /// How far a move goes at most.
    [[nodiscard]] std::size_t longest() const { return longest_; }

private:
    friend class Room;
    struct Table {
        std::size_t side = 0;
        double size = 0;
        std::size_t width = 0, terms = 0;
        std::vector<double> weights;          // by m, then n
        std::vector<std::uint32_t> left, of;  // terms that matter where n are left, and of n
    };
    struct Step {
        std::size_t side, table;
    };
    void fill(Table& table, Index most, double cut);

    std::vector<Step> step_;
    std::vector<Table> tables_;
    Point least_{};
    std::array<std::vector<double>, sides> stay_;  // by count from `least`; empty if all weigh 1
    double log_scale_ = 0;
    double passes_ = 1;
    std::size_t longest_ = 0;
};

/// The cells of a box with room to move in: zeros before every row, whose length is a multiple of
/// the lanes, so that moves may look past its ends.
class Room {
public:
    /// The box, with rows as long as they have to be, and what both boxes hold times a factor.
    void load(const double* from, const Box& source, const Box& target, const Moves& moves,
              double factor);
    /// All directions of a gap.
    void forward(const Moves& moves);
    void backward(const Moves& moves);
    /// One of them.
    void forward(const Moves& moves, std::size_t step);
    /// What messages weigh that stay, which comes first.
    void stay(const Moves& moves);
    /// Takes away states with fewer than none in the last stage.
    void clear_beyond(Index total);
    /// Copies what both boxes hold, times a factor; the rest of `to` stays.
    void store(double* to, const Box& target, double factor = 1) const;
    [[nodiscard]] const Box& box() const { return box_; }
    [[nodiscard]] const double* row(const Point& point) const {
        return &cells_[pad_ +
                       (at(point[0] - box_.low[0]) * box_.length(1) + at(point[1] - box_.low[1])) *
                           pitch_];
    }
    [[nodiscard]] double* row(const Point& point) {
        return const_cast<double*>(static_cast<const Room&>(*this).row(point));
    }
    [[nodiscard]] double value(const Point& point) const {
        return row(point)[point[2] - box_.low[2]];
    }

private:
    [[nodiscard]] Grid grid();

    Box box_;
    std::size_t pad_ = 0, pitch_ = 0;
    std::vector<double> cells_;
};

/// Copies what both boxes hold; the rest of `to` stays.
void copy_cells(const double* from, const Box& source, double* to, const Box& target,
                double factor);

}  // namespace anonymatch::phase_chain
