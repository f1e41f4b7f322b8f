// The floating calls of signs.hpp: the portable path, and which path runs.
#include <cassert>
#include <memory>

#include "signs_minors_double_plan.hpp"

namespace anonymatch {
namespace detail {
namespace {

constexpr std::size_t lane_columns = 1;

#include "signs_double_lanes.hpp"

inline Vector multiply_add(Vector a, Vector b, Vector c) noexcept {
    return a * b + c;
}

#include "signs_minors_double_lanes.hpp"

}  // namespace

void count_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    count_double(problem, units, sums);
}

void minors_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums) {
    minors_double(problem, units, sums);
}

}  // namespace detail

SignsSum signs_count_double(std::span<const double> matrix, int n, std::uint64_t first,
                            std::uint64_t last, Isa isa) noexcept {
    assert(1 <= n && n <= signs_largest_n && supported(isa) && first <= last &&
           last <= signs_units(n));
    const detail::DoubleProblem problem(matrix, n);
    const detail::Range units{first, last};
    detail::DoubleSums sums{std::vector<detail::Compensated>(1),
                            std::vector<detail::Compensated>(1)};
#if defined(__x86_64__)
    if (isa == Isa::avx512)
        detail::count_double_avx512(problem, units, sums);
    else if (isa == Isa::avx2)
        detail::count_double_avx2(problem, units, sums);
    else
#endif
        detail::count_double_portable(problem, units, sums);
    const int exponent = problem.exponent - (problem.n - n);
    return {std::ldexp(sums.cells[0].value(), exponent),
            std::ldexp(sums.absolute[0].value(), exponent)};
}

void signs_minors_double(std::span<const double> matrix, int n, std::uint64_t first,
                         std::uint64_t last, Isa isa, std::span<double> out) noexcept {
    assert(1 <= n && n <= signs_largest_n && supported(isa) && first <= last &&
           last <= signs_units(n));
    assert(out.size() == matrix.size());
    const detail::DoubleProblem problem(matrix, n);
    const detail::Range units{first, last};
    const auto size = static_cast<std::size_t>(problem.n);
    detail::DoubleSums sums{std::vector<detail::Compensated>(size * size), {}};
#if defined(__x86_64__)
    if (isa == Isa::avx512)
        detail::minors_double_avx512(problem, units, sums);
    else if (isa == Isa::avx2)
        detail::minors_double_avx2(problem, units, sums);
    else
#endif
        detail::minors_double_portable(problem, units, sums);
    const auto given = static_cast<std::size_t>(n);
    const std::size_t added = size - given;
    for (std::size_t i = 0; i < given; ++i) {
        const int exponent = problem.exponent - problem.exponents[i] - static_cast<int>(added);
        for (std::size_t j = 0; j < given; ++j)
            out[i * given + j] += std::ldexp(sums.cells[i * size + added + j].value(), exponent);
    }
}

}  // namespace anonymatch
