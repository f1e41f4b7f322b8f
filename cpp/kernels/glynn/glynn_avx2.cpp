// The count of glynn.hpp by AVX2: 16 lanes of 16 bits; the last products by halves of 26 bits.
#if defined(__x86_64__)

#include <immintrin.h>

#include <type_traits>

#include "glynn/glynn_packing.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace anonymatch::glynn {
namespace {

struct Lanes256 {
    using Vector = __m256i;
    static constexpr int columns = 4;
    static constexpr std::size_t size = 16;

    static Vector all(std::int64_t value) noexcept {
        return _mm256_set1_epi16(static_cast<std::int16_t>(value));
    }
    static Vector load(const std::int16_t* lanes) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes));
    }
    static Vector add16(Vector a, Vector b) noexcept { return _mm256_add_epi16(a, b); }
    static Vector subtract16(Vector a, Vector b) noexcept { return _mm256_sub_epi16(a, b); }
    static Vector multiply16(Vector a, Vector b) noexcept { return _mm256_mullo_epi16(a, b); }
    static Vector multiply_add(Vector a, Vector b) noexcept { return _mm256_madd_epi16(a, b); }
    static Vector even_ones() noexcept { return _mm256_set1_epi32(1); }
    static Vector odd_ones() noexcept { return _mm256_set1_epi32(1 << 16); }
    static Vector only_even(Vector a) noexcept {
        return _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
    }
    static Vector only_odd(Vector a) noexcept {
        return _mm256_andnot_si256(_mm256_set1_epi32(0xffff), a);
    }
    static Vector multiply32(Vector a, Vector b) noexcept { return _mm256_mul_epi32(a, b); }
    static Vector upper(Vector a) noexcept { return _mm256_srli_epi64(a, 32); }
    static Vector upper_other(Vector a) noexcept { return _mm256_shuffle_epi32(a, 0xf5); }
    static Vector low64(Vector a) noexcept { return multiply32(a, _mm256_set1_epi32(1)); }
    static Vector high64(Vector a) noexcept { return multiply32(upper(a), _mm256_set1_epi32(1)); }

    struct Sum {
        static constexpr std::uint64_t flush_after = 128;
        Vector low, middle, high, biases;

        Sum() noexcept : low(_mm256_setzero_si256()), middle(low), high(low), biases(low) {}

        void add(Vector x, Vector y, bool minus) noexcept {
            const Vector bias = _mm256_set1_epi64x(std::int64_t{1} << 51);
            const Vector half = _mm256_set1_epi64x((1 << 26) - 1);
            x = minus ? _mm256_sub_epi64(bias, x) : _mm256_add_epi64(bias, x);
            y = _mm256_add_epi64(bias, y);
            const Vector x_low = _mm256_and_si256(x, half);
            const Vector y_low = _mm256_and_si256(y, half);
            const Vector x_high = _mm256_srli_epi64(x, 26);
            const Vector y_high = _mm256_srli_epi64(y, 26);
            low = _mm256_add_epi64(low, _mm256_mul_epu32(x_low, y_low));
            middle = _mm256_add_epi64(middle, _mm256_add_epi64(_mm256_mul_epu32(x_low, y_high),
                                                               _mm256_mul_epu32(x_high, y_low)));
            high = _mm256_add_epi64(high, _mm256_mul_epu32(x_high, y_high));
            biases = _mm256_add_epi64(biases, _mm256_add_epi64(x, y));
        }

        void flush(Total& total) noexcept {
            alignas(32) std::array<std::array<std::uint64_t, 4>, 4> parts;
            _mm256_store_si256(reinterpret_cast<__m256i*>(parts[0].data()), low);
            _mm256_store_si256(reinterpret_cast<__m256i*>(parts[1].data()), middle);
            _mm256_store_si256(reinterpret_cast<__m256i*>(parts[2].data()), high);
            _mm256_store_si256(reinterpret_cast<__m256i*>(parts[3].data()), biases);
            for (std::size_t position = 0; position < 4; ++position) {
                Total part(static_cast<i128>(parts[0][position]));
                part += Total(static_cast<i128>(parts[1][position])) << 26;
                part += Total(static_cast<i128>(parts[2][position])) << 52;
                part -= Total(static_cast<i128>(parts[3][position])) << 51;
                total += __builtin_parityll(position) ? -part : part;
            }
            *this = Sum();
        }
    };

    // The product of three factors lane by lane: |X Y| < 2^102 is split at 2^64, and a sum of 2^11
    // numbers below 2^115 each has room in 128 bits.
    struct LongSum {
        static constexpr std::uint64_t flush_after = 128;
        std::array<i128, 4> low{};
        std::array<i128, 4> high{};

        void add(Vector x, Vector y, Vector z, bool minus) noexcept {
            alignas(32) std::array<std::array<std::int64_t, 4>, 3> lanes;
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[0].data()), x);
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[1].data()), y);
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[2].data()), z);
            for (std::size_t position = 0; position < 4; ++position) {
                const i128 product = static_cast<i128>(lanes[0][position]) * lanes[1][position];
                const i128 factor = minus ? -lanes[2][position] : lanes[2][position];
                low[position] += static_cast<i128>(static_cast<std::uint64_t>(product)) * factor;
                high[position] += (product >> 64) * factor;
            }
        }

        void flush(Total& total) noexcept {
            for (std::size_t position = 0; position < 4; ++position) {
                Total part(low[position]);
                part += Total(high[position]) << 64;
                total += __builtin_parityll(position) ? -part : part;
            }
            *this = LongSum();
        }
    };

    // The product of four factors lane by lane, each pair below 2^102.
    struct LongestSum {
        static constexpr std::uint64_t flush_after = 128;
        Total sum;

        void add(Vector x, Vector y, Vector z, Vector w, bool minus) noexcept {
            alignas(32) std::array<std::array<std::int64_t, 4>, 4> lanes;
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[0].data()), x);
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[1].data()), y);
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[2].data()), z);
            _mm256_store_si256(reinterpret_cast<__m256i*>(lanes[3].data()), w);
            for (std::size_t position = 0; position < 4; ++position) {
                i128 left = static_cast<i128>(lanes[0][position]) * lanes[1][position];
                const i128 right = static_cast<i128>(lanes[2][position]) * lanes[3][position];
                if (minus != (__builtin_parityll(position) != 0)) left = -left;
                sum += Total(left) * Total(right);
            }
        }

        void flush(Total& total) noexcept {
            total += sum;
            *this = LongestSum();
        }
    };
};

#include "glynn/glynn_lanes.hpp"

}  // namespace

bool count_avx2(const Packed& packed, Range units, std::span<std::uint64_t> out) noexcept {
    return count_in_lanes<Lanes256>(packed, units, out);
}

}  // namespace anonymatch::glynn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
