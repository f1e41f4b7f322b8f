#include "link_chain/link_chain_sweep.hpp"

namespace anonymatch::link_chain {
namespace {

struct Lanes {
    static constexpr std::size_t size = 4;

    template <class Indices>
    static auto gather(const float* values, Indices at) {
        typedef float Four __attribute__((vector_size(16)));
        return Four{values[at[0]], values[at[1]], values[at[2]], values[at[3]]};
    }

    template <class Indices>
    static Indices gather_short(const std::uint16_t* values, Indices at) {
        return Indices{values[at[0]], values[at[1]], values[at[2]], values[at[3]]};
    }

    template <class Mask>
    static std::uint32_t mask(Mask lanes) {
        std::uint32_t bits = 0;
        for (std::size_t l = 0; l < size; ++l) bits |= (lanes[l] != 0 ? 1U : 0U) << l;
        return bits;
    }
};

#include "link_chain/link_chain_lanes.hpp"

}  // namespace

SweepStretch sweep_stretch_portable(bool weighted) {
    return stretch_of(weighted);
}

SweepStretch sweep_stretch(bool weighted) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return sweep_stretch_avx512(weighted);
    if (__builtin_cpu_supports("avx2")) return sweep_stretch_avx2(weighted);
#endif
    return sweep_stretch_portable(weighted);
}

}  // namespace anonymatch::link_chain
