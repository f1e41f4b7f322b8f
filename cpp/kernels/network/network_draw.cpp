#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <stdexcept>

#include "common/random.hpp"
#include "network/network.hpp"

namespace anonymatch {
namespace {

using Kind = NetworkMix::Kind;

struct Moment {
    double time;
    std::uint64_t order;  // of those at one time, the first that was made
    std::int64_t packet;  // -1: the clock of a mix
    std::int32_t hop;     // that it comes to, or leaves; the mix for a clock
    bool leaves;
    std::int64_t before;  // event that carries it here, or -1; which tick it is for a clock

    bool operator<(const Moment& other) const {  // the queue has the largest first
        return time != other.time ? time > other.time : order > other.order;
    }
};

class Draw {
public:
    Draw(std::span<const double> arrivals, std::span<const std::int32_t> routes, std::size_t hops,
         std::int32_t mixes, const NetworkMix& mix, double link, std::uint64_t seed)
        : arrivals_(arrivals),
          routes_(routes),
          hops_(hops),
          mix_(mix),
          link_(link),
          seed_(seed),
          choice_(seed, std::numeric_limits<std::uint64_t>::max() - 1),
          pools_(static_cast<std::size_t>(mixes)) {
        if (!timed() || arrivals.empty()) return;
        clocks_.resize(pools_.size());
        for (Clock& clock : clocks_) clock.start = arrivals.front() + mix.seconds * choice_.unit();
    }

    NetworkLog run(const CancelFlag& cancel) {
        std::size_t sent = 0;
        std::uint64_t steps = 0;
        while (sent < arrivals_.size() || !queue_.empty()) {
            if ((++steps & 0xFFF) == 0 && cancel.raised()) {
                log_.finished = false;
                break;
            }
            if (sent < arrivals_.size() &&
                (queue_.empty() || arrivals_[sent] <= queue_.top().time)) {
                const double now = arrivals_[sent];
                forward(now, network_outside, static_cast<std::int64_t>(sent), 0);
                ++sent;
                continue;
            }
            const Moment now = queue_.top();
            queue_.pop();
            if (now.packet < 0) {
                tick(now, sent);
            } else if (now.leaves) {
                leave(now.time, now.packet, now.hop);
            } else {
                if (now.before >= 0) {
                    --under_way_;
                    emit(now.time, network_carried, at(now.packet, now.hop), now.packet,
                         now.before);
                }
                enter(now.time, now.packet, now.hop);
            }
        }
        return std::move(log_);
    }

private:
    struct Packet {
        std::int64_t packet;
        std::int32_t hop;
    };
    struct Clock {
        double start = 0;          // time of tick 0
        double next = 0;           // the first tick that has not been
        double waits_for = 0;      // the tick at which somebody leaves next
        std::int64_t version = 0;  // of that tick among those that are queued
    };

    [[nodiscard]] bool timed() const {
        return mix_.kind != Kind::exponential && mix_.kind != Kind::batch;
    }
    [[nodiscard]] std::int32_t at(std::int64_t packet, std::int32_t hop) const {
        return routes_[static_cast<std::size_t>(packet) * hops_ + static_cast<std::size_t>(hop)];
    }
    void push(double time, std::int64_t packet, std::int32_t hop, bool leaves,
              std::int64_t before) {
        queue_.push({time, order_++, packet, hop, leaves, before});
    }
    std::int64_t emit(double time, std::int32_t from, std::int32_t to, std::int64_t packet,
                      std::int64_t before) {
        log_.time.push_back(time);
        log_.from.push_back(from);
        log_.to.push_back(to);
        log_.packet.push_back(packet);
        log_.before.push_back(before);
        return static_cast<std::int64_t>(log_.time.size()) - 1;
    }

    /// A packet goes on to a hop, or to its receiver after the last.
    void forward(double now, std::int32_t from, std::int64_t packet, std::int32_t hop) {
        if (static_cast<std::size_t>(hop) == hops_ || at(packet, hop) < 0) {
            emit(now, from, network_outside, packet, -1);
        } else if (link_ > 0) {
            const std::int64_t event = emit(now, from, network_carried, packet, -1);
            ++under_way_;
            push(now + link_, packet, hop, false, event);
        } else {
            emit(now, from, at(packet, hop), packet, -1);
            enter(now, packet, hop);
        }
    }

    void enter(double now, std::int64_t packet, std::int32_t hop) {
        const auto mix = static_cast<std::size_t>(at(packet, hop));
        if (mix_.kind == Kind::exponential) {
            const auto index =
                static_cast<std::uint64_t>(packet) * hops_ + static_cast<std::uint64_t>(hop);
            push(now - mix_.seconds * std::log1p(-Random(seed_, index).unit()), packet, hop, true,
                 -1);
            return;
        }
        pools_[mix].push_back({packet, hop});
        last_move_ = now;
        if (mix_.kind != Kind::batch) {
            Clock& clock = clocks_[mix];
            clock.next = std::max(clock.next, std::ceil((now - clock.start) / mix_.seconds));
            wait(mix);
        } else if (pools_[mix].size() >= static_cast<std::size_t>(mix_.batch + mix_.kept)) {
            flush(now, mix, static_cast<std::size_t>(mix_.batch));
        }
    }

    void leave(double now, std::int64_t packet, std::int32_t hop) {
        forward(now, at(packet, hop), packet, hop + 1);
    }

    /// So many of those inside, each set of them equally likely.
    void flush(double now, std::size_t mix, std::size_t number) {
        auto& pool = pools_[mix];
        std::vector<Packet> leaving;
        for (std::size_t k = 0; k < number; ++k) {
            const auto chosen =
                static_cast<std::size_t>(choice_.unit() * static_cast<double>(pool.size()));
            leaving.push_back(pool[chosen]);
            pool[chosen] = pool.back();
            pool.pop_back();
        }
        for (const Packet& packet : leaving) leave(now, packet.packet, packet.hop);
    }

    /// Waits for the next tick at which somebody leaves. Ticks at which nobody can leave, or at which
    /// all coins fall for staying, are counted and not gone through: a clock may be as fast as it
    /// likes.
    void wait(std::size_t mix) {
        Clock& clock = clocks_[mix];
        ++clock.version;  // whatever it waited for before is void: coins have no memory
        const double chance = chance_of_leaving(pools_[mix].size());
        if (!(chance > 0)) return;
        const double idle =
            chance < 1 ? std::floor(std::log1p(-choice_.unit()) / std::log1p(-chance)) : 0.0;
        clock.waits_for = clock.next + idle;
        const double time = clock.start + clock.waits_for * mix_.seconds;
        if (!std::isfinite(time)) return;
        // Where a clock is finer than numbers of this size, its next tick is now.
        push(std::max(time, last_move_), -1, static_cast<std::int32_t>(mix), true, clock.version);
    }

    void tick(const Moment& now, std::size_t sent) {
        const auto mix = static_cast<std::size_t>(now.hop);
        Clock& clock = clocks_[mix];
        if (now.before != clock.version) return;
        // Coins that know how few are inside may leave the last ones there for ever.
        if (mix_.kind == Kind::normal_coins && sent == arrivals_.size() && under_way_ == 0 &&
            clock.waits_for > clock.next + 50 && now.time > last_move_ + 50 * mix_.seconds)
            return;
        last_move_ = now.time;
        clock.next = clock.waits_for + 1;
        flush(now.time, mix, leaving(pools_[mix].size()));
        wait(mix);
    }

    /// Of at least one packet, at a tick.
    [[nodiscard]] double chance_of_leaving(std::size_t inside) const {
        if (mix_.kind == Kind::timed || mix_.kind == Kind::timed_share)
            return sure_leaving(inside) > 0 ? 1.0 : 0.0;
        return inside == 0 ? 0.0
                           : -std::expm1(static_cast<double>(inside) * std::log1p(-coin(inside)));
    }

    /// How many leave at a tick at which somebody does.
    std::size_t leaving(std::size_t inside) {
        if (mix_.kind == Kind::timed || mix_.kind == Kind::timed_share) return sure_leaving(inside);
        // The first coin that falls for leaving is one of them, by its probability; those after it
        // are free.
        const double probability = coin(inside);
        double rest = chance_of_leaving(inside) * choice_.unit();
        std::size_t first = 0;
        for (double each = probability; first + 1 < inside && rest >= each; ++first) {
            rest -= each;
            each *= 1 - probability;
        }
        std::size_t sum = 1;
        for (std::size_t k = first + 1; k < inside; ++k)
            sum += choice_.unit() < probability ? 1U : 0U;
        return sum;
    }

    [[nodiscard]] std::size_t sure_leaving(std::size_t inside) const {
        const auto kept = static_cast<std::size_t>(mix_.kept);
        const std::size_t free = inside > kept ? inside - kept : 0;
        if (mix_.kind == Kind::timed) return free;
        // A product that rounds below a whole number is that number.
        const double share = mix_.share * static_cast<double>(inside);
        return std::min(free, static_cast<std::size_t>(std::floor(share * (1 + 1e-12))));
    }

    /// The probability of one coin.
    [[nodiscard]] double coin(std::size_t inside) const {
        const double size = static_cast<double>(inside);
        if (mix_.kind == Kind::normal_coins)
            return 0.5 * std::erfc((mix_.centre - size) / mix_.spread / std::sqrt(2.0));
        const auto kept = static_cast<std::size_t>(mix_.kept);
        return inside > kept ? std::min(mix_.share, static_cast<double>(inside - kept) / size)
                             : 0.0;
    }

    std::span<const double> arrivals_;
    std::span<const std::int32_t> routes_;
    std::size_t hops_;
    NetworkMix mix_;
    double link_;
    std::uint64_t seed_;
    Random choice_;
    std::vector<std::vector<Packet>> pools_;
    std::vector<Clock> clocks_;
    std::priority_queue<Moment> queue_;
    std::uint64_t order_ = 0;
    std::int64_t under_way_ = 0;
    double last_move_ = 0;
    NetworkLog log_;
};

}  // namespace

NetworkLog network_draw(std::span<const double> arrivals, std::span<const std::int32_t> routes,
                        std::size_t hops, std::int32_t mixes, const NetworkMix& mix, double link,
                        std::uint64_t seed, const CancelFlag& cancel) {
    if (hops == 0 || mixes < 1 || routes.size() != arrivals.size() * hops)
        throw std::invalid_argument("a route of mixes for each packet");
    for (const std::int32_t m : routes)
        if (m < -1 || m >= mixes) throw std::invalid_argument("no such mix on a route");
    if (!std::is_sorted(arrivals.begin(), arrivals.end()))
        throw std::invalid_argument("packets are sent in order of time");
    if (!(mix.seconds > 0) || mix.batch < 1 || mix.kept < 0 || !(mix.spread > 0) || !(link >= 0))
        throw std::invalid_argument("what the mixes do");
    return Draw(arrivals, routes, hops, mixes, mix, link, seed).run(cancel);
}

}  // namespace anonymatch
