#include "frontier/frontier_steps.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "frontier/frontier_search.hpp"

namespace anonymatch::frontier {

Steps::Steps(const BlockView& block, std::span<const std::int32_t> order)
    : indptr_(block.indptr.begin(), block.indptr.end()), slots_(block.indices.size()) {
    const auto n_rows = static_cast<std::size_t>(block.n_rows);
    const auto n_columns = static_cast<std::size_t>(block.n_columns);
    if (order.size() != n_rows) throw std::invalid_argument("the order must list every row once");
    const Price price = price_order(block, order);
    most_states_ = price.states;
    most_transitions_ = price.transitions;
    const bool square = block.n_rows == block.n_columns;
    std::vector<std::int32_t> rows_left(n_columns, 0);
    for (const std::int32_t column : block.indices) ++rows_left[static_cast<std::size_t>(column)];
    constexpr std::uint8_t no_slot = 255;
    std::vector<std::uint8_t> slot_of(n_columns, no_slot);
    std::vector<std::uint8_t> seen(n_rows, 0);
    leaving_.assign(square ? n_rows : 0, 0);
    steps_.reserve(square ? n_rows : n_rows + n_columns);
    std::int32_t done = 0;
    std::int32_t gone = 0;
    // Slot 63 stays free, so that no key is the merge's end mark.
    std::uint64_t free_slots = ~std::uint64_t{0} >> 1;
    for (const std::int32_t row : order) {
        const auto r = static_cast<std::size_t>(row);
        if (row < 0 || r >= n_rows || seen[r] != 0)
            throw std::invalid_argument("the order must list every row once");
        seen[r] = 1;
        const auto first = static_cast<std::size_t>(indptr_[r]);
        const auto last = static_cast<std::size_t>(indptr_[r + 1]);
        max_streams_ = std::max(max_streams_, last - first);
        steps_.push_back({row, -1, 64});
        ++done;
        std::uint64_t leaving = 0;
        for (std::size_t edge = first; edge < last; ++edge) {
            const auto column = static_cast<std::size_t>(block.indices[edge]);
            if (slot_of[column] == no_slot) {
                if (free_slots == 0) throw std::invalid_argument("more than 63 live columns");
                slot_of[column] = static_cast<std::uint8_t>(std::countr_zero(free_slots));
                free_slots &= free_slots - 1;
            }
            slots_[edge] = slot_of[column];
            if (--rows_left[column] == 0) leaving |= std::uint64_t{1} << slot_of[column];
        }
        free_slots |= leaving;
        if (square) {
            leaving_[r] = leaving;
        } else {
            for (; leaving != 0; leaving &= leaving - 1) {
                ++gone;
                steps_.push_back(
                    {-1, std::countr_zero(leaving), done - gone + block.n_columns - block.n_rows});
            }
        }
    }
}

std::size_t Steps::bytes() const noexcept {
    return indptr_.capacity() * sizeof(std::int32_t) + slots_.capacity() +
           leaving_.capacity() * sizeof(std::uint64_t) + steps_.capacity() * sizeof(Step);
}

void Steps::streams(std::size_t step, std::vector<Stream>& out) const {
    out.clear();
    const auto [row, slot, most] = steps_[step];
    if (row < 0) {
        const std::uint64_t bit = std::uint64_t{1} << slot;
        out.push_back({bit, 0, 0, -1, most});
        out.push_back({bit, bit, ~bit + 1, -1, 64});
        return;
    }
    const auto r = static_cast<std::size_t>(row);
    const std::uint64_t leaving = leaving_.empty() ? 0 : leaving_[r];
    for (std::int32_t edge = indptr_[r]; edge < indptr_[r + 1]; ++edge) {
        const std::uint64_t bit = std::uint64_t{1} << slots_[static_cast<std::size_t>(edge)];
        out.push_back({bit | leaving, leaving & ~bit, bit - leaving, edge, 64});
    }
}

}  // namespace anonymatch::frontier
