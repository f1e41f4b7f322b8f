// Importance sampling: unbiased whatever the options, against counts by definition. All seeds are fixed.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "blocks.hpp"
#include "check.hpp"
#include "importance/importance.hpp"

namespace {

using namespace anonymatch;
using blocks::Block;

struct Mean {
    double value = 0;
    double error = 0;
};

Mean mean_of(const std::vector<double>& logs, double truth) {
    double sum = 0, squares = 0;
    for (const double log : logs) {
        const double weight = std::exp(log - truth);
        sum += weight;
        squares += weight * weight;
    }
    const auto n = static_cast<double>(logs.size());
    const double mean = sum / n;
    return {mean, std::sqrt(std::max(squares / n - mean * mean, 0.0) / n)};
}

/// The mean of the draws is the count, and weighted marginals are the posteriors.
void check_unbiased(const Block& block, const ImportanceOptions& options, std::uint64_t draws) {
    const auto truth = blocks::exact(block);
    const Importance importance(block.view(), options);
    const ImportanceDraws drawn =
        importance.draws(7, 0, draws, {.marginals = true, .matchings = true});
    const Mean mean = mean_of(drawn.log_weights, truth.log);
    CHECK(std::abs(mean.value - 1.0) < 4 * mean.error + 1e-9);
    double total = 0, squares = 0;
    for (const double log : drawn.log_weights) {
        total += std::exp(log - drawn.scale);
        squares += std::exp(2 * (log - drawn.scale));
    }
    const auto n = static_cast<std::size_t>(block.n);
    std::vector<double> sampled(block.indices.size(), 0.0);
    for (std::size_t k = 0; k < drawn.log_weights.size(); ++k) {
        if (std::isinf(drawn.log_weights[k])) continue;
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = block.indices.begin();
            const auto first = row + block.indptr[i], last = row + block.indptr[i + 1];
            const auto place = std::lower_bound(first, last, drawn.matchings[k * n + i]);
            CHECK(place != last && *place == drawn.matchings[k * n + i]);
            sampled[static_cast<std::size_t>(place - row)] +=
                std::exp(drawn.log_weights[k] - drawn.scale) / total;
        }
    }
    for (std::size_t e = 0; e < block.indices.size(); ++e) {
        const double chance = drawn.first[e] / total;
        const double variance =
            drawn.second[e] - 2 * chance * drawn.square[e] + chance * chance * squares;
        const double error = std::sqrt(std::max(variance, 0.0)) / total;
        CHECK(std::abs(chance - truth.posteriors[e]) < 5 * error + 1e-3);
        const double spread = std::sqrt(chance * (1 - chance) / static_cast<double>(draws));
        CHECK(std::abs(sampled[e] - truth.posteriors[e]) < 7 * spread + 5e-3);
    }
}

void test_draws_are_unbiased() {
    check_unbiased(blocks::random(15, 3, 1), {}, 1000);
    check_unbiased(blocks::random(15, 5, 2), {.kappa = 0.9}, 1000);
    check_unbiased(blocks::random(16, 4, 3), {.children = 1}, 1000);
    check_unbiased(blocks::random(16, 6, 4), {.tolerance = 10.0}, 1000);
    check_unbiased(blocks::complete(14), {.kappa = 0.5}, 500);
    Block heavy = blocks::random(15, 6, 5);
    blocks::spread(heavy, 2.0, 6);
    check_unbiased(heavy, {.kappa = 0.9}, 1000);
}

void test_small_blocks_are_exact() {
    for (const int n : {1, 2, 5, 12}) {
        Block block = blocks::random(n, 4, 1);
        blocks::spread(block, 3.0, 2);
        const auto truth = blocks::exact(block);
        const auto drawn = Importance(block.view()).draws(1, 5, 8, {.marginals = true});
        for (const double log : drawn.log_weights) CHECK(std::abs(log - truth.log) < 1e-9);
        for (std::size_t e = 0; e < truth.posteriors.size(); ++e)
            CHECK(std::abs(drawn.first[e] / 3 - truth.posteriors[e]) < 1e-9);
    }
}

/// Trees of depth three or more, where the count is not at hand: plain and split draws agree.
void test_deep_trees_agree_with_plain_draws() {
    const Block block = blocks::random(120, 4, 9);
    const auto split = Importance(block.view()).draws(3, 0, 300).log_weights;
    const auto plain = Importance(block.view(), {.children = 1}).draws(4, 0, 2000).log_weights;
    const double scale = split[0];
    const Mean left = mean_of(split, scale), right = mean_of(plain, scale);
    CHECK(left.error < 0.1 * left.value && right.error < 0.1 * right.value);
    CHECK(std::abs(left.value - right.value) < 4 * std::hypot(left.error, right.error));
}

void test_draws_do_not_depend_on_the_cut() {
    const Block block = blocks::random(40, 5, 2);
    const Importance importance(block.view(), {.kappa = 0.9});
    const auto whole = importance.draws(11, 0, 6).log_weights;
    auto parts = importance.draws(11, 0, 2, {.marginals = true}).log_weights;
    const auto more = importance.draws(11, 2, 6, {.marginals = true}).log_weights;
    parts.insert(parts.end(), more.begin(), more.end());
    CHECK(whole == parts);
    CHECK(importance.draws(12, 0, 6).log_weights != whole);
}

/// The plain weight of a matching that a plain draw chose is that draw's weight.
void test_followed_matchings_have_the_weight_of_their_draw() {
    for (const double kappa : {1.0, 0.9}) {
        Block block = blocks::random(60, 5, 4);
        blocks::spread(block, 1.0, 3);
        const Importance importance(block.view(), {.kappa = kappa, .children = 1});
        const auto drawn = importance.draws(5, 0, 20, {.matchings = true});
        std::vector<std::int32_t> matchings;
        std::vector<double> expected;
        for (std::size_t k = 0; k < 20; ++k) {
            if (std::isinf(drawn.log_weights[k])) continue;
            expected.push_back(drawn.log_weights[k]);
            matchings.insert(matchings.end(), drawn.matchings.begin() + 60 * static_cast<int>(k),
                             drawn.matchings.begin() + 60 * static_cast<int>(k + 1));
        }
        const auto found = importance.log_weights_of(matchings);
        CHECK_EQUAL(found.size(), expected.size());
        for (std::size_t k = 0; k < found.size(); ++k)
            CHECK(std::abs(found[k] - expected[k]) < 1e-9);
    }
}

void test_refusals_and_the_flag() {
    const Block block = blocks::cycle(20);
    const Importance importance(block.view());
    bool refused = false;
    try {
        static_cast<void>(importance.log_weights_of(std::vector<std::int32_t>(20, 0)));
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
    const std::uint8_t raised = 1;
    CHECK(importance.draws(1, 0, 9, {}, CancelFlag(&raised)).log_weights.empty());
}

void test_far_weights() {
    Block block = blocks::random(16, 4, 8);
    blocks::spread(block, 80.0, 1);
    const auto drawn = Importance(block.view(), {.kappa = 0.9}).draws(1, 0, 20).log_weights;
    for (const double log : drawn) CHECK(std::isfinite(log));
}

}  // namespace

int main() {
    test_draws_are_unbiased();
    test_small_blocks_are_exact();
    test_deep_trees_agree_with_plain_draws();
    test_draws_do_not_depend_on_the_cut();
    test_followed_matchings_have_the_weight_of_their_draw();
    test_refusals_and_the_flag();
    test_far_weights();
    return check::report("test_importance");
}
