#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "glynn/glynn.hpp"
#include "ryser/ryser.hpp"

using namespace anonymatch;

namespace {

__extension__ typedef unsigned __int128 u128;
using Matrix = std::vector<std::uint32_t>;

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

Matrix band(int n, int width) {
    Matrix matrix(static_cast<std::size_t>(n * n));
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < width; ++k) matrix[static_cast<std::size_t>(i * n + (i + k) % n)] = 1;
    return matrix;
}

std::vector<std::int32_t> order_of(const Matrix& matrix, int n) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    CHECK(ryser_order(matrix, n, 500, 1, order) > 0);
    return order;
}

u128 count(const Matrix& matrix, int n, std::span<const std::int32_t> order) {
    std::array<std::uint64_t, 2> out{};
    ryser_count(matrix, n, order, 0, ryser_units(n), out);
    return static_cast<u128>(out[1]) << 64 | out[0];
}

u128 by_glynn(const Matrix& matrix, int n) {
    std::array<std::uint64_t, 2> out{};
    glynn_count({matrix, n}, 0, glynn_units(n), best_isa(), out);
    return (static_cast<u128>(out[1]) << 64 | out[0]) >> (n - 1);
}

void agrees_with_glynn() {
    for (int n = 1; n <= 16; ++n)
        for (const double density : {0.2, 0.5, 1.0})
            for (const std::uint32_t heaviest : {1U, 3U, 40U}) {
                if (n > 12 && heaviest > 3) continue;  // 2^(n-1) per would not fit two words
                const auto matrix = random_matrix(n, density, heaviest, static_cast<unsigned>(n));
                const auto order = order_of(matrix, n);
                CHECK(count(matrix, n, order) == by_glynn(matrix, n));
                std::array<std::uint64_t, 1> low{};
                ryser_count(matrix, n, order, 0, ryser_units(n), low);
                CHECK(low[0] == static_cast<std::uint64_t>(by_glynn(matrix, n)));
            }
}

void any_order_gives_the_same() {
    const int n = 12;
    const auto matrix = random_matrix(n, 0.4, 1, 3);
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    const u128 expected = by_glynn(matrix, n);
    std::mt19937 generator(1);
    for (int k = 0; k < 10; ++k) {
        std::shuffle(order.begin(), order.end(), generator);
        CHECK(count(matrix, n, order) == expected);
    }
}

// Rings of three: the Lucas number of n, and two for the rotations.
void rings_of_three() {
    std::array<std::uint64_t, 29> lucas{2, 1};
    for (std::size_t n = 2; n < lucas.size(); ++n) lucas[n] = lucas[n - 1] + lucas[n - 2];
    for (const int n : {3, 10, 24, 25, 28}) {
        const auto matrix = band(n, 3);
        CHECK(count(matrix, n, order_of(matrix, n)) == lucas[static_cast<std::size_t>(n)] + 2);
    }
}

void ranges_add_up() {
    const int n = 26;
    const auto matrix = random_matrix(n, 0.2, 1, 8);
    const auto order = order_of(matrix, n);
    CHECK_EQUAL(ryser_units(n), 4096U);
    std::array<std::uint64_t, 2> parts{};
    for (const auto& [first, last] :
         {std::pair{0, 1000}, std::pair{1000, 1000}, std::pair{1000, 4096}})
        ryser_count(matrix, n, order, static_cast<std::uint64_t>(first),
                    static_cast<std::uint64_t>(last), parts);
    CHECK((static_cast<u128>(parts[1]) << 64 | parts[0]) == count(matrix, n, order));
    CHECK(count(matrix, n, order) == by_glynn(matrix, n));
}

void prefixes_are_counted_exactly_where_nothing_is_cut() {
    const Matrix empty_corner{1, 1, 1, 0};
    std::vector<std::int32_t> order{1, 0};
    // Offsets 1 and 0: column 1 first leaves row 0 open; out or in, then column 0 completes both rows.
    CHECK(count(empty_corner, 2, order) == 1);
    CHECK(ryser_prefixes(empty_corner, 2, order, 1000, 1) <= 6);
    const Matrix nothing(9, 0);
    std::vector<std::int32_t> any{0, 1, 2};
    CHECK(ryser_prefixes(nothing, 3, any, 10, 1) == 0);
    CHECK(count(nothing, 3, any) == 0);
}

}  // namespace

int main() {
    agrees_with_glynn();
    any_order_gives_the_same();
    rings_of_three();
    ranges_add_up();
    prefixes_are_counted_exactly_where_nothing_is_cut();
    return check::report("test_ryser");
}
