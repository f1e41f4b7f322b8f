// Permanents and all first minors by inclusion-exclusion over signs (Glynn's formula, 2010).
//
// With one column fixed at +1 and the others running over all 2^(n-1) sign vectors d,
//     2^(n-1) per(A)     = sum_d (prod d)     prod_i     r_i(d),      r_i(d) = sum_j a_ij d_j,
//     2^(n-1) minor_ij   = sum_d (prod d) d_j prod_{k!=i} r_k(d),
// where minor_ij is the permanent of A without row i and column j.
//
// The job is cut into signs_units(n) units of equal size. A call does the units [first, last); the
// results of disjoint ranges, computed anywhere and in any order, are simply added (modulo 2^(64
// words) for the integer calls). Every call is a pure function of its arguments: no allocation is
// kept, no state shared, and every instruction set gives the same integers.
//
// Cost: one count takes n 2^(n-1) row multiplications, all minors together about six times that.
#pragma once

#include <cstdint>
#include <span>

namespace anonymatch {

inline constexpr int signs_largest_n = 40;

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// Whether this processor runs that path; avx512 means F, BW, DQ, VL and IFMA together.
[[nodiscard]] bool supported(Isa isa) noexcept;
[[nodiscard]] Isa best_isa() noexcept;

/// Units of the whole job: 1 up to n = 21, then 2^(n-21) units of 2^20 sign vectors each.
[[nodiscard]] std::uint64_t signs_units(int n) noexcept;

/// Adds the terms of the units [first, last) to `out`, least significant word first: over all units
/// 2^(n-1) per(A) modulo 2^(64 out.size()), in two's complement.
///
/// `matrix` is n x n, row by row, 1 <= n <= signs_largest_n; every row must sum to less than 2^31.
/// `out` has 1, 2 or 3 words. The caller proves that they suffice: if per(A) < 2^b, then
/// b + n <= 64 words makes the value of the finished sum 2^(n-1) per(A) itself.
///
/// Inside nothing overflows: |r_i| is at most the sum of row i, halved when that sum is even (then
/// every r_i is even). Rows are grouped so that the product of these bounds stays below 2^15 in
/// 16-bit lanes and below 2^51 in either of the two last factors, whose product is summed exactly.
/// Matrices too heavy for that are counted by 64-bit words modulo 2^(64 words).
void signs_count(std::span<const std::uint32_t> matrix, int n, std::uint64_t first,
                 std::uint64_t last, Isa isa, std::span<std::uint64_t> out) noexcept;

/// Adds the contributions to 2^(n-1) minor_ij of the units [first, last) to `out`: n x n entries, row
/// by row, of out.size() / n^2 words each (1, 2 or 3), also where a_ij = 0. Preconditions as for
/// signs_count, with minor_ij in place of per(A).
void signs_minors(std::span<const std::uint32_t> matrix, int n, std::uint64_t first,
                  std::uint64_t last, Isa isa, std::span<std::uint64_t> out) noexcept;

}  // namespace anonymatch
