#include <algorithm>
#include <array>
#include <cmath>

#include "frontier/frontier_reals.hpp"

namespace anonymatch::frontier {
namespace {

/// Multiplies by a power of two so that the largest is in [1, 2), when it has gone far from 1;
/// returns the exponent taken out.
std::int64_t rescale(double* values, std::size_t n, double largest) noexcept {
    if (largest == 0 || (largest >= 0x1p-200 && largest <= 0x1p200)) return 0;
    const int shift = std::ilogb(largest);
    const double factor = std::scalbn(1.0, -shift);
    for (std::size_t k = 0; k < n; ++k) values[k] *= factor;
    return shift;
}

struct Extremes {
    double least = 0x1p1000;
    double largest = 0;
};

/// In lanes: one after the other would wait for every comparison.
Extremes extremes(const double* values, std::size_t n) noexcept {
    std::array<Extremes, 8> lanes;
    std::size_t k = 0;
    for (; k + lanes.size() <= n; k += lanes.size()) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            const double value = values[k + lane];
            lanes[lane].least = value < lanes[lane].least ? value : lanes[lane].least;
            lanes[lane].largest = value > lanes[lane].largest ? value : lanes[lane].largest;
        }
    }
    Extremes all;
    for (; k < n; ++k) all = {std::min(all.least, values[k]), std::max(all.largest, values[k])};
    for (const Extremes& lane : lanes)
        all = {std::min(all.least, lane.least), std::max(all.largest, lane.largest)};
    return all;
}

}  // namespace

RowScaled::RowScaled(const BlockView& block, const FrontierReals& values)
    : weights(values.weights.begin(), values.weights.end()) {
    if (weights.empty()) return;
    for (std::size_t row = 0; row < static_cast<std::size_t>(block.n_rows); ++row) {
        const auto first = weights.begin() + block.indptr[row];
        const auto last = weights.begin() + block.indptr[row + 1];
        if (first == last) continue;
        const int shift = std::ilogb(*std::max_element(first, last));
        exponent += shift;
        for (auto weight = first; weight != last; ++weight) {
            *weight = std::scalbn(*weight, -shift);
            narrow = narrow && *weight >= 0x1p-600;
        }
    }
}

void PlainReal::forward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                        double* out) const noexcept {
    const double weight = weight_of(edge);
    for (std::size_t k = 0; k < sources.size(); ++k) out[places[k]] += weight * value[sources[k]];
}

void PlainReal::backward(std::int32_t edge, Pairs sources, Pairs places, const double* value,
                         const double* next, double* back, double* sum) const noexcept {
    const double weight = weight_of(edge);
    std::array<double, 4> lanes{};
    std::size_t k = 0;
    for (; k + 4 <= sources.size(); k += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const std::uint32_t source = sources[k + lane];
            const double ahead = next[places[k + lane]];
            back[source] += weight * ahead;
            lanes[lane] += value[source] * ahead;
        }
    }
    for (; k < sources.size(); ++k) {
        const double ahead = next[places[k]];
        back[sources[k]] += weight * ahead;
        lanes[0] += value[sources[k]] * ahead;
    }
    // A chunk in four plain sums, chunks by Neumaier's compensated addition.
    const double part = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    const double total = sum[0] + part;
    sum[1] += sum[0] >= part ? (sum[0] - total) + part : (part - total) + sum[0];
    sum[0] = total;
}

void PlainReal::settle(double* values, std::size_t n) noexcept {
    const Extremes found = extremes(values, n);
    least_ = std::min(least_, found.least);
    largest_ = std::max(largest_, found.largest);
}

void PlainReal::layer_made(double* values, std::size_t n, bool again) noexcept {
    if (n == 0) return;
    if (!(least_ >= 0x1p-960 && least_ >= largest_ * 0x1p-600)) lost_ = true;
    const std::int64_t shift = rescale(values, n, largest_);
    if (!again) exponent_ += shift;
    least_ = 0x1p1000;
    largest_ = 0;
}

void PlainReal::back_made(double* values, std::size_t n) const noexcept {
    rescale(values, n, extremes(values, n).largest);
}

ScaledReal PlainReal::count(const double* value) const noexcept {
    if (*value == 0) return {};
    const int shift = std::ilogb(*value);
    return {std::scalbn(*value, -shift), exponent_ + shift};
}

}  // namespace anonymatch::frontier
