#include "importance/importance_part.hpp"

#include <algorithm>
#include <cassert>

namespace anonymatch {
namespace {

/// A message leaves at least this share of the sum to the others, so that no choice gets chance
/// zero and sums that are kept up to date by differences stay sound.
constexpr double least_share = 1e-9;

constexpr double fold_above = 1e100;
constexpr double finer = 5;

}  // namespace

void make_part(const SquareBlock& block, Sweeps& state, double kappa, int sweeps, double tolerance,
               Sweeper& sweeper, Part& part, CancelFlag cancel) {
    const QuickGain quick(kappa);
    state.log_scale = 0;
    for (int k = 0; k < sweeps && !cancel.raised(); ++k) {
        const double residual = kappa == 1.0 ? sweeper.sweep(block, state, BetheGain{}, 0.0)
                                             : sweeper.sweep(block, state, quick, 0.0);
        if (residual < tolerance) break;
    }
    const std::size_t n = at(block.n);
    part.n = block.n;
    part.log_scale = state.log_scale;
    part.edges.resize(block.indices.size());
    part.sums.assign(2 * n, 0.0);
    part.start.assign(2 * n + 1, 0);
    part.lists.resize(2 * block.indices.size());
    for (std::size_t i = 0; i <= n; ++i) part.start[i] = at(block.indptr[i]);
    for (const Index column : block.indices) ++part.start[n + at(column) + 1];
    for (std::size_t v = n; v < 2 * n; ++v) part.start[v + 1] += part.start[v];
    std::vector<std::size_t>& next = part.start;  // moved on while lists fill, then moved back
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t e = at(block.indptr[i]); e < at(block.indptr[i + 1]); ++e) {
            const std::size_t column = n + at(block.indices[e]);
            PartEdge& edge = part.edges[e];
            edge.weight = state.scaled[e];
            edge.end[0] = static_cast<Index>(i);
            edge.end[1] = static_cast<Index>(column);
            const double complement = std::max(state.complements[e], least_share);
            edge.to[1] = 1.0 - complement;
            edge.to[0] = edge.weight * (kappa == 1.0 ? 1.0 / complement : quick(complement));
            part.sums[i] += edge.to[0];
            part.sums[column] += edge.to[1];
            part.lists[e] = static_cast<Index>(e);
            part.lists[next[column]++] = static_cast<Index>(e);
        }
    }
    for (std::size_t v = 2 * n; v > n; --v) part.start[v] = part.start[v - 1];
    part.start[n] = block.indices.size();
}

void Descent::start(const Part& part) {
    part_ = &part;
    n_ = part.n;
    const std::size_t vertices = part.vertices();
    edges_ = part.edges;
    lists_ = part.lists;
    sums_ = part.sums;
    known_ = part.sums;
    sizes_.resize(vertices);
    alive_.assign(vertices, 1);
    queued_.assign(vertices, 0);
    queue_.clear();
    head_ = 0;
    chosen_.clear();
    log_weight_ = 0;
    product_ = 1;
    for (auto& bucket : by_degree_) bucket.clear();
    for (std::size_t v = vertices; v-- > 0;) {
        sizes_[v] = static_cast<Index>(part.start[v + 1] - part.start[v]);
        if (by_degree_.size() <= at(sizes_[v])) by_degree_.resize(at(sizes_[v]) + 1);
        by_degree_[at(sizes_[v])].push_back(static_cast<Index>(v));
    }
    degrees_ = sizes_;
    lowest_ = 0;
}

/// The vertex with the fewest edges left, the one that came to it last.
Index Descent::take_vertex() {
    while (true) {
        auto& bucket = by_degree_[lowest_];
        if (bucket.empty()) {
            ++lowest_;
            assert(lowest_ < by_degree_.size());
            continue;
        }
        const Index vertex = bucket.back();
        if (alive(at(vertex)) && at(degrees_[at(vertex)]) == lowest_) return vertex;
        bucket.pop_back();
    }
}

/// By how much of it the sum at a vertex has moved since its refresh.
double Descent::moved(std::size_t vertex) const noexcept {
    return std::abs(sums_[vertex] - known_[vertex]) / known_[vertex];
}

void Descent::enqueue_if_moved(std::size_t vertex) {
    if (queued_[vertex] != 0) return;
    if (moved(vertex) <= options_.tolerance) return;
    queued_[vertex] = 1;
    queue_.push_back(static_cast<Index>(vertex));
}

/// Takes the vertex out of the sums and degrees of its neighbours.
void Descent::drop(Index vertex) {
    const std::size_t side = vertex < n_ ? 0 : 1;
    const std::size_t first = part_->start[at(vertex)];
    for (std::size_t k = first; k < first + at(sizes_[at(vertex)]); ++k) {
        const PartEdge& edge = edges_[at(lists_[k])];
        const std::size_t other = at(edge.end[1 - side]);
        if (!alive(other)) continue;
        sums_[other] = std::max(sums_[other] - edge.to[1 - side], least_share * edge.to[1 - side]);
        const std::size_t degree = at(--degrees_[other]);
        by_degree_[degree].push_back(static_cast<Index>(other));
        lowest_ = std::min(lowest_, degree);
        enqueue_if_moved(other);
    }
}

/// The message along the edge to its end on this side, from the sum at the other.
template <class G>
double Descent::message(const G& gain, const PartEdge& edge, std::size_t side) const {
    const double total = sums_[at(edge.end[1 - side])];
    return gain.send(edge.weight, total, std::max(total - edge.to[1 - side], least_share * total));
}

/// Reads the messages to a vertex, and sends from it.
template <class G>
void Descent::update(const G& gain, Index vertex) {
    const std::size_t side = vertex < n_ ? 0 : 1;
    const std::size_t first = part_->start[at(vertex)];
    Sum sum;
    std::size_t kept = first;
    for (std::size_t k = first; k < first + at(sizes_[at(vertex)]); ++k) {
        const Index e = lists_[k];
        PartEdge& edge = edges_[at(e)];
        if (!alive(at(edge.end[1 - side]))) continue;
        lists_[kept++] = e;
        edge.to[side] = message(gain, edge, side);
        sum.add(edge.to[side], at(e));
    }
    sizes_[at(vertex)] = static_cast<Index>(kept - first);
    const double total = sum.total();
    sums_[at(vertex)] = known_[at(vertex)] = total;
    for (std::size_t k = first; k < kept; ++k) {
        const auto e = at(lists_[k]);
        PartEdge& edge = edges_[e];
        const double others = std::max(sum.without(edge.to[side], e), least_share * total);
        const double sent = gain.send(edge.weight, total, others);
        const std::size_t other = at(edge.end[1 - side]);
        sums_[other] =
            std::max(sums_[other] + (sent - edge.to[1 - side]), sent * (1.0 + least_share));
        edge.to[1 - side] = sent;
        enqueue_if_moved(other);
    }
}

template <class G>
void Descent::refresh(const G& gain) {
    for (int k = 0; k < options_.refreshes && head_ < queue_.size(); ++k) {
        const Index vertex = queue_[head_++];
        queued_[at(vertex)] = 0;
        if (alive(at(vertex))) update(gain, vertex);
    }
    if (head_ == queue_.size()) {
        queue_.clear();
        head_ = 0;
    }
}

/// The neighbours of a vertex about to choose are held to a finer tolerance.
template <class G>
void Descent::refresh_around(const G& gain, Index vertex) {
    const std::size_t side = vertex < n_ ? 0 : 1;
    const std::size_t first = part_->start[at(vertex)];
    for (std::size_t k = first; k < first + at(sizes_[at(vertex)]); ++k) {
        const Index other = edges_[at(lists_[k])].end[1 - side];
        if (alive(at(other)) && moved(at(other)) > options_.tolerance / finer) update(gain, other);
    }
}

void Descent::multiply(double factor) {
    product_ *= factor;
    if (product_ > fold_above || product_ < 1.0 / fold_above) {
        log_weight_ += std::log(product_);
        product_ = 1;
    }
}

/// The edge of the vertex to take; its weight over its chance goes into the weight of the draw.
template <class G>
Index Descent::choose(const G& gain, Index vertex, Random& random,
                      std::span<const Index> followed) {
    const std::size_t side = vertex < n_ ? 0 : 1;
    const std::size_t first = part_->start[at(vertex)];
    terms_.clear();
    std::size_t kept = first;
    double total = 0;
    for (std::size_t k = first; k < first + at(sizes_[at(vertex)]); ++k) {
        const PartEdge& edge = edges_[at(lists_[k])];
        if (!alive(at(edge.end[1 - side]))) continue;
        lists_[kept++] = lists_[k];
        terms_.push_back(message(gain, edge, side));
        total += terms_.back();
    }
    sizes_[at(vertex)] = static_cast<Index>(kept - first);
    std::size_t pick = 0;
    if (!followed.empty()) {
        const auto wanted = [&](Index e) {
            return followed[at(edges_[at(e)].end[0])] == edges_[at(e)].end[1] - n_;
        };
        while (pick + 1 < terms_.size() && !wanted(lists_[first + pick])) ++pick;
    } else {
        double left = random.unit() * total;
        // Rounding may leave a little at the end: it belongs to the last choice.
        for (; pick + 1 < terms_.size(); ++pick) {
            if (left < terms_[pick]) break;
            left -= terms_[pick];
        }
    }
    const Index e = lists_[first + pick];
    multiply(edges_[at(e)].weight);
    if (terms_.size() > 1) multiply(total / terms_[pick]);
    return e;
}

template <class G>
bool Descent::descend(const G& gain, Index rows_left, Random& random,
                      std::span<const Index> followed) {
    for (Index rows = n_; rows > rows_left; --rows) {
        const Index vertex = take_vertex();
        if (degrees_[at(vertex)] == 0 || cancel_.raised()) return false;
        // What is forced needs no messages.
        if (degrees_[at(vertex)] > 1) {
            refresh(gain);
            refresh_around(gain, vertex);
        }
        const Index e = choose(gain, vertex, random, followed);
        chosen_.push_back(e);
        const PartEdge& edge = edges_[at(e)];
        alive_[at(edge.end[0])] = alive_[at(edge.end[1])] = 0;
        drop(edge.end[0]);
        drop(edge.end[1]);
    }
    log_weight_ += std::log(product_);
    return true;
}

bool Descent::run(const Part& part, const ImportanceOptions& options, Index rows_left,
                  Random& random, std::span<const Index> followed, CancelFlag cancel) {
    options_ = options;
    cancel_ = cancel;
    start(part);
    return options.kappa == 1.0 ? descend(BetheGain{}, rows_left, random, followed)
                                : descend(QuickGain(options.kappa), rows_left, random, followed);
}

}  // namespace anonymatch
