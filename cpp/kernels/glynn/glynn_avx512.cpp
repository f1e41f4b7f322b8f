// The count of glynn.hpp by AVX-512 with IFMA: 32 lanes of 16 bits, 52-bit products at the end.
#if defined(__x86_64__)

#include <immintrin.h>

#include <type_traits>

#include "glynn/glynn_packing.hpp"

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

struct Lanes512 {
    using Vector = __m512i;
    static constexpr int columns = 5;
    static constexpr std::size_t size = 32;

    static Vector all(std::int64_t value) noexcept {
        return _mm512_set1_epi16(static_cast<std::int16_t>(value));
    }
    static Vector load(const std::int16_t* lanes) noexcept { return _mm512_loadu_si512(lanes); }
    static Vector add16(Vector a, Vector b) noexcept { return _mm512_add_epi16(a, b); }
    static Vector subtract16(Vector a, Vector b) noexcept { return _mm512_sub_epi16(a, b); }
    static Vector multiply16(Vector a, Vector b) noexcept { return _mm512_mullo_epi16(a, b); }
    static Vector multiply_add(Vector a, Vector b) noexcept { return _mm512_madd_epi16(a, b); }
    static Vector even_ones() noexcept { return _mm512_set1_epi32(1); }
    static Vector odd_ones() noexcept { return _mm512_set1_epi32(1 << 16); }
    static Vector only_even(Vector a) noexcept {
        return _mm512_and_si512(a, _mm512_set1_epi32(0xffff));
    }
    static Vector only_odd(Vector a) noexcept {
        return _mm512_andnot_si512(_mm512_set1_epi32(0xffff), a);
    }
    static Vector multiply32(Vector a, Vector b) noexcept { return _mm512_mul_epi32(a, b); }
    // Shifts run on one port and shuffles on the other: a product uses one of each.
    static Vector upper(Vector a) noexcept { return _mm512_srli_epi64(a, 32); }
    static Vector upper_other(Vector a) noexcept { return _mm512_shuffle_epi32(a, _MM_PERM_DDBB); }
    static Vector low64(Vector a) noexcept { return _mm512_mul_epi32(a, _mm512_set1_epi32(1)); }
    static Vector high64(Vector a) noexcept { return _mm512_srai_epi64(a, 32); }

    // A block adds 16 numbers below 2^53 to each part of a sum, so 128 blocks stay below 2^64.
    struct Sum {
        static constexpr std::uint64_t flush_after = 128;
        Vector low, high, biases;

        Sum() noexcept : low(_mm512_setzero_si512()), high(low), biases(low) {}

        void add(Vector x, Vector y, bool minus) noexcept {
            const Vector bias = _mm512_set1_epi64(std::int64_t{1} << 51);
            x = minus ? _mm512_sub_epi64(bias, x) : _mm512_add_epi64(bias, x);
            y = _mm512_add_epi64(bias, y);
            low = _mm512_madd52lo_epu64(low, x, y);
            high = _mm512_madd52hi_epu64(high, x, y);
            biases = _mm512_add_epi64(biases, _mm512_add_epi64(x, y));
        }

        void flush(Total& total) noexcept {
            alignas(64) std::array<std::array<std::uint64_t, 8>, 3> parts;
            _mm512_store_si512(parts[0].data(), low);
            _mm512_store_si512(parts[1].data(), high);
            _mm512_store_si512(parts[2].data(), biases);
            for (std::size_t position = 0; position < 8; ++position) {
                Total part(static_cast<i128>(parts[0][position]));
                part += Total(static_cast<i128>(parts[1][position])) << 52;
                part -= Total(static_cast<i128>(parts[2][position])) << 51;
                total += __builtin_parityll(position) ? -part : part;
            }
            *this = Sum();
        }
    };

    // Modulo 2^104, for factors of any size: with X = X0 + 2^52 X1 in two's complement, X Y is X0 Y0 +
    // 2^52 (X1 Y0 + X0 Y1). A block adds 8 numbers below 2^52 to each low part and 24 to each high
    // one, so 128 blocks stay below 2^64.
    struct KeptSum {
        static constexpr std::uint64_t flush_after = 128;
        Vector low[2], high[2];  // of terms that count +1 and -1

        KeptSum() noexcept {
            for (std::size_t sign = 0; sign < 2; ++sign)
                low[sign] = high[sign] = _mm512_setzero_si512();
        }

        void add(Vector x, Vector y, bool minus) noexcept {
            const Vector x_upper = _mm512_srai_epi64(x, 52);
            const Vector y_upper = _mm512_srai_epi64(y, 52);
            low[minus] = _mm512_madd52lo_epu64(low[minus], x, y);
            high[minus] = _mm512_madd52hi_epu64(high[minus], x, y);
            high[minus] = _mm512_madd52lo_epu64(high[minus], x_upper, y);
            high[minus] = _mm512_madd52lo_epu64(high[minus], x, y_upper);
        }

        void flush(Total& total) noexcept {
            for (std::size_t sign = 0; sign < 2; ++sign) {
                alignas(64) std::array<std::array<std::uint64_t, 8>, 2> parts;
                _mm512_store_si512(parts[0].data(), low[sign]);
                _mm512_store_si512(parts[1].data(), high[sign]);
                for (std::size_t position = 0; position < 8; ++position) {
                    Total part(static_cast<i128>(parts[0][position]));
                    part += Total(static_cast<i128>(parts[1][position])) << 52;
                    const bool minus = (__builtin_parityll(position) != 0) != (sign == 1);
                    total += minus ? -part : part;
                }
            }
            *this = KeptSum();
        }
    };

    // |X Y| has two limbs of 52 bits and its sign goes to Z, which is made positive as above:
    // sum X Y Z = sum |X Y| Z' - 2^51 sum |X Y|. A middle limb grows by less than 2^53 a term.
    struct LongSum {
        static constexpr std::uint64_t flush_after = 128;
        Vector low, middle, high, bias_low, bias_high;

        LongSum() noexcept
            : low(_mm512_setzero_si512()), middle(low), high(low), bias_low(low), bias_high(low) {}

        void add(Vector x, Vector y, Vector z, bool minus) noexcept {
            const Vector zero = _mm512_setzero_si512();
            const Vector bias = _mm512_set1_epi64(std::int64_t{1} << 51);
            const Vector x_size = _mm512_abs_epi64(x);
            const Vector y_size = _mm512_abs_epi64(y);
            const __mmask8 negative = _mm512_movepi64_mask(_mm512_xor_si512(x, y));
            const Vector first = _mm512_madd52lo_epu64(zero, x_size, y_size);
            const Vector second = _mm512_madd52hi_epu64(zero, x_size, y_size);
            const Vector plus = _mm512_add_epi64(bias, z);
            const Vector turned = _mm512_sub_epi64(bias, z);
            const Vector factor = minus ? _mm512_mask_mov_epi64(turned, negative, plus)
                                        : _mm512_mask_mov_epi64(plus, negative, turned);
            low = _mm512_madd52lo_epu64(low, first, factor);
            middle = _mm512_madd52hi_epu64(middle, first, factor);
            middle = _mm512_madd52lo_epu64(middle, second, factor);
            high = _mm512_madd52hi_epu64(high, second, factor);
            bias_low = _mm512_add_epi64(bias_low, first);
            bias_high = _mm512_add_epi64(bias_high, second);
        }

        void flush(Total& total) noexcept {
            alignas(64) std::array<std::array<std::uint64_t, 8>, 5> parts;
            _mm512_store_si512(parts[0].data(), low);
            _mm512_store_si512(parts[1].data(), middle);
            _mm512_store_si512(parts[2].data(), high);
            _mm512_store_si512(parts[3].data(), bias_low);
            _mm512_store_si512(parts[4].data(), bias_high);
            for (std::size_t position = 0; position < 8; ++position) {
                Total part(static_cast<i128>(parts[0][position]));
                part += Total(static_cast<i128>(parts[1][position])) << 52;
                part += Total(static_cast<i128>(parts[2][position])) << 104;
                part -= Total(static_cast<i128>(parts[3][position])) << 51;
                part -= Total(static_cast<i128>(parts[4][position])) << 103;
                total += __builtin_parityll(position) ? -part : part;
            }
            *this = LongSum();
        }
    };

    // |X Y| |Z W| has four limbs, each below 3 2^52 before carries, and its sign is that of all four.
    // A block adds 16 of them to each part, so 32 blocks stay below 2^63.
    struct LongestSum {
        static constexpr std::uint64_t flush_after = 32;
        Vector limbs[4];

        LongestSum() noexcept {
            for (Vector& limb : limbs) limb = _mm512_setzero_si512();
        }

        void add(Vector x, Vector y, Vector z, Vector w, bool minus) noexcept {
            const Vector zero = _mm512_setzero_si512();
            const Vector signs = _mm512_ternarylogic_epi64(_mm512_xor_si512(x, y), z, w, 0x96);
            const __mmask8 odd = _mm512_movepi64_mask(signs);
            const auto negative = static_cast<__mmask8>(minus ? ~odd : odd);
            const auto positive = static_cast<__mmask8>(~negative);
            x = _mm512_abs_epi64(x);
            y = _mm512_abs_epi64(y);
            z = _mm512_abs_epi64(z);
            w = _mm512_abs_epi64(w);
            const Vector a = _mm512_madd52lo_epu64(zero, x, y);
            const Vector b = _mm512_madd52hi_epu64(zero, x, y);
            const Vector c = _mm512_madd52lo_epu64(zero, z, w);
            const Vector d = _mm512_madd52hi_epu64(zero, z, w);
            Vector first = _mm512_madd52hi_epu64(zero, a, c);
            Vector second = _mm512_madd52hi_epu64(zero, a, d);
            first = _mm512_madd52lo_epu64(first, a, d);
            second = _mm512_madd52hi_epu64(second, b, c);
            first = _mm512_madd52lo_epu64(first, b, c);
            second = _mm512_madd52lo_epu64(second, b, d);
            const Vector parts[4] = {_mm512_madd52lo_epu64(zero, a, c), first, second,
                                     _mm512_madd52hi_epu64(zero, b, d)};
            for (std::size_t k = 0; k < 4; ++k) {
                limbs[k] = _mm512_mask_add_epi64(limbs[k], positive, limbs[k], parts[k]);
                limbs[k] = _mm512_mask_sub_epi64(limbs[k], negative, limbs[k], parts[k]);
            }
        }

        void flush(Total& total) noexcept {
            for (std::size_t k = 0; k < 4; ++k) {
                alignas(64) std::array<std::int64_t, 8> part;
                _mm512_store_si512(part.data(), limbs[k]);
                i128 sum = 0;
                for (std::size_t position = 0; position < 8; ++position)
                    sum += __builtin_parityll(position) ? -part[position] : part[position];
                total += Total(sum) << static_cast<int>(52 * k);
            }
            *this = LongestSum();
        }
    };
};

#include "glynn/glynn_lanes.hpp"

}  // namespace

bool count_avx512(const Packed& packed, Range units, std::span<std::uint64_t> out) noexcept {
    return count_in_lanes<Lanes512>(packed, units, out);
}

bool count_kept_avx512(const Packed& packed, Range units, std::span<std::uint64_t> out) noexcept {
    const auto& [problem, exact, kept] = packed;
    if (!kept.fits || problem.inner() < Blocks<Lanes512>::first_outer) return false;
    Blocks<Lanes512> blocks;
    blocks.prepare(problem, kept);
    blocks.fill_with_ones();
    Total total;
    if (kept.right == 3)
        blocks.run<4, 3, Lanes512::KeptSum>(problem, kept, units, total);
    else
        blocks.run<4, 4, Lanes512::KeptSum>(problem, kept, units, total);
    (total << problem.halved).add_to(out);
    return true;
}

}  // namespace anonymatch::glynn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
