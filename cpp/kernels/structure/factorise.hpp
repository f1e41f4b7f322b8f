// Groups of equal hashes: the first step from a column of names to numbers.
#pragma once

#include <cstdint>
#include <span>

#include "common/large_vector.hpp"

namespace anonymatch {

struct Groups {
    LargeVector<std::int32_t> codes;  ///< the group of each hash
    LargeVector<std::int32_t> first;  ///< where each group appears first; increases
};

/// Numbers equal hashes alike, groups in order of first appearance: codes[i] == codes[j] exactly if
/// hashes[i] == hashes[j]. Whether the values behind equal hashes are equal is for the caller to
/// check.
///
/// Precondition: at most 2^31 - 1 hashes, so that codes and positions fit.
/// Cost: one probe a hash into an open-addressing table of 16 bytes a slot, at most 5/8 full, whose
/// cache misses overlap by prefetching (10 to 20 ns a hash with 10^6 groups). Bytes: 4 a hash for
/// the codes, 4 a group, and the table: 2 to 4 a hash, or 26 to 51 a group if that is more.
Groups group_hashes(std::span<const std::uint64_t> hashes);

}  // namespace anonymatch
