// Loops over rows of cells, eight at a time. Sums are always in the same order, so every
// instruction set gives the same doubles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anonymatch::phase_chain {

constexpr std::size_t lanes = 8;

/// Rows of a room, each with zeros before it.
struct Grid {
    double* cells;                     // the first cell of the first row
    std::size_t planes, rows, length;  // length is a multiple of `lanes`
    std::size_t plane_pitch, pitch;
};

/// Weights that m of n move on, at [m * width + n]; how many m matter where n are left, and of n.
struct Weights {
    const double* values;
    std::size_t width;
    const std::uint32_t* left;
    const std::uint32_t* of;
};

/// Moves from a side to the next, or from the last side away; `low` is the count at the first cell.
/// In place: forward sums over where messages came from, backward over where they go.
void forward_last(const Grid& grid, const Weights& weights, std::size_t low);
void forward_rows(const Grid& grid, const Weights& weights, std::size_t low);
void forward_planes(const Grid& grid, const Weights& weights, std::size_t low);
void backward_last(const Grid& grid, const Weights& weights, std::size_t low);
void backward_rows(const Grid& grid, const Weights& weights, std::size_t low);
void backward_planes(const Grid& grid, const Weights& weights, std::size_t low);

double sum(const double* in, std::size_t size);
double dot(const double* a, const double* b, std::size_t size);
/// Adds a[k] b[k] to out[k]; the sum of what was added.
double add_products(double* out, const double* a, const double* b, std::size_t size);
/// Adds a[k] to out[k]; the sum of what was added.
double add(double* out, const double* in, std::size_t size);
void add_scaled(double* out, const double* in, double factor, std::size_t size);
void copy_scaled(double* out, const double* in, double factor, std::size_t size);
void copy_products(double* out, const double* a, const double* b, std::size_t size);
void multiply(double* out, double factor, std::size_t size);
void multiply_by(double* out, const double* factors, std::size_t size);
/// Moves `into` by a share towards `from`.
void approach(double* into, const double* from, double share, std::size_t size);

/// Sums over p of p, -p log2 p and p^2, and the largest p; log2 to 1e-14.
struct RowSums {
    double sum, logs, squares, largest;
};
RowSums row_sums(const double* probability, std::size_t size);

}  // namespace anonymatch::phase_chain
