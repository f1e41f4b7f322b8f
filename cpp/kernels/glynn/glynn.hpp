// Permanents and all first minors by inclusion-exclusion over signs (Glynn's formula, 2010).
//
// With one column fixed at +1 and the others running over all 2^(n-1) sign vectors d,
//     2^(n-1) per(A)     = sum_d (prod d)     prod_i     r_i(d),      r_i(d) = sum_j a_ij d_j,
//     2^(n-1) minor_ij   = sum_d (prod d) d_j prod_{k!=i} r_k(d),
// where minor_ij is the permanent of A without row i and column j.
//
// The job is cut into glynn_units(n) units of equal size. A call does the units [first, last); the
// results of disjoint ranges, computed anywhere and in any order, are simply added (modulo 2^(64
// words) for the integer calls). Every call is a pure function of its arguments: no allocation is
// kept, no state shared, and every instruction set gives the same integers.
//
// Cost: one count takes n 2^(n-1) row multiplications; all exact minors together about 14 counts with
// AVX-512, else they are scalar.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace anonymatch {

inline constexpr int glynn_largest_n = 40;

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// Whether this processor runs that path; avx512 means F, BW, DQ, VL and IFMA together.
[[nodiscard]] bool supported(Isa isa) noexcept;
[[nodiscard]] Isa best_isa() noexcept;

/// Units of the whole job: 1 up to n = 21, then 2^(n-21) units of 2^20 sign vectors each.
[[nodiscard]] std::uint64_t glynn_units(int n) noexcept;

namespace glynn {
struct Packed;
}

/// An n x n matrix, given row by row, made ready once for the calls below; 1 <= n <= glynn_largest_n,
/// and every row must sum to less than 2^31. It does not change: copies share what was made, and
/// threads may use it at the same time.
class GlynnMatrix {
public:
    GlynnMatrix(std::span<const std::uint32_t> matrix, int n);

    [[nodiscard]] int n() const noexcept;
    /// Factors below 2^51 that the rows are put together to: 2, 3 or 4, the fewer the faster; 0 if
    /// they are too heavy for vector lanes.
    [[nodiscard]] int factors() const noexcept;
    /// Bits of the sum that glynn_count_kept finds; 0 if it would be no faster.
    [[nodiscard]] int kept_bits() const noexcept;

    [[nodiscard]] const glynn::Packed& packed() const noexcept { return *packed_; }

private:
    std::shared_ptr<const glynn::Packed> packed_;
};

/// Adds the terms of the units [first, last) to `out`, least significant word first: over all units
/// 2^(n-1) per(A) modulo 2^(64 out.size()), in two's complement.
///
/// `out` has 1, 2 or 3 words. The caller proves that they suffice: if per(A) < 2^b, then
/// b + n <= 64 words makes the value of the finished sum 2^(n-1) per(A) itself.
///
/// Inside nothing overflows: |r_i| is at most the sum of row i, halved when that sum is even (then
/// every r_i is even). Rows are grouped so that the product of these bounds stays below 2^15 in
/// 16-bit lanes and below 2^51 in each of the two to four last factors, whose product is summed
/// exactly. Matrices below n = 8 or too heavy for that are counted by 64-bit words modulo 2^(64 words).
void glynn_count(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                 std::span<std::uint64_t> out) noexcept;

/// glynn_count modulo 2^kept_bits() alone, which must not be 0; `out` has 3 words. Two factors do
/// there, below 2^60 each, where an exact sum takes three or four: a quarter faster with AVX-512. The
/// caller proves that 2^(n-1) per(A), which is not negative, is below 2^kept_bits().
void glynn_count_kept(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                      std::span<std::uint64_t> out) noexcept;

/// Adds the contributions to 2^(n-1) minor_ij of the units [first, last) to `out`: n x n entries,
/// row by row, of out.size() / n^2 words each (1, 2 or 3), also where a_ij = 0. Preconditions as
/// for glynn_count, with minor_ij in place of per(A).
void glynn_minors(const GlynnMatrix& matrix, std::uint64_t first, std::uint64_t last, Isa isa,
                  std::span<std::uint64_t> out) noexcept;

/// A floating sum and the sum of its terms' sizes, each factor |r_i| enlarged by 2^-8 of its bound.
struct GlynnSum {
    double sum = 0;
    double absolute = 0;
};

/// |sum - exact sum| <= glynn_rounding(n) * absolute for the floating count below.
///
/// Proof. Row i is divided by a power of two, 2^e >= its sum, and its weights rounded to multiples
/// of 2^-52: every r_i is then an exact double of at most 1 that differs from the true one by at
/// most E = n 2^-53. prod (|r_i| + x) - prod |r_i| is convex in x and 0 at x = 0, so at x = E it is
/// at most E / H times its value at H = 2^-8: n 2^-45 absolute. Roundings: fewer than n for a
/// product, 255 + 7 for a block's sum over steps and lanes, blocks by compensated summation: below
/// 512 2^-53 = 2^-44 in all. Terms that underflow are below 2^-1022, `absolute` is above 2^-320.
/// Sums of several ranges add their own roundings.
[[nodiscard]] constexpr double glynn_rounding(int n) noexcept {
    return (n + 3) * 0x1p-45;
}

/// glynn_count for finite weights >= 0 in floating point: over all units sum = 2^(n-1) per(A) but
/// for its error. Infinite if out of range: scale rows first.
[[nodiscard]] GlynnSum glynn_count_double(std::span<const double> matrix, int n,
                                          std::uint64_t first, std::uint64_t last,
                                          Isa isa) noexcept;

/// glynn_minors for finite weights >= 0 in floating point: adds to the n x n entries of `out`.
///
/// Cost: 5 to 6 counts of the same graph with AVX-512 where half of the pairs are edges, 8 where all
/// are.
void glynn_minors_double(std::span<const double> matrix, int n, std::uint64_t first,
                         std::uint64_t last, Isa isa, std::span<double> out) noexcept;

/// The proven error of glynn_minors_double: over all units, computed in at most `ranges` ranges that
/// are added in any order, entry (i, j) is off from 2^(n-1) minor_ij by at most errors[i].
///
/// Proof. With A_i = sum_d prod_{k!=i} |r_k|, every rounding is at most u = 2^-53 of the sizes of
/// the terms in it. Rows are scaled by powers of two and their sums are exact doubles as above.
/// Products take fewer than n roundings, and two to sum them over a block. Blocks to a chunk of 64:
/// two additions in each of 32 blocks, then for each of at most 16 flips of a column twice the three
/// roundings of the total and its addition, in all 160. Chunks to a stretch: 16 and 8 * 2, stretches
/// to a section: 32, lanes: 7, where these meet: 6; sections by compensated summation: 2; ranges:
/// one each. Hence the error is at most (244 + n + ranges) u A_i, beside that of the weights: if e_k
/// of row k had to be rounded, prod (|r_k| + e_k u) - prod |r_k|, summed over d.
///
/// A_i is bounded without going through all d. For every sign of up to 16 columns the others are
/// taken as random: by Hoelder's inequality E prod_{k!=i} |r_k| <= prod_{k!=i} (E |r_k|^p)^(1/p) for
/// p >= n - 1, with p even a polynomial in the given part of r_k. Likewise for prod (|r_k| + e_k u).
/// The cost is some percent of that of the minors.
void glynn_minors_errors(std::span<const double> matrix, int n, std::uint64_t ranges,
                         std::span<double> errors) noexcept;

}  // namespace anonymatch
