#include "phase_chain/phase_chain_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace anonymatch::phase_chain {
namespace {

constexpr double longest_steps = 8;  // of the fastest stage's mean, in one gap
constexpr double largest_rate = 1e12;
constexpr double table_step = 0.004, table_reach = 1000;
constexpr int taylor_terms = 24;  // of arguments up to 1

double power(double x, std::size_t k) {
    double term = 1;
    for (std::size_t i = 1; i <= k; ++i) term *= x / static_cast<double>(i);
    return term;
}

Transitions product(const Transitions& a, const Transitions& b, std::size_t size) {
    Transitions c{};
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = i; j < size; ++j)
            for (std::size_t k = i; k <= j; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}

}  // namespace

Stages::Stages(const PhaseModel& model)
    : number_(static_cast<std::size_t>(model.hops)), rates_(model.rates) {
    if (model.hops < 1 || model.hops > phase_chain_largest)
        throw std::invalid_argument("too many stages, or none");
    for (std::size_t k = 0; k < number_; ++k)
        if (!(rates_[k] >= 1 && rates_[k] <= largest_rate))
            throw std::invalid_argument("rates of stages are counted in that of the slowest");
    if (rates_[number_ - 1] != 1) throw std::invalid_argument("the last stage is the slowest");
    for (std::size_t k = 0; k < number_; ++k) fastest_ = std::max(fastest_, rates_[k]);
    equal_ = fastest_ == 1;
    log_factorial_ = std::log(std::tgamma(static_cast<double>(number_)));
    if (!equal_) fill_table();
}

double Stages::longest_gap() const {
    return equal_ ? std::numeric_limits<double>::infinity() : longest_steps / fastest_;
}

void Stages::fill_table() {
    const auto more = static_cast<double>(number_ - 1);
    const double last = std::log1p(fastest_ * table_reach);
    double at_zero = -log_factorial_;
    for (std::size_t k = 0; k + 1 < number_; ++k) at_zero += std::log(rates_[k]);
    for (double t = -table_step; t <= last + 2 * table_step; t += table_step) {
        const double x = std::expm1(t) / fastest_;
        // Beside 0 the series is short; the entry before 0 is its straight continuation.
        const double smooth = x > 1e-6 / fastest_ ? std::log(density(x)) - more * std::log(x)
                                                  : at_zero + x * slope_at_zero();
        table_.push_back(smooth);
    }
}

/// Of ln(density over e^-x) - (stages - 1) ln x: what the rates are faster than 1, on average.
double Stages::slope_at_zero() const {
    double sum = 0;
    for (std::size_t k = 0; k < number_; ++k) sum += rates_[k] - 1;
    return -sum / static_cast<double>(number_);
}

Transitions Stages::transitions(double gap) const {
    Transitions result{};
    if (equal_) {
        for (std::size_t a = 0; a < number_; ++a)
            for (std::size_t b = a; b < number_; ++b) result[a][b] = power(gap, b - a);
        return result;
    }
    // e^{-fastest x} times the exponential of a matrix without negative entries: all terms are
    // positive. Halved until its series is short, then squared.
    const double fastest = fastest_;
    int halvings = 0;
    double x = gap;
    while (x * 2 * fastest > 1 && halvings < 1000) {
        x /= 2;
        ++halvings;
    }
    Transitions step{}, term{};
    for (std::size_t a = 0; a < number_; ++a) {
        step[a][a] = (fastest - rates_[a]) * x;
        if (a + 1 < number_) step[a][a + 1] = rates_[a] * x;
        result[a][a] = term[a][a] = 1;
    }
    for (int k = 1; k <= taylor_terms; ++k) {
        term = product(term, step, number_);
        for (auto& row : term)
            for (double& entry : row) entry /= k;
        for (std::size_t a = 0; a < number_; ++a)
            for (std::size_t b = a; b < number_; ++b) result[a][b] += term[a][b];
    }
    const double slow = std::exp(-(fastest - 1) * x);
    for (auto& row : result)
        for (double& entry : row) entry *= slow;
    for (int k = 0; k < halvings; ++k) result = product(result, result, number_);
    return result;
}

Steps Stages::steps(double whole_gap) const {
    Steps result;
    const double gap = std::min(whole_gap, longest_gap());
    if (number_ == 1 || gap <= 0) return result;
    // (1)(2 1)(3 2 1), as far as there are stages.
    for (std::size_t top = 0; top + 1 < number_; ++top)
        for (std::size_t stage = top + 1; stage-- > 0;) result.stage[result.number++] = stage;
    auto& size = result.size;
    if (equal_) {
        for (std::size_t k = 0; k < result.number; ++k)
            size[k] = gap / static_cast<double>(number_ - 1 - result.stage[k]);
        return result;
    }
    Transitions moves = transitions(gap);
    for (std::size_t a = 0; a < number_; ++a) {
        // ln of e^-(rate - 1) gap, exactly
        result.stay[a] = -(rates_[a] - 1) * gap;
        const double own = moves[a][a];
        for (double& entry : moves[a]) entry /= own;
    }
    const auto u = [&](std::size_t a, std::size_t b) { return moves[a - 1][b - 1]; };
    if (number_ == 2) {
        size[0] = u(1, 2);
    } else if (number_ == 3) {
        size[1] = u(2, 3);
        size[0] = u(1, 3) / u(2, 3);
        size[2] = std::max(0.0, u(1, 2) - size[0]);
    } else {
        size[3] = u(3, 4);
        size[1] = u(2, 4) / u(3, 4);
        size[4] = std::max(0.0, u(2, 3) - size[1]);
        size[0] = u(1, 4) / u(2, 4);
        size[2] = size[4] > 0 ? std::max(0.0, (u(1, 3) - size[0] * u(2, 3)) / size[4]) : 0.0;
        size[5] = std::max(0.0, u(1, 2) - size[0] - size[2]);
    }
    return result;
}

double Stages::density(double x) const {
    return equal_ ? power(x, number_ - 1) : transitions(x)[0][number_ - 1];
}

double Stages::log_density(double x) const {
    const auto more = static_cast<double>(number_ - 1);
    if (equal_) {
        return (number_ > 1 ? more * std::log(x) : 0.0) - x - log_factorial_;
    }
    if (x >= table_reach) return std::log(density(x)) - x;
    const double t = std::log1p(fastest_ * x) / table_step;
    const double below = std::floor(t), u = t - below;
    const double* y = &table_[static_cast<std::size_t>(below)];  // from the entry before
    const double smooth = -u * (u - 1) * (u - 2) / 6 * y[0] +
                          (u + 1) * (u - 1) * (u - 2) / 2 * y[1] -
                          (u + 1) * u * (u - 2) / 2 * y[2] + (u + 1) * u * (u - 1) / 6 * y[3];
    return smooth + more * std::log(x) - x;
}

double Stages::survival(double x) const {
    const Transitions moves = transitions(x);
    double sum = 0;
    for (std::size_t b = 0; b < number_; ++b) sum += moves[0][b];
    return sum;
}

}  // namespace anonymatch::phase_chain

namespace anonymatch {

std::vector<double> stage_survival(const PhaseModel& model, std::span<const double> times) {
    const phase_chain::Stages stages(model);
    std::vector<double> result;
    for (const double x : times) result.push_back(std::log(stages.survival(x)) - x);
    return result;
}

std::vector<double> stage_log_density(const PhaseModel& model, std::span<const double> times) {
    const phase_chain::Stages stages(model);
    std::vector<double> result;
    for (const double x : times) result.push_back(stages.log_density(x));
    return result;
}

}  // namespace anonymatch
