// Permanents of sparse matrices: Ryser's sum with row offsets, cut off where a row vanishes.
//
//     per(A) = sum over column sets S of (-1)^(n - |S|) prod_i (sum_{j in S} a_ij - o_i)
//
// holds for every choice of offsets o_i: multiplied out, each product that takes an offset misses a
// column, and the sets with and without that column cancel. Ryser's own formula has o = 0, where a
// row of degree k vanishes for one set in 2^k. With o_i the likeliest subset sum it vanishes for
// C(k, k/2) in 2^k: 3/8 of all at degree 4, 31 % at 5 and 6, 27 % at 7 and 8.
//
// The columns are decided one by one in a given order. A row whose columns are all decided has its
// factor for the whole subtree: zero ends it. So the work is the number of surviving prefixes, for
// which ryser_order searches a small value. Random regular matrices, by Knuth's estimate: degree 4,
// n = 40: 2^21.5; 6, n = 28: 2^20.3; 6, n = 40: 2^27.5; 5, n = 40: 2^28.4; 8, n = 30: 2^24.1. Rings of
// three, whose rows are far from independent: 2^24 at n = 40, 2^37 at n = 64 (the forecast misses this).
// No memory beyond one state for each level, no division, and additions only of small integers
// but for one multiplication a completed row: words modulo 2^64 lose nothing.
#pragma once

#include <cstdint>
#include <span>

namespace anonymatch {

inline constexpr int ryser_largest_n = 64;

/// Finds an order of the columns, the first to be decided first, and returns the prefixes expected
/// to survive if rows vanished independently of each other (a guide, not a bound).
///
/// `matrix` is n x n, row by row, 1 <= n <= ryser_largest_n, each row sums to less than 2^31. Greedy
/// from every row, then `moves` seeded tries of moving one column. Deterministic. per(A) is also that
/// of the transpose, whose order may be better.
double ryser_order(std::span<const std::uint32_t> matrix, int n, int moves, std::uint64_t seed,
                   std::span<std::int32_t> order) noexcept;

/// Unbiased estimate of the prefixes that survive in that order, by Knuth's random descents (1975).
[[nodiscard]] double ryser_prefixes(std::span<const std::uint32_t> matrix, int n,
                                    std::span<const std::int32_t> order, int descents,
                                    std::uint64_t seed) noexcept;

/// The job's units: the decisions on the first columns, 2^12 of them from n = 24 on, else 1.
/// Their sizes differ widely, and many are empty.
[[nodiscard]] std::uint64_t ryser_units(int n) noexcept;

/// Adds the terms of the units [first, last) to `out`, 1 or 2 words, least significant first: over
/// all units per(A) modulo 2^(64 out.size()). The caller proves that per(A) fits.
/// A factor is at most the sum of its row in absolute value, below 2^31; products are modular.
void ryser_count(std::span<const std::uint32_t> matrix, int n, std::span<const std::int32_t> order,
                 std::uint64_t first, std::uint64_t last, std::span<std::uint64_t> out) noexcept;

}  // namespace anonymatch
