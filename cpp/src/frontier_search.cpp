#include "frontier_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace anonymatch::frontier {
namespace {

using Order = std::vector<std::int32_t>;

/// Rows by column, the other way to read a block.
struct Columns {
    std::vector<std::int32_t> indptr;
    std::vector<std::int32_t> rows;

    explicit Columns(const BlockView& block)
        : indptr(static_cast<std::size_t>(block.n_columns) + 1, 0), rows(block.indices.size()) {
        for (const std::int32_t column : block.indices) ++indptr[static_cast<std::size_t>(column) + 1];
        std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
        std::vector<std::int32_t> at(indptr.begin(), indptr.end() - 1);
        for (std::int32_t row = 0; row < block.n_rows; ++row) {
            const auto r = static_cast<std::size_t>(row);
            for (std::int32_t edge = block.indptr[r]; edge < block.indptr[r + 1]; ++edge) {
                const auto column = static_cast<std::size_t>(block.indices[static_cast<std::size_t>(edge)]);
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
            rows_left_[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(
                part(columns_.rows, columns_.indptr, column).size());
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

}  // namespace

Order search_order(const BlockView& block, double effort) {
    Order best(static_cast<std::size_t>(block.n_rows));
    std::iota(best.begin(), best.end(), 0);
    double price = price_order(block, best).transitions;
    const auto offer = [&](Order order) {
        const double offered = price_order(block, order).transitions;
        if (offered < price) {
            price = offered;
            best = std::move(order);
        }
    };
    const Columns columns(block);
    Greedy greedy(block, columns);
    const auto edges = static_cast<double>(block.indices.size());
    const auto starts = static_cast<std::int32_t>(
        std::clamp(effort * 1e5 / edges, 1.0, static_cast<double>(block.n_rows)));
    for (std::int32_t k = 0; k < starts; ++k)
        offer(greedy.from(static_cast<std::int32_t>(static_cast<std::int64_t>(k) * block.n_rows / starts)));
    return best;
}

}  // namespace anonymatch::frontier
