#include "phase_chain/phase_chain_lanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ANONYMATCH_LANES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANONYMATCH_LANES
#endif

namespace anonymatch::phase_chain {
namespace {

using Vector = double __attribute__((vector_size(64), aligned(8), may_alias));
using Integers = std::int64_t __attribute__((vector_size(64)));

#define LOAD(pointer) (*reinterpret_cast<const Vector*>(pointer))
#define STORE(pointer) (*reinterpret_cast<Vector*>(pointer))

}  // namespace

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
    // log2 of 2^e m, m in [sqrt 1/2, sqrt 2): e + 2 artanh((m - 1) / (m + 1)) / ln 2.
    constexpr double least = 1e-300;
    Vector sums{}, logs{}, squares{}, largest{};
    const auto take = [&](const Vector& p) __attribute__((always_inline)) {
        const Vector raised = p < least ? Vector{} + least : p;
        Integers bits;
        std::memcpy(&bits, &raised, sizeof bits);
        // Counted from sqrt 1/2, so that the exponent rounds.
        const Integers exponent = (bits - 0x3fe6a09e667f3bcdLL) >> 52;
        const Integers mantissa = bits - (exponent << 52);
        Vector m;
        std::memcpy(&m, &mantissa, sizeof m);
        const Vector t = (m - 1) / (m + 1), u = t * t;
        Vector series = Vector{} + 1.0 / 19;
        for (const double odd : {17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
            series = series * u + 1.0 / odd;
        // The exponent as a double: added to the bits of 1.5 2^52.
        const Integers lifted = exponent + 0x4338000000000000LL;
        Vector whole;
        std::memcpy(&whole, &lifted, sizeof whole);
        sums += p;
        logs -= p * ((whole - 6755399441055744.0) + t * series * 2.8853900817779268);
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
