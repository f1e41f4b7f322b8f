#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "spare_chain/spare_chain.hpp"

namespace am = anonymatch;

namespace {

/// Four rows over six columns; the last column is of no row.
struct Case {
    std::vector<std::int32_t> indptr{0, 3, 5, 8, 10};
    std::vector<std::int32_t> indices{0, 1, 2, 1, 2, 0, 2, 3, 2, 4};
    std::vector<double> weights;

    [[nodiscard]] am::WideBlock block() const { return {6, indptr, indices, weights}; }
    [[nodiscard]] std::size_t rows() const { return indptr.size() - 1; }
    [[nodiscard]] double weight(std::size_t edge) const {
        return weights.empty() ? 1.0 : weights[edge];
    }
};

/// All ways by their definition, each with its weight; a row may rest with the weight `rest`.
std::map<std::vector<std::int32_t>, double> all_ways(const Case& test, double rest) {
    std::map<std::vector<std::int32_t>, double> ways{{{}, 1.0}};
    for (std::size_t row = 0; row < test.rows(); ++row) {
        std::map<std::vector<std::int32_t>, double> longer;
        for (const auto& [columns, weight] : ways) {
            auto next = columns;
            next.push_back(-1);
            if (rest > 0.0) longer[next] = weight * rest;
            for (auto e = static_cast<std::size_t>(test.indptr[row]);
                 e < static_cast<std::size_t>(test.indptr[row + 1]); ++e) {
                bool taken = false;
                for (const std::int32_t column : columns) taken |= column == test.indices[e];
                next.back() = test.indices[e];
                if (!taken) longer[next] = weight * test.weight(e);
            }
        }
        ways = longer;
    }
    double whole = 0.0;
    for (const auto& way : ways) whole += way.second;
    for (auto& way : ways) way.second /= whole;
    return ways;
}

void ways_come_as_often_as_they_weigh(const Case& test, double rest) {
    const am::SpareChain chain(test.block());
    const std::vector<std::int32_t> start{0, 1, 3, 4};
    const std::uint64_t samples = 400000;
    const auto drawn = chain.run(start, 7, 1, samples, 3, rest, {true, true, true});
    CHECK_EQUAL(drawn.samples, samples);
    std::map<std::vector<std::int32_t>, double> shares;
    for (std::size_t k = 0; k < samples; ++k) {
        const auto from = drawn.matchings.begin() + static_cast<std::ptrdiff_t>(k * test.rows());
        shares[{from, from + static_cast<std::ptrdiff_t>(test.rows())}] += 1.0 / samples;
    }
    const auto wanted = all_ways(test, rest);
    CHECK_EQUAL(shares.size(), wanted.size());
    double resting = 0.0;
    std::vector<double> edges(test.indices.size(), 0.0);
    for (const auto& [way, share] : wanted) {
        CHECK(std::abs(shares[way] - share) < 0.005);
        for (std::size_t row = 0; row < test.rows(); ++row) {
            if (way[row] < 0) resting += share;
            for (auto e = static_cast<std::size_t>(test.indptr[row]);
                 e < static_cast<std::size_t>(test.indptr[row + 1]); ++e)
                edges[e] += way[row] == test.indices[e] ? share : 0.0;
        }
    }
    for (std::size_t e = 0; e < edges.size(); ++e)
        CHECK(std::abs(drawn.sums[e] / samples - edges[e]) < 0.005);
    double mean = 0.0;
    for (const double one : drawn.resting) mean += rest * one / samples;
    CHECK(std::abs(mean - resting) < 0.005);
}

void a_stretch_goes_on_where_the_last_one_ended() {
    const Case test;
    const am::SpareChain chain(test.block());
    const auto first =
        chain.run(std::vector<std::int32_t>{0, 1, 3, 4}, 1, 0, 5, 3, 0.0, {false, false, true});
    CHECK_EQUAL(first.last.size(), test.rows());
    CHECK(std::vector<std::int32_t>(first.matchings.end() - 4, first.matchings.end()) ==
          first.last);
    const auto again = chain.run(first.last, 1, 1, 5, 3, 0.0, {});
    const auto same = chain.run(first.last, 1, 1, 5, 3, 0.0, {});
    CHECK(again.last == same.last);
    CHECK(again.sums.empty() && again.matchings.empty());
}

void what_is_no_block_or_no_start_is_refused() {
    const Case test;
    const am::SpareChain chain(test.block());
    const auto from = [&](const std::vector<std::int32_t>& start, double rest) {
        return check::refused([&] { (void)chain.run(start, 1, 0, 1, 1, rest, {}); });
    };
    CHECK(from({0, 1, 3}, 0.0));
    CHECK(from({0, 1, 0, 4}, 0.0));  // a column twice
    CHECK(from({3, 1, 0, 4}, 0.0));  // not a column of the row
    CHECK(from({-1, 1, 0, 4}, 0.0));
    CHECK(!from({-1, 1, 0, 4}, 0.5));
    const std::vector<std::int32_t> empty{0, 0, 2}, two{0, 2}, unsorted{1, 0}, pair{0, 1};
    const std::vector<double> heavy{1.0, 2.0}, nothing{0.0, 0.0};
    CHECK(check::refused([&] { am::SpareChain({2, empty, pair, {}}); }));
    CHECK(check::refused([&] { am::SpareChain({2, two, unsorted, {}}); }));
    CHECK(check::refused([&] { am::SpareChain({1, two, pair, {}}); }));
    CHECK(check::refused([&] { am::SpareChain({2, two, pair, heavy}); }));
    CHECK(check::refused([&] { am::SpareChain({2, two, pair, nothing}); }));
}

void it_gives_up_when_told() {
    const Case test;
    const am::SpareChain chain(test.block());
    const std::vector<std::int32_t> start{0, 1, 3, 4};
    const std::uint8_t raised = 1;
    CHECK_EQUAL(chain.run(start, 1, 0, 10, 3, 0.0, {}, am::CancelFlag(&raised)).samples, 0U);
    CHECK(chain.run(start, 1, 0, 1000, 3, 0.0, {}, {}, 100).samples < 1000U);
}

}  // namespace

int main() {
    const Case plain;
    Case weighted;
    weighted.weights = {1.0, 0.5, 0.1, 1.0, 0.3, 0.2, 1.0, 0.6, 0.05, 1.0};
    for (const double rest : {0.0, 0.7}) {
        ways_come_as_often_as_they_weigh(plain, rest);
        ways_come_as_often_as_they_weigh(weighted, rest);
    }
    a_stretch_goes_on_where_the_last_one_ended();
    what_is_no_block_or_no_start_is_refused();
    it_gives_up_when_told();
    return check::report("test_spare_chain");
}
