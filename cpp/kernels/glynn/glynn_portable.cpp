// The sums of glynn.hpp by scalar integers: for small matrices, heavy weights and other processors.
#include <algorithm>
#include <bit>
#include <vector>

#include "glynn/glynn_problem.hpp"

namespace anonymatch::glynn {
namespace {

// Arithmetic modulo 2^64, 2^128 or 2^192 under one name.
template <int words>
struct Modular;

template <>
struct Modular<1> {
    using Number = std::uint64_t;
    static Number of(std::int64_t value) noexcept { return static_cast<Number>(value); }
    static Total total(Number value) noexcept { return Total(static_cast<i128>(value)); }
};

template <>
struct Modular<2> {
    using Number = u128;
    static Number of(std::int64_t value) noexcept {
        return static_cast<Number>(static_cast<i128>(value));
    }
    static Total total(Number value) noexcept { return Total(static_cast<i128>(value)); }
};

template <>
struct Modular<3> {
    using Number = Total;
    static Number of(std::int64_t value) noexcept { return Total(value); }
    static Total total(const Number& value) noexcept { return value; }
};

using Sums = std::array<std::int64_t, glynn_largest_n>;

void set_off(const GlynnProblem& problem, std::uint64_t unit, Sums& sums) noexcept {
    for (int i = 0; i < problem.n; ++i) sums[static_cast<std::size_t>(i)] = problem.start(i, unit);
}

/// Flips the column that Gray code changes after `step`; true if it is now at -1.
bool flip(const GlynnProblem& problem, std::uint64_t step, Sums& sums,
          std::size_t& column) noexcept {
    column = static_cast<std::size_t>(std::countr_zero(step + 1));
    const bool minus = ((step + 1) >> (column + 1) & 1) == 0;
    const auto n = static_cast<std::size_t>(problem.n);
    for (std::size_t i = 0; i < n; ++i)
        sums[i] += minus ? -problem.change[i][column] : problem.change[i][column];
    return minus;
}

template <int words>
void count(const GlynnProblem& problem, Range units, std::span<std::uint64_t> out) noexcept {
    using Math = Modular<words>;
    const auto n = static_cast<std::size_t>(problem.n);
    // Rows are multiplied in 64 bits as long as the product of their bounds stays below 2^63.
    std::array<std::size_t, glynn_largest_n> ends{};
    std::size_t groups = 0;
    i128 bound = 1;
    for (std::size_t i = 0; i < n; ++i) {
        const i128 row = std::max<std::int64_t>(problem.bound[i], 1);
        if (i > 0 && bound * row >> 63 != 0) {
            ends[groups++] = i;
            bound = 1;
        }
        bound *= row;
    }
    ends[groups++] = n;

    const std::uint64_t steps = std::uint64_t{1} << problem.inner();
    typename Math::Number sum{};
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) {
        Sums sums{};
        set_off(problem, unit, sums);
        bool odd = std::popcount(unit) % 2 != 0;
        for (std::uint64_t step = 0;; odd = !odd) {
            typename Math::Number product = Math::of(1);
            for (std::size_t group = 0, i = 0; group < groups; ++group) {
                std::int64_t part = 1;
                for (; i < ends[group]; ++i) part *= sums[i];
                product = product * Math::of(part);
            }
            odd ? sum -= product : sum += product;
            std::size_t column = 0;
            if (step + 1 == steps) break;
            flip(problem, step++, sums, column);
        }
    }
    (Math::total(sum) << problem.halved).add_to(out);
}

// Products without one row by prefixes and suffixes; T_i is their signed running total. The minors
// need d_j t_i summed over the steps: d_j is constant between its flips, so by Abel's summation it is
// d_j T_i at the end less 2 d_j(new) T_i at each flip.
template <int words>
void minors(const GlynnProblem& problem, Range units, std::span<std::uint64_t> out) noexcept {
    using Math = Modular<words>;
    using Number = typename Math::Number;
    const auto n = static_cast<std::size_t>(problem.n);
    const std::uint64_t steps = std::uint64_t{1} << problem.inner();
    std::vector<Number> minor(n * n);
    std::array<Number, glynn_largest_n> total{};
    std::array<Number, glynn_largest_n + 1> prefix{};
    for (std::uint64_t unit = units[0]; unit < units[1]; ++unit) {
        Sums sums{};
        set_off(problem, unit, sums);
        total.fill(Number{});
        bool odd = std::popcount(unit) % 2 != 0;
        for (std::uint64_t step = 0;; odd = !odd) {
            prefix[0] = Math::of(odd ? -1 : 1);
            for (std::size_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] * Math::of(sums[i]);
            Number suffix = Math::of(1);
            for (std::size_t i = n; i-- > 0;) {
                total[i] += prefix[i] * suffix;
                suffix = suffix * Math::of(sums[i]);
            }
            std::size_t column = 0;
            if (step + 1 == steps) break;
            const bool minus = flip(problem, step++, sums, column);
            for (std::size_t i = 0; i < n; ++i) {
                Number twice = total[i];
                twice += total[i];
                minus ? minor[i * n + column] += twice : minor[i * n + column] -= twice;
            }
        }
        // The last Gray code has only the highest inner column at -1.
        const auto inner = static_cast<std::size_t>(problem.inner());
        for (std::size_t j = 0; j < n; ++j) {
            const bool minus = j + 1 == n  ? false
                               : j < inner ? j + 1 == inner
                                           : (unit >> (j - inner) & 1) != 0;
            for (std::size_t i = 0; i < n; ++i)
                minus ? minor[i * n + j] -= total[i] : minor[i * n + j] += total[i];
        }
    }
    const std::size_t size = out.size() / (n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            (Math::total(minor[i * n + j]) << (problem.halved - problem.even[i]))
                .add_to(out.subspan((i * n + j) * size, size));
}

}  // namespace

void count_portable(const GlynnProblem& problem, Range units,
                    std::span<std::uint64_t> out) noexcept {
    switch (out.size()) {
        case 1:
            return count<1>(problem, units, out);
        case 2:
            return count<2>(problem, units, out);
        default:
            return count<3>(problem, units, out);
    }
}

void minors_portable(const GlynnProblem& problem, Range units,
                     std::span<std::uint64_t> out) noexcept {
    const auto cells = static_cast<std::size_t>(problem.n) * static_cast<std::size_t>(problem.n);
    switch (out.size() / cells) {
        case 1:
            return minors<1>(problem, units, out);
        case 2:
            return minors<2>(problem, units, out);
        default:
            return minors<3>(problem, units, out);
    }
}

}  // namespace anonymatch::glynn
