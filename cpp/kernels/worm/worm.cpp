#include "worm/worm.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "belief_propagation/messages.hpp"
#include "common/random.hpp"

namespace anonymatch {
namespace {

constexpr std::uint64_t steps_between_looks = 1 << 14;
constexpr std::uint64_t turns_between_looks = 1 << 12;

/// Picks a row of a column, all alike.
struct Uniform {
    std::vector<Index> rows;

    [[nodiscard]] Index pick(std::size_t slot, std::uint32_t /*bits*/) const noexcept {
        return rows[slot];
    }
};

/// Picks a row of a column by weight (Walker's alias method): a slot keeps its own row below the
/// threshold.
struct Weighted {
    struct Slot {
        Index own, other;
        std::uint32_t threshold;
    };
    std::vector<Slot> slots;

    [[nodiscard]] Index pick(std::size_t slot, std::uint32_t bits) const noexcept {
        return bits < slots[slot].threshold ? slots[slot].own : slots[slot].other;
    }
};

/// The alias table of one column, by Vose's method; weights are used up.
void fill_aliases(std::span<Weighted::Slot> slots, std::span<double> weights) {
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    std::vector<std::size_t> small, large;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        weights[k] /= mean;
        (weights[k] < 1.0 ? small : large).push_back(k);
        slots[k].threshold = ~std::uint32_t{0};
        slots[k].other = slots[k].own;
    }
    while (!small.empty() && !large.empty()) {
        const std::size_t low = small.back(), high = large.back();
        small.pop_back();
        slots[low].threshold = static_cast<std::uint32_t>(weights[low] * 0x1p32);
        slots[low].other = slots[high].own;
        weights[high] -= 1.0 - weights[low];
        if (weights[high] < 1.0) {
            large.pop_back();
            small.push_back(high);
        }
    }
}

}  // namespace

class Worm::Job {
public:
    explicit Job(const SquareBlock& block)
        : n_(block.n),
          indptr_(block.indptr.begin(), block.indptr.end()),
          indices_(block.indices.begin(), block.indices.end()),
          columns_(at(block.n)) {
        std::vector<std::uint32_t> starts(at(n_) + 1, 0);
        for (const Index column : indices_) ++starts[at(column) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        for (std::size_t j = 0; j < at(n_); ++j)
            columns_[j] = {starts[j], starts[j + 1] - starts[j]};
        std::vector<std::size_t> edges(indices_.size());
        uniform_.rows.resize(indices_.size());
        for (Index i = 0; i < n_; ++i) {
            for (std::size_t e = at(indptr_[at(i)]); e < at(indptr_[at(i) + 1]); ++e) {
                const std::size_t slot = starts[at(indices_[e])]++;
                uniform_.rows[slot] = i;
                edges[slot] = e;
            }
        }
        if (!block.weights.empty()) weigh(block, edges);
    }

    [[nodiscard]] WormSamples run(std::span<const Index> matching, std::uint64_t seed,
                                  std::uint64_t index, std::uint64_t samples, std::uint64_t worms,
                                  bool keep, CancelFlag cancel, std::uint64_t most_steps) const {
        check(matching);
        const Random random(seed, index);
        return weighted_.slots.empty()
                   ? chain(uniform_, matching, random, samples, worms, keep, cancel, most_steps)
                   : chain(weighted_, matching, random, samples, worms, keep, cancel, most_steps);
    }

    [[nodiscard]] std::vector<WormSamples> run_together(std::span<const Index> matchings,
                                                        std::uint64_t seed, std::uint64_t index,
                                                        std::uint64_t samples, std::uint64_t worms,
                                                        bool keep, CancelFlag cancel,
                                                        std::uint64_t most_steps) const {
        if (matchings.size() % at(n_) != 0) throw std::invalid_argument("not whole matchings");
        if (matchings.size() == at(n_))
            return {run(matchings, seed, index, samples, worms, keep, cancel, most_steps)};
        std::vector<Lane> lanes;
        for (std::size_t first = 0; first < matchings.size(); first += at(n_)) {
            const auto matching = matchings.subspan(first, at(n_));
            check(matching);
            lanes.push_back(lane(matching, Random(seed, index++)));
        }
        if (samples > 0 && worms > 0) {
            if (weighted_.slots.empty())
                take_turns(uniform_, lanes, samples, worms, keep, cancel, most_steps);
            else
                take_turns(weighted_, lanes, samples, worms, keep, cancel, most_steps);
        }
        std::vector<WormSamples> results;
        for (Lane& each : lanes) results.push_back(std::move(each.result));
        return results;
    }

private:
    struct Column {
        std::uint32_t start, degree;
    };

    /// One of several chains that take turns.
    struct Lane {
        Random random;
        Index start = 0, hole = 0;
        std::uint64_t worms_left = 0;
        std::vector<Index> column_of;
        WormSamples result;
    };

    [[nodiscard]] Lane lane(std::span<const Index> matching, Random random) const {
        Lane made{random, 0, 0, 0, {matching.begin(), matching.end()}, {}};
        made.result.counts.assign(indices_.size(), 0);
        made.result.last = made.column_of;
        return made;
    }

    void begin_worm(Lane& lane) const {
        lane.start = static_cast<Index>(Random::below(
            static_cast<std::uint32_t>(n_), static_cast<std::uint32_t>(lane.random.bits())));
        lane.hole = lane.column_of[at(lane.start)];
    }

    /// Moves the hole; gives the row that took it.
    template <class Table>
    Index step(const Table& table, std::vector<Index>& column_of, Index& hole,
               Random& random) const {
        const std::uint64_t bits = random.bits();
        const Column column = columns_[at(hole)];
        const std::size_t slot =
            column.start + Random::below(column.degree, static_cast<std::uint32_t>(bits >> 32));
        const Index row = table.pick(slot, static_cast<std::uint32_t>(bits));
        std::swap(hole, column_of[at(row)]);
        return row;
    }

    template <class Table>
    void take_turns(const Table& table, std::vector<Lane>& lanes, std::uint64_t samples,
                    std::uint64_t worms, bool keep, CancelFlag cancel,
                    std::uint64_t most_steps) const {
        std::vector<Lane*> running;
        for (Lane& each : lanes) {
            each.worms_left = worms;
            begin_worm(each);
            running.push_back(&each);
        }
        for (std::uint64_t turn = 0; !running.empty(); ++turn) {
            if ((turn & (turns_between_looks - 1)) == 0 && (cancel.raised() || turn >= most_steps))
                return;
            for (std::size_t k = 0; k < running.size();) {
                Lane& each = *running[k];
                const Index row = step(table, each.column_of, each.hole, each.random);
                ++each.result.steps;
                if (row == each.start && --each.worms_left == 0) {
                    note(each.column_of, keep, each.result);
                    if (each.result.samples == samples) {
                        running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
                        continue;
                    }
                    each.worms_left = worms;
                }
                if (row == each.start) begin_worm(each);
                ++k;
            }
        }
    }

    /// One more sample.
    void note(const std::vector<Index>& column_of, bool keep, WormSamples& result) const {
        result.last = column_of;
        ++result.samples;
        for (Index i = 0; i < n_; ++i) ++result.counts[edge_of(i, column_of[at(i)])];
        if (keep)
            result.matchings.insert(result.matchings.end(), column_of.begin(), column_of.end());
    }

    void weigh(const SquareBlock& block, const std::vector<std::size_t>& edges) {
        const std::vector<double> scaled = scaled_weights(block).scaled;
        weighted_.slots.resize(edges.size());
        std::vector<double> weights;
        for (const Column column : columns_) {
            weights.clear();
            for (std::size_t k = column.start; k < column.start + column.degree; ++k) {
                weights.push_back(scaled[edges[k]]);
                weighted_.slots[k].own = uniform_.rows[k];
            }
            fill_aliases({&weighted_.slots[column.start], column.degree}, weights);
        }
        uniform_.rows = {};
    }

    template <class Table>
    WormSamples chain(const Table& table, std::span<const Index> matching, Random random,
                      std::uint64_t samples, std::uint64_t worms, bool keep, CancelFlag cancel,
                      std::uint64_t most_steps) const {
        WormSamples result;
        result.counts.assign(indices_.size(), 0);
        std::vector<Index> column_of(matching.begin(), matching.end());
        result.last = column_of;
        for (std::uint64_t sample = 0; sample < samples; ++sample) {
            for (std::uint64_t k = 0; k < worms; ++k)
                if (!worm(table, column_of, random, cancel, result.steps, most_steps))
                    return result;
            note(column_of, keep, result);
        }
        return result;
    }

    /// False when stopped half way.
    template <class Table>
    bool worm(const Table& table, std::vector<Index>& column_of, Random& random, CancelFlag cancel,
              std::uint64_t& steps, std::uint64_t most_steps) const {
        const auto size = static_cast<std::uint32_t>(n_);
        const auto start =
            static_cast<Index>(Random::below(size, static_cast<std::uint32_t>(random.bits())));
        Index hole = column_of[at(start)];
        if (cancel.raised()) return false;
        while (true) {
            if ((++steps & (steps_between_looks - 1)) == 0 &&
                (cancel.raised() || steps >= most_steps))
                return false;
            if (step(table, column_of, hole, random) == start) return true;
        }
    }

    [[nodiscard]] std::size_t edge_of(Index row, Index column) const {
        const auto first = indices_.begin() + indptr_[at(row)];
        const auto last = indices_.begin() + indptr_[at(row) + 1];
        const auto place = std::lower_bound(first, last, column);
        return place != last && *place == column
                   ? static_cast<std::size_t>(place - indices_.begin())
                   : indices_.size();
    }

    void check(std::span<const Index> matching) const {
        std::vector<std::uint8_t> used(at(n_), 0);
        bool perfect = matching.size() == at(n_);
        for (Index i = 0; perfect && i < n_; ++i)
            perfect =
                edge_of(i, matching[at(i)]) < indices_.size() && used[at(matching[at(i)])]++ == 0;
        if (!perfect) throw std::invalid_argument("not a perfect matching of the block");
    }

    Index n_;
    std::vector<Index> indptr_, indices_;
    std::vector<Column> columns_;
    Uniform uniform_;
    Weighted weighted_;
};

Worm::Worm(const SquareBlock& block) : job_(std::make_unique<const Job>(block)) {}
Worm::~Worm() = default;
Worm::Worm(Worm&&) noexcept = default;
Worm& Worm::operator=(Worm&&) noexcept = default;

WormSamples Worm::run(std::span<const std::int32_t> matching, std::uint64_t seed,
                      std::uint64_t index, std::uint64_t samples, std::uint64_t worms,
                      bool keep_matchings, CancelFlag cancel, std::uint64_t most_steps) const {
    return job_->run(matching, seed, index, samples, worms, keep_matchings, cancel, most_steps);
}

std::vector<WormSamples> Worm::run_together(std::span<const std::int32_t> matchings,
                                            std::uint64_t seed, std::uint64_t index,
                                            std::uint64_t samples, std::uint64_t worms,
                                            bool keep_matchings, CancelFlag cancel,
                                            std::uint64_t most_steps) const {
    return job_->run_together(matchings, seed, index, samples, worms, keep_matchings, cancel,
                              most_steps);
}

}  // namespace anonymatch
