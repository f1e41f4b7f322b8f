#include "swap_chain/swap_chain_sweep.hpp"

namespace anonymatch::swap_chain {
namespace {

struct Lanes {
    static constexpr std::size_t size = 4;

    template <class Indices>
    static auto gather(const float* values, Indices at) {
        typedef float Four __attribute__((vector_size(16)));
        return Four{values[at[0]], values[at[1]], values[at[2]], values[at[3]]};
    }
};

#include "swap_chain/swap_chain_lanes.hpp"

}  // namespace

SweepStretch sweep_stretch_portable(bool weighted, bool tilted) {
    return stretch_of(weighted, tilted);
}

SweepStretch sweep_stretch(bool weighted, bool tilted) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return sweep_stretch_avx512(weighted, tilted);
    if (__builtin_cpu_supports("avx2")) return sweep_stretch_avx2(weighted, tilted);
#endif
    return sweep_stretch_portable(weighted, tilted);
}

}  // namespace anonymatch::swap_chain
