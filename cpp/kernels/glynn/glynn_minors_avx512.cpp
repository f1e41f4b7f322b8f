// All first minors of glynn.hpp by AVX-512 with IFMA: eight sign vectors a step, 52-bit limbs.
//
// The rows are dealt into two or three parts of equal size whose bounds multiply to less than 2^51
// (the second of two: 2^50). For a row i of part p the product without it is  t = M Q,  M the product
// of the part's other rows and Q that of the other parts. With s the sign of the term times that of
// Q, M' = 2^51 + s M lies between 0 and 2^52, so t = |Q| M' - |Q| 2^51 is a difference of unsigned
// products, which IFMA adds up limb by limb. The second one is the same for the whole part: a row
// more whose M' is 2^51. Products M are formed modulo 2^52, which fixes M' as it is below 2^52.
//
// Over a chunk of at most 2^10 steps a limb gains at most two numbers below 2^52 a step, so that all
// limbs stay below 2^63 in absolute value, whatever signs the columns give them. A chunk's total of
// one row is below 2^10 2^101 (2^10 2^153 with three parts), so that its top limb, after the carries,
// is below 2^60 and eight lanes of it can be added.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "glynn/glynn_problem.hpp"

#if defined(__clang__)
#pragma clang attribute push(                                                      \
    __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"))), \
    apply_to = function)
#else
// GCC 12's own header reads its undefined vectors (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")
#endif

namespace anonymatch::glynn {
namespace {

using Vector = __m512i;

constexpr std::size_t lane_columns = 3;
constexpr std::size_t block_columns = 2;
constexpr std::size_t terms = 4;
constexpr std::size_t first_outer = lane_columns + block_columns;
constexpr std::size_t most_outer = 8;  // with the block's columns, 2^10 steps
constexpr std::size_t nobody = glynn_largest_n;

Vector all(std::int64_t value) noexcept {
    return _mm512_set1_epi64(value);
}
Vector add(Vector a, Vector b) noexcept {
    return _mm512_add_epi64(a, b);
}
Vector subtract(Vector a, Vector b) noexcept {
    return _mm512_sub_epi64(a, b);
}
Vector low(Vector sum, Vector a, Vector b) noexcept {
    return _mm512_madd52lo_epu64(sum, a, b);
}
Vector high(Vector sum, Vector a, Vector b) noexcept {
    return _mm512_madd52hi_epu64(sum, a, b);
}

/// The sum of the lanes, those of `minus` subtracted.
std::int64_t across(Vector a, unsigned minus) noexcept {
    return _mm512_reduce_add_epi64(
        _mm512_mask_sub_epi64(a, static_cast<__mmask8>(minus), _mm512_setzero_si512(), a));
}

constexpr unsigned parity_mask = 0b10010110;  // lanes with an odd number of -1
constexpr unsigned column_mask[lane_columns] = {0b10101010, 0b11001100, 0b11110000};

struct Deal {
    std::vector<std::size_t> rows;  // part after part; `nobody` fills up
    bool fits = false;
};

/// Heaviest row first, to the lightest part that has room.
Deal deal(const GlynnProblem& problem, std::size_t parts) {
    const auto n = static_cast<std::size_t>(problem.n);
    const std::size_t size = (n + parts - 1) / parts;
    Deal result{std::vector<std::size_t>(parts * size, nobody), true};
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return problem.bound[a] > problem.bound[b];
    });
    std::array<i128, 3> product{1, 1, 1};
    std::array<std::size_t, 3> filled{};
    const i128 limit = std::int64_t{1} << 51;
    for (const std::size_t row : order) {
        std::size_t best = parts;
        for (std::size_t part = 0; part < parts; ++part)
            if (filled[part] < size && (best == parts || product[part] < product[best]))
                best = part;
        result.rows[best * size + filled[best]++] = row;
        product[best] =
            std::min(product[best] * std::max<std::int64_t>(problem.bound[row], 1), limit);
    }
    if (parts == 2 && product[0] < product[1]) {
        std::swap(product[0], product[1]);
        std::rotate(result.rows.begin(), result.rows.begin() + static_cast<std::ptrdiff_t>(size),
                    result.rows.end());
    }
    for (std::size_t part = 0; part < parts; ++part)
        result.fits = result.fits && product[part] < limit;
    if (parts == 2) result.fits = result.fits && product[1] < limit / 2;
    return result;
}

template <std::size_t parts, std::size_t size>
class Minors {
public:
    static constexpr std::size_t limbs = parts;
    static constexpr std::size_t slots = size + 1;  // the rows of a part and the one of 2^51

    Minors(const GlynnProblem& problem, const Deal& dealt) noexcept
        : problem_(problem),
          rows_(dealt.rows),
          n_(static_cast<std::size_t>(problem.n)),
          inner_(static_cast<std::size_t>(problem.inner())),
          outer_(std::min(inner_ - first_outer, most_outer)) {
        for (std::size_t slot = 0; slot < parts * size; ++slot) {
            if (rows_[slot] == nobody) continue;
            for (std::size_t j = 0; j < outer_; ++j)
                if (problem.change[rows_[slot]][first_outer + j] != 0)
                    touched_[j][touches_[j]++] = static_cast<std::uint8_t>(slot);
        }
        for (auto& part : factors_)
            for (auto& term : part) term[size] = all(std::int64_t{1} << 51);
    }

    void run(std::uint64_t unit, std::span<Total> minors) noexcept {
        const std::uint64_t chunks = std::uint64_t{1} << (inner_ - first_outer - outer_);
        for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
            const std::uint64_t signs = unit << (inner_ - first_outer - outer_) | chunk;
            set_off(signs);
            bool odd = __builtin_parityll(signs) != 0;
            const std::uint64_t steps = std::uint64_t{1} << outer_;
            for (std::uint64_t step = 1; step < steps; ++step, odd = !odd) {
                for (std::size_t term = 0; term < terms; ++term)
                    products(term, odd != (term == 1 || term == 2));
                const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
                const bool minus = (step >> (column + 1) & 1) == 0;
                minus ? gather<true, true>(column) : gather<true, false>(column);
                flip(column, minus);
            }
            for (std::size_t term = 0; term < terms; ++term)
                products(term, odd != (term == 1 || term == 2));
            gather<false, false>(0);
            flush(signs, minors);
        }
    }

private:
    struct Gathered {
        Vector plus[limbs];   // terms with the second block column at +1
        Vector minus[limbs];  // and at -1
        Vector first[limbs];  // terms with the first block column at -1
    };

    void set_off(std::uint64_t signs) noexcept {
        const std::size_t above = first_outer + outer_;
        for (std::size_t slot = 0; slot < parts * size; ++slot) {
            if (rows_[slot] == nobody) {
                for (auto& sums : sums_) sums[slot] = all(1);
                continue;
            }
            const auto& change = problem_.change[rows_[slot]];
            std::int64_t start = problem_.bound[rows_[slot]];
            for (std::size_t j = above; j + 1 < n_; ++j)
                if (signs >> (j - above) & 1) start -= change[j];
            Vector sum = all(start);
            for (std::size_t j = 0; j < lane_columns; ++j)
                sum = _mm512_mask_sub_epi64(sum, static_cast<__mmask8>(column_mask[j]), sum,
                                            all(change[j]));
            const Vector one = all(change[lane_columns]);
            const Vector two = all(change[lane_columns + 1]);
            sums_[0][slot] = sum;
            sums_[1][slot] = subtract(sum, one);
            sums_[2][slot] = subtract(sum, two);
            sums_[3][slot] = subtract(subtract(sum, one), two);
        }
        for (auto& part : gathered_)
            for (auto& slot : part)
                for (std::size_t limb = 0; limb < limbs; ++limb)
                    slot.plus[limb] = slot.minus[limb] = slot.first[limb] = _mm512_setzero_si512();
        for (auto& column : flipped_)
            for (auto& part : column)
                for (auto& slot : part)
                    for (auto& limb : slot) limb = _mm512_setzero_si512();
    }

    void flip(std::size_t column, bool minus) noexcept {
        for (std::size_t k = 0; k < touches_[column]; ++k) {
            const std::size_t slot = touched_[column][k];
            const std::int64_t change = problem_.change[rows_[slot]][first_outer + column];
            const Vector by = all(minus ? -change : change);
            for (auto& sums : sums_) sums[slot] = add(sums[slot], by);
        }
    }

    /// M' of every row and |Q| of every part for one term of the block.
    void products(std::size_t term, bool minus) noexcept {
        const Vector zero = _mm512_setzero_si512();
        const Vector bias = all(std::int64_t{1} << 51);
        // Node k of a binary tree is the product of nodes 2k and 2k + 1, and nodes size .. 2 size - 1 are
        // the rows; on the way back each node passes on what all others came to.
        Vector tree[parts][2 * size];
        Vector whole[parts];
        Vector sign[parts];
#pragma GCC unroll 4
        for (std::size_t part = 0; part < parts; ++part) {
            Vector(&node)[2 * size] = tree[part];
#pragma GCC unroll 32
            for (std::size_t k = 0; k < size; ++k) node[size + k] = sums_[term][part * size + k];
#pragma GCC unroll 32
            for (std::size_t k = size - 1; k > 0; --k)
                node[k] = low(zero, node[2 * k], node[2 * k + 1]);
            sign[part] = _mm512_slli_epi64(node[1], 12);
            whole[part] = _mm512_srli_epi64(_mm512_abs_epi64(sign[part]), 12);
        }
        const Vector flip = all(minus ? -1 : 0);
#pragma GCC unroll 4
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t one = part == 0 ? 1 : 0;
            Vector signs = _mm512_xor_si512(sign[one], flip);
            if constexpr (parts == 2) {
                others_[part][term][0] = whole[one];
            } else {
                const std::size_t two = part == 2 ? 1 : 2;
                signs = _mm512_xor_si512(signs, sign[two]);
                others_[part][term][0] = low(zero, whole[one], whole[two]);
                others_[part][term][1] = high(zero, whole[one], whole[two]);
            }
            Vector(&node)[2 * size] = tree[part];
            node[1] = _mm512_or_si512(_mm512_srai_epi64(signs, 63), all(1));
#pragma GCC unroll 32
            for (std::size_t k = 1; k < size; ++k) {
                const Vector others = node[k];
                const Vector left = node[2 * k];
                const bool left_row = 2 * k >= size;
                const bool right_row = 2 * k + 1 >= size;
                node[2 * k] = low(left_row ? bias : zero, others, node[2 * k + 1]);
                node[2 * k + 1] = low(right_row ? bias : zero, others, left);
            }
#pragma GCC unroll 32
            for (std::size_t k = 0; k < size; ++k) factors_[part][term][k] = node[size + k];
        }
    }

    static void multiply_add(Vector (&sum)[limbs], const Vector (&other)[parts - 1],
                             Vector factor) noexcept {
#pragma GCC unroll 4
        for (std::size_t k = 0; k + 1 < parts; ++k) {
            sum[k] = low(sum[k], other[k], factor);
            sum[k + 1] = high(sum[k + 1], other[k], factor);
        }
    }

    /// Adds the four terms of the block; then, if a column is about to flip, what it has seen so far.
    template <bool flips, bool minus>
    void gather(std::size_t column) noexcept {
        for (std::size_t part = 0; part < parts; ++part) {
            Vector others[terms][parts - 1];
#pragma GCC unroll 4
            for (std::size_t term = 0; term < terms; ++term)
#pragma GCC unroll 4
                for (std::size_t k = 0; k + 1 < parts; ++k)
                    others[term][k] = others_[part][term][k];
            for (std::size_t slot = 0; slot < slots; ++slot) {
                Gathered sum = gathered_[part][slot];
                const auto& factors = factors_[part];
                multiply_add(sum.plus, others[0], factors[0][slot]);
                multiply_add(sum.minus, others[2], factors[2][slot]);
                multiply_add(sum.first, others[1], factors[1][slot]);
                multiply_add(sum.plus, others[1], factors[1][slot]);
                multiply_add(sum.minus, others[3], factors[3][slot]);
                multiply_add(sum.first, others[3], factors[3][slot]);
                gathered_[part][slot] = sum;
                if constexpr (flips) {
#pragma GCC unroll 4
                    for (std::size_t limb = 0; limb < limbs; ++limb) {
                        Vector& seen = flipped_[column][part][slot][limb];
                        seen = minus ? subtract(seen, add(sum.plus[limb], sum.minus[limb]))
                                     : add(seen, add(sum.plus[limb], sum.minus[limb]));
                    }
                }
            }
        }
    }

    /// The limbs `mine` less those of the row of 2^51, summed over the lanes with their signs.
    static Total settle(const Vector (&mine)[limbs], unsigned minus) noexcept {
        Vector carry = _mm512_setzero_si512();
        Total total;
        for (std::size_t limb = 0; limb < limbs; ++limb) {
            const Vector sum = add(mine[limb], carry);
            carry = _mm512_srai_epi64(sum, 52);
            const bool top = limb + 1 == limbs;
            const Vector rest = top ? sum : _mm512_and_si512(sum, all((std::int64_t{1} << 52) - 1));
            total += Total(across(rest, minus)) << static_cast<int>(52 * limb);
        }
        return total;
    }

    void flush(std::uint64_t signs, std::span<Total> minors) noexcept {
        const std::size_t above = first_outer + outer_;
        for (std::size_t part = 0; part < parts; ++part) {
            const Gathered& bias = gathered_[part][size];
            for (std::size_t slot = 0; slot < size; ++slot) {
                const std::size_t row = rows_[part * size + slot];
                if (row == nobody) continue;
                const Gathered& mine = gathered_[part][slot];
                Total* out = minors.data() + row * n_;
                Vector sum[limbs], one[limbs], two[limbs];
                for (std::size_t k = 0; k < limbs; ++k) {
                    const Vector plus = subtract(mine.plus[k], bias.plus[k]);
                    const Vector minus = subtract(mine.minus[k], bias.minus[k]);
                    const Vector first = subtract(mine.first[k], bias.first[k]);
                    sum[k] = add(plus, minus);
                    two[k] = subtract(plus, minus);
                    one[k] = subtract(sum[k], add(first, first));
                }
                for (std::size_t j = 0; j < lane_columns; ++j)
                    out[j] += settle(sum, parity_mask ^ column_mask[j]);
                out[lane_columns] += settle(one, parity_mask);
                out[lane_columns + 1] += settle(two, parity_mask);
                for (std::size_t j = 0; j < outer_; ++j) {
                    // Abel's summation; Gray code ends with only its highest column at -1.
                    const bool last_minus = j + 1 == outer_;
                    Vector column[limbs];
                    for (std::size_t k = 0; k < limbs; ++k) {
                        const Vector seen =
                            subtract(flipped_[j][part][slot][k], flipped_[j][part][size][k]);
                        const Vector end =
                            last_minus ? subtract(_mm512_setzero_si512(), sum[k]) : sum[k];
                        column[k] = subtract(end, add(seen, seen));
                    }
                    out[first_outer + j] += settle(column, parity_mask);
                }
                const Total total = settle(sum, parity_mask);
                const Total negative = -total;
                for (std::size_t j = above; j < n_; ++j)
                    out[j] += j + 1 < n_ && (signs >> (j - above) & 1) ? negative : total;
            }
        }
    }

    const GlynnProblem& problem_;
    const std::vector<std::size_t>& rows_;
    std::size_t n_, inner_, outer_;
    std::array<std::array<std::uint8_t, glynn_largest_n + 2>, most_outer> touched_{};
    std::array<std::size_t, most_outer> touches_{};
    Vector sums_[terms][parts * size];
    Vector factors_[parts][terms][slots];
    Vector others_[parts][terms][parts - 1];
    Gathered gathered_[parts][slots];
    Vector flipped_[most_outer][parts][slots][limbs];
};

template <std::size_t parts, std::size_t size>
void run(const GlynnProblem& problem, const Deal& dealt, Range units, std::span<Total> minors) {
    const auto kernel = std::make_unique<Minors<parts, size>>(problem, dealt);
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) kernel->run(unit, minors);
}

/// Calls run() for the size at hand, one of least, least + 1, ...; false if it is none of them.
template <std::size_t parts, std::size_t least, std::size_t... steps>
bool run_sized(const GlynnProblem& problem, const Deal& dealt, Range units, std::span<Total> minors,
               std::index_sequence<steps...>) {
    const std::size_t size = dealt.rows.size() / parts;
    return ((size == least + steps &&
             (run<parts, least + steps>(problem, dealt, units, minors), true)) ||
            ...);
}

}  // namespace

bool minors_avx512(const GlynnProblem& problem, Range units,
                   std::span<std::uint64_t> out) noexcept {
    const auto n = static_cast<std::size_t>(problem.n);
    if (n < first_outer + 3) return false;
    std::size_t parts = 2;
    Deal dealt = deal(problem, parts);
    if (!dealt.fits) dealt = deal(problem, parts = 3);
    if (!dealt.fits) return false;
    std::vector<Total> minors(n * n);
    const bool done =
        parts == 2 ? run_sized<2, 4>(problem, dealt, units, minors, std::make_index_sequence<17>())
                   : run_sized<3, 3>(problem, dealt, units, minors, std::make_index_sequence<12>());
    if (!done) return false;
    const std::size_t words = out.size() / (n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            (minors[i * n + j] << (problem.halved - problem.even[i]))
                .add_to(out.subspan((i * n + j) * words, words));
    return true;
}

}  // namespace anonymatch::glynn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
