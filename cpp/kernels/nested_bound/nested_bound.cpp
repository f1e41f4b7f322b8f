#include "nested_bound/nested_bound.hpp"

#include <cmath>

#include "nested_bound/nested_bound_draw.hpp"
#include "nested_bound/nested_bound_plan.hpp"

namespace anonymatch {
namespace {

constexpr double large = 1e100;

/// Sum of logs of factors, with few logs.
class LogSum {
public:
    void multiply(double factor) noexcept {
        product_ *= factor;
        if (!(product_ < large && product_ > 1.0 / large)) settle();
    }
    [[nodiscard]] double value() noexcept {
        settle();
        return sum_;
    }

private:
    void settle() noexcept {
        sum_ += std::log(product_);
        product_ = 1.0;
    }
    double product_ = 1.0;
    double sum_ = 0.0;
};

std::vector<double> values(std::vector<LogSum>& sums) {
    std::vector<double> logs;
    logs.reserve(sums.size());
    for (LogSum& sum : sums) logs.push_back(sum.value());
    return logs;
}

}  // namespace

class NestedBound::Plan {
public:
    Plan(const BlockView& block, std::span<const double> log_weights)
        : heights(block, log_weights), table(heights.table()) {}

    nested_bound::Heights heights;
    nested_bound::Table table;
    nested_bound::DrawGroup draw = nested_bound::draw_group();
};

NestedBound::NestedBound(const BlockView& block, std::span<const double> log_weights)
    : plan_(std::make_unique<Plan>(block, log_weights)) {}
NestedBound::~NestedBound() = default;
NestedBound::NestedBound(NestedBound&&) noexcept = default;
NestedBound& NestedBound::operator=(NestedBound&&) noexcept = default;

void NestedBound::improve(std::uint64_t moves, std::uint64_t seed, CancelFlag cancel) {
    plan_->heights.move(moves, seed, cancel);
    plan_->table = plan_->heights.table();
}

double NestedBound::log_bound() const noexcept {
    return plan_->heights.log_bound();
}

NestedBoundTally NestedBound::tally(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                    std::span<const double> larger, std::span<const double> smaller,
                                    CancelFlag cancel) const {
    nested_bound::Scratch scratch(plan_->table);
    NestedBoundTally tally;
    std::vector<LogSum> gains(larger.size());
    std::vector<LogSum> losses(smaller.size());
    for (std::uint64_t group = first; group < last && !cancel.raised(); ++group) {
        plan_->draw(plan_->table, seed, group, scratch);
        tally.draws += static_cast<double>(nested_bound_group);
        for (const double draw : scratch.draws) {
            if (draw == 0) continue;
            tally.sum += draw;
            tally.squares += draw * draw;
            for (std::size_t k = 0; k < larger.size(); ++k)
                gains[k].multiply(1.0 + larger[k] * draw);
            for (std::size_t k = 0; k < smaller.size(); ++k)
                losses[k].multiply(1.0 - smaller[k] * draw);
        }
    }
    tally.gains = values(gains);
    tally.losses = values(losses);
    return tally;
}

std::vector<double> NestedBound::draws(std::uint64_t seed, std::uint64_t first,
                                       std::uint64_t last) const {
    nested_bound::Scratch scratch(plan_->table);
    std::vector<double> drawn;
    drawn.reserve((last - first) * nested_bound_group);
    for (std::uint64_t group = first; group < last; ++group) {
        plan_->draw(plan_->table, seed, group, scratch);
        drawn.insert(drawn.end(), std::begin(scratch.draws), std::end(scratch.draws));
    }
    return drawn;
}

NestedBoundSamples NestedBound::samples(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                        CancelFlag cancel) const {
    const nested_bound::Table& table = plan_->table;
    const std::vector<std::int32_t>& order = plan_->heights.order();
    nested_bound::Scratch scratch(table);
    NestedBoundSamples kept;
    for (std::uint64_t group = first; group < last && !cancel.raised(); ++group) {
        plan_->draw(table, seed, group, scratch);
        for (std::size_t lane = 0; lane < nested_bound_group; ++lane) {
            if (scratch.coins[lane] >= scratch.draws[lane]) continue;
            kept.indices.push_back(group * nested_bound_group + lane);
            const std::size_t start = kept.columns.size();
            kept.columns.resize(start + table.n);
            for (std::size_t t = 0; t < table.n; ++t) {
                const auto row = table.choices[scratch.picks[t * 8 + lane]].row;
                kept.columns[start + static_cast<std::size_t>(row)] = order[t];
            }
        }
    }
    return kept;
}

}  // namespace anonymatch
