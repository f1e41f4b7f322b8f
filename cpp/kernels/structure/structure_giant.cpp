// One giant strong component, as large random graphs have: what a vertex reaches and is reached by,
// in two breadth-first searches. They wait for memory far less than the depth-first search that
// does the rest.
#include <algorithm>

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

constexpr Index least_users = 1 << 16;    // below, everything is in the cache anyway
constexpr std::size_t least_width = 512;  // of a level; on narrow graphs the searches gain nothing
constexpr int first_levels = 24;          // that may be narrower
constexpr std::size_t ahead = 8;

enum class Reach { small, narrow, wide };

// Marks in `reached` all columns that alternate steps from `start` lead to: from a column to its
// partner, from there along the partner's row. `partner` is of columns; rows are of partners.
Reach search(std::span<const Index> indptr, std::span<const Index> indices, const Indices& partner,
             Index start, std::vector<std::uint8_t>& reached) {
    Indices queue{partner[at(start)]};
    reached[at(start)] = 1;
    std::size_t level_end = 1;
    int level = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        if (head == level_end) {
            if (++level > first_levels && queue.size() - head < least_width &&
                queue.size() < reached.size() / 2) {
                return Reach::narrow;
            }
            level_end = queue.size();
        }
        if (head + 2 * ahead < queue.size()) prefetch(&indptr[at(queue[head + 2 * ahead])]);
        if (head + ahead < queue.size())
            prefetch(row_of(indptr, indices, queue[head + ahead]).data());
        for (const Index column : row_of(indptr, indices, queue[head])) {
            if (reached[at(column)] != 0) continue;
            reached[at(column)] = 1;
            queue.push_back(partner[at(column)]);
        }
    }
    return queue.size() < reached.size() / 8 ? Reach::small : Reach::wide;
}

}  // namespace

bool label_giant(const BipartiteView& graph, const Transposed& by_behaviour, const Structure& found,
                 Index label, Indices& component) {
    if (graph.n_users < least_users || graph.n_users != graph.n_behaviours) return false;
    // The giant component, if there is one, prefers vertices with many edges both ways.
    const auto edges_of = [&](Index user) {
        return row_of(graph, user).size() *
               by_behaviour.row(found.behaviour_of_user[at(user)]).size();
    };
    Index pivot = 0;
    for (Index i = 1; i < 64; ++i) {
        const Index user = graph.n_users / 64 * i;
        if (edges_of(user) > edges_of(pivot)) pivot = user;
    }
    std::vector<std::uint8_t> behaviours(at(graph.n_behaviours), 0), users(at(graph.n_users), 0);
    if (search(graph.indptr, graph.indices, found.user_of_behaviour,
               found.behaviour_of_user[at(pivot)], behaviours) != Reach::wide ||
        search(by_behaviour.indptr, by_behaviour.indices, found.behaviour_of_user, pivot, users) ==
            Reach::narrow) {
        return false;
    }
    for (Index user = 0; user < graph.n_users; ++user) {
        const Index behaviour = found.behaviour_of_user[at(user)];
        if (users[at(user)] != 0 && behaviours[at(behaviour)] != 0)
            component[at(behaviour)] = label;
    }
    return true;
}

}  // namespace anonymatch::structure_parts
