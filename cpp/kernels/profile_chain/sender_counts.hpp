// How often each sender writes to each receiver: small tables, one a sender.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace anonymatch {

/// A table a sender with twice as many slots as it has messages, or one slot a receiver if these are
/// fewer. Open addressing with linear probing; a count that falls to 0 leaves no gap behind.
class SenderCounts {
public:
    /// `messages`: how many each sender has at most.
    SenderCounts(std::span<const std::int32_t> messages, std::int32_t receivers)
        : tables_(messages.size()), totals_(messages.size(), 0) {
        std::size_t size = 0;
        for (std::size_t s = 0; s < messages.size(); ++s) {
            const std::uint32_t wanted =
                std::bit_ceil(2 * static_cast<std::uint32_t>(messages[s]) + 1);
            const auto all = static_cast<std::uint32_t>(receivers);
            const bool direct = all <= wanted;
            tables_[s] = {size, direct ? 0U : wanted - 1};
            size += direct ? all : wanted;
        }
        slots_.assign(size, Slot{});
    }

    [[nodiscard]] std::int32_t total(std::int32_t sender) const { return totals_[at(sender)]; }

    [[nodiscard]] std::int32_t count(std::int32_t sender, std::int32_t receiver) const {
        const Table table = tables_[at(sender)];
        if (table.mask == 0) return slots_[table.begin + at(receiver)].count;
        for (std::uint32_t k = home(receiver, table.mask);; k = (k + 1) & table.mask) {
            const Slot slot = slots_[table.begin + k];
            if (slot.count == 0) return 0;
            if (slot.receiver == receiver) return slot.count;
        }
    }

    void add(std::int32_t sender, std::int32_t receiver) {
        ++totals_[at(sender)];
        const Table table = tables_[at(sender)];
        std::uint32_t k =
            table.mask == 0 ? static_cast<std::uint32_t>(receiver) : home(receiver, table.mask);
        while (table.mask != 0 && slots_[table.begin + k].count != 0 &&
               slots_[table.begin + k].receiver != receiver)
            k = (k + 1) & table.mask;
        Slot& slot = slots_[table.begin + k];
        slot.receiver = receiver;
        ++slot.count;
    }

    void remove(std::int32_t sender, std::int32_t receiver) {
        --totals_[at(sender)];
        const Table table = tables_[at(sender)];
        Slot* const slots = slots_.data() + table.begin;
        if (table.mask == 0) {
            --slots[receiver].count;
            return;
        }
        std::uint32_t k = home(receiver, table.mask);
        while (slots[k].receiver != receiver || slots[k].count == 0) k = (k + 1) & table.mask;
        if (--slots[k].count > 0) return;
        for (std::uint32_t next = (k + 1) & table.mask; slots[next].count != 0;
             next = (next + 1) & table.mask) {
            const std::uint32_t wanted = home(slots[next].receiver, table.mask);
            if (((next - wanted) & table.mask) < ((next - k) & table.mask)) continue;
            slots[k] = slots[next];  // it may move up to the gap
            slots[next].count = 0;
            k = next;
        }
    }

    /// Calls `see(sender, receiver, count)` for every count that is not 0.
    template <class See>
    void each(See see) const {
        for (std::size_t s = 0; s < tables_.size(); ++s) {
            const std::size_t end = s + 1 < tables_.size() ? tables_[s + 1].begin : slots_.size();
            for (std::size_t k = tables_[s].begin; k < end; ++k)
                if (slots_[k].count != 0)
                    see(static_cast<std::int32_t>(s), slots_[k].receiver, slots_[k].count);
        }
    }

private:
    struct Slot {
        std::int32_t receiver = 0, count = 0;
    };
    struct Table {
        std::size_t begin = 0;
        std::uint32_t mask = 0;  // 0: a slot a receiver
    };

    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    static std::uint32_t home(std::int32_t receiver, std::uint32_t mask) {
        return ((static_cast<std::uint32_t>(receiver) * 0x9E3779B1U) >> 7) & mask;
    }

    std::vector<Table> tables_;
    std::vector<std::int32_t> totals_;
    std::vector<Slot> slots_;
};

}  // namespace anonymatch
