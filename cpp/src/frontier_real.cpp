#include <bit>
#include <cmath>

#include "frontier_job.hpp"

namespace anonymatch::frontier {

RealJob::RealJob(const BlockView& block, std::span<const std::int32_t> order,
                 const FrontierReals& values, FrontierTask task, std::size_t byte_limit,
                 std::size_t size, std::uint64_t seed)
    : JobOf<Real>(block, order, Real(values), task, byte_limit),
      sampler_(block, size, seed),
      sampling_(task == FrontierTask::sample) {}

ScaledReal RealJob::count_real() const {
    const std::vector<double> value = total();
    return {value[0], std::bit_cast<std::int64_t>(value[1])};
}

std::vector<double> RealJob::posteriors() const {
    const std::vector<double>& minors = edges();
    std::vector<double> chances(minors.size() / 2, 0.0);
    // Layers are never scaled, so the minors and the count have one unit.
    const auto [mantissa, exponent] = count_real();
    if (mantissa == 0) return chances;
    for (std::size_t edge = 0; edge < chances.size(); ++edge) {
        const ScaledReal share = kind().product(static_cast<std::int32_t>(edge), &minors[2 * edge]);
        const std::int64_t shift = std::max<std::int64_t>(share.exponent - exponent, -2000);
        chances[edge] = std::scalbn(share.mantissa / mantissa, static_cast<int>(shift));
    }
    return chances;
}

std::vector<std::int32_t> RealJob::samples() const {
    if (!sampling_) throw wrong_kind();
    if (total()[0] == 0) return {};
    if (!done()) throw std::logic_error("the frontier job is not finished");
    return sampler_.samples();
}

double RealJob::step_back(std::size_t step, std::span<const Stream> streams,
                          std::span<const std::uint64_t> keys, std::span<const double> values) {
    return sampler_.step_back(step, steps().row(step), streams, keys, values, kind());
}

}  // namespace anonymatch::frontier
