// Bands over doubles: passes from layer to layer, and the chances of all edges.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "band/band_job.hpp"
#include "band/band_walk.hpp"

namespace anonymatch {
namespace band {
namespace {

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
    Scale() = default;
    Scale(const double* values, std::size_t size) {
        const Range range = range_of(values, size);
        low_ = range.low;
        high_ = range.high + 1;
    }
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

/// value * 2^exponent, with a mantissa from 1 to 2.
ScaledReal scaled(double value, std::int64_t exponent) {
    if (value == 0) return {};
    const int own = std::ilogb(value);
    return {std::scalbn(value, -own), exponent + own};
}

/// Weights by row, times the power of two that brings the row's largest into [1, 2): whatever they
/// are, a value times a weight stays in range. All one if there are none.
class Weights {
public:
    Weights(const std::vector<Step>& rows, std::span<const double> weights)
        : weights_(weights.begin(), weights.end()) {
        if (weights_.empty()) return;
        for (const Step& step : rows) {
            double* first = weights_.data() + step.first_edge;
            const auto [least, most] = std::minmax_element(first, first + step.degree());
            const int shift = std::ilogb(*most);
            near_ = near_ && shift - std::ilogb(*least) <= farthest;
            if (!near_) return;
            for (double* w = first; w != first + step.degree(); ++w) *w = std::scalbn(*w, -shift);
            exponent_ += shift;
        }
    }

    /// Whether the weights of every row lie near enough to each other for one scale a layer.
    [[nodiscard]] bool near() const noexcept { return near_; }
    /// The exponent taken out of all rows together.
    [[nodiscard]] std::int64_t exponent() const noexcept { return exponent_; }
    [[nodiscard]] const double* of(const Step& step) const {
        return weights_.empty() ? nullptr : weights_.data() + step.first_edge;
    }
    void tell(Scale& scale, const Step& step) const {
        if (weights_.empty()) return scale.row(0, 0, step.degree());
        const auto [least, most] = std::minmax_element(of(step), of(step) + step.degree());
        scale.row(std::ilogb(*least), std::ilogb(*most) + 1, step.degree());
    }

private:
    // Values lie within 2^-200 .. 2^200, so that two of them times a weight are far above the least
    // normal double, and the weight itself loses no bit.
    static constexpr int farthest = 500;
    std::vector<double> weights_;
    std::int64_t exponent_ = 0;
    bool near_ = true;
};

class RealPass final : public Band::Job {
public:
    RealPass(std::vector<Step> rows, std::span<const double> weights, bool back,
             std::span<const double> layer)
        : rows_(std::move(rows)),
          weights_(rows_, weights),
          back_(back),
          failed_(!weights_.near()),
          size_(layer.size()),
          scale_(layer.data(), layer.size()),
          exponent_(weights_.exponent()) {
        finished = failed_;
        now_.reserve(layer.size());
        std::copy(layer.begin(), layer.end(), now_.data());
    }

    double next() override {
        if (finished) return 0;
        const Step& step = rows_[back_ ? rows_.size() - 1 - row_ : row_];
        size_ = back_ ? step.states_before() : step.states_after();
        then_.reserve(std::max<std::size_t>(size_, 1));
        const double* weights = weights_.of(step);
        if (back_) walk_.back(step, nullptr, now_.data(), weights, then_.data(), nullptr);
        if (!back_) walk_.forward(step, now_.data(), weights, then_.data());
        std::swap(now_, then_);
        weights_.tell(scale_, step);
        bool fine = true;
        exponent_ += scale_.settle(now_.data(), size_, fine);
        failed_ = !fine;
        finished = failed_ || ++row_ == rows_.size();
        return step.work();
    }
    [[nodiscard]] bool failed() const override { return failed_; }
    [[nodiscard]] ScaledReal count_real() const override {
        if (!finished || failed_ || size_ > 1) return Job::count_real();
        return size_ == 0 ? ScaledReal{} : scaled(now_.data()[0], exponent_);
    }
    [[nodiscard]] BandLayer layer() const override {
        if (!finished || failed_) return Job::layer();
        return {{now_.data(), now_.data() + size_}, exponent_};
    }

private:
    std::vector<Step> rows_;
    Weights weights_;
    bool back_;
    bool failed_;
    std::size_t row_ = 0;  // rows that are done
    std::size_t size_;
    Scale scale_;
    std::int64_t exponent_;
    Walk<double> walk_;
    frontier::Buffer<double> now_;
    frontier::Buffer<double> then_;
};

class EdgesJob final : public Band::Job {
public:
    EdgesJob(std::vector<Step> rows, std::span<const double> weights,
             std::span<const double> before, std::span<const double> after, std::size_t byte_limit)
        : rows_(std::move(rows)),
          weights_(rows_, weights),
          failed_(!weights_.near()),
          end_(before.size()),
          back_scale_(after.data(), after.size()),
          chances_(rows_.back().first_edge + rows_.back().degree(), 0) {
        finished = failed_;
        cut(byte_limit);
        arena_.reserve(before.size());
        std::copy(before.begin(), before.end(), arena_.data());
        kept_.push_back({0, weights_.exponent(), Scale(before.data(), before.size())});
        starts_ = kept_;
        now_.reserve(after.size());
        std::copy(after.begin(), after.end(), now_.data());
    }

    double next() override {
        if (finished) return 0;
        return falling_ ? back_step() : keep_step();
    }
    [[nodiscard]] bool failed() const override { return failed_; }
    [[nodiscard]] ScaledReal count_real() const override {
        return finished && !failed_ ? total_ : Job::count_real();
    }
    [[nodiscard]] std::vector<double> posteriors() const override {
        return finished && !failed_ ? chances_ : Job::posteriors();
    }

private:
    struct Kept {
        std::size_t offset = 0;
        std::int64_t exponent = 0;
        Scale scale;
    };

    double fail() {
        failed_ = finished = true;
        return 0;
    }

    // All chances: layers are kept from the start of a segment on, and the first layer of every
    // segment from the first pass on. Segments end where layers are small.

    void cut(std::size_t byte_limit) {
        const std::size_t most = byte_limit / sizeof(double) / 2;
        std::size_t size = rows_[0].states_before();
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
    }

    [[nodiscard]] double* kept_layer(const Kept& kept) { return arena_.data() + kept.offset; }

    /// One row forward. Layers of the last segment, or of the one at hand, pile up; in the first
    /// pass, those within other segments are dropped.
    double keep_step() {
        const Step& step = rows_[row_];
        const std::size_t size = step.states_after();
        arena_.reserve(end_ + std::max<std::size_t>(size, 1));
        Kept made = kept_.back();
        walk_.forward(step, kept_layer(made), weights_.of(step), arena_.data() + end_);
        weights_.tell(made.scale, step);
        made.offset = end_;
        bool fine = true;
        made.exponent += made.scale.settle(kept_layer(made), size, fine);
        if (!fine) return fail();
        ++row_;
        const bool dropping = first_pass_ && segment_ + 1 < segments_.size();
        if (dropping && kept_.back().offset != starts_.back().offset) {
            // The layer before goes: this one takes its place.
            std::copy_n(kept_layer(made), size, kept_layer(kept_.back()));
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
            first_pass_ = false;
            if (rows_.back().states_after() == 1)
                total_ = scaled(kept_layer(kept_.back())[0], kept_.back().exponent);
        }
        falling_ = true;
        kept_.pop_back();
    }

    double back_step() {
        const Step& step = rows_[--row_];
        then_.reserve(std::max<std::size_t>(step.states_before(), 1));
        double sums[band_width_limit] = {};
        walk_.back(step, kept_layer(kept_.back()), now_.data(), weights_.of(step), then_.data(),
                   sums);
        std::swap(now_, then_);
        weights_.tell(back_scale_, step);
        bool fine = true;
        back_scale_.settle(now_.data(), step.states_before(), fine);
        if (!fine) return fail();
        double all = 0;
        for (std::size_t i = 0; i < step.degree(); ++i) {
            if (const double* weights = weights_.of(step)) sums[i] *= weights[i];
            all += sums[i];
        }
        for (std::size_t i = 0; i < step.degree(); ++i)
            chances_[step.first_edge + i] = all > 0 ? sums[i] / all : 0;
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
    Weights weights_;
    bool failed_;
    bool falling_ = false;
    bool first_pass_ = true;
    std::size_t row_ = 0;
    std::size_t segment_ = 0;
    std::size_t end_;
    std::vector<std::size_t> segments_;  // first rows
    std::vector<Kept> starts_;           // their layers, as far as they are kept
    std::vector<Kept> kept_;             // layers of the segment at hand
    Walk<double> walk_;
    frontier::Buffer<double> arena_;
    frontier::Buffer<double> now_;
    frontier::Buffer<double> then_;
    Scale back_scale_;
    ScaledReal total_;
    std::vector<double> chances_;
};

void check(std::span<const double> layer, std::size_t size) {
    if (layer.size() != size)
        throw std::invalid_argument("a layer has one value for each of its states");
}

}  // namespace

Made real_pass(std::vector<Step> rows, std::span<const double> weights, bool back,
               std::span<const double> layer) {
    check(layer, back ? rows.back().states_after() : rows[0].states_before());
    return std::make_unique<RealPass>(std::move(rows), weights, back, layer);
}

Made edges_job(std::vector<Step> rows, std::span<const double> weights,
               std::span<const double> before, std::span<const double> after,
               std::size_t byte_limit) {
    check(before, rows[0].states_before());
    check(after, rows.back().states_after());
    return std::make_unique<EdgesJob>(std::move(rows), weights, before, after, byte_limit);
}

}  // namespace band

double meet_real(std::span<const double> before, std::span<const double> after) {
    band::check(before, after.size());
    return band::dot(before.data(), after.data(), after.size());
}

}  // namespace anonymatch
