// The floating sums of signs.hpp compiled for AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include <memory>

#include "signs_minors_double_plan.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace anonymatch::detail {
namespace {

constexpr std::size_t lane_columns = 2;

#include "signs_double_lanes.hpp"

inline Vector multiply_add(Vector a, Vector b, Vector c) noexcept {
    return _mm256_fmadd_pd(a, b, c);
}

#include "signs_minors_double_lanes.hpp"

}  // namespace

void count_double_avx2(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    count_double(problem, units, sums);
}

void minors_double_avx2(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    minors_double(problem, units, sums);
}

}  // namespace anonymatch::detail

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
