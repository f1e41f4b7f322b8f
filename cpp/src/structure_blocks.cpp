// Irreducible blocks from a matching that covers all users (Dulmage and Mendelsohn, 1958; Pothen
// and Fan, 1990).
//
// Let H be the behaviours that alternating paths reach from unmatched behaviours, together with the
// users adjacent to them. A matching can leave any behaviour of H unused, so all edges into H are
// allowed, and users outside have no edge into it. An edge from a user of H to a behaviour b
// outside would need an alternating cycle through b, whose users would then reach H. So the blocks
// of H are its connected components. Outside H, (u, b) is allowed iff u and the partner of b are in
// one strong component of the digraph "u -> partner of a behaviour of u".
#include <algorithm>

#include "structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

// Marks the behaviours of H with `mark` in `component`; true when the flag was raised.
bool mark_unneeded(const BipartiteView& graph, const Transposed& by_behaviour,
                   const Structure& found, StopFlag stop, Index mark, Indices& component) {
    Indices queue;
    for (Index behaviour = 0; behaviour < graph.n_behaviours; ++behaviour) {
        if (found.user_of_behaviour[at(behaviour)] < 0 && !by_behaviour.row(behaviour).empty()) {
            component[at(behaviour)] = mark;
            queue.push_back(behaviour);
        }
    }
    while (!queue.empty()) {
        if ((queue.size() & 1023U) == 0 && stop.raised()) return true;
        const Index behaviour = queue.back();
        queue.pop_back();
        for (const Index user : by_behaviour.row(behaviour)) {
            const Index freed = found.behaviour_of_user[at(user)];
            if (component[at(freed)] == mark) continue;
            component[at(freed)] = mark;
            queue.push_back(freed);
        }
    }
    return false;
}

// Replaces `mark` by labels, one a connected component of H, counting down from `label`; returns
// the next one.
Index label_connected(const BipartiteView& graph, const Transposed& by_behaviour,
                      const Structure& found, StopFlag stop, Index mark, Index label,
                      Indices& component) {
    Indices queue;
    std::vector<bool> expanded(at(graph.n_users), false);
    for (Index start = 0; start < graph.n_behaviours; ++start) {
        // Every component of H has an unmatched behaviour.
        if (component[at(start)] != mark || found.user_of_behaviour[at(start)] >= 0) continue;
        component[at(start)] = label;
        queue.push_back(start);
        while (!queue.empty()) {
            if ((queue.size() & 1023U) == 0 && stop.raised()) return label;
            const Index behaviour = queue.back();
            queue.pop_back();
            for (const Index user : by_behaviour.row(behaviour)) {
                if (expanded[at(user)]) continue;
                expanded[at(user)] = true;
                for (const Index next : row_of(graph, user)) {
                    if (component[at(next)] != mark) continue;
                    component[at(next)] = label;
                    queue.push_back(next);
                }
            }
        }
        --label;
    }
    return label;
}

// Strong components by Pearce's one-array variant of Tarjan's algorithm ("A space-efficient
// algorithm for finding strongly connected components", 2016), with the behaviours as vertices: the
// successors of b are the behaviours of its partner, so that the digraph is read off the graph with
// one access an edge.
//
// component[b] is 0 before b is entered, its lowest reachable entry number while it is open, and
// its label when its component is closed. Entry numbers count open vertices from 1 and labels count
// down from n_behaviours; open and closed vertices together number at most n_behaviours, so every
// label exceeds every entry number.
class StrongComponents {
public:
    StrongComponents(const BipartiteView& graph, const Structure& found, StopFlag stop, Index label,
                     Indices& component)
        : graph_(graph), found_(found), stop_(stop), label_(label), component_(component) {}

    // False when the flag was raised.
    bool run() {
        for (Index user = 0; user < graph_.n_users; ++user) {
            const Index behaviour = found_.behaviour_of_user[at(user)];
            if (component_[at(behaviour)] == 0 && !search(behaviour)) return false;
        }
        return true;
    }

private:
    struct Frame {
        Index behaviour, edge, end, entry;
    };

    void enter(Index behaviour) {
        const Index user = found_.user_of_behaviour[at(behaviour)];
        const Index begin = graph_.indptr[at(user)], end = graph_.indptr[at(user) + 1];
        for (Index edge = begin; edge < end; ++edge)
            prefetch(&component_[at(graph_.indices[at(edge)])]);
        component_[at(behaviour)] = ++n_open_;
        path_.push_back({behaviour, begin, end, n_open_});
    }

    bool search(Index start) {
        enter(start);
        while (!path_.empty()) {
            Frame& frame = path_.back();
            Index low = component_[at(frame.behaviour)];
            Index entered = -1;
            while (frame.edge < frame.end) {
                const Index next = graph_.indices[at(frame.edge)];
                const Index seen = component_[at(next)];
                if (seen == 0) {
                    entered =
                        next;  // the edge is read again when `next` is done, for its low number
                    break;
                }
                low = std::min(low, seen);
                ++frame.edge;
            }
            component_[at(frame.behaviour)] = low;
            if (entered >= 0) {
                if ((++ticks_ & 4095U) == 0 && stop_.raised()) return false;
                enter(entered);
                continue;
            }
            if (low == frame.entry) {
                close(frame.behaviour, low);
            } else {
                open_.push_back(frame.behaviour);
            }
            path_.pop_back();
        }
        return true;
    }

    void close(Index root, Index low) {
        while (!open_.empty() && component_[at(open_.back())] >= low) {
            component_[at(open_.back())] = label_;
            open_.pop_back();
            --n_open_;
        }
        component_[at(root)] = label_;
        --n_open_;
        --label_;
    }

    const BipartiteView& graph_;
    const Structure& found_;
    StopFlag stop_;
    Index label_;
    Indices& component_;
    std::vector<Frame> path_;
    Indices open_;  // done but in no closed component, in order of entry
    Index n_open_ = 0;
    std::uint32_t ticks_ = 0;
};

}  // namespace

void find_blocks(const BipartiteView& graph, const Transposed& by_behaviour, StopFlag stop,
                 Structure& found) {
    Indices component(at(graph.n_behaviours), 0);
    Index label = graph.n_behaviours;
    if (graph.n_behaviours > graph.n_users) {
        const Index mark = -1;
        if (mark_unneeded(graph, by_behaviour, found, stop, mark, component)) {
            found.stopped = true;
            return;
        }
        label = label_connected(graph, by_behaviour, found, stop, mark, label, component);
    }
    if (stop.raised() || !StrongComponents(graph, found, stop, label, component).run()) {
        found.stopped = true;
        return;
    }
    Indices block_of_component(at(graph.n_behaviours) + 1,
                               -1);  // 0 is the component of behaviours without an edge
    found.block_of_user.resize(at(graph.n_users));
    for (Index user = 0; user < graph.n_users; ++user) {
        Index& block = block_of_component[at(component[at(found.behaviour_of_user[at(user)])])];
        if (block < 0) block = found.n_blocks++;
        found.block_of_user[at(user)] = block;
    }
    for (Index& value : component) value = block_of_component[at(value)];
    found.block_of_behaviour = std::move(component);
}

}  // namespace anonymatch::structure_parts
