#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "blocks.hpp"
#include "check.hpp"
#include "planar/planar.hpp"
#include "planar/planar_lanes.hpp"
#include "planar/planarity.hpp"

namespace {

using anonymatch::BipartiteView;
using anonymatch::PlanarPlan;
using anonymatch::PlanarPrimes;

BipartiteView view(const blocks::Block& block) {
    return {block.n, block.n, block.indptr, block.indices};
}

PlanarPrimes all(double prime) {
    PlanarPrimes primes;
    primes.fill(prime);
    return primes;
}

constexpr double large = 562949953421231;  // the largest prime below 2^49

/// The cells of a board by colour; users are the cells whose coordinates have an even sum.
blocks::Block board(int height, int width) {
    std::vector<std::set<int>> rows;
    const auto number = [&](int i, int j) { return (i * width + j) / 2; };
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
            if ((i + j) % 2 != 0) continue;
            std::set<int> row;
            for (const auto& [di, dj] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
                const int a = i + di, b = j + dj;
                if (a >= 0 && a < height && b >= 0 && b < width) row.insert(number(a, b));
            }
            rows.push_back(row);
        }
    return blocks::from_rows(rows);
}

void boards_have_the_known_number_of_tilings() {
    const auto square = PlanarPlan::make(view(board(8, 8)));
    CHECK(square.has_value());
    CHECK(square->run(all(large), {}, false).count[0] == 12988816);
    const auto flat = PlanarPlan::make(view(board(4, 10)));
    CHECK(flat->run(all(large), {}, false).count[3] == 18061);
}

void k33_and_what_contains_it_is_not_planar() {
    CHECK(!anonymatch::kasteleyn_signs(view(blocks::complete(3))).has_value());
    CHECK(anonymatch::kasteleyn_signs(view(blocks::complete(2))).has_value());
    CHECK(anonymatch::kasteleyn_signs(view(blocks::complete(1))).has_value());
    // A Moebius ladder with its rungs as vertices of both colours: 6 users, no short way to draw.
    std::vector<std::set<int>> rows;
    for (int i = 0; i < 7; ++i) rows.push_back({i, (i + 1) % 7, (i + 3) % 7});
    CHECK(!anonymatch::kasteleyn_signs(view(blocks::from_rows(rows))).has_value());  // Heawood
}

/// A random irreducible planar block: a ring of squares with cells added or taken away at random.
blocks::Block random_planar(std::mt19937& bits, int height, int width) {
    const blocks::Block whole = board(height, width);
    std::vector<std::set<int>> rows;
    for (int u = 0; u < whole.n; ++u) {
        std::set<int> row;
        for (int e = whole.indptr[static_cast<std::size_t>(u)];
             e < whole.indptr[static_cast<std::size_t>(u) + 1]; ++e)
            if (bits() % 8 != 0) row.insert(whole.indices[static_cast<std::size_t>(e)]);
        rows.push_back(row);
    }
    return blocks::from_rows(rows);
}

/// Whether all vertices hang together and all rows can be matched.
bool fit(const blocks::Block& block) {
    const auto structure = anonymatch::find_structure(view(block));
    return structure.n_matched == block.n && structure.n_blocks == 1;
}

void counts_and_edges_agree_with_enumeration() {
    std::mt19937 bits(7);
    int tried = 0;
    for (int round = 0; round < 3000 && tried < 60; ++round) {
        blocks::Block block = random_planar(bits, 2 + round % 4, 4 + 2 * (round % 2));
        if (block.n > 14 || !fit(block)) continue;
        ++tried;
        for (std::size_t e = 0; e < block.indices.size(); ++e)
            block.weights.push_back(round % 2 == 0 ? 1.0 : static_cast<double>(1 + bits() % 5));
        const auto truth = blocks::exact(block);
        std::vector<double> lanes;
        for (const double w : block.weights) lanes.insert(lanes.end(), 8, w);
        const auto plan = PlanarPlan::make(view(block));
        CHECK(plan.has_value());
        const auto result = plan->run(all(large), lanes, true);
        const double total = std::round(std::exp(truth.log));
        for (std::size_t l = 0; l < 8; ++l) CHECK(result.found[l] && result.count[l] == total);
        for (std::size_t e = 0; e < block.indices.size(); ++e)
            CHECK(result.through[8 * e + 5] == std::round(truth.posteriors[e] * total));
    }
    CHECK(tried == 60);
}

void small_primes_agree_or_say_that_a_pivot_vanished() {
    const auto plan = PlanarPlan::make(view(board(6, 6)));  // 6728 = 2^3 * 29^2 tilings
    const PlanarPrimes primes{3, 5, 7, 11, 13, 29, 31, large};
    const auto result = plan->run(primes, {}, false);
    int found = 0;
    for (std::size_t l = 0; l < 8; ++l) {
        if (result.found[l])
            CHECK(result.count[l] == 6728 % static_cast<int>(std::min(primes[l], 1e6)));
        found += result.found[l] ? 1 : 0;
    }
    CHECK(!result.found[5]);  // 29 divides the count itself
    CHECK(result.found[7] && found < 7);
}

void fractions_add_up_to_the_value_over_the_product() {
    const std::vector<std::uint64_t> primes{101, 103, 107};
    const auto coefficients = anonymatch::chinese_coefficients(primes);
    const std::uint64_t value = 654321, product = 101 * 103 * 107;
    std::vector<std::uint64_t> sums(2, 0);
    for (std::size_t k = 0; k < 3; ++k) {
        std::vector<double> residues(8, 0);
        residues[k] = static_cast<double>(value % primes[k]);
        anonymatch::add_fractions(residues, static_cast<std::int32_t>(k), primes[k],
                                  coefficients[k], sums);
    }
    CHECK(std::abs(std::ldexp(static_cast<double>(sums[1]), -64) -
                   static_cast<double>(value) / static_cast<double>(product)) < 1e-15);
}

/// A full matrix through elimination and inverse, and a few products, by one set of instructions.
std::vector<double> by(const anonymatch::planar::Instructions& used) {
    using anonymatch::planar::Lanes;
    constexpr std::size_t n = 12;
    std::mt19937_64 bits(3);
    anonymatch::planar::Factors factors;
    for (std::size_t l = 0; l < 8; ++l) {
        factors.prime.lane[l] =
            l % 2 == 0 ? large : 562949953421197;  // not prime, which is no matter
        factors.reciprocal.lane[l] = 1 / factors.prime.lane[l];
    }
    const auto draw = [&] {
        Lanes value;
        for (double& x : value.lane) x = static_cast<double>(bits() % (1ULL << 48));
        return value;
    };
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> fronts;
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t m = k + 1; m < n; ++m) fronts.push_back(static_cast<std::int32_t>(m));
        starts.push_back(static_cast<std::int64_t>(fronts.size()));
    }
    std::vector<Lanes> diagonal(n), inverse(n), upper(fronts.size()), lower(fronts.size());
    for (auto* part : {&diagonal, &upper, &lower})
        for (Lanes& value : *part) value = draw();
    factors.starts = starts;
    factors.fronts = fronts;
    factors.diagonal = diagonal;
    factors.upper = upper;
    factors.lower = lower;
    factors.inverse = inverse;
    CHECK(used.eliminate(factors, {}));
    std::vector<Lanes> z(n), above(fronts.size()), below(fronts.size());
    CHECK(used.invert(factors, {z, above, below}, {}));
    const std::vector<std::int32_t> to{0, 2, 1, 2}, from{3, 1, 4, 0};
    used.add_products(factors, z.data(), to.data(), upper[0], lower.data(), from.data(), to.size());
    used.sum_products(factors, z[5], above.data(), to.data(), below.data(), from.data(), to.size());
    std::vector<double> all_values;
    for (const auto* part : {&diagonal, &upper, &lower, &inverse, &z, &above, &below})
        for (const Lanes& value : *part)
            all_values.insert(all_values.end(), value.lane, value.lane + 8);
    return all_values;
}

void all_instructions_give_the_same() {
    const auto known = anonymatch::planar::instructions();
    for (const auto& used : known) CHECK(by(used) == by(known.back()));
}

}  // namespace

int main() {
    all_instructions_give_the_same();
    boards_have_the_known_number_of_tilings();
    k33_and_what_contains_it_is_not_planar();
    counts_and_edges_agree_with_enumeration();
    small_primes_agree_or_say_that_a_pivot_vanished();
    fractions_add_up_to_the_value_over_the_product();
    return check::report("test_planar");
}
