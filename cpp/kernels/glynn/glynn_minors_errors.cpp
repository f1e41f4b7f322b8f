// The proven error of the floating minors of glynn.hpp.
#include <cassert>

#include "glynn/glynn_double_problem.hpp"

namespace anonymatch {
namespace {

constexpr std::size_t grid = 32;
constexpr double smallest_norm = 0x1p-8;

struct Binomials {
    double even[glynn_largest_n / 2 + 1][glynn_largest_n / 2 + 1];  // (2q choose 2k)

    explicit Binomials(int p) noexcept {
        for (int q = 0; q <= p / 2; ++q) {
            even[q][0] = 1;
            for (int k = 1; k <= q; ++k)
                even[q][k] = even[q][k - 1] * ((2 * q - 2 * k + 2) * (2 * q - 2 * k + 1)) /
                             (2 * k * (2 * k - 1));
        }
    }
};

/// An upper bound of (E |f + s|^p)^(1/p) as a function of |f| <= width, s the sum of a row's random
/// part.
///
/// The norm is convex in f and even, so that its chords between the points of a grid lie above it;
/// so does the larger of it and `smallest_norm`. p is even and odd moments of s vanish, so that the
/// moment is a sum of positive terms, whatever they cancel in the permanent. Terms that underflow
/// are far below smallest_norm^p.
struct Norm {
    double scale = 0;
    double value[grid + 2];

    Norm(std::span<const double> random, double width, int p, const Binomials& choose) noexcept {
        double moment[glynn_largest_n / 2 + 1] = {1};  // of s, even ones
        const int half = p / 2;
        for (const double weight : random) {
            const double square = weight * weight;
            for (int q = half; q > 0 && square > 0; --q) {
                double sum = 0;  // by Horner's rule: moment k gets the power 2q - 2k of the weight
                for (int k = 0; k < q; ++k) sum = (sum + choose.even[q][k] * moment[k]) * square;
                moment[q] += sum;
            }
        }
        scale = width > 0 ? grid / width : 0;
        for (std::size_t point = 0; point <= grid + 1; ++point) {
            const double f = width * static_cast<double>(point) / grid;
            double sum = 0;
            for (int k = 0; k <= half; ++k) sum = sum * (f * f) + choose.even[half][k] * moment[k];
            value[point] = std::max(std::pow(sum, 1.0 / p), smallest_norm);
        }
    }

    [[nodiscard]] double operator()(double f) const noexcept {
        const double place = std::abs(f) * scale;
        const auto point = std::min(static_cast<std::size_t>(place), grid);
        return value[point] +
               (place - static_cast<double>(point)) * (value[point + 1] - value[point]);
    }
};

}  // namespace

void glynn_minors_errors(std::span<const double> matrix, int n, std::uint64_t ranges,
                         std::span<double> errors) noexcept {
    assert(1 <= n && n <= glynn_largest_n && errors.size() == static_cast<std::size_t>(n));
    const glynn::DoubleProblem problem(matrix, n);
    const auto size = static_cast<std::size_t>(problem.n);
    // The slowest columns take every sign, the others are random.
    const std::size_t given = std::min<std::size_t>(size > 11 ? size - 11 : 0, 16);
    const std::size_t first = size - 1 - given;
    const int p = problem.n - problem.n % 2;
    const Binomials choose(p);
    std::vector<Norm> norms;
    std::vector<double> sums(size);
    std::vector<double> change(size * given);
    for (std::size_t i = 0; i < size; ++i) {
        const std::span<const double> row(problem.weight.data() + i * size, size);
        for (std::size_t j = first; j < size; ++j) sums[i] += row[j];
        for (std::size_t j = 0; j < given; ++j) change[j * size + i] = 2 * row[first + j];
        norms.emplace_back(row.first(first), sums[i], p, choose);
    }
    std::vector<double> norm(size), prefix(size), sizes(size), shifts(size);
    for (std::uint64_t step = 1;; ++step) {
        double run = 1;
        double shift = 0;
        for (std::size_t i = 0; i < size; ++i) {
            norm[i] = norms[i](sums[i]);
            prefix[i] = run;
            run *= norm[i];
            if (problem.rounded[i] != 0) shift += problem.rounded[i] * 0x1p-53 / norm[i];
        }
        run = 1;
        for (std::size_t i = size; i-- > 0;) {
            const double product = prefix[i] * run;
            run *= norm[i];
            sizes[i] += product;
            shifts[i] += product * shift;
        }
        if (step >> given != 0) break;
        const auto column = static_cast<std::size_t>(__builtin_ctzll(step));
        const double sign = (step >> (column + 1) & 1) == 0 ? -1 : 1;
        for (std::size_t i = 0; i < size; ++i) sums[i] += sign * change[column * size + i];
    }
    const double rounding =
        (glynn::minors_roundings + problem.n + static_cast<double>(ranges)) * 0x1p-53;
    const int added = problem.n - n;
    const int each = static_cast<int>(first);
    for (std::size_t i = 0; i < errors.size(); ++i)
        errors[i] = std::ldexp((rounding * sizes[i] + shifts[i]) * (1 + 0x1p-20),
                               problem.exponent - problem.exponents[i] - added + each);
}

}  // namespace anonymatch
