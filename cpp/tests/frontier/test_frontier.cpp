// The frontier programme against the definition, known counts and itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "check.hpp"
#include "frontier/frontier.hpp"

namespace {

using namespace anonymatch;

__extension__ typedef unsigned __int128 u128;

// The largest primes below 2^62 and 2^63, and the seven before the latter.
const std::vector<std::uint64_t> primes = {4611686018427387847U, 9223372036854775783U,
                                           9223372036854775643U, 9223372036854775549U,
                                           9223372036854775507U};

struct Block {
    std::int32_t n_rows = 0;
    std::int32_t n_columns = 0;
    std::vector<std::int32_t> indptr{0};
    std::vector<std::int32_t> indices;

    void add_row(std::vector<std::int32_t> columns) {
        std::sort(columns.begin(), columns.end());
        indices.insert(indices.end(), columns.begin(), columns.end());
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
        ++n_rows;
    }
    [[nodiscard]] BlockView view() const { return {n_rows, n_columns, indptr, indices}; }
    [[nodiscard]] std::size_t edges() const { return indices.size(); }
};

Block ring(std::int32_t n, std::int32_t k) {
    Block block;
    block.n_columns = n;
    for (std::int32_t row = 0; row < n; ++row) {
        std::vector<std::int32_t> columns;
        for (std::int32_t step = 0; step < k; ++step) columns.push_back((row + step) % n);
        block.add_row(columns);
    }
    return block;
}

Block random_block(std::mt19937& random, std::int32_t n_rows, std::int32_t n_columns) {
    Block block;
    block.n_columns = n_columns;
    std::bernoulli_distribution there(0.5);
    for (std::int32_t row = 0; row < n_rows; ++row) {
        std::vector<std::int32_t> columns;
        for (std::int32_t column = 0; column < n_columns; ++column)
            if (column % n_rows == row || there(random)) columns.push_back(column);
        block.add_row(columns);
    }
    return block;
}

/// Squares of a board, black as rows and white as columns: matchings are domino tilings.
Block board(std::int32_t height, std::int32_t width) {
    Block block;
    block.n_columns = height * width / 2;
    for (std::int32_t y = 0; y < height; ++y)
        for (std::int32_t x = 0; x < width; ++x) {
            if ((x + y) % 2 != 0) continue;
            std::vector<std::int32_t> columns;
            const auto add = [&](std::int32_t v, std::int32_t u) {
                if (v >= 0 && v < height && u >= 0 && u < width)
                    columns.push_back((v * width + u) / 2);
            };
            add(y - 1, x);
            add(y + 1, x);
            add(y, x - 1);
            add(y, x + 1);
            block.add_row(columns);
        }
    return block;
}

/// By definition: the sum over matchings of the products, and all minors.
struct Truth {
    u128 count = 0;
    std::vector<u128> minors;
    std::map<std::vector<std::int32_t>, u128> matchings;
};

void extend(const Block& block, const std::vector<std::uint64_t>& weights,
            std::vector<std::int32_t>& edges, std::uint64_t used, u128 product, Truth& truth) {
    const std::size_t row = edges.size();
    if (row == static_cast<std::size_t>(block.n_rows)) {
        truth.count += product;
        std::vector<std::int32_t> matching;
        for (const std::int32_t edge : edges) {
            const auto e = static_cast<std::size_t>(edge);
            truth.minors[e] += product / weights[e];
            matching.push_back(block.indices[e]);
        }
        truth.matchings[matching] = product;
        return;
    }
    for (std::int32_t edge = block.indptr[row]; edge < block.indptr[row + 1]; ++edge) {
        const auto e = static_cast<std::size_t>(edge);
        const std::uint64_t bit = std::uint64_t{1} << block.indices[e];
        if ((used & bit) != 0) continue;
        edges.push_back(edge);
        extend(block, weights, edges, used | bit, product * weights[e], truth);
        edges.pop_back();
    }
}

Truth by_definition(const Block& block, const std::vector<std::uint64_t>& weights) {
    Truth truth;
    truth.minors.assign(block.edges(), 0);
    std::vector<std::int32_t> edges;
    extend(block, weights, edges, 0, 1, truth);
    return truth;
}

std::vector<std::uint64_t> residues(u128 value, std::size_t n_primes) {
    std::vector<std::uint64_t> words = {static_cast<std::uint64_t>(value)};
    for (std::size_t k = 0; k < n_primes; ++k)
        words.push_back(static_cast<std::uint64_t>(value % primes[k]));
    return words;
}

void finish(Frontier& job) {
    while (!job.run(1e6)) {
    }
}

double value_of(const ScaledReal& real) {
    return std::scalbn(real.mantissa, static_cast<int>(real.exponent));
}

void check_block(const Block& block, const std::vector<std::uint64_t>& weights, bool weighted,
                 const std::vector<std::int32_t>& order) {
    const Truth truth = by_definition(block, weights);
    for (const std::size_t n_primes : {0U, 1U, 2U, 3U, 5U}) {
        std::vector<std::uint64_t> weight_words;
        if (weighted)
            for (const std::uint64_t weight : weights) {
                const auto words = residues(weight, n_primes);
                weight_words.insert(weight_words.end(), words.begin(), words.end());
            }
        const FrontierWords values{{primes.data(), n_primes}, weight_words};
        Frontier count(block.view(), order, values, FrontierTask::count);
        finish(count);
        CHECK(count.count_words() == residues(truth.count, n_primes));
        for (const std::size_t limit : {0U, 1U, 400U}) {
            Frontier edges(block.view(), order, values, FrontierTask::edges, limit);
            while (!edges.run(1)) {
            }
            CHECK(edges.count_words() == residues(truth.count, n_primes));
            std::vector<std::uint64_t> minors;
            for (const u128 minor : truth.minors) {
                const auto words = residues(minor, n_primes);
                minors.insert(minors.end(), words.begin(), words.end());
            }
            CHECK(edges.edge_words() == minors);
        }
    }
    const std::vector<double> real_weights(weights.begin(),
                                           weighted ? weights.end() : weights.begin());
    const auto exact = static_cast<double>(truth.count);
    for (const std::size_t limit : {0U, 1U, 400U}) {
        Frontier real(block.view(), order, FrontierReals{real_weights}, FrontierTask::edges, limit);
        finish(real);
        CHECK(std::abs(value_of(real.count_real()) - exact) <= 1e-13 * exact);
        const auto posteriors = real.posteriors();
        for (std::size_t e = 0; e < block.edges(); ++e)
            CHECK(std::abs(posteriors[e] * exact - static_cast<double>(weights[e]) *
                                                       static_cast<double>(truth.minors[e])) <=
                  1e-12 * exact);
    }
}

void test_random_blocks_agree_with_the_definition() {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        const std::int32_t n_rows = 1 + round % 7;
        const std::int32_t n_columns = n_rows + (round % 2 == 0 ? 0 : round % 3);
        const Block block = random_block(random, n_rows, n_columns);
        std::vector<std::int32_t> order(static_cast<std::size_t>(n_rows));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<std::uint64_t> weights(block.edges(), 1);
        check_block(block, weights, false, order);
        std::uniform_int_distribution<std::uint64_t> any(1, 60000);
        for (std::uint64_t& weight : weights) weight = any(random);
        check_block(block, weights, true, order);
    }
}

void test_rings_of_three_have_lucas_numbers_plus_two() {
    for (const std::int32_t n : {3, 4, 17, 200}) {
        const Block block = ring(n, 3);
        const FrontierPlan plan = plan_frontier(block.view());
        CHECK(plan.feasible);
        Frontier job(block.view(), plan.order, FrontierWords{primes, {}}, FrontierTask::edges);
        finish(job);
        CHECK(job.transitions_done() <= 2 * plan.transitions);
        const auto words = job.count_words();
        const auto edges = job.edge_words();
        for (std::size_t k = 0; k < words.size(); ++k) {
            const auto reduced = [&](u128 value) {
                return static_cast<std::uint64_t>(k == 0 ? value : value % primes[k - 1]);
            };
            std::uint64_t before = 2;
            std::uint64_t lucas = 1;
            for (std::int32_t step = 1; step < n; ++step)
                before = std::exchange(lucas, reduced(u128{before} + lucas));
            CHECK_EQUAL(words[k], reduced(u128{lucas} + 2));
            for (std::int32_t row = 0; row < n; ++row) {
                u128 total = 0;
                for (std::int32_t edge = 3 * row; edge < 3 * row + 3; ++edge)
                    total += edges[static_cast<std::size_t>(edge) * words.size() + k];
                CHECK_EQUAL(words[k], reduced(total));
            }
        }
    }
}

void test_known_counts() {
    const Block chess = board(8, 8);
    Frontier tilings(chess.view(), plan_frontier(chess.view()).order, FrontierWords{},
                     FrontierTask::count);
    finish(tilings);
    CHECK_EQUAL(tilings.count_words()[0], 12988816U);

    Block crown;
    crown.n_columns = 12;
    for (std::int32_t row = 0; row < 12; ++row) {
        std::vector<std::int32_t> columns;
        for (std::int32_t column = 0; column < 12; ++column)
            if (column != row) columns.push_back(column);
        crown.add_row(columns);
    }
    Frontier derangements(crown.view(), plan_frontier(crown.view()).order, FrontierWords{},
                          FrontierTask::count);
    finish(derangements);
    CHECK_EQUAL(derangements.count_words()[0], 176214841U);
}

void test_no_matching_counts_zero() {
    Block block;
    block.n_columns = 3;
    block.add_row({0});
    block.add_row({0});
    block.add_row({0, 1, 2});
    const std::vector<std::int32_t> order = {0, 1, 2};
    Frontier words(block.view(), order, FrontierWords{}, FrontierTask::edges);
    finish(words);
    CHECK_EQUAL(words.count_words()[0], 0U);
    Frontier real(block.view(), order, FrontierReals{}, FrontierTask::edges);
    finish(real);
    CHECK(real.count_real().mantissa == 0);
    Frontier samples(block.view(), order, FrontierReals{}, 5, 1);
    finish(samples);
    CHECK(samples.samples().empty());
}

void test_long_rings_in_doubles_keep_their_scale() {
    const std::int32_t n = 20000;
    const Block block = ring(n, 3);
    const FrontierPlan plan = plan_frontier(block.view());
    Frontier job(block.view(), plan.order, FrontierReals{}, FrontierTask::edges, 100000);
    finish(job);
    const ScaledReal count = job.count_real();
    const double bits = static_cast<double>(count.exponent) + std::log2(count.mantissa);
    CHECK(std::abs(bits - n * std::log2((1 + std::sqrt(5.0)) / 2)) < 1e-7);
    const auto posteriors = job.posteriors();
    CHECK(std::abs(posteriors[3] + posteriors[4] + posteriors[5] - 1) < 1e-14);
}

void test_samples_have_the_right_frequencies() {
    std::mt19937 random(7);
    for (const std::int32_t n_columns : {4, 5}) {
        const Block block = random_block(random, 4, n_columns);
        std::vector<std::uint64_t> weights(block.edges());
        for (std::uint64_t& weight : weights) weight = 1 + random() % 5;
        const std::vector<double> real_weights(weights.begin(), weights.end());
        const Truth truth = by_definition(block, weights);
        const std::vector<std::int32_t> order = {2, 0, 3, 1};
        constexpr std::size_t size = 100000;
        Frontier job(block.view(), order, FrontierReals{real_weights}, size, 42);
        finish(job);
        const auto samples = job.samples();
        Frontier thrifty(block.view(), order, FrontierReals{real_weights}, 10, 42, 1);
        finish(thrifty);
        const auto first = thrifty.samples();
        CHECK(std::equal(first.begin(), first.end(), samples.begin()));
        std::map<std::vector<std::int32_t>, double> seen;
        for (std::size_t k = 0; k < size; ++k)
            seen[{samples.begin() + static_cast<std::ptrdiff_t>(4 * k),
                  samples.begin() + static_cast<std::ptrdiff_t>(4 * k + 4)}] += 1;
        double chi_squared = 0;
        for (const auto& [matching, weight] : truth.matchings) {
            const double expected = static_cast<double>(size) * static_cast<double>(weight) /
                                    static_cast<double>(truth.count);
            chi_squared += std::pow(seen[matching] - expected, 2) / expected;
        }
        CHECK_EQUAL(seen.size(), truth.matchings.size());
        const auto freedom = static_cast<double>(truth.matchings.size() - 1);
        CHECK(chi_squared < freedom + 5 * std::sqrt(2 * freedom));
    }
}

void test_a_raised_flag_stops_the_run() {
    const Block block = ring(100, 5);
    const FrontierPlan plan = plan_frontier(block.view());
    Frontier job(block.view(), plan.order, FrontierWords{}, FrontierTask::edges);
    std::uint8_t flag = 1;
    CHECK(!job.run(1e18, CancelFlag(&flag)));
    CHECK(job.transitions_done() == 0);
    flag = 0;
    CHECK(job.run(1e18, CancelFlag(&flag)));
}

void test_extreme_weights_lose_nothing() {
    const Block block = ring(6, 3);
    const std::vector<std::int32_t> order = {0, 1, 2, 3, 4, 5};
    std::vector<double> weights(block.edges(), 1.0);
    Frontier plain(block.view(), order, FrontierReals{weights}, FrontierTask::edges);
    finish(plain);
    // Scaling rows changes no posterior, even by more than the range of a double in all.
    for (std::size_t edge = 0; edge < 9; ++edge) weights[edge] = edge < 6 ? 1e-300 : 1e290;
    Frontier scaled(block.view(), order, FrontierReals{weights}, FrontierTask::edges);
    finish(scaled);
    for (std::size_t edge = 0; edge < block.edges(); ++edge)
        CHECK(std::abs(plain.posteriors()[edge] - scaled.posteriors()[edge]) < 1e-14);
    const double bits =
        static_cast<double>(scaled.count_real().exponent - plain.count_real().exponent);
    CHECK(std::abs(bits - (290 - 600) * std::log2(10.0)) < 2);
}

void test_scaling_rows_and_columns_changes_no_posterior() {
    std::mt19937 random(11);
    for (int round = 0; round < 10; ++round) {
        const Block block = random_block(random, 6, 6);
        const std::vector<std::int32_t> order = {3, 1, 5, 0, 2, 4};
        const std::vector<double> ones(block.edges(), 1.0);
        std::vector<double> weights;
        std::vector<int> columns(6);
        for (int& shift : columns) shift = static_cast<int>(random() % 900) - 450;
        int exponent = std::accumulate(columns.begin(), columns.end(), 0);
        for (std::size_t row = 0; row < 6; ++row) {
            const int shift = static_cast<int>(random() % 900) - 450;
            exponent += shift;
            for (std::int32_t edge = block.indptr[row]; edge < block.indptr[row + 1]; ++edge) {
                const auto column =
                    static_cast<std::size_t>(block.indices[static_cast<std::size_t>(edge)]);
                weights.push_back(std::scalbn(1.0, shift + columns[column]));
            }
        }
        Frontier plain(block.view(), order, FrontierReals{ones}, FrontierTask::edges);
        Frontier scaled(block.view(), order, FrontierReals{weights}, FrontierTask::edges, 1);
        Frontier plain_samples(block.view(), order, FrontierReals{ones}, 50, 9);
        Frontier scaled_samples(block.view(), order, FrontierReals{weights}, 50, 9);
        for (Frontier* job : {&plain, &scaled, &plain_samples, &scaled_samples}) finish(*job);
        CHECK(plain.count_real().mantissa == scaled.count_real().mantissa);
        CHECK_EQUAL(plain.count_real().exponent + exponent, scaled.count_real().exponent);
        for (std::size_t edge = 0; edge < block.edges(); ++edge)
            CHECK(std::abs(plain.posteriors()[edge] - scaled.posteriors()[edge]) < 1e-13);
        CHECK(plain_samples.samples() == scaled_samples.samples());
    }
}

void test_wide_orders_are_refused() {
    Block block;
    block.n_columns = 70;
    std::vector<std::int32_t> all(70);
    std::iota(all.begin(), all.end(), 0);
    for (std::int32_t row = 0; row < 70; ++row) block.add_row(all);
    const FrontierPlan plan = plan_frontier(block.view());
    CHECK(!plan.feasible);
    CHECK(std::isinf(plan.transitions));
    bool refused = false;
    try {
        Frontier job(block.view(), plan.order, FrontierWords{}, FrontierTask::count);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace

int main() {
    test_random_blocks_agree_with_the_definition();
    test_rings_of_three_have_lucas_numbers_plus_two();
    test_known_counts();
    test_no_matching_counts_zero();
    test_long_rings_in_doubles_keep_their_scale();
    test_samples_have_the_right_frequencies();
    test_a_raised_flag_stops_the_run();
    test_extreme_weights_lose_nothing();
    test_scaling_rows_and_columns_changes_no_posterior();
    test_wide_orders_are_refused();
    return check::report("test_frontier");
}
