#include "hidden_chain/hidden_chain_lanes.hpp"

#include <bit>
#include <cstdint>

namespace anonymatch::hidden_chain {
namespace {

#define ANONYMATCH_INLINE __attribute__((always_inline)) inline

ANONYMATCH_INLINE void blend_body(double* out, const double* left, const double* right, double a,
                                  double b, std::size_t size) {
    // Each entry is read before it is written, so that out may be one of the others.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (std::size_t c = 0; c < size; ++c) out[c] = a * left[c] + b * right[c];
}

ANONYMATCH_INLINE void add_body(double* __restrict out, const double* __restrict left, double a,
                                std::size_t size) {
    for (std::size_t c = 0; c < size; ++c) out[c] += a * left[c];
}

/// -p log2 p, without branches: log2 by its exponent and the series of atanh, ten terms for
/// |s| <= 0.1716, error below 1e-16. 0 for 0.
ANONYMATCH_INLINE double surprise(double p) {
    const auto bits = std::bit_cast<std::uint64_t>(p);
    double exponent =
        std::bit_cast<double>((bits >> 52) | 0x4330000000000000ULL) - (4503599627370496.0 + 1023.0);
    double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
    const bool large = m > 1.4142135623730951;
    m = large ? 0.5 * m : m;
    exponent = large ? exponent + 1.0 : exponent;
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double series = 1.0 / 21;
    series = series * z + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    series = series * z + 1.0;
    return -p * (exponent + 2.8853900817779268 * s * series);  // 2 / ln 2
}

ANONYMATCH_INLINE Sums sums_body(double* row, std::size_t size) {
    constexpr std::size_t width = 8;
    double sum[width] = {};
    double squares[width] = {};
    double doubt[width] = {};
    double largest[width] = {};
    const std::size_t whole = size / width * width;
    for (std::size_t c = 0; c < whole; c += width) {
        for (std::size_t i = 0; i < width; ++i) {
            const double p = row[c + i] > 0.0 ? row[c + i] : 0.0;
            row[c + i] = p;
            sum[i] += p;
            squares[i] += p * p;
            doubt[i] += surprise(p);
            largest[i] = largest[i] > p ? largest[i] : p;
        }
    }
    for (std::size_t c = whole; c < size; ++c) {
        const double p = row[c] > 0.0 ? row[c] : 0.0;
        row[c] = p;
        sum[c - whole] += p;
        squares[c - whole] += p * p;
        doubt[c - whole] += surprise(p);
        largest[c - whole] = largest[c - whole] > p ? largest[c - whole] : p;
    }
    Sums all{};
    for (std::size_t i = 0; i < width; ++i) {
        all.sum += sum[i];
        all.squares += squares[i];
        all.surprise += doubt[i];
        all.largest = all.largest > largest[i] ? all.largest : largest[i];
    }
    return all;
}

#define ANONYMATCH_LANES(name, attributes)                                                       \
    attributes void blend_##name(double* out, const double* left, const double* right, double a, \
                                 double b, std::size_t size) {                                   \
        blend_body(out, left, right, a, b, size);                                                \
    }                                                                                            \
    attributes void add_##name(double* out, const double* left, double a, std::size_t size) {    \
        add_body(out, left, a, size);                                                            \
    }                                                                                            \
    attributes Sums sums_##name(double* row, std::size_t size) {                                 \
        return sums_body(row, size);                                                             \
    }                                                                                            \
    constexpr Lanes lanes_##name{blend_##name, add_##name, sums_##name};

ANONYMATCH_LANES(plain, )
#if defined(__x86_64__)
ANONYMATCH_LANES(avx2, __attribute__((target("avx2"))))
ANONYMATCH_LANES(avx512, __attribute__((target("avx512f,avx512dq"))))
#endif

}  // namespace

const Lanes& lanes() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return lanes_avx512;
    if (__builtin_cpu_supports("avx2")) return lanes_avx2;
#endif
    return lanes_plain;
}

}  // namespace anonymatch::hidden_chain
