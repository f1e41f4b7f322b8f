#include "phase_chain/phase_chain_lanes.hpp"

#include <algorithm>
#include <cmath>

#include "common/lanes.hpp"

namespace anonymatch::phase_chain {

ANONYMATCH_LANES void forward_last(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = 0; plane < grid.planes; ++plane)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low;
            for (std::size_t k = 0; k < grid.length; k += lanes) {
                // Most of them are at the largest count.
                const std::size_t terms =
                    std::min<std::size_t>(weights.left[low + k + lanes - 1], grid.length - k);
                Vector sum = LOAD(w + k) * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum += LOAD(w + m * (weights.width + 1) + k) * LOAD(x + k + m);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES void backward_last(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = 0; plane < grid.planes; ++plane)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low;
            for (std::size_t k = grid.length; k > 0;) {
                k -= lanes;
                const std::size_t terms =
                    std::min<std::size_t>(weights.of[low + k + lanes - 1], k + lanes);
                Vector sum = LOAD(w + k) * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum += LOAD(w + m * weights.width + k) * LOAD(x + k - m);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES void forward_rows(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = 0; plane < grid.planes; ++plane)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low + row;
            const std::size_t terms =
                std::min<std::size_t>({weights.left[low + row], grid.rows - row, grid.length});
            for (std::size_t k = 0; k < grid.length; k += lanes) {
                Vector sum = w[0] * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum += w[m * (weights.width + 1)] * LOAD(x + m * grid.pitch + k - m);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES void backward_rows(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = 0; plane < grid.planes; ++plane)
        for (std::size_t row = grid.rows; row-- > 0;) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low + row;
            const std::size_t terms =
                std::min<std::size_t>({weights.of[low + row], row + 1, grid.length});
            for (std::size_t k = 0; k < grid.length; k += lanes) {
                Vector sum = w[0] * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum += w[m * weights.width] * LOAD(x + k + m - m * grid.pitch);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES void forward_planes(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = 0; plane < grid.planes; ++plane)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low + plane;
            const std::size_t terms =
                std::min<std::size_t>({weights.left[low + plane], grid.planes - plane, row + 1});
            for (std::size_t k = 0; k < grid.length; k += lanes) {
                Vector sum = w[0] * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum += w[m * (weights.width + 1)] *
                           LOAD(x + m * grid.plane_pitch + k - m * grid.pitch);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES void backward_planes(const Grid& grid, const Weights& weights, std::size_t low) {
    for (std::size_t plane = grid.planes; plane-- > 0;)
        for (std::size_t row = 0; row < grid.rows; ++row) {
            double* x = grid.cells + plane * grid.plane_pitch + row * grid.pitch;
            const double* w = weights.values + low + plane;
            const std::size_t terms =
                std::min<std::size_t>({weights.of[low + plane], plane + 1, grid.rows - row});
            for (std::size_t k = 0; k < grid.length; k += lanes) {
                Vector sum = w[0] * LOAD(x + k);
                for (std::size_t m = 1; m < terms; ++m)
                    sum +=
                        w[m * weights.width] * LOAD(x + k + m * grid.pitch - m * grid.plane_pitch);
                STORE(x + k) = sum;
            }
        }
}

ANONYMATCH_LANES double sum(const double* in, std::size_t size) {
    Vector sums{};
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) sums += LOAD(in + k);
    double total = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) total += sums[lane];
    for (; k < size; ++k) total += in[k];
    return total;
}

ANONYMATCH_LANES double dot(const double* a, const double* b, std::size_t size) {
    Vector sums{};
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) sums += LOAD(a + k) * LOAD(b + k);
    double total = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) total += sums[lane];
    for (; k < size; ++k) total += a[k] * b[k];
    return total;
}

ANONYMATCH_LANES double add_products(double* out, const double* a, const double* b,
                                     std::size_t size) {
    Vector sums{};
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) {
        const Vector product = LOAD(a + k) * LOAD(b + k);
        STORE(out + k) += product;
        sums += product;
    }
    double total = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) total += sums[lane];
    for (; k < size; ++k) {
        const double product = a[k] * b[k];
        out[k] += product;
        total += product;
    }
    return total;
}

ANONYMATCH_LANES double add(double* out, const double* in, std::size_t size) {
    Vector sums{};
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) {
        const Vector value = LOAD(in + k);
        STORE(out + k) += value;
        sums += value;
    }
    double total = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) total += sums[lane];
    for (; k < size; ++k) {
        out[k] += in[k];
        total += in[k];
    }
    return total;
}

ANONYMATCH_LANES void add_scaled(double* out, const double* in, double factor, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] += factor * in[k];
}

ANONYMATCH_LANES void copy_scaled(double* out, const double* in, double factor, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] = factor * in[k];
}

ANONYMATCH_LANES void copy_products(double* out, const double* a, const double* b,
                                    std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] = a[k] * b[k];
}

ANONYMATCH_LANES void multiply(double* out, double factor, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] *= factor;
}

ANONYMATCH_LANES void multiply_by(double* out, const double* factors, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out[k] *= factors[k];
}

ANONYMATCH_LANES void approach(double* into, const double* from, double share, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) into[k] += share * (from[k] - into[k]);
}

ANONYMATCH_LANES RowSums row_sums(const double* probability, std::size_t size) {
    Vector sums{}, logs{}, squares{}, largest{};
    const auto take = [&](const Vector& p) __attribute__((always_inline)) {
        Vector log;
        log2_of(p, log);
        sums += p;
        logs -= p * log;
        squares += p * p;
        largest = p > largest ? p : largest;
    };
    std::size_t k = 0;
    for (; k + lanes <= size; k += lanes) take(LOAD(probability + k));
    if (k < size) {
        Vector rest{};
        for (std::size_t lane = 0; k + lane < size; ++lane) rest[lane] = probability[k + lane];
        take(rest);
    }
    RowSums result{};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        result.sum += sums[lane];
        result.logs += logs[lane];
        result.squares += squares[lane];
        result.largest = std::max(result.largest, largest[lane]);
    }
    return result;
}

}  // namespace anonymatch::phase_chain
