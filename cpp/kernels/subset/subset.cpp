#include "subset/subset.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "subset/subset_kernel.hpp"

namespace anonymatch {
namespace {

using subset::Lanes;

struct FreeMemory {
    void operator()(Lanes* memory) const noexcept { std::free(memory); }
};
using LaneArray = std::unique_ptr<Lanes[], FreeMemory>;

LaneArray lane_array(std::size_t size) {
    auto* memory = static_cast<Lanes*>(std::aligned_alloc(sizeof(Lanes), size * sizeof(Lanes)));
    if (memory == nullptr) throw std::bad_alloc();
    return LaneArray(memory);
}

LaneArray zero_lanes(std::size_t size) {
    LaneArray memory = lane_array(size);
    std::fill_n(memory.get(), size, Lanes{});
    return memory;
}

/// Columns of the sweep: three make a vector and one more keeps the loops free of special cases;
/// rows and columns beyond n are matched to each other with weight one.
std::size_t padded(std::int32_t n) {
    return std::max<std::size_t>(static_cast<std::size_t>(n), 4);
}

/// Blocks a piece: it bounds both the additions into one sum and the work between two looks at
/// the cancel flag.
constexpr std::uint64_t piece = 4096;

}  // namespace

bool subset_fits(std::int32_t n, std::span<const double> weights) {
    double spread = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
        double least = HUGE_VAL;
        double largest = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c) {
            const double weight = weights[row * static_cast<std::size_t>(n) + c];
            if (!(weight >= 0) || std::isinf(weight)) return false;
            if (weight > 0) least = std::min(least, weight);
            largest = std::max(largest, weight);
        }
        if (largest == 0) return false;
        spread += std::ilogb(largest) - std::ilogb(least) + 1;
    }
    return spread <= 900;
}

double subset_bytes(std::int32_t n, bool posteriors) {
    return std::ldexp(posteriors ? 16.0 : 8.0, static_cast<int>(padded(n)));
}

class SubsetProgramme::Job {
public:
    Job(std::int32_t n, std::span<const double> weights, bool posteriors)
        : n_(static_cast<std::size_t>(n)),
          width_(padded(n)),
          blocks_(std::uint64_t{1} << (width_ - 3)) {
        scale_rows(weights);
        ahead_ = lane_array(blocks_);
        if (posteriors) {
            back_ = lane_array(blocks_);
            sums_ = zero_lanes(width_ * width_);
            totals_ = zero_lanes(width_ * width_);
        }
    }

    bool run(double max_subsets, CancelFlag cancel) {
        const double until = done() + max_subsets;
        while (!finished() && !cancel.raised()) {
            next_piece();
            if (done() >= until) break;
        }
        return finished();
    }

    [[nodiscard]] bool finished() const noexcept {
        return forward_done_ == blocks_ && back_left() == 0;
    }
    [[nodiscard]] double done() const noexcept {
        return 8.0 * static_cast<double>(forward_done_ + back_done_);
    }
    [[nodiscard]] double in_all() const noexcept {
        return static_cast<double>(blocks_) * (back_ ? 16.0 : 8.0);
    }

    [[nodiscard]] ScaledReal count() const {
        if (forward_done_ != blocks_)
            throw std::logic_error("the subset programme is not finished");
        const double value = ahead_[blocks_ - 1][7];
        if (value == 0) return {};
        const int shift = std::ilogb(value);
        return {std::scalbn(value, -shift), exponent_ + shift};
    }

    [[nodiscard]] std::vector<double> posteriors() const {
        if (!back_) throw std::logic_error("the subset programme was made without posteriors");
        if (!finished()) throw std::logic_error("the subset programme is not finished");
        std::vector<double> chances(n_ * n_, 0.0);
        const double whole = ahead_[blocks_ - 1][7];
        if (whole == 0) return chances;
        for (std::size_t h = 0; h + 2 < width_; ++h)
            for (std::size_t c = 0; c < n_; ++c)
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    if (c < 3 && (lane >> c & 1U) != 0) continue;
                    const std::size_t row = h + static_cast<std::size_t>(std::popcount(lane));
                    if (row < n_)
                        chances[row * n_ + c] +=
                            totals_[h * width_ + c][lane] * weights_[row * width_ + c];
                }
        for (double& chance : chances) chance /= whole;
        return chances;
    }

private:
    void scale_rows(std::span<const double> weights) {
        weights_.assign(width_ * width_, 0.0);
        for (std::size_t row = 0; row < width_; ++row) {
            if (row >= n_) {
                weights_[row * width_ + row] = 1;
                continue;
            }
            const std::span<const double> given = weights.subspan(row * n_, n_);
            const int shift = std::ilogb(*std::max_element(given.begin(), given.end()));
            exponent_ += shift;
            for (std::size_t c = 0; c < n_; ++c)
                weights_[row * width_ + c] = std::scalbn(given[c], -shift);
        }
        lane_weights_ = zero_lanes(width_ * width_);
        for (std::size_t h = 0; h + 2 < width_; ++h)
            for (std::size_t c = 0; c < width_; ++c)
                for (std::size_t lane = 0; lane < 8; ++lane) {
                    const std::size_t row = h + static_cast<std::size_t>(std::popcount(lane));
                    const bool held = c < 3 && (lane >> c & 1U) != 0;
                    if (row < width_ && !held)
                        lane_weights_[h * width_ + c][lane] = weights_[row * width_ + c];
                }
    }

    [[nodiscard]] std::uint64_t back_left() const noexcept {
        return back_ ? blocks_ - back_done_ : 0;
    }

    void next_piece() {
        const subset::Sweep sweep{width_, lane_weights_.get(), ahead_.get(), back_.get(),
                                  sums_.get()};
        if (forward_done_ < blocks_) {
            const std::uint64_t last = std::min(forward_done_ + piece, blocks_);
            forward_(sweep, forward_done_, last);
            forward_done_ = last;
            return;
        }
        const std::uint64_t left = back_left();
        const std::uint64_t count = std::min(left, piece);
        backward_(sweep, left - count, left);
        back_done_ += count;
        for (std::size_t k = 0; k < width_ * width_; ++k) {
            totals_[k] += sums_[k];
            sums_[k] = Lanes{};
        }
    }

    std::size_t n_;
    std::size_t width_;
    std::uint64_t blocks_;
    std::int64_t exponent_ = 0;
    std::vector<double> weights_;  // scaled and padded
    LaneArray lane_weights_;
    LaneArray ahead_;
    LaneArray back_;
    LaneArray sums_;    // of the present piece
    LaneArray totals_;  // of all pieces
    std::uint64_t forward_done_ = 0;
    std::uint64_t back_done_ = 0;
    subset::SweepRange forward_ = subset::forward_sweep();
    subset::SweepRange backward_ = subset::backward_sweep();
};

SubsetProgramme::SubsetProgramme(std::int32_t n, std::span<const double> weights, bool posteriors) {
    if (n < 1 || n > subset_limit ||
        weights.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(n))
        throw std::invalid_argument("the subset programme takes n by n weights, n from 1 to 30");
    if (!subset_fits(n, weights))
        throw std::invalid_argument("weights spread too far for the subset programme");
    job_ = std::make_unique<Job>(n, weights, posteriors);
}

SubsetProgramme::~SubsetProgramme() = default;
SubsetProgramme::SubsetProgramme(SubsetProgramme&&) noexcept = default;
SubsetProgramme& SubsetProgramme::operator=(SubsetProgramme&&) noexcept = default;

bool SubsetProgramme::run(double max_subsets, CancelFlag cancel) {
    return job_->run(max_subsets, cancel);
}
double SubsetProgramme::subsets_done() const noexcept {
    return job_->done();
}
double SubsetProgramme::subsets_in_all() const noexcept {
    return job_->in_all();
}
ScaledReal SubsetProgramme::count_real() const {
    return job_->count();
}
std::vector<double> SubsetProgramme::posteriors() const {
    return job_->posteriors();
}

}  // namespace anonymatch
