// Subset programme: weighted count and posteriors of a small dense square block, without
// cancellation.
//
// f[S] is the weighted number of ways to match the first |S| rows to exactly the columns S:
// f[S] = sum over c in S of w[|S| - 1][c] * f[S - c]. Only positive terms are added, so the
// relative error is proven, which inclusion-exclusion cannot offer. n * 2^(n-1) multiply-adds,
// eight a vector; 2^n doubles, twice that for posteriors.
//
// Error. Each row costs at most n + 1 roundings, so the count has relative error at most
// 1.01 * n * (n + 1) * 2^-53. A posterior's sum over subsets is cut into pieces of at most 2^12
// additions, of which there are at most 2^15: 2.1 * (n * (n + 1) + 2^16) * 2^-53 < 2e-11.
// Range. Rows are scaled by powers of two so that their largest weight is in [1, 2): values stay
// below (2n)^n < 2^178 for n <= 30. Every product of positive weights is at least 2^-900 by the
// precondition, so nothing underflows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "frontier/frontier.hpp"

namespace anonymatch {

inline constexpr std::int32_t subset_limit = 30;

/// Whether the weights are fit: the binary logarithms of largest / least positive weight, rounded
/// up and summed over rows, are at most 900. Every row must have a positive weight.
bool subset_fits(std::int32_t n, std::span<const double> weights);
/// Bytes that a job allocates.
double subset_bytes(std::int32_t n, bool posteriors);

/// A job: make it, `run` until true, read results.
class SubsetProgramme {
public:
    /// `weights` is n by n, row-major, finite and >= 0, 0 for no edge; 1 <= n <= subset_limit;
    /// std::invalid_argument when they are not fit.
    SubsetProgramme(std::int32_t n, std::span<const double> weights, bool posteriors);
    ~SubsetProgramme();
    SubsetProgramme(SubsetProgramme&&) noexcept;
    SubsetProgramme& operator=(SubsetProgramme&&) noexcept;

    /// Does about `max_subsets` more (rounded up to a small piece); true when finished.
    bool run(double max_subsets, CancelFlag cancel = {});
    [[nodiscard]] double subsets_done() const noexcept;
    [[nodiscard]] double subsets_in_all() const noexcept;

    [[nodiscard]] ScaledReal count_real() const;
    /// n by n, row-major: weight * minor / count; all 0 when the count is 0.
    [[nodiscard]] std::vector<double> posteriors() const;

private:
    class Job;
    std::unique_ptr<Job> job_;
};

}  // namespace anonymatch
