#include <cmath>
#include <limits>

#include "frontier/frontier_job.hpp"
#include "frontier/frontier_reals.hpp"
#include "frontier/frontier_sample.hpp"

namespace anonymatch::frontier {
namespace {

template <class Kind>
class RealJob : public JobOf<Kind> {
public:
    RealJob(Steps steps, Kind kind, FrontierTask task, std::size_t byte_limit, Sampler sampler)
        : JobOf<Kind>(std::move(steps), std::move(kind), task, byte_limit),
          sampler_(std::move(sampler)) {}

    [[nodiscard]] ScaledReal count_real() const override {
        return this->kind().count(this->total().data());
    }
    [[nodiscard]] std::vector<double> posteriors() const override {
        std::vector<double> chances(this->edges().size() / this->kind().words(), 0.0);
        if (this->total()[0] == 0) return chances;
        const std::span<const std::int32_t> indptr = this->steps().indptr();
        for (std::size_t row = 0; row + 1 < indptr.size(); ++row)
            fill_row(indptr[row], indptr[row + 1], chances);
        return chances;
    }
    [[nodiscard]] std::vector<std::int32_t> samples() const override {
        if (this->task() != FrontierTask::sample) throw this->wrong_kind();
        if (this->total()[0] == 0) return {};
        if (!this->done()) throw std::logic_error("the frontier job is not finished");
        return sampler_.samples();
    }

protected:
    [[nodiscard]] ScaledReal through(std::int32_t edge) const {
        return this->kind().product(
            edge, this->edges().data() + static_cast<std::size_t>(edge) * this->kind().words());
    }
    [[nodiscard]] Sampler& sampler() noexcept { return sampler_; }

private:
    /// Every matching uses one edge of the row, so the row's sum is the count in the row's own
    /// unit.
    void fill_row(std::int32_t first, std::int32_t last, std::vector<double>& chances) const {
        std::int64_t unit = std::numeric_limits<std::int64_t>::min();
        for (std::int32_t edge = first; edge < last; ++edge)
            if (through(edge).mantissa != 0) unit = std::max(unit, through(edge).exponent);
        double whole = 0;
        for (std::int32_t edge = first; edge < last; ++edge) {
            const auto [mantissa, exponent] = through(edge);
            if (mantissa == 0) continue;  // in no matching: it stays 0
            const auto shift = static_cast<int>(std::max<std::int64_t>(exponent - unit, -2000));
            whole += chances[static_cast<std::size_t>(edge)] = std::scalbn(mantissa, shift);
        }
        for (std::int32_t edge = first; edge < last; ++edge)
            chances[static_cast<std::size_t>(edge)] /= whole;
    }

    double step_back(std::size_t step, std::span<const Stream> streams,
                     std::span<const std::uint64_t> keys, const double* values) override {
        return sampler_.step_back(step, this->steps().row(step), streams, keys, values,
                                  this->kind());
    }

    Sampler sampler_;
};

/// Tries plain doubles, and hands over to wide ones as soon as they could lose something.
class PlainRealJob final : public RealJob<PlainReal> {
public:
    using RealJob<PlainReal>::RealJob;

    [[nodiscard]] std::unique_ptr<Job> successor() override {
        if (!kind().lost() && !(done() && task() == FrontierTask::edges && a_row_is_lost()))
            return nullptr;
        RowScaled& weights = kind().weights();
        return std::make_unique<RealJob<WideReal>>(std::move(steps()),
                                                   WideReal(weights.weights, weights.exponent),
                                                   task(), byte_limit(), std::move(sampler()));
    }

private:
    [[nodiscard]] bool a_row_is_lost() const {
        if (total()[0] == 0) return false;
        const std::span<const std::int32_t> indptr = steps().indptr();
        for (std::size_t row = 0; row + 1 < indptr.size(); ++row) {
            double whole = 0;
            for (std::int32_t edge = indptr[row]; edge < indptr[row + 1]; ++edge)
                whole += through(edge).mantissa;
            if (!(whole >= PlainReal::least_total)) return true;
        }
        return false;
    }
};

}  // namespace

std::unique_ptr<Frontier::Job> real_job(const BlockView& block, std::span<const std::int32_t> order,
                                        const FrontierReals& values, FrontierTask task,
                                        std::size_t byte_limit, std::size_t size,
                                        std::uint64_t seed) {
    Steps steps(block, order);
    Sampler sampler(block, size, seed);
    RowScaled scaled(block, values);
    if (scaled.narrow)
        return std::make_unique<PlainRealJob>(std::move(steps), PlainReal(std::move(scaled)), task,
                                              byte_limit, std::move(sampler));
    const std::vector<double> weights(values.weights.begin(), values.weights.end());
    return std::make_unique<RealJob<WideReal>>(std::move(steps), WideReal(weights, 0), task,
                                               byte_limit, std::move(sampler));
}

}  // namespace anonymatch::frontier
