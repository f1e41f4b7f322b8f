// Tables over counts of messages by stage, and what happens to them in a gap and at an event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phase_chain/phase_chain.hpp"

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
    [[nodiscard]] const Slice* find(Index total, Index count) const;
    /// The value of a state; 0 outside.
    [[nodiscard]] double value(Index total, Index count, const Point& point) const;
    [[nodiscard]] double sum() const;
};

/// Sum of products where both have cells.
[[nodiscard]] double product(const Cells& a, const Cells& b);

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

enum class Kind : std::uint8_t { arrival, departure, end };

/// What the model says of an event: weights to stay and to move.
struct Rules {
    PhaseModel model;

    [[nodiscard]] std::size_t first_side() const {
        return sides - static_cast<std::size_t>(model.hops - 1);
    }
    [[nodiscard]] Index counts(PhaseCount what) const { return model.counted == what ? 1 : 0; }
    /// The table after an event, from that before. `stay`: weight of a message that comes in to be
    /// lost, or of one that leaves to be nobody's.
    [[nodiscard]] Cells after(const Cells& before, Kind kind, double stay) const;
    /// Weights to come just before an event at the states of `before`, from those after it.
    void weights_before(Cells& before, const Cells& after, Kind kind, double stay) const;
};

/// Weights of the moves in one gap: s^m binomial(n, m) over `reference`, for each direction.
class Moves {
public:
    /// `most`: the largest counts on each side.
    Moves(int hops, double gap, const Point& most, double cut);

    /// ln of what all weights were divided by.
    [[nodiscard]] double log_scale() const { return log_scale_; }
    /// Passes over a cell that a gap takes.
    [[nodiscard]] double passes() const { return passes_; }
    [[nodiscard]] std::size_t steps() const { return word_.size(); }
    [[nodiscard]] std::size_t side(std::size_t step) const { return word_[step]; }
    /// Weight that m of n move on.
    [[nodiscard]] double weight(std::size_t step, Index n, Index m) const {
        const Direction& direction = directions_[word_[step]];
        return at(m) < direction.terms ? direction.weights[at(m) * direction.width + at(n)] : 0.0;
    }
    [[nodiscard]] Index terms(std::size_t step) const {
        return static_cast<Index>(directions_[word_[step]].terms);
    }
    /// One direction, in place.
    void forward(std::size_t step, double* cells, const Box& box,
                 std::vector<double>& scratch) const;
    /// Its transpose, in place.
    void backward(std::size_t step, double* cells, const Box& box,
                  std::vector<double>& scratch) const;

private:
    struct Direction {
        std::size_t width = 0, terms = 0;
        std::vector<double> weights;  // by m, then n
    };
    void fill(Direction& direction, double step, Index most, double cut);

    std::vector<std::size_t> word_;
    std::array<Direction, sides> directions_;
    double log_scale_ = 0;
    double passes_ = 1;
};

/// Copies what both boxes hold; the rest of `to` stays.
void copy_cells(const double* from, const Box& source, double* to, const Box& target,
                double factor);

}  // namespace anonymatch::phase_chain
