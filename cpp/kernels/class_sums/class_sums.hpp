// Sums over a grid of products of powers of linear forms, modulo a prime: permanents of few classes.
//
// Users fall into classes of equal rows (sizes u_i), behaviours into classes of equal columns (sizes
// b_j), w_ij the weight between two classes. Then
//
//     per = prod_j b_j! [x^b] prod_i s_i^u_i,   s_i = sum_j w_ij x_j.
//
// The product is homogeneous of degree n = sum b, so the smallest class may have x = 1; any other
// variable runs over the N_j > b_j roots of unity of order N_j of a prime field, where the mean of
// prod_i s_i^u_i prod_j x_j^-b_j is the coefficient: exponents that are confused with b_j are
// b_j + m N_j with m >= 0, and one m > 0 would leave fewer than b - N_j < 0 to the smallest class.
// So prod_j N_j evaluations of all but the smallest class do, without memory: one class less than
// counting by states has states in all its layers together.
//
// Minors between two classes are the same coefficient at x^b / x_j of the product over s_i, whose
// factors come from products before and after: all of them cost about three counts.
//
// Arithmetic is Montgomery's with R = 2^52 and primes below 2^50: factors below 2p have a product
// below 4p^2, whose upper word is below 4p^2 / R <= p, so that what is left is in (0, 2p) again and is
// never reduced further. A linear form is the sum of two residues below p. Sums take at most 2^12
// terms below 2^51 before they are reduced: below 2^63.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "glynn/glynn.hpp"

namespace anonymatch {

inline constexpr std::uint64_t class_sums_largest_prime = std::uint64_t{1} << 50;
inline constexpr std::size_t class_sums_most_rows = 4096;

namespace class_sums {
struct Grid;
}

/// Linear forms, powers and points modulo one prime, made ready once for all ranges of units.
class ClassSums {
public:
    /// `weights` has a row a class of users, in falling order of `sizes` (each at least 1), and a column
    /// a variable, the one that is 1 last. Variable j takes `orders[j]` values, those of all variables
    /// one after another in `points`, each with its factor in `factors`. All are residues below `prime`,
    /// which is odd and below class_sums_largest_prime.
    ClassSums(std::span<const std::uint64_t> weights, std::span<const std::int32_t> sizes,
              std::span<const std::int32_t> orders, std::span<const std::uint64_t> points,
              std::span<const std::uint64_t> factors, std::uint64_t prime);

    /// Units of work: the points of the outer variables.
    [[nodiscard]] std::uint64_t units() const noexcept;

    /// The units [first, last) of the sum over all points of prod of factors times prod_i s_i^u_i.
    [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t last, Isa isa) const;

    /// The same over s_i and times x_j, for each class of users i and each variable j, row by row.
    [[nodiscard]] std::vector<std::uint64_t> minors(std::uint64_t first, std::uint64_t last,
                                                    Isa isa) const;

private:
    std::shared_ptr<const class_sums::Grid> grid_;
};

}  // namespace anonymatch
