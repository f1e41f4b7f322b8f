// A matching of a few rows and as many columns, drawn exactly, with its marginals.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/random.hpp"

namespace anonymatch::profile_chain {

/// Sums over sets of columns: `before[S]`, of the first |S| rows on the columns S; `after[S]`, of the
/// other rows on the other columns. Weights are scaled by row, so that nothing overflows; a sum that
/// underflows is less than 2^-900 of the largest term.
class GroupDraw {
public:
    explicit GroupDraw(std::size_t most)
        : before_(std::size_t{1} << most), after_(before_.size()) {}

    /// Weights of `size` rows, each by column.
    double* weights(std::size_t size) {
        size_ = size;
        weights_.resize(size * size);
        return weights_.data();
    }

    /// The sum over all matchings, after which the two below may be asked.
    double forward() {
        const std::size_t sets = std::size_t{1} << size_;
        for (std::size_t set = 0; set < sets; ++set) before_[set] = 0.0;
        before_[0] = 1.0;
        for (std::size_t set = 0; set + 1 < sets; ++set) {
            const double sum = before_[set];
            const double* const row = weights_.data() + size_ * rows_in(set);
            for (std::size_t free = ~set & (sets - 1); free != 0; free &= free - 1)
                before_[set | (free & -free)] += sum * row[std::countr_zero(free)];
        }
        return before_[sets - 1];
    }

    /// The column of each row, by the law of the weights.
    template <class Columns>
    void draw(Random& random, Columns& columns) {
        std::size_t set = (std::size_t{1} << size_) - 1;
        for (std::size_t row = size_; row-- > 0;) {
            const double* const weights = weights_.data() + size_ * row;
            double left = before_[set] * random.unit();
            std::size_t chosen = 0;
            for (std::size_t rest = set; rest != 0; rest &= rest - 1) {
                const auto column = static_cast<std::size_t>(std::countr_zero(rest));
                const double term = before_[set ^ (rest & -rest)] * weights[column];
                if (term > 0.0) chosen = column;
                if ((left -= term) < 0.0) break;
            }
            columns[row] = chosen;
            set ^= std::size_t{1} << chosen;
        }
    }

    /// Adds each pair's probability by `add(row, column, probability)`.
    template <class Add>
    void marginals(Add add) {
        const std::size_t sets = std::size_t{1} << size_;
        const double whole = before_[sets - 1];
        after_[sets - 1] = 1.0;
        for (double& share : shares(size_ * size_)) share = 0.0;
        for (std::size_t set = sets - 1; set-- > 0;) {
            const std::size_t row = rows_in(set);
            const double* const weights = weights_.data() + size_ * row;
            double* const share = shares_.data() + size_ * row;
            double sum = 0.0;
            for (std::size_t free = ~set & (sets - 1); free != 0; free &= free - 1) {
                const auto column = static_cast<std::size_t>(std::countr_zero(free));
                const double term = weights[column] * after_[set | (free & -free)];
                sum += term;
                share[column] += before_[set] * term;
            }
            after_[set] = sum;
        }
        for (std::size_t row = 0; row < size_; ++row)
            for (std::size_t column = 0; column < size_; ++column)
                add(row, column, shares_[size_ * row + column] / whole);
    }

private:
    static std::size_t rows_in(std::size_t set) {
        return static_cast<std::size_t>(std::popcount(set));
    }
    std::vector<double>& shares(std::size_t number) {
        shares_.resize(number);
        return shares_;
    }

    std::vector<double> before_, after_, weights_, shares_;
    std::size_t size_ = 0;
};

}  // namespace anonymatch::profile_chain
