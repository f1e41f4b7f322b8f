// One irreducible part of a draw: its messages, and the descent to a share of its rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "belief_propagation/messages.hpp"
#include "common/random.hpp"
#include "importance/importance.hpp"

namespace anonymatch {

/// Both ends of an edge and the messages to them. Vertices are rows, then columns.
struct PartEdge {
    double weight;
    double to[2];  // to the row, to the column
    Index end[2];
};

/// A part, ready for descents: weights are scaled so that the messages at every vertex sum to about
/// one.
struct Part {
    Index n = 0;
    std::vector<PartEdge> edges;     // row by row, columns rising
    std::vector<std::size_t> start;  // by vertex: where its list begins
    std::vector<Index> lists;        // edges by vertex
    std::vector<double> sums;        // of messages, by vertex
    double log_scale = 0;            // what the scaling took out

    [[nodiscard]] std::size_t vertices() const noexcept { return 2 * at(n); }
};

/// Makes a part of a block whose scaled weights and complements (maybe from an earlier run) are
/// given, by at most `sweeps` sweeps of belief propagation.
void make_part(const SquareBlock& block, Sweeps& state, double kappa, int sweeps, double tolerance,
               Sweeper& sweeper, Part& part, CancelFlag cancel);

/// A run down from a part until so many rows are left. Its memory is used again by the next.
class Descent {
public:
    /// False in a dead end, or when stopped. With `followed` (the wanted column of each row, or empty) choices are
    /// those of the given matching.
    bool run(const Part& part, const ImportanceOptions& options, Index rows_left, Random& random,
             std::span<const Index> followed, CancelFlag cancel);

    [[nodiscard]] double log_weight() const noexcept { return log_weight_; }
    [[nodiscard]] bool alive(std::size_t vertex) const noexcept { return alive_[vertex] != 0; }
    [[nodiscard]] const std::vector<PartEdge>& edges() const noexcept { return edges_; }
    [[nodiscard]] double sum(std::size_t vertex) const noexcept { return sums_[vertex]; }
    /// Edges chosen on the way.
    [[nodiscard]] const std::vector<Index>& chosen() const noexcept { return chosen_; }

private:
    template <class G>
    bool descend(const G& gain, Index rows_left, Random& random, std::span<const Index> followed);
    void start(const Part& part);
    Index take_vertex();
    void drop(Index vertex);
    void enqueue_if_moved(std::size_t vertex);
    template <class G>
    void refresh(const G& gain);
    template <class G>
    void refresh_around(const G& gain, Index vertex);
    [[nodiscard]] double moved(std::size_t vertex) const noexcept;
    template <class G>
    void update(const G& gain, Index vertex);
    template <class G>
    double message(const G& gain, const PartEdge& edge, std::size_t side) const;
    template <class G>
    Index choose(const G& gain, Index vertex, Random& random, std::span<const Index> followed);
    void multiply(double factor);

    const Part* part_ = nullptr;
    ImportanceOptions options_;
    CancelFlag cancel_;
    Index n_ = 0;
    std::vector<PartEdge> edges_;
    std::vector<Index> lists_, sizes_, degrees_;
    std::vector<double> sums_, known_;  // known: when the vertex was last refreshed
    std::vector<std::uint8_t> alive_, queued_;
    std::vector<Index> queue_;
    std::size_t head_ = 0;
    std::vector<std::vector<Index>> by_degree_;  // with entries out of date
    std::size_t lowest_ = 0;
    std::vector<Index> chosen_;
    std::vector<double> terms_;
    double log_weight_ = 0, product_ = 1;
};

}  // namespace anonymatch
