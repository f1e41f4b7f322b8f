// Parts of a run: every perfect matching is in exactly one, and their prices bound their runs.
#include <algorithm>
#include <numeric>
#include <random>

#include "blocks.hpp"
#include "check.hpp"
#include "frontier/frontier.hpp"
#include "frontier/frontier_split.hpp"

namespace {

using namespace anonymatch;
using blocks::Block;

constexpr SplitLimits finest{
    .peak_states = 0, .longest = 0, .worth = 0, .stretch = 1, .parts = 1000};

BlockView view(const Block& block) {
    return {block.n, block.n, block.indptr, block.indices};
}

/// Rows with their diagonal and further edges at random.
Block random_block(int n, std::mt19937& random) {
    std::vector<std::set<int>> rows(static_cast<std::size_t>(n));
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column)
            if (row == column || random() % 2 == 0)
                rows[static_cast<std::size_t>(row)].insert(column);
    return blocks::from_rows(rows);
}

/// The edges of the block, if it has them all, in which row i has column[i].
std::vector<std::size_t> edges_of(const Block& block, const std::vector<int>& column) {
    std::vector<std::size_t> edges;
    for (std::size_t e = 0; e < block.indices.size(); ++e)
        if (column[static_cast<std::size_t>(block.row_of(e))] == block.indices[e])
            edges.push_back(e);
    return edges;
}

void test_every_matching_is_in_one_part() {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        const int n = 3 + round % 5;
        const Block block = random_block(n, random);
        const auto plan = plan_frontier(view(block));
        const auto parts = split_frontier(view(block), plan.order, finest);
        std::vector<int> column(static_cast<std::size_t>(n));
        std::iota(column.begin(), column.end(), 0);
        do {
            const auto edges = edges_of(block, column);
            if (std::ssize(edges) < n) continue;
            const auto with = std::ranges::count_if(parts, [&edges](const FrontierPart& part) {
                return std::ranges::all_of(edges, [&](std::size_t e) { return part.kept[e] != 0; });
            });
            CHECK_EQUAL(with, 1);
        } while (std::ranges::next_permutation(column).found);
    }
}

void test_prices_bound_the_runs_and_limits_hold() {
    std::mt19937 random(4);
    const Block block = random_block(16, random);
    const auto plan = plan_frontier(view(block));
    const SplitLimits limits{.peak_states = plan.peak_states / 8,
                             .longest = plan.transitions,
                             .worth = plan.transitions,
                             .stretch = 1,
                             .parts = 1000};
    const auto parts = split_frontier(view(block), plan.order, limits);
    CHECK(parts.size() >= 8);
    std::uint64_t total = 0;
    for (const auto& part : parts) {
        CHECK(part.peak_states <= limits.peak_states);
        Block some{block.n, {0}, {}, {}};
        for (std::size_t e = 0; e < block.indices.size(); ++e) {
            if (part.kept[e] != 0) some.indices.push_back(block.indices[e]);
            if (static_cast<std::int32_t>(e) + 1 ==
                block.indptr[static_cast<std::size_t>(block.row_of(e)) + 1])
                some.indptr.push_back(static_cast<std::int32_t>(some.indices.size()));
        }
        Frontier job(view(some), plan.order, FrontierWords{}, FrontierTask::count);
        while (!job.run(1e9)) {
        }
        CHECK(job.transitions_done() <= part.transitions);
        CHECK(static_cast<double>(job.peak_states()) <= part.peak_states);
        total += job.count_words()[0];
    }
    Frontier whole(view(block), plan.order, FrontierWords{}, FrontierTask::count);
    while (!whole.run(1e9)) {
    }
    CHECK_EQUAL(total, whole.count_words()[0]);
    CHECK(std::ranges::is_sorted(parts, std::ranges::greater{}, &FrontierPart::transitions));
}

void test_splits_that_cost_too_much_are_not_made() {
    std::mt19937 random(5);
    const Block block = random_block(14, random);
    const auto plan = plan_frontier(view(block));
    SplitLimits limits{.peak_states = plan.peak_states,
                       .longest = plan.transitions,
                       .worth = 0,
                       .stretch = 1.2,
                       .parts = 1000};
    double together = 0;
    for (const auto& part : split_frontier(view(block), plan.order, limits))
        together += part.transitions;
    CHECK(together <= 1.2 * plan.transitions);
    limits.worth = plan.transitions;
    CHECK_EQUAL(split_frontier(view(block), plan.order, limits).size(), 1U);
    limits = finest;
    limits.parts = 5;
    CHECK(split_frontier(view(block), plan.order, limits).size() <= 5);
    const std::uint8_t raised = 1;
    CHECK_EQUAL(split_frontier(view(block), plan.order, finest, CancelFlag(&raised)).size(), 1U);
}

}  // namespace

int main() {
    test_every_matching_is_in_one_part();
    test_prices_bound_the_runs_and_limits_hold();
    test_splits_that_cost_too_much_are_not_made();
    return check::report("test_frontier_split");
}
