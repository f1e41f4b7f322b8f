// Matchings of planar blocks by determinants (Kasteleyn), modulo primes and therefore exact.
//
// With Kasteleyn's signs (planarity.hpp) and the columns moved so that some matching is the
// diagonal, made positive, the determinant of the block is its count. Every leading principal minor
// in any order of the matched pairs is the count of a subgraph that has a matching and for which
// the signs are right, too, since what is left out lies in faces in pairs. So no pivot is zero over
// the integers, and elimination needs no exchange of rows: modulo a prime a pivot vanishes only if
// the prime divides such a count. Then that prime is reported, and another does.
//
// Pairs are eliminated in an order of minimum degree; planar graphs have small fronts. Eight primes
// go through one elimination, a lane each. The selected inverse (Takahashi) gives the entries of
// the inverse at the edges, and so all minors, for twice as much again.
//
// Cost: `work` multiply-subtracts of eight lanes for a count, three times that with all edges.
//
// Exactness. Residues are integers in doubles, |x| <= 0.75 p, with p < 2^49. For x - l * u modulo p
// let h = fl(l * u), e = l * u - h (one fused operation, exact), q the integer nearest to
// fl((h - x) / p), which is off by less than |h| / p * 3 * 2^-53 + 1/2 < 0.61. Then t = h - q p is
// an integer below 2^51, so the fused operation gives it exactly, and (x - t) - e is exact too; it
// is at most (0.61 + |e| / p) p <= 0.65 p with |e| <= 0.5625 p^2 2^-53. So every step keeps |x| <=
// 0.75 p and no step rounds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/cancel.hpp"
#include "elimination/elimination.hpp"
#include "structure/structure.hpp"

namespace anonymatch {

inline constexpr std::int32_t planar_lanes = 8;
inline constexpr double planar_prime_limit = 0x1p49;

/// Eight primes below planar_prime_limit, odd; the same one may stand several times.
using PlanarPrimes = std::array<double, planar_lanes>;

/// What one elimination gives, a lane a prime.
struct PlanarResidues {
    bool stopped = false;                      ///< cancelled: nothing below is to be used
    std::array<bool, planar_lanes> found{};    ///< false: a pivot vanished, take another prime
    std::array<double, planar_lanes> count{};  ///< in [0, p)
    std::vector<double> through;  ///< lanes by edge: the count of matchings through it, weighted
};

/// The elimination of one planar block; nothing changes after it is made.
class PlanarPlan {
public:
    /// A square connected block that has a matching. Nothing if it is not planar, or cancelled.
    static std::optional<PlanarPlan> make(const BipartiteView& block, CancelFlag cancel = {});

    /// `weights`: residues in [0, p), a lane a prime for each edge; none if all are 1.
    [[nodiscard]] PlanarResidues run(const PlanarPrimes& primes, std::span<const double> weights,
                                     bool edges, CancelFlag cancel = {}) const;

    [[nodiscard]] double work() const noexcept { return pattern_.work; }
    [[nodiscard]] std::int32_t width() const noexcept { return pattern_.width; }
    /// Bytes that a run allocates.
    [[nodiscard]] double run_bytes(bool edges) const noexcept;

private:
    /// Where an edge stands in the factors: on the diagonal, above it or below it.
    struct Entry {
        std::int64_t position = 0;
        std::int8_t part = 0;  // 0, 1 or -1
        std::int8_t sign = 1;
    };

    PlanarPlan() = default;

    Elimination pattern_;
    std::vector<Entry> entries_;
};

/// For primes all different: the inverse, modulo each, of the product of the others.
std::vector<std::uint64_t> chinese_coefficients(std::span<const std::uint64_t> primes);

/// Adds to `sums`, two words an edge, the fractions (residue * coefficient mod p) / p of lane
/// `lane`, rounded down to multiples of 2^-128 and modulo 1: after all primes of a product M, residues of x
/// give x / M to within 2^-128 a prime. Words are low, high.
void add_fractions(std::span<const double> residues, std::int32_t lane, std::uint64_t prime,
                   std::uint64_t coefficient, std::span<std::uint64_t> sums);

}  // namespace anonymatch
