#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "glynn/glynn.hpp"

using namespace anonymatch;

namespace {

__extension__ typedef unsigned __int128 u128;
using Matrix = std::vector<std::uint32_t>;

std::vector<Isa> paths() {
    std::vector<Isa> result;
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512})
        if (supported(isa)) result.push_back(isa);
    return result;
}

Matrix random_matrix(int n, double density, std::uint32_t heaviest, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> chance(0, 1);
    Matrix matrix(static_cast<std::size_t>(n * n));
    for (auto& weight : matrix)
        weight = chance(generator) < density
                     ? 1 + static_cast<std::uint32_t>(generator() % heaviest)
                     : 0;
    return matrix;
}

Matrix without(const Matrix& matrix, int n, int row, int column) {
    Matrix result;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (i != row && j != column)
                result.push_back(matrix[static_cast<std::size_t>(i * n + j)]);
    return result;
}

// By definition: expansion along the first row.
u128 permanent(const Matrix& matrix, int n) {
    if (n == 0) return 1;
    u128 sum = 0;
    for (int j = 0; j < n; ++j)
        if (const auto weight = matrix[static_cast<std::size_t>(j)]; weight != 0)
            sum += weight * permanent(without(matrix, n, 0, j), n - 1);
    return sum;
}

template <std::size_t words>
u128 value(const std::array<std::uint64_t, words>& out, int n) {
    u128 sum = 0;
    for (std::size_t k = words; k-- > 0;) {
        if (words == 3 && k == 2) {
            CHECK(out[2] == 0);  // no count of these tests needs the third word
            continue;
        }
        sum = sum << 64 | out[k];
    }
    return sum >> (n - 1);
}

template <std::size_t words = 2>
u128 count(const Matrix& matrix, int n, Isa isa) {
    std::array<std::uint64_t, words> out{};
    glynn_count({matrix, n}, 0, glynn_units(n), isa, out);
    return value(out, n);
}

std::vector<u128> minors(const Matrix& matrix, int n, Isa isa) {
    std::vector<std::uint64_t> out(2 * matrix.size());
    glynn_minors({matrix, n}, 0, glynn_units(n), isa, out);
    std::vector<u128> result;
    for (std::size_t k = 0; k < matrix.size(); ++k)
        result.push_back((static_cast<u128>(out[2 * k + 1]) << 64 | out[2 * k]) >> (n - 1));
    return result;
}

void check_expansion(const Matrix& matrix, int n, Isa isa) {
    const auto all = minors(matrix, n, isa);
    const u128 expected = count(matrix, n, isa);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        u128 by_row = 0;
        u128 by_column = 0;
        for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
            by_row += matrix[i * static_cast<std::size_t>(n) + j] *
                      all[i * static_cast<std::size_t>(n) + j];
            by_column += matrix[j * static_cast<std::size_t>(n) + i] *
                         all[j * static_cast<std::size_t>(n) + i];
        }
        CHECK(by_row == expected);
        CHECK(by_column == expected);
    }
}

void agrees_with_the_definition(Isa isa) {
    for (int n = 1; n <= 7; ++n)
        for (const double density : {0.3, 0.6, 1.0})
            for (const std::uint32_t heaviest : {1U, 3U, 1000U}) {
                const auto matrix = random_matrix(n, density, heaviest, static_cast<unsigned>(n));
                const u128 expected = permanent(matrix, n);
                if (heaviest < 1000) CHECK(count<1>(matrix, n, isa) == expected);
                CHECK(count<2>(matrix, n, isa) == expected);
                CHECK(count<3>(matrix, n, isa) == expected);
                if (n > 6) continue;
                const auto all = minors(matrix, n, isa);
                for (int i = 0; i < n; ++i)
                    for (int j = 0; j < n; ++j)
                        CHECK(all[static_cast<std::size_t>(i * n + j)] ==
                              permanent(without(matrix, n, i, j), n - 1));
            }
}

void one_by_one_and_zero_rows(Isa isa) {
    CHECK(count(Matrix{7}, 1, isa) == 7);
    CHECK(minors(Matrix{0}, 1, isa)[0] == 1);
    Matrix matrix = random_matrix(12, 0.6, 1, 5);
    for (std::size_t j = 0; j < 12; ++j) matrix[12 * 4 + j] = 0;
    CHECK(count(matrix, 12, isa) == 0);
    const auto all = minors(matrix, 12, isa);
    matrix[12 * 4 + 9] = 1;  // adding an edge gains its minor
    CHECK(count(matrix, 12, isa) == all[12 * 4 + 9]);
    CHECK(all[0] == 0);
}

void complete_graphs_and_derangements(Isa isa) {
    u128 factorial = 1;
    u128 derangements = 1;
    for (int n = 1; n <= (isa == Isa::portable ? 15 : 25); ++n) {
        factorial *= static_cast<unsigned>(n);
        derangements =
            derangements * static_cast<unsigned>(n) + (n % 2 == 0 ? 1 : static_cast<u128>(-1));
        Matrix matrix(static_cast<std::size_t>(n * n), 1);
        CHECK(count(matrix, n, isa) == factorial);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
            matrix[i * static_cast<std::size_t>(n + 1)] = 0;
        CHECK(count(matrix, n, isa) == derangements);
    }
}

void paths_agree_on_every_shape(Isa isa) {
    for (int n = 8; n <= 15; ++n)
        for (const double density : {0.25, 0.5, 1.0})
            for (const std::uint32_t heaviest : {1U, 4U, 60U, 5000U}) {
                const auto matrix =
                    random_matrix(n, density, heaviest, static_cast<unsigned>(100 + n));
                std::array<std::uint64_t, 3> out{};
                std::array<std::uint64_t, 3> expected{};
                glynn_count({matrix, n}, 0, 1, isa, out);
                glynn_count({matrix, n}, 0, 1, Isa::portable, expected);
                CHECK(out == expected);
                if (n > 12) continue;
                std::vector<std::uint64_t> cells(3 * matrix.size());
                std::vector<std::uint64_t> expected_cells(3 * matrix.size());
                glynn_minors({matrix, n}, 0, 1, isa, cells);
                glynn_minors({matrix, n}, 0, 1, Isa::portable, expected_cells);
                CHECK(cells == expected_cells);
            }
}

void heavy_rows_take_more_factors(Isa isa) {
    const auto words = [](const Matrix& matrix, int n, Isa path) {
        std::array<std::uint64_t, 3> out{};
        glynn_count({matrix, n}, 0, 1, path, out);
        return out;
    };
    for (const auto& [n, density, heaviest, factors] :
         {std::tuple{12, 1.0, 1U, 2}, std::tuple{12, 1.0, 600U, 3}, std::tuple{16, 1.0, 600U, 4},
          std::tuple{16, 1.0, 599U, 4}, std::tuple{17, 1.0, 600U, 0}, std::tuple{36, 0.3, 1U, 3},
          std::tuple{36, 0.8, 1U, 4}, std::tuple{40, 0.7, 1U, 4}}) {
        const auto matrix = random_matrix(n, density, heaviest, static_cast<unsigned>(n));
        CHECK_EQUAL(GlynnMatrix(matrix, n).factors(), factors);
        CHECK(words(matrix, n, isa) == words(matrix, n, Isa::portable));
    }
}

void kept_bits_are_those_of_the_whole_sum(Isa isa) {
    const auto cut = [](std::array<std::uint64_t, 3> words, int bits) {
        for (int k = 0; k < 3; ++k) {
            const int left = bits - 64 * k;
            auto& word = words[static_cast<std::size_t>(k)];
            word = left <= 0 ? 0 : left >= 64 ? word : word & ((std::uint64_t{1} << left) - 1);
        }
        return words;
    };
    // Seven and eight groups of rows, light and heavy ones up to 2^15.
    for (const auto& [n, density, heaviest, kept] :
         {std::tuple{30, 0.5, 1U, true}, std::tuple{32, 0.5, 1U, true},
          std::tuple{12, 1.0, 600U, false}, std::tuple{8, 1.0, 4000U, true},
          std::tuple{8, 1.0, 3000U, true}, std::tuple{26, 0.5, 1U, false},
          std::tuple{36, 0.5, 1U, false}}) {
        const GlynnMatrix matrix(random_matrix(n, density, heaviest, static_cast<unsigned>(n)), n);
        CHECK_EQUAL(matrix.kept_bits() > 0, kept);
        if (matrix.kept_bits() == 0) continue;
        CHECK(matrix.kept_bits() >= 104 && matrix.kept_bits() <= 104 + n);
        std::array<std::uint64_t, 3> some{};
        std::array<std::uint64_t, 3> all{};
        const std::uint64_t units = std::min<std::uint64_t>(glynn_units(n), 2);
        glynn_count_kept(matrix, 0, units, isa, some);
        glynn_count(matrix, 0, units, isa, all);
        CHECK(cut(some, matrix.kept_bits()) == cut(all, matrix.kept_bits()));
    }
}

void ranges_add_up(Isa isa) {
    const int n = isa == Isa::portable ? 22 : 24;
    const auto matrix = random_matrix(n, 0.5, 1, 77);
    const std::uint64_t units = glynn_units(n);
    CHECK_EQUAL(units, std::uint64_t{1} << (n - 21));
    std::array<std::uint64_t, 2> whole{};
    std::array<std::uint64_t, 2> parts{};
    glynn_count({matrix, n}, 0, units, isa, whole);
    glynn_count({matrix, n}, 1, units, isa, parts);
    glynn_count({matrix, n}, 0, 1, isa, parts);
    glynn_count({matrix, n}, 1, 1, isa, parts);
    CHECK(whole == parts);
    if (isa != Isa::avx512) return;
    std::vector<std::uint64_t> all(2 * matrix.size());
    std::vector<std::uint64_t> some(2 * matrix.size());
    glynn_minors({matrix, n}, 0, units, isa, all);
    glynn_minors({matrix, n}, 3, units, isa, some);
    glynn_minors({matrix, n}, 0, 3, isa, some);
    CHECK(all == some);
}

void minors_expand_to_the_count(Isa isa) {
    for (int n = 8; n <= (isa == Isa::avx512 ? 22 : 12); ++n) {
        check_expansion(random_matrix(n, 0.5, 1, static_cast<unsigned>(n)), n, isa);
        check_expansion(random_matrix(n, 0.4, 3, static_cast<unsigned>(n)), n, isa);
        check_expansion(Matrix(static_cast<std::size_t>(n * n), 1), n, isa);
    }
}

long double wide(std::span<const std::uint64_t> words) {
    long double sum = 0;
    for (std::size_t k = words.size(); k-- > 0;)
        sum = std::ldexp(sum, 64) + static_cast<long double>(words[k]);
    return sum;
}

// Against the exact integers; long double holds them and the differences well enough to judge.
void floating_sums_keep_their_bound(Isa isa) {
    for (const int n : {1, 2, 5, 7, 8, 9, 12, 13, 17}) {
        if (n > 13 && isa == Isa::portable) continue;
        for (const std::uint32_t heaviest : {1U, 1000U}) {
            if (n > 13 && heaviest > 1) continue;  // would not fit three words
            const auto matrix = random_matrix(n, 0.7, heaviest, static_cast<unsigned>(n + 40));
            std::vector<double> weights;
            for (const auto weight : matrix) weights.push_back(weight / 1024.0);
            const long double scale = std::pow(1024.0L, n);
            std::array<std::uint64_t, 3> exact{};
            glynn_count({matrix, n}, 0, glynn_units(n), best_isa(), exact);
            const GlynnSum sum = glynn_count_double(weights, n, 0, glynn_units(n), isa);
            CHECK(std::abs(sum.sum - wide(exact) / scale) <= glynn_rounding(n) * sum.absolute);
            CHECK(sum.absolute >= sum.sum);
        }
    }
}

/// The error of floating minors of matrix / 2^shift against the exact ones, in units of its bound.
long double worst_error(const Matrix& matrix, int n, int shift, Isa isa) {
    std::vector<double> weights;
    for (const auto weight : matrix) weights.push_back(std::ldexp(weight, -shift));
    std::vector<double> minor(matrix.size());
    std::vector<double> errors(static_cast<std::size_t>(n));
    glynn_minors_double(weights, n, 0, glynn_units(n), isa, minor);
    glynn_minors_errors(weights, n, 1, errors);
    std::vector<std::uint64_t> exact(3 * matrix.size());
    glynn_minors({matrix, n}, 0, glynn_units(n), best_isa(), exact);
    long double worst = 0;
    for (std::size_t k = 0; k < minor.size(); ++k) {
        const long double truth =
            std::ldexp(wide(std::span(exact).subspan(3 * k, 3)), -shift * (n - 1));
        worst =
            std::max(worst, std::abs(minor[k] - truth) / errors[k / static_cast<std::size_t>(n)]);
    }
    return worst;
}

void floating_minors_keep_their_bound(Isa isa) {
    for (int n = 1; n <= 20; ++n) {
        if (n > 12 && (isa == Isa::portable || best_isa() != Isa::avx512))
            continue;  // would take long
        if (n > 14 && n < 20) continue;
        for (const double density : {0.15, 0.5, 1.0})
            for (const std::uint32_t heaviest : {1U, 7U, 1000U}) {
                if (n > 15 && heaviest > 7) continue;  // would not fit three words
                const auto matrix = random_matrix(n, density, heaviest, static_cast<unsigned>(n));
                CHECK(worst_error(matrix, n, 0, isa) <= 1);
                CHECK(worst_error(matrix, n, 10, isa) <= 1);
            }
    }
}

// Weights of 53 bits, so that the scaled ones are rounded: minors by the definition, in long
// double.
void weights_of_any_size_keep_their_bound(Isa isa) {
    std::mt19937_64 generator(11);
    std::uniform_real_distribution<double> chance(0, 1);
    for (const int n : {3, 8}) {
        const auto side = static_cast<std::size_t>(n);
        std::vector<double> weights(side * side);
        for (auto& weight : weights)
            weight = chance(generator) < 0.8 ? std::exp(20 * chance(generator) - 10) : 0;
        std::vector<double> minor(weights.size());
        std::vector<double> errors(side);
        glynn_minors_double(weights, n, 0, 1, isa, minor);
        glynn_minors_errors(weights, n, 1, errors);
        for (std::size_t i = 0; i < side; ++i)
            for (std::size_t j = 0; j < side; ++j) {
                std::vector<long double> reached(std::size_t{1} << n);
                reached[0] = 1;
                for (std::size_t row = 0; row < side; ++row) {
                    if (row == i) continue;
                    for (std::size_t set = reached.size(); set-- > 0;) {
                        const long double ways = reached[set];
                        reached[set] = 0;
                        for (std::size_t column = 0; column < side; ++column)
                            if (column != j && (set >> column & 1) == 0)
                                reached[set | std::size_t{1} << column] +=
                                    ways * weights[row * side + column];
                    }
                }
                const std::size_t rest = reached.size() - 1 - (std::size_t{1} << j);
                CHECK(std::abs(minor[i * side + j] - std::ldexp(reached[rest], n - 1)) <=
                      errors[i]);
            }
    }
}

void floating_ranges_add_up(Isa isa) {
    const int n = 22;
    const auto matrix = random_matrix(n, 0.5, 1, 9);
    const std::vector<double> weights(matrix.begin(), matrix.end());
    const GlynnSum one = glynn_count_double(weights, n, 0, 1, isa);
    const GlynnSum two = glynn_count_double(weights, n, 1, 2, isa);
    const u128 exact = count(matrix, n, best_isa());
    const double error = one.sum + two.sum - std::ldexp(static_cast<double>(exact), n - 1);
    CHECK(std::abs(error) <= glynn_rounding(n) * (one.absolute + two.absolute));
    CHECK(one.absolute + two.absolute <
          0x1p20 * (one.sum + two.sum));  // so the bound says something

    std::vector<double> minor(matrix.size());
    std::vector<double> errors(static_cast<std::size_t>(n));
    glynn_minors_double(weights, n, 1, 2, isa, minor);
    glynn_minors_double(weights, n, 0, 1, isa, minor);
    glynn_minors_errors(weights, n, 2, errors);
    double sum = 0;
    for (std::size_t j = 0; j < 22; ++j) sum += weights[j] * minor[j];
    CHECK(std::abs(sum - std::ldexp(static_cast<double>(exact), n - 1)) <= 22 * errors[0]);
    CHECK(22 * errors[0] < 1e-6 * sum);
}

}  // namespace

int main() {
    CHECK(supported(Isa::portable));
    CHECK(supported(best_isa()));
    CHECK_EQUAL(glynn_units(21), 1U);
    CHECK_EQUAL(glynn_units(22), 2U);
    for (const Isa isa : paths()) {
        agrees_with_the_definition(isa);
        one_by_one_and_zero_rows(isa);
        complete_graphs_and_derangements(isa);
        paths_agree_on_every_shape(isa);
        heavy_rows_take_more_factors(isa);
        kept_bits_are_those_of_the_whole_sum(isa);
        ranges_add_up(isa);
        minors_expand_to_the_count(isa);
        floating_sums_keep_their_bound(isa);
        floating_minors_keep_their_bound(isa);
        weights_of_any_size_keep_their_bound(isa);
        if (isa != Isa::portable) floating_ranges_add_up(isa);
    }
    return check::report("test_glynn");
}
