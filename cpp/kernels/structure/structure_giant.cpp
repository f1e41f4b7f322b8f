// One giant strong component, as large random graphs have: what a vertex reaches, by a breadth-first
// search, and what reaches it, by sweeps over all users that end when one changes nothing. Both wait
// for memory far less than the depth-first search that does the rest, and need no transposed graph.
#include <algorithm>

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

constexpr Index least_users = 1 << 16;    // below, everything is in the cache anyway
constexpr std::size_t least_width = 512;  // of a level; on narrow graphs the search gains nothing
constexpr int first_levels = 24;          // that may be narrower
constexpr int most_sweeps = 32;
constexpr std::size_t ahead = 8;

// Marks the behaviours that alternate steps from `start` lead to: from a behaviour to its partner,
// from there along the partner's row. False if they are few, or far away from each other.
bool search(const BipartiteView& graph, const Indices& partner, Index start, Bits& reached) {
    Indices queue;
    make_room(queue, at(graph.n_behaviours));
    queue.push_back(start);
    reached.set(start);
    std::size_t level_end = 1;
    int level = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        if (head == level_end) {
            if (++level > first_levels && queue.size() - head < least_width &&
                queue.size() < at(graph.n_behaviours) / 2) {
                return false;
            }
            level_end = queue.size();
        }
        if (head + 3 * ahead < queue.size()) prefetch(&partner[at(queue[head + 3 * ahead])]);
        if (head + 2 * ahead < queue.size())
            prefetch(&graph.indptr[at(partner[at(queue[head + 2 * ahead])])]);
        if (head + ahead < queue.size()) {
            const auto row = row_of(graph, partner[at(queue[head + ahead])]);
            prefetch(row.data());
            if (!row.empty()) prefetch(&row.back());
        }
        for (const Index behaviour : row_of(graph, partner[at(queue[head])])) {
            if (reached.test(behaviour)) continue;
            reached.set(behaviour);
            queue.push_back(behaviour);
        }
    }
    return queue.size() >= at(graph.n_behaviours) / 8;
}

// Marks the behaviours that lead to a marked one, of those reached: in a graph with a giant component
// a sweep meets ever more of its own marks, so few sweeps do. False if it would take many.
bool sweep(const BipartiteView& graph, const Indices& behaviour_of_user, const Bits& reached,
           Bits& leads) {
    for (int round = 0; round < most_sweeps; ++round) {
        bool changed = false;
        for (Index user = 0; user < graph.n_users; ++user) {
            const Index own = behaviour_of_user[at(user)];
            if (leads.test(own) || !reached.test(own)) continue;
            for (const Index behaviour : row_of(graph, user)) {
                if (!leads.test(behaviour)) continue;
                leads.set(own);
                changed = true;
                break;
            }
        }
        if (!changed) return true;
    }
    return false;
}

}  // namespace

bool label_giant(const BipartiteView& graph, const Structure& found, Index label,
                 Indices& component) {
    if (graph.n_users < least_users || graph.n_users != graph.n_behaviours) return false;
    // The giant component, if there is one, prefers users with many edges.
    Index pivot = 0;
    for (Index i = 1; i < 64; ++i) {
        const Index user = graph.n_users / 64 * i;
        if (row_of(graph, user).size() > row_of(graph, pivot).size()) pivot = user;
    }
    const Index start = found.behaviour_of_user[at(pivot)];
    Bits reached(graph.n_behaviours), leads(graph.n_behaviours);
    if (!search(graph, found.user_of_behaviour, start, reached)) return false;
    leads.set(start);
    if (!sweep(graph, found.behaviour_of_user, reached, leads)) return false;
    for (Index behaviour = 0; behaviour < graph.n_behaviours; ++behaviour) {
        if (leads.test(behaviour)) component[at(behaviour)] = label;
    }
    return true;
}

}  // namespace anonymatch::structure_parts
