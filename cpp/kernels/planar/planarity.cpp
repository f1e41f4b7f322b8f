#include "planar/planarity.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

namespace anonymatch {
namespace {

using Index = std::int32_t;
using Indices = std::vector<Index>;
constexpr Index none = -1;

inline std::size_t at(Index index) noexcept {
    return static_cast<std::size_t>(index);
}

/// Users are the vertices from 0, behaviours those after them; edges are numbered as in the graph.
struct Undirected {
    Index n_vertices = 0;
    Indices tail, head;        // user and behaviour of every edge
    Indices starts, incident;  // edges at every vertex

    explicit Undirected(const BipartiteView& graph)
        : n_vertices(graph.n_users + graph.n_behaviours) {
        const std::size_t m = graph.indices.size();
        tail.resize(m);
        head.resize(m);
        starts.assign(at(n_vertices) + 1, 0);
        for (Index u = 0; u < graph.n_users; ++u)
            for (Index e = graph.indptr[at(u)]; e < graph.indptr[at(u) + 1]; ++e) {
                tail[at(e)] = u;
                head[at(e)] = graph.n_users + graph.indices[at(e)];
                ++starts[at(u) + 1];
                ++starts[at(head[at(e)]) + 1];
            }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        incident.resize(2 * m);
        Indices next(starts.begin(), starts.end() - 1);
        for (Index e = 0; e < static_cast<Index>(m); ++e)
            for (const Index v : {tail[at(e)], head[at(e)]}) incident[at(next[at(v)]++)] = e;
    }

    [[nodiscard]] std::span<const Index> at_vertex(Index v) const {
        const std::size_t first = at(starts[at(v)]);
        return std::span(incident).subspan(first, at(starts[at(v) + 1]) - first);
    }
};

struct Interval {
    Index low = none, high = none;  // edges
    [[nodiscard]] bool empty() const { return low == none && high == none; }
};

struct ConflictPair {
    Interval left, right;
};

/// The left-right test from vertex 0, with the names of [1].
class LeftRight {
public:
    explicit LeftRight(const Undirected& graph)
        : graph_(graph),
          source_(graph.tail.size(), none),
          target_(graph.tail.size(), none),
          lowpt_(graph.tail.size(), 0),
          lowpt2_(graph.tail.size(), 0),
          nesting_(graph.tail.size(), 0),
          ref_(graph.tail.size(), none),
          lowpt_edge_(graph.tail.size(), none),
          stack_bottom_(graph.tail.size(), 0),
          side_(graph.tail.size(), 1),
          height_(at(graph.n_vertices), none),
          parent_edge_(at(graph.n_vertices), none) {}

    bool planar() {
        orient();
        sort_outgoing();
        if (!test()) return false;
        for (std::size_t e = 0; e < nesting_.size(); ++e)
            nesting_[e] *= sign(static_cast<Index>(e));
        sort_outgoing();
        return true;
    }

    /// For half-edge 2e (at the user) or 2e + 1 (at the behaviour) the next around its vertex.
    Indices rotation() {
        next_.assign(2 * source_.size(), none);
        before_.assign(2 * source_.size(), none);
        for (Index v = 0; v < graph_.n_vertices; ++v) {
            const auto out = outgoing(v);
            for (std::size_t k = 0; k < out.size(); ++k) {
                const Index here = half(out[k], v), after = half(out[(k + 1) % out.size()], v);
                next_[at(here)] = after;
                before_[at(after)] = here;
            }
        }
        embed();
        return std::move(next_);
    }

    [[nodiscard]] bool tree_edge(Index e) const { return parent_edge_[at(target_[at(e)])] == e; }
    [[nodiscard]] bool connected() const {
        return std::find(height_.begin(), height_.end(), none) == height_.end();
    }

private:
    [[nodiscard]] Index half(Index e, Index v) const {
        return 2 * e + (graph_.tail[at(e)] == v ? 0 : 1);
    }
    [[nodiscard]] std::span<const Index> outgoing(Index v) const {
        const std::size_t first = at(out_starts_[at(v)]);
        return std::span(out_).subspan(first, at(out_starts_[at(v) + 1]) - first);
    }

    void orient() {
        Indices position(graph_.starts.begin(), graph_.starts.end() - 1);
        Indices path{0};
        height_[0] = 0;
        while (!path.empty()) {
            const Index v = path.back();
            if (position[at(v)] == graph_.starts[at(v) + 1]) {
                path.pop_back();
                if (parent_edge_[at(v)] != none) leave(parent_edge_[at(v)]);
                continue;
            }
            const Index e = graph_.incident[at(position[at(v)]++)];
            if (source_[at(e)] != none) continue;  // oriented already
            const Index w = graph_.tail[at(e)] == v ? graph_.head[at(e)] : graph_.tail[at(e)];
            source_[at(e)] = v;
            target_[at(e)] = w;
            lowpt_[at(e)] = lowpt2_[at(e)] = height_[at(v)];
            if (height_[at(w)] == none) {
                parent_edge_[at(w)] = e;
                height_[at(w)] = height_[at(v)] + 1;
                path.push_back(w);
            } else {
                lowpt_[at(e)] = height_[at(w)];
                leave(e);
            }
        }
    }

    /// What is known of an edge when everything behind it has been seen.
    void leave(Index edge) {
        const std::size_t e = at(edge);
        const Index v = source_[e];
        nesting_[e] = 2 * lowpt_[e] + (lowpt2_[e] < height_[at(v)] ? 1 : 0);
        if (parent_edge_[at(v)] == none) return;
        const std::size_t above = at(parent_edge_[at(v)]);
        if (lowpt_[e] < lowpt_[above]) {
            lowpt2_[above] = std::min(lowpt_[above], lowpt2_[e]);
            lowpt_[above] = lowpt_[e];
        } else if (lowpt_[e] > lowpt_[above]) {
            lowpt2_[above] = std::min(lowpt2_[above], lowpt_[e]);
        } else {
            lowpt2_[above] = std::min(lowpt2_[above], lowpt2_[e]);
        }
    }

    void sort_outgoing() {
        out_starts_.assign(at(graph_.n_vertices) + 1, 0);
        for (const Index v : source_)
            if (v != none) ++out_starts_[at(v) + 1];
        std::partial_sum(out_starts_.begin(), out_starts_.end(), out_starts_.begin());
        out_.resize(at(out_starts_.back()));
        Indices next(out_starts_.begin(), out_starts_.end() - 1);
        for (std::size_t e = 0; e < source_.size(); ++e)
            if (source_[e] != none) out_[at(next[at(source_[e])]++)] = static_cast<Index>(e);
        for (Index v = 0; v < graph_.n_vertices; ++v)
            std::stable_sort(
                out_.begin() + out_starts_[at(v)], out_.begin() + out_starts_[at(v) + 1],
                [this](Index a, Index b) { return nesting_[at(a)] < nesting_[at(b)]; });
    }

    bool test() {
        Indices position(out_starts_.begin(), out_starts_.end() - 1);
        Indices path{0};
        while (!path.empty()) {
            const Index v = path.back();
            if (position[at(v)] == out_starts_[at(v) + 1]) {
                path.pop_back();
                const Index above = parent_edge_[at(v)];
                if (above == none) continue;
                remove_back_edges(above);
                if (!integrate(above)) return false;
                continue;
            }
            const Index e = out_[at(position[at(v)]++)];
            stack_bottom_[at(e)] = stack_.size();
            if (tree_edge(e)) {
                path.push_back(target_[at(e)]);
            } else {
                lowpt_edge_[at(e)] = e;
                stack_.push_back({{}, {e, e}});
                if (!integrate(e)) return false;
            }
        }
        return true;
    }

    /// The return edges of an outgoing edge that is done, against those of its siblings before it.
    bool integrate(Index e) {
        const Index v = source_[at(e)];
        if (lowpt_[at(e)] >= height_[at(v)]) return true;
        const Index above = parent_edge_[at(v)];
        if (e == out_[at(out_starts_[at(v)])]) {
            lowpt_edge_[at(above)] = lowpt_edge_[at(e)];
            return true;
        }
        return add_constraints(e, above);
    }

    [[nodiscard]] bool conflicting(const Interval& interval, Index e) const {
        return !interval.empty() && lowpt_[at(interval.high)] > lowpt_[at(e)];
    }

    bool add_constraints(Index e, Index above) {
        ConflictPair merged;
        do {  // return edges of e into the right interval
            ConflictPair top = stack_.back();
            stack_.pop_back();
            if (!top.left.empty()) std::swap(top.left, top.right);
            if (!top.left.empty()) return false;
            if (lowpt_[at(top.right.low)] > lowpt_[at(above)]) {
                if (merged.right.empty())
                    merged.right = top.right;
                else
                    ref_[at(merged.right.low)] = top.right.high;
                merged.right.low = top.right.low;
            } else {
                ref_[at(top.right.low)] = lowpt_edge_[at(above)];
            }
        } while (stack_.size() != stack_bottom_[at(e)]);
        // Return edges of siblings that conflict with those of e go to the left.
        while (!stack_.empty() &&
               (conflicting(stack_.back().left, e) || conflicting(stack_.back().right, e))) {
            ConflictPair top = stack_.back();
            stack_.pop_back();
            if (conflicting(top.right, e)) std::swap(top.left, top.right);
            if (conflicting(top.right, e)) return false;
            if (merged.right.low != none) ref_[at(merged.right.low)] = top.right.high;
            if (top.right.low != none) merged.right.low = top.right.low;
            if (merged.left.empty())
                merged.left = top.left;
            else
                ref_[at(merged.left.low)] = top.left.high;
            merged.left.low = top.left.low;
        }
        if (!merged.left.empty() || !merged.right.empty()) stack_.push_back(merged);
        return true;
    }

    [[nodiscard]] Index lowest(const ConflictPair& pair) const {
        if (pair.left.empty()) return lowpt_[at(pair.right.low)];
        if (pair.right.empty()) return lowpt_[at(pair.left.low)];
        return std::min(lowpt_[at(pair.left.low)], lowpt_[at(pair.right.low)]);
    }

    void trim(Interval& interval, const Interval& other, Index u) {
        while (interval.high != none && target_[at(interval.high)] == u)
            interval.high = ref_[at(interval.high)];
        if (interval.high == none && interval.low != none) {  // just emptied
            ref_[at(interval.low)] = other.low;
            side_[at(interval.low)] = -1;
            interval.low = none;
        }
    }

    void remove_back_edges(Index e) {
        const Index u = source_[at(e)];
        while (!stack_.empty() && lowest(stack_.back()) == height_[at(u)]) {
            const Index low = stack_.back().left.low;
            if (low != none) side_[at(low)] = -1;
            stack_.pop_back();
        }
        if (!stack_.empty()) {
            trim(stack_.back().left, stack_.back().right, u);
            trim(stack_.back().right, stack_.back().left, u);
        }
        if (lowpt_[at(e)] < height_[at(u)]) {  // e has the side of its highest return edge
            const Index left = stack_.back().left.high, right = stack_.back().right.high;
            const bool by_left =
                left != none && (right == none || lowpt_[at(left)] > lowpt_[at(right)]);
            ref_[at(e)] = by_left ? left : right;
        }
    }

    Index sign(Index e) {
        Indices path{e};
        while (ref_[at(path.back())] != none) path.push_back(ref_[at(path.back())]);
        for (std::size_t k = path.size() - 1; k-- > 0;) {
            side_[at(path[k])] =
                static_cast<std::int8_t>(side_[at(path[k])] * side_[at(path[k + 1])]);
            ref_[at(path[k])] = none;
        }
        return side_[at(e)];
    }

    void insert_after(Index here, Index added) {
        const Index after = next_[at(here)];
        next_[at(here)] = added;
        before_[at(added)] = here;
        next_[at(added)] = after;
        before_[at(after)] = added;
    }

    /// The other half of every edge, in the order of a search that keeps the sides.
    void embed() {
        Indices left(at(graph_.n_vertices), none), right(at(graph_.n_vertices), none);
        Indices position(out_starts_.begin(), out_starts_.end() - 1);
        Indices path{0};
        while (!path.empty()) {
            const Index v = path.back();
            if (position[at(v)] == out_starts_[at(v) + 1]) {
                path.pop_back();
                continue;
            }
            const Index e = out_[at(position[at(v)]++)], w = target_[at(e)];
            const Index added = half(e, w);
            if (tree_edge(e)) {
                const auto out = outgoing(w);
                if (out.empty()) {
                    next_[at(added)] = before_[at(added)] = added;
                } else {
                    insert_after(before_[at(half(out.front(), w))], added);
                }
                left[at(v)] = right[at(v)] = half(e, v);
                path.push_back(w);
            } else if (side_[at(e)] == 1) {
                insert_after(right[at(w)], added);
            } else {
                insert_after(before_[at(left[at(w)])], added);
                left[at(w)] = added;
            }
        }
    }

    const Undirected& graph_;
    Indices source_, target_, lowpt_, lowpt2_, nesting_, ref_, lowpt_edge_;
    std::vector<std::size_t> stack_bottom_;
    std::vector<std::int8_t> side_;
    Indices height_, parent_edge_;
    Indices out_starts_, out_;
    Indices next_, before_;
    std::vector<ConflictPair> stack_;
};

/// Faces as cycles of half-edges.
struct Faces {
    Indices of_half, length;

    explicit Faces(const Indices& rotation) : of_half(rotation.size(), none) {
        for (Index first = 0; first < static_cast<Index>(rotation.size()); ++first) {
            if (of_half[at(first)] != none) continue;
            const auto face = static_cast<Index>(length.size());
            length.push_back(0);
            for (Index h = first; of_half[at(h)] == none; h = rotation[at(h ^ 1)]) {
                of_half[at(h)] = face;
                ++length.back();
            }
        }
    }
};

/// Faces in an order in which every one but the first has an edge of its own left to choose.
class Signing {
public:
    Signing(const Faces& faces, const LeftRight& test, std::size_t m)
        : faces_(faces), signs_(m, 1), starts_(faces.length.size() + 1, 0) {
        for (std::size_t e = 0; e < m; ++e)
            if (!test.tree_edge(static_cast<Index>(e)))
                for (const std::size_t h : {2 * e, 2 * e + 1}) ++starts_[at(faces.of_half[h]) + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        halves_.resize(at(starts_.back()));
        Indices next(starts_.begin(), starts_.end() - 1);
        for (std::size_t e = 0; e < m; ++e)
            if (!test.tree_edge(static_cast<Index>(e)))
                for (const std::size_t h : {2 * e, 2 * e + 1})
                    halves_[at(next[at(faces.of_half[h])]++)] = static_cast<Index>(h);
    }

    std::vector<std::int8_t> signs() {
        const std::size_t n_faces = faces_.length.size();
        std::vector<std::uint8_t> odd(n_faces);  // whether negative edges are still wanted
        for (std::size_t f = 0; f < n_faces; ++f) {
            if (faces_.length[f] % 2 != 0) throw std::logic_error("a face of odd length");
            odd[f] = (faces_.length[f] / 2 + 1) % 2 != 0;
        }
        const Indices by = dual_tree();
        for (std::size_t k = order_.size(); k-- > 1;) {
            const Index face = order_[k], h = by[at(face)];
            if (odd[at(face)] == 0) continue;
            signs_[at(h / 2)] = -1;
            odd[at(face)] = 0;
            odd[at(faces_.of_half[at(h ^ 1)])] ^= 1;
        }
        if (order_.size() != n_faces || odd[at(order_[0])] != 0)
            throw std::logic_error("the last face has the wrong sign");
        return std::move(signs_);
    }

private:
    /// The half-edge by which each face was reached from one before it.
    Indices dual_tree() {
        Indices by(faces_.length.size(), none);
        std::vector<std::uint8_t> reached(faces_.length.size(), 0);
        order_ = {0};
        reached[0] = 1;
        for (std::size_t k = 0; k < order_.size(); ++k)
            for (Index q = starts_[at(order_[k])]; q < starts_[at(order_[k]) + 1]; ++q) {
                const Index across = halves_[at(q)] ^ 1, face = faces_.of_half[at(across)];
                if (reached[at(face)] != 0) continue;
                reached[at(face)] = 1;
                by[at(face)] = across;
                order_.push_back(face);
            }
        return by;
    }

    const Faces& faces_;
    std::vector<std::int8_t> signs_;
    Indices starts_, halves_, order_;
};

}  // namespace

std::optional<std::vector<std::int8_t>> kasteleyn_signs(const BipartiteView& graph) {
    const std::size_t m = graph.indices.size();
    const std::size_t v = at(graph.n_users) + at(graph.n_behaviours);
    if (m == 0) throw std::invalid_argument("a graph without edges");
    if (m > at(std::numeric_limits<Index>::max() / 2))
        throw std::invalid_argument("too many edges");
    if (v > 2 && m > 2 * v - 4) return std::nullopt;  // faces have four edges at least
    const Undirected undirected(graph);
    LeftRight test(undirected);
    if (!test.planar()) return std::nullopt;
    if (!test.connected()) throw std::invalid_argument("the graph is not connected");
    const Faces faces(test.rotation());
    if (v + faces.length.size() != m + 2) throw std::logic_error("not an embedding in the plane");
    return Signing(faces, test, m).signs();
}

}  // namespace anonymatch
