// Particle filters against counts by definition. All seeds are fixed.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "blocks.hpp"
#include "check.hpp"
#include "particles/particles.hpp"

namespace {

using namespace anonymatch;
using blocks::Block;

std::vector<std::int32_t> in_order(int n) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

Particles filter_of(const Block& block) {
    return {{block.n, block.indptr, block.indices, block.weights}, in_order(block.n), 20, 0.01};
}

void check_unbiased(const Block& block) {
    const auto truth = blocks::exact(block);
    const auto runs = filter_of(block).run(5, 0, 4000, 16, false);
    CHECK_EQUAL(runs.log_weights.size(), 4000U);
    double sum = 0;
    double squares = 0;
    for (const double log_weight : runs.log_weights) {
        const double ratio = std::exp(log_weight - truth.log);
        sum += ratio;
        squares += ratio * ratio;
    }
    const double mean = sum / 4000;
    const double error = std::sqrt(std::max(squares / 4000 - mean * mean, 0.0) / 4000);
    // Weights of runs that all agree differ by the rounding of floats.
    CHECK(std::abs(mean - 1) < 4 * error + 1e-5);
}

void test_counts() {
    check_unbiased(blocks::random(12, 4, 1));
    check_unbiased(blocks::complete(6));
    check_unbiased(blocks::cycle(9));
    Block heavy = blocks::random(10, 5, 2);
    blocks::spread(heavy, 1.5, 3);
    check_unbiased(heavy);
}

/// Every matching that a run gives is one of the block.
void test_matchings() {
    const Block block = blocks::random(30, 6, 4);
    const auto runs = filter_of(block).run(1, 0, 20, 64, true);
    for (std::size_t k = 0; k < 20; ++k) {
        if (!std::isfinite(runs.log_weights[k])) continue;
        std::vector<char> taken(30, 0);
        for (std::size_t i = 0; i < 30; ++i) {
            const std::int32_t column = runs.matchings[k * 30 + i];
            const auto begin = block.indices.begin() + block.indptr[i];
            const auto end = block.indices.begin() + block.indptr[i + 1];
            CHECK(std::find(begin, end, column) != end);
            CHECK(!taken[static_cast<std::size_t>(column)]);
            taken[static_cast<std::size_t>(column)] = 1;
        }
    }
}

void test_runs_along_matchings_end_finite() {
    const Block block = blocks::random(30, 4, 3);
    const auto logs = filter_of(block).along(in_order(30), 1, 0, 16);
    CHECK_EQUAL(logs.size(), 1U);
    CHECK(std::isfinite(logs[0]));
}

void test_refusals_and_the_flag() {
    const Block block = blocks::cycle(8);
    bool refused = false;
    try {
        static_cast<void>(filter_of(block).along(std::vector<std::int32_t>(8, 0), 1, 0, 16));
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
    const std::uint8_t raised = 1;
    CHECK(filter_of(block).run(1, 0, 5, 16, false, CancelFlag(&raised)).log_weights.empty());
}

}  // namespace

int main() {
    test_counts();
    test_matchings();
    test_runs_along_matchings_end_finite();
    test_refusals_and_the_flag();
    return check::report("test_particles");
}
