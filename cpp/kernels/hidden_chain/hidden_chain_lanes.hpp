// The inner loops of the hidden chain over columns and departures, for the processor at hand.
#pragma once

#include <cstddef>

namespace anonymatch::hidden_chain {

struct Sums {
    double sum, squares, surprise, largest;  // surprise: of -p log2 p
};

struct Lanes {
    /// out = a * left + b * right; out may be either of them.
    void (*blend)(double* out, const double* left, const double* right, double a, double b,
                  std::size_t size);
    /// out += a * left.
    void (*add)(double* out, const double* left, double a, std::size_t size);
    /// What a row of probabilities adds up to; those below 0 by rounding become 0.
    Sums (*sums)(double* row, std::size_t size);
};

const Lanes& lanes();

}  // namespace anonymatch::hidden_chain
