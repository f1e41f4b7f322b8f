// Maximum matching, in three steps, each for what the one before left:
//   a greedy start: first fit if that is nearly enough (graphs in the order of time), scarce
//   behaviours first if choices are many, else Karp and Sipser's rule (vertices with one choice left
//   are matched first, which is never a mistake; then those with two); a breadth-first search for an
//   augmenting path from each unmatched user, while that takes few scans in all; phases of Hopcroft
//   and Karp, which bound the whole by O(edges * sqrt(users)).
#include <algorithm>
#include <array>

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

constexpr std::size_t searches_from_both_ends = 64;
constexpr std::size_t n_targets = 4096;
constexpr std::size_t many_choices = 4;    // edges a user on average
constexpr std::int64_t scans_to_mend = 2;  // that searches after a simple start may take
constexpr Index least_scattered = 1 << 14;
constexpr std::size_t at_once = 16;  // steps of a search whose memory is fetched together
constexpr Index never = -1;

class Matcher {
public:
    Matcher(const BipartiteView& graph, ByBehaviour& by_behaviour, CancelFlag cancel,
            Structure& found)
        : graph_(graph),
          by_behaviour_(by_behaviour),
          cancel_(cancel),
          found_(found),
          partner_of_user_(found.behaviour_of_user),
          partner_of_behaviour_(found.user_of_behaviour),
          free_(graph.n_behaviours, true),
          marked_(graph.n_behaviours) {
        make_room(partner_of_user_, at(graph.n_users));
        make_room(partner_of_behaviour_, at(graph.n_behaviours));
        partner_of_user_.assign(at(graph.n_users), never);
        partner_of_behaviour_.assign(at(graph.n_behaviours), never);
    }

    void run(std::int64_t scans) {
        if (!fit_first() && !fit_scarcest(std::min(scans, scans_to_mend))) {
            start_greedily(graph_, by_behaviour_.get(), cancel_, found_);
            for (Index b = 0; b < graph_.n_behaviours; ++b) {
                if (partner_of_behaviour_[at(b)] != never) free_.reset(b);
            }
            list_unmatched();
        }
        search_from_each(scans);
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
        if (cancel_.raised()) found_.stopped = true;
        return found_.stopped;
    }

    // The flag is looked at once in 4096 calls: often enough, and free.
    bool stopped_now_and_then() { return (++ticks_ & 4095U) == 0 ? stopped() : found_.stopped; }

    // Whether a first fit is not worth a try: most rows reach across a large part of the behaviours.
    [[nodiscard]] bool scattered() const {
        constexpr Index n_sampled = 64;
        if (graph_.n_users < least_scattered) return false;
        Index n_wide = 0;
        for (Index i = 0; i < n_sampled; ++i) {
            const auto row = row_of(graph_, graph_.n_users / n_sampled * i);
            n_wide += !row.empty() && row.back() - row.front() > graph_.n_behaviours / 4;
        }
        return n_wide > n_sampled / 2;
    }

    // Gives every user the first behaviour left. False, and undone, if that leaves out more than a
    // few users.
    bool fit_first() {
        if (scattered()) return false;
        Index n_missed = 0;
        for (Index user = 0; user < graph_.n_users && n_missed <= graph_.n_users / 256; ++user) {
            const auto row = row_of(graph_, user);
            const auto first = std::find_if(row.begin(), row.end(),
                                            [&](Index behaviour) { return free_.test(behaviour); });
            if (first == row.end()) {
                ++n_missed;
            } else {
                give(*first, user);
            }
        }
        if (n_missed <= graph_.n_users / 256) {
            list_unmatched();
            return true;
        }
        undo();
        return false;
    }

    // Where users have many choices: gives each, of the behaviours left, one that fewest users have,
    // and searches from those who get none. What is left for the searches then has many users, so
    // they end soon. False, and undone, if they do not; else unmatched_ has who is left.
    bool fit_scarcest(std::int64_t scans) {
        if (graph_.indices.size() < many_choices * at(graph_.n_users)) return false;
        constexpr std::uint8_t taken = 255, most = 254;
        std::vector<std::uint8_t> users(at(graph_.n_behaviours), 0);  // up to most, or taken
        for (const Index behaviour : graph_.indices) {
            std::uint8_t& number = users[at(behaviour)];
            number = static_cast<std::uint8_t>(number + (number < most));
        }
        for (Index user = 0; user < graph_.n_users; ++user) {
            Index best = never;
            std::uint8_t fewest = taken;
            for (const Index behaviour : row_of(graph_, user)) {
                const std::uint8_t number = users[at(behaviour)];
                best = number < fewest ? behaviour : best;
                fewest = std::min(fewest, number);
            }
            if (best == never) continue;
            users[at(best)] = taken;
            give(best, user);
        }
        list_unmatched();
        if (unmatched_.size() <= at(graph_.n_users) / 8) search_from_each(scans);
        if (unmatched_.size() > at(graph_.n_users) / 256) {
            undo();
            return false;
        }
        if (!unmatched_.empty()) by_behaviour_.get();  // the last searches go from both ends
        return true;
    }

    void undo() {
        std::fill(partner_of_user_.begin(), partner_of_user_.end(), never);
        std::fill(partner_of_behaviour_.begin(), partner_of_behaviour_.end(), never);
        free_ = Bits(graph_.n_behaviours, true);
        marked_ = Bits(graph_.n_behaviours);
        n_hopeless_ = 0;
    }

    void give(Index behaviour, Index user) {
        partner_of_user_[at(user)] = behaviour;
        partner_of_behaviour_[at(behaviour)] = user;
        free_.reset(behaviour);
    }

    void list_unmatched() {
        unmatched_.clear();
        for (Index user = 0; user < graph_.n_users; ++user) {
            if (partner_of_user_[at(user)] == never) unmatched_.push_back(user);
        }
    }

    // One search a user, until the share of work is used up. What a failed search reached is in no
    // augmenting path, now or later (Berge; the tree is Hungarian), and stays marked; a successful
    // one takes its marks back.
    void search_from_each(std::int64_t scans) {
        std::int64_t work_left = scans * static_cast<std::int64_t>(graph_.indices.size());
        std::size_t next = 0;
        for (; next < unmatched_.size() && work_left > 0 && !stopped_now_and_then(); ++next) {
            if (by_behaviour_.made() && unmatched_.size() - next <= searches_from_both_ends) {
                grow_targets();
            }
            if (!search(unmatched_[next], work_left)) ++n_hopeless_;
        }
        unmatched_.erase(unmatched_.begin(),
                         unmatched_.begin() + static_cast<std::ptrdiff_t>(next));
    }

    // A behaviour that a search has reached, and the step before, whose partner's row it is in.
    struct Step {
        Index behaviour, before;
    };

    // Partners are looked up when their turn comes, some at once, so that a search waits for three
    // fetches of memory together rather than for three of every step.
    bool search(Index start, std::int64_t& work_left) {
        steps_.clear();
        if (look_along(start, never, work_left)) return finish(start);
        std::array<Index, at_once> users{};
        for (std::size_t head = 0; head < steps_.size();) {
            const std::size_t size = std::min(at_once, steps_.size() - head);
            for (std::size_t i = 0; i < size; ++i) {
                users[i] = partner_of_behaviour_[at(steps_[head + i].behaviour)];
                prefetch(&graph_.indptr[at(users[i])]);
            }
            for (std::size_t i = 0; i < size; ++i) {
                const auto row = row_of(graph_, users[i]);
                prefetch(row.data());
                prefetch(row.data() + std::min<std::size_t>(row.size(), 16));
            }
            for (std::size_t i = 0; i < size; ++i, ++head) {
                if (look_along(users[i], static_cast<Index>(head), work_left)) return finish(start);
            }
        }
        return false;
    }

    // Adds the behaviours of the user that are new. True when one of them, now the last step, is
    // unmatched, or its partner can move on.
    bool look_along(Index user, Index before, std::int64_t& work_left) {
        const auto row = row_of(graph_, user);
        work_left -= static_cast<std::int64_t>(row.size());
        for (const Index behaviour : row) {
            if (marked_.test(behaviour)) continue;
            marked_.set(behaviour);
            steps_.push_back({behaviour, before});
            if (free_.test(behaviour) || (!targets_.empty() && onward_[at(behaviour)] != never)) {
                return true;
            }
            prefetch(&partner_of_behaviour_[at(behaviour)]);
        }
        return false;
    }

    // Gives the last behaviour to the user who reached it, that user's to the one before, and so on.
    bool finish(Index start) {
        for (const Step& step : steps_) marked_.reset(step.behaviour);
        Index behaviour = steps_.back().behaviour;
        if (!free_.test(behaviour)) move_onward(behaviour);
        for (Index step = steps_.back().before; step != never; step = steps_[at(step)].before) {
            const Index held = steps_[at(step)].behaviour;
            give(behaviour, partner_of_behaviour_[at(held)]);
            behaviour = held;
        }
        give(behaviour, start);
        return true;
    }

    // The last searches would scan most of the graph for the few unmatched behaviours that are
    // left, so they are given more to find: behaviours whose partners can move on, one after
    // another, to an unmatched one. onward_ is where the partner goes.
    void grow_targets() {
        if (onward_.empty()) onward_.assign(at(graph_.n_behaviours), never);
        for (const Index target : targets_) onward_[at(target)] = never;
        targets_.clear();
        if (left_over_.empty()) {
            for (Index b = 0; b < graph_.n_behaviours; ++b) {
                if (free_.test(b)) left_over_.push_back(b);
            }
        }
        for (const Index behaviour : left_over_) {
            if (!free_.test(behaviour) || targets_.size() >= n_targets) continue;
            onward_[at(behaviour)] = behaviour;
            targets_.push_back(behaviour);
        }
        for (std::size_t head = 0; head < targets_.size() && targets_.size() < n_targets; ++head) {
            for (const Index user : by_behaviour_.get().row(targets_[head])) {
                const Index held = partner_of_user_[at(user)];
                if (held == never || onward_[at(held)] != never) continue;
                onward_[at(held)] = targets_[head];
                targets_.push_back(held);
            }
        }
    }

    // Lets the partner of `behaviour` and those after move on, which leaves `behaviour` unmatched.
    // The path that reached it ended at its first target, so the two share no vertex.
    void move_onward(Index behaviour) {
        Index user = partner_of_behaviour_[at(behaviour)];
        while (user != never) {
            behaviour = onward_[at(behaviour)];
            const Index next = partner_of_behaviour_[at(behaviour)];
            give(behaviour, user);
            user = next;
        }
    }

    // An unmatched behaviour of `user`, or never. What is matched stays matched, so no edge is
    // looked at twice.
    Index look_ahead(Index user) {
        Index& edge = lookahead_[at(user)];
        const Index end = graph_.indptr[at(user) + 1];
        for (; edge < end; ++edge) {
            const Index behaviour = graph_.indices[at(edge)];
            if (free_.test(behaviour)) return behaviour;
        }
        return never;
    }

    // Gives every user on the path the behaviour through which the next one was entered, and the
    // last `behaviour`.
    void flip_path(Index behaviour) {
        for (std::size_t i = path_.size(); i-- > 0;) {
            const Index user = path_[i];
            const Index freed = partner_of_user_[at(user)];
            give(behaviour, user);
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
                if (marked_.test(behaviour)) continue;  // reached by a failed search
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
    CancelFlag cancel_;
    Structure& found_;
    Indices& partner_of_user_;
    Indices& partner_of_behaviour_;
    Indices unmatched_;     // users who may yet be matched
    Index n_hopeless_ = 0;  // users who cannot
    Bits free_;             // behaviours without a partner
    Bits marked_;           // behaviours that this search or a failed one has reached
    std::vector<Step> steps_;
    Indices path_;
    Indices left_over_, targets_, onward_;
    Indices lookahead_, next_edge_, level_;
    std::uint32_t ticks_ = 0;
};

}  // namespace

void find_matching(const BipartiteView& graph, ByBehaviour& by_behaviour, CancelFlag cancel,
                   Structure& found, std::int64_t scans) {
    Matcher(graph, by_behaviour, cancel, found).run(scans);
}

}  // namespace anonymatch::structure_parts
