// Elimination and selected inverse over eight primes at once, for the instructions that there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch::planar {

/// Eight residues, a lane a prime.
struct alignas(64) Lanes {
    double lane[8];
};

/// Factors in place: entry q of front k is U[k][fronts[q]] in `upper` and L[fronts[q]][k] in
/// `lower`; the pivots are in `diagonal`, and after `eliminate` their inverses in `inverse`.
struct Factors {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> fronts;
    std::span<Lanes> diagonal, upper, lower, inverse;
    Lanes prime, reciprocal;  // p, and 1 / p rounded
};

/// What `invert` writes, laid out like the factors: entries of the inverse.
struct Inverse {
    std::span<Lanes> diagonal, upper, lower;
};

/// One set of instructions; what is false was cancelled.
struct Instructions {
    /// Lanes where a pivot vanished have the inverse 0 there.
    bool (*eliminate)(const Factors& factors, CancelFlag cancel);
    /// The entries of the inverse at all entries of the pattern.
    bool (*invert)(const Factors& factors, const Inverse& inverse, CancelFlag cancel);
    /// target[to[i]] += factor * value[from[i]]; only the primes of the factors are read.
    void (*add_products)(const Factors& factors, Lanes* target, const std::int32_t* to,
                         const Lanes& factor, const Lanes* value, const std::int32_t* from,
                         std::size_t size);
    /// sum += left[at_left[i]] * right[at_right[i]], over all i.
    void (*sum_products)(const Factors& factors, Lanes& sum, const Lanes* left,
                         const std::int32_t* at_left, const Lanes* right,
                         const std::int32_t* at_right, std::size_t size);
};

/// Those that this processor has, the quickest first; all give the same.
std::vector<Instructions> instructions();

inline std::size_t at(std::int64_t index) noexcept {
    return static_cast<std::size_t>(index);
}

/// x * y modulo the primes, in (-0.75 p, 0.75 p).
Lanes times(const Factors& factors, const Lanes& x, const Lanes& y);

}  // namespace anonymatch::planar
