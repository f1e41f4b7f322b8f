#include <algorithm>
#include <cmath>

#include "common/lanes.hpp"
#include "swap_chain/swap_chain.hpp"

// Products and sums stay in their order, so every instruction set gives the same doubles.

namespace anonymatch {
namespace {

constexpr std::size_t width = 8;

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

ANONYMATCH_LANES double dot(const double* left, const double* right, std::size_t size) {
    double sums[width] = {};
    const std::size_t whole = size / width * width;
    for (std::size_t c = 0; c < whole; c += width)
        for (std::size_t l = 0; l < width; ++l) sums[l] += left[c + l] * right[c + l];
    for (std::size_t c = whole; c < size; ++c) sums[c - whole] += left[c] * right[c];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

ANONYMATCH_LANES double sum_of(const double* values, std::size_t size) {
    double sums[width] = {};
    const std::size_t whole = size / width * width;
    for (std::size_t c = 0; c < whole; c += width)
        for (std::size_t l = 0; l < width; ++l) sums[l] += values[c + l];
    for (std::size_t c = whole; c < size; ++c) sums[c - whole] += values[c];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

ANONYMATCH_LANES void add_scaled(double* out, const double* in, double factor, std::size_t size) {
    for (std::size_t c = 0; c < size; ++c) out[c] += factor * in[c];
}

ANONYMATCH_LANES void add(double* out, double value, std::size_t size) {
    for (std::size_t c = 0; c < size; ++c) out[c] += value;
}

}  // namespace

BandScaling::BandScaling(const SwapBand& band)
    : band_(band),
      offsets_(swap_offsets(band)),
      rows_(band.first.size(), 1.0),
      columns_(band.first.size(), 1.0),
      sums_(band.first.size(), 0.0) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = 1.0 / row_sum(i);
}

double BandScaling::row_sum(std::size_t i) const {
    const std::size_t length = at(band_.last[i] - band_.first[i]);
    const double* const columns = columns_.data() + band_.first[i];
    return band_.weights.empty() ? sum_of(columns, length)
                                 : dot(band_.weights.data() + offsets_[i], columns, length);
}

void BandScaling::add_row(std::size_t i) {
    const std::size_t length = at(band_.last[i] - band_.first[i]);
    double* const sums = sums_.data() + band_.first[i];
    if (band_.weights.empty())
        add(sums, rows_[i], length);
    else
        add_scaled(sums, band_.weights.data() + offsets_[i], rows_[i], length);
}

double BandScaling::steps(int number, double relaxation, CancelFlag cancel) {
    double worst = 0.0;
    for (int k = 0; k < number && !cancel.raised(); ++k) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        worst = 0.0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const double sum = rows_[i] * row_sum(i);
            worst = std::max(worst, std::abs(sum - 1.0));
            rows_[i] *= relaxation == 1.0 ? 1.0 / sum : std::pow(sum, -relaxation);
            add_row(i);
        }
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            const double sum = columns_[j] * sums_[j];
            columns_[j] *= relaxation == 1.0 ? 1.0 / sum : std::pow(sum, -relaxation);
        }
    }
    return worst;
}

double BandScaling::finish() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    shifts_.assign(columns_.size(), 0.0);
    std::vector<double> shares;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i] = 1.0 / row_sum(i);
        add_row(i);
        const std::size_t first = at(band_.first[i]);
        const std::size_t length = at(band_.last[i]) - first;
        shares.resize(length);
        for (std::size_t j = 0; j < length; ++j) {
            const double weight = band_.weights.empty()
                                      ? 1.0
                                      : band_.weights[static_cast<std::size_t>(offsets_[i]) + j];
            shares[j] = rows_[i] * weight * columns_[first + j];
        }
        for (std::size_t j = 0; j + 1 < length; ++j)
            shifts_[first + j] += std::min(shares[j], shares[j + 1]);
    }
    double worst = 0.0;
    double surplus = 0.0;  // of the columns so far, which has to move to the next one
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        sums_[j] *= columns_[j];
        worst = std::max(worst, std::abs(sums_[j] - 1.0));
        surplus += sums_[j] - 1.0;
        const double room = shifts_[j];
        shifts_[j] = room > 0.0 ? surplus / room : 0.0;
        if (room <= 0.0) {
            stray_ = std::max(stray_, std::abs(surplus));
            surplus = 0.0;
        }
    }
    return worst;
}

}  // namespace anonymatch
