// Counts by stage against sums over all explanations. All seeds are fixed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "phase_chain/phase_chain.hpp"

namespace {

using namespace anonymatch;

struct Log {
    std::vector<double> arrivals, departures;
    double end = 0;
    std::vector<double> early{};  // weights of departures to have been inside before, if any
};

/// Sums over all explanations, by definition.
struct Truth {
    double total = 0;
    std::vector<double> pairs, lost, inside;
};

double power(double x, int k) {
    return std::pow(x, k) / std::tgamma(k + 1.0);
}

double survival(double x, int hops) {
    double sum = 0;
    for (int k = 0; k < hops; ++k) sum += power(x, k);
    return std::exp(-x) * sum;
}

void explain(const Log& log, const PhaseModel& model, std::vector<int>& chosen, double weight,
             Truth& truth) {
    const std::size_t i = chosen.size(), m = log.departures.size();
    if (weight == 0) return;
    if (i == log.arrivals.size()) {
        const auto matched =
            std::count_if(chosen.begin(), chosen.end(), [](int c) { return c >= 0; });
        const auto lost = std::count(chosen.begin(), chosen.end(), -1);
        const auto stay = std::count(chosen.begin(), chosen.end(), -2);
        const auto cover = static_cast<std::ptrdiff_t>(m) - matched;
        if (model.counted == PhaseCount::lost && lost != model.count_end) return;
        if (model.counted == PhaseCount::cover && cover != model.count_end) return;
        if (model.total_end >= 0 && stay != model.total_end) return;
        for (std::size_t j = 0; j < m; ++j)
            if (std::find(chosen.begin(), chosen.end(), static_cast<int>(j)) == chosen.end())
                weight *= model.cover + (log.early.empty() ? 0.0 : log.early[j]);
        truth.total += weight;
        for (std::size_t k = 0; k < i; ++k) {
            if (chosen[k] == -1)
                truth.lost[k] += weight;
            else if (chosen[k] == -2)
                truth.inside[k] += weight;
            else
                truth.pairs[k * m + static_cast<std::size_t>(chosen[k])] += weight;
        }
        return;
    }
    const auto go = [&](int what, double factor) {
        chosen.push_back(what);
        explain(log, model, chosen, weight * factor, truth);
        chosen.pop_back();
    };
    go(-1, model.loss);
    go(-2, (1 - model.loss) * survival(log.end - log.arrivals[i], model.hops));
    for (std::size_t j = 0; j < m; ++j) {
        const double d = log.departures[j] - log.arrivals[i];
        const int name = static_cast<int>(j);
        if (d < 0 || std::find(chosen.begin(), chosen.end(), name) != chosen.end()) continue;
        const double weight_here = d > 0 || model.hops == 1 ? power(d, model.hops - 1) : 0.0;
        go(name, (1 - model.loss) * weight_here * std::exp(-d));
    }
}

Truth by_definition(const Log& log, const PhaseModel& model) {
    const std::size_t n = log.arrivals.size();
    Truth truth{0, std::vector<double>(n * log.departures.size()), std::vector<double>(n),
                std::vector<double>(n)};
    std::vector<int> chosen;
    explain(log, model, chosen, 1.0, truth);
    return truth;
}

Log random_log(std::uint64_t seed) {
    Random random(seed, 0);
    Log log;
    const auto n = 1 + static_cast<std::size_t>(random.unit() * 5);
    const auto m = static_cast<std::size_t>(random.unit() * 5);
    for (std::size_t k = 0; k < n; ++k) log.arrivals.push_back(6 * random.unit());
    for (std::size_t k = 0; k < m; ++k) log.departures.push_back(2 + 8 * random.unit());
    std::sort(log.arrivals.begin(), log.arrivals.end());
    std::sort(log.departures.begin(), log.departures.end());
    log.end = 10 + random.unit();
    return log;
}

PhaseChain solved(const Log& log, const PhaseModel& model) {
    PhaseChain chain(model, log.arrivals, log.departures, log.end, log.early);
    while (chain.forward(1e4)) {
    }
    if (chain.possible())
        while (chain.backward(true)) {
        }
    return chain;
}

void test_figures_are_those_by_definition() {
    int possible = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Log log = random_log(seed);
        Random random(seed, 1);
        if (seed % 3 == 0)
            for (const double time : log.departures) log.early.push_back(0.7 * std::exp(-time));
        PhaseModel model;
        model.hops = 1 + static_cast<int>(seed % 4);
        model.loss = random.unit() < 0.5 ? 0.0 : 0.3;
        model.cover = random.unit() < 0.5 ? 0.0 : 0.4;
        model.total_end = random.unit() < 0.5 ? -1 : static_cast<std::int32_t>(2 * random.unit());
        if (log.early.empty() && model.loss > 0 && model.cover > 0 && random.unit() < 0.6) {
            model.counted = random.unit() < 0.5 ? PhaseCount::lost : PhaseCount::cover;
            model.count_end = static_cast<std::int32_t>(3 * random.unit());
        }
        const Truth truth = by_definition(log, model);
        PhaseChain chain = solved(log, model);
        CHECK_EQUAL(chain.possible(), truth.total > 0);
        if (truth.total == 0) continue;
        ++possible;
        CHECK(std::abs(chain.log_evidence() - std::log(truth.total)) < 1e-11);
        const std::size_t n = log.arrivals.size();
        const std::vector<double> none(n, 0.0);
        std::vector<double> pairs(n * log.departures.size(), 0.0);
        const PhaseRows rows = chain.rows(0, n, 1e-12, none, none, pairs);
        const std::vector<double> lost = chain.lost();
        CHECK(rows.error < 1e-10);
        CHECK(chain.cut_off() < 1e-11);
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(std::abs(lost[i] - truth.lost[i] / truth.total) < 1e-11);
            CHECK(std::abs(rows.inside[i] - truth.inside[i] / truth.total) < 1e-10);
        }
        for (std::size_t k = 0; k < pairs.size(); ++k)
            CHECK(std::abs(pairs[k] - truth.pairs[k] / truth.total) < 1e-10);
    }
    CHECK(possible > 150);
}

/// Figures from drawn paths are near the exact ones, by their own standard errors.
void test_paths_are_drawn_from_the_posterior() {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Log log = random_log(40 + seed);
        PhaseModel model;
        model.hops = 1 + static_cast<int>(seed % 4);
        model.loss = 0.2;
        model.cover = 0.3;
        if (seed % 2 == 0) log.early.assign(log.departures.size(), 0.2);
        PhaseChain chain = solved(log, model);
        const std::size_t n = log.arrivals.size();
        const std::vector<double> none(n, 0.0);
        const PhaseRows exact = chain.rows(0, n, 1e-12, none, none, {});
        PhaseSampler sampler(chain, 10, 400, seed, none, none);
        while (sampler.back()) {
        }
        const PhaseRows& drawn = sampler.rows();
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(std::abs(drawn.departed[i] - exact.departed[i]) < 0.05);
            CHECK(std::abs(drawn.shannon_all[i] - exact.shannon_all[i]) <
                  6 * drawn.shannon_all_error[i] + 1e-9);
            CHECK(std::abs(drawn.largest[i] - exact.largest[i]) <
                  6 * drawn.largest_error[i] + 1e-9);
        }
    }
}

/// Gaps from the tiniest to the longest: sums neither overflow nor vanish.
void test_gaps_of_any_length() {
    for (const double gap : {1e-30, 1e-3, 1.0, 1e3, 1e9, 1e15}) {
        for (int hops = 2; hops <= phase_chain_largest; ++hops) {
            const Log log{{0, 0, 0}, {gap, gap, gap}, gap};
            PhaseModel model;
            model.hops = hops;
            model.total_end = 0;
            model.epsilon = gap < 1 ? 0.0 : 1e-16;
            PhaseChain chain = solved(log, model);
            const double expected = std::log(6.0) + 3 * ((hops - 1) * std::log(gap) - gap -
                                                         std::lgamma(static_cast<double>(hops)));
            CHECK(chain.possible());
            CHECK(std::abs(chain.log_evidence() - expected) < 1e-11 * (1 + std::abs(expected)));
        }
    }
}

void test_refusals_and_the_flag() {
    const auto refused = [](const PhaseModel& model, const Log& log) {
        try {
            static_cast<void>(PhaseChain(model, log.arrivals, log.departures, log.end, log.early));
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    PhaseModel model;
    CHECK(refused(model, {{1, 0}, {2}, 3}));
    CHECK(refused(model, {{0, 1}, {4}, 3}));
    CHECK(refused(model, {{0, std::nan("")}, {2}, 3}));
    CHECK(refused(model, {{0, 1}, {2}, 3, {0.5, 0.5}}));
    CHECK(refused(model, {{0, 1}, {2}, 3, {-1}}));
    model.hops = phase_chain_largest + 1;
    CHECK(refused(model, {{0}, {1}, 3}));
    model.hops = 2;
    model.loss = 1;
    CHECK(refused(model, {{0}, {1}, 3}));
    model.loss = 0;
    const Log log{{0, 1}, {2, 3}, 3};
    PhaseChain chain = solved(log, model);
    const std::vector<double> none(2, 0.0);
    const std::uint8_t raised = 1;
    CHECK_EQUAL(chain.rows(0, 2, 1e-12, none, none, {}, CancelFlag(&raised)).shannon.size(), 0U);
}

}  // namespace

int main() {
    test_figures_are_those_by_definition();
    test_paths_are_drawn_from_the_posterior();
    test_gaps_of_any_length();
    test_refusals_and_the_flag();
    return check::report("test_phase_chain");
}
