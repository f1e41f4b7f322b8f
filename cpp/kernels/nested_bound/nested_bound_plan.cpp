#include "nested_bound/nested_bound_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

#include "nested_bound/nested_bound.hpp"

namespace anonymatch::nested_bound {
namespace {

constexpr double enough = 1e-7;  // of a share's distance to 1
constexpr int sweeps_between_moves = 6;

/// One column more: the height before it from the height after it.
double climbed(double height, double step) {
    return height <= step ? std::numbers::e * step : height * std::exp(step / height);
}

}  // namespace

Heights::Heights(const BlockView& block, std::span<const double> log_weights)
    : n_(static_cast<std::size_t>(block.n_rows)),
      entries_(block.indices.size()),
      rows_of_(n_),
      place_(n_),
      scales_(n_, 1.0 / std::numbers::e),
      log_heights_(n_) {
    if (block.n_rows < 1 || block.n_rows != block.n_columns)
        throw std::invalid_argument("nested bounds take square blocks");
    if (!log_weights.empty() && log_weights.size() != entries_.size())
        throw std::invalid_argument("one log a edge, or none");
    for (const std::int32_t start : block.indptr)
        starts_.push_back(static_cast<std::size_t>(start));
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t k = starts_[i]; k < starts_[i + 1]; ++k) {
            entries_[k].column = block.indices[k];
            rows_of_[static_cast<std::size_t>(block.indices[k])].push_back(
                static_cast<std::int32_t>(i));
        }
    scale(log_weights);
    // How many rows a column spreads over: lighter columns go first.
    std::vector<double> sums(n_, 0.0);
    std::vector<double> squares(n_, 0.0);
    for (const Entry& entry : entries_) {
        const auto c = static_cast<std::size_t>(entry.column);
        sums[c] += entry.weight;
        squares[c] += entry.weight * entry.weight;
    }
    std::vector<std::int32_t> order(n_);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t column) {
        const auto c = static_cast<std::size_t>(column);
        return sums[c] * sums[c] / squares[c];
    });
    take_order(std::move(order));
    balance(200);
}

std::span<Heights::Entry> Heights::row(std::size_t i) {
    return {entries_.data() + starts_[i], starts_[i + 1] - starts_[i]};
}
std::span<const Heights::Entry> Heights::row(std::size_t i) const {
    return {entries_.data() + starts_[i], starts_[i + 1] - starts_[i]};
}

void Heights::scale(std::span<const double> log_weights) {
    std::vector<double> logs(entries_.size(), 0.0);
    std::ranges::copy(log_weights, logs.begin());
    std::vector<double> tops(n_, -HUGE_VAL);
    for (std::size_t i = 0; i < n_; ++i) {
        double top = -HUGE_VAL;
        for (std::size_t k = starts_[i]; k < starts_[i + 1]; ++k) top = std::max(top, logs[k]);
        log_factor_ += top;
        for (std::size_t k = starts_[i]; k < starts_[i + 1]; ++k) {
            logs[k] -= top;
            double& column = tops[static_cast<std::size_t>(entries_[k].column)];
            column = std::max(column, logs[k]);
        }
    }
    log_factor_ += std::accumulate(tops.begin(), tops.end(), 0.0);
    if (!std::isfinite(log_factor_))
        throw std::invalid_argument("a row or column without an edge, or a log that is not finite");
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        entries_[k].weight = std::exp(logs[k] - tops[static_cast<std::size_t>(entries_[k].column)]);
        if (!(entries_[k].weight >= nested_bound_spread))
            throw std::invalid_argument("weights spread too far for nested bounds");
    }
}

void Heights::take_order(std::vector<std::int32_t> order) {
    order_ = std::move(order);
    for (std::size_t t = 0; t < n_; ++t)
        place_[static_cast<std::size_t>(order_[t])] = static_cast<double>(t);
    for (std::size_t i = 0; i < n_; ++i) sort_row(i);
}

void Heights::sort_row(std::size_t i) {
    std::ranges::sort(row(i), std::ranges::greater{}, [this](const Entry& entry) {
        return place_[static_cast<std::size_t>(entry.column)];
    });
}

double Heights::log_height(std::size_t i) const {
    double height = 0;
    for (const Entry& entry : row(i))
        height = climbed(height, scales_[static_cast<std::size_t>(entry.column)] * entry.weight);
    return std::log(height);
}

double Heights::log_height_moved(std::size_t i, std::int32_t column, double place) const {
    double moved = 0;
    for (const Entry& entry : row(i))
        if (entry.column == column)
            moved = scales_[static_cast<std::size_t>(column)] * entry.weight;
    double height = 0;
    bool placed = false;
    for (const Entry& entry : row(i)) {
        if (entry.column == column) continue;
        const auto c = static_cast<std::size_t>(entry.column);
        if (!placed && place_[c] < place) {
            height = climbed(height, moved);
            placed = true;
        }
        height = climbed(height, scales_[c] * entry.weight);
    }
    return std::log(placed ? height : climbed(height, moved));
}

/// ln U (but for what scaling took out), and how it grows with the log of each scale, plus 1: the
/// shares of a row add up to 1.
double Heights::slopes(std::vector<double>& shares) {
    std::ranges::fill(shares, 0.0);
    double log_bound = 0;
    for (std::size_t i = 0; i < n_; ++i) {
        const std::span<const Entry> entries = row(i);
        steps_.resize(entries.size());
        double height = 0;
        for (std::size_t k = 0; k < entries.size(); ++k) {
            const double step =
                scales_[static_cast<std::size_t>(entries[k].column)] * entries[k].weight;
            steps_[k] = height <= step ? 1.0 : step / height;
            height = climbed(height, step);
        }
        log_bound += std::log(height);
        double rest = 1;
        for (std::size_t k = entries.size(); k-- > 0 && rest > 0;) {
            shares[static_cast<std::size_t>(entries[k].column)] += rest * steps_[k];
            rest *= 1.0 - steps_[k];
        }
    }
    for (const double s : scales_) log_bound -= 1.0 + std::log(s);
    return log_bound;
}

void Heights::balance(int sweeps) {
    std::vector<double> shares(n_);
    std::vector<double> best = scales_;
    double lowest = HUGE_VAL;
    double power = 1.0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        const double log_bound = slopes(shares);
        if (log_bound < lowest) {
            lowest = log_bound;
            best = scales_;
        } else {
            power *= 0.7;
            scales_ = best;
            slopes(shares);
            if (power < 0.02) break;
        }
        double distance = 0;
        for (const double share : shares) distance = std::max(distance, std::abs(share - 1.0));
        if (distance < enough) break;
        for (std::size_t c = 0; c < n_; ++c) {
            const double factor = std::pow(std::clamp(shares[c], 0.25, 4.0), power);
            scales_[c] =
                std::clamp(scales_[c] / factor, nested_bound_spread, 1.0 / nested_bound_spread);
        }
    }
    scales_ = best;
    remember_heights();
}

void Heights::remember_heights() {
    for (std::size_t i = 0; i < n_; ++i) log_heights_[i] = log_height(i);
}

void Heights::place(std::int32_t column, std::int32_t slot) {
    std::vector<std::int32_t> order = order_;
    const auto now = static_cast<std::ptrdiff_t>(place_[static_cast<std::size_t>(column)]);
    order.erase(order.begin() + now);
    order.insert(order.begin() + (slot > now ? slot - 1 : slot), column);
    order_ = std::move(order);
    for (std::size_t t = 0; t < n_; ++t)
        place_[static_cast<std::size_t>(order_[t])] = static_cast<double>(t);
    for (const std::int32_t i : rows_of_[static_cast<std::size_t>(column)]) {
        sort_row(static_cast<std::size_t>(i));
        log_heights_[static_cast<std::size_t>(i)] = log_height(static_cast<std::size_t>(i));
    }
}

void Heights::move(std::uint64_t moves, std::uint64_t seed, CancelFlag cancel) {
    std::mt19937_64 random(seed);
    const std::uint64_t round = 16 * n_;
    std::uint64_t gained = 0;
    for (std::uint64_t k = 0; k < moves && !cancel.raised(); ++k) {
        const auto column = static_cast<std::int32_t>(random() % n_);
        const auto slot = static_cast<std::int32_t>(random() % (n_ + 1));
        double change = 0;
        for (const std::int32_t i : rows_of_[static_cast<std::size_t>(column)])
            change += log_height_moved(static_cast<std::size_t>(i), column, slot - 0.5) -
                      log_heights_[static_cast<std::size_t>(i)];
        if (change < -1e-9) {
            place(column, slot);
            ++gained;
        }
        if (k % round == round - 1 && gained > 0) {
            balance(sweeps_between_moves);
            gained = 0;
        }
    }
    balance(200);
}

double Heights::log_bound() const noexcept {
    double sum = log_factor_;
    for (std::size_t i = 0; i < n_; ++i) sum += log_heights_[i] - 1.0 - std::log(scales_[i]);
    return sum + slack();
}

/// More than all roundings of the bound and of a draw together.
double Heights::slack() const noexcept {
    double size = std::abs(log_factor_);
    for (std::size_t i = 0; i < n_; ++i)
        size += std::abs(log_heights_[i]) + std::abs(std::log(scales_[i])) + 1.0;
    const auto n = static_cast<double>(n_);
    return 0x1p-49 * n * (n + 16.0 + size);
}

Table Heights::table() const {
    Table table;
    table.n = n_;
    table.shrink = std::exp(-slack());
    table.starts.assign(n_ + 1, 0);
    table.forced.assign(n_, 0);
    struct Placed {
        std::size_t step;
        bool last;
        Choice choice;
    };
    std::vector<Placed> all;
    all.reserve(entries_.size());
    for (std::size_t i = 0; i < n_; ++i) {
        const double whole = std::exp(log_heights_[i]);
        double height = 0;
        for (const Entry& entry : row(i)) {
            const auto c = static_cast<std::size_t>(entry.column);
            const double step = scales_[c] * entry.weight;
            const double lifted = std::max(height, step);
            all.push_back(
                {static_cast<std::size_t>(place_[c]),
                 height == 0,
                 {static_cast<std::int32_t>(i), std::numbers::e * step / lifted, lifted / whole}});
            height = climbed(height, step);
        }
    }
    std::ranges::sort(all, [](const Placed& one, const Placed& other) {
        if (one.step != other.step) return one.step < other.step;
        if (one.last != other.last) return one.last;
        return one.choice.row < other.choice.row;
    });
    for (const Placed& placed : all) {
        ++table.starts[placed.step + 1];
        table.forced[placed.step] += placed.last ? 1U : 0U;
        table.choices.push_back(placed.choice);
    }
    for (std::size_t t = 0; t < n_; ++t) {
        table.starts[t + 1] += table.starts[t];
        table.forced[t] += table.starts[t];
    }
    return table;
}

}  // namespace anonymatch::nested_bound
