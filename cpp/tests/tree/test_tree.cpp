#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "blocks.hpp"
#include "check.hpp"
#include "tree/tree.hpp"

namespace {

using anonymatch::PlanarPrimes;
using anonymatch::TreePlan;

constexpr double large = 562949953421231;  // the largest prime below 2^49
constexpr double any = std::numeric_limits<double>::infinity();

PlanarPrimes all(double prime) {
    PlanarPrimes primes;
    primes.fill(prime);
    return primes;
}

anonymatch::BipartiteView view(const blocks::Block& block) {
    return {block.n, block.n, block.indptr, block.indices};
}

void counts_and_edges_agree_with_enumeration() {
    for (unsigned seed = 0; seed < 80; ++seed) {
        std::mt19937 bits(seed);
        blocks::Block block =
            blocks::random(static_cast<int>(2 + seed % 9), static_cast<int>(2 + seed % 3), seed);
        for (std::size_t e = 0; e < block.indices.size(); ++e)
            block.weights.push_back(seed % 2 == 0 ? 1.0 : static_cast<double>(1 + bits() % 5));
        const auto truth = blocks::exact(block);
        std::vector<double> lanes;
        for (const double w : block.weights) lanes.insert(lanes.end(), 8, w);
        const auto plan = TreePlan::make(view(block), any);
        CHECK(plan.has_value());
        const auto result = plan->run(all(large), lanes, true);
        const double total = std::round(std::exp(truth.log));
        CHECK(plan->run(all(large), lanes, false).count[2] == total);
        for (std::size_t l = 0; l < 8; ++l) CHECK(result.found[l] && result.count[l] == total);
        for (std::size_t e = 0; e < block.indices.size(); ++e)
            CHECK(result.through[8 * e + 5] == std::round(truth.posteriors[e] * total));
    }
}

void behaviours_may_be_spare() {
    // One user and five behaviours; and two users who share one of three.
    const std::vector<std::int32_t> one_ends{0, 5}, five{0, 1, 2, 3, 4};
    const auto star = TreePlan::make({1, 5, one_ends, five}, any);
    CHECK(star->run(all(large), {}, true).count[0] == 5);
    const std::vector<std::int32_t> ends{0, 2, 4}, indices{0, 1, 1, 2};
    const auto path = TreePlan::make({2, 3, ends, indices}, any);
    const auto result = path->run(all(large), {}, true);
    CHECK(result.count[0] == 3);
    CHECK(result.through[0] == 2 && result.through[8] == 1 && result.through[24] == 2);
}

void too_much_work_is_no_plan() {
    CHECK(!TreePlan::make(view(blocks::complete(9)), 1000).has_value());
    CHECK(!TreePlan::make(view(blocks::complete(30)), any).has_value());
}

}  // namespace

int main() {
    counts_and_edges_agree_with_enumeration();
    behaviours_may_be_spare();
    too_much_work_is_no_plan();
    return check::report("test_tree");
}
