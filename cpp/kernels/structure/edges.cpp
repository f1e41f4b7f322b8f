#include "structure/edges.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace anonymatch {

namespace {

constexpr std::size_t ahead = 16;       // edges between a prefetch and its use
constexpr std::size_t long_row = 1024;  // from here on digits beat comparisons
constexpr int digit_bits = 11;

// An item is an edge within its row: its column, or column * 2^32 + position where the order is
// asked for. Comparing items sorts by column and then by position.
using Column = std::uint32_t;
using Placed = std::uint64_t;

Column column_of(std::int32_t item) {
    return static_cast<Column>(item);
}
Column column_of(Placed item) {
    return static_cast<Column>(item >> 32);
}

/// Sorts by column, the lowest digit first. Stable, and items come by position, so that the result
/// is sorted by position too.
template <class Item>
void sort_by_digits(std::span<Item> row, LargeVector<Item>& other) {
    Column used = 0;
    for (const Item item : row) used |= column_of(item);
    other.resize(row.size());
    std::span<Item> from = row;
    std::span<Item> to = other;
    for (int shift = 0; shift < 32 && (used >> shift) != 0; shift += digit_bits) {
        std::array<std::size_t, (std::size_t{1} << digit_bits) + 1> begin{};
        const auto digit = [shift](Item item) {
            return std::size_t{(column_of(item) >> shift) & ((1U << digit_bits) - 1)};
        };
        for (const Item item : from) ++begin[digit(item) + 1];
        for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
        for (const Item item : from) to[begin[digit(item)]++] = item;
        std::swap(from, to);
    }
    if (from.data() != row.data()) std::copy(from.begin(), from.end(), row.begin());
}

/// Sorts a short row without branches that depend on the columns: the place of each is the number
/// of smaller ones; the places that a repeated column leaves open get the column before them.
template <std::size_t width>
void sort_by_ranks(std::span<std::int32_t> row) {
    std::array<std::int32_t, width> values;
    values.fill(std::numeric_limits<std::int32_t>::max());
    std::copy(row.begin(), row.end(), values.begin());
    std::fill(row.begin(), row.end(), -1);
    for (std::size_t i = 0; i < row.size(); ++i) {
        std::int32_t smaller = 0;
        for (const std::int32_t value : values) smaller += value < values[i];
        row[static_cast<std::size_t>(smaller)] = values[i];
    }
    for (std::size_t i = 1; i < row.size(); ++i) row[i] = std::max(row[i], row[i - 1]);
}

template <class Item>
void sort_row(std::span<Item> row, LargeVector<Item>& other) {
    if (row.size() >= long_row) {
        sort_by_digits(row, other);
        return;
    }
    if constexpr (std::is_same_v<Item, std::int32_t>) {
        if (row.size() <= 8) return sort_by_ranks<8>(row);
        if (row.size() <= 16) return sort_by_ranks<16>(row);
        if (row.size() <= 32) return sort_by_ranks<32>(row);
    }
    std::sort(row.begin(), row.end());
}

/// Items by row, each row sorted.
template <class Item, class MakeItem>
LargeVector<Item> sorted_items(std::span<const std::int32_t> rows,
                               std::span<const std::int32_t> indptr, MakeItem make) {
    LargeVector<Item> items(rows.size());
    LargeVector<std::int32_t> next(indptr.begin(), indptr.end() - 1);
    const auto row_at = [&](std::size_t i) { return static_cast<std::size_t>(rows[i]); };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        // The place may move on before its turn; it seldom leaves the line.
        if (i + ahead < rows.size()) __builtin_prefetch(items.data() + next[row_at(i + ahead)], 1);
        if (i + 2 * ahead < rows.size()) __builtin_prefetch(&next[row_at(i + 2 * ahead)], 1);
        items[static_cast<std::size_t>(next[row_at(i)]++)] = make(i);
    }
    LargeVector<Item> other;
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
        const auto begin = static_cast<std::size_t>(indptr[row]);
        const std::span<Item> part(items.data() + begin,
                                   static_cast<std::size_t>(indptr[row + 1]) - begin);
        sort_row(part, other);
    }
    return items;
}

/// Fills indptr; whether the edges come sorted without duplicates.
bool count_rows(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                std::span<std::int32_t> indptr) {
    bool increase = true;
    Placed before = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        assert(rows[i] >= 0 && static_cast<std::size_t>(rows[i]) + 1 < indptr.size());
        assert(columns[i] >= 0);
        ++indptr[static_cast<std::size_t>(rows[i]) + 1];
        // One more than the edge, so that the first one may be (0, 0).
        const Placed key =
            (Placed{static_cast<Column>(rows[i])} << 32) + static_cast<Column>(columns[i]) + 1;
        increase &= key > before;
        before = key;
    }
    for (std::size_t row = 1; row < indptr.size(); ++row) indptr[row] += indptr[row - 1];
    return increase;
}

std::int32_t count_duplicates(const SortedEdges& edges) {
    std::int32_t found = 0;
    for (std::size_t row = 0; row + 1 < edges.indptr.size(); ++row) {
        const auto end = static_cast<std::size_t>(edges.indptr[row + 1]);
        for (auto at = static_cast<std::size_t>(edges.indptr[row]) + 1; at < end; ++at)
            found += edges.indices[at] == edges.indices[at - 1];
    }
    return found;
}

}  // namespace

SortedEdges sort_edges(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                       std::int32_t n_rows, bool ordered) {
    assert(n_rows >= 0 && rows.size() == columns.size());
    assert(rows.size() <= std::numeric_limits<std::int32_t>::max());
    SortedEdges edges;
    edges.indptr.assign(static_cast<std::size_t>(n_rows) + 1, 0);
    if (count_rows(rows, columns, edges.indptr)) {
        edges.indices.assign(columns.begin(), columns.end());
        return edges;
    }
    if (ordered) {
        const auto items = sorted_items<Placed>(rows, edges.indptr, [&](std::size_t i) {
            return Placed{static_cast<Column>(columns[i])} << 32 | i;
        });
        edges.indices.resize(items.size());
        edges.order.resize(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            edges.indices[i] = static_cast<std::int32_t>(column_of(items[i]));
            edges.order[i] = static_cast<std::int32_t>(items[i] & 0xFFFFFFFFU);
        }
    } else {
        edges.indices = sorted_items<std::int32_t>(rows, edges.indptr,
                                                   [&](std::size_t i) { return columns[i]; });
    }
    edges.duplicates = count_duplicates(edges);
    return edges;
}

}  // namespace anonymatch
