// Sweeps of swap_chain.hpp by AVX512.
#if defined(__x86_64__)

#include <immintrin.h>

#include "swap_chain/swap_chain_sweep.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
// GCC 12's own header reads its undefined vectors (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

namespace anonymatch::swap_chain {
namespace {

struct Lanes {
    static constexpr std::size_t size = 16;

    template <class Indices>
    static auto gather(const float* values, Indices at) {
        return _mm512_i32gather_ps((__m512i)at, values, 4);
    }
};

#include "swap_chain/swap_chain_lanes.hpp"

}  // namespace

SweepStretch sweep_stretch_avx512(bool weighted, bool tilted) {
    return stretch_of(weighted, tilted);
}

}  // namespace anonymatch::swap_chain

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
