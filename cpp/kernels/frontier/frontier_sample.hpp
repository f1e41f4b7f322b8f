// Exact samples: back from the empty last state through the forward layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_order.hpp"
#include "frontier/frontier_reals.hpp"
#include "frontier/frontier_steps.hpp"

namespace anonymatch::frontier {

/// The forward value of a state is the weight of all ways to reach it; a way chosen back to front,
/// each predecessor with chance weight * value / (value of the state), is a way with chance
/// proportional to its weight. So forward layers alone are enough.
class Sampler {
public:
    Sampler(const BlockView& block, std::size_t size, std::uint64_t seed);

    /// Takes every sample one step back and returns how many states were looked up; `row` is -1
    /// when the step forgets a column.
    template <class Kind>
    double step_back(std::size_t step, std::int32_t row, std::span<const Stream> streams,
                     std::span<const std::uint64_t> keys, const double* values, const Kind& kind);

    [[nodiscard]] const std::vector<std::int32_t>& samples() const noexcept { return samples_; }

private:
    std::size_t n_rows_;
    std::vector<std::int32_t> columns_;      // by edge
    std::vector<std::uint64_t> states_;      // by sample
    std::vector<std::uint64_t> generators_;  // by sample
    std::vector<std::int32_t> samples_;
};

}  // namespace anonymatch::frontier
