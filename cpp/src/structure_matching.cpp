// Maximum matching: a Karp-Sipser start (vertices with one choice left are matched first, which is
// never a mistake; then those with few), depth-first phases with lookahead (Pothen and Fan,
// "Computing the block triangular form of a sparse matrix", 1990; scan order alternates by phase as
// in Duff, Kaya and Ucar, 2011), and, if a few of these do not end it, Hopcroft-Karp phases, which
// bound the whole by O(edges * sqrt(users)).
#include <algorithm>

#include "structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

// Depth-first phases are the faster ones on nearly all graphs but have no good bound; more than
// these are rare.
constexpr int depth_first_phases = 12;
constexpr Index never = -1;

class Matcher {
public:
    Matcher(const BipartiteView& graph, const Transposed& by_behaviour, StopFlag stop,
            Structure& found)
        : graph_(graph),
          by_behaviour_(by_behaviour),
          stop_(stop),
          found_(found),
          partner_of_user_(found.behaviour_of_user),
          partner_of_behaviour_(found.user_of_behaviour) {
        partner_of_user_.assign(at(graph.n_users), never);
        partner_of_behaviour_.assign(at(graph.n_behaviours), never);
    }

    void run() {
        start_greedily();
        collect_unmatched();
        lookahead_.assign(graph_.indptr.begin(), graph_.indptr.end() - 1);
        next_edge_.resize(at(graph_.n_users));
        visited_.assign(at(graph_.n_behaviours), never);
        bool more = !unmatched_.empty();
        for (int phase = 0; more && phase < depth_first_phases && !stopped(); ++phase) {
            more = depth_first_phase(phase) && !unmatched_.empty();
        }
        while (more && !stopped()) more = shortest_path_phase() && !unmatched_.empty();
        found_.n_matched = graph_.n_users - n_without_edge_ - static_cast<Index>(unmatched_.size());
    }

private:
    bool stopped() {
        if (stop_.raised()) found_.stopped = true;
        return found_.stopped;
    }

    // The flag is looked at once in 4096 calls: often enough, and free.
    bool stopped_now_and_then() { return (++ticks_ & 4095U) == 0 ? stopped() : found_.stopped; }

    void collect_unmatched() {
        for (Index user = 0; user < graph_.n_users; ++user) {
            if (partner_of_user_[at(user)] == never && !row_of(graph_, user).empty())
                unmatched_.push_back(user);
            if (row_of(graph_, user).empty()) ++n_without_edge_;
        }
    }

    // choices_of_* count the unmatched neighbours of unmatched vertices; of matched vertices they
    // are <= 0.
    void start_greedily() {
        choices_of_user_.resize(at(graph_.n_users));
        choices_of_behaviour_.resize(at(graph_.n_behaviours));
        for (Index behaviour = 0; behaviour < graph_.n_behaviours; ++behaviour) {
            const auto n = static_cast<Index>(by_behaviour_.row(behaviour).size());
            choices_of_behaviour_[at(behaviour)] = n;
            if (n == 1) single_.push_back(~behaviour);
        }
        for (Index user = 0; user < graph_.n_users; ++user) {
            const auto n = static_cast<Index>(row_of(graph_, user).size());
            choices_of_user_[at(user)] = n;
            if (n == 1) single_.push_back(user);
        }
        settle_few();
        for (Index user = 0; user < graph_.n_users; ++user) {
            if (stopped_now_and_then()) return;
            if (choices_of_user_[at(user)] <= 0) continue;
            match(user, scarcest(row_of(graph_, user), choices_of_behaviour_));
            settle_few();
        }
        single_ = pair_ = choices_of_user_ = choices_of_behaviour_ = Indices();
    }

    // Matches vertices with one choice left while there are any, then one that came down to two,
    // and so on.
    void settle_few() {
        while (!single_.empty() || !pair_.empty()) {
            if (stopped_now_and_then()) return;
            Indices& from = single_.empty() ? pair_ : single_;
            const Index vertex = from.back();
            from.pop_back();
            if (vertex >= 0) {
                if (choices_of_user_[at(vertex)] > 0) {
                    match(vertex, scarcest(row_of(graph_, vertex), choices_of_behaviour_));
                }
            } else if (choices_of_behaviour_[at(~vertex)] > 0) {
                match(scarcest(by_behaviour_.row(~vertex), choices_of_user_), ~vertex);
            }
        }
    }

    static Index scarcest(std::span<const Index> row, const Indices& choices) {
        Index best = never;
        auto fewest = static_cast<std::uint32_t>(-1);
        for (const Index vertex : row) {
            // A matched vertex has no choices; less one, as unsigned, that is more than any other
            // has.
            const std::uint32_t n =
                static_cast<std::uint32_t>(std::max(choices[at(vertex)], 0)) - 1U;
            if (n < fewest) {
                fewest = n;
                best = vertex;
            }
        }
        return best;
    }

    void match(Index user, Index behaviour) {
        partner_of_user_[at(user)] = behaviour;
        partner_of_behaviour_[at(behaviour)] = user;
        choices_of_user_[at(user)] = 0;
        choices_of_behaviour_[at(behaviour)] = 0;
        for (const Index other : row_of(graph_, user)) {
            const Index left = --choices_of_behaviour_[at(other)];
            if (left == 1) single_.push_back(~other);
            if (left == 2) pair_.push_back(~other);
        }
        for (const Index other : by_behaviour_.row(behaviour)) {
            const Index left = --choices_of_user_[at(other)];
            if (left == 1) single_.push_back(other);
            if (left == 2) pair_.push_back(other);
        }
    }

    // An unmatched behaviour of `user`, or never. What is matched stays matched, so no edge is
    // looked at twice.
    Index look_ahead(Index user) {
        Index& edge = lookahead_[at(user)];
        const Index end = graph_.indptr[at(user) + 1];
        for (; edge < end; ++edge) {
            const Index behaviour = graph_.indices[at(edge)];
            if (partner_of_behaviour_[at(behaviour)] == never) return behaviour;
        }
        return never;
    }

    // Gives every user on the path the behaviour through which the next one was entered, and the
    // last `behaviour`.
    void flip_path(Index behaviour) {
        for (std::size_t i = path_.size(); i-- > 0;) {
            const Index user = path_[i];
            const Index freed = partner_of_user_[at(user)];
            partner_of_user_[at(user)] = behaviour;
            partner_of_behaviour_[at(behaviour)] = user;
            behaviour = freed;
        }
    }

    // A maximal set of disjoint augmenting paths, one search an unmatched user. False when it found
    // none.
    bool depth_first_phase(int phase) {
        std::size_t kept = 0;
        for (const Index user : unmatched_) {
            if (found_.stopped || !search_deep(user, phase)) unmatched_[kept++] = user;
        }
        const bool grew = kept < unmatched_.size();
        unmatched_.resize(kept);
        return grew;
    }

    bool search_deep(Index start, int phase) {
        const bool forward = phase % 2 == 0;
        const auto enter = [&](Index user) {
            path_.push_back(user);
            next_edge_[at(user)] = forward ? graph_.indptr[at(user)] : graph_.indptr[at(user) + 1];
        };
        path_.clear();
        enter(start);
        Index free = look_ahead(start);
        while (free == never && !path_.empty()) {
            if (stopped_now_and_then()) return false;
            const Index user = path_.back();
            const Index begin = graph_.indptr[at(user)], end = graph_.indptr[at(user) + 1];
            Index edge = next_edge_[at(user)];
            Index entered = never;
            while (edge != (forward ? end : begin)) {
                const Index behaviour = graph_.indices[at(forward ? edge++ : --edge)];
                if (visited_[at(behaviour)] == phase) continue;
                visited_[at(behaviour)] = phase;
                entered = partner_of_behaviour_[at(behaviour)];
                break;
            }
            next_edge_[at(user)] = edge;
            if (entered == never) {
                path_.pop_back();
            } else {
                enter(entered);
                free = look_ahead(entered);
            }
        }
        if (free == never) return false;
        visited_[at(free)] = phase;
        flip_path(free);
        return true;
    }

    // Hopcroft and Karp, 1973: a maximal set of disjoint shortest augmenting paths. False when
    // there is none.
    bool shortest_path_phase() {
        level_.assign(at(graph_.n_users), never);
        Indices& queue = path_;
        queue.assign(unmatched_.begin(), unmatched_.end());
        for (const Index user : queue) level_[at(user)] = 0;
        Index last_level = graph_.n_users;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const Index user = queue[head];
            if (stopped_now_and_then()) return false;
            if (level_[at(user)] > last_level) break;
            if (look_ahead(user) != never) last_level = level_[at(user)];
            if (level_[at(user)] == last_level) continue;
            for (const Index behaviour : row_of(graph_, user)) {
                const Index next = partner_of_behaviour_[at(behaviour)];
                if (level_[at(next)] != never) continue;
                level_[at(next)] = level_[at(user)] + 1;
                queue.push_back(next);
            }
        }
        if (last_level == graph_.n_users) return false;
        std::size_t kept = 0;
        for (const Index user : unmatched_) {
            if (found_.stopped || !search_level(user, last_level)) unmatched_[kept++] = user;
        }
        unmatched_.resize(kept);
        return true;
    }

    bool search_level(Index start, Index last_level) {
        path_.clear();
        path_.push_back(start);
        next_edge_[at(start)] = graph_.indptr[at(start)];
        while (!path_.empty()) {
            if (stopped_now_and_then()) return false;
            const Index user = path_.back();
            const Index level = level_[at(user)];
            if (level == last_level) {
                const Index free = look_ahead(user);
                level_[at(user)] =
                    never;  // used or exhausted: no path of this phase comes here again
                if (free != never) {
                    for (const Index used : path_) level_[at(used)] = never;
                    flip_path(free);
                    return true;
                }
                path_.pop_back();
                continue;
            }
            Index& edge = next_edge_[at(user)];
            Index entered = never;
            while (edge < graph_.indptr[at(user) + 1]) {
                const Index next = partner_of_behaviour_[at(graph_.indices[at(edge++)])];
                if (level_[at(next)] ==
                    level + 1) {  // matched: users with a free behaviour end the levels
                    entered = next;
                    break;
                }
            }
            if (entered == never) {
                level_[at(user)] = never;
                path_.pop_back();
            } else {
                path_.push_back(entered);
                next_edge_[at(entered)] = graph_.indptr[at(entered)];
            }
        }
        return false;
    }

    const BipartiteView& graph_;
    const Transposed& by_behaviour_;
    StopFlag stop_;
    Structure& found_;
    Indices& partner_of_user_;
    Indices& partner_of_behaviour_;
    Indices choices_of_user_, choices_of_behaviour_;
    Indices single_, pair_;  // vertices that came down to one or two choices; behaviours as ~b
    Indices unmatched_, lookahead_, next_edge_, visited_, path_, level_;
    Index n_without_edge_ = 0;
    std::uint32_t ticks_ = 0;
};

}  // namespace

void find_matching(const BipartiteView& graph, const Transposed& by_behaviour, StopFlag stop,
                   Structure& found) {
    Matcher(graph, by_behaviour, stop, found).run();
}

}  // namespace anonymatch::structure_parts
