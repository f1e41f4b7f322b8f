// One row of a particle filter, for all particles: the part that vectors do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anonymatch::particles {

constexpr std::size_t lanes = 16;
// Weights gain this much more at every row: the probability that one of many rare events happens is
// about 1/e.
constexpr float typical = 2.718281828F;

typedef float Floats __attribute__((vector_size(64)));
typedef std::uint32_t Words __attribute__((vector_size(64)));

struct alignas(64) Group {  // a value of each of 16 particles
    Floats values;
};

struct alignas(64) Generator {  // xoshiro128+ (Blackman, Vigna 2018), one a particle
    Words words[4];
};

struct Steps {  // the edges of a row: slot and hazard of each, so many floats apart
    const std::uint32_t* slots;
    const float* hazards;
    std::size_t stride;
    std::size_t size;
};

/// Every particle picks one of the row's free columns, and its weight gains `typical` times the
/// probability that exactly one of them does. `free` are groups by slots; `picks` gets positions among the steps
/// (0 where nothing can be picked: then the weight is 0).
using Advance = void (*)(const Steps& steps, const Group* free, std::size_t width,
                         Generator* generators, Group* weights, std::uint32_t* picks,
                         std::size_t groups);

/// The fastest that this processor has; all give the same floats.
Advance advance();

}  // namespace anonymatch::particles
