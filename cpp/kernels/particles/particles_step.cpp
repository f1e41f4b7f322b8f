#include "particles/particles_step.hpp"

#include <cstring>

namespace anonymatch::particles {
namespace {

#define ANONYMATCH_INLINE inline __attribute__((always_inline))

typedef std::int32_t Signed __attribute__((vector_size(64)));

ANONYMATCH_INLINE void advance_body(const Steps& steps, const Group* free, std::size_t width,
                                    Generator* generators, Group* weights, std::uint32_t* picks,
                                    std::size_t groups) {
    const Floats one = Floats{} + 1.0F;
    for (std::size_t g = 0; g < groups; ++g) {
        const Group* own = free + g * width;
        Words a = generators[g].words[0];
        Words b = generators[g].words[1];
        Words c = generators[g].words[2];
        Words d = generators[g].words[3];
        Floats none = one;    // probability that no column so far picks the row,
        Floats exactly = {};  // and that one does
        Signed pick = {};
        for (std::size_t k = 0; k < steps.size; ++k) {
            const Words bits = a + d;
            const Words shifted = b << 9;
            c ^= a;
            d ^= b;
            b ^= c;
            a ^= d;
            c ^= shifted;
            d = (d << 11) | (d >> 21);
            const Floats unit = __builtin_convertvector((Signed)(bits >> 8), Floats) * 0x1p-24F;
            const Floats hazard =
                own[steps.slots[k * steps.stride]].values * steps.hazards[k * steps.stride];
            const Floats gained = none * hazard;
            const Floats rest = one - hazard;
            exactly = exactly * rest + gained;
            none = none * rest;
            // Of those picked so far, this one in proportion; never if its column is taken.
            const Signed take = unit * exactly < gained;
            pick = take ? Signed{} + static_cast<std::int32_t>(k) : pick;
        }
        generators[g].words[0] = a;
        generators[g].words[1] = b;
        generators[g].words[2] = c;
        generators[g].words[3] = d;
        weights[g].values *= exactly * typical;
        std::memcpy(picks + g * lanes, &pick, sizeof pick);
    }
}

void advance_plain(const Steps& steps, const Group* free, std::size_t width, Generator* generators,
                   Group* weights, std::uint32_t* picks, std::size_t groups) {
    advance_body(steps, free, width, generators, weights, picks, groups);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void advance_avx512(const Steps& steps, const Group* free,
                                                       std::size_t width, Generator* generators,
                                                       Group* weights, std::uint32_t* picks,
                                                       std::size_t groups) {
    advance_body(steps, free, width, generators, weights, picks, groups);
}
__attribute__((target("avx2"))) void advance_avx2(const Steps& steps, const Group* free,
                                                  std::size_t width, Generator* generators,
                                                  Group* weights, std::uint32_t* picks,
                                                  std::size_t groups) {
    advance_body(steps, free, width, generators, weights, picks, groups);
}
#endif

}  // namespace

Advance advance() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return advance_avx512;
    if (__builtin_cpu_supports("avx2")) return advance_avx2;
#endif
    return advance_plain;
}

}  // namespace anonymatch::particles
