#include "frontier/frontier_split.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "frontier/frontier_search.hpp"

namespace anonymatch {
namespace {

using frontier::Price;

/// A part under way.
struct Piece {
    std::vector<std::uint8_t> kept;
    Price price;
    std::int64_t number = 0;
};

class Splitter {
public:
    Splitter(const BlockView& block, std::span<const std::int32_t> order)
        : block_(block),
          order_(order),
          step_of_row_(order.size()),
          step_(block.indices.size()),
          indptr_(order.size() + 1),
          indices_(block.indices.size()) {
        for (std::size_t t = 0; t < order.size(); ++t)
            step_of_row_[static_cast<std::size_t>(order[t])] = static_cast<std::int32_t>(t);
        for (std::size_t row = 0; row < order.size(); ++row)
            for (std::size_t edge = begin(row); edge < begin(row + 1); ++edge)
                step_[edge] = step_of_row_[row];
    }

    [[nodiscard]] Piece all() {
        Piece piece{std::vector<std::uint8_t>(step_.size(), 1), {}};
        piece.price = price(piece.kept);
        return piece;
    }

    /// The two halves of a piece with the least transitions together, at its widest layer.
    [[nodiscard]] std::optional<std::pair<Piece, Piece>> halves(const Piece& piece) {
        const std::int32_t column = best_column(piece);
        if (column < 0) return std::nullopt;
        return std::pair(without(piece, column, true), without(piece, column, false));
    }

private:
    [[nodiscard]] std::size_t begin(std::size_t row) const {
        return static_cast<std::size_t>(block_.indptr[row]);
    }

    /// Where a column's rows lie around a layer, in steps; -1 if there is none on that side.
    struct Span {
        std::int32_t first = -1;  // of all
        std::int32_t last = -1;
        std::int32_t before = -1;  // the last before the layer
        std::int32_t after = -1;   // the first from it on
    };

    /// The column with edges on both sides of the widest layer whose halves are the shortest; -1 if
    /// there is none. Early halves have it leave before the layer, so that from then to its last row
    /// one less is live and one more is gone; in late ones it is not live until the layer. Sums over
    /// steps of all three prices tell each column's at once.
    [[nodiscard]] std::int32_t best_column(const Piece& piece) {
        const std::vector<Span> spans = find_spans(piece);
        add_up(piece, spans);
        std::vector<double> saved(spans.size(), 0);  // by rows that lose an edge
        for (std::size_t edge = 0; edge < step_.size(); ++edge) {
            if (piece.kept[edge] == 0) continue;
            const auto column = static_cast<std::size_t>(block_.indices[edge]);
            const auto step = static_cast<std::size_t>(step_[edge]);
            if (step_[edge] >= piece.price.widest)
                saved[column] += early_[step];
            else
                saved[column] += step_[edge] == spans[column].first ? states_[step] : late_[step];
        }
        std::int32_t best = -1;
        double least = 0;
        for (std::size_t column = 0; column < spans.size(); ++column) {
            const auto& [first, last, before, after] = spans[column];
            if (before < 0 || after < 0) continue;
            const auto between = [](const std::vector<double>& sums, std::int32_t from,
                                    std::int32_t to) {
                return sums[static_cast<std::size_t>(to)] - sums[static_cast<std::size_t>(from)];
            };
            const double longer = between(early_sums_, before + 1, last + 1) -
                                  between(sums_, before + 1, last + 1) +
                                  between(late_sums_, first + 1, after + 1) -
                                  between(sums_, first + 1, after + 1) - saved[column];
            if (best < 0 || longer < least) {
                least = longer;
                best = static_cast<std::int32_t>(column);
            }
        }
        return best;
    }

    [[nodiscard]] std::vector<Span> find_spans(const Piece& piece) const {
        std::vector<Span> spans(static_cast<std::size_t>(block_.n_columns));
        for (std::size_t edge = 0; edge < step_.size(); ++edge) {
            if (piece.kept[edge] == 0) continue;
            auto& [first, last, before, after] =
                spans[static_cast<std::size_t>(block_.indices[edge])];
            const std::int32_t step = step_[edge];
            first = first < 0 ? step : std::min(first, step);
            last = std::max(last, step);
            if (step < piece.price.widest)
                before = std::max(before, step);
            else
                after = after < 0 ? step : std::min(after, step);
        }
        return spans;
    }

    /// For every step the states before it: as they are, with one column less that is used, and
    /// with one less that is not; and sums of their transitions, from step 0 on.
    void add_up(const Piece& piece, const std::vector<Span>& spans) {
        const std::size_t steps = order_.size();
        std::vector<std::int32_t> change(steps + 1, 0);
        std::vector<std::int32_t> leaving(steps + 1, 0);
        std::vector<double> degree(steps, 0);
        for (const Span& span : spans) {
            ++change[static_cast<std::size_t>(span.first) + 1];
            --change[static_cast<std::size_t>(span.last) + 1];
            ++leaving[static_cast<std::size_t>(span.last) + 1];
        }
        for (std::size_t edge = 0; edge < step_.size(); ++edge)
            degree[static_cast<std::size_t>(step_[edge])] += piece.kept[edge];
        for (auto* values : {&states_, &early_, &late_}) values->assign(steps, 0);
        for (auto* sums : {&sums_, &early_sums_, &late_sums_}) sums->assign(steps + 1, 0);
        std::int32_t live = 0;
        std::int32_t gone = 0;
        for (std::size_t step = 0; step < steps; ++step) {
            live += change[step];
            gone += leaving[step];
            const std::int32_t used = static_cast<std::int32_t>(step) - gone;
            states_[step] = frontier::subsets_between(live, used, used);
            early_[step] = live > 0 ? frontier::subsets_between(live - 1, used - 1, used - 1) : 0;
            late_[step] = live > 0 ? frontier::subsets_between(live - 1, used, used) : 0;
            sums_[step + 1] = sums_[step] + states_[step] * degree[step];
            early_sums_[step + 1] = early_sums_[step] + early_[step] * degree[step];
            late_sums_[step + 1] = late_sums_[step] + late_[step] * degree[step];
        }
    }

    /// The piece without the column's edges on one side of its widest layer.
    [[nodiscard]] Piece without(const Piece& piece, std::int32_t column, bool later) {
        Piece half{piece.kept, {}};
        for (std::size_t edge = 0; edge < step_.size(); ++edge)
            if (block_.indices[edge] == column && (step_[edge] >= piece.price.widest) == later)
                half.kept[edge] = 0;
        half.price = price(half.kept);
        return half;
    }

    [[nodiscard]] Price price(const std::vector<std::uint8_t>& kept) {
        std::int32_t size = 0;
        for (std::size_t row = 0; row < order_.size(); ++row) {
            indptr_[row] = size;
            for (std::size_t edge = begin(row); edge < begin(row + 1); ++edge)
                if (kept[edge] != 0)
                    indices_[static_cast<std::size_t>(size++)] = block_.indices[edge];
            if (size == indptr_[row]) return {.possible = false};
        }
        indptr_[order_.size()] = size;
        const std::span<const std::int32_t> columns(indices_.data(),
                                                    static_cast<std::size_t>(size));
        return frontier::price_order({block_.n_rows, block_.n_columns, indptr_, columns}, order_);
    }

    BlockView block_;
    std::span<const std::int32_t> order_;
    std::vector<std::int32_t> step_of_row_;
    std::vector<std::int32_t> step_;    // of every edge
    std::vector<std::int32_t> indptr_;  // of the part that is priced
    std::vector<std::int32_t> indices_;
    std::vector<double> states_, early_, late_;  // of the piece that is to be split
    std::vector<double> sums_, early_sums_, late_sums_;
};

/// Pieces by how urgently they are to be split.
class Queue {
public:
    explicit Queue(const SplitLimits& limits) : limits_(limits) {}

    [[nodiscard]] bool must(const Piece& piece) const {
        return piece.price.peak > limits_.peak_states || piece.price.transitions > limits_.longest;
    }

    void push(Piece&& piece) {
        if (!piece.price.possible) return;
        piece.number = made_++;
        pieces_.push_back(std::move(piece));
        std::ranges::push_heap(pieces_, {}, [this](const Piece& each) { return urgency(each); });
    }

    [[nodiscard]] Piece pop() {
        std::ranges::pop_heap(pieces_, {}, [this](const Piece& each) { return urgency(each); });
        Piece piece = std::move(pieces_.back());
        pieces_.pop_back();
        return piece;
    }

    [[nodiscard]] std::vector<Piece>& pieces() { return pieces_; }

private:
    /// First those that must be split, the longest first, and of equals the older.
    [[nodiscard]] std::tuple<bool, double, std::int64_t> urgency(const Piece& piece) const {
        return {must(piece), piece.price.transitions, -piece.number};
    }

    SplitLimits limits_;
    std::int64_t made_ = 0;
    std::vector<Piece> pieces_;
};

}  // namespace

std::vector<FrontierPart> split_frontier(const BlockView& block,
                                         std::span<const std::int32_t> order,
                                         const SplitLimits& limits, CancelFlag cancel) {
    Splitter splitter(block, order);
    Queue open(limits);
    std::vector<Piece> done;  // no split makes them smaller
    open.push(splitter.all());
    double together = open.pieces()[0].price.transitions;
    const double allowed = limits.stretch * together;
    while (!cancel.raised() && !open.pieces().empty() &&
           std::ssize(open.pieces()) + std::ssize(done) < limits.parts) {
        Piece next = open.pop();
        const double transitions = next.price.transitions;
        const bool must = open.must(next);
        auto halves = must || transitions > limits.worth ? splitter.halves(next) : std::nullopt;
        const double first = halves ? halves->first.price.transitions : 0;
        const double second = halves ? halves->second.price.transitions : 0;
        if (!halves || std::max(first, second) >= transitions) {
            done.push_back(std::move(next));
            continue;
        }
        if (!must && together - transitions + first + second > allowed) {
            done.push_back(std::move(next));
            break;
        }
        together += first + second - transitions;
        open.push(std::move(halves->first));
        open.push(std::move(halves->second));
    }
    std::ranges::move(open.pieces(), std::back_inserter(done));
    std::ranges::sort(done, {}, [](const Piece& piece) {
        return std::pair(-piece.price.transitions, piece.number);
    });
    std::vector<FrontierPart> parts;
    parts.reserve(done.size());
    for (Piece& piece : done)
        parts.push_back({std::move(piece.kept), piece.price.peak, piece.price.transitions});
    return parts;
}

}  // namespace anonymatch
