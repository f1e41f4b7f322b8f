#include "profile_chain/profile_chain.hpp"

#include <algorithm>
#include <cmath>

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

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Log of a (a + 1) ... (a + number - 1), with few logs.
class RisingLogs {
public:
    void add(double a, std::int32_t number) {
        for (std::int32_t k = 0; k < number; ++k) {
            product_ *= a + k;
            if (product_ > huge || product_ < 1.0 / huge) flush();
        }
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

std::vector<std::int32_t> messages_of(const RoundLog& log) {
    std::vector<std::int32_t> numbers(at(log.senders), 0);
    for (const std::int32_t s : log.sender)
        if (s >= 0) ++numbers[at(s)];
    return numbers;
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
                           std::span<const std::int32_t> start, std::size_t group,
                           std::int32_t reach, std::uint64_t seed)
    : log_(log),
      base_(base.begin(), base.end()),
      base_sums_(base.size(), 0.0),
      prior_(prior),
      group_(std::clamp<std::size_t>(group, 2, profile_group_limit)),
      reach_(at(reach)),
      random_(seed, 0),
      draw_(group_),
      entries_(round_entries(log)),
      matching_(start.begin(), start.end()),
      round_of_(log.sender.size()),
      own_(log.sender.size()),
      own_starts_(at(log.senders) + 1, 0),
      repeats_(log.starts.size(), 0),
      counts_(messages_of(log), log.receivers),
      columns_(profile_group_limit),
      stamp_(at(log.senders), -1) {
    for (std::size_t t = 0; t + 1 < log.starts.size(); ++t)
        for (std::int32_t i = log.starts[t]; i < log.starts[t + 1]; ++i) {
            round_of_[at(i)] = static_cast<std::int32_t>(t);
            const std::int32_t s = log.sender[at(i)];
            if (s < 0) continue;
            ++own_starts_[at(s) + 1];
            if (stamp_[at(s)] == static_cast<std::int64_t>(t)) repeats_[t] = 1;
            stamp_[at(s)] = static_cast<std::int64_t>(t);
        }
    stamps_ = static_cast<std::int64_t>(log.starts.size());
    for (std::size_t s = 0; s < at(log.senders); ++s) own_starts_[s + 1] += own_starts_[s];
    std::vector<std::int32_t> end(own_starts_.begin(), own_starts_.end() - 1);
    for (std::size_t i = 0; i < log.sender.size(); ++i) {
        const std::int32_t s = log.sender[i];
        if (s >= 0) own_[at(end[at(s)]++)] = static_cast<std::int32_t>(i);
        add(static_cast<std::int32_t>(i), matching_[i]);
    }
}

bool ProfileChain::sweep(int sweeps, bool learn_too, bool record, CancelFlag cancel) {
    if (record) sums_.resize(static_cast<std::size_t>(entries_.back()), 0.0F);
    const std::size_t rounds = log_.starts.size() - 1;
    const std::size_t messages = log_.sender.size();
    for (int k = 0; k < sweeps; ++k) {
        for (std::size_t t = 0; t < rounds; ++t) {
            if (t % rounds_between_looks == 0 && cancel.raised()) return false;
            draw_round(t, record);
        }
        if (log_.first.empty())  // senders that often come together are easily taken for each other
            for (std::size_t pairs = at(log_.senders) / 4 + 1; pairs > 0; --pairs) {
                if (pairs % 4096 == 0 && cancel.raised()) return false;
                const std::size_t i = below(messages);
                const std::int32_t begin = log_.starts[at(round_of_[i])];
                const std::int32_t end = log_.starts[at(round_of_[i]) + 1];
                const std::size_t other = at(begin) + below(at(end - begin));
                exchange(log_.sender[i], log_.sender[other]);
            }
        if (learn_too) learn();
        if (record)
            for (std::size_t r = 0; r < base_.size(); ++r) base_sums_[r] += base_[r];
        double fits = fit(prior_.strength);
        if (!log_.weights.empty())
            for (std::size_t i = 0; i < messages; ++i)
                fits += std::log(law(static_cast<std::int32_t>(i), matching_[i]));
        trace_.push_back(fits);
        strengths_.push_back(prior_.strength);
    }
    return true;
}

// ---- messages of a round

void ProfileChain::draw_round(std::size_t round, bool record) {
    const std::int32_t begin = log_.starts[round];
    const std::int32_t end = log_.starts[round + 1];
    if (!log_.first.empty()) {
        draw_runs(begin, end, record);
    } else {
        order_.resize(at(end - begin));
        for (std::size_t k = 0; k < order_.size(); ++k)
            order_[k] = begin + static_cast<std::int32_t>(k);
        if (order_.size() > group_ || repeats_[round])
            for (std::size_t k = order_.size(); k > 1; --k)
                std::swap(order_[k - 1], order_[below(k)]);
        draw_some(record);
    }
    if (!repeats_[round]) return;
    for (std::int32_t pairs = (end - begin) / 2; pairs > 0; --pairs) {
        const std::size_t size = at(end - begin);
        const std::size_t i = below(size);
        const std::size_t far = log_.first.empty() ? size : std::min(size, 2 * reach_ + 2);
        const std::size_t k = (i + below(far)) % size;
        if (i != k)
            swap_pair(begin + static_cast<std::int32_t>(i), begin + static_cast<std::int32_t>(k));
    }
}

/// Groups of messages that come so many apart, in order of time.
void ProfileChain::draw_runs(std::int32_t begin, std::int32_t end, bool record) {
    const std::size_t apart = 1 + below(std::max<std::size_t>(1, 2 * reach_ / group_ + 1));
    const std::size_t block = apart * group_;
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
            if (members_.size() < group_) continue;
            draw_group(members_, record);
            members_.clear();
            ++stamps_;
        }
        if (!members_.empty()) draw_group(members_, record);
        order_.swap(later_);
    }
}

void ProfileChain::draw_group(std::span<const std::int32_t> group, bool record) {
    const std::size_t size = group.size();
    outs_.resize(size);
    for (std::size_t k = 0; k < size; ++k) outs_[k] = matching_[at(group[k])];
    if (size == 1) {
        if (record) sums_[static_cast<std::size_t>(entry(group[0], outs_[0]))] += 1.0F;
        return;
    }
    for (const std::int32_t i : group) remove(i);
    double* row = draw_.weights(size);
    for (std::size_t k = 0; k < size; ++k, row += size) {
        const std::int32_t s = log_.sender[at(group[k])];
        double largest = 0.0;
        for (std::size_t j = 0; j < size; ++j) {
            const std::int32_t r = log_.receiver[at(outs_[j])];
            double weight = 1.0;
            if (s >= 0)
                weight = r < 0 ? prior_.strength + counts_.total(s)
                               : prior_.strength * base_[at(r)] + counts_.count(s, r);
            row[j] = weight * law(group[k], outs_[j]);
            largest = std::max(largest, row[j]);
        }
        for (std::size_t j = 0; j < size; ++j) row[j] /= largest;
    }
    draw_.forward();
    if (record)
        draw_.marginals([&](std::size_t k, std::size_t j, double share) {
            if (share > 0.0)
                sums_[static_cast<std::size_t>(entry(group[k], outs_[j]))] +=
                    static_cast<float>(share);
        });
    draw_.draw(random_, columns_);
    for (std::size_t k = 0; k < size; ++k) add(group[k], outs_[columns_[k]]);
}

// ---- other steps, each taken or left as a whole

void ProfileChain::swap_pair(std::int32_t i, std::int32_t k) {
    const std::int32_t a = matching_[at(i)];
    const std::int32_t b = matching_[at(k)];
    const double after = law(i, b) * law(k, a);
    if (!(after > 0.0)) return;
    double gain = std::log(after) - std::log(law(i, a) * law(k, b));
    gain -= take(i);
    gain -= take(k);
    gain += give(i, b);
    gain += give(k, a);
    if (std::log1p(-random_.unit()) < gain) return;
    remove(i);
    remove(k);
    add(i, a);
    add(k, b);
}

/// What senders a and b have in the rounds in which both come once.
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
    double gain = 0.0;
    for (const std::int32_t message : members_) gain -= take(message);
    for (std::size_t m = 0; m < members_.size(); m += 2) {
        const std::int32_t first = matching_[at(members_[m])];
        gain += give(members_[m], matching_[at(members_[m + 1])]);
        gain += give(members_[m + 1], first);
    }
    if (std::log1p(-random_.unit()) < gain) return;
    for (const std::int32_t message : members_) remove(message);
    for (std::size_t m = 0; m < members_.size(); m += 2) {
        const std::int32_t first = matching_[at(members_[m])];
        add(members_[m], matching_[at(members_[m + 1])]);
        add(members_[m + 1], first);
    }
}

/// A step of the prior's strength, on a scale of logs; then the base.
void ProfileChain::learn() {
    const double next = prior_.strength * std::exp(learning_step * (random_.unit() - 0.5));
    const auto chance = [this](double strength) {
        return fit(strength) + usual(strength, usual_strength, strength_spread);
    };
    if (std::log1p(-random_.unit()) < chance(next) - chance(prior_.strength))
        prior_.strength = next;
    learn_base();
}

/// Draws the base, as in hierarchical Dirichlet processes ("direct assignment"): of all messages of a sender to a
/// receiver, some went there by the base and the others by habit. The base is Dirichlet given how many
/// did so.
void ProfileChain::learn_base() {
    std::vector<std::int32_t> drawn(base_.size(), 0);
    counts_.each([&](std::int32_t, std::int32_t receiver, std::int32_t count) {
        const double mass = prior_.strength * base_[at(receiver)];
        ++drawn[at(receiver)];
        for (std::int32_t k = 1; k < count; ++k)
            if (random_.unit() * (mass + k) < mass) ++drawn[at(receiver)];
    });
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
double ProfileChain::fit(double strength) const {
    RisingLogs above;
    RisingLogs under;
    counts_.each([&](std::int32_t, std::int32_t receiver, std::int32_t count) {
        above.add(strength * base_[at(receiver)], count);
    });
    for (std::int32_t s = 0; s < log_.senders; ++s) under.add(strength, counts_.total(s));
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

bool ProfileChain::counted(std::int32_t message, std::int32_t out) const {
    return log_.sender[at(message)] >= 0 && log_.receiver[at(out)] >= 0;
}

void ProfileChain::remove(std::int32_t message) {
    const std::int32_t out = matching_[at(message)];
    if (counted(message, out)) counts_.remove(log_.sender[at(message)], log_.receiver[at(out)]);
}

void ProfileChain::add(std::int32_t message, std::int32_t out) {
    matching_[at(message)] = out;
    if (counted(message, out)) counts_.add(log_.sender[at(message)], log_.receiver[at(out)]);
}

/// Takes a message out of the counts; gives the log of its factor.
double ProfileChain::take(std::int32_t message) {
    remove(message);
    const std::int32_t out = matching_[at(message)];
    if (!counted(message, out)) return 0.0;
    const std::int32_t s = log_.sender[at(message)];
    const std::int32_t r = log_.receiver[at(out)];
    return std::log((prior_.strength * base_[at(r)] + counts_.count(s, r)) /
                    (prior_.strength + counts_.total(s)));
}

/// Puts a message back with another message out; gives the log of its factor.
double ProfileChain::give(std::int32_t message, std::int32_t out) {
    double factor = 0.0;
    if (counted(message, out)) {
        const std::int32_t s = log_.sender[at(message)];
        const std::int32_t r = log_.receiver[at(out)];
        factor = std::log((prior_.strength * base_[at(r)] + counts_.count(s, r)) /
                          (prior_.strength + counts_.total(s)));
    }
    add(message, out);
    return factor;
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
