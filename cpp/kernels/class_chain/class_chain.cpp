#include "class_chain/class_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace anonymatch {
namespace {

constexpr std::size_t between_looks = 256;  // events between two looks at the cancel flag

/// Numbers inside from `lo` to `hi` of users' packets (a) and loops (b).
struct Window {
    std::int64_t lo_a = 0, hi_a = 0, lo_b = 0, hi_b = 0;
    [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(hi_b - lo_b + 1); }
    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(hi_a - lo_a + 1) * columns();
    }
    [[nodiscard]] bool has(std::int64_t a, std::int64_t b) const {
        return a >= lo_a && a <= hi_a && b >= lo_b && b <= hi_b;
    }
    [[nodiscard]] std::size_t at(std::int64_t a, std::int64_t b) const {
        return static_cast<std::size_t>(a - lo_a) * columns() + static_cast<std::size_t>(b - lo_b);
    }
};

struct Layer {
    Window window;
    std::vector<double> values;
    [[nodiscard]] double get(std::int64_t a, std::int64_t b) const {
        return window.has(a, b) ? values[window.at(a, b)] : 0.0;
    }
};

class Chain {
public:
    Chain(const ClassLog& log, const ClassOptions& options, const CancelFlag& cancel)
        : log_(log), options_(options), cancel_(cancel), events_(log.arrival.size()) {}

    ClassFigures run() {
        if (!forward() || !backward()) return std::move(out_);
        if (options_.rows) rows();
        return std::move(out_);
    }

private:
    /// The window after an event from that before it.
    [[nodiscard]] Window moved(const Window& from, std::size_t e) const {
        Window to = from;
        if (log_.arrival[e] != 0) {
            if (log_.users[e] > 0) ++to.hi_a;
            if (log_.loops[e] > 0) ++to.hi_b;
        } else {
            if (log_.users[e] > 0 && to.lo_a > 0) --to.lo_a;
            if (log_.loops[e] > 0 && to.lo_b > 0) --to.lo_b;
        }
        return to;
    }

    /// Adds what becomes of the weights `from` at event e to `to`. The tag, if there is one, is
    /// among the users' packets and does not leave.
    void step(std::size_t e, const Window& w, const std::vector<double>& from, Layer& to,
              std::int64_t tags) const {
        const bool arrives = log_.arrival[e] != 0;
        const double users = log_.users[e], loops = log_.loops[e], stay = log_.stay[e];
        const std::int64_t shift = arrives ? 1 : -1;
        for (std::int64_t a = w.lo_a; a <= w.hi_a; ++a) {
            const double user = arrives ? users : users * static_cast<double>(a - tags);
            for (std::int64_t b = w.lo_b; b <= w.hi_b; ++b) {
                const double weight = from[w.at(a, b)];
                if (weight == 0.0) continue;
                const double loop = arrives ? loops : loops * static_cast<double>(b);
                if (stay > 0.0 && to.window.has(a, b))
                    to.values[to.window.at(a, b)] += stay * weight;
                if (user > 0.0 && to.window.has(a + shift, b))
                    to.values[to.window.at(a + shift, b)] += user * weight;
                if (loop > 0.0 && to.window.has(a, b + shift))
                    to.values[to.window.at(a, b + shift)] += loop * weight;
            }
        }
    }

    /// Time passes before event e. Factors are relative to that of `least_[e]` inside, so that they
    /// do not underflow for all.
    void decay(std::size_t e, Layer& layer) const {
        const Window& w = layer.window;
        const double fall = std::exp(-log_.gap[e]);
        const auto above = static_cast<double>(w.lo_a + w.lo_b - least_[e]);
        double of_a = above > 0.0 ? std::exp(-log_.gap[e] * above) : 1.0;
        for (std::int64_t a = w.lo_a; a <= w.hi_a; ++a, of_a *= fall) {
            double factor = of_a;
            for (std::int64_t b = w.lo_b; b <= w.hi_b; ++b, factor *= fall)
                layer.values[w.at(a, b)] *= factor;
        }
    }

    void trim(Layer& layer) const {
        const Window& w = layer.window;
        std::vector<double> of_a(static_cast<std::size_t>(w.hi_a - w.lo_a + 1), 0.0);
        std::vector<double> of_b(w.columns(), 0.0);
        for (std::size_t i = 0; i < of_a.size(); ++i) {
            for (std::size_t j = 0; j < of_b.size(); ++j) {
                const double value = layer.values[i * of_b.size() + j];
                of_a[i] += value;
                of_b[j] += value;
            }
        }
        const auto ends = [&](const std::vector<double>& sums) {
            std::size_t first = 0, last = sums.size() - 1;
            while (first < last && sums[first] < options_.cut) ++first;
            while (last > first && sums[last] < options_.cut) --last;
            return std::pair{first, last};
        };
        const auto [a0, a1] = ends(of_a);
        const auto [b0, b1] = ends(of_b);
        if (a0 == 0 && b0 == 0 && a1 + 1 == of_a.size() && b1 + 1 == of_b.size()) return;
        Layer less;
        less.window = {
            w.lo_a + static_cast<std::int64_t>(a0), w.lo_a + static_cast<std::int64_t>(a1),
            w.lo_b + static_cast<std::int64_t>(b0), w.lo_b + static_cast<std::int64_t>(b1)};
        less.values.reserve(less.window.size());
        for (std::size_t i = a0; i <= a1; ++i)
            for (std::size_t j = b0; j <= b1; ++j)
                less.values.push_back(layer.values[i * of_b.size() + j]);
        layer = std::move(less);
    }

    bool forward() {
        alpha_.resize(events_ + 1);
        scale_.assign(events_ + 1, 1.0);
        least_.assign(events_ + 1, 0);
        Layer& first = alpha_[0];
        first.values = {1.0};
        out_.log_evidence = 0.0;
        for (std::size_t e = 0; e < events_; ++e) {
            if (e % between_looks == 0 && cancel_.raised()) return out_.finished = false;
            Layer& to = alpha_[e + 1];
            to.window = moved(alpha_[e].window, e);
            to.values.assign(to.window.size(), 0.0);
            step(e, alpha_[e].window, alpha_[e].values, to, 0);
            least_[e + 1] = to.window.lo_a + to.window.lo_b;
            decay(e + 1, to);
            double sum = 0.0;
            for (const double value : to.values) sum += value;
            if (!(sum > 0.0)) return out_.explained = false;
            for (double& value : to.values) value /= sum;
            trim(to);
            scale_[e + 1] = sum;
            out_.log_evidence +=
                std::log(sum) - log_.gap[e + 1] * static_cast<double>(least_[e + 1]);
        }
        return true;
    }

    bool backward() {
        out_.stayed.assign(events_, 0.0);
        out_.users.assign(events_, 0.0);
        out_.loops.assign(events_, 0.0);
        after_.resize(events_);
        Layer next;  // weights to come before the event that was looked at last
        next.window = alpha_[events_].window;
        next.values.assign(next.window.size(), 0.0);
        double sum = 0.0;
        for (std::int64_t a = next.window.lo_a; a <= next.window.hi_a; ++a) {
            for (std::int64_t b = next.window.lo_b; b <= next.window.hi_b; ++b) {
                if (options_.drained && a + b > 0) continue;
                next.values[next.window.at(a, b)] = 1.0;
                sum += alpha_[events_].get(a, b);
            }
        }
        if (!(sum > 0.0)) return out_.explained = false;
        out_.log_evidence += std::log(sum);
        for (double& value : next.values) value /= sum;
        for (std::size_t e = events_; e-- > 0;) {
            if (e % between_looks == 0 && cancel_.raised()) return out_.finished = false;
            Layer& m = after_[e];
            m = std::move(next);
            decay(e + 1, m);
            for (double& value : m.values) value /= scale_[e + 1];
            const Layer& alpha = alpha_[e];
            const Window& w = alpha.window;
            next.window = w;
            next.values.assign(w.size(), 0.0);
            const bool arrives = log_.arrival[e] != 0;
            const std::int64_t shift = arrives ? 1 : -1;
            double total = 0.0;
            for (std::int64_t a = w.lo_a; a <= w.hi_a; ++a) {
                for (std::int64_t b = w.lo_b; b <= w.hi_b; ++b) {
                    const double here = alpha.values[w.at(a, b)];
                    const double stayed = m.get(a, b);
                    const double user =
                        m.get(a + shift, b) * (arrives ? 1.0 : static_cast<double>(a));
                    const double loop =
                        m.get(a, b + shift) * (arrives ? 1.0 : static_cast<double>(b));
                    out_.stayed[e] += here * stayed;
                    out_.users[e] += here * user;
                    out_.loops[e] += here * loop;
                    const double value =
                        log_.stay[e] * stayed + log_.users[e] * user + log_.loops[e] * loop;
                    next.values[w.at(a, b)] = value;
                    total += here * value;
                }
            }
            // It is 1 but for what was cut off; so it stays that.
            for (double& value : next.values) value /= total;
        }
        return true;
    }

    void rows() {
        std::vector<double> tag;
        Layer to;
        for (std::size_t j = 0; j < events_; ++j) {
            if (log_.arrival[j] == 0) continue;
            if (cancel_.raised()) {
                out_.finished = false;
                return;
            }
            const Layer& alpha = alpha_[j];
            const double lost = (1.0 - log_.keep[j]) * out_.stayed[j];
            double rest = log_.keep[j] * out_.users[j];
            const double all = lost + rest;
            const std::size_t first = out_.entry_value.size();
            // Users' packets with the tag itself, just after its arrival and then before each event.
            Window w = alpha_[j + 1].window;
            to.window = w;
            to.values.assign(w.size(), 0.0);
            for (std::int64_t a = alpha.window.lo_a; a <= alpha.window.hi_a; ++a)
                for (std::int64_t b = alpha.window.lo_b; b <= alpha.window.hi_b; ++b)
                    if (w.has(a + 1, b))
                        to.values[w.at(a + 1, b)] =
                            log_.keep[j] * alpha.values[alpha.window.at(a, b)];
            decay(j + 1, to);
            for (double& value : to.values) value /= scale_[j + 1];
            std::swap(tag, to.values);
            for (std::size_t e = j + 1; e < events_ && rest > options_.tolerance * all; ++e) {
                if (log_.arrival[e] == 0 && log_.users[e] > 0.0) {
                    const Layer& m = after_[e];
                    double leaves = 0.0;
                    for (std::int64_t a = std::max<std::int64_t>(w.lo_a, 1); a <= w.hi_a; ++a)
                        for (std::int64_t b = w.lo_b; b <= w.hi_b; ++b)
                            leaves += tag[w.at(a, b)] * m.get(a - 1, b);
                    leaves *= log_.users[e];
                    if (leaves > 0.0) {
                        out_.entry_event.push_back(static_cast<std::int64_t>(e));
                        out_.entry_value.push_back(leaves / all);
                        rest -= leaves;
                    }
                }
                to.window = alpha_[e + 1].window;
                to.values.assign(to.window.size(), 0.0);
                step(e, w, tag, to, 1);
                decay(e + 1, to);
                for (double& value : to.values) value /= scale_[e + 1];
                w = to.window;
                std::swap(tag, to.values);
            }
            out_.entries.push_back(static_cast<std::int64_t>(out_.entry_value.size() - first));
            out_.lost.push_back(all > 0.0 ? lost / all : 0.0);
            out_.inside.push_back(all > 0.0 ? std::max(rest, 0.0) / all : 0.0);
        }
    }

    const ClassLog& log_;
    ClassOptions options_;
    const CancelFlag& cancel_;
    std::size_t events_;
    std::vector<Layer> alpha_, after_;
    std::vector<double> scale_;  // what the weights before each event were divided by
    std::vector<std::int64_t> least_;
    ClassFigures out_;
};

void check(const ClassLog& log) {
    const std::size_t events = log.arrival.size();
    if (log.users.size() != events || log.loops.size() != events || log.stay.size() != events ||
        log.keep.size() != events || log.gap.size() != events + 1)
        throw std::invalid_argument("one weight an event, and one gap more");
    for (const auto& values : {log.users, log.loops, log.stay, log.keep, log.gap})
        for (const double value : values)
            if (!(value >= 0.0) || !std::isfinite(value))
                throw std::invalid_argument("weights and gaps must be finite and not negative");
}

}  // namespace

ClassFigures class_chain(const ClassLog& log, const ClassOptions& options,
                         const CancelFlag& cancel) {
    check(log);
    return Chain(log, options, cancel).run();
}

}  // namespace anonymatch
