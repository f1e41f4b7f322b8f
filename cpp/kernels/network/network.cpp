#include "network/network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "network/network_lanes.hpp"

namespace anonymatch {
namespace {

constexpr std::size_t most_lanes = 64;
constexpr std::size_t between_looks = 1024;  // events from one look at what is left to the next

void check(const NetworkEvents& events) {
    const std::size_t number = events.from.size();
    if (events.to.size() != number || events.before.size() != number)
        throw std::invalid_argument("as many ends as events");
    for (std::size_t e = 0; e < number; ++e) {
        if (events.from[e] < network_carried || events.from[e] >= events.mixes ||
            events.to[e] < network_carried || events.to[e] >= events.mixes)
            throw std::invalid_argument("no such mix at event " + std::to_string(e));
        if (events.from[e] != network_carried) continue;
        const std::int64_t before = events.before[e];
        if (before < 0 || before >= static_cast<std::int64_t>(e) ||
            events.to[static_cast<std::size_t>(before)] != network_carried)
            throw std::invalid_argument("nothing is carried to event " + std::to_string(e));
    }
}

/// Rows of lanes for packets that are under way.
class Carried {
public:
    Carried(std::size_t events, std::size_t lanes) : slots_(events, -1), lanes_(lanes) {}

    double* put(std::size_t event) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::int32_t>(rows_.size() / lanes_));
            rows_.resize(rows_.size() + lanes_);
        }
        slots_[event] = free_.back();
        free_.pop_back();
        live_.push_back(event);
        return row(event);
    }
    /// Null if it carries nothing.
    double* row(std::size_t event) {
        return slots_[event] < 0 ? nullptr
                                 : rows_.data() + static_cast<std::size_t>(slots_[event]) * lanes_;
    }
    void drop(std::size_t event) {
        free_.push_back(slots_[event]);
        slots_[event] = -1;
    }
    void clear() {
        for (const std::size_t event : live_)
            if (slots_[event] >= 0) drop(event);
        live_.clear();
    }
    /// Adds what is under way.
    void add_to(double* sums) {
        std::erase_if(live_, [&](std::size_t event) { return slots_[event] < 0; });
        for (const std::size_t event : live_) network::add(sums, row(event), lanes_);
    }

private:
    std::vector<std::int32_t> slots_, free_;
    std::vector<std::size_t> live_;
    std::vector<double> rows_;
    std::size_t lanes_;
};

/// One group of targets at a time through the events.
class Pass {
public:
    Pass(const NetworkEvents& events, std::span<const std::int32_t> inside, std::size_t lanes)
        : events_(events),
          inside_(inside),
          lanes_(lanes),
          mass_(static_cast<std::size_t>(events.mixes) * lanes),
          live_(static_cast<std::size_t>(events.mixes)),
          carried_(events.from.size(), lanes),
          out_(lanes) {}

    void begin(std::span<const std::int64_t> targets) {
        std::fill(mass_.begin(), mass_.end(), 0.0);
        std::fill(live_.begin(), live_.end(), 0);
        carried_.clear();
        targets_ = targets;
        entered_ = 0;
    }
    [[nodiscard]] bool all_entered() const { return entered_ == targets_.size(); }

    /// Takes an event; what came out at it, or null.
    const double* step(std::size_t e) {
        const std::int32_t from = events_.from[e], to = events_.to[e];
        if (from == network_outside) {
            if (all_entered() || targets_[entered_] != static_cast<std::int64_t>(e)) return nullptr;
            std::fill(out_.begin(), out_.end(), 0.0);
            out_[entered_++] = 1.0;
            return deliver(e, to, out_.data());
        }
        if (from == network_carried) {
            const auto before = static_cast<std::size_t>(events_.before[e]);
            const double* row = carried_.row(before);
            if (row == nullptr) return nullptr;
            std::copy_n(row, lanes_, out_.data());
            carried_.drop(before);
            return deliver(e, to, out_.data());
        }
        const auto mix = static_cast<std::size_t>(from);
        if (!live_[mix]) return nullptr;
        double* mass = mass_.data() + mix * lanes_;
        if (inside_[e] == 1) {  // all of it, without a rest by rounding
            live_[mix] = 0;
            std::copy_n(mass, lanes_, out_.data());
            std::fill_n(mass, lanes_, 0.0);
            return deliver(e, to, out_.data());
        }
        const double share = 1.0 / inside_[e];
        if (to >= 0) {
            live_[static_cast<std::size_t>(to)] = 1;
            network::move_share(mass_.data() + static_cast<std::size_t>(to) * lanes_, mass, share,
                                lanes_);
            return nullptr;
        }
        network::take_share(out_.data(), mass, share, lanes_);
        return deliver(e, to, out_.data());
    }

    /// The most that a target still has inside or under way.
    double most_left() {
        std::vector<double> sums(lanes_, 0.0);
        for (std::size_t mix = 0; mix < live_.size(); ++mix)
            if (live_[mix]) network::add(sums.data(), mass_.data() + mix * lanes_, lanes_);
        carried_.add_to(sums.data());
        return network::largest(sums.data(), lanes_);
    }

private:
    const double* deliver(std::size_t e, std::int32_t to, const double* row) {
        if (to == network_outside) return row;
        if (to == network_carried) {
            std::copy_n(row, lanes_, carried_.put(e));
        } else {
            live_[static_cast<std::size_t>(to)] = 1;
            network::add(mass_.data() + static_cast<std::size_t>(to) * lanes_, row, lanes_);
        }
        return nullptr;
    }

    const NetworkEvents& events_;
    std::span<const std::int32_t> inside_;
    std::size_t lanes_;
    std::vector<double> mass_;
    std::vector<char> live_;
    Carried carried_;
    std::vector<double> out_;
    std::span<const std::int64_t> targets_;
    std::size_t entered_ = 0;
};

void check_targets(const NetworkEvents& events, std::span<const std::int64_t> targets) {
    std::int64_t last = -1;
    for (const std::int64_t target : targets) {
        if (target <= last || target >= static_cast<std::int64_t>(events.from.size()) ||
            events.from[static_cast<std::size_t>(target)] != network_outside)
            throw std::invalid_argument("targets leave a sender, in order of time");
        last = target;
    }
}

/// Guesses until one is named, the likeliest first: sum of rank times probability.
double ranked(std::vector<double>& probabilities) {
    std::sort(probabilities.begin(), probabilities.end(), std::greater<>());
    double sum = 0, total = 0;
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
        sum += static_cast<double>(k + 1) * probabilities[k];
        total += probabilities[k];
    }
    return total > 0 ? sum / total : 0.0;
}

}  // namespace

std::vector<std::int32_t> network_inside(const NetworkEvents& events) {
    check(events);
    std::vector<std::int32_t> inside(events.from.size(), 0);
    std::vector<std::int32_t> pool(static_cast<std::size_t>(events.mixes), 0);
    for (std::size_t e = 0; e < inside.size(); ++e) {
        if (events.from[e] >= 0) {
            std::int32_t& number = pool[static_cast<std::size_t>(events.from[e])];
            if (number < 1) {
                inside[e] = -1;
                break;
            }
            inside[e] = number--;
        }
        if (events.to[e] >= 0) ++pool[static_cast<std::size_t>(events.to[e])];
    }
    return inside;
}

NetworkTargets network_forward(const NetworkEvents& events, std::span<const std::int32_t> inside,
                               std::span<const std::int64_t> targets,
                               std::span<const std::int64_t> asked, const NetworkPass& pass,
                               const CancelFlag& cancel) {
    check(events);
    check_targets(events, targets);
    const std::size_t lanes = pass.lanes, number = targets.size();
    if (lanes == 0 || lanes > most_lanes || lanes % 8 != 0 || inside.size() != events.from.size() ||
        asked.size() != number)
        throw std::invalid_argument("lanes, sizes");
    NetworkTargets result;
    for (auto* values : {&result.shannon, &result.collision, &result.largest, &result.left,
                         &result.asked, &result.guesses})
        values->assign(number, 0.0);
    result.guess.assign(number, -1);
    result.ended.assign(number, -1);
    result.candidates.assign(number, 0);
    Pass run(events, inside, lanes);
    std::vector<double> rows(6 * lanes);
    const network::Sums sums{rows.data(),
                             rows.data() + lanes,
                             rows.data() + 2 * lanes,
                             rows.data() + 3 * lanes,
                             rows.data() + 4 * lanes,
                             rows.data() + 5 * lanes};
    std::vector<std::vector<double>> kept(pass.ranked ? lanes : 0);
    for (std::size_t begin = 0; begin < number; begin += lanes) {
        const std::size_t group = std::min(lanes, number - begin);
        std::fill(rows.begin(), rows.end(), 0.0);
        std::fill_n(sums.guess, lanes, -1.0);
        for (auto& probabilities : kept) probabilities.clear();
        run.begin(targets.subspan(begin, group));
        std::vector<std::pair<std::int64_t, std::size_t>> wanted;
        for (std::size_t lane = 0; lane < group; ++lane)
            if (asked[begin + lane] >= 0) wanted.emplace_back(asked[begin + lane], lane);
        std::sort(wanted.begin(), wanted.end());
        auto next = wanted.begin();
        auto e = static_cast<std::size_t>(targets[begin]);
        std::size_t look = e + between_looks;
        for (; e < events.from.size(); ++e) {
            while (next != wanted.end() && next->first < static_cast<std::int64_t>(e)) ++next;
            if (const double* out = run.step(e)) {
                network::count(sums, out, static_cast<double>(e), lanes);
                for (auto at = next;
                     at != wanted.end() && at->first == static_cast<std::int64_t>(e); ++at)
                    result.asked[begin + at->second] = out[at->second];
                for (std::size_t lane = 0; lane < kept.size(); ++lane)
                    if (out[lane] > 0) kept[lane].push_back(out[lane]);
            }
            if (e < look) continue;
            look = e + between_looks;
            if (cancel.raised()) {
                result.finished = false;
                return result;
            }
            if (run.all_entered() && run.most_left() < pass.least) break;
        }
        for (std::size_t lane = 0; lane < group; ++lane) {
            const std::size_t target = begin + lane;
            result.shannon[target] = sums.shannon[lane];
            result.collision[target] = sums.collision[lane];
            result.largest[target] = sums.largest[lane];
            result.left[target] = sums.left[lane];
            result.guess[target] = static_cast<std::int64_t>(sums.guess[lane]);
            result.ended[target] = static_cast<std::int64_t>(e);
            result.candidates[target] = static_cast<std::int64_t>(sums.candidates[lane]);
            if (pass.ranked) result.guesses[target] = ranked(kept[lane]);
        }
    }
    return result;
}

std::vector<double> network_rows(const NetworkEvents& events, std::span<const std::int32_t> inside,
                                 std::span<const std::int64_t> targets) {
    check(events);
    check_targets(events, targets);
    if (inside.size() != events.from.size()) throw std::invalid_argument("sizes");
    constexpr std::size_t lanes = 8;
    const std::size_t number = events.from.size();
    std::vector<double> result(targets.size() * number, 0.0);
    Pass run(events, inside, lanes);
    for (std::size_t begin = 0; begin < targets.size(); begin += lanes) {
        const std::size_t group = std::min(lanes, targets.size() - begin);
        run.begin(targets.subspan(begin, group));
        for (std::size_t e = 0; e < number; ++e)
            if (const double* out = run.step(e))
                for (std::size_t lane = 0; lane < group; ++lane)
                    result[(begin + lane) * number + e] = out[lane];
    }
    return result;
}

}  // namespace anonymatch
