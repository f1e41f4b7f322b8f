#include "anonymatch/band.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "band_steps.hpp"
#include "band_walk.hpp"

namespace anonymatch {

class Band::Job {
public:
    virtual ~Job() = default;
    /// Does the next piece of work and says how much it was; 0 at the end.
    virtual double next() = 0;
    [[nodiscard]] virtual bool failed() const { return false; }
    [[nodiscard]] virtual std::vector<std::uint64_t> count_words() const { throw wrong(); }
    [[nodiscard]] virtual ScaledReal count_real() const { throw wrong(); }
    [[nodiscard]] virtual std::vector<double> posteriors() const { throw wrong(); }

    double done = 0;
    bool finished = false;

private:
    static std::logic_error wrong() {
        return std::logic_error("this band job does not compute that, or is not finished");
    }
};

namespace band {
namespace {

__extension__ typedef unsigned __int128 u128;

// ---- whole numbers

constexpr std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;

/// Digits of all values of a layer, an array a digit.
using Digits = std::vector<frontier::Buffer<std::uint64_t>>;

class WordsJob final : public Band::Job {
public:
    explicit WordsJob(Steps steps)
        : rows_(std::move(steps.rows)),
          meeting_(best_meeting(rows_).layer),
          reached_(0),
          falling_(rows_.size()) {
        for (Side* side : {&before_, &after_}) {
            side->used = 1;
            side->now.resize(1);
            side->now[0].reserve(1);
            side->now[0].data()[0] = 1;
        }
    }

    double next() override {
        if (reached_ < meeting_) {
            const Step& step = rows_[reached_++];
            return walk(before_, step.states_before(), step.states_after(), step,
                        [&](const auto* in, auto* out) { walk_.forward(step, in, nullptr, out); });
        }
        if (falling_ > meeting_) {
            const Step& step = rows_[--falling_];
            return walk(after_, step.states_after(), step.states_before(), step,
                        [&](const auto* in, auto* out) {
                            walk_.back(step, nullptr, in, nullptr, out, nullptr);
                        });
        }
        if (finished) return 0;
        multiply();
        finished = true;
        return 0;
    }

    [[nodiscard]] std::vector<std::uint64_t> count_words() const override {
        if (!finished) return Job::count_words();
        std::vector<std::uint64_t> words(total_.size() * digit_bits / 64 + 2, 0);
        for (std::size_t i = 0; i < total_.size(); ++i) {
            const std::size_t bit = i * digit_bits;
            const u128 shifted = static_cast<u128>(total_[i]) << (bit % 64);
            words[bit / 64] |= static_cast<std::uint64_t>(shifted);
            words[bit / 64 + 1] |= static_cast<std::uint64_t>(shifted >> 64);
        }
        return words;
    }

private:
    struct Side {
        Digits now;
        frontier::Buffer<std::uint64_t> spare;  // the next digit to be made
        std::size_t used = 0;
        double terms = 1;  // digits are sums of at most so many of digit_bits
    };

    template <class F>
    double walk(Side& side, std::size_t before, std::size_t after, const Step& step, F&& move) {
        const double terms = step.terms();
        if (side.terms * terms > most_terms) settle(side, before);
        side.terms *= terms;
        for (std::size_t d = 0; d < side.used; ++d) {
            side.spare.reserve(std::max<std::size_t>(after, 1));
            move(std::as_const(side.now[d]).data(), side.spare.data());
            std::swap(side.now[d], side.spare);
        }
        return step.work() * static_cast<double>(side.used);
    }

    /// Brings all digits below 2^digit_bits; what the highest gives away opens another.
    static void settle(Side& side, std::size_t size) {
        side.terms = 1;
        for (std::size_t d = 0; d + 1 < side.used; ++d)
            carry(side.now[d].data(), side.now[d + 1].data(), size, digit_bits);
        std::uint64_t* top = side.now[side.used - 1].data();
        if (carry(top, nullptr, size, digit_bits) == 0) return;
        side.now.resize(side.used + 1);
        frontier::Buffer<std::uint64_t>& more = side.now[side.used++];
        more.reserve(size);
        std::fill_n(more.data(), size, 0);
        carry(side.now[side.used - 2].data(), more.data(), size, digit_bits);
    }

    /// Sum over the states of ways before times ways after.
    void multiply() {
        const std::size_t size = meeting_ == 0 ? 1 : rows_[meeting_ - 1].states_after();
        settle(before_, size);
        settle(after_, size);
        total_.assign(before_.used + after_.used + 3, 0);
        for (std::size_t i = 0; i < before_.used; ++i)
            for (std::size_t j = 0; j < after_.used; ++j) {
                const std::uint64_t* a = before_.now[i].data();
                const std::uint64_t* b = after_.now[j].data();
                for (std::size_t begin = 0; begin < size; begin += most_products) {
                    u128 sum = 0;
                    const std::size_t end = std::min(size, begin + most_products);
                    for (std::size_t s = begin; s < end; ++s) sum += static_cast<u128>(a[s]) * b[s];
                    add(sum, i + j);
                }
            }
        before_ = {};
        after_ = {};
    }
    void add(u128 value, std::size_t digit) {
        for (; value != 0; ++digit) {
            value += total_[digit];
            total_[digit] = static_cast<std::uint64_t>(value) & digit_mask;
            value >>= digit_bits;
        }
    }

    // 2^20 products of two digits are below 2^124.
    static constexpr std::size_t most_products = std::size_t{1} << 20;

    std::vector<Step> rows_;
    std::size_t meeting_;
    std::size_t reached_;
    std::size_t falling_;
    Walk<std::uint64_t> walk_;
    Side before_;
    Side after_;
    std::vector<std::uint64_t> total_;
};

// ---- doubles

/// The range of exponents of the positive values of a layer; none: it is all zero.
struct Range {
    int low = 0;
    int high = 0;
    bool none = true;
};

Range range_of(const double* values, std::size_t size) {
    double low[8];
    double high[8] = {};
    std::fill_n(low, 8, HUGE_VAL);
    const auto see = [&](std::size_t lane, double value) {
        high[lane] = value > high[lane] ? value : high[lane];
        const double positive = value > 0 ? value : HUGE_VAL;
        low[lane] = positive < low[lane] ? positive : low[lane];
    };
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) see(lane, values[i + lane]);
    for (; i < size; ++i) see(i % 8, values[i]);
    const double most = *std::max_element(high, high + 8);
    if (most == 0) return {};
    return {std::ilogb(*std::min_element(low, low + 8)), std::ilogb(most), false};
}

/// Keeps the values of one layer after the other near 1. `low` and `high` bound their exponents
/// from what is known of the rows, so that layers are looked at only when it may be needed.
class Scale {
public:
    /// Bounds after a row whose weights lie between 2^low and 2^high, and are so many. A row with
    /// one weight w gives every value a part of at least w times one value before it.
    void row(int low, int high, std::size_t degree) {
        low_ += low;
        high_ += high + static_cast<int>(std::bit_width(degree));
    }
    /// Scales if need be; returns the exponent taken out. False in `fine`: the spread is too wide.
    int settle(double* values, std::size_t size, bool& fine) {
        if (low_ > -comfort && high_ < comfort) return 0;
        const Range range = range_of(values, size);
        fine = range.none || range.high - range.low <= spread;
        const int shift = range.none ? 0 : range.high;
        if (shift != 0) {
            const double factor = std::scalbn(1.0, -shift);
            for (std::size_t i = 0; i < size; ++i) values[i] *= factor;
        }
        low_ = range.none ? 0 : range.low - shift;
        high_ = range.none ? 0 : 1;
        return shift;
    }

private:
    static constexpr int comfort = 200;
    static constexpr int spread = 190;
    int low_ = 0;
    int high_ = 1;
};

class RealJob final : public Band::Job {
public:
    RealJob(Steps steps, std::span<const double> weights, bool edges, std::size_t byte_limit)
        : rows_(std::move(steps.rows)), weights_(weights.begin(), weights.end()), edges_(edges) {
        now_.reserve(1);
        now_.data()[0] = 1;
        if (!edges_) return;
        chances_.assign(rows_.back().first_edge + rows_.back().degree(), 0);
        cut(byte_limit);
    }

    double next() override {
        if (finished) return 0;
        if (!edges_) return count_step();
        return falling_ ? back_step() : keep_step();
    }
    [[nodiscard]] bool failed() const override { return failed_; }
    [[nodiscard]] ScaledReal count_real() const override {
        if (!finished || failed_) return Job::count_real();
        return total_;
    }
    [[nodiscard]] std::vector<double> posteriors() const override {
        if (!finished || failed_ || !edges_) return Job::posteriors();
        return chances_;
    }

private:
    struct Kept {
        std::size_t offset = 0;
        std::int64_t exponent = 0;
        Scale scale;
    };

    [[nodiscard]] const double* row_weights(const Step& step) const {
        return weights_.empty() ? nullptr : weights_.data() + step.first_edge;
    }
    void tell(Scale& scale, const Step& step) const {
        if (weights_.empty()) return scale.row(0, 0, step.degree());
        const auto [least, most] =
            std::minmax_element(row_weights(step), row_weights(step) + step.degree());
        scale.row(std::ilogb(*least), std::ilogb(*most) + 1, step.degree());
    }
    double fail() {
        failed_ = finished = true;
        return 0;
    }

    double count_step() {
        const Step& step = rows_[row_];
        then_.reserve(std::max<std::size_t>(step.states_after(), 1));
        walk_.forward(step, now_.data(), row_weights(step), then_.data());
        std::swap(now_, then_);
        tell(scale_, step);
        bool fine = true;
        exponent_ += scale_.settle(now_.data(), step.states_after(), fine);
        if (!fine) return fail();
        if (++row_ == rows_.size()) {
            set_total(now_.data(), exponent_);
            finished = true;
        }
        return step.work();
    }
    void set_total(const double* value, std::int64_t exponent) {
        if (rows_.back().states_after() == 0 || value[0] == 0) return;
        const int own = std::ilogb(value[0]);
        total_ = {std::scalbn(value[0], -own), exponent + own};
    }

    // All chances: layers are kept from the start of a segment on, and the first layer of every
    // segment from the first pass on. Segments end where layers are small.

    void cut(std::size_t byte_limit) {
        const std::size_t most = byte_limit / sizeof(double) / 2;
        std::size_t size = 1;
        segments_.push_back(0);
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            size += rows_[row].states_after();
            if (byte_limit == 0 || size <= most || row == segments_.back()) continue;
            std::size_t best = row;
            const std::size_t from = segments_.back() + (row - segments_.back()) / 2;
            for (std::size_t at = row; at > std::max(from, segments_.back()); --at)
                if (rows_[at].states_before() < rows_[best].states_before()) best = at;
            segments_.push_back(best);
            size = 0;
            for (std::size_t at = best; at <= row; ++at) size += rows_[at].states_after();
        }
        arena_.reserve(1);
        arena_.data()[0] = 1;
        kept_.push_back({});
        starts_.push_back({});
        end_ = 1;
    }

    [[nodiscard]] double* layer(const Kept& kept) { return arena_.data() + kept.offset; }

    /// One row forward. Layers of the last segment, or of the one at hand, pile up; in the first
    /// pass, those within other segments are dropped.
    double keep_step() {
        const Step& step = rows_[row_];
        const std::size_t size = step.states_after();
        arena_.reserve(end_ + std::max<std::size_t>(size, 1));
        Kept made = kept_.back();
        walk_.forward(step, layer(made), row_weights(step), arena_.data() + end_);
        tell(made.scale, step);
        made.offset = end_;
        bool fine = true;
        made.exponent += made.scale.settle(layer(made), size, fine);
        if (!fine) return fail();
        ++row_;
        const bool dropping = first_pass_ && segment_ + 1 < segments_.size();
        if (dropping && kept_.back().offset != starts_.back().offset) {
            // The layer before goes: this one takes its place.
            std::copy_n(layer(made), size, layer(kept_.back()));
            made.offset = kept_.back().offset;
            kept_.pop_back();
        }
        kept_.push_back(made);
        end_ = made.offset + std::max<std::size_t>(size, 1);
        if (dropping && row_ == segments_[segment_ + 1]) {
            starts_.push_back(made);
            kept_ = {made};
            ++segment_;
        }
        const std::size_t until = first_pass_ ? rows_.size() : segments_[segment_ + 1];
        if (row_ == until) begin_back();
        return step.work();
    }

    void begin_back() {
        if (first_pass_) {
            set_total(layer(kept_.back()), kept_.back().exponent);
            now_.data()[0] = 1;
            first_pass_ = false;
            back_scale_ = {};
            if (total_.mantissa == 0) {
                finished = true;
                return;
            }
        }
        falling_ = true;
        kept_.pop_back();
    }

    double back_step() {
        const Step& step = rows_[--row_];
        then_.reserve(std::max<std::size_t>(step.states_before(), 1));
        double sums[band_width_limit] = {};
        walk_.back(step, layer(kept_.back()), now_.data(), row_weights(step), then_.data(), sums);
        std::swap(now_, then_);
        tell(back_scale_, step);
        bool fine = true;
        back_scale_.settle(now_.data(), step.states_before(), fine);
        if (!fine) return fail();
        double all = 0;
        for (std::size_t i = 0; i < step.degree(); ++i) {
            if (!weights_.empty()) sums[i] *= weights_[step.first_edge + i];
            all += sums[i];
        }
        for (std::size_t i = 0; i < step.degree(); ++i)
            chances_[step.first_edge + i] = sums[i] / all;
        kept_.pop_back();
        if (row_ == segments_[segment_]) next_segment();
        return 2 * step.work();
    }

    void next_segment() {
        if (segment_ == 0) {
            finished = true;
            arena_.release();
            return;
        }
        --segment_;
        starts_.pop_back();
        kept_ = {starts_.back()};
        end_ = starts_.back().offset +
               std::max<std::size_t>(rows_[segments_[segment_]].states_before(), 1);
        row_ = segments_[segment_];
        falling_ = false;
    }

    std::vector<Step> rows_;
    std::vector<double> weights_;
    bool edges_;
    bool failed_ = false;
    bool falling_ = false;
    bool first_pass_ = true;
    std::size_t row_ = 0;
    std::size_t segment_ = 0;
    std::size_t end_ = 0;
    std::vector<std::size_t> segments_;  // first rows
    std::vector<Kept> starts_;           // their layers, as far as they are kept
    std::vector<Kept> kept_;             // layers of the segment at hand
    Walk<double> walk_;
    frontier::Buffer<double> arena_;
    frontier::Buffer<double> now_;
    frontier::Buffer<double> then_;
    Scale scale_;
    Scale back_scale_;
    std::int64_t exponent_ = 0;
    ScaledReal total_;
    std::vector<double> chances_;
};

std::unique_ptr<Band::Job> make_job(const BandView& view, std::span<const double> weights,
                                    BandTask task, std::size_t byte_limit) {
    Steps steps(view);
    if (!steps.feasible) throw std::invalid_argument("the band is too wide or has no matching");
    const Step& last = steps.rows.back();
    if (!weights.empty() && weights.size() != last.first_edge + last.degree())
        throw std::invalid_argument("there must be no weights or one an edge");
    if (task == BandTask::count_words) {
        if (!weights.empty()) throw std::invalid_argument("whole numbers take no weights here");
        return std::make_unique<WordsJob>(std::move(steps));
    }
    return std::make_unique<RealJob>(std::move(steps), weights, task == BandTask::edges,
                                     byte_limit);
}

}  // namespace
}  // namespace band

Band::Band(const BandView& view, std::span<const double> weights, BandTask task,
           std::size_t byte_limit)
    : job_(band::make_job(view, weights, task, byte_limit)) {}
Band::~Band() = default;
Band::Band(Band&&) noexcept = default;
Band& Band::operator=(Band&&) noexcept = default;

bool Band::run(double max_work, StopFlag stop) {
    const double until = job_->done + max_work;
    while (!job_->finished && !stop.raised()) {
        job_->done += job_->next();
        if (job_->done >= until) break;
    }
    return job_->finished;
}
double Band::work_done() const noexcept {
    return job_->done;
}
bool Band::failed() const noexcept {
    return job_->failed();
}
std::vector<std::uint64_t> Band::count_words() const {
    return job_->count_words();
}
ScaledReal Band::count_real() const {
    return job_->count_real();
}
std::vector<double> Band::posteriors() const {
    return job_->posteriors();
}

// ---- prices

BandPlan plan_band(const BandView& view) {
    const band::Steps steps(view);
    BandPlan plan;
    plan.width = steps.width;
    plan.feasible = steps.feasible;
    if (!plan.feasible) return plan;
    for (const band::Step& step : steps.rows) {
        const auto states = static_cast<double>(step.states_after());
        plan.work += step.work();
        plan.peak_states = std::max(plan.peak_states, states);
        plan.total_states += states;
        plan.roundings += static_cast<double>(step.degree()) + step.stretches();
        plan.words = plan.words && step.terms() <= band::most_terms;
    }
    const band::Meeting meeting = band::best_meeting(steps.rows);
    plan.words_work = meeting.work;
    plan.words_bytes = meeting.bytes;
    return plan;
}

double BandPlan::real_bytes() const {
    return 5 * sizeof(double) * peak_states;
}
double BandPlan::least_edge_bytes() const {
    const double some = 40 * peak_states;  // a stretch of layers around the widest
    return sizeof(double) * (6 * peak_states + std::min(total_states, some));
}

}  // namespace anonymatch
