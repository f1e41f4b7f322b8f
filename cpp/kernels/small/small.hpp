// Many small blocks in one call: a subset programme a block, because a thousand calls cost more
// than the work.
#pragma once

#include <cstdint>
#include <span>

namespace anonymatch {

/// Blocks with at most this many behaviours are small: 2^12 subsets, and 12! is far below 2^64.
inline constexpr int small_behaviours = 12;

/// Blocks stored one after another: block b owns the rows [user_offsets[b], user_offsets[b+1]) of
/// the CSR (indptr, indices), whose column numbers count from 0 inside each block.
struct SmallBlocks {
    std::span<const std::int32_t> user_offsets;      // blocks + 1
    std::span<const std::int32_t> behaviour_counts;  // blocks, each <= small_behaviours
    std::span<const std::int32_t> indptr;
    std::span<const std::int32_t> indices;
};

/// The number of matchings that cover all users, for each block, and (unless `minors` is empty) for
/// each edge the number of those that use it.
/// State = set of used behaviours; users in order, so a state of i behaviours stands before user i.
/// Exact: every number is at most 12!. Cost 2^behaviours * degree a block, three times that with
/// minors.
void small_counts(const SmallBlocks& blocks, std::span<std::uint64_t> totals,
                  std::span<std::uint64_t> minors);

/// The same with weights: totals are sums over matchings of products of weights, minors leave the
/// edge's own weight out. Sums of non-negative terms, so the relative error of each result is at
/// most 2 * (users + 1) * (behaviours + 1) * 2^-53, as long as nothing overflows or underflows.
void small_counts(const SmallBlocks& blocks, std::span<const double> weights,
                  std::span<double> totals, std::span<double> minors);

}  // namespace anonymatch
