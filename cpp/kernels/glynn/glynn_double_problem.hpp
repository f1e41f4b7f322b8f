// The floating problem of glynn.hpp made ready, and the doors to its paths.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "glynn/glynn_problem.hpp"

namespace anonymatch::glynn {

/// Rows scaled to a sum of at most 1 and rounded to multiples of 2^-52; at least eight rows, the
/// missing ones those of the unit matrix, which change neither the permanent nor the minors.
struct DoubleProblem {
    static constexpr int smallest = 8;

    int n;             // rows, with the added ones
    int rows;          // rows that were given
    int exponent = 0;  // of the power of two that all rows together were divided by
    std::vector<double> weight;
    std::vector<int> exponents;
    std::vector<int> rounded;  // weights of a row that were no multiples of 2^-52

    DoubleProblem(std::span<const double> matrix, int size)
        : n(std::max(size, smallest)),
          rows(size),
          weight(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)),
          exponents(static_cast<std::size_t>(n)),
          rounded(static_cast<std::size_t>(n)) {
        for (int i = 0; i < n; ++i) {
            if (i >= rows) {
                at(i, i - rows) = 1;  // the added behaviours come first: they never leave a unit
                continue;
            }
            double sum = 0;
            for (int j = 0; j < rows; ++j) sum += matrix[static_cast<std::size_t>(i * rows + j)];
            int power = 0;
            if (sum > 0) static_cast<void>(std::frexp(sum * (1 + 0x1p-40), &power));
            exponents[static_cast<std::size_t>(i)] = power;
            exponent += power;
            for (int j = 0; j < rows; ++j) {
                const double scaled =
                    std::ldexp(matrix[static_cast<std::size_t>(i * rows + j)], 52 - power);
                const double near = std::nearbyint(scaled);
                rounded[static_cast<std::size_t>(i)] += near != scaled;
                at(i, j + n - rows) = near * 0x1p-52;
            }
        }
    }

    double& at(int i, int j) {
        return weight[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
                      static_cast<std::size_t>(j)];
    }

    [[nodiscard]] std::size_t inner() const noexcept {
        return static_cast<std::size_t>(std::min(n - 1, unit_bits));
    }
};

/// Compensated summation (Knuth's two-sum): the error of the whole is two roundings of the result.
class Compensated {
public:
    void add(double value) noexcept {
        const double sum = sum_ + value;
        const double back = sum - sum_;
        rest_ += (sum_ - (sum - back)) + (value - back);
        sum_ = sum;
    }
    [[nodiscard]] double value() const noexcept { return sum_ + rest_; }

private:
    double sum_ = 0;
    double rest_ = 0;
};

/// Roundings behind a minor besides the n of its products: see glynn_minors_errors.
inline constexpr int minors_roundings = 244;

struct DoubleSums {
    std::vector<Compensated> cells;     // one for the count, n x n for the minors
    std::vector<Compensated> absolute;  // one for the count, none for the minors
};

void count_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums);
void minors_double_portable(const DoubleProblem& problem, Range units, DoubleSums& sums);
#if defined(__x86_64__)
void count_double_avx2(const DoubleProblem& problem, Range units, DoubleSums& sums);
void minors_double_avx2(const DoubleProblem& problem, Range units, DoubleSums& sums);
void count_double_avx512(const DoubleProblem& problem, Range units, DoubleSums& sums);
void minors_double_avx512(const DoubleProblem& problem, Range units, DoubleSums& sums);
#endif

}  // namespace anonymatch::glynn
