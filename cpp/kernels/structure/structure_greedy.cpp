// The greedy start of a matching: Karp and Sipser's rule ("Maximum matchings in sparse random
// graphs", 1981).
#include <algorithm>
#include <array>

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

constexpr std::size_t n_lanes = 16;
constexpr Index never = -1;

class GreedyStart {
public:
    GreedyStart(const BipartiteView& graph, const Transposed& by_behaviour, CancelFlag cancel,
                Structure& found)
        : graph_(graph), by_behaviour_(by_behaviour), cancel_(cancel), found_(found) {}

    void run() {
        std::array<Side, 2> sides{
            Side{graph_.indptr, graph_.indices, found_.behaviour_of_user, {}},
            Side{by_behaviour_.indptr, by_behaviour_.indices, found_.user_of_behaviour, {}}};
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
    }

private:
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
            if ((++ticks_ & 4095U) == 0 && cancel_.raised()) found_.stopped = true;
            if (found_.stopped) return;
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

    const BipartiteView& graph_;
    const Transposed& by_behaviour_;
    CancelFlag cancel_;
    Structure& found_;
    Indices single_, pair_;  // vertices that came down to one or two choices; behaviours as ~b
    std::uint32_t ticks_ = 0;
};

}  // namespace

void start_greedily(const BipartiteView& graph, const Transposed& by_behaviour, CancelFlag cancel,
                    Structure& found) {
    GreedyStart(graph, by_behaviour, cancel, found).run();
}

}  // namespace anonymatch::structure_parts
