// The floating calls of glynn.hpp: the portable path, and which path runs.
#include <cassert>
#include <memory>

#include "glynn/glynn_minors_double_plan.hpp"

namespace anonymatch {
namespace glynn {
namespace {

constexpr std::size_t lane_columns = 1;

#include "glynn/glynn_double_lanes.hpp"

inline Vector multiply_add(Vector a, Vector b, Vector c) noexcept {
    return a * b + c;
}

#include "glynn/glynn_minors_double_lanes.hpp"

}  // namespace

void count_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    count_double(problem, units, sums);
}

void minors_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    minors_double(problem, units, sums);
}

}  // namespace glynn

GlynnSum glynn_count_double(std::span<const double> matrix, int n, std::uint64_t first,
                            std::uint64_t last, [[maybe_unused]] Isa isa) noexcept {
    assert(1 <= n && n <= glynn_largest_n && supported(isa) && first <= last &&
           last <= glynn_units(n));
    const glynn::DoubleProblem problem(matrix, n);
    const glynn::Range units{first, last};
    glynn::DoubleSums sums{std::vector<glynn::Compensated>(1), std::vector<glynn::Compensated>(1)};
#if defined(__x86_64__)
    if (isa == Isa::avx512)
        glynn::count_double_avx512(problem, units, sums);
    else if (isa == Isa::avx2)
        glynn::count_double_avx2(problem, units, sums);
    else
#endif
        glynn::count_double_portable(problem, units, sums);
    const int exponent = problem.exponent - (problem.n - n);
    return {std::ldexp(sums.cells[0].value(), exponent),
            std::ldexp(sums.absolute[0].value(), exponent)};
}

void glynn_minors_double(std::span<const double> matrix, int n, std::uint64_t first,
                         std::uint64_t last, [[maybe_unused]] Isa isa,
                         std::span<double> out) noexcept {
    assert(1 <= n && n <= glynn_largest_n && supported(isa) && first <= last &&
           last <= glynn_units(n));
    assert(out.size() == matrix.size());
    const glynn::DoubleProblem problem(matrix, n);
    const glynn::Range units{first, last};
    const auto size = static_cast<std::size_t>(problem.n);
    glynn::DoubleSums sums{std::vector<glynn::Compensated>(size * size), {}};
#if defined(__x86_64__)
    if (isa == Isa::avx512)
        glynn::minors_double_avx512(problem, units, sums);
    else if (isa == Isa::avx2)
        glynn::minors_double_avx2(problem, units, sums);
    else
#endif
        glynn::minors_double_portable(problem, units, sums);
    const auto given = static_cast<std::size_t>(n);
    const std::size_t added = size - given;
    for (std::size_t i = 0; i < given; ++i) {
        const int exponent = problem.exponent - problem.exponents[i] - static_cast<int>(added);
        for (std::size_t j = 0; j < given; ++j)
            out[i * given + j] += std::ldexp(sums.cells[i * size + added + j].value(), exponent);
    }
}

}  // namespace anonymatch
