#include "structure/structure.hpp"

#include <algorithm>
#include <cassert>
#include <memory>

#include "structure/structure_parts.hpp"

namespace anonymatch {

namespace structure_parts {

namespace {

constexpr Index bucket_size = 1 << 14;  // rows that fit the cache together

}  // namespace

const Transposed& ByBehaviour::get() {
    if (made_) return *made_;
    Transposed& result = made_.emplace();
    const std::size_t n_rows = at(graph_.n_behaviours);
    make_room(result.indptr, n_rows + 1);
    result.indptr.assign(n_rows + 1, 0);
    for (const Index behaviour : graph_.indices) ++result.indptr[at(behaviour) + 1];
    for (std::size_t b = 0; b < n_rows; ++b) result.indptr[b + 1] += result.indptr[b];
    make_room(result.indices, graph_.indices.size());
    result.indices.resize(graph_.indices.size());
    Indices next(result.indptr.begin(), result.indptr.end() - 1);
    if (graph_.n_behaviours < 8 * bucket_size) {
        for (Index user = 0; user < graph_.n_users; ++user) {
            for (const Index behaviour : row_of(graph_, user)) {
                result.indices[at(next[at(behaviour)]++)] = user;
            }
        }
        return result;
    }
    // Straight to the end every write would miss the cache; by way of buckets of neighbouring
    // behaviours none does.
    struct Entry {
        Index behaviour, user;
    };
    const std::size_t n_edges = graph_.indices.size();
    const auto entries = std::make_unique_for_overwrite<Entry[]>(n_edges);
    std::vector<std::size_t> bucket_next;
    for (std::size_t b = 0; b < n_rows; b += at(bucket_size))
        bucket_next.push_back(at(result.indptr[b]));
    for (Index user = 0; user < graph_.n_users; ++user) {
        for (const Index behaviour : row_of(graph_, user)) {
            entries[bucket_next[at(behaviour / bucket_size)]++] = {behaviour, user};
        }
    }
    for (std::size_t i = 0; i < n_edges; ++i) {
        result.indices[at(next[at(entries[i].behaviour)]++)] = entries[i].user;
    }
    return result;
}

// Let S be the users that alternating paths reach from an unmatched user u of a maximum matching.
// Every neighbour of S is matched (otherwise the matching could grow) and to a user of S, so |N(S)|
// = |S| - 1. No proper subset is short: one without u is matched; one with u that is short has only
// the partners of its other users as neighbours, so it is closed under alternating paths and
// contains S.
//
// Searches are cut off at a size that doubles from round to round; in the first round in which one
// ends, every witness of at most that size has been seen, so the smallest of the round is the
// smallest of all.
void find_witness(const BipartiteView& graph, CancelFlag cancel, Structure& found) {
    Indices unmatched;
    for (Index user = 0; user < graph.n_users; ++user) {
        if (found.behaviour_of_user[at(user)] < 0) unmatched.push_back(user);
    }
    Indices seen;
    make_room(seen, at(graph.n_behaviours));
    seen.assign(at(graph.n_behaviours), -1);
    Indices users, behaviours;
    Index search = 0;
    // Every search takes some work, so the upper limit keeps their numbers in range as well.
    std::int64_t work_left = std::min<std::int64_t>(
        2 * static_cast<std::int64_t>(graph.indices.size() + at(graph.n_users)) + (1 << 16),
        1 << 30);

    // False when the witness of `start` has more users than `limit`.
    const auto reach = [&](Index start, std::size_t limit) {
        ++search;
        users.assign(1, start);
        behaviours.clear();
        for (std::size_t head = 0; head < users.size(); ++head) {
            if (head + 8 < users.size()) prefetch(&graph.indptr[at(users[head + 8])]);
            if (head + 4 < users.size()) prefetch(row_of(graph, users[head + 4]).data());
            --work_left;
            for (const Index behaviour : row_of(graph, users[head])) {
                --work_left;
                if (seen[at(behaviour)] == search) continue;
                if (users.size() >= limit) return false;
                seen[at(behaviour)] = search;
                behaviours.push_back(behaviour);
                users.push_back(found.user_of_behaviour[at(behaviour)]);
            }
        }
        return true;
    };

    for (std::size_t limit = 1; found.witness_users.empty() && work_left > 0; limit *= 4) {
        std::size_t round_limit = limit;
        for (const Index user : unmatched) {
            if (work_left <= 0 || round_limit == 0 || cancel.raised()) break;
            if (!reach(user, round_limit)) continue;
            round_limit = users.size() - 1;
            found.witness_users = users;
            found.witness_behaviours = behaviours;
        }
        if (cancel.raised()) {
            found.stopped = true;
            return;
        }
    }
    if (found.witness_users.empty()) {
        reach(unmatched.front(), at(graph.n_users) + 1);
        found.witness_users = std::move(users);
        found.witness_behaviours = std::move(behaviours);
    }
    std::sort(found.witness_users.begin(), found.witness_users.end());
    std::sort(found.witness_behaviours.begin(), found.witness_behaviours.end());
}

#ifndef NDEBUG
bool is_canonical(const BipartiteView& graph) {
    if (graph.n_users < 0 || graph.n_behaviours < 0) return false;
    if (graph.indptr.size() != at(graph.n_users) + 1 || graph.indptr[0] != 0) return false;
    if (at(graph.indptr.back()) != graph.indices.size()) return false;
    for (Index user = 0; user < graph.n_users; ++user) {
        if (graph.indptr[at(user)] > graph.indptr[at(user) + 1]) return false;
        Index last = -1;
        for (const Index behaviour : row_of(graph, user)) {
            if (behaviour <= last || behaviour >= graph.n_behaviours) return false;
            last = behaviour;
        }
    }
    return true;
}
#endif

}  // namespace structure_parts

Structure find_structure(const BipartiteView& graph, CancelFlag cancel) {
    using namespace structure_parts;
    assert(is_canonical(graph));
    Structure found;
    ByBehaviour by_behaviour(graph);
    find_matching(graph, by_behaviour, cancel, found);
    if (found.stopped) return found;
    if (found.n_matched == graph.n_users) {
        find_blocks(graph, by_behaviour, cancel, found);
    } else {
        find_witness(graph, cancel, found);
    }
    return found;
}

}  // namespace anonymatch
