// The table of blocks: edges sorted by block, local numbers, classes of equal blocks.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <tuple>

#include "structure/structure_parts.hpp"

namespace anonymatch {

namespace {

using namespace structure_parts;

class TableBuilder {
public:
    TableBuilder(const BipartiteView& graph, const Structure& structure,
                 std::span<const double> weights, CancelFlag cancel)
        : graph_(graph),
          structure_(structure),
          weights_(weights),
          cancel_(cancel),
          n_blocks_(at(structure.n_blocks)) {}

    BlockTable run() {
        sort_by_block(structure_.block_of_user, table_.user_offsets, table_.users);
        sort_by_block(structure_.block_of_behaviour, table_.behaviour_offsets, table_.behaviours);
        collect_edges();
        const Indices first_equal = find_equal(Indices());
        if (!table_.stopped) reorder(first_equal);
        if (!table_.stopped) number_classes(first_equal);
        return std::move(table_);
    }

private:
    bool stopped_at(std::size_t step) {
        if (step % 1024 == 0 && cancel_.raised()) table_.stopped = true;
        return table_.stopped;
    }

    // Counting sort, ascending within a block; vertices of block -1 are left out.
    void sort_by_block(const Indices& block_of, Indices& offsets, Indices& sorted) const {
        offsets.assign(n_blocks_ + 1, 0);
        for (const Index block : block_of) {
            if (block >= 0) ++offsets[at(block) + 1];
        }
        for (std::size_t k = 0; k < n_blocks_; ++k) offsets[k + 1] += offsets[k];
        Indices next(offsets.begin(), offsets.end() - 1);
        sorted.resize(at(offsets.back()));
        for (std::size_t i = 0; i < block_of.size(); ++i) {
            if (block_of[i] >= 0) sorted[at(next[at(block_of[i])]++)] = static_cast<Index>(i);
        }
    }

    void collect_edges() {
        // Behaviours without an edge have no position and are never asked for.
        Indices position(at(graph_.n_behaviours), -1);
        for (std::size_t p = 0; p < table_.behaviours.size(); ++p)
            position[at(table_.behaviours[p])] = static_cast<Index>(p);
        table_.edge_offsets.reserve(n_blocks_ + 1);
        table_.row_offsets.reserve(table_.users.size() + 1);
        table_.local_indices.resize(graph_.indices.size());
        table_.edges.resize(graph_.indices.size());
        std::size_t n_edges = 0;
        const std::size_t ahead = 16;
        for (std::size_t k = 0; k < n_blocks_; ++k) {
            if (stopped_at(k)) return;
            table_.edge_offsets.push_back(static_cast<Index>(n_edges));
            const Index first = table_.behaviour_offsets[k];
            const auto size = static_cast<std::uint32_t>(table_.behaviour_offsets[k + 1] - first);
            for (Index p = table_.user_offsets[k]; p < table_.user_offsets[k + 1]; ++p) {
                if (at(p) + ahead < table_.users.size()) {
                    prefetch(graph_.indices.data() +
                             graph_.indptr[at(table_.users[at(p) + ahead])]);
                }
                table_.row_offsets.push_back(static_cast<Index>(n_edges));
                const Index user = table_.users[at(p)];
                for (Index edge = graph_.indptr[at(user)]; edge < graph_.indptr[at(user) + 1];
                     ++edge) {
                    // Unsigned, so that positions before the block are out of range as well.
                    const auto local =
                        static_cast<std::uint32_t>(position[at(graph_.indices[at(edge)])] - first);
                    table_.local_indices[n_edges] = static_cast<Index>(local);
                    table_.edges[n_edges] = edge;
                    n_edges += local < size;
                }
            }
        }
        table_.edge_offsets.push_back(static_cast<Index>(n_edges));
        table_.row_offsets.push_back(static_cast<Index>(n_edges));
        table_.local_indices.resize(n_edges);
        table_.edges.resize(n_edges);
    }

    [[nodiscard]] LocalBlock block(std::size_t k) const {
        const std::size_t user = at(table_.user_offsets[k]),
                          n_users = at(table_.user_offsets[k + 1]) - user;
        const std::size_t edge = at(table_.edge_offsets[k]),
                          n_edges = at(table_.edge_offsets[k + 1]) - edge;
        return {static_cast<Index>(n_users),
                table_.behaviour_offsets[k + 1] - table_.behaviour_offsets[k],
                std::span(table_.row_offsets).subspan(user, n_users + 1),
                std::span(table_.local_indices).subspan(edge, n_edges),
                std::span(table_.edges).subspan(edge, n_edges)};
    }

    [[nodiscard]] std::uint64_t weight_bits(Index edge) const {
        return std::bit_cast<std::uint64_t>(weights_[at(edge)]);
    }

    [[nodiscard]] std::uint64_t hash_of(const LocalBlock& block) const {
        auto hash = mix(static_cast<std::uint64_t>(block.n_users) << 32 |
                        static_cast<std::uint32_t>(block.n_behaviours));
        const auto add = [&](std::uint64_t value) {
            hash = (std::rotl(hash, 23) ^ value) * 0x9E3779B97F4A7C15U;
        };
        for (const Index offset : block.row_offsets)
            add(static_cast<std::uint32_t>(offset - block.row_offsets[0]));
        for (const Index local : block.local_indices) add(static_cast<std::uint32_t>(local));
        if (!weights_.empty()) {
            for (const Index edge : block.edges) add(weight_bits(edge));
        }
        return mix(hash);
    }

    [[nodiscard]] bool equal(const LocalBlock& left, const LocalBlock& right) const {
        if (left.n_users != right.n_users || left.n_behaviours != right.n_behaviours) return false;
        if (!std::equal(left.local_indices.begin(), left.local_indices.end(),
                        right.local_indices.begin(), right.local_indices.end())) {
            return false;
        }
        const Index shift = right.row_offsets[0] - left.row_offsets[0];
        for (std::size_t i = 0; i < left.row_offsets.size(); ++i) {
            if (left.row_offsets[i] + shift != right.row_offsets[i]) return false;
        }
        for (std::size_t i = 0; !weights_.empty() && i < left.edges.size(); ++i) {
            if (weight_bits(left.edges[i]) != weight_bits(right.edges[i])) return false;
        }
        return true;
    }

    // For every block the first block that equals it as it stands. With `known` (the answer for an
    // earlier order, the same in equal blocks) only blocks that were first in it are looked at.
    Indices find_equal(const Indices& known) {
        Indices first(n_blocks_);
        const std::size_t n_slots = std::bit_ceil(2 * n_blocks_ + 1);
        struct Slot {
            std::uint64_t hash;
            Index block;
        };
        std::vector<Slot> slots(n_slots, Slot{0, -1});
        for (std::size_t k = 0; k < n_blocks_; ++k) {
            if (stopped_at(k)) return first;
            if (!known.empty() && at(known[k]) != k) {
                first[k] = first[at(known[k])];
                continue;
            }
            const LocalBlock mine = block(k);
            const std::uint64_t hash = hash_of(mine);
            std::size_t slot = hash & (n_slots - 1);
            while (slots[slot].block >= 0 &&
                   !(slots[slot].hash == hash && equal(block(at(slots[slot].block)), mine))) {
                slot = (slot + 1) & (n_slots - 1);
            }
            if (slots[slot].block < 0) slots[slot] = {hash, static_cast<Index>(k)};
            first[k] = slots[slot].block;
        }
        return first;
    }

    // Gives blocks their canonical order where two that differ might be made equal by it.
    void reorder(const Indices& first_equal) {
        Indices firsts;
        for (std::size_t k = 0; k < n_blocks_; ++k) {
            if (at(first_equal[k]) == k) firsts.push_back(static_cast<Index>(k));
        }
        const auto sizes = [&](Index k) {
            const LocalBlock mine = block(at(k));
            return std::tuple(mine.n_users, mine.n_behaviours, mine.edges.size());
        };
        std::stable_sort(firsts.begin(), firsts.end(),
                         [&](Index left, Index right) { return sizes(left) < sizes(right); });
        std::vector<bool> alike(n_blocks_, false);
        for (std::size_t i = 1; i < firsts.size(); ++i) {
            if (sizes(firsts[i]) == sizes(firsts[i - 1]))
                alike[at(firsts[i])] = alike[at(firsts[i - 1])] = true;
        }
        if (std::find(alike.begin(), alike.end(), true) == alike.end()) return;

        CanonicalOrder canonical(weights_);
        Indices user_order(table_.users.size()), behaviour_order(table_.behaviours.size());
        const auto order_of = [&](Indices& order, const Indices& offsets, std::size_t k) {
            return std::span(order).subspan(at(offsets[k]), at(offsets[k + 1] - offsets[k]));
        };
        for (std::size_t k = 0; k < n_blocks_; ++k) {
            if (stopped_at(k)) return;
            const std::size_t first = at(first_equal[k]);
            if (!alike[first]) continue;
            const auto users = order_of(user_order, table_.user_offsets, first);
            const auto behaviours = order_of(behaviour_order, table_.behaviour_offsets, first);
            if (first == k) canonical.find(block(k), users, behaviours);
            apply(k, users, behaviours);
        }
        first_equal_is_final_ = false;
    }

    void apply(std::size_t k, std::span<const Index> users, std::span<const Index> behaviours) {
        new_of_behaviour_.resize(behaviours.size());
        for (std::size_t i = 0; i < behaviours.size(); ++i)
            new_of_behaviour_[at(behaviours[i])] = static_cast<Index>(i);
        const std::size_t user = at(table_.user_offsets[k]), edge = at(table_.edge_offsets[k]);
        const auto move = [&](std::span<const Index> order, Index* values) {
            moved_.resize(order.size());
            for (std::size_t i = 0; i < order.size(); ++i) moved_[i] = values[order[i]];
            std::copy(moved_.begin(), moved_.end(), values);
        };
        move(users, table_.users.data() + user);
        move(behaviours, table_.behaviours.data() + table_.behaviour_offsets[k]);

        // A row entry is the new local number above the edge, so that sorting the words sorts the
        // row.
        entries_.clear();
        moved_.clear();
        for (const Index old : users) {
            const std::size_t begin = entries_.size();
            moved_.push_back(static_cast<Index>(edge + begin));
            for (Index i = table_.row_offsets[user + at(old)];
                 i < table_.row_offsets[user + at(old) + 1]; ++i) {
                const auto local =
                    static_cast<std::uint64_t>(new_of_behaviour_[at(table_.local_indices[at(i)])]);
                entries_.push_back(local << 32 | static_cast<std::uint32_t>(table_.edges[at(i)]));
            }
            std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(begin), entries_.end());
        }
        std::copy(moved_.begin(), moved_.end(),
                  table_.row_offsets.begin() + static_cast<std::ptrdiff_t>(user));
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            table_.local_indices[edge + i] = static_cast<Index>(entries_[i] >> 32);
            table_.edges[edge + i] = static_cast<Index>(entries_[i] & 0xFFFFFFFFU);
        }
    }

    void number_classes(const Indices& first_equal) {
        const Indices first = first_equal_is_final_ ? first_equal : find_equal(first_equal);
        table_.class_of_block.resize(n_blocks_);
        for (std::size_t k = 0; k < n_blocks_; ++k) {
            if (at(first[k]) == k) {
                table_.class_of_block[k] = static_cast<Index>(table_.class_first.size());
                table_.class_first.push_back(static_cast<Index>(k));
            } else {
                table_.class_of_block[k] = table_.class_of_block[at(first[k])];
            }
        }
    }

    const BipartiteView& graph_;
    const Structure& structure_;
    std::span<const double> weights_;
    CancelFlag cancel_;
    std::size_t n_blocks_;
    BlockTable table_;
    bool first_equal_is_final_ = true;
    Indices new_of_behaviour_, moved_;
    std::vector<std::uint64_t> entries_;
};

}  // namespace

BlockTable build_block_table(const BipartiteView& graph, const Structure& structure,
                             std::span<const double> weights, CancelFlag cancel) {
    assert(structure.n_matched == graph.n_users);
    assert(weights.empty() || weights.size() == graph.indices.size());
    return TableBuilder(graph, structure, weights, cancel).run();
}

}  // namespace anonymatch
