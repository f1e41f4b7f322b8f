#include "profile_chain/profile_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace anonymatch {
namespace {

// What is thought of the prior's strength before anything is seen: it is around this, as people
// write to few others. The spread leaves it to the log from some rounds on.
constexpr double usual_strength = 2.0;
constexpr double strength_spread = 0.4;
constexpr double learning_step = 1.6;
// And of how even receivers are: mostly so.
constexpr double usual_evenness = 20.0;
constexpr double evenness_spread = 2.0;
constexpr double smallest_share = 1e-12;
constexpr double huge = 1e200;
constexpr int rounds_between_looks = 256;  // at the cancel byte
constexpr int sweeps_between_bases = 5;    // that are learnt
constexpr std::size_t group_size = 7;      // messages drawn at once, where entries are runs
constexpr std::size_t powers_kept = 64;
constexpr int belief_steps = 6;
constexpr double start_noise = 0.1;     // of a mean field, without which it would stay even
constexpr float smallest_part = 1e-6F;  // of a sum without its largest term

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Log of a (a + 1) ... (a + number - 1), with few logs.
class RisingLogs {
public:
    void add(double a, std::int32_t number) {
        for (std::int32_t k = 0; k < number; ++k) multiply(a + k);
    }
    void multiply(double factor) {
        product_ *= factor;
        if (product_ > huge || product_ < 1.0 / huge) flush();
    }
    double sum() {
        flush();
        return sum_;
    }

private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1.0;
    }
    double product_ = 1.0, sum_ = 0.0;
};

/// Log density of the logarithm of a number, but for a constant: hyperbolic, as a normal one in the
/// middle and with tails that a log can overcome.
double usual(double number, double middle, double spread) {
    const double z = std::log(number / middle) / spread;
    return 1.0 - std::sqrt(1.0 + z * z);
}

/// Log of the chance that receivers were drawn so often, by how even their base is.
double even_fit(std::span<const std::int32_t> drawn, double evenness) {
    RisingLogs above;
    RisingLogs under;
    std::int32_t all = 0;
    for (const std::int32_t number : drawn) {
        above.add(evenness, number);
        all += number;
    }
    under.add(evenness * static_cast<double>(drawn.size()), all);
    return above.sum() - under.sum();
}

double normal(Random& random) {
    const double radius = std::sqrt(-2.0 * std::log1p(-random.unit()));
    return radius * std::cos(6.283185307179586 * random.unit());
}

/// Marsaglia and Tsang 2000.
double gamma(double shape, Random& random) {
    if (shape < 1.0) return gamma(shape + 1.0, random) * std::pow(1.0 - random.unit(), 1.0 / shape);
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
        const double x = normal(random);
        const double v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if (v > 0.0 && std::log1p(-random.unit()) < 0.5 * x * x + d - d * v + d * std::log(v))
            return d * v;
    }
}

/// Exchanges a message in one visit: more in larger rounds, whose weights take longer to load.
std::size_t exchanges(std::size_t size) {
    return std::max<std::size_t>(5, std::min(size / 3, std::max<std::size_t>(20, size / 8)));
}

float sum_of(std::span<const float> values) {
    std::array<float, 8> lanes{};
    std::size_t k = 0;
    for (; k + 8 <= values.size(); k += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += values[k + lane];
    float sum = 0.0F;
    for (; k < values.size(); ++k) sum += values[k];
    for (const float lane : lanes) sum += lane;
    return sum;
}

}  // namespace

std::vector<std::int64_t> round_entries(const RoundLog& log) {
    std::vector<std::int64_t> entries(log.sender.size() + 1, 0);
    for (std::size_t t = 0; t + 1 < log.starts.size(); ++t)
        for (std::int32_t i = log.starts[t]; i < log.starts[t + 1]; ++i)
            entries[at(i) + 1] = log.first.empty() ? log.starts[t + 1] - log.starts[t]
                                                   : log.last[at(i)] - log.first[at(i)];
    for (std::size_t i = 0; i < log.sender.size(); ++i) entries[i + 1] += entries[i];
    return entries;
}

ProfileChain::ProfileChain(const RoundLog& log, std::span<const double> base, ProfilePrior prior,
                           std::span<const std::int32_t> start, std::int32_t reach,
                           std::uint64_t seed)
    : log_(log),
      base_(base.begin(), base.end()),
      base_sums_(base.size(), 0.0),
      prior_(prior),
      reach_(at(reach)),
      random_(seed, 0),
      draw_(group_size),
      entries_(round_entries(log)),
      matching_(start.begin(), start.end()),
      round_of_(log.sender.size()),
      own_(log.sender.size()),
      own_starts_(at(log.senders) + 1, 0),
      repeats_(log.starts.size(), 0),
      twin_(log.sender.size(), -1),
      lead_(log.sender.size()),
      held_(log.sender.size(), 0),
      totals_(at(log.senders), 0),
      powers_(powers_kept),
      drawn_(group_size),
      stamp_(at(log.senders), -1) {
    std::vector<std::int32_t> latest(at(log.senders), -1);  // message of each sender
    for (std::size_t t = 0; t + 1 < log.starts.size(); ++t)
        for (std::int32_t i = log.starts[t]; i < log.starts[t + 1]; ++i) {
            round_of_[at(i)] = static_cast<std::int32_t>(t);
            lead_[at(i)] = i;
            const std::int32_t s = log.sender[at(i)];
            if (s < 0) continue;
            ++own_starts_[at(s) + 1];
            const std::int32_t before = latest[at(s)];
            if (before >= log.starts[t]) {
                repeats_[t] = 1;
                twin_[at(before)] = i;
                lead_[at(i)] = lead_[at(before)];
            }
            latest[at(s)] = i;
        }
    for (std::size_t s = 0; s < at(log.senders); ++s) own_starts_[s + 1] += own_starts_[s];
    std::vector<std::int32_t> end(own_starts_.begin(), own_starts_.end() - 1);
    for (std::size_t i = 0; i < log.sender.size(); ++i) {
        const std::int32_t s = log.sender[i];
        if (s >= 0) own_[at(end[at(s)]++)] = static_cast<std::int32_t>(i);
    }
    number_pairs();
    for (std::size_t i = 0; i < log.sender.size(); ++i)
        add(static_cast<std::int32_t>(i), matching_[i]);
}

void ProfileChain::number_pairs() {
    pairs_.assign(static_cast<std::size_t>(entries_.back()), 0);
    std::vector<std::int32_t> numbers(at(log_.receivers), 0);
    std::int32_t number = 0;
    for (std::size_t s = 0; s < at(log_.senders); ++s) {
        const std::int32_t before = number;  // numbers of other senders are not this one's
        for (std::int32_t k = own_starts_[s]; k < own_starts_[s + 1]; ++k) {
            const std::size_t i = at(own_[at(k)]);
            std::int32_t out = log_.first.empty() ? log_.starts[at(round_of_[i])] : log_.first[i];
            for (std::int64_t e = entries_[i]; e < entries_[i + 1]; ++e, ++out) {
                const std::int32_t r = log_.receiver[at(out)];
                if (r < 0) continue;
                if (numbers[at(r)] <= before) numbers[at(r)] = ++number;
                pairs_[static_cast<std::size_t>(e)] = numbers[at(r)];
            }
        }
    }
    counts_.assign(at(number) + 1, 0);
    seen_.assign(at(number) + 1, 0);
}

bool ProfileChain::sweep(int sweeps, SweepKind kind, CancelFlag cancel) {
    const std::size_t messages = log_.sender.size();
    if (kind.record) {
        sums_.resize(static_cast<std::size_t>(entries_.back()), 0.0);
        visits_.resize(messages, 0);
    }
    const std::size_t rounds = log_.starts.size() - 1;
    const std::size_t couples = std::min(at(log_.senders) / 4, messages / 16) + 1;
    for (int k = 0; k < sweeps; ++k) {
        if (kind.power != 1.0)
            for (std::size_t c = 0; c < powers_kept; ++c)
                powers_[c] =
                    std::pow(prior_.strength / log_.receivers + static_cast<double>(c), kind.power);
        for (std::size_t t = 0; t < rounds; ++t) {
            if (t % rounds_between_looks == 0 && cancel.raised()) return false;
            if (log_.first.empty())
                visit(t, kind);
            else
                draw_runs(log_.starts[t], log_.starts[t + 1], kind.record);
        }
        if (log_.first.empty())  // senders that often come together are easily taken for each other
            for (std::size_t couple = 0; couple < couples; ++couple) {
                if (couple % 4096 == 0 && cancel.raised()) return false;
                const std::size_t i = below(messages);
                const std::int32_t begin = log_.starts[at(round_of_[i])];
                const std::int32_t end = log_.starts[at(round_of_[i]) + 1];
                const std::size_t other = at(begin) + below(at(end - begin));
                exchange(log_.sender[i], log_.sender[other]);
            }
        if (kind.learn) learn(k % sweeps_between_bases == 0);
        if (kind.record) {
            ++recorded_;
            for (std::size_t r = 0; r < base_.size(); ++r) base_sums_[r] += base_[r];
        }
        double fits = fit(prior_.strength);
        if (!log_.weights.empty())
            for (std::size_t i = 0; i < messages; ++i)
                fits += std::log(law(static_cast<std::int32_t>(i), matching_[i]));
        trace_.push_back(fits);
        strengths_.push_back(prior_.strength);
    }
    return true;
}

std::vector<float> ProfileChain::sums() const {
    std::vector<float> sums(sums_.size(), 0.0F);
    if (sums.empty()) return sums;
    const bool whole = log_.first.empty();
    for (std::size_t i = 0; i < log_.sender.size(); ++i) {
        const std::size_t from = whole ? at(lead_[i]) : i;  // these have the same law
        const double scale = static_cast<double>(recorded_) /
                             static_cast<double>(std::max<std::int64_t>(visits_[from], 1));
        const auto own = static_cast<std::size_t>(entries_[i]);
        const auto number = static_cast<std::size_t>(entries_[i + 1] - entries_[i]);
        const double* const source = sums_.data() + entries_[from];
        for (std::size_t k = 0; k < number; ++k)
            sums[own + k] = static_cast<float>(source[k] * scale);
    }
    return sums;
}

// ---- whole rounds

void ProfileChain::visit(std::size_t round, SweepKind kind) {
    if (log_.starts[round] == log_.starts[round + 1]) return;
    choose(round);
    for (const std::int32_t i : active_) remove(i);
    load(round, kind.power);
    exchange_pairs(round, kind.record);
    const std::int32_t begin = log_.starts[round];
    for (std::size_t k = 0; k < active_.size(); ++k)
        add(active_[k], begin + columns_[at(place_[k])]);
}

/// The messages of a round that take part, what they share, and where each is.
void ProfileChain::choose(std::size_t round) {
    const std::int32_t begin = log_.starts[round];
    const std::int32_t end = log_.starts[round + 1];
    active_.clear();
    columns_.clear();
    place_.clear();
    for (std::int32_t i = begin; i < end; ++i) {
        if (!repeats_[round]) {
            active_.push_back(i);
            columns_.push_back(i - begin);
            place_.push_back(matching_[at(i)] - begin);
            continue;
        }
        if (lead_[at(i)] != i) continue;
        if (twin_[at(i)] >= 0) {
            members_.clear();
            for (std::int32_t k = i; k >= 0; k = twin_[at(k)]) members_.push_back(k);
            for (std::size_t k = members_.size(); k > 1; --k) {
                const std::size_t a = at(members_[k - 1]);
                const std::size_t b = at(members_[below(k)]);
                std::swap(matching_[a], matching_[b]);
                std::swap(held_[a], held_[b]);
            }
        }
        place_.push_back(static_cast<std::int32_t>(active_.size()));
        active_.push_back(i);
        columns_.push_back(matching_[at(i)] - begin);
    }
}

/// The weight of each active message and column, by all messages that are counted now.
void ProfileChain::load(std::size_t round, double power) {
    const std::size_t size = active_.size();
    const std::int32_t begin = log_.starts[round];
    weights_.resize(size * size);
    scaled_.resize(size);
    bool lost = false;
    for (std::size_t j = 0; j < size; ++j) {
        const std::int32_t r = log_.receiver[at(begin + columns_[j])];
        scaled_[j] = r < 0 ? 0.0 : prior_.strength * base_[at(r)];
        lost = lost || r < 0;
    }
    for (std::size_t k = 0; k < size; ++k) {
        const std::size_t i = at(active_[k]);
        const std::int32_t s = log_.sender[i];
        double* const row = weights_.data() + k * size;
        const std::int32_t* const pair = pairs_.data() + entries_[i];
        if (s < 0) {
            std::fill_n(row, size, 1.0);
            continue;
        }
        if (power == 1.0)
            for (std::size_t j = 0; j < size; ++j)
                row[j] = scaled_[j] + counts_[at(pair[columns_[j]])];
        else
            for (std::size_t j = 0; j < size; ++j)
                row[j] = powers_[std::min(at(counts_[at(pair[columns_[j]])]), powers_kept - 1)];
        if (!lost) continue;
        for (std::size_t j = 0; j < size; ++j)
            if (log_.receiver[at(begin + columns_[j])] < 0)
                row[j] = std::pow(prior_.strength + totals_[at(s)], power);
    }
}

/// Each active message in turn with another one: they exchange what they have by the odds of that.
void ProfileChain::exchange_pairs(std::size_t round, bool record) {
    const std::size_t size = active_.size();
    const std::size_t width = at(log_.starts[round + 1] - log_.starts[round]);
    double* const sums = record ? sums_.data() + entries_[at(log_.starts[round])] : nullptr;
    const auto tally = [&](std::size_t k, std::size_t column, double share) {
        const std::size_t row = at(active_[k] - log_.starts[round]);
        sums[row * width + at(columns_[column])] += share;
    };
    if (size == 1) {
        if (record) {
            tally(0, at(place_[0]), 1.0);
            ++visits_[at(active_[0])];
        }
        return;
    }
    const std::size_t turns = exchanges(size);
    const double* const weights = weights_.data();
    for (std::size_t turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t bits = random_.bits();
            auto k = static_cast<std::size_t>(((bits >> 40) * (size - 1)) >> 24);
            k += k >= i ? 1 : 0;
            const std::size_t a = at(place_[i]);
            const std::size_t b = at(place_[k]);
            const double keep = weights[i * size + a] * weights[k * size + b];
            const double swap = weights[i * size + b] * weights[k * size + a];
            if (record) {
                const double share = swap / (keep + swap);
                tally(i, a, 1.0 - share);
                tally(i, b, share);
                tally(k, b, 1.0 - share);
                tally(k, a, share);
                ++visits_[at(active_[i])];
                ++visits_[at(active_[k])];
            }
            const double unit = static_cast<double>(bits & 0xFFFFFFFFFFU) * 0x1p-40;
            if (unit * (keep + swap) < swap) std::swap(place_[i], place_[k]);
        }
}

// ---- an ordered start

bool ProfileChain::order(int passes, CancelFlag cancel) {
    std::vector<float> shares(pairs_.size());
    std::vector<double> expected(counts_.size(), 0.0);
    for (std::size_t i = 0; i < log_.sender.size(); ++i) {
        const std::span<float> row(shares.data() + entries_[i], shares.data() + entries_[i + 1]);
        for (float& share : row) share = static_cast<float>(1.0 + start_noise * random_.unit());
        const float sum = sum_of(row);
        for (float& share : row) share /= sum;
    }
    for (std::size_t e = 0; e < shares.size(); ++e) expected[at(pairs_[e])] += shares[e];
    for (int k = 0; k < passes; ++k)
        for (std::size_t t = 0; t + 1 < log_.starts.size(); ++t) {
            if (t % rounds_between_looks == 0 && cancel.raised()) return false;
            pass(t, shares, expected);
        }
    for (std::size_t t = 0; t + 1 < log_.starts.size(); ++t) best_of(t, shares);
    return true;
}

/// The marginals of one round given the expected counts of all others (Bethe's approximation).
void ProfileChain::pass(std::size_t round, std::vector<float>& shares,
                        std::vector<double>& expected) {
    const std::int32_t begin = log_.starts[round];
    const std::size_t size = at(log_.starts[round + 1] - begin);
    if (size < 2) return;
    const auto from = static_cast<std::size_t>(entries_[at(begin)]);
    const std::size_t number = size * size;
    const std::span<float> own(shares.data() + from, number);
    const std::span<const std::int32_t> pair(pairs_.data() + from, number);
    for (std::size_t e = 0; e < number; ++e) expected[at(pair[e])] -= own[e];
    bethe_.resize(number);
    row_messages_.resize(number);
    column_messages_.assign(number, 1.0F);
    for (std::size_t i = 0; i < size; ++i) {
        const std::int32_t s = log_.sender[at(begin) + i];
        for (std::size_t j = 0; j < size; ++j) {
            const std::int32_t r = log_.receiver[at(begin) + j];
            double weight = 1.0;
            if (s >= 0)
                weight = r < 0 ? prior_.strength + totals_[at(s)]
                               : prior_.strength * base_[at(r)] +
                                     std::max(0.0, expected[at(pair[i * size + j])]);
            bethe_[i * size + j] = static_cast<float>(weight);
        }
    }
    for (int step = 0; step < belief_steps; ++step) {
        sums_by_column_.assign(size, 0.0F);
        for (std::size_t i = 0; i < size; ++i) {
            const float* const weight = bethe_.data() + i * size;
            const float* const given = column_messages_.data() + i * size;
            float* const told = row_messages_.data() + i * size;
            for (std::size_t j = 0; j < size; ++j) told[j] = weight[j] * given[j];
            const float sum = sum_of({told, size});
            for (std::size_t j = 0; j < size; ++j) {
                told[j] = weight[j] / std::max(sum - told[j], smallest_part * sum);
                sums_by_column_[j] += told[j];
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            const float* const given = row_messages_.data() + i * size;
            float* const told = column_messages_.data() + i * size;
            for (std::size_t j = 0; j < size; ++j)
                told[j] = 1.0F / std::max(sums_by_column_[j] - given[j],
                                          smallest_part * sums_by_column_[j]);
        }
    }
    for (std::size_t i = 0; i < size; ++i) {
        const std::span<float> row = own.subspan(i * size, size);
        for (std::size_t j = 0; j < size; ++j)
            row[j] = bethe_[i * size + j] * column_messages_[i * size + j];
        const float sum = sum_of(row);
        for (float& share : row) share /= sum;
    }
    for (std::size_t e = 0; e < number; ++e) expected[at(pair[e])] += own[e];
}

/// A likely matching of a round: greedily, then by exchanges of pairs that make it likelier.
void ProfileChain::best_of(std::size_t round, std::span<const float> shares) {
    const std::int32_t begin = log_.starts[round];
    const std::size_t size = at(log_.starts[round + 1] - begin);
    if (size < 2) return;
    const std::span<const float> own =
        shares.subspan(static_cast<std::size_t>(entries_[at(begin)]), size * size);
    order_.resize(size);
    outs_.assign(size, -1);
    for (std::size_t i = 0; i < size; ++i) order_[i] = static_cast<std::int32_t>(i);
    const auto top = [&](std::int32_t i) {
        const std::span<const float> row = own.subspan(at(i) * size, size);
        return *std::max_element(row.begin(), row.end());
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return top(a) > top(b); });
    std::vector<std::uint8_t> taken(size, 0);
    for (const std::int32_t i : order_) {
        std::int32_t best = -1;
        for (std::size_t j = 0; j < size; ++j)
            if (!taken[j] && (best < 0 || own[at(i) * size + j] > own[at(i) * size + at(best)]))
                best = static_cast<std::int32_t>(j);
        outs_[at(i)] = best;
        taken[at(best)] = 1;
    }
    for (int look = 0; look < 2; ++look)
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = i + 1; k < size; ++k) {
                const std::size_t a = at(outs_[i]);
                const std::size_t b = at(outs_[k]);
                if (own[i * size + b] * own[k * size + a] > own[i * size + a] * own[k * size + b])
                    std::swap(outs_[i], outs_[k]);
            }
    for (std::size_t i = 0; i < size; ++i) remove(begin + static_cast<std::int32_t>(i));
    for (std::size_t i = 0; i < size; ++i)
        add(begin + static_cast<std::int32_t>(i), begin + outs_[i]);
}

// ---- runs

/// Groups of messages at a random distance from each other, in order of time; then pairs.
void ProfileChain::draw_runs(std::int32_t begin, std::int32_t end, bool record) {
    const std::size_t apart = 1 + below(std::max<std::size_t>(1, 2 * reach_ / group_size + 1));
    const std::size_t block = apart * group_size;
    const std::size_t size = at(end - begin);
    const std::size_t shift = below(block);
    for (std::size_t from = 0; from < size + block; from += block)
        for (std::size_t offset = 0; offset < apart; ++offset) {
            order_.clear();
            for (std::size_t k = from + offset; k < from + block; k += apart)
                if (k >= shift && k - shift < size)
                    order_.push_back(begin + static_cast<std::int32_t>(k - shift));
            if (!order_.empty()) draw_some(record);
        }
    for (std::size_t pairs = size / 2; pairs > 0; --pairs) {
        const std::size_t i = below(size);
        const std::size_t k = (i + below(std::min(size, 2 * reach_ + 2))) % size;
        if (i != k)
            swap_pair(begin + static_cast<std::int32_t>(i), begin + static_cast<std::int32_t>(k));
    }
}

/// The messages in `order_`, in groups in which no sender comes twice.
void ProfileChain::draw_some(bool record) {
    while (!order_.empty()) {
        later_.clear();
        members_.clear();
        ++stamps_;
        for (const std::int32_t i : order_) {
            const std::int32_t s = log_.sender[at(i)];
            if (s >= 0 && stamp_[at(s)] == stamps_) {
                later_.push_back(i);
                continue;
            }
            if (s >= 0) stamp_[at(s)] = stamps_;
            members_.push_back(i);
        }
        draw_group(members_, record);
        order_.swap(later_);
    }
}

void ProfileChain::draw_group(std::span<const std::int32_t> group, bool record) {
    const std::size_t size = group.size();
    outs_.resize(size);
    for (std::size_t k = 0; k < size; ++k) outs_[k] = matching_[at(group[k])];
    if (record)
        for (const std::int32_t i : group) ++visits_[at(i)];
    if (size == 1) {
        if (record) sums_[static_cast<std::size_t>(entry(group[0], outs_[0]))] += 1.0;
        return;
    }
    for (const std::int32_t i : group) remove(i);
    double* row = draw_.weights(size);
    for (std::size_t k = 0; k < size; ++k, row += size) {
        const std::int32_t s = log_.sender[at(group[k])];
        double largest = 0.0;
        for (std::size_t j = 0; j < size; ++j) {
            row[j] = law(group[k], outs_[j]);
            if (row[j] <= 0.0) continue;
            const std::int32_t r = log_.receiver[at(outs_[j])];
            if (s >= 0)
                row[j] *=
                    r < 0 ? prior_.strength + totals_[at(s)]
                          : prior_.strength * base_[at(r)] +
                                counts_[at(
                                    pairs_[static_cast<std::size_t>(entry(group[k], outs_[j]))])];
            largest = std::max(largest, row[j]);
        }
        for (std::size_t j = 0; j < size; ++j) row[j] /= largest;
    }
    draw_.forward();
    if (record)
        draw_.marginals([&](std::size_t k, std::size_t j, double share) {
            if (share > 0.0) sums_[static_cast<std::size_t>(entry(group[k], outs_[j]))] += share;
        });
    draw_.draw(random_, drawn_);
    for (std::size_t k = 0; k < size; ++k) add(group[k], outs_[drawn_[k]]);
}

// ---- other steps, each taken or left as a whole

void ProfileChain::swap_pair(std::int32_t i, std::int32_t k) {
    const std::int32_t a = matching_[at(i)];
    const std::int32_t b = matching_[at(k)];
    const double after = law(i, b) * law(k, a);
    if (!(after > 0.0)) return;
    double gain = std::log(after) - std::log(law(i, a) * law(k, b));
    for (const std::int32_t message : {i, k}) {
        remove(message);
        gain -= chance(message);
    }
    for (const auto& [message, out] : {std::pair{i, b}, std::pair{k, a}}) {
        matching_[at(message)] = out;
        gain += chance(message);
        add(message, out);
    }
    if (std::log1p(-random_.unit()) < gain) return;
    remove(i);
    remove(k);
    add(i, a);
    add(k, b);
}

/// What senders a and b have in the rounds in which both come once, if these are several.
void ProfileChain::exchange(std::int32_t a, std::int32_t b) {
    if (a < 0 || b < 0 || a == b) return;
    members_.clear();
    std::size_t i = at(own_starts_[at(a)]);
    std::size_t k = at(own_starts_[at(b)]);
    const std::size_t end_i = at(own_starts_[at(a) + 1]);
    const std::size_t end_k = at(own_starts_[at(b) + 1]);
    while (i < end_i && k < end_k) {
        const std::int32_t round = round_of_[at(own_[i])];
        const std::int32_t other = round_of_[at(own_[k])];
        if (round == other && !repeats_[at(round)]) {
            members_.push_back(own_[i]);
            members_.push_back(own_[k]);
        }
        if (round <= other) ++i;
        if (other <= round) ++k;
    }
    if (members_.size() < 4) return;
    const auto swapped = [this] {
        double gain = 0.0;
        for (const std::int32_t message : members_) {
            remove(message);
            gain -= chance(message);
        }
        for (std::size_t m = 0; m < members_.size(); m += 2)
            std::swap(matching_[at(members_[m])], matching_[at(members_[m + 1])]);
        for (const std::int32_t message : members_) {
            gain += chance(message);
            add(message, matching_[at(message)]);
        }
        return gain;
    };
    if (std::log1p(-random_.unit()) < swapped()) return;
    swapped();
}

// ---- the prior

/// A step of the prior's strength, on a scale of logs; then the base.
void ProfileChain::learn(bool base_too) {
    const double next = prior_.strength * std::exp(learning_step * (random_.unit() - 0.5));
    const auto chance = [this](double strength) {
        return fit(strength) + usual(strength, usual_strength, strength_spread);
    };
    if (std::log1p(-random_.unit()) < chance(next) - chance(prior_.strength))
        prior_.strength = next;
    if (base_too) learn_base();
}

/// Draws the base, as in hierarchical Dirichlet processes ("direct assignment"): of all messages of a
/// sender to a receiver, some went there by the base and the others by habit. The base is Dirichlet
/// given how many did so.
void ProfileChain::learn_base() {
    std::vector<std::int32_t> drawn(base_.size(), 0);
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (held_[i] == 0) continue;
        const std::size_t r = at(log_.receiver[at(matching_[i])]);
        const std::int32_t before = seen_[at(held_[i])]++;
        const double mass = prior_.strength * base_[r];
        if (before == 0 || random_.unit() * (mass + before) < mass) ++drawn[r];
    }
    for (const std::int32_t pair : held_) seen_[at(pair)] = 0;
    const double next = prior_.evenness * std::exp(learning_step * (random_.unit() - 0.5));
    const auto chance = [&](double evenness) {
        return even_fit(drawn, evenness) + usual(evenness, usual_evenness, evenness_spread);
    };
    if (std::log1p(-random_.unit()) < chance(next) - chance(prior_.evenness))
        prior_.evenness = next;
    double sum = 0.0;
    for (std::size_t r = 0; r < base_.size(); ++r)
        sum += base_[r] = gamma(prior_.evenness + drawn[r], random_);
    for (double& share : base_) share = std::max(share / sum, smallest_share);
}

/// Log of the chance of all counts under a strength, but for a constant.
double ProfileChain::fit(double strength) {
    RisingLogs above;
    RisingLogs under;
    for (std::size_t i = 0; i < held_.size(); ++i)
        if (held_[i] != 0)
            above.multiply(strength * base_[at(log_.receiver[at(matching_[i])])] +
                           seen_[at(held_[i])]++);
    for (const std::int32_t pair : held_) seen_[at(pair)] = 0;
    for (const std::int32_t total : totals_) under.add(strength, total);
    return above.sum() - under.sum();
}

// ---- entries and counts

double ProfileChain::law(std::int32_t message, std::int32_t out) const {
    if (log_.first.empty()) return 1.0;
    if (out < log_.first[at(message)] || out >= log_.last[at(message)]) return 0.0;
    return log_.weights.empty() ? 1.0 : log_.weights[static_cast<std::size_t>(entry(message, out))];
}

std::int64_t ProfileChain::entry(std::int32_t message, std::int32_t out) const {
    const std::int32_t first =
        log_.first.empty() ? log_.starts[at(round_of_[at(message)])] : log_.first[at(message)];
    return entries_[at(message)] + (out - first);
}

/// Log of the chance of the message out of a message that is not counted now, given all that are.
double ProfileChain::chance(std::int32_t message) const {
    const std::int32_t out = matching_[at(message)];
    const std::int32_t pair = pairs_[static_cast<std::size_t>(entry(message, out))];
    if (pair == 0) return 0.0;
    return std::log((prior_.strength * base_[at(log_.receiver[at(out)])] + counts_[at(pair)]) /
                    (prior_.strength + totals_[at(log_.sender[at(message)])]));
}

void ProfileChain::remove(std::int32_t message) {
    const std::int32_t pair = held_[at(message)];
    if (pair == 0) return;
    --counts_[at(pair)];
    --totals_[at(log_.sender[at(message)])];
}

void ProfileChain::add(std::int32_t message, std::int32_t out) {
    const std::int32_t pair = pairs_[static_cast<std::size_t>(entry(message, out))];
    matching_[at(message)] = out;
    held_[at(message)] = pair;
    if (pair == 0) return;
    ++counts_[at(pair)];
    ++totals_[at(log_.sender[at(message)])];
}

std::size_t ProfileChain::below(std::size_t size) {
    return Random::below(static_cast<std::uint32_t>(size),
                         static_cast<std::uint32_t>(random_.bits() >> 32));
}

// ---- rounds by themselves

bool round_marginals(const RoundLog& log, std::span<const double> weights,
                     std::vector<double>& shares, CancelFlag cancel) {
    const std::vector<std::int64_t> entries = round_entries(log);
    shares.assign(weights.size(), 0.0);
    std::int32_t most = 1;
    for (std::size_t t = 0; t + 1 < log.starts.size(); ++t)
        most = std::max(most, log.starts[t + 1] - log.starts[t]);
    profile_chain::GroupDraw draw(at(most));
    for (std::size_t t = 0; t + 1 < log.starts.size(); ++t) {
        if (cancel.raised()) return false;
        const std::size_t size = at(log.starts[t + 1] - log.starts[t]);
        if (size == 0) continue;
        const auto begin = static_cast<std::size_t>(entries[at(log.starts[t])]);
        double* row = draw.weights(size);
        for (std::size_t i = 0; i < size; ++i, row += size) {
            const std::span<const double> given = weights.subspan(begin + i * size, size);
            const double largest = *std::max_element(given.begin(), given.end());
            for (std::size_t j = 0; j < size; ++j)
                row[j] = largest > 0.0 ? given[j] / largest : 0.0;
        }
        if (!(draw.forward() > 0.0)) continue;
        draw.marginals([&](std::size_t i, std::size_t j, double share) {
            shares[begin + i * size + j] = share;
        });
    }
    return true;
}

}  // namespace anonymatch
