#include "frontier/frontier_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "frontier/frontier_beam.hpp"

namespace anonymatch::frontier {
namespace {

using Order = std::vector<std::int32_t>;

/// Rows by column, the other way to read a block.
struct Columns {
    std::vector<std::int32_t> indptr;
    std::vector<std::int32_t> rows;

    explicit Columns(const BlockView& block)
        : indptr(static_cast<std::size_t>(block.n_columns) + 1, 0), rows(block.indices.size()) {
        for (const std::int32_t column : block.indices)
            ++indptr[static_cast<std::size_t>(column) + 1];
        std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
        std::vector<std::int32_t> at(indptr.begin(), indptr.end() - 1);
        for (std::int32_t row = 0; row < block.n_rows; ++row) {
            const auto r = static_cast<std::size_t>(row);
            for (std::int32_t edge = block.indptr[r]; edge < block.indptr[r + 1]; ++edge) {
                const auto column =
                    static_cast<std::size_t>(block.indices[static_cast<std::size_t>(edge)]);
                rows[static_cast<std::size_t>(at[column]++)] = row;
            }
        }
    }
};

std::span<const std::int32_t> part(std::span<const std::int32_t> items,
                                   std::span<const std::int32_t> indptr, std::int32_t i) {
    const auto k = static_cast<std::size_t>(i);
    return items.subspan(static_cast<std::size_t>(indptr[k]),
                         static_cast<std::size_t>(indptr[k + 1] - indptr[k]));
}

/// Greedy elimination: next comes the row with the fewest new minus finished columns. Rows wait in
/// buckets by that number, renewed whenever it changes, so a run takes time linear in the sum of
/// squared degrees. Within a bucket the row changed last comes first: it keeps to one place.
class Greedy {
public:
    Greedy(const BlockView& block, const Columns& columns) : block_(block), columns_(columns) {
        std::size_t most = 0;
        for (std::int32_t row = 0; row < block.n_rows; ++row)
            most = std::max(most, part(block.indices, block.indptr, row).size());
        degree_limit_ = static_cast<std::int32_t>(most);
    }

    Order from(std::int32_t start) {
        const auto n_rows = static_cast<std::size_t>(block_.n_rows);
        score_.resize(n_rows);
        done_.assign(n_rows, 0);
        touched_.assign(static_cast<std::size_t>(block_.n_columns), 0);
        rows_left_.resize(static_cast<std::size_t>(block_.n_columns));
        buckets_.assign(2 * static_cast<std::size_t>(degree_limit_) + 1, {});
        for (std::int32_t column = 0; column < block_.n_columns; ++column)
            rows_left_[static_cast<std::size_t>(column)] =
                static_cast<std::int32_t>(part(columns_.rows, columns_.indptr, column).size());
        for (std::int32_t row = 0; row < block_.n_rows; ++row) {
            std::int32_t score = 0;
            for (const std::int32_t column : part(block_.indices, block_.indptr, row))
                score += rows_left_[static_cast<std::size_t>(column)] == 1 ? 0 : 1;
            score_[static_cast<std::size_t>(row)] = score;
        }
        Order order;
        order.reserve(n_rows);
        std::int32_t next_unseen = 0;
        std::int32_t row = start;
        while (true) {
            take(row);
            order.push_back(row);
            if (order.size() == n_rows) return order;
            row = best_waiting();
            while (row < 0) {
                if (done_[static_cast<std::size_t>(next_unseen)] == 0) row = next_unseen;
                ++next_unseen;
            }
        }
    }

private:
    void wait(std::int32_t row) {
        const std::int32_t score = score_[static_cast<std::size_t>(row)] + degree_limit_;
        buckets_[static_cast<std::size_t>(score)].push_back(row);
        lowest_ = std::min(lowest_, static_cast<std::size_t>(score));
    }
    void take(std::int32_t row) {
        done_[static_cast<std::size_t>(row)] = 1;
        for (const std::int32_t column : part(block_.indices, block_.indptr, row)) {
            const auto c = static_cast<std::size_t>(column);
            --rows_left_[c];
            const std::int32_t change = (touched_[c] == 0 ? -1 : 0) + (rows_left_[c] == 1 ? -1 : 0);
            touched_[c] = 1;
            if (change == 0) continue;
            for (const std::int32_t other : part(columns_.rows, columns_.indptr, column)) {
                if (done_[static_cast<std::size_t>(other)] != 0) continue;
                score_[static_cast<std::size_t>(other)] += change;
                wait(other);
            }
        }
    }
    std::int32_t best_waiting() {
        for (; lowest_ < buckets_.size(); ++lowest_) {
            std::vector<std::int32_t>& bucket = buckets_[lowest_];
            while (!bucket.empty()) {
                const std::int32_t row = bucket.back();
                bucket.pop_back();
                const auto r = static_cast<std::size_t>(row);
                if (done_[r] == 0 &&
                    score_[r] + degree_limit_ == static_cast<std::int32_t>(lowest_))
                    return row;
            }
        }
        return -1;
    }

    const BlockView& block_;
    const Columns& columns_;
    std::int32_t degree_limit_ = 0;
    std::size_t lowest_ = 0;
    std::vector<std::int32_t> score_;
    std::vector<std::uint8_t> done_;
    std::vector<std::uint8_t> touched_;
    std::vector<std::int32_t> rows_left_;
    std::vector<std::vector<std::int32_t>> buckets_;
};

/// Cuthill-McKee: rows level by level from `start` (then from any row not reached), low degrees
/// first among the rows that share a column. Each column is opened once: linear but for the
/// sorting.
Order level_order(const BlockView& block, const Columns& columns, std::int32_t start) {
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(block.n_rows), 0);
    std::vector<std::uint8_t> opened(static_cast<std::size_t>(block.n_columns), 0);
    Order order;
    order.reserve(seen.size());
    const auto degree = [&](std::int32_t row) {
        return block.indptr[static_cast<std::size_t>(row) + 1] -
               block.indptr[static_cast<std::size_t>(row)];
    };
    const auto reach = [&](std::int32_t row) {
        if (seen[static_cast<std::size_t>(row)] != 0) return;
        seen[static_cast<std::size_t>(row)] = 1;
        order.push_back(row);
    };
    reach(start);
    std::size_t at = 0;
    for (std::int32_t root = 0; order.size() < seen.size() || at < order.size();) {
        if (at == order.size()) {
            reach(root++);
            continue;
        }
        const std::size_t end = order.size();
        for (const std::int32_t column : part(block.indices, block.indptr, order[at])) {
            if (opened[static_cast<std::size_t>(column)] != 0) continue;
            opened[static_cast<std::size_t>(column)] = 1;
            for (const std::int32_t row : part(columns.rows, columns.indptr, column)) reach(row);
        }
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(end), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return degree(a) < degree(b); });
        ++at;
    }
    return order;
}

/// The cheapest order so far; among infinite prices the narrowest.
class Best {
public:
    explicit Best(const BlockView& block) : block_(block) {}
    void offer(Order order) {
        const Price offered = price_order(block_, order);
        if (!order_.empty() &&
            (offered.transitions > price_.transitions ||
             (offered.transitions == price_.transitions && offered.width >= price_.width)))
            return;
        price_ = offered;
        order_ = std::move(order);
    }
    [[nodiscard]] double price() const noexcept { return price_.transitions; }
    [[nodiscard]] Order take() noexcept { return std::move(order_); }

private:
    const BlockView& block_;
    Price price_;
    Order order_;
};

}  // namespace

// Prices are transitions of about 3 ns; a greedy order takes about 10 transitions an edge and a
// beam about half a transition a unit of its work (measured). Search is bounded by a share of the
// price of the best order known at the time, so narrow natural orders (logs by time) cost no
// search.
Order search_order(const BlockView& block, double effort) {
    Best best(block);
    Order natural(static_cast<std::size_t>(block.n_rows));
    std::iota(natural.begin(), natural.end(), 0);
    best.offer(std::move(natural));
    const double greedy_price = 10.0 * static_cast<double>(block.indices.size());
    if (best.price() <= 4 * greedy_price) return best.take();

    const Columns columns(block);
    const std::int32_t far_end = level_order(block, columns, 0).back();
    Order levels = level_order(block, columns, far_end);
    const std::int32_t other_end = levels.back();
    best.offer(levels);
    std::reverse(levels.begin(), levels.end());
    best.offer(std::move(levels));
    Greedy greedy(block, columns);
    best.offer(greedy.from(far_end));
    best.offer(greedy.from(other_end));
    constexpr double most_greedy = 3e6;  // transitions: about 10 ms
    const double share = std::min(effort * 0.05 * best.price(), effort * most_greedy);
    const auto starts = static_cast<std::int64_t>(
        std::min(share / greedy_price, static_cast<double>(block.n_rows)));
    for (std::int64_t k = 0; k < starts; ++k)
        best.offer(greedy.from(static_cast<std::int32_t>(k * block.n_rows / starts)));

    constexpr std::size_t widest_beam = 4096;
    for (std::size_t width = 64; width <= widest_beam; width *= 4) {
        // A run of days is no reason to search for minutes: it is not going to happen.
        const double share_of = best.price() > 1e13 ? 3e7 : std::min(best.price(), 2e10);
        if (0.5 * beam_work(block) * static_cast<double>(width) > effort * 0.15 * share_of) break;
        best.offer(beam_order(block, width));
    }
    return best.take();
}

}  // namespace anonymatch::frontier
