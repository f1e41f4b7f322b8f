#include "spare_chain/spare_chain.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "common/random.hpp"

namespace anonymatch {

namespace {

constexpr std::size_t ahead = 32;  // moves whose first picks are made together: waits overlap
constexpr std::int32_t none = -1;

struct Pick {
    std::int32_t row, column;  // column `none`: it rests
};

}  // namespace

class SpareChain::Job {
public:
    explicit Job(const WideBlock& block)
        : columns_(block.columns),
          indptr_(block.indptr.begin(), block.indptr.end()),
          indices_(block.indices.begin(), block.indices.end()),
          weights_(block.weights.begin(), block.weights.end()) {
        check();
        if (weights_.empty()) return;
        totals_.resize(weights_.size());
        for (std::size_t row = 0; row < rows(); ++row) {
            double total = 0.0;
            for (auto edge = begin(row); edge < end(row); ++edge)
                totals_[edge] = total += weights_[edge];
            if (!(total > 0.0)) throw std::invalid_argument("a row of weight 0");
        }
    }

    [[nodiscard]] std::size_t rows() const noexcept { return indptr_.size() - 1; }
    [[nodiscard]] std::size_t edges() const noexcept { return indices_.size(); }
    [[nodiscard]] std::size_t columns() const noexcept {
        return static_cast<std::size_t>(columns_);
    }
    [[nodiscard]] std::size_t begin(std::size_t row) const noexcept {
        return static_cast<std::size_t>(indptr_[row]);
    }
    [[nodiscard]] std::size_t end(std::size_t row) const noexcept { return begin(row + 1); }
    [[nodiscard]] std::int32_t column(std::size_t edge) const noexcept { return indices_[edge]; }
    [[nodiscard]] bool weighted() const noexcept { return !weights_.empty(); }
    [[nodiscard]] double weight(std::size_t edge) const noexcept { return weights_[edge]; }

    /// An edge of the row in proportion to its weight; edges() where it rests.
    std::size_t pick(std::size_t row, double rest, Random& random) const noexcept {
        const std::size_t first = begin(row), size = end(row) - first;
        if (!weighted() && rest == 0.0)
            return first + Random::below(static_cast<std::uint32_t>(size),
                                         static_cast<std::uint32_t>(random.bits() >> 32));
        const double whole = weighted() ? totals_[first + size - 1] : static_cast<double>(size);
        const double at = random.unit() * (whole + rest);
        if (at >= whole) return rest > 0.0 ? edges() : last_positive(first, size);
        if (!weighted()) return first + std::min(static_cast<std::size_t>(at), size - 1);
        const auto from = totals_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto past = std::upper_bound(from, from + static_cast<std::ptrdiff_t>(size), at);
        return first + static_cast<std::size_t>(past - from);
    }

private:
    void check() const {
        const bool sizes = indptr_.size() >= 2 && indptr_.front() == 0 &&
                           static_cast<std::size_t>(indptr_.back()) == indices_.size() &&
                           (weights_.empty() || weights_.size() == indices_.size());
        if (!sizes) throw std::invalid_argument("arrays of a block that do not fit");
        for (std::size_t row = 0; row + 1 < indptr_.size(); ++row) {
            if (indptr_[row + 1] <= indptr_[row]) throw std::invalid_argument("an empty row");
            for (auto edge = begin(row); edge < end(row); ++edge) {
                const bool sorted = edge == begin(row) || indices_[edge - 1] < indices_[edge];
                if (!sorted || indices_[edge] < 0 || indices_[edge] >= columns_)
                    throw std::invalid_argument("a row that is not sorted");
            }
        }
        for (const double weight : weights_)
            if (!(weight >= 0.0 && weight <= 1.0)) throw std::invalid_argument("a weight");
    }

    /// Where rounding put a draw beyond all: the last edge that can be picked.
    [[nodiscard]] std::size_t last_positive(std::size_t first, std::size_t size) const noexcept {
        std::size_t edge = first + size - 1;
        while (weighted() && edge > first && weights_[edge] == 0.0) --edge;
        return edge;
    }

    std::int32_t columns_;
    std::vector<std::int32_t> indptr_, indices_;
    std::vector<double> weights_, totals_;
};

namespace {

/// One chain under way.
template <class Job>
class Walk {
public:
    Walk(const Job& job, std::span<const std::int32_t> start, double rest, std::uint64_t seed,
         std::uint64_t index)
        : job_(job),
          rest_(rest),
          random_(seed, index),
          owner_(job.columns(), none),
          free_((job.columns() + 63) / 64, ~std::uint64_t{0}),
          column_(start.begin(), start.end()) {
        if (start.size() != job.rows()) throw std::invalid_argument("a start of other rows");
        for (std::size_t row = 0; row < start.size(); ++row) settle(row, start[row]);
    }

    /// The picks that it took, at least `number`.
    std::uint64_t moves(std::uint64_t number) {
        std::uint64_t picks = 0;
        std::array<Pick, ahead> first{};
        while (number > 0) {
            const auto together = static_cast<std::size_t>(std::min<std::uint64_t>(number, ahead));
            choose(first, together);
            for (std::size_t k = 0; k < together; ++k) picks += move(first[k]);
            number -= together;
        }
        return picks;
    }

    /// Adds the law of each row given all others; the sum of 1 / (rest + what is free to it).
    template <bool weighted, bool edges>
    double record(std::vector<double>& sums) {
        double resting = 0.0;
        for (std::size_t row = 0; row < job_.rows(); ++row) {
            const std::size_t first = job_.begin(row), size = job_.end(row) - first;
            if (open_.size() < size) open_.resize(size);
            const double whole = rest_ + open_weight<weighted>(first, size, column_[row]);
            if (!(whole > 0.0)) continue;  // a start that weighs nothing
            const double each = 1.0 / whole;
            resting += each;
            if constexpr (edges)
                for (std::size_t k = 0; k < size; ++k) sums[first + k] += each * open_[k];
        }
        return resting;
    }

    [[nodiscard]] const std::vector<std::int32_t>& matching() const noexcept { return column_; }

private:
    [[nodiscard]] static std::size_t at(std::int32_t number) noexcept {
        return static_cast<std::size_t>(number);
    }
    [[nodiscard]] bool is_free(std::int32_t column) const noexcept {
        return (free_[at(column) / 64] >> (at(column) % 64) & 1) != 0;
    }

    /// Weights of what a row with this column may have, into `open_`, and their sum. No branches: what
    /// is free is as good as random.
    template <bool weighted>
    double open_weight(std::size_t first, std::size_t size, std::int32_t own) {
        if constexpr (weighted) {
            double sum = 0.0;
            for (std::size_t k = 0; k < size; ++k)
                sum += open_[k] = job_.weight(first + k) * is_open(job_.column(first + k), own);
            return sum;
        } else {
            std::uint32_t number = 0;
            for (std::size_t k = 0; k < size; ++k) {
                const std::uint32_t open = is_open(job_.column(first + k), own);
                open_[k] = static_cast<double>(static_cast<std::int32_t>(open));
                number += open;
            }
            return number;
        }
    }

    [[nodiscard]] std::uint32_t is_open(std::int32_t column, std::int32_t own) const noexcept {
        const auto bit = static_cast<std::uint32_t>(free_[at(column) / 64] >> (at(column) % 64));
        return (bit & 1U) | static_cast<std::uint32_t>(column == own);
    }

    void settle(std::size_t row, std::int32_t column) {
        if (column == none && rest_ > 0.0) return;
        const auto edge = [&](std::size_t e) { return job_.column(e); };
        bool known = false;
        for (std::size_t e = job_.begin(row); e < job_.end(row); ++e) known |= edge(e) == column;
        if (!known || !is_free(column)) throw std::invalid_argument("a start that is no matching");
        take(column, row);
        free_[at(column) / 64] ^= std::uint64_t{1} << (at(column) % 64);
    }

    void take(std::int32_t column, std::size_t row) noexcept {
        owner_[at(column)] = static_cast<std::int32_t>(row);
        column_[row] = column;
    }

    /// Rows to begin with and what they pick, which the state has no part in.
    void choose(std::array<Pick, ahead>& first, std::size_t number) {
        std::array<std::size_t, ahead> edge{};
        const auto rows = static_cast<std::uint32_t>(job_.rows());
        for (std::size_t k = 0; k < number; ++k) {
            const auto bits = static_cast<std::uint32_t>(random_.bits() >> 32);
            first[k].row = static_cast<std::int32_t>(Random::below(rows, bits));
        }
        for (std::size_t k = 0; k < number; ++k)
            edge[k] = job_.pick(at(first[k].row), rest_, random_);
        for (std::size_t k = 0; k < number; ++k) {
            first[k].column = edge[k] == job_.edges() ? none : job_.column(edge[k]);
            if (first[k].column != none) __builtin_prefetch(&owner_[at(first[k].column)], 1);
        }
    }

    std::uint64_t move(Pick next) {
        std::size_t row = at(next.row);
        const std::int32_t left = column_[row];
        if (left != none) {
            owner_[at(left)] = none;
            flip(left);
        }
        std::int32_t column = next.column;
        std::uint64_t picks = 1;
        for (;; ++picks) {
            if (column == none) {
                column_[row] = none;
                return picks;
            }
            const std::int32_t before = owner_[at(column)];
            take(column, row);
            if (before == none) {
                flip(column);
                return picks;
            }
            row = at(before);
            const std::size_t edge = job_.pick(row, rest_, random_);
            column = edge == job_.edges() ? none : job_.column(edge);
        }
    }

    void flip(std::int32_t column) noexcept {
        free_[at(column) / 64] ^= std::uint64_t{1} << (at(column) % 64);
    }

    const Job& job_;
    double rest_;
    Random random_;
    std::vector<std::int32_t> owner_;
    std::vector<std::uint64_t> free_;
    std::vector<std::int32_t> column_;
    std::vector<double> open_;
};

template <bool weighted, class Walk>
double recorded(Walk& walk, SpareRecord record, std::vector<double>& sums) {
    return record.edges ? walk.template record<weighted, true>(sums)
                        : walk.template record<weighted, false>(sums);
}

}  // namespace

SpareChain::SpareChain(const WideBlock& block) : job_(std::make_unique<const Job>(block)) {}
SpareChain::~SpareChain() = default;
SpareChain::SpareChain(SpareChain&&) noexcept = default;
SpareChain& SpareChain::operator=(SpareChain&&) noexcept = default;

SpareSamples SpareChain::run(std::span<const std::int32_t> start, std::uint64_t seed,
                             std::uint64_t index, std::uint64_t samples, std::uint64_t moves,
                             double rest, SpareRecord record, CancelFlag cancel,
                             std::uint64_t most_picks) const {
    constexpr std::uint64_t glance = ahead;  // moves between two looks at the flag: some are long
    Walk<Job> walk(*job_, start, rest, seed, index);
    SpareSamples result;
    if (record.edges) result.sums.assign(job_->edges(), 0.0);
    bool stopped = false;
    while (result.samples < samples && !stopped) {
        for (std::uint64_t done = 0; done < moves && !stopped;) {
            const std::uint64_t now = std::min(glance, moves - done);
            result.picks += walk.moves(now);
            done += now;
            stopped = cancel.raised() || result.picks >= most_picks;
        }
        if (stopped) break;
        ++result.samples;
        if (record.edges || record.resting) {
            const double resting = job_->weighted() ? recorded<true>(walk, record, result.sums)
                                                    : recorded<false>(walk, record, result.sums);
            if (record.resting) result.resting.push_back(resting);
        }
        if (record.matchings)
            result.matchings.insert(result.matchings.end(), walk.matching().begin(),
                                    walk.matching().end());
    }
    result.last = walk.matching();
    return result;
}

}  // namespace anonymatch
