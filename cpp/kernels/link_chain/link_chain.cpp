#include "link_chain/link_chain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "common/snapshot.hpp"

namespace anonymatch {
namespace {

constexpr std::size_t lanes = link_chain_lanes;
constexpr double stray_squared = 9.0;    // squared standard errors from its share of a count
constexpr double together_below = 0.02;  // of the largest share: smaller ones are taken together
constexpr double core_tail = 0.015;      // of a row's weight, on each side of what weighs most
constexpr double possible_above = 1e-12;
constexpr double dense_counts = 200.0;  // samples a cell, from which on logs of counts are good
constexpr float impossible = -200.0F;
constexpr std::size_t stretch_rows = 4096;

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

std::vector<std::int64_t> offsets_of(const LinkBand& band) {
    std::vector<std::int64_t> offsets(band.first.size() + 1, 0);
    for (std::size_t i = 0; i < band.first.size(); ++i)
        offsets[i + 1] = offsets[i] + (band.last[i] - band.first[i]);
    return offsets;
}

double weight_of(const LinkBand& band, std::int64_t entry) {
    return band.weights.empty() ? 1.0 : band.weights[static_cast<std::size_t>(entry)];
}

/// What is left of a run without the tails that weigh next to nothing.
link_chain::Run core_of(const LinkBand& band, std::size_t i, std::int64_t offset) {
    std::int32_t first = band.first[i];
    std::int32_t length = band.last[i] - first;
    if (band.weights.empty()) return {first, length};
    double total = 0.0;
    for (std::int32_t j = 0; j < length; ++j) total += weight_of(band, offset + j);
    double tail = 0.0;
    while (length > 1 && (tail += weight_of(band, offset + length - 1)) < core_tail * total)
        --length;
    tail = 0.0;
    std::int32_t begin = 0;
    while (begin + 1 < length && (tail += weight_of(band, offset + begin)) < core_tail * total)
        ++begin;
    return {first + begin, length - begin};
}

/// How far counted shares are from those of a scaling.
struct Apart {
    double unbiased = 0.0;    // chi-square by both halves
    double biased = 0.0;      // and by their mean
    double divergence = 0.0;  // of their mean, in nats
    double cells = 0.0;

    void add(double share, double a, double b, double sign) {
        const double p = (a + b) / 2.0;
        unbiased += sign * (a - share) * (b - share) / share;
        biased += sign * (p - share) * (p - share) / share;
        if (p > 0.0) divergence += sign * p * std::log(p / share);
        cells += 1.0;
    }
};

/// Whether numbers are those that are told.
bool are(const LinkNumbers& told, std::int32_t pairs, std::int32_t lost) {
    return (told.pairs < 0 || pairs == told.pairs) && (told.lost < 0 || lost == told.lost);
}

void grow(double& value, double sum, double relaxation) {
    if (!(sum > 0.0)) return;
    value *= relaxation == 1.0 ? 1.0 / sum : std::pow(sum, -relaxation);
}

}  // namespace

LinkScaling::LinkScaling(const LinkBand& band, std::span<const double> unpaired, double cover)
    : band_(band),
      offsets_(offsets_of(band)),
      unpaired_(unpaired.begin(), unpaired.end()),
      rows_(band.first.size(), 1.0),
      columns_(at(band.columns), 1.0),
      sums_(at(band.columns), 0.0),
      cover_(cover) {}

void LinkScaling::set_weights(std::span<const double> unpaired, double cover) {
    unpaired_.assign(unpaired.begin(), unpaired.end());
    cover_ = cover;
}

double LinkScaling::steps(int number, double relaxation, CancelFlag cancel) {
    double worst = 0.0;
    for (int k = 0; k < number && !cancel.raised(); ++k) {
        std::fill(sums_.begin(), sums_.end(), cover_);
        worst = 0.0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const std::size_t length = at(band_.last[i] - band_.first[i]);
            const double* const columns = columns_.data() + band_.first[i];
            double* const sums = sums_.data() + band_.first[i];
            double sum = unpaired_[i];
            if (band_.weights.empty()) {
                for (std::size_t j = 0; j < length; ++j) sum += columns[j];
            } else {
                const double* const weights = band_.weights.data() + offsets_[i];
                double four[4] = {};
                std::size_t j = 0;
                for (; j + 4 <= length; j += 4)
                    for (std::size_t l = 0; l < 4; ++l) four[l] += weights[j + l] * columns[j + l];
                for (; j < length; ++j) sum += weights[j] * columns[j];
                sum += (four[0] + four[1]) + (four[2] + four[3]);
            }
            sum *= rows_[i];
            worst = std::max(worst, std::abs(sum - 1.0));
            grow(rows_[i], sum, relaxation);
            const double row = rows_[i];
            if (band_.weights.empty()) {
                for (std::size_t j = 0; j < length; ++j) sums[j] += row;
            } else {
                const double* const weights = band_.weights.data() + offsets_[i];
                for (std::size_t j = 0; j < length; ++j) sums[j] += row * weights[j];
            }
        }
        for (std::size_t j = 0; j < columns_.size(); ++j)
            grow(columns_[j], columns_[j] * sums_[j], relaxation);
    }
    return worst;
}

std::vector<double> LinkScaling::alone() const {
    std::vector<double> alone(rows_.size());
    for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = rows_[i] * unpaired_[i];
    return alone;
}

std::vector<std::int32_t> first_in_first_out(const LinkBand& band) {
    const std::size_t rows = band.first.size();
    std::vector<std::int32_t> columns(rows, -1);
    std::size_t i = 0;
    for (std::int32_t j = 0; j < band.columns; ++j) {
        while (i < rows && (band.last[i] <= j || band.last[i] == band.first[i])) ++i;
        if (i == rows) break;
        if (band.first[i] <= j) columns[i++] = j;
    }
    return columns;
}

LinkChain::LinkChain(const LinkBand& band, std::span<const std::int32_t> reach,
                     std::span<const std::int32_t> start, std::uint64_t seed)
    : band_(band),
      offsets_(offsets_of(band)),
      reach_(reach.begin(), reach.end()),
      unpaired_(band.first.size(), 0.0F),
      label_random_(seed, lanes + 1) {
    const std::size_t rows = band.first.size();
    const auto entries = static_cast<std::size_t>(offsets_.back());
    runs_.resize(rows);
    cores_.resize(rows);
    held_.resize(rows * lanes);
    open_.assign(at(band.columns) + 1, std::uint16_t{0xFFFF});
    if (!band.weights.empty()) {
        logs_.assign(entries + 1, 0.0F);
        for (std::size_t e = 0; e < entries; ++e)
            logs_[e] = static_cast<float>(std::log(band.weights[e]));
        held_logs_.assign(rows * lanes, 0.0F);
    }
    for (std::size_t i = 0; i < rows; ++i) {
        runs_[i] = {band.first[i], band.last[i] - band.first[i]};
        cores_[i] = core_of(band, i, offsets_[i]);
        std::fill_n(held_.begin() + static_cast<std::ptrdiff_t>(i * lanes), lanes, start[i]);
        if (start[i] < 0) continue;
        open_[at(start[i])] = 0;
        for (auto& pairs : pairs_) ++pairs;
        if (!logs_.empty())
            std::fill_n(
                held_logs_.begin() + static_cast<std::ptrdiff_t>(i * lanes), lanes,
                logs_[static_cast<std::size_t>(offsets_[i]) + at(start[i] - band.first[i])]);
    }
    std::int32_t longest = 0;
    for (const auto& run : runs_) longest = std::max(longest, run.length);
    log_lengths_.resize(at(longest) + 1, 0.0F);
    for (std::size_t k = 1; k < log_lengths_.size(); ++k)
        log_lengths_[k] = std::log(static_cast<float>(k));
    for (std::size_t l = 0; l < lanes; ++l) {
        Random random(seed, l + 1);
        for (auto& word : random_) {
            word[l] = static_cast<std::uint32_t>(random.bits() >> 32) | 1U;  // never all 0
        }
    }
    shared_ = Random(seed, 0).bits();
}

void LinkChain::set_weights(std::span<const double> unpaired, double cover) {
    for (std::size_t i = 0; i < unpaired_.size(); ++i)
        unpaired_[i] = std::max(static_cast<float>(unpaired[i]), impossible);
    cover_ = std::max(static_cast<float>(cover), impossible);
}

void LinkChain::set_limits(std::int32_t least, std::int32_t most) {
    least_ = least;
    most_ = most;
}

void LinkChain::run(int sweeps, CancelFlag cancel) {
    const std::size_t rows = runs_.size();
    const auto stretch_of = link_chain::sweep_stretch(!logs_.empty());
    const link_chain::Sweep sweep{runs_.data(),
                                  cores_.data(),
                                  offsets_.data(),
                                  reach_.data(),
                                  logs_.data(),
                                  log_lengths_.data(),
                                  unpaired_.data(),
                                  cover_,
                                  held_.data(),
                                  held_logs_.data(),
                                  open_.data(),
                                  pairs_.data(),
                                  least_,
                                  most_,
                                  random_,
                                  &shared_,
                                  rows};
    for (int k = 0; k < sweeps; ++k) {
        for (std::size_t begin = 0; begin < rows; begin += stretch_rows) {
            stretch_of(sweep, begin, std::min(rows, begin + stretch_rows));
            if (cancel.raised()) return;
        }
    }
}

void LinkChain::set_losses(std::span<const double> losses) {
    losses_.assign(losses.begin(), losses.end());
    lost_lanes_.assign(losses.size(), 0);
}

std::array<std::int32_t, link_chain_lanes> LinkChain::draw_losses() {
    std::array<std::int32_t, lanes> numbers{};
    for (std::size_t i = 0; i < losses_.size(); ++i) {
        const std::int32_t* const held = held_.data() + i * lanes;
        const double loss = losses_[i];
        std::uint32_t lost = 0;
        for (std::size_t l = 0; l < lanes; ++l) {
            if (held[l] >= 0) continue;
            if (loss < 1.0 && !(label_random_.unit() < loss)) continue;
            lost |= 1U << l;
            ++numbers[l];
        }
        lost_lanes_[i] = static_cast<std::uint16_t>(lost);
    }
    return numbers;
}

LinkSums LinkChain::sweep(int sweeps, std::span<const double> shares, double cover_share,
                          LinkNumbers exactly, CancelFlag cancel) {
    LinkSums sums;
    for (int k = 0; k < sweeps && !cancel.raised(); ++k) {
        run(1, cancel);
        const auto lost = draw_losses();
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const std::int32_t* const held = held_.data() + i * lanes;
            for (std::size_t l = 0; l < lanes; ++l) sums.shares[l] += held[l] < 0 ? shares[i] : 0.0;
        }
        for (std::size_t l = 0; l < lanes; ++l) {
            const auto pairs = static_cast<double>(pairs_[l]);
            sums.shares[l] += cover_share * (static_cast<double>(band_.columns) - pairs);
            sums.pairs[l] += pairs;
            sums.squares[l] += pairs * pairs;
            const auto gone = static_cast<double>(lost[l]);
            sums.lost[l] += gone;
            sums.lost_squares[l] += gone * gone;
            sums.products[l] += gone * pairs;
            sums.hits[l] += are(exactly, pairs_[l], lost[l]) ? 1.0 : 0.0;
        }
    }
    return sums;
}

LinkRecord LinkChain::record(int samples, int thin, LinkNumbers exactly,
                             std::span<const double> row_logs, std::span<const double> column_logs,
                             CancelFlag cancel) {
    const std::size_t rows = runs_.size();
    for (auto& half : counts_) half.resize(static_cast<std::size_t>(offsets_.back()), 0);
    guesses_.resize(rows, -1);
    guessed_.resize(rows * lanes, 0);
    alone_.resize(rows * lanes, 0);
    if (!losses_.empty()) lost_.resize(rows * lanes, 0);
    real_.resize(at(band_.columns) * lanes, 0);
    LinkRecord record;
    for (int k = 0; k < samples && !cancel.raised(); ++k) {
        run(thin, cancel);
        ++samples_;
        const auto numbers = draw_losses();
        std::uint16_t counts = 0;  // a bit for each replica that counts
        std::array<std::uint16_t, lanes> one{};
        for (std::size_t l = 0; l < lanes; ++l) {
            if (!are(exactly, pairs_[l], numbers[l])) continue;
            counts = static_cast<std::uint16_t>(counts | 1U << l);
            one[l] = 1;
            record.samples[l] += 1.0;
            counted_[l >= lanes / 2] += 1.0;
            record.weights[l] += static_cast<double>(cover_) * (band_.columns - pairs_[l]);
        }
        if (counts == 0) continue;
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t* const held = held_.data() + i * lanes;
            const auto entry = offsets_[i] - band_.first[i];
            const bool asked = std::isfinite(row_logs[i]);
            const std::int32_t guess = guesses_[i];
            std::uint16_t* const guessed = guessed_.data() + i * lanes;
            std::uint16_t* const alone = alone_.data() + i * lanes;
            for (std::size_t l = 0; l < lanes; ++l) {
                guessed[l] =
                    static_cast<std::uint16_t>(guessed[l] + (held[l] == guess ? one[l] : 0));
                alone[l] = static_cast<std::uint16_t>(alone[l] + (held[l] < 0 ? one[l] : 0));
            }
            if (!losses_.empty()) {
                const std::uint32_t gone = lost_lanes_[i];
                std::uint16_t* const lost = lost_.data() + i * lanes;
                for (std::size_t l = 0; l < lanes; ++l) {
                    if (one[l] == 0 || held[l] >= 0) continue;
                    const bool is_lost = (gone >> l & 1U) != 0;
                    lost[l] = static_cast<std::uint16_t>(lost[l] + (is_lost ? 1U : 0U));
                    record.weights[l] += std::log(is_lost ? losses_[i] : 1.0 - losses_[i]);
                }
            }
            for (std::size_t l = 0; l < lanes; ++l) {
                if (one[l] == 0) continue;
                const std::size_t half = l >= lanes / 2;
                if (held[l] < 0) {
                    record.weights[l] += static_cast<double>(unpaired_[i]);
                    continue;
                }
                ++counts_[half][static_cast<std::size_t>(entry + held[l])];
                const double log =
                    logs_.empty() ? 0.0 : static_cast<double>(held_logs_[i * lanes + l]);
                record.weights[l] += log;
                if (!asked) continue;
                record.shares[l] += row_logs[i] + column_logs[at(held[l])] + log;
                record.paired[l] += 1.0;
            }
        }
        for (std::size_t j = 0; j < at(band_.columns); ++j) {
            const auto taken = static_cast<std::uint32_t>(~open_[j] & counts);
            std::uint16_t* const real = real_.data() + j * lanes;
            for (std::size_t l = 0; l < lanes; ++l)
                real[l] = static_cast<std::uint16_t>(real[l] + (taken >> l & 1U));
        }
    }
    return record;
}

std::vector<std::uint8_t> LinkChain::state() const {
    SnapshotWriter writer;
    writer.put(held_);
    writer.put(held_logs_);
    for (const auto& half : counts_) writer.put(half);
    for (const auto* counts : {&guessed_, &alone_, &lost_, &real_, &lost_lanes_})
        writer.put(*counts);
    writer.put(&label_random_, 1);
    writer.put(counted_);
    for (const auto& words : random_) writer.put(words, lanes);
    writer.put(&shared_, 1);
    writer.put(&samples_, 1);
    return std::move(writer).bytes();
}

bool LinkChain::restore(std::span<const std::uint8_t> state) {
    SnapshotReader reader(state);
    const std::size_t rows = runs_.size();
    const auto entries = static_cast<std::size_t>(offsets_.back());
    LinkChain other(*this);
    bool fits = reader.take(other.held_.data(), other.held_.size()) &&
                reader.take(other.held_logs_.data(), other.held_logs_.size());
    for (auto& half : other.counts_) fits = fits && reader.take_or_none(half, entries);
    for (auto* counts : {&other.guessed_, &other.alone_, &other.lost_})
        fits = fits && reader.take_or_none(*counts, rows * lanes);
    fits = fits && reader.take_or_none(other.real_, at(band_.columns) * lanes) &&
           reader.take(other.lost_lanes_.data(), other.lost_lanes_.size()) &&
           reader.take(&other.label_random_, 1) &&
           reader.take(other.counted_.data(), other.counted_.size());
    for (auto& words : other.random_) fits = fits && reader.take(words, lanes);
    fits = fits && reader.take(&other.shared_, 1) && reader.take(&other.samples_, 1);
    if (!fits || !reader.at_end() || other.samples_ < 0) return false;
    if (other.counts_[0].size() != other.counts_[1].size()) return false;
    if (other.samples_ > 0 && entries > 0 && other.counts_[0].empty()) return false;
    other.open_.assign(open_.size(), std::uint16_t{0xFFFF});
    other.pairs_.fill(0);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::int32_t column = other.held_[i * lanes + l];
            if (column == -1) continue;
            if (column < band_.first[i] || column >= band_.last[i]) return false;
            auto& open = other.open_[at(column)];
            if ((open >> l & 1U) == 0) return false;
            open = static_cast<std::uint16_t>(open & ~(1U << l));
            ++other.pairs_[l];
        }
    }
    *this = std::move(other);
    return true;
}

std::vector<std::int32_t> LinkChain::explanation(std::size_t lane) const {
    std::vector<std::int32_t> columns(runs_.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = held_[i * lanes + lane];
    return columns;
}

LinkTop LinkChain::top(const LinkScaling& scaling, std::size_t begin, std::size_t end,
                       LinkBlend blend, double errors) const {
    LinkTop top;
    top.guess.assign(end - begin, -1);
    top.largest.assign(end - begin, 0.0);
    top.high.assign(end - begin, 0.0);
    std::vector<double> shares;
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t r = i - begin;
        const std::size_t length = at(runs_[i].length);
        const auto entry = static_cast<std::size_t>(offsets_[i]);
        double total = 0.0, samples = 0.0;
        shares.resize(length);
        for (std::size_t j = 0; j < length; ++j) {
            shares[j] = weight_of(band_, offsets_[i] + static_cast<std::int64_t>(j)) *
                        scaling.columns()[at(runs_[i].first) + j];
            total += shares[j];
            if (!counts_[0].empty())
                samples += counts_[0][entry + j] + static_cast<double>(counts_[1][entry + j]);
        }
        if (!(total > 0.0)) continue;
        for (std::size_t j = 0; j < length; ++j) {
            const double share = shares[j] / total;
            double value = share, error = 1.0;
            if (samples > 0.0) {
                const double counted =
                    (counts_[0][entry + j] + static_cast<double>(counts_[1][entry + j])) / samples;
                const double middle = (counted + share) / 2;
                const double size = middle * (1 - middle);
                const double noise = blend.noise * std::max(size, 0.5 / samples) / samples;
                const double spread = blend.spread * size * size;
                double part = spread + noise > 0.0 ? spread / (spread + noise) : 1.0;
                const double apart = counted - share;
                if (apart * apart > stray_squared * (spread + noise)) part = 1.0;
                value = share + part * apart;
                error = std::sqrt(part * noise) + 1 / samples;
            }
            if (value > top.largest[r]) {
                top.largest[r] = value;
                top.guess[r] = runs_[i].first + static_cast<std::int32_t>(j);
            }
            top.high[r] = std::max(top.high[r], value + errors * error);
        }
        top.high[r] = std::min(top.high[r], 1.0);
    }
    return top;
}

LinkRows LinkChain::rows(const LinkScaling& scaling, std::size_t begin, std::size_t end,
                         std::span<const std::int32_t> groups) const {
    const std::size_t size = end - begin;
    LinkRows rows;
    for (auto* values :
         {&rows.shannon, &rows.collision, &rows.largest, &rows.guessing, &rows.distance})
        values->resize(size, 0.0);
    rows.guess.assign(size, -1);
    rows.allowed.assign(size, 0);
    if (!groups.empty()) {
        rows.group_shannon.assign(size, 0.0);
        rows.group_largest.assign(size, 0.0);
        rows.group_guess.assign(size, -1);
    }
    const bool counted = counted_[0] > 0.0 && counted_[1] > 0.0;
    std::vector<double> shares, sorted, sums;
    if (!groups.empty()) sums.assign(at(*std::max_element(groups.begin(), groups.end())) + 1, 0.0);
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t r = i - begin;
        const std::size_t length = at(runs_[i].length);
        const std::size_t first = at(runs_[i].first);
        const auto entry = static_cast<std::size_t>(offsets_[i]);
        double total = 0.0;
        std::size_t best = 0;
        shares.resize(length);
        for (std::size_t j = 0; j < length; ++j) {
            shares[j] = scaling.rows()[i] *
                        weight_of(band_, offsets_[i] + static_cast<std::int64_t>(j)) *
                        scaling.columns()[first + j];
            total += shares[j];
            if (shares[j] > shares[best]) best = j;
        }
        if (!(total > 0.0)) continue;
        rows.guess[r] = static_cast<std::int32_t>(first + best);
        rows.largest[r] = shares[best] / total;
        double doubt = 0.0, squares = 0.0;
        Apart apart;
        double rest = 0.0, rest_a = 0.0, rest_b = 0.0, all_a = 0.0, all_b = 0.0;
        for (std::size_t j = 0; j < length; ++j) {
            const double share = shares[j] / total;
            if (share > 0.0) doubt -= share * std::log2(share);
            squares += share * share;
            if (share > possible_above) ++rows.allowed[r];
            if (!counted) continue;
            const double a = counts_[0][entry + j] / counted_[0];
            const double b = counts_[1][entry + j] / counted_[1];
            all_a += a;
            all_b += b;
            if (shares[j] >= together_below * shares[best]) {
                apart.add(shares[j], a, b, 1.0);
            } else {
                rest += shares[j];
                rest_a += a;
                rest_b += b;
            }
        }
        if (rest > 0.0) apart.add(rest, rest_a, rest_b, 1.0);
        rows.shannon[r] = std::max(doubt, 0.0);
        rows.collision[r] = squares;
        if (counted) {
            const double cells = apart.cells;
            apart.add(total, all_a, all_b, -1.0);
            rows.distance[r] = counted_[0] + counted_[1] >= dense_counts * cells
                                   ? 2.0 * apart.divergence - (apart.biased - apart.unbiased)
                                   : apart.unbiased;
        }
        sorted = shares;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        double guesses = 0.0;
        for (std::size_t k = 0; k < length; ++k)
            guesses += static_cast<double>(k + 1) * sorted[k] / total;
        rows.guessing[r] = std::max(guesses, 1.0);
        if (groups.empty()) continue;
        for (std::size_t j = 0; j < length; ++j) sums[at(groups[first + j])] += shares[j] / total;
        double group_doubt = 0.0;
        for (std::size_t j = 0; j < length; ++j) {
            const std::int32_t group = groups[first + j];
            const double share = sums[at(group)];
            if (share > rows.group_largest[r]) {
                rows.group_largest[r] = share;
                rows.group_guess[r] = group;
            }
            if (share > 0.0) group_doubt -= share * std::log2(share);
            sums[at(group)] = 0.0;
        }
        rows.group_shannon[r] = std::max(group_doubt, 0.0);
    }
    return rows;
}

}  // namespace anonymatch
