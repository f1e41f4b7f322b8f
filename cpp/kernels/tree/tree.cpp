#include "tree/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "elimination/elimination.hpp"
#include "planar/planar_lanes.hpp"

namespace anonymatch {
namespace {

using Index = std::int32_t;
using Mask = std::uint32_t;
using Masks = std::vector<Mask>;
using planar::at;
using planar::Lanes;

constexpr Index none = -1;
constexpr Lanes one{{1, 1, 1, 1, 1, 1, 1, 1}};

/// Where each set stands in a list of sets; made for the largest bag once, and cleaned after use.
class Positions {
public:
    void set(const Masks& masks, Index bag) {
        const std::size_t size = std::size_t{1} << bag;
        if (of_.size() < size) of_.resize(size, none);
        masks_ = &masks;
        for (std::size_t k = 0; k < masks.size(); ++k) of_[masks[k]] = static_cast<Index>(k);
    }
    void clear() {
        for (const Mask mask : *masks_) of_[mask] = none;
    }
    Index operator[](Mask mask) const { return of_[mask]; }

private:
    std::vector<Index> of_;
    const Masks* masks_ = nullptr;
};

}  // namespace

/// All pairs of disjoint sets of two lists, by the first: where the other and the union stand.
struct TreePlan::Join {
    Positions other, both;
    std::vector<Index> others, unions;

    template <class Visit>
    void each(const Masks& first, const Masks& second, const Masks& joined, Mask reach, Index bag,
              const Visit& visit) {
        other.set(second, bag);
        both.set(joined, bag);
        for (std::size_t a = 0; a < first.size(); ++a) {
            others.clear();
            unions.clear();
            const Mask free = reach & ~first[a];
            for (Mask b = free;; b = (b - 1) & free) {
                const Index position = other[b];
                if (position != none) {
                    others.push_back(position);
                    unions.push_back(both[first[a] | b]);
                }
                if (b == 0) break;
            }
            visit(a);
        }
        other.clear();
        both.clear();
    }
};

/// Values of all sets, or their derivatives: of every node after each child, and what it sends.
struct TreePlan::Tables {
    std::vector<std::vector<std::vector<Lanes>>> joined;
    std::vector<std::vector<Lanes>> sent;

    explicit Tables(std::size_t nodes) : joined(nodes), sent(nodes) {}
};

std::optional<TreePlan> TreePlan::make(const BipartiteView& block, double most, Index width,
                                       CancelFlag cancel) {
    const std::size_t n = at(block.n_users), vertices = n + at(block.n_behaviours);
    std::vector<std::vector<Index>> around(vertices);
    for (std::size_t u = 0; u < n; ++u)
        for (Index e = block.indptr[u]; e < block.indptr[u + 1]; ++e) {
            const std::size_t b = n + at(block.indices[at(e)]);
            around[u].push_back(static_cast<Index>(b));
            around[b].push_back(static_cast<Index>(u));
        }
    std::vector<Index> starts{0}, neighbours;
    for (const auto& row : around) {
        neighbours.insert(neighbours.end(), row.begin(), row.end());
        starts.push_back(static_cast<Index>(neighbours.size()));
    }
    const Elimination order =
        minimum_degree(starts, neighbours, std::min(width, tree_width_limit), cancel);
    if (!order.complete) return std::nullopt;
    std::vector<Index> rank(vertices);
    for (std::size_t k = 0; k < vertices; ++k) rank[at(order.order[k])] = static_cast<Index>(k);
    const auto front = [&](std::size_t k) {
        return std::span(order.fronts)
            .subspan(at(order.starts[k]), at(order.starts[k + 1] - order.starts[k]));
    };
    const auto bit_of = [&](std::size_t k, Index other) {
        if (at(other) == k) return std::uint8_t{0};
        const auto own = front(k);
        const auto found = std::lower_bound(own.begin(), own.end(), other);
        return static_cast<std::uint8_t>(found - own.begin() + 1);
    };
    TreePlan plan;
    plan.n_edges_ = block.indices.size();
    plan.width_ = order.width;
    plan.nodes_.resize(vertices);
    for (std::size_t k = 0; k < vertices; ++k) {
        const auto own = front(k);
        Node& node = plan.nodes_[k];
        node.bag = static_cast<Index>(own.size()) + 1;
        node.spare = at(order.order[k]) >= n && block.n_behaviours > block.n_users;
        if (own.empty()) {
            if (k + 1 != vertices) throw std::invalid_argument("the block is not connected");
            continue;
        }
        Node& parent = plan.nodes_[at(own.front())];
        parent.children.push_back(static_cast<Index>(k));
        parent.places.emplace_back();
        for (const Index v : own) parent.places.back().push_back(bit_of(at(own.front()), v));
    }
    for (std::size_t u = 0; u < n; ++u)
        for (Index e = block.indptr[u]; e < block.indptr[u + 1]; ++e) {
            const Index a = rank[u], b = rank[n + at(block.indices[at(e)])];
            const std::size_t first = at(std::min(a, b));
            const Mask bit = Mask{1} << bit_of(first, std::max(a, b));
            plan.nodes_[first].edges.push_back({bit, e});
        }
    if (!plan.fill(most, cancel)) return std::nullopt;
    return plan;
}

/// What a child sends, as sets of this node's bag.
TreePlan::Masks TreePlan::moved(const Node& node, std::size_t child) const {
    const auto& places = node.places[child];
    Masks result;
    for (Mask mask : nodes_[at(node.children[child])].sent) {
        Mask here = 0;
        for (; mask != 0; mask &= mask - 1)
            here |= Mask{1} << places[static_cast<std::size_t>(std::countr_zero(mask))];
        result.push_back(here);
    }
    return result;
}

/// Finds the sets that can occur, and counts the products.
bool TreePlan::fill(double most, CancelFlag cancel) {
    std::vector<std::uint8_t> seen;
    const auto sorted = [&](Masks& masks) {
        for (const Mask mask : masks) seen[mask] = 0;
        std::sort(masks.begin(), masks.end());
    };
    Positions other;
    for (Node& node : nodes_) {
        if (cancel.raised()) return false;
        seen.resize(std::max(seen.size(), std::size_t{1} << node.bag), 0);
        double here = 0;
        for (std::size_t c = 0; c < node.children.size(); ++c) {
            const Masks second = moved(node, c);
            if (c == 0) {
                node.joined.push_back(second);
                std::sort(node.joined.back().begin(), node.joined.back().end());
                work_ += static_cast<double>(second.size());
                here += static_cast<double>(second.size());
                continue;
            }
            const Masks& first = node.joined.back();
            Mask reach = 0;
            for (const std::uint8_t place : node.places[c]) reach |= Mask{1} << place;
            double bound = 0;
            for (const Mask a : first) bound += std::ldexp(1.0, std::popcount(reach & ~a));
            if (work_ + bound > most) return false;
            other.set(second, node.bag);
            Masks joined;
            for (const Mask a : first) {
                const Mask free = reach & ~a;
                for (Mask b = free;; b = (b - 1) & free) {
                    if (other[b] != none) {
                        work_ += 1;
                        if (seen[a | b] == 0) {
                            seen[a | b] = 1;
                            joined.push_back(a | b);
                        }
                    }
                    if (b == 0) break;
                }
            }
            other.clear();
            sorted(joined);
            here += static_cast<double>(joined.size());
            node.joined.push_back(std::move(joined));
        }
        if (node.children.empty()) node.joined.push_back({0});
        const auto add = [&](Mask mask) {
            work_ += 1;
            if (seen[mask] != 0) return;
            seen[mask] = 1;
            node.sent.push_back(mask);
        };
        for (const Mask mask : node.joined.back()) {
            if ((mask & 1) != 0) {
                add(mask >> 1);
                continue;
            }
            if (node.spare) add(mask >> 1);
            for (const OwnEdge& own : node.edges)
                if ((mask & own.bit) == 0) add((mask | own.bit) >> 1);
        }
        sorted(node.sent);
        here += static_cast<double>(node.sent.size());
        sets_ += here;
        largest_ = std::max(largest_, here);
        if (work_ > most) return false;
    }
    return true;
}

double TreePlan::run_bytes(bool edges) const noexcept {
    const double each = sizeof(Lanes);
    // Without edges tables go as soon as they are used; those of siblings wait for each other.
    return edges ? (2 * sets_ + static_cast<double>(n_edges_)) * each
                 : std::min(sets_, 8 * largest_ + static_cast<double>(nodes_.size())) * each;
}

PlanarResidues TreePlan::run(const PlanarPrimes& primes, std::span<const double> weights,
                             bool edges, CancelFlag cancel) const {
    const auto lanes = static_cast<std::size_t>(planar_lanes);
    if (!weights.empty() && weights.size() != lanes * n_edges_)
        throw std::invalid_argument("weights must have a lane a prime for each edge");
    planar::Factors modulus;  // only its primes are used
    for (std::size_t l = 0; l < lanes; ++l) {
        if (!(primes[l] >= 3 && primes[l] < planar_prime_limit))
            throw std::invalid_argument("primes must be odd and below 2^49");
        modulus.prime.lane[l] = primes[l];
        modulus.reciprocal.lane[l] = 1 / primes[l];
    }
    const auto weight = [&](Index e) {
        if (weights.empty()) return one;
        Lanes value;
        for (std::size_t l = 0; l < lanes; ++l) {
            const double w = weights[lanes * at(e) + l];
            value.lane[l] = w > primes[l] / 2 ? w - primes[l] : w;
        }
        return value;
    };
    const planar::Instructions used = planar::instructions().front();
    const auto add = [&](Lanes& target, const Lanes& factor, const Lanes& value) {
        const Index zero = 0;
        used.add_products(modulus, &target, &zero, factor, &value, &zero, 1);
    };
    PlanarResidues result;
    result.found.fill(true);
    Tables values(nodes_.size());
    Join join;
    Positions positions;
    const auto reach_of = [](const std::vector<std::uint8_t>& places) {
        Mask reach = 0;
        for (const std::uint8_t place : places) reach |= Mask{1} << place;
        return reach;
    };
    // Where the sets that the first child sends stand among those of this bag, sorted.
    const auto order_of = [&](const Node& node) {
        const Masks first = moved(node, 0);
        positions.set(node.joined[0], node.bag);
        std::vector<Index> order;
        for (const Mask mask : first) order.push_back(positions[mask]);
        positions.clear();
        return order;
    };
    /// All steps from the sets of a bag to what is sent: source, target, weight or none.
    const auto steps = [&](const Node& node, const auto& visit) {
        positions.set(node.sent, node.bag);
        for (std::size_t k = 0; k < node.joined.back().size(); ++k) {
            const Mask mask = node.joined.back()[k];
            if ((mask & 1) != 0 || node.spare) visit(k, at(positions[mask >> 1]), none);
            if ((mask & 1) != 0) continue;
            for (const OwnEdge& own : node.edges)
                if ((mask & own.bit) == 0) visit(k, at(positions[(mask | own.bit) >> 1]), own.edge);
        }
        positions.clear();
    };
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
        if (cancel.raised()) {
            result.stopped = true;
            return result;
        }
        const Node& node = nodes_[v];
        auto& joined = values.joined[v];
        for (const Masks& masks : node.joined) joined.emplace_back(masks.size(), Lanes{});
        if (node.children.empty()) joined[0][0] = one;
        for (std::size_t c = 0; c < node.children.size(); ++c) {
            auto& sent = values.sent[at(node.children[c])];
            if (c == 0) {
                const std::vector<Index> order = order_of(node);
                for (std::size_t k = 0; k < order.size(); ++k) joined[0][at(order[k])] = sent[k];
            } else {
                join.each(node.joined[c - 1], moved(node, c), node.joined[c],
                          reach_of(node.places[c]), node.bag, [&](std::size_t a) {
                              used.add_products(modulus, joined[c].data(), join.unions.data(),
                                                joined[c - 1][a], sent.data(), join.others.data(),
                                                join.others.size());
                          });
                if (!edges) joined[c - 1] = {};
            }
            if (!edges) sent = {};
        }
        auto& sent = values.sent[v];
        sent.assign(node.sent.size(), Lanes{});
        steps(node, [&](std::size_t from, std::size_t to, Index e) {
            add(sent[to], e == none ? one : weight(e), joined.back()[from]);
        });
        if (!edges) joined = {};
    }
    const auto canonical = [&](const Lanes& value, std::size_t l) {
        return value.lane[l] < 0 ? value.lane[l] + primes[l] : value.lane[l];
    };
    const auto& last = values.sent.back();
    const Lanes count = last.empty() ? Lanes{} : last[0];
    for (std::size_t l = 0; l < lanes; ++l) result.count[l] = canonical(count, l);
    if (!edges) return result;

    Tables slopes(nodes_.size());
    std::vector<Lanes> by_edge(n_edges_, Lanes{});
    slopes.sent.back().assign(1, one);
    for (std::size_t v = nodes_.size(); v-- > 0;) {
        if (cancel.raised()) {
            result.stopped = true;
            return result;
        }
        const Node& node = nodes_[v];
        auto& joined = slopes.joined[v];
        for (const Masks& masks : node.joined) joined.emplace_back(masks.size(), Lanes{});
        auto& sent = slopes.sent[v];
        steps(node, [&](std::size_t from, std::size_t to, Index e) {
            add(joined.back()[from], e == none ? one : weight(e), sent[to]);
            if (e != none) add(by_edge[at(e)], sent[to], values.joined[v].back()[from]);
        });
        sent = {};
        for (std::size_t c = node.children.size(); c-- > 0;) {
            const std::size_t child = at(node.children[c]);
            auto& below = slopes.sent[child];
            below.assign(nodes_[child].sent.size(), Lanes{});
            if (c == 0) {
                const std::vector<Index> order = order_of(node);
                for (std::size_t k = 0; k < order.size(); ++k) below[k] = joined[0][at(order[k])];
                continue;
            }
            join.each(node.joined[c - 1], moved(node, c), node.joined[c], reach_of(node.places[c]),
                      node.bag, [&](std::size_t a) {
                          const std::size_t size = join.others.size();
                          used.sum_products(modulus, joined[c - 1][a], joined[c].data(),
                                            join.unions.data(), values.sent[child].data(),
                                            join.others.data(), size);
                          used.add_products(modulus, below.data(), join.others.data(),
                                            values.joined[v][c - 1][a], joined[c].data(),
                                            join.unions.data(), size);
                      });
        }
        joined = {};
        values.joined[v] = {};
        values.sent[v] = {};
    }
    result.through.resize(lanes * n_edges_);
    for (std::size_t e = 0; e < n_edges_; ++e) {
        const Lanes through = planar::times(modulus, weight(static_cast<Index>(e)), by_edge[e]);
        for (std::size_t l = 0; l < lanes; ++l)
            result.through[lanes * e + l] = canonical(through, l);
    }
    return result;
}

}  // namespace anonymatch
