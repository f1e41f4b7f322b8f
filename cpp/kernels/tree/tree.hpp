// Matchings of tree-like blocks: a programme over a tree decomposition, modulo primes.
//
// Users and behaviours are eliminated in an order of minimum degree (elimination.hpp). The vertex
// that goes meets what its children in the elimination tree found: for each set of its front, the
// number of ways in which vertices gone so far are all matched, among themselves or with exactly
// that set. Children are joined over disjoint sets; then the vertex, unless a child matched it,
// takes one of its edges to the front, or stays free if it is a behaviour that may be spare. Only
// sets that can occur are kept; they are found once, when the plan is made.
//
// All steps are sums of products, so the counts through all edges are derivatives by their weights,
// found backwards through the same steps.
//
// Cost: `work` products of eight lanes for a count, about three times that with all edges.
// Exactness: as in planar.hpp, whose arithmetic this uses; no division, so no prime fails.
// Overflow: fronts have at most tree_width_limit vertices, so sets fit 32 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "planar/planar.hpp"
#include "structure/structure.hpp"

namespace anonymatch {

inline constexpr std::int32_t tree_width_limit = 24;

class TreePlan {
public:
    /// A block with a matching of all users. Nothing if a front would have more than `width`
    /// vertices, at most tree_width_limit, if there were more than `most` products, or when
    /// cancelled.
    static std::optional<TreePlan> make(const BipartiteView& block, double most,
                                        std::int32_t width = tree_width_limit,
                                        CancelFlag cancel = {});

    /// `weights`: residues in [0, p), a lane a prime for each edge; none if all are 1.
    [[nodiscard]] PlanarResidues run(const PlanarPrimes& primes, std::span<const double> weights,
                                     bool edges, CancelFlag cancel = {}) const;

    [[nodiscard]] double work() const noexcept { return work_; }
    [[nodiscard]] std::int32_t width() const noexcept { return width_; }
    /// Bytes that a run allocates at most.
    [[nodiscard]] double run_bytes(bool edges) const noexcept;

private:
    using Mask = std::uint32_t;
    using Masks = std::vector<Mask>;

    /// An edge from a vertex to one of its front.
    struct OwnEdge {
        Mask bit = 0;
        std::int32_t edge = 0;
    };
    /// A vertex with its bag: bit 0 is the vertex, bit i + 1 the i-th of its front.
    struct Node {
        std::vector<std::int32_t> children;
        std::vector<std::vector<std::uint8_t>> places;  // of a child's front, bits of this bag
        std::vector<OwnEdge> edges;
        bool spare = false;         // may stay free
        std::vector<Masks> joined;  // sets after each child, ascending
        Masks sent;                 // sets of the front, ascending
        std::int32_t bag = 0;       // vertices in it
    };
    struct Join;
    struct Tables;

    TreePlan() = default;
    bool fill(double most, CancelFlag cancel);
    [[nodiscard]] Masks moved(const Node& node, std::size_t child) const;

    std::vector<Node> nodes_;
    std::size_t n_edges_ = 0;
    double work_ = 0;
    double sets_ = 0, largest_ = 0;  // all that are kept, and those of the largest node
    std::int32_t width_ = 0;
};

}  // namespace anonymatch
