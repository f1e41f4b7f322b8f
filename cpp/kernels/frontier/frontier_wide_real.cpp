#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "frontier/frontier_reals.hpp"

namespace anonymatch::frontier {
namespace {

std::int64_t exponent_of(double word) noexcept {
    return std::bit_cast<std::int64_t>(word);
}
double word_of(std::int64_t exponent) noexcept {
    return std::bit_cast<double>(exponent);
}

/// 2^d for d <= 1000; 0 below the range of a double, where the term is below 2^-969 of the sum.
double power_of_two(std::int64_t d) noexcept {
    return std::bit_cast<double>((std::max<std::int64_t>(d, -1023) + 1023) << 52);
}

/// Far above the sum so far: the sum must take the term's exponent first, or it could overflow.
constexpr std::int64_t far = 500;

/// Adds term * 2^exponent to an unsettled value. Every term is below 4, at most 1024 are added.
void add(double* to, double term, std::int64_t exponent) noexcept {
    const std::int64_t own = to[0] == 0 ? exponent : exponent_of(to[1]);
    const std::int64_t d = exponent - own;
    if (d > far) [[unlikely]] {
        to[0] = to[0] * power_of_two(-d) + term;
        to[1] = word_of(exponent);
        return;
    }
    to[0] += term * power_of_two(d);
    to[1] = word_of(own);
}

}  // namespace

WideReal::WideReal(const std::vector<double>& weights, std::int64_t exponent)
    : exponent_(exponent) {
    weights_.reserve(weights.size());
    for (const double weight : weights) {
        const int shift = std::ilogb(weight);
        weights_.push_back({std::scalbn(weight, -shift), shift});
    }
}

ScaledReal WideReal::count(const double* value) const noexcept {
    return value[0] == 0 ? ScaledReal{} : ScaledReal{value[0], exponent_ + exponent_of(value[1])};
}

ScaledReal WideReal::product(std::int32_t edge, const double* value) const noexcept {
    const ScaledReal& weight = weight_of(edge);
    return {weight.mantissa * value[0], weight.exponent + exponent_of(value[1])};
}

void WideReal::forward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                       double* out) const noexcept {
    const auto [mantissa, exponent] = weight_of(edge);
    for (std::size_t k = 0; k < sources.size(); ++k) {
        const double* from = value + 2 * std::size_t{sources[k]};
        add(out + 2 * std::size_t{places[k]}, mantissa * from[0], exponent + exponent_of(from[1]));
    }
}

void WideReal::settle(double* values, std::size_t n) const noexcept {
    constexpr std::int64_t fraction = (std::int64_t{1} << 52) - 1;
    for (std::size_t k = 0; k < n; ++k) {
        double* value = values + 2 * k;
        if (value[0] == 0) {
            value[1] = 0;
            continue;
        }
        // Positive and normal: a sum is at least its first term, or the term it was scaled to.
        const auto bits = std::bit_cast<std::int64_t>(value[0]);
        value[1] = word_of(exponent_of(value[1]) + (bits >> 52) - 1023);
        value[0] = std::bit_cast<double>((bits & fraction) | (std::int64_t{1023} << 52));
    }
}

void WideReal::backward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                        const double* next, double* back, double* sum) const noexcept {
    const auto [mantissa, exponent] = weight_of(edge);
    double part = 0;
    std::int64_t part_exponent = 0;
    for (std::size_t k = 0; k < sources.size(); ++k) {
        const double* ahead = next + 2 * std::size_t{places[k]};
        if (ahead[0] == 0) continue;
        const double* here = value + 2 * std::size_t{sources[k]};
        add(back + 2 * std::size_t{sources[k]}, mantissa * ahead[0],
            exponent + exponent_of(ahead[1]));
        const std::int64_t own = exponent_of(here[1]) + exponent_of(ahead[1]);
        if (part == 0 || own - part_exponent > far) [[unlikely]] {
            part = part == 0 ? 0 : part * power_of_two(part_exponent - own);
            part_exponent = own;
        }
        part += here[0] * ahead[0] * power_of_two(own - part_exponent);
    }
    if (part == 0) return;
    // A chunk is summed plainly (at most 1024 roundings), chunks by Neumaier's compensated
    // addition: sum[0] + sum[2] is the sum, sum[1] its exponent.
    std::array<double, 2> settled{part, word_of(part_exponent)};
    settle(settled.data(), 1);
    const std::int64_t exponent_now = exponent_of(settled[1]);
    const std::int64_t d = sum[0] == 0 ? 0 : exponent_now - exponent_of(sum[1]);
    double term = settled[0];
    if (d > 0) {
        sum[0] *= power_of_two(-d);
        sum[2] *= power_of_two(-d);
    } else {
        term *= power_of_two(d);
    }
    const double total = sum[0] + term;
    sum[2] += sum[0] >= term ? (sum[0] - total) + term : (term - total) + sum[0];
    sum[1] = word_of(exponent_now - std::min<std::int64_t>(d, 0));
    sum[0] = total;
}

void WideReal::finish(const double* sum, double* out) const noexcept {
    out[0] = sum[0] + sum[2];
    out[1] = sum[1];
    settle(out, 1);
}

}  // namespace anonymatch::frontier
