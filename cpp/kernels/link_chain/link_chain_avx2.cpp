// Sweeps of link_chain.hpp by AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include "link_chain/link_chain_sweep.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
// GCC 12's own header reads its undefined vectors (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace anonymatch::link_chain {
namespace {

struct Lanes {
    static constexpr std::size_t size = 8;

    template <class Indices>
    static auto gather(const float* values, Indices at) {
        return _mm256_i32gather_ps(values, (__m256i)at, 4);
    }

    /// What follows a short in memory is in the upper half.
    template <class Indices>
    static Indices gather_short(const std::uint16_t* values, Indices at) {
        return (Indices)_mm256_i32gather_epi32(reinterpret_cast<const int*>(values), (__m256i)at,
                                               2);
    }

    template <class Mask>
    static std::uint32_t mask(Mask lanes) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)lanes));
    }
};

#include "link_chain/link_chain_lanes.hpp"

}  // namespace

SweepStretch sweep_stretch_avx2(bool weighted) {
    return stretch_of(weighted);
}

}  // namespace anonymatch::link_chain

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
