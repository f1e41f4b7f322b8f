#include "anonymatch/nesting.hpp"

#include <cmath>

#include "nesting_draw.hpp"
#include "nesting_plan.hpp"

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

class Nesting::Plan {
public:
    Plan(const BlockView& block, std::span<const double> log_weights)
        : heights(block, log_weights), table(heights.table()) {}

    nesting::Heights heights;
    nesting::Table table;
    nesting::DrawGroup draw = nesting::draw_group();
};

Nesting::Nesting(const BlockView& block, std::span<const double> log_weights)
    : plan_(std::make_unique<Plan>(block, log_weights)) {}
Nesting::~Nesting() = default;
Nesting::Nesting(Nesting&&) noexcept = default;
Nesting& Nesting::operator=(Nesting&&) noexcept = default;

void Nesting::improve(std::uint64_t moves, std::uint64_t seed, StopFlag stop) {
    plan_->heights.move(moves, seed, stop);
    plan_->table = plan_->heights.table();
}

double Nesting::log_bound() const noexcept {
    return plan_->heights.log_bound();
}

NestingTally Nesting::tally(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                            std::span<const double> larger, std::span<const double> smaller,
                            StopFlag stop) const {
    nesting::Scratch scratch(plan_->table);
    NestingTally tally;
    std::vector<LogSum> gains(larger.size());
    std::vector<LogSum> losses(smaller.size());
    for (std::uint64_t group = first; group < last && !stop.raised(); ++group) {
        plan_->draw(plan_->table, seed, group, scratch);
        tally.draws += static_cast<double>(nesting_group);
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

std::vector<double> Nesting::draws(std::uint64_t seed, std::uint64_t first,
                                   std::uint64_t last) const {
    nesting::Scratch scratch(plan_->table);
    std::vector<double> drawn;
    drawn.reserve((last - first) * nesting_group);
    for (std::uint64_t group = first; group < last; ++group) {
        plan_->draw(plan_->table, seed, group, scratch);
        drawn.insert(drawn.end(), std::begin(scratch.draws), std::end(scratch.draws));
    }
    return drawn;
}

NestingSamples Nesting::samples(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                                StopFlag stop) const {
    const nesting::Table& table = plan_->table;
    const std::vector<std::int32_t>& order = plan_->heights.order();
    nesting::Scratch scratch(table);
    NestingSamples kept;
    for (std::uint64_t group = first; group < last && !stop.raised(); ++group) {
        plan_->draw(table, seed, group, scratch);
        for (std::size_t lane = 0; lane < nesting_group; ++lane) {
            if (scratch.coins[lane] >= scratch.draws[lane]) continue;
            kept.indices.push_back(group * nesting_group + lane);
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
