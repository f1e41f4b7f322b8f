#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "nested_bound/nested_bound.hpp"

namespace {

using anonymatch::NestedBound;

struct Block {
    std::int32_t n;
    std::vector<std::int32_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> logs;

    [[nodiscard]] NestedBound nested_bound() const {
        return NestedBound({n, n, indptr, indices}, logs);
    }
};

/// A random block with a diagonal, so that a matching exists.
Block random_block(std::int32_t n, double density, double spread, std::mt19937_64& random) {
    Block block{n, {0}, {}, {}};
    std::uniform_real_distribution<double> unit;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j) {
            if (i != j && unit(random) >= density) continue;
            block.indices.push_back(j);
            block.logs.push_back(spread * (unit(random) - 0.5));
        }
        block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
    }
    return block;
}

/// By definition: the weight of every matching, in the order of std::next_permutation.
double by_definition(const Block& block, std::map<std::vector<std::int32_t>, double>* weights) {
    const auto n = static_cast<std::size_t>(block.n);
    std::vector<double> matrix(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(block.indptr[i]);
             k < static_cast<std::size_t>(block.indptr[i + 1]); ++k)
            matrix[i * n + static_cast<std::size_t>(block.indices[k])] = std::exp(block.logs[k]);
    std::vector<std::int32_t> columns(n);
    for (std::size_t i = 0; i < n; ++i) columns[i] = static_cast<std::int32_t>(i);
    double sum = 0;
    do {
        double product = 1;
        for (std::size_t i = 0; i < n; ++i)
            product *= matrix[i * n + static_cast<std::size_t>(columns[i])];
        if (product > 0 && weights != nullptr) (*weights)[columns] = product;
        sum += product;
    } while (std::ranges::next_permutation(columns).found);
    return sum;
}

void bounds_hold_and_draws_stay_below() {
    std::mt19937_64 random(1);
    for (int k = 0; k < 60; ++k) {
        const auto n = static_cast<std::int32_t>(1 + k % 7);
        const Block block = random_block(n, 0.1 * (1 + k % 10), k % 3 == 0 ? 0.0 : 4.0, random);
        NestedBound nested_bound = block.nested_bound();
        const double log_count = std::log(by_definition(block, nullptr));
        const double before = nested_bound.log_bound();
        CHECK(before >= log_count);
        nested_bound.improve(200, 3);
        CHECK(nested_bound.log_bound() >= log_count);
        CHECK(nested_bound.log_bound() <= before + 1e-9);
        double sum = 0;
        const auto draws = nested_bound.draws(5, 0, 500);
        for (const double draw : draws) {
            CHECK(draw >= 0 && draw <= 1);
            sum += draw;
        }
        const double mean = std::exp(log_count - nested_bound.log_bound());
        CHECK(std::abs(sum / static_cast<double>(draws.size()) - mean) < 0.08);
    }
}

void a_permutation_needs_one_draw() {
    const Block block{3, {0, 1, 2, 3}, {2, 0, 1}, {-300.0, 5.0, 40.0}};
    const NestedBound nested_bound = block.nested_bound();
    CHECK(std::abs(nested_bound.log_bound() + 255.0) < 1e-9);
    for (const double draw : nested_bound.draws(1, 0, 2)) CHECK(std::abs(draw - 1.0) < 1e-9);
    const auto samples = nested_bound.samples(1, 0, 1);
    CHECK_EQUAL(samples.columns.size(), 3 * samples.indices.size());
    CHECK_EQUAL(samples.columns[0], 2);
    CHECK_EQUAL(samples.columns[1], 0);
}

void ranges_join() {
    std::mt19937_64 random(2);
    const Block block = random_block(9, 0.5, 1.0, random);
    const NestedBound nested_bound = block.nested_bound();
    const std::vector<double> bets{0.2, 0.9};
    const auto whole = nested_bound.tally(7, 0, 20, bets, bets);
    const auto one = nested_bound.tally(7, 0, 11, bets, bets);
    const auto other = nested_bound.tally(7, 11, 20, bets, bets);
    CHECK(std::abs(one.sum + other.sum - whole.sum) < 1e-12);
    CHECK(std::abs(one.losses[1] + other.losses[1] - whole.losses[1]) < 1e-12);
    CHECK(std::abs(one.gains[0] + other.gains[0] - whole.gains[0]) < 1e-12);
    double gains = 0;
    for (const double draw : nested_bound.draws(7, 0, 20)) gains += std::log(1 + 0.2 * draw);
    CHECK(std::abs(gains - whole.gains[0]) < 1e-9);
}

void samples_follow_the_weights() {
    std::mt19937_64 random(3);
    const Block block = random_block(4, 0.7, 2.0, random);
    std::map<std::vector<std::int32_t>, double> weights;
    const double count = by_definition(block, &weights);
    const auto samples = block.nested_bound().samples(11, 0, 6000);
    const auto size = static_cast<double>(samples.indices.size());
    std::map<std::vector<std::int32_t>, double> seen;
    for (std::size_t k = 0; k < samples.indices.size(); ++k)
        seen[{samples.columns.begin() + static_cast<std::ptrdiff_t>(4 * k),
              samples.columns.begin() + static_cast<std::ptrdiff_t>(4 * k + 4)}] += 1;
    double chi = 0;
    for (const auto& [columns, weight] : weights) {
        const double expected = size * weight / count;
        chi += (seen[columns] - expected) * (seen[columns] - expected) / expected;
    }
    CHECK_EQUAL(seen.size(), weights.size());
    CHECK(chi < 3.0 * static_cast<double>(weights.size()) + 10);
}

/// Products of a thousand factors stay in range, and forced rows are found.
void long_blocks_stay_in_range() {
    Block block{1500, {0}, {}, {}};
    for (std::int32_t i = 0; i < block.n; ++i) {
        for (std::int32_t j = std::max(0, i - 1); j <= std::min(block.n - 1, i + 1); ++j) {
            block.indices.push_back(j);
            block.logs.push_back(i == j ? 100.0 : 0.0);
        }
        block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
    }
    const NestedBound nested_bound = block.nested_bound();
    CHECK(std::abs(nested_bound.log_bound() - 150000.0) < 1.0);
    for (const double draw : nested_bound.draws(1, 0, 1)) CHECK(draw > 0.3 && draw <= 1.0);
}

}  // namespace

int main() {
    bounds_hold_and_draws_stay_below();
    a_permutation_needs_one_draw();
    ranges_join();
    samples_follow_the_weights();
    long_blocks_stay_in_range();
    return check::report("test_nested_bound");
}
