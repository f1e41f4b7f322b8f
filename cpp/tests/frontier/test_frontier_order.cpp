// Row orders: permutations, prices that bound the run, and narrow orders found.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "check.hpp"
#include "frontier/frontier.hpp"

namespace {

using namespace anonymatch;

struct Block {
    std::int32_t n_rows = 0;
    std::int32_t n_columns = 0;
    std::vector<std::int32_t> indptr{0};
    std::vector<std::int32_t> indices;
    [[nodiscard]] BlockView view() const { return {n_rows, n_columns, indptr, indices}; }
};

/// Row i of a band of k has the columns i .. i + k - 1 (modulo n in a ring), under a renaming of
/// rows.
Block banded(std::int32_t n, std::int32_t k, bool closed, const std::vector<std::int32_t>& names) {
    Block block{n, closed ? n : n + k - 1, {0}, {}};
    for (const std::int32_t row : names) {
        for (std::int32_t step = 0; step < k; ++step)
            block.indices.push_back(closed ? (row + step) % n : row + step);
        std::sort(block.indices.end() - k, block.indices.end());
        block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
    }
    return block;
}

std::vector<std::int32_t> natural(std::int32_t n) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

std::vector<std::int32_t> shuffled(std::int32_t n, unsigned seed) {
    auto order = natural(n);
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

bool is_permutation_of_rows(const FrontierPlan& plan) {
    auto sorted = plan.order;
    std::sort(sorted.begin(), sorted.end());
    return sorted == natural(static_cast<std::int32_t>(sorted.size()));
}

void test_natural_bands_are_recognised() {
    const Block ring = banded(5000, 4, true, natural(5000));
    const FrontierPlan plan = plan_frontier(ring.view());
    CHECK(plan.order == natural(5000));
    CHECK_EQUAL(plan.width, 7);
    CHECK(plan.feasible);
}

void test_shuffled_bands_are_put_in_order() {
    for (const bool closed : {false, true}) {
        const Block block = banded(300, 4, closed, shuffled(300, 1));
        const FrontierPlan plan = plan_frontier(block.view());
        CHECK(is_permutation_of_rows(plan));
        CHECK(plan.width <= (closed ? 9 : 5));
    }
}

void test_predictions_bound_the_run() {
    std::mt19937 random(2);
    for (int round = 0; round < 12; ++round) {
        const auto n_rows = static_cast<std::int32_t>(4 + round);
        Block block{n_rows, n_rows + round % 3, {0}, {}};
        for (std::int32_t row = 0; row < n_rows; ++row) {
            for (std::int32_t column = 0; column < block.n_columns; ++column)
                if (column % n_rows == row || random() % 4 == 0) block.indices.push_back(column);
            block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
        }
        for (const double effort : {0.0, 1.0, 1000.0}) {
            const FrontierPlan plan = plan_frontier(block.view(), effort);
            CHECK(is_permutation_of_rows(plan));
            Frontier job(block.view(), plan.order, FrontierWords{}, FrontierTask::count);
            while (!job.run(1e9)) {
            }
            CHECK(job.transitions_done() <= plan.transitions);
            CHECK(static_cast<double>(job.peak_states()) <= plan.peak_states);
            const FrontierPlan worse = assess_order(block.view(), natural(n_rows));
            CHECK(plan.transitions <= worse.transitions);
            CHECK(plan.least_edge_bytes(1) <= plan.edge_bytes(1));
        }
    }
}

void test_the_plan_is_deterministic() {
    const Block block = banded(60, 5, true, shuffled(60, 4));
    CHECK(plan_frontier(block.view(), 50).order == plan_frontier(block.view(), 50).order);
}

void test_separate_parts_are_no_trouble() {
    Block block{6, 6, {0}, {}};
    for (std::int32_t row = 0; row < 6; ++row) {
        const std::int32_t part = row / 2 * 2;
        block.indices.insert(block.indices.end(), {part, part + 1});
        block.indptr.push_back(static_cast<std::int32_t>(block.indices.size()));
    }
    const FrontierPlan plan = plan_frontier(block.view(), 1000);
    CHECK(is_permutation_of_rows(plan));
    Frontier job(block.view(), plan.order, FrontierWords{}, FrontierTask::count);
    CHECK(job.run(1e9));
    CHECK_EQUAL(job.count_words()[0], 8U);
}

}  // namespace

int main() {
    test_natural_bands_are_recognised();
    test_shuffled_bands_are_put_in_order();
    test_predictions_bound_the_run();
    test_the_plan_is_deterministic();
    test_separate_parts_are_no_trouble();
    return check::report("test_frontier_order");
}
