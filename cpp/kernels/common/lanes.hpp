// Doubles in vectors of eight, for the instructions that the processor has: a function that is marked
// with ANONYMATCH_LANES is compiled for each set, and the right one is taken at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ANONYMATCH_LANES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANONYMATCH_LANES
#endif

namespace anonymatch {

inline constexpr std::size_t vector_lanes = 8;
// By typedef: Clang leaves out the alignment of `using Vector = ...`, and rows begin at any double.
typedef double Vector __attribute__((vector_size(64), aligned(8), may_alias));
typedef std::int64_t VectorInts __attribute__((vector_size(64)));
static_assert(alignof(Vector) == alignof(double));

#define LOAD(pointer) (*reinterpret_cast<const Vector*>(pointer))
#define STORE(pointer) (*reinterpret_cast<Vector*>(pointer))

/// log2 of 1e-300 to 1e300, as of 1e-300 below it, to a few units in the last place:
/// log2 of 2^e m, m in [sqrt 1/2, sqrt 2), is e + 2 artanh((m - 1) / (m + 1)) / ln 2.
__attribute__((always_inline)) inline void log2_of(const Vector& p, Vector& logs) {
    constexpr double least = 1e-300;
    const Vector raised = p < least ? Vector{} + least : p;
    VectorInts bits;
    std::memcpy(&bits, &raised, sizeof bits);
    // Counted from sqrt 1/2, so that the exponent rounds.
    const VectorInts exponent = (bits - 0x3fe6a09e667f3bcdLL) >> 52;
    const VectorInts mantissa = bits - (exponent << 52);
    Vector m;
    std::memcpy(&m, &mantissa, sizeof m);
    const Vector t = (m - 1) / (m + 1), u = t * t;
    Vector series = Vector{} + 1.0 / 19;
    for (const double odd : {17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
        series = series * u + 1.0 / odd;
    // The exponent as a double: added to the bits of 1.5 2^52.
    const VectorInts lifted = exponent + 0x4338000000000000LL;
    Vector whole;
    std::memcpy(&whole, &lifted, sizeof whole);
    logs = (whole - 6755399441055744.0) + t * series * 2.8853900817779268;
}

}  // namespace anonymatch
