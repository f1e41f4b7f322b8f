#include "swap_chain/swap_chain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "common/random.hpp"
#include "common/snapshot.hpp"
#include "swap_chain/swap_chain_sweep.hpp"

namespace anonymatch {
namespace {

constexpr std::size_t lanes = swap_chain_lanes;
constexpr std::size_t longest_stretch = 1024;
constexpr double together_below = 0.02;  // of the largest share: smaller ones are taken together

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

std::vector<std::int64_t> swap_offsets(const SwapBand& band) {
    std::vector<std::int64_t> offsets(band.first.size() + 1, 0);
    for (std::size_t i = 0; i < band.first.size(); ++i)
        offsets[i + 1] = offsets[i] + (band.last[i] - band.first[i]);
    return offsets;
}

SwapChain::SwapChain(const SwapBand& band, std::span<const std::int32_t> reach, std::uint64_t seed)
    : band_(band), offsets_(swap_offsets(band)), reach_(reach.begin(), reach.end()) {
    const std::size_t rows = band.first.size();
    const auto entries = static_cast<std::size_t>(offsets_.back());
    lengths_.resize(rows);
    held_.resize(rows * lanes);
    for (std::size_t i = 0; i < rows; ++i) {
        lengths_[i] = band.last[i] - band.first[i];
        std::fill_n(held_.begin() + static_cast<std::ptrdiff_t>(i * lanes), lanes,
                    static_cast<std::int32_t>(i));
    }
    if (!band.weights.empty()) {
        logs_.resize(entries);
        for (std::size_t e = 0; e < entries; ++e)
            logs_[e] = static_cast<float>(std::log(band.weights[e]));
        held_logs_.resize(rows * lanes);
        for (std::size_t i = 0; i < rows; ++i) {
            const auto entry = static_cast<std::size_t>(offsets_[i]) + i - at(band.first[i]);
            std::fill_n(held_logs_.begin() + static_cast<std::ptrdiff_t>(i * lanes), lanes,
                        logs_[entry]);
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) {
        Random random(seed, l + 1);
        for (auto& word : random_) {
            word[l] = static_cast<std::uint32_t>(random.bits() >> 32) | 1U;  // never all 0
        }
    }
    shared_ = Random(seed, 0).bits();
}

std::array<double, lanes> SwapChain::sweep(double tilt, std::int32_t most, int sweeps,
                                           CancelFlag cancel) {
    const std::size_t rows = lengths_.size();
    const auto stretch_of = swap_chain::sweep_stretch(!logs_.empty(), tilt != 0.0);
    const swap_chain::Sweep sweep{band_.first.data(),
                                  lengths_.data(),
                                  offsets_.data(),
                                  reach_.data(),
                                  logs_.data(),
                                  held_.data(),
                                  held_logs_.data(),
                                  random_,
                                  &shared_,
                                  rows,
                                  static_cast<float>(tilt),
                                  most};
    std::int64_t farthest = 1;
    for (std::size_t i = 0; i < rows; ++i)
        farthest = std::max(farthest, std::int64_t{reach_[i]} * lengths_[i] * 2);
    const auto stretch = static_cast<std::size_t>(std::clamp<std::int64_t>(
        (std::int64_t{1} << 30) / farthest, 1, static_cast<std::int64_t>(longest_stretch)));

    crossing_.fill(0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<double>(i);
        for (std::size_t l = 0; l < lanes; ++l) crossing_[l] += row * (row - held_[i * lanes + l]);
    }
    std::array<double, lanes> sums{};
    proposed_ = taken_ = 0.0;
    for (int k = 0; k < sweeps; ++k) {
        for (std::size_t begin = 0; begin < rows; begin += stretch) {
            std::int32_t crossed[lanes] = {};
            std::int32_t taken[lanes] = {};
            const std::int32_t pairs =
                stretch_of(sweep, begin, std::min(rows, begin + stretch), crossed, taken);
            proposed_ += pairs * static_cast<double>(lanes);
            for (std::size_t l = 0; l < lanes; ++l) {
                crossing_[l] += crossed[l];
                taken_ += taken[l];
            }
            if (cancel.raised()) return sums;
        }
        for (std::size_t l = 0; l < lanes; ++l) sums[l] += crossing_[l];
    }
    return sums;
}

SwapRecord SwapChain::record(int samples, int thin, std::span<const double> row_logs,
                             std::span<const double> column_logs, CancelFlag cancel) {
    const std::size_t rows = lengths_.size();
    for (auto& half : counts_) half.resize(static_cast<std::size_t>(offsets_.back()), 0);
    guesses_.resize(rows, -1);
    guessed_.resize(rows * lanes, 0);
    SwapRecord record;
    for (int k = 0; k < samples && !cancel.raised(); ++k) {
        sweep(0.0, std::numeric_limits<std::int32_t>::max(), thin, cancel);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t* const held = held_.data() + i * lanes;
            const auto entry = static_cast<std::size_t>(offsets_[i]) - at(band_.first[i]);
            for (std::size_t l = 0; l < lanes; ++l) ++counts_[l >= lanes / 2][entry + at(held[l])];
            std::uint16_t* const guessed = guessed_.data() + i * lanes;
            for (std::size_t l = 0; l < lanes; ++l)
                guessed[l] = static_cast<std::uint16_t>(guessed[l] + (held[l] == guesses_[i]));
            const bool asked = std::isfinite(row_logs[i]);
            if (asked) {
                for (std::size_t l = 0; l < lanes; ++l)
                    record.shares[l] += row_logs[i] + column_logs[at(held[l])];
            }
            if (held_logs_.empty()) continue;
            const float* const logs = held_logs_.data() + i * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                record.weights[l] += static_cast<double>(logs[l]);
                if (asked) record.shares[l] += static_cast<double>(logs[l]);
            }
        }
        ++samples_;
    }
    return record;
}

std::vector<std::int32_t> SwapChain::likeliest(const BandScaling& scaling,
                                               std::int32_t real) const {
    std::vector<std::int32_t> columns(lengths_.size(), -1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        double top = 0.0;
        for (std::int32_t j = band_.first[i]; j < std::min(band_.last[i], real); ++j) {
            const auto entry = static_cast<std::size_t>(offsets_[i]) + at(j - band_.first[i]);
            const double weight = band_.weights.empty() ? 1.0 : band_.weights[entry];
            const double share = scaling.rows()[i] * weight * scaling.columns()[at(j)];
            if (share > top) {
                top = share;
                columns[i] = j;
            }
        }
    }
    return columns;
}

double SwapChain::accepted() const {
    return proposed_ > 0.0 ? taken_ / proposed_ : 0.0;
}

std::vector<std::int32_t> SwapChain::matching(std::size_t lane) const {
    std::vector<std::int32_t> columns(lengths_.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = held_[i * lanes + lane];
    return columns;
}

std::vector<std::uint8_t> SwapChain::state() const {
    SnapshotWriter writer;
    writer.put(held_);
    writer.put(held_logs_);
    for (const auto& half : counts_) writer.put(half);
    writer.put(guessed_);
    for (const auto& words : random_) writer.put(words, lanes);
    writer.put(&shared_, 1);
    writer.put(&samples_, 1);
    return std::move(writer).bytes();
}

bool SwapChain::restore(std::span<const std::uint8_t> state) {
    SnapshotReader reader(state);
    const std::size_t rows = lengths_.size();
    const auto entries = static_cast<std::size_t>(offsets_.back());
    SwapChain other(*this);
    bool fits = reader.take(other.held_.data(), other.held_.size()) &&
                reader.take(other.held_logs_.data(), other.held_logs_.size());
    for (auto& half : other.counts_) fits = fits && reader.take_or_none(half, entries);
    fits = fits && reader.take_or_none(other.guessed_, rows * lanes);
    for (auto& words : other.random_) fits = fits && reader.take(words, lanes);
    fits = fits && reader.take(&other.shared_, 1) && reader.take(&other.samples_, 1);
    if (!fits || !reader.at_end() || other.samples_ < 0) return false;
    if (other.samples_ > 0 && (other.counts_[0].empty() || other.counts_[1].empty())) return false;
    std::vector<std::uint32_t> taken(rows, 0);  // a bit for each replica
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::int32_t column = other.held_[i * lanes + l];
            if (column < band_.first[i] || column >= band_.last[i]) return false;
            if ((taken[at(column)] >> l & 1U) != 0) return false;
            taken[at(column)] |= 1U << l;
        }
    }
    *this = std::move(other);
    return true;
}

double SwapChain::distance(std::size_t i, std::span<const double> shares, std::size_t known,
                           double top, double half) const {
    const auto entry = static_cast<std::size_t>(offsets_[i]);
    double sum = 0.0;
    double rest = 0.0, rest_a = 0.0, rest_b = 0.0;
    double gone = 0.0, gone_a = 0.0, gone_b = 0.0;
    for (std::size_t j = 0; j < shares.size(); ++j) {
        const double a = counts_[0][entry + j] / half;
        const double b = counts_[1][entry + j] / half;
        if (j >= known) {
            gone += shares[j];
            gone_a += a;
            gone_b += b;
        } else if (shares[j] >= together_below * top) {
            sum += (a - shares[j]) * (b - shares[j]) / shares[j];
        } else {
            rest += shares[j];
            rest_a += a;
            rest_b += b;
        }
    }
    if (rest > 0.0) sum += (rest_a - rest) * (rest_b - rest) / rest;
    if (gone > 0.0) sum += (gone_a - gone) * (gone_b - gone) / gone;
    return sum;
}

SwapRows SwapChain::rows(const BandScaling& scaling, std::size_t begin, std::size_t end,
                         std::int32_t real) const {
    const std::size_t size = end - begin;
    SwapRows rows;
    for (auto* values : {&rows.gone, &rows.shannon, &rows.collision, &rows.largest, &rows.guessing,
                         &rows.distance, &rows.upper})
        values->resize(size);
    rows.guess.resize(size);
    const auto widest = *std::max_element(lengths_.begin(), lengths_.end());
    std::vector<double> gaps(at(widest));  // of Soules: (k!)^(1/k) - ((k-1)!)^(1/(k-1))
    double log_factorial = 0.0;
    double before = 0.0;
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        const auto number = static_cast<double>(k + 1);
        log_factorial += std::log(number);
        const double root = std::exp(log_factorial / number);
        gaps[k] = root - before;
        before = root;
    }
    const double half = 0.5 * static_cast<double>(lanes) * samples_;
    std::vector<double> shares, sorted;
    const auto& shifts = scaling.shifts();
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t at_row = i - begin;
        const std::size_t length = at(lengths_[i]);
        const std::size_t first = at(band_.first[i]);
        const auto entry = static_cast<std::size_t>(offsets_[i]);
        shares.resize(length);
        const std::size_t known = at(std::clamp(real - band_.first[i], 0, lengths_[i]));
        double gone = 0.0;
        std::size_t best = 0;
        for (std::size_t j = 0; j < length; ++j) {
            const double weight = band_.weights.empty() ? 1.0 : band_.weights[entry + j];
            shares[j] = scaling.rows()[i] * weight * scaling.columns()[first + j];
            if (j >= known)
                gone += shares[j];
            else if (shares[j] > shares[best])
                best = j;
        }
        const double top = known > 0 ? shares[best] : 0.0;
        const double left = 1.0 - gone;
        rows.gone[at_row] = gone;
        rows.guess[at_row] = known > 0 ? static_cast<std::int32_t>(first + best) : -1;
        rows.largest[at_row] = known > 0 ? top / left : 0.0;
        double doubt = 0.0;
        double squares = 0.0;
        for (std::size_t j = 0; j < known; ++j) {
            const double share = shares[j] / left;
            if (share > 0.0) doubt -= share * std::log2(share);
            squares += share * share;
        }
        rows.shannon[at_row] = std::max(doubt, 0.0);
        rows.collision[at_row] = squares;
        if (samples_ > 0) rows.distance[at_row] = distance(i, shares, known, top, half);
        for (std::size_t j = 0; j < length; ++j) {
            double share = shares[j];
            if (j + 1 < length) share -= shifts[first + j] * std::min(shares[j], shares[j + 1]);
            if (j > 0) share += shifts[first + j - 1] * std::min(shares[j - 1], shares[j]);
            if (!(share > 0.0)) {
                // Shares that doubles do not hold stay out, and so does all that needs them.
                rows.positive = rows.positive && share == 0.0 && shares[j] == 0.0;
                continue;
            }
            const double weight = band_.weights.empty() ? 1.0 : band_.weights[entry + j];
            const double gain = std::log(weight / share);
            const double others = 1.0 - share;
            const double others_log = others > 0.0 ? std::log1p(-share) : 0.0;
            rows.lower += share * gain + others * others_log;
            rows.size += std::abs(gain) + std::abs(others_log) + 2.0;
        }
        sorted = shares;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        double factor = 0.0;
        for (std::size_t k = 0; k < length; ++k) factor += gaps[k] * sorted[k];
        if (known < length) {
            sorted.assign(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(known));
            std::sort(sorted.begin(), sorted.end(), std::greater<>());
        }
        double guesses = 0.0;
        for (std::size_t k = 0; k < known; ++k)
            guesses += static_cast<double>(k + 1) * sorted[k] / left;
        rows.guessing[at_row] = std::max(guesses, 1.0);
        rows.upper[at_row] = std::log(factor);
    }
    return rows;
}

}  // namespace anonymatch
