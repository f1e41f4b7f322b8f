// Planar elimination compiled for AVX-512: eight primes in a register.
#if defined(__x86_64__)

#include <immintrin.h>

#include <vector>

#include "planar/planar_lanes.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

namespace anonymatch::planar {
namespace {

using Vector = __m512d;

inline Vector load(const Lanes& x) noexcept {
    return _mm512_load_pd(x.lane);
}
inline void store(Lanes& x, Vector value) noexcept {
    _mm512_store_pd(x.lane, value);
}
inline Vector all(double value) noexcept {
    return _mm512_set1_pd(value);
}
inline Vector multiply(Vector a, Vector b) noexcept {
    return _mm512_mul_pd(a, b);
}
inline Vector add(Vector a, Vector b) noexcept {
    return _mm512_add_pd(a, b);
}
inline Vector subtract(Vector a, Vector b) noexcept {
    return _mm512_sub_pd(a, b);
}
inline Vector multiply_subtract(Vector a, Vector b, Vector c) noexcept {
    return _mm512_fmsub_pd(a, b, c);
}
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) noexcept {
    return _mm512_fnmadd_pd(a, b, c);
}

#include "planar/planar_elimination.hpp"

}  // namespace

bool eliminate_avx512(const Factors& factors, CancelFlag cancel) {
    return eliminate_all(factors, cancel);
}
bool invert_avx512(const Factors& factors, const Inverse& inverse, CancelFlag cancel) {
    return invert_all(factors, inverse, cancel);
}
void add_products_avx512(const Factors& factors, Lanes* target, const std::int32_t* to,
                         const Lanes& factor, const Lanes* value, const std::int32_t* from,
                         std::size_t size) {
    add_all_products(factors, target, to, factor, value, from, size);
}
void sum_products_avx512(const Factors& factors, Lanes& sum, const Lanes* left,
                         const std::int32_t* at_left, const Lanes* right,
                         const std::int32_t* at_right, std::size_t size) {
    sum_all_products(factors, sum, left, at_left, right, at_right, size);
}

}  // namespace anonymatch::planar

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
