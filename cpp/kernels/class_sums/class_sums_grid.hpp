// What both paths of class_sums.hpp share: the grid made ready, and the walk over its outer points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "class_sums/class_sums.hpp"

namespace anonymatch::class_sums {

__extension__ typedef unsigned __int128 u128;

using Word = std::uint64_t;
using Words = std::vector<Word>;

inline constexpr Word mask = (Word{1} << 52) - 1;
inline constexpr std::size_t lanes = 8;
inline constexpr std::size_t abreast = 4;  // vectors at a time: products wait for each other
inline constexpr std::size_t step = lanes * abreast;
inline constexpr std::size_t inner_from = 96;      // points of the inner variables at least
inline constexpr std::size_t reduce_after = 4096;  // sums of numbers below 2^51

/// Numbers modulo p as x R mod p, in (0, 2p).
struct Field {
    Word p = 0;
    Word inverse = 0;  // of p modulo 2^52
    Word square = 0;   // R^2 mod p

    explicit Field(Word prime) noexcept : p(prime) {
        inverse = 1;
        for (int k = 0; k < 6; ++k) inverse *= 2 - p * inverse;
        inverse &= mask;
        const auto r = static_cast<u128>(1) << 52;
        square = static_cast<Word>(r % p * (r % p) % p);
    }

    /// a b / R for a, b < 2p.
    [[nodiscard]] Word multiply(Word a, Word b) const noexcept {
        const u128 product = static_cast<u128>(a) * b;
        const Word q = (static_cast<Word>(product) & mask) * inverse & mask;
        return static_cast<Word>(product >> 52) + p -
               static_cast<Word>(static_cast<u128>(q) * p >> 52);
    }
    [[nodiscard]] Word reduced(Word a) const noexcept { return a % p; }
    [[nodiscard]] Word in(Word residue) const noexcept {
        return reduced(multiply(residue, square));
    }
    [[nodiscard]] Word out(Word a) const noexcept { return reduced(multiply(a, 1)); }
};

/// The inner variables run inside a unit: their part of every linear form is a table. What fills the
/// last vectors has the factor 0.
struct Grid {
    Field field;
    std::size_t rows = 0;
    std::size_t variables = 0;
    std::size_t inner = 0;   // variables, the last ones
    std::size_t points = 0;  // of the inner variables, filled up to whole steps
    std::vector<int> steps;  // u_i - u_(i+1)
    Words fixed;             // row i: the weight of the variable that is 1
    Words table;             // row i, inner point: its part of s_i
    Words factor;            // inner point: product of the factors
    Words inner_values;      // inner variable, inner point: x_j
    struct Outer {
        std::size_t order;
        Words values, factors;  // by point
        Words parts;            // row, point: w_ij x_j
    };
    std::vector<Outer> outer;  // the one that runs fastest first
    Word units = 1;

    Grid(std::span<const Word> weights, std::span<const std::int32_t> sizes,
         std::span<const std::int32_t> orders, std::span<const Word> values,
         std::span<const Word> factors, Word prime);
};

/// A point of the outer variables: their part of the linear forms, and the product of the factors.
class OuterPoint {
public:
    OuterPoint(const Grid& grid, Word unit);
    void advance();

    Words sums;  // below p
    Word factor = 0;
    std::vector<std::size_t> at;

private:
    void renew();
    const Grid* grid_;
};

/// Sums of minors while the outer points are walked. Those of the fastest variable are taken at every
/// point; a variable is multiplied in only when all points of the faster ones are done.
class OuterSums {
public:
    explicit OuterSums(const Grid& grid);
    /// `sums`: of one outer point, row by row, below p. `last`: of the range.
    void add(const OuterPoint& point, std::span<const Word> sums, bool last);

    Words weighted;  // variable (the fastest first), row: times x_j
    Words plain;     // row

private:
    const Grid* grid_;
    Words waiting_;  // variable, row: points done of it and all faster ones
};

/// The kernels proper: the sum over the inner points at one outer point, below p, and the same for
/// every row without one factor s_i (`scratch` and `by_point` are row by inner point).
struct Portable {
    [[nodiscard]] static Word count(const Grid& grid, const OuterPoint& point);
    static void minors(const Grid& grid, const OuterPoint& point, Words& scratch, Words& by_point,
                       Words& sums);
};
#if defined(__x86_64__)
struct Avx512 {
    [[nodiscard]] static Word count(const Grid& grid, const OuterPoint& point);
    static void minors(const Grid& grid, const OuterPoint& point, Words& scratch, Words& by_point,
                       Words& sums);
};
#endif

}  // namespace anonymatch::class_sums
