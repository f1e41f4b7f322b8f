#include "structure/factorise.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <limits>

namespace anonymatch {

namespace {

constexpr std::size_t least_slots = 16;
constexpr std::size_t ahead = 24;  // hashes between a prefetch and its use

/// Open addressing with linear probing. The home of a hash is the top of its product with an odd
/// constant (2^64 over the golden ratio), which spreads hashes that agree in high or in low bits.
class Table {
public:
    explicit Table(std::size_t n_slots)
        : slots_(n_slots, Slot{0, 0}),
          shift_(64 - std::countr_zero(n_slots)),
          room_(n_slots / 8 * 5) {}

    std::size_t n_slots() const { return slots_.size(); }
    bool full(std::size_t n_groups) const { return n_groups >= room_; }

    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[home(hash)], 1); }

    /// The code of a hash, which becomes `fresh` if the hash is new. Ends because a slot is free.
    std::int32_t insert(std::uint64_t hash, std::int32_t fresh) {
        for (std::size_t at = home(hash);; at = (at + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[at];
            if (slot.code_and_one == 0) {
                slot = {hash, static_cast<std::uint32_t>(fresh) + 1};
                return fresh;
            }
            if (slot.hash == hash) return static_cast<std::int32_t>(slot.code_and_one - 1);
        }
    }

private:
    struct Slot {
        std::uint64_t hash;
        std::uint32_t code_and_one;  // 0: the slot is free
    };

    std::size_t home(std::uint64_t hash) const {
        return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15U) >> shift_);
    }

    LargeVector<Slot> slots_;
    int shift_;
    std::size_t room_;
};

/// A table of twice the size with the same groups.
void grow(Table& table, std::span<const std::uint64_t> hashes,
          std::span<const std::int32_t> first) {
    const std::size_t n_slots = 2 * table.n_slots();
    table = Table(1);  // frees the old slots before the new ones are there
    table = Table(n_slots);
    const auto hash = [&](std::size_t code) {
        return hashes[static_cast<std::size_t>(first[code])];
    };
    for (std::size_t code = 0; code < first.size(); ++code) {
        if (code + ahead < first.size()) table.prefetch(hash(code + ahead));
        table.insert(hash(code), static_cast<std::int32_t>(code));
    }
}

}  // namespace

Groups group_hashes(std::span<const std::uint64_t> hashes) {
    assert(hashes.size() <= std::numeric_limits<std::int32_t>::max());
    Groups groups;
    groups.codes.resize(hashes.size());
    Table table(std::bit_ceil(std::max(hashes.size() / 8, least_slots)));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        if (i + ahead < hashes.size()) table.prefetch(hashes[i + ahead]);
        const auto fresh = static_cast<std::int32_t>(groups.first.size());
        const std::int32_t code = table.insert(hashes[i], fresh);
        groups.codes[i] = code;
        if (code == fresh) {
            groups.first.push_back(static_cast<std::int32_t>(i));
            if (table.full(groups.first.size())) grow(table, hashes, groups.first);
        }
    }
    return groups;
}

}  // namespace anonymatch
