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

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

// The part H: finds it, then labels its connected components.
class SparePart {
public:
    SparePart(const BipartiteView& graph, const Transposed& by_behaviour, const Structure& found,
              CancelFlag cancel, Indices& component)
        : graph_(graph),
          by_behaviour_(by_behaviour),
          found_(found),
          cancel_(cancel),
          component_(component),
          users_of_part_(at(graph.n_users), outside) {}

    // Labels count down from `label`; it becomes the next one. False when the flag was raised.
    bool run(Index& label) {
        Indices unmatched;
        for (Index behaviour = 0; behaviour < graph_.n_behaviours; ++behaviour) {
            if (found_.user_of_behaviour[at(behaviour)] < 0 &&
                !by_behaviour_.row(behaviour).empty()) {
                component_[at(behaviour)] = inside;
                unmatched.push_back(behaviour);
            }
        }
        behaviours_ = unmatched;
        while (!behaviours_.empty()) {
            if (cancel_.raised()) return false;
            find_users(outside, 1);
            behaviours_.clear();
            for (const Index user : users_) {
                behaviours_.push_back(found_.behaviour_of_user[at(user)]);
                component_[at(behaviours_.back())] = inside;
            }
        }
        // Every component of H has an unmatched behaviour.
        for (const Index start : unmatched) {
            if (component_[at(start)] != inside) continue;
            component_[at(start)] = label;
            behaviours_.assign(1, start);
            while (!behaviours_.empty()) {
                if (cancel_.raised()) return false;
                find_users(1, 2);
                find_behaviours(label);
            }
            --label;
        }
        return true;
    }

private:
    static constexpr Index inside = -1;
    static constexpr std::uint8_t outside = 0;
    static constexpr std::size_t ahead = 8;

    // The users next to behaviours_ who stand at `from`; they move to `to`.
    void find_users(std::uint8_t from, std::uint8_t to) {
        users_.clear();
        for (std::size_t i = 0; i < behaviours_.size(); ++i) {
            if (i + 2 * ahead < behaviours_.size()) {
                prefetch(&by_behaviour_.indptr[at(behaviours_[i + 2 * ahead])]);
            }
            if (i + ahead < behaviours_.size())
                prefetch(by_behaviour_.row(behaviours_[i + ahead]).data());
            for (const Index user : by_behaviour_.row(behaviours_[i])) {
                if (users_of_part_[at(user)] != from) continue;
                users_of_part_[at(user)] = to;
                users_.push_back(user);
            }
        }
    }

    // The behaviours of H next to users_ that have no label; they get `label`.
    void find_behaviours(Index label) {
        behaviours_.clear();
        for (std::size_t i = 0; i < users_.size(); ++i) {
            if (i + 2 * ahead < users_.size()) prefetch(&graph_.indptr[at(users_[i + 2 * ahead])]);
            if (i + ahead < users_.size()) prefetch(row_of(graph_, users_[i + ahead]).data());
            for (const Index behaviour : row_of(graph_, users_[i])) {
                if (component_[at(behaviour)] != inside) continue;
                component_[at(behaviour)] = label;
                behaviours_.push_back(behaviour);
            }
        }
    }

    const BipartiteView& graph_;
    const Transposed& by_behaviour_;
    const Structure& found_;
    CancelFlag cancel_;
    Indices& component_;
    std::vector<std::uint8_t>
        users_of_part_;  // outside H, 1 in H, 2 in a component that has its label
    Indices users_, behaviours_;
};

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
    StrongComponents(const BipartiteView& graph, const Structure& found, CancelFlag cancel,
                     Index label, Indices& component)
        : graph_(graph), found_(found), cancel_(cancel), label_(label), component_(component) {}

    // False when the flag was raised.
    bool run() {
        make_room(nodes_, at(graph_.n_behaviours));
        nodes_.resize(at(graph_.n_behaviours));
        for (Index behaviour = 0; behaviour < graph_.n_behaviours; ++behaviour) {
            const Index user = found_.user_of_behaviour[at(behaviour)];
            if (user < 0) continue;
            nodes_[at(behaviour)].component = component_[at(behaviour)];
            if (component_[at(behaviour)] != 0) continue;  // it will not be entered
            nodes_[at(behaviour)].begin = graph_.indptr[at(user)];
            nodes_[at(behaviour)].end = graph_.indptr[at(user) + 1];
        }
        for (Index user = 0; user < graph_.n_users; ++user) {
            const Index behaviour = found_.behaviour_of_user[at(user)];
            if (nodes_[at(behaviour)].component == 0 && !search(behaviour)) return false;
        }
        for (Index behaviour = 0; behaviour < graph_.n_behaviours; ++behaviour) {
            if (found_.user_of_behaviour[at(behaviour)] >= 0) {
                component_[at(behaviour)] = nodes_[at(behaviour)].component;
            }
        }
        return true;
    }

private:
    static constexpr Index rows_ahead = 16;  // to fetch; a bound, so that long rows stay linear

    // What a visit needs, side by side: the row of the partner, and the number.
    struct Node {
        Index begin, end, component;
    };
    struct Frame {
        Index behaviour, edge, end, entry;
    };

    void enter(Index behaviour) {
        Node& node = nodes_[at(behaviour)];
        for (Index edge = node.begin; edge < node.end; ++edge) {
            prefetch(&nodes_[at(graph_.indices[at(edge)])]);
        }
        node.component = ++n_open_;
        path_.push_back({behaviour, node.begin, node.end, n_open_});
    }

    bool search(Index start) {
        enter(start);
        while (!path_.empty()) {
            Frame& frame = path_.back();
            Index low = nodes_[at(frame.behaviour)].component;
            Index entered = -1;
            while (frame.edge < frame.end) {
                const Index next = graph_.indices[at(frame.edge)];
                const Index seen = nodes_[at(next)].component;
                if (seen == 0) {
                    entered =
                        next;  // the edge is read again when `next` is done, for its low number
                    break;
                }
                low = std::min(low, seen);
                ++frame.edge;
            }
            nodes_[at(frame.behaviour)].component = low;
            if (entered >= 0) {
                if ((++ticks_ & 4095U) == 0 && cancel_.raised()) return false;
                const Index last = std::min(frame.end, frame.edge + rows_ahead);
                for (Index edge = frame.edge + 1; edge < last; ++edge) {
                    const Node& later = nodes_[at(graph_.indices[at(edge)])];
                    if (later.component == 0) prefetch(graph_.indices.data() + later.begin);
                }
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
        while (!open_.empty() && nodes_[at(open_.back())].component >= low) {
            nodes_[at(open_.back())].component = label_;
            open_.pop_back();
            --n_open_;
        }
        nodes_[at(root)].component = label_;
        --n_open_;
        --label_;
    }

    const BipartiteView& graph_;
    const Structure& found_;
    CancelFlag cancel_;
    Index label_;
    Indices& component_;
    std::vector<Node> nodes_;
    std::vector<Frame> path_;
    Indices open_;  // done but in no closed component, in order of entry
    Index n_open_ = 0;
    std::uint32_t ticks_ = 0;
};

}  // namespace

void find_blocks(const BipartiteView& graph, ByBehaviour& by_behaviour, CancelFlag cancel,
                 Structure& found) {
    Indices component;
    make_room(component, at(graph.n_behaviours));
    component.assign(at(graph.n_behaviours), 0);
    Index label = graph.n_behaviours;
    if (graph.n_behaviours > graph.n_users &&
        !SparePart(graph, by_behaviour.get(), found, cancel, component).run(label)) {
        found.stopped = true;
        return;
    }
    if (label_giant(graph, found, label, component)) --label;
    if (cancel.raised() || !StrongComponents(graph, found, cancel, label, component).run()) {
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
