// Planar elimination compiled for AVX2: eight primes in two registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include <vector>

#include "planar/planar_lanes.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace anonymatch::planar {
namespace {

struct Vector {
    __m256d low, high;
};

inline Vector load(const Lanes& x) noexcept {
    return {_mm256_load_pd(x.lane), _mm256_load_pd(x.lane + 4)};
}
inline void store(Lanes& x, Vector value) noexcept {
    _mm256_store_pd(x.lane, value.low);
    _mm256_store_pd(x.lane + 4, value.high);
}
inline Vector all(double value) noexcept {
    return {_mm256_set1_pd(value), _mm256_set1_pd(value)};
}
inline Vector multiply(Vector a, Vector b) noexcept {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
}
inline Vector add(Vector a, Vector b) noexcept {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
}
inline Vector subtract(Vector a, Vector b) noexcept {
    return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
}
inline Vector multiply_subtract(Vector a, Vector b, Vector c) noexcept {
    return {_mm256_fmsub_pd(a.low, b.low, c.low), _mm256_fmsub_pd(a.high, b.high, c.high)};
}
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) noexcept {
    return {_mm256_fnmadd_pd(a.low, b.low, c.low), _mm256_fnmadd_pd(a.high, b.high, c.high)};
}

#include "planar/planar_elimination.hpp"

}  // namespace

bool eliminate_avx2(const Factors& factors, CancelFlag cancel) {
    return eliminate_all(factors, cancel);
}
bool invert_avx2(const Factors& factors, const Inverse& inverse, CancelFlag cancel) {
    return invert_all(factors, inverse, cancel);
}
void add_products_avx2(const Factors& factors, Lanes* target, const std::int32_t* to,
                       const Lanes& factor, const Lanes* value, const std::int32_t* from,
                       std::size_t size) {
    add_all_products(factors, target, to, factor, value, from, size);
}
void sum_products_avx2(const Factors& factors, Lanes& sum, const Lanes* left,
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
