// Bands against counting by definition: whole numbers, doubles, chances, and jobs cut anyhow.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "band/band.hpp"
#include "check.hpp"

namespace {

using namespace anonymatch;

struct Example {
    std::vector<std::int32_t> starts;
    std::vector<std::int32_t> stops;
    std::vector<double> weights;
    [[nodiscard]] BandView view() const { return {starts, stops}; }
    [[nodiscard]] std::size_t rows() const { return starts.size(); }
    [[nodiscard]] std::size_t edges() const { return weights.size(); }
};

Example random_band(std::mt19937& random, std::int32_t rows, std::int32_t spare,
                    std::int32_t widest) {
    Example band;
    const auto below = [&](std::int32_t n) {
        return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
    };
    std::int32_t start = 0;
    std::int32_t stop = 0;
    for (std::int32_t row = 0; row < rows; ++row) {
        start = std::min(row, std::max(start, row - below(widest)));
        stop = std::min(rows + spare, std::max({stop, row + 1, start + 1 + below(widest)}));
        if (row + 1 == rows) stop = rows + spare;
        band.starts.push_back(row == 0 ? 0 : start);
        band.stops.push_back(stop);
        for (std::int32_t column = start; column < stop; ++column)
            band.weights.push_back(std::exp(static_cast<double>(below(2000)) / 500 - 2));
    }
    return band;
}

/// Sum over matchings of the rows from `row` on, with `used` columns taken; weights or ones.
double total(const Example& band, bool weighted, std::size_t row, std::uint64_t used,
             std::size_t edge) {
    if (row == band.rows()) return 1;
    double sum = 0;
    const auto next = edge + static_cast<std::size_t>(band.stops[row] - band.starts[row]);
    for (std::int32_t column = band.starts[row]; column < band.stops[row]; ++column, ++edge) {
        if ((used >> column & 1U) != 0) continue;
        sum += (weighted ? band.weights[edge] : 1) *
               total(band, weighted, row + 1, used | std::uint64_t{1} << column, next);
    }
    return sum;
}

template <class Job>
void finish(Job& job, double work) {
    while (!job.run(work)) {
    }
}

void test_random_bands_agree_with_the_definition() {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const Example band = random_band(random, 1 + round % 8, round % 3 == 0 ? round % 7 : 0, 6);
        const double ones = total(band, false, 0, 0, 0);
        const double weighted = total(band, true, 0, 0, 0);
        const BandPlan plan = plan_band(band.view());
        CHECK(plan.feasible);
        CHECK(plan.digit_bits == 52 || round % 3 == 0);
        Band words(band.view(), {}, BandTask::count_words);
        Band reals(band.view(), band.weights, BandTask::count_real);
        finish(words, 1);
        finish(reals, 1e9);
        CHECK_EQUAL(words.count_words()[0], static_cast<std::uint64_t>(ones));
        const ScaledReal real = reals.count_real();
        CHECK(std::abs(std::scalbn(real.mantissa, static_cast<int>(real.exponent)) - weighted) <=
              1e-12 * weighted);
    }
}

void test_chances_do_not_depend_on_memory() {
    std::mt19937 random(2);
    for (int round = 0; round < 20; ++round) {
        const Example band = random_band(random, 120, round % 4, 10);
        Band whole(band.view(), band.weights, BandTask::edges);
        Band cut(band.view(), band.weights, BandTask::edges, 4000);
        Band least(band.view(), band.weights, BandTask::edges, 1);
        finish(whole, 1e9);
        finish(cut, 1000);
        finish(least, 1e9);
        CHECK(!whole.failed());
        CHECK(whole.posteriors() == cut.posteriors());
        CHECK(whole.posteriors() == least.posteriors());
        CHECK(whole.count_real().mantissa == cut.count_real().mantissa);
        CHECK_EQUAL(whole.count_real().exponent, least.count_real().exponent);
        std::size_t edge = 0;
        for (std::size_t row = 0; row < band.rows(); ++row) {
            double sum = 0;
            for (std::int32_t column = band.starts[row]; column < band.stops[row]; ++column)
                sum += whole.posteriors()[edge++];
            CHECK(std::abs(sum - 1) < 1e-12);
        }
    }
}

void test_a_chance_is_the_share_of_its_matchings() {
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round) {
        const Example band = random_band(random, 2 + round % 6, round % 3, 5);
        Band job(band.view(), band.weights, BandTask::edges, round % 2 == 0 ? 0 : 1);
        finish(job, 1e9);
        const double all = total(band, true, 0, 0, 0);
        for (std::size_t edge = 0; edge < band.edges(); ++edge) {
            Example double_weight = band;  // the total grows by what goes through the edge
            double_weight.weights[edge] *= 2;
            const double through = total(double_weight, true, 0, 0, 0) - all;
            CHECK(std::abs(job.posteriors()[edge] - through / all) < 1e-10);
        }
    }
}

void test_long_bands_keep_their_digits() {
    // Rows i have columns i - 1, i, i + 1: Fibonacci numbers.
    Example band;
    const std::int32_t n = 300;
    for (std::int32_t row = 0; row < n; ++row) {
        band.starts.push_back(std::max(0, row - 1));
        band.stops.push_back(std::min(n, row + 2));
    }
    std::vector<std::uint64_t> before(8, 0);
    std::vector<std::uint64_t> now(8, 0);
    before[0] = now[0] = 1;
    for (std::int32_t row = 1; row < n; ++row) {
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            const std::uint64_t part = before[i] + carry;
            carry = part < carry ? 1 : 0;
            const std::uint64_t sum = part + now[i];
            carry += sum < part ? 1 : 0;
            before[i] = now[i];
            now[i] = sum;
        }
    }
    Band job(band.view(), {}, BandTask::count_words);
    finish(job, 1);
    auto words = job.count_words();
    words.resize(8);
    CHECK(words == now);
    Band real(band.view(), {}, BandTask::count_real);
    finish(real, 1);
    const double log =
        std::log2(real.count_real().mantissa) + static_cast<double>(real.count_real().exponent);
    const double top = std::scalbn(static_cast<double>(now[3]), 64) + static_cast<double>(now[2]);
    CHECK(std::abs(log - (std::log2(top) + 128)) < 1e-9);
}

void test_stretches_give_what_one_run_gives() {
    std::mt19937 random(5);
    for (int round = 0; round < 40; ++round) {
        const Example band = random_band(random, 60, round % 4, 9);
        const std::size_t rows = band.rows();
        const std::size_t first = 1 + random() % (rows - 2);
        const std::size_t last = first + 1 + random() % (rows - first - 1);
        const double one[] = {1};
        const std::uint64_t one_digit[] = {1};
        const auto pass = [&](BandTask task, BandStretch stretch) {
            const bool words = task == BandTask::forward_words || task == BandTask::back_words;
            Band job(band.view(), words ? std::span<const double>() : band.weights, task, 0,
                     stretch);
            finish(job, 100);
            return job;
        };
        const auto before = pass(BandTask::forward_real, {0, first, {}, one, {}}).layer();
        const auto after = pass(BandTask::back_real, {last, rows, {}, {}, one}).layer();
        Band whole(band.view(), band.weights, BandTask::edges);
        finish(whole, 1e9);
        const auto part =
            pass(BandTask::edges, {first, last, {}, before.values, after.values}).posteriors();
        const auto all = whole.posteriors();
        std::size_t edge = 0;
        for (std::size_t row = 0; row < first; ++row)
            edge += static_cast<std::size_t>(band.stops[row] - band.starts[row]);
        CHECK(!part.empty());
        CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<long>(edge)));
        const auto met = pass(BandTask::forward_real, {first, last, {}, before.values, {}}).layer();
        const double log = std::log2(meet_real(met.values, after.values)) +
                           static_cast<double>(before.exponent + met.exponent + after.exponent);
        const ScaledReal total = whole.count_real();
        CHECK(std::abs(log - std::log2(total.mantissa) - static_cast<double>(total.exponent)) <
              1e-11);
        const BandPlan plan = plan_band(band.view());
        const auto low = pass(BandTask::forward_words, {0, first, one_digit, {}, {}}).digits();
        const auto more = pass(BandTask::forward_words, {first, last, low, {}, {}}).digits();
        const auto high = pass(BandTask::back_words, {last, rows, one_digit, {}, {}}).digits();
        auto met_words = meet_words(more, high, static_cast<std::size_t>(plan.layer_states[last]),
                                    plan.digit_bits);
        Band job(band.view(), {}, BandTask::count_words);
        finish(job, 1e9);
        auto words = job.count_words();
        met_words.resize(std::max(words.size(), met_words.size()));
        words.resize(met_words.size());
        CHECK(words == met_words);
    }
}

void test_stretches_that_do_not_fit_are_refused() {
    std::mt19937 random(6);
    const Example band = random_band(random, 10, 0, 4);
    const std::vector<double> wrong(1000, 1);
    const std::vector<std::pair<BandTask, BandStretch>> bad = {
        {BandTask::forward_real, {3, 3, {}, wrong, {}}},
        {BandTask::forward_real, {3, 5, {}, wrong, {}}},
        {BandTask::back_real, {3, 10, {}, {}, wrong}},
        {BandTask::back_real, {30, 40, {}, {}, wrong}},
        {BandTask::forward_words, {0, 5, {}, {}, {}}},
        {BandTask::edges, {2, 10, {}, wrong, {}}},
    };
    for (const auto& [task, stretch] : bad) {
        bool refused = false;
        try {
            const Band job(band.view(), {}, task, 0, stretch);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
    }
}

void test_wide_spreads_are_told() {
    std::mt19937 random(4);
    Example band = random_band(random, 40, 0, 8);
    for (std::size_t edge = 0; edge < band.edges(); ++edge)
        band.weights[edge] = edge % 3 == 0 ? 1e-200 : 1e200;
    Band job(band.view(), band.weights, BandTask::edges);
    finish(job, 1e9);
    CHECK(job.failed());
}

void test_what_is_no_band_is_refused() {
    const std::vector<std::vector<std::int32_t>> bad_starts = {{0, 2}, {1, 1}, {0, 0}, {}};
    const std::vector<std::vector<std::int32_t>> bad_stops = {{1, 3}, {2, 3}, {2, 1}, {}};
    for (std::size_t i = 0; i < bad_starts.size(); ++i) {
        bool refused = false;
        try {
            static_cast<void>(plan_band({bad_starts[i], bad_stops[i]}));
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
    }
    const std::vector<std::int32_t> starts(40, 0);
    const std::vector<std::int32_t> stops(40, 40);
    CHECK(!plan_band({starts, stops}).feasible);
}

}  // namespace

int main() {
    test_random_bands_agree_with_the_definition();
    test_chances_do_not_depend_on_memory();
    test_a_chance_is_the_share_of_its_matchings();
    test_long_bands_keep_their_digits();
    test_stretches_give_what_one_run_gives();
    test_stretches_that_do_not_fit_are_refused();
    test_wide_spreads_are_told();
    test_what_is_no_band_is_refused();
    return check::report("test_band");
}
