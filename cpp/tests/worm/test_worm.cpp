// The worm chain against posteriors by definition. All seeds are fixed.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "blocks.hpp"
#include "check.hpp"
#include "worm/worm.hpp"

namespace {

using namespace anonymatch;
using blocks::Block;

std::vector<std::int32_t> diagonal(int n) {
    std::vector<std::int32_t> matching(static_cast<std::size_t>(n));
    std::iota(matching.begin(), matching.end(), 0);
    return matching;
}

void check_posteriors(const Block& block, std::uint64_t samples, std::uint64_t worms) {
    const auto truth = blocks::exact(block);
    const Worm worm(block.view());
    const auto found = worm.run(diagonal(block.n), 5, 0, samples, worms, false);
    CHECK_EQUAL(found.samples, samples);
    for (std::size_t e = 0; e < truth.posteriors.size(); ++e) {
        const double chance = static_cast<double>(found.counts[e]) / static_cast<double>(samples);
        const double p = truth.posteriors[e];
        // Samples are nearly independent; twice the error for what is left.
        const double error = 2 * std::sqrt(p * (1 - p) / static_cast<double>(samples));
        CHECK(std::abs(chance - p) < 4 * error + 1e-4);
    }
}

void test_posteriors() {
    check_posteriors(blocks::random(12, 4, 1), 20000, 20);
    check_posteriors(blocks::complete(6), 20000, 10);
    Block heavy = blocks::random(10, 5, 2);
    blocks::spread(heavy, 1.5, 3);
    check_posteriors(heavy, 20000, 40);
}

/// All matchings of a complete graph of three come equally often.
void test_matchings_are_uniform() {
    const Block block = blocks::complete(3);
    const auto found = Worm(block.view()).run(diagonal(3), 9, 0, 6000, 8, true);
    std::map<std::vector<std::int32_t>, int> seen;
    for (std::size_t k = 0; k < 6000; ++k)
        ++seen[{found.matchings.begin() + 3 * static_cast<int>(k),
                found.matchings.begin() + 3 * static_cast<int>(k + 1)}];
    CHECK_EQUAL(seen.size(), 6U);
    for (const auto& [matching, times] : seen) CHECK(std::abs(times - 1000) < 5 * 29);
}

void test_a_run_can_be_continued() {
    const Block block = blocks::random(30, 4, 3);
    const Worm worm(block.view());
    const auto first = worm.run(diagonal(30), 1, 0, 5, 3, true);
    const auto again = worm.run(diagonal(30), 1, 0, 5, 3, true);
    CHECK(first.matchings == again.matchings);
    CHECK(std::equal(first.last.begin(), first.last.end(), first.matchings.end() - 30));
    const auto more = worm.run(first.last, 1, 1, 5, 3, true);
    CHECK(more.matchings != first.matchings);
}

/// Chains that take turns are the chains that run alone.
void test_turns_change_nothing() {
    for (const bool weighted : {false, true}) {
        Block block = blocks::random(30, 4, 3);
        if (weighted) blocks::spread(block, 1.0, 3);
        const Worm worm(block.view());
        const auto other = worm.run(diagonal(30), 8, 0, 1, 7, false).last;
        auto both = diagonal(30);
        both.insert(both.end(), other.begin(), other.end());
        const auto together = worm.run_together(both, 1, 4, 5, 3, true);
        CHECK_EQUAL(together.size(), 2U);
        for (std::size_t k = 0; k < 2; ++k) {
            const auto alone = worm.run(k == 0 ? diagonal(30) : other, 1, 4 + k, 5, 3, true);
            CHECK(together[k].matchings == alone.matchings);
            CHECK(together[k].counts == alone.counts);
            CHECK(together[k].last == alone.last);
            CHECK_EQUAL(together[k].steps, alone.steps);
        }
        const std::uint8_t raised = 1;
        CHECK_EQUAL(worm.run_together(both, 1, 0, 5, 5, true, CancelFlag(&raised))[0].samples, 0U);
        CHECK_EQUAL(worm.run_together(both, 1, 0, 5, 5, true, {}, 0)[0].samples, 0U);
    }
}

void test_refusals_and_the_flag() {
    const Worm worm(blocks::cycle(8).view());
    for (const auto& wrong : {std::vector<std::int32_t>(8, 0), std::vector<std::int32_t>(3, 0)}) {
        bool refused = false;
        try {
            static_cast<void>(worm.run(wrong, 1, 0, 1, 1, false));
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
    }
    const std::uint8_t raised = 1;
    CHECK_EQUAL(worm.run(diagonal(8), 1, 0, 5, 5, true, CancelFlag(&raised)).samples, 0U);
}

}  // namespace

int main() {
    test_posteriors();
    test_matchings_are_uniform();
    test_a_run_can_be_continued();
    test_turns_change_nothing();
    test_refusals_and_the_flag();
    return check::report("test_worm");
}
