// Maximum matching, in three steps, each for what the one before left:
//   a greedy start: first fit if that is nearly enough (graphs in the order of time), else Karp and
//   Sipser's rule (vertices with one choice left are matched first, which is never a mistake; then
//   those with two); a breadth-first search for an augmenting path from each unmatched user, while
//   that takes few scans in all; phases of Hopcroft and Karp, which bound the whole by O(edges *
//   sqrt(users)).
#include <algorithm>
#include <array>

#include "structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

// Single searches are the fastest on nearly all graphs but have no good bound; their share, in
// scans.
constexpr std::int64_t scans_of_single_searches = 8;
constexpr std::size_t n_lanes = 16;
constexpr Index never = -1;

class Matcher {
public:
    Matcher(const BipartiteView& graph, ByBehaviour& by_behaviour, StopFlag stop, Structure& found)
        : graph_(graph),
          by_behaviour_(by_behaviour),
          stop_(stop),
          found_(found),
          partner_of_user_(found.behaviour_of_user),
          partner_of_behaviour_(found.user_of_behaviour) {
        make_room(partner_of_user_, at(graph.n_users));
        make_room(partner_of_behaviour_, at(graph.n_behaviours));
        partner_of_user_.assign(at(graph.n_users), never);
        partner_of_behaviour_.assign(at(graph.n_behaviours), never);
    }

    void run() {
        if (!fit_first()) start_greedily();
        for (Index user = 0; user < graph_.n_users; ++user) {
            if (partner_of_user_[at(user)] == never) unmatched_.push_back(user);
        }
        make_room(parent_, at(graph_.n_behaviours));
        parent_.assign(at(graph_.n_behaviours), never);
        search_from_each();
        if (!unmatched_.empty()) {
            lookahead_.assign(graph_.indptr.begin(), graph_.indptr.end() - 1);
            next_edge_.resize(at(graph_.n_users));
            while (!stopped() && shortest_path_phase()) {
            }
        }
        found_.n_matched = graph_.n_users - n_hopeless_ - static_cast<Index>(unmatched_.size());
    }

private:
    bool stopped() {
        if (stop_.raised()) found_.stopped = true;
        return found_.stopped;
    }

    // The flag is looked at once in 4096 calls: often enough, and free.
    bool stopped_now_and_then() { return (++ticks_ & 4095U) == 0 ? stopped() : found_.stopped; }

    // Gives every user the first behaviour left. False, and undone, if that leaves out more than a
    // few users.
    bool fit_first() {
        Index n_missed = 0;
        for (Index user = 0; user < graph_.n_users && n_missed <= graph_.n_users / 256; ++user) {
            Index& partner = partner_of_user_[at(user)];
            for (const Index behaviour : row_of(graph_, user)) {
                if (partner_of_behaviour_[at(behaviour)] != never) continue;
                partner = behaviour;
                partner_of_behaviour_[at(behaviour)] = user;
                break;
            }
            n_missed += partner == never;
        }
        if (n_missed <= graph_.n_users / 256) return true;
        std::fill(partner_of_user_.begin(), partner_of_user_.end(), never);
        std::fill(partner_of_behaviour_.begin(), partner_of_behaviour_.end(), never);
        return false;
    }

    // One side of the graph as the greedy start sees it. `choices` is at least the number of
    // unmatched neighbours of an unmatched vertex, and not positive for a matched one.
    struct Side {
        std::span<const Index> indptr, indices;
        Indices& partner;
        Indices choices;

        [[nodiscard]] std::span<const Index> row(Index vertex) const noexcept {
            return row_of(indptr, indices, vertex);
        }
    };

    // A vertex on its way to a partner. Almost every memory access of the greedy start misses the
    // cache, so many vertices are under way at once: each step does what the last step's prefetch
    // made cheap. Choices are stale by a few matches, which costs little quality.
    struct Lane {
        enum class Step : std::uint8_t {
            idle,
            locate,
            fetch,
            choose,
            locate_partner,
            fetch_partner,
            tell
        };
        Step step = Step::idle;
        std::uint8_t side = 0;
        Index vertex = never, partner = never;
    };

    void start_greedily() {
        const Transposed& transposed = by_behaviour_.get();
        std::array<Side, 2> sides{
            Side{graph_.indptr, graph_.indices, partner_of_user_, {}},
            Side{transposed.indptr, transposed.indices, partner_of_behaviour_, {}}};
        for (Side& side : sides) {
            make_room(side.choices, side.partner.size());
            side.choices.resize(side.partner.size());
            for (std::size_t v = 0; v < side.partner.size(); ++v) {
                side.choices[v] = side.indptr[v + 1] - side.indptr[v];
                if (side.choices[v] == 1) single_.push_back(encode(side, sides, v));
            }
        }
        // Matching a vertex with one choice is never a mistake, so these go first, by themselves.
        run_lanes(sides, graph_.n_users);
        run_lanes(sides, 0);
        single_ = pair_ = Indices();
    }

    // Users as they are, behaviours as ~b.
    static Index encode(const Side& side, const std::array<Side, 2>& sides, std::size_t vertex) {
        const auto index = static_cast<Index>(vertex);
        return &side == sides.data() ? index : ~index;
    }

    // Matches vertices with one choice, else one that came down to two, else the users from
    // `next_user` on.
    void run_lanes(std::array<Side, 2>& sides, Index next_user) {
        std::array<Lane, n_lanes> lanes;
        std::size_t n_idle = 0;
        while (n_idle < n_lanes) {
            n_idle = 0;
            for (Lane& lane : lanes) {
                if (lane.step == Lane::Step::idle && !take(lane, sides, next_user)) {
                    ++n_idle;
                } else {
                    advance(lane, sides);
                }
            }
            if (stopped_now_and_then()) return;
        }
    }

    bool take(Lane& lane, const std::array<Side, 2>& sides, Index& next_user) {
        Index vertex = never;
        if (!single_.empty()) {
            vertex = single_.back();
            single_.pop_back();
        } else if (!pair_.empty()) {
            vertex = pair_.back();
            pair_.pop_back();
        } else if (next_user < graph_.n_users) {
            vertex = next_user++;
        } else {
            return false;
        }
        lane.side = vertex < 0;
        lane.vertex = vertex < 0 ? ~vertex : vertex;
        lane.step = Lane::Step::locate;
        prefetch(&sides[lane.side].indptr[at(lane.vertex)]);
        prefetch(&sides[lane.side].choices[at(lane.vertex)]);
        return true;
    }

    void advance(Lane& lane, std::array<Side, 2>& sides) {
        Side& mine = sides[lane.side];
        Side& others = sides[1 - lane.side];
        switch (lane.step) {
            case Lane::Step::idle:
                break;
            case Lane::Step::locate:
                prefetch_row(mine, lane.vertex);
                lane.step =
                    mine.choices[at(lane.vertex)] > 0 ? Lane::Step::fetch : Lane::Step::idle;
                break;
            case Lane::Step::fetch:
                for (const Index other : mine.row(lane.vertex))
                    prefetch(&others.choices[at(other)]);
                lane.step = Lane::Step::choose;
                break;
            case Lane::Step::choose:
                lane.step = Lane::Step::idle;
                if (mine.choices[at(lane.vertex)] <= 0) break;
                lane.partner = scarcest(mine.row(lane.vertex), others.choices);
                if (lane.partner == never) break;
                mine.partner[at(lane.vertex)] = lane.partner;
                others.partner[at(lane.partner)] = lane.vertex;
                mine.choices[at(lane.vertex)] = others.choices[at(lane.partner)] = 0;
                prefetch(&others.indptr[at(lane.partner)]);
                tell(mine.row(lane.vertex), others, lane.side == 0);
                lane.step = Lane::Step::locate_partner;
                break;
            case Lane::Step::locate_partner:
                prefetch_row(others, lane.partner);
                lane.step = Lane::Step::fetch_partner;
                break;
            case Lane::Step::fetch_partner:
                for (const Index other : others.row(lane.partner))
                    prefetch(&mine.choices[at(other)]);
                lane.step = Lane::Step::tell;
                break;
            case Lane::Step::tell:
                tell(others.row(lane.partner), mine, lane.side == 1);
                lane.step = Lane::Step::idle;
                break;
        }
    }

    static void prefetch_row(const Side& side, Index vertex) {
        const auto row = side.row(vertex);
        prefetch(row.data());
        prefetch(row.data() + std::min<std::size_t>(row.size(), 16));
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

    // The vertices of `row` have lost a choice.
    void tell(std::span<const Index> row, Side& side, bool behaviours) {
        for (const Index vertex : row) {
            const Index left = --side.choices[at(vertex)];
            if (left == 1) single_.push_back(behaviours ? ~vertex : vertex);
            if (left == 2) pair_.push_back(behaviours ? ~vertex : vertex);
        }
    }

    // One search a user, until the share of work is used up. What a failed search reached is in no
    // augmenting path, now or later (Berge; the tree is Hungarian), and stays marked; a successful
    // one takes its marks back.
    void search_from_each() {
        std::int64_t work_left =
            scans_of_single_searches * static_cast<std::int64_t>(graph_.indices.size());
        std::size_t next = 0;
        for (; next < unmatched_.size() && work_left > 0 && !stopped_now_and_then(); ++next) {
            if (!search(unmatched_[next], work_left)) ++n_hopeless_;
        }
        unmatched_.erase(unmatched_.begin(),
                         unmatched_.begin() + static_cast<std::ptrdiff_t>(next));
    }

    bool search(Index start, std::int64_t& work_left) {
        reached_.clear();
        path_.assign(1, start);
        for (std::size_t head = 0; head < path_.size(); ++head) {
            prefetch_ahead(head);
            const Index user = path_[head];
            const auto row = row_of(graph_, user);
            work_left -= static_cast<std::int64_t>(row.size());
            for (const Index behaviour : row) {
                if (parent_[at(behaviour)] != never) continue;
                parent_[at(behaviour)] = user;
                reached_.push_back(behaviour);
                const Index partner = partner_of_behaviour_[at(behaviour)];
                if (partner == never) {
                    flip_to(behaviour);
                    for (const Index marked : reached_) parent_[at(marked)] = never;
                    return true;
                }
                prefetch(&graph_.indptr[at(partner)]);
                path_.push_back(partner);
            }
        }
        return false;
    }

    void prefetch_ahead(std::size_t head) const {
        if (head + 8 < path_.size()) prefetch(row_of(graph_, path_[head + 8]).data());
        if (head + 4 < path_.size()) {
            for (const Index behaviour : row_of(graph_, path_[head + 4])) {
                prefetch(&parent_[at(behaviour)]);
            }
        }
    }

    // Gives `behaviour` to the user who reached it, that user's to the one before, and so on.
    void flip_to(Index behaviour) {
        while (behaviour != never) {
            const Index user = parent_[at(behaviour)];
            const Index freed = partner_of_user_[at(user)];
            partner_of_user_[at(user)] = behaviour;
            partner_of_behaviour_[at(behaviour)] = user;
            behaviour = freed;
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
                if (parent_[at(behaviour)] != never) continue;  // reached by a failed search
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
    ByBehaviour& by_behaviour_;
    StopFlag stop_;
    Structure& found_;
    Indices& partner_of_user_;
    Indices& partner_of_behaviour_;
    Indices single_, pair_;   // vertices that came down to one or two choices; behaviours as ~b
    Indices unmatched_;       // users who may yet be matched
    Index n_hopeless_ = 0;    // users who cannot
    Indices path_, reached_;  // users and behaviours of a search
    Indices parent_;          // of a behaviour that is marked: the user who reached it
    Indices lookahead_, next_edge_, level_;
    std::uint32_t ticks_ = 0;
};

}  // namespace

void find_matching(const BipartiteView& graph, ByBehaviour& by_behaviour, StopFlag stop,
                   Structure& found) {
    Matcher(graph, by_behaviour, stop, found).run();
}

}  // namespace anonymatch::structure_parts
