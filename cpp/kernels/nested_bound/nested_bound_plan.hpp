// The heights of a nested bound: order of columns, scales of columns, and what they make of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier_order.hpp"
#include "nested_bound/nested_bound_draw.hpp"

namespace anonymatch::nested_bound {

class Heights {
public:
    Heights(const BlockView& block, std::span<const double> log_weights);

    /// Lowers the bound by changing the scales: columns take the inverse of their share of ln U's
    /// slope, as in Sinkhorn's sweeps, until shares are all 1 or nothing is gained.
    void balance(int sweeps);
    /// Tries moves of random columns to random places.
    void move(std::uint64_t moves, std::uint64_t seed, CancelFlag cancel);

    [[nodiscard]] double log_bound() const noexcept;
    [[nodiscard]] const std::vector<std::int32_t>& order() const noexcept { return order_; }
    [[nodiscard]] Table table() const;

private:
    struct Entry {
        std::int32_t column;
        double weight;
    };

    [[nodiscard]] std::span<Entry> row(std::size_t i);
    [[nodiscard]] std::span<const Entry> row(std::size_t i) const;
    void scale(std::span<const double> log_weights);
    void take_order(std::vector<std::int32_t> order);
    void sort_row(std::size_t i);
    [[nodiscard]] double log_height(std::size_t i) const;
    [[nodiscard]] double log_height_moved(std::size_t i, std::int32_t column, double place) const;
    [[nodiscard]] double slack() const noexcept;
    double slopes(std::vector<double>& shares);
    void remember_heights();
    void place(std::int32_t column, std::int32_t slot);

    std::size_t n_;
    std::vector<std::size_t> starts_;
    std::vector<Entry> entries_;  // by row, last column first
    std::vector<std::vector<std::int32_t>> rows_of_;
    std::vector<std::int32_t> order_;
    std::vector<double> place_;  // of each column in the order
    std::vector<double> scales_;
    std::vector<double> log_heights_;
    std::vector<double> steps_;  // of one row, for slopes
    double log_factor_ = 0;      // what scaling took out
};

}  // namespace anonymatch::nested_bound
