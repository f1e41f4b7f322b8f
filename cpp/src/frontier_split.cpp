#include "anonymatch/frontier_split.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "frontier_search.hpp"

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
        std::optional<std::pair<Piece, Piece>> best;
        double least = 0;
        for (const std::int32_t column : live(piece)) {
            Piece early = without(piece, column, true);
            Piece late = without(piece, column, false);
            const double together = early.price.transitions + late.price.transitions;
            if (!best || together < least) {
                least = together;
                best.emplace(std::move(early), std::move(late));
            }
        }
        return best;
    }

private:
    [[nodiscard]] std::size_t begin(std::size_t row) const {
        return static_cast<std::size_t>(block_.indptr[row]);
    }

    /// Columns with edges on both sides of the widest layer.
    [[nodiscard]] std::vector<std::int32_t> live(const Piece& piece) const {
        const auto n_columns = static_cast<std::size_t>(block_.n_columns);
        std::vector<bool> early(n_columns);
        std::vector<bool> late(n_columns);
        for (std::size_t edge = 0; edge < step_.size(); ++edge) {
            if (piece.kept[edge] == 0) continue;
            const bool before = step_[edge] < piece.price.widest;
            (before ? early : late)[static_cast<std::size_t>(block_.indices[edge])] = true;
        }
        std::vector<std::int32_t> columns;
        for (std::size_t column = 0; column < n_columns; ++column)
            if (early[column] && late[column]) columns.push_back(static_cast<std::int32_t>(column));
        return columns;
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
                                         const SplitLimits& limits) {
    Splitter splitter(block, order);
    Queue open(limits);
    std::vector<Piece> done;  // no split makes them smaller
    open.push(splitter.all());
    double together = open.pieces()[0].price.transitions;
    const double allowed = limits.stretch * together;
    while (!open.pieces().empty() && std::ssize(open.pieces()) + std::ssize(done) < limits.parts) {
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
