#include <cstddef>
#include <random>
#include <vector>

#include "check.hpp"
#include "class_sums/class_sums.hpp"

using namespace anonymatch;

namespace {

__extension__ typedef unsigned __int128 u128;
using Word = std::uint64_t;
using Words = std::vector<Word>;

constexpr Word prime = (Word{1} << 50) - 27;  // the largest below 2^50

Word times(Word a, Word b) {
    return static_cast<Word>(static_cast<u128>(a) * b % prime);
}

Word power(Word base, Word exponent) {
    Word result = 1;
    for (; exponent > 0; exponent >>= 1, base = times(base, base))
        if (exponent & 1) result = times(result, base);
    return result;
}

struct Input {
    Words weights, points, factors;
    std::vector<std::int32_t> sizes, orders;

    [[nodiscard]] ClassSums sums() const {
        return {weights, sizes, orders, points, factors, prime};
    }
};

// Residues at the upper end of the range, where sums and products are largest.
Input large_input(std::vector<std::int32_t> sizes, std::vector<std::int32_t> orders) {
    std::mt19937_64 generator(sizes.size() * 100 + orders.size());
    const auto residues = [&](std::size_t number) {
        Words made(number);
        for (Word& one : made) one = prime - 1 - generator() % 1000;
        return made;
    };
    std::size_t points = 0;
    for (const auto order : orders) points += static_cast<std::size_t>(order);
    return {residues(sizes.size() * (orders.size() + 1)), residues(points), residues(points), sizes,
            orders};
}

// By the definition, point by point; the last result is the count.
Words plainly(const Input& input) {
    const std::size_t rows = input.sizes.size();
    const std::size_t columns = input.orders.size() + 1;
    Words result(rows * columns + 1);
    std::vector<std::size_t> at(columns - 1);
    while (true) {
        Words x(columns, 1);
        Word factor = 1;
        for (std::size_t j = 0, offset = 0; j + 1 < columns; ++j) {
            x[j] = input.points[offset + at[j]];
            factor = times(factor, input.factors[offset + at[j]]);
            offset += static_cast<std::size_t>(input.orders[j]);
        }
        Words forms(rows);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                forms[i] = (forms[i] + times(input.weights[i * columns + j], x[j])) % prime;
        const auto product = [&](std::size_t without) {
            Word all = factor;
            for (std::size_t i = 0; i < rows; ++i)
                all = times(all, power(forms[i],
                                       static_cast<Word>(input.sizes[i]) - (i == without ? 1 : 0)));
            return all;
        };
        result.back() = (result.back() + product(rows)) % prime;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) {
                Word& one = result[i * columns + j];
                one = (one + times(product(i), x[j])) % prime;
            }
        std::size_t j = 0;
        while (j + 1 < columns && ++at[j] == static_cast<std::size_t>(input.orders[j])) at[j++] = 0;
        if (j + 1 == columns) return result;
    }
}

std::vector<Isa> paths() {
    std::vector<Isa> all{Isa::portable};
    if (supported(Isa::avx512)) all.push_back(Isa::avx512);
    return all;
}

const std::vector<Input> inputs{large_input({5}, {}),
                                large_input({1, 1}, {2}),
                                large_input({7, 3, 3, 1}, {7, 5}),
                                large_input({4, 2, 2}, {130}),
                                large_input({3, 2}, {9, 8, 9, 7}),
                                large_input({13, 12, 12, 12, 1}, {6, 5, 4, 11, 13})};

void agrees_with_the_definition() {
    for (const Input& input : inputs) {
        Words expected = plainly(input);
        const Word count = expected.back();
        expected.pop_back();
        for (const Isa isa : paths()) {
            const ClassSums sums = input.sums();
            CHECK_EQUAL(sums.count(0, sums.units(), isa), count);
            CHECK(sums.minors(0, sums.units(), isa) == expected);
        }
    }
}

void ranges_add_up() {
    const ClassSums sums = inputs.back().sums();
    CHECK_EQUAL(sums.units(), 120U);
    for (const Isa isa : paths()) {
        Word count = 0;
        Words minors(30);
        for (const auto& [first, last] : {std::pair{0U, 1U}, {1U, 50U}, {50U, 50U}, {50U, 120U}}) {
            count = (count + sums.count(first, last, isa)) % prime;
            const Words part = sums.minors(first, last, isa);
            for (std::size_t k = 0; k < minors.size(); ++k)
                minors[k] = (minors[k] + part[k]) % prime;
        }
        CHECK_EQUAL(count, sums.count(0, 120, isa));
        CHECK(minors == sums.minors(0, 120, isa));
    }
}

// So many points that sums have to be reduced on the way: both paths reduce at different times.
void long_sums_do_not_overflow() {
    for (const Input& input :
         {large_input({2, 1}, {70000}), large_input({2, 1}, {100, 100, 100})}) {
        const ClassSums sums = input.sums();
        const Words expected = plainly(input);
        for (const Isa isa : paths()) {
            CHECK_EQUAL(sums.count(0, sums.units(), isa), expected.back());
            const Words minors = sums.minors(0, sums.units(), isa);
            for (std::size_t k = 0; k < minors.size(); ++k) CHECK_EQUAL(minors[k], expected[k]);
        }
    }
}

}  // namespace

int main() {
    agrees_with_the_definition();
    ranges_add_up();
    long_sums_do_not_overflow();
    return check::report("test_class_sums");
}
