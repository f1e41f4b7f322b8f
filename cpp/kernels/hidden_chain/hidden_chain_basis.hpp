// Where a message that is inside goes: the probabilities of all departures to come, as a product of
// two thin matrices (see hidden_chain.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hidden_chain/hidden_chain_lanes.hpp"

namespace anonymatch::hidden_chain {

/// The values of k in play between two events, from lo to hi, for each x one after another.
struct Window {
    std::int64_t lo = 0;
    std::int64_t hi = -1;

    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(hi - lo + 1); }
};

class Basis {
public:
    /// `widest`: values of k at once; `layers`: values of x; `departures` in all.
    Basis(std::size_t widest, std::size_t layers, std::int64_t departures, std::int32_t together,
          double tolerance);

    /// Row of the state (k, x): one number a column.
    [[nodiscard]] double* row(std::int64_t k, std::size_t x) {
        return states_.data() + (x * ring_ + (static_cast<std::size_t>(k) & (ring_ - 1))) * stride_;
    }
    [[nodiscard]] std::size_t columns() const { return rank_ + fresh_; }

    /// A column of its own for the departure before all those so far; its row() entries follow.
    std::size_t add_departure();

    /// Once enough departures were added: fewer columns, for this posterior of the states.
    [[nodiscard]] bool full() const { return fresh_ >= together_; }
    void compress(const Window& window, const std::vector<double>& posterior);

    /// The probabilities of all departures in play for a mixture of rows, latest first.
    [[nodiscard]] std::vector<double>& spread(const std::vector<double>& mixture);
    /// The departure of the first of them; the others are those before it.
    [[nodiscard]] std::int64_t latest() const { return latest_; }

private:
    void orthonormal_rows(std::size_t rows, std::size_t columns);
    void drop_late(const Window& window, const std::vector<double>& posterior);

    const Lanes& lanes_;
    std::size_t layers_, ring_, together_, stride_;
    double tolerance_;
    std::size_t rank_ = 0;   // columns of Q that stand for old departures, and rows of C
    std::size_t fresh_ = 0;  // columns of Q with a departure of their own
    std::size_t old_ = 0;    // old departures in play: columns of C
    std::int64_t latest_;
    std::vector<double> states_;          // Q, ring_ rows a layer
    std::vector<double> weights_;         // C: rank_ rows of old_
    std::vector<double> spare_;           // the next C
    std::vector<double> scaled_, units_;  // of a compression: sqrt(posterior) Q, orthonormal rows
    std::vector<double> norms_, bounds_, spread_, moved_;
};

}  // namespace anonymatch::hidden_chain
