// The floating sums of signs.hpp compiled for AVX-512.
#if defined(__x86_64__)

#include "signs_double_problem.hpp"

#include <memory>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl")
#endif

namespace anonymatch::detail {
namespace {

constexpr std::size_t lane_columns = 3;

#include "signs_double_lanes.hpp"

}  // namespace

void count_double_avx512(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    count_double(problem, units, sums);
}

void minors_double_avx512(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    minors_double(problem, units, sums);
}

}  // namespace anonymatch::detail

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
