// Belief propagation against what is known in closed form.
#include <algorithm>
#include <cmath>
#include <vector>

#include "belief_propagation/belief_propagation.hpp"
#include "blocks.hpp"
#include "check.hpp"

namespace {

using namespace anonymatch;
using blocks::Block;

bool near(double left, double right, double tolerance) {
    return std::abs(left - right) <= tolerance;
}

/// The optimum of the complete graph is p = 1 / n (Vontobel 2013).
void test_complete_graph() {
    for (const int n : {2, 3, 10, 40}) {
        const Block block = blocks::complete(n);
        const BeliefPropagation found = propagate_beliefs(block.view());
        const double value = n * n * (1.0 - 1.0 / n) * std::log1p(-1.0 / n) + n * std::log(n);
        CHECK(near(found.log, value, 1e-9 * n));
        for (const double p : found.marginals) CHECK(near(p, 1.0 / n, 1e-9));
    }
}

/// With kappa 0 the value is the log of the capacity, n log n for the complete graph.
void test_kappa_zero_is_the_capacity() {
    const Block block = blocks::complete(7);
    CHECK(near(propagate_beliefs(block.view(), {.kappa = 0.0}).log, 7 * std::log(7.0), 1e-9));
}

/// A cycle of two edges a row has two matchings; Bethe sees the heavier of them alone.
void test_cycle() {
    const int n = 12;
    Block block = blocks::cycle(n);
    CHECK(near(propagate_beliefs(block.view()).log, 0.0, 1e-9));
    block.weights.assign(block.indices.size(), 1.0);
    for (std::size_t e = 0; e < block.indices.size(); ++e)
        if (block.row_of(e) == block.indices[e]) block.weights[e] = 2.0;
    const BeliefPropagation found = propagate_beliefs(block.view(), {.sweeps = 5000});
    CHECK(near(found.log, n * std::log(2.0), 1e-6));
}

/// Scaling rows and columns moves the value by the logs of the factors, at any size of them.
void test_scaling_moves_the_value() {
    const Block plain = blocks::random(40, 6, 5);
    Block scaled = plain;
    scaled.weights.assign(scaled.indices.size(), 1.0);
    double shift = 0;
    for (int i = 0; i < plain.n; ++i) shift += (i % 2 == 0 ? 280.0 : -250.0) * std::log(10.0);
    for (int j = 0; j < plain.n; ++j) shift += (j % 3 - 1) * 20.0 * std::log(10.0);
    for (std::size_t e = 0; e < scaled.indices.size(); ++e)
        scaled.weights[e] = std::pow(10.0, (scaled.row_of(e) % 2 == 0 ? 280.0 : -250.0) +
                                               (scaled.indices[e] % 3 - 1) * 20.0);
    for (const double kappa : {1.0, 0.9, 0.5}) {
        const BeliefPropagation left = propagate_beliefs(plain.view(), {.kappa = kappa});
        const BeliefPropagation right = propagate_beliefs(scaled.view(), {.kappa = kappa});
        CHECK(left.residual <= 1e-9 && right.residual <= 1e-9);
        CHECK(near(right.log - left.log, shift, 1e-6));
        for (std::size_t e = 0; e < left.marginals.size(); ++e)
            CHECK(near(left.marginals[e], right.marginals[e], 1e-7));
    }
}

/// Bethe below, kappa 1/2 above, on blocks small enough to count.
void test_values_enclose_the_permanent() {
    for (unsigned seed = 0; seed < 30; ++seed) {
        Block block = blocks::random(8, 4, seed);
        blocks::spread(block, 1.0 + seed % 3, seed);
        const double truth = blocks::exact(block).log;
        CHECK(propagate_beliefs(block.view(), {.sweeps = 3000}).log <= truth + 1e-6);
        CHECK(propagate_beliefs(block.view(), {.kappa = 0.5, .sweeps = 3000}).log >= truth - 1e-6);
    }
}

/// Marginals are doubly stochastic and far weights do no harm.
void test_far_weights() {
    Block block = blocks::random(30, 5, 3);
    blocks::spread(block, 100.0, 8);
    const BeliefPropagation found = propagate_beliefs(block.view(), {.sweeps = 2000});
    CHECK(std::isfinite(found.log));
    std::vector<double> rows(30, 0.0);
    for (std::size_t e = 0; e < block.indices.size(); ++e)
        rows[static_cast<std::size_t>(block.row_of(e))] += found.marginals[e];
    for (const double row : rows) CHECK(near(row, 1.0, 1e-9));
}

void test_one_row_and_the_flag() {
    Block block = blocks::complete(1);
    block.weights = {5.0};
    CHECK(near(propagate_beliefs(block.view()).log, std::log(5.0), 1e-15));
    const std::uint8_t raised = 1;
    CHECK_EQUAL(propagate_beliefs(blocks::complete(5).view(), {}, CancelFlag(&raised)).sweeps, 0);
}

}  // namespace

int main() {
    test_complete_graph();
    test_kappa_zero_is_the_capacity();
    test_cycle();
    test_scaling_moves_the_value();
    test_values_enclose_the_permanent();
    test_far_weights();
    test_one_row_and_the_flag();
    return check::report("test_belief_propagation");
}
