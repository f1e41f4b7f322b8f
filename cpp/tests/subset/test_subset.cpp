// The subset programme against the definition, known counts and the frontier programme.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "check.hpp"
#include "subset/subset.hpp"

namespace {

using namespace anonymatch;

double value_of(const ScaledReal& real) {
    return std::scalbn(real.mantissa, static_cast<int>(real.exponent));
}

/// By definition: the sum over permutations, and its part through every edge.
struct Truth {
    double count = 0;
    std::vector<double> through;
};

Truth by_definition(std::size_t n, const std::vector<double>& weights) {
    Truth truth{0, std::vector<double>(n * n, 0.0)};
    std::vector<std::size_t> column(n);
    std::iota(column.begin(), column.end(), std::size_t{0});
    do {
        double product = 1;
        for (std::size_t row = 0; row < n; ++row) product *= weights[row * n + column[row]];
        truth.count += product;
        for (std::size_t row = 0; row < n; ++row) truth.through[row * n + column[row]] += product;
    } while (std::next_permutation(column.begin(), column.end()));
    return truth;
}

void test_random_blocks_agree_with_the_definition() {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(1e-3, 1e3);
    std::bernoulli_distribution there(0.6);
    for (int round = 0; round < 40; ++round) {
        const auto n = static_cast<std::size_t>(1 + round % 8);
        std::vector<double> weights(n * n);
        for (std::size_t k = 0; k < n * n; ++k)
            weights[k] = k % (n + 1) == 0 || there(random) ? any(random) : 0;
        const Truth truth = by_definition(n, weights);
        SubsetProgramme job(static_cast<std::int32_t>(n), weights, true);
        while (!job.run(1)) {
        }
        CHECK(job.subsets_done() == job.subsets_in_all());
        CHECK(std::abs(value_of(job.count_real()) - truth.count) <= 1e-13 * truth.count);
        const auto chances = job.posteriors();
        for (std::size_t k = 0; k < n * n; ++k)
            CHECK(std::abs(chances[k] - truth.through[k] / truth.count) < 1e-13);
    }
}

void test_complete_block_has_n_factorial() {
    const std::vector<double> ones(17 * 17, 1.0);
    SubsetProgramme job(17, ones, true);
    while (!job.run(1e5)) {
    }
    // In full, because std::tgamma may round where the compiler does not compute it.
    CHECK(value_of(job.count_real()) == 355687428096000.0);
    for (const double chance : job.posteriors()) CHECK(std::abs(chance - 1.0 / 17) < 1e-14);
}

void test_agrees_with_the_frontier() {
    constexpr std::int32_t n = 14;
    std::mt19937 random(5);
    std::vector<double> weights(n * n, 0.0);
    std::vector<std::int32_t> indptr{0};
    std::vector<std::int32_t> indices;
    std::vector<double> edge_weights;
    for (std::int32_t row = 0; row < n; ++row) {
        for (std::int32_t column = 0; column < n; ++column) {
            if (row != column && random() % 2 == 0) continue;
            indices.push_back(column);
            edge_weights.push_back(static_cast<double>(1 + random() % 100));
            weights[static_cast<std::size_t>(row * n + column)] = edge_weights.back();
        }
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }
    const BlockView block{n, n, indptr, indices};
    Frontier frontier(block, plan_frontier(block).order, FrontierReals{edge_weights},
                      FrontierTask::edges);
    while (!frontier.run(1e9)) {
    }
    SubsetProgramme job(n, weights, true);
    while (!job.run(1e9)) {
    }
    CHECK(job.count_real().exponent == frontier.count_real().exponent);
    CHECK(std::abs(job.count_real().mantissa - frontier.count_real().mantissa) < 1e-13);
    const auto chances = job.posteriors();
    const auto expected = frontier.posteriors();
    for (std::int32_t row = 0; row < n; ++row)
        for (std::int32_t edge = indptr[static_cast<std::size_t>(row)];
             edge < indptr[static_cast<std::size_t>(row) + 1]; ++edge) {
            const auto e = static_cast<std::size_t>(edge);
            CHECK(std::abs(chances[static_cast<std::size_t>(row * n + indices[e])] - expected[e]) <
                  1e-13);
        }
}

void test_no_matching_counts_zero_and_wild_weights_are_refused() {
    const std::vector<double> none = {1, 0, 0, 1, 0, 0, 1, 1, 1};
    SubsetProgramme job(3, none, true);
    while (!job.run(1e9)) {
    }
    CHECK(job.count_real().mantissa == 0);
    CHECK(job.posteriors()[0] == 0);
    const std::vector<double> wild = {1e-300, 1e300, 1, 1};
    CHECK(!subset_fits(2, wild));
    std::uint8_t flag = 1;
    const std::vector<double> one = {1.0};
    SubsetProgramme stopped(1, one, false);
    CHECK(!stopped.run(1e9, CancelFlag(&flag)));
    CHECK(stopped.run(1e9));
}

}  // namespace

int main() {
    test_random_blocks_agree_with_the_definition();
    test_complete_block_has_n_factorial();
    test_agrees_with_the_frontier();
    test_no_matching_counts_zero_and_wild_weights_are_refused();
    return check::report("test_subset");
}
