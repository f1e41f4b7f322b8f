#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "swap_chain/swap_chain.hpp"
#include "swap_chain/swap_chain_sweep.hpp"

namespace am = anonymatch;

namespace {

/// Six messages under delays from 2 to 8 s: 14 matchings.
struct Case {
    std::vector<double> came{0, 1, 2, 3, 4, 5.5};
    std::vector<double> left{2.5, 4, 6, 7, 9.5, 12};
    std::vector<std::int32_t> first, last;
    std::vector<double> weights;

    Case() {
        for (const double s : came) {
            std::int32_t begin = 6;
            std::int32_t end = 0;
            for (std::int32_t j = 0; j < 6; ++j) {
                const double delay = left[static_cast<std::size_t>(j)] - s;
                if (delay < 2 || delay > 8) continue;
                if (s == 0 && j > 0) continue;  // only the first message fits the first departure
                begin = std::min(begin, j);
                end = j + 1;
                weights.push_back(1.0);
            }
            first.push_back(begin);
            last.push_back(end);
        }
    }
    [[nodiscard]] am::SwapBand band(bool weighted) const {
        if (weighted) return {first, last, weights};
        return {first, last, {}};
    }
};

void the_chain_visits_all_matchings_alike() {
    const Case test;
    for (const bool weighted : {false, true}) {
        am::SwapChain chain(test.band(weighted), std::vector<std::int32_t>(6, 5), 1);
        std::vector<double> own(6, 0.0);
        const int sweeps = 2000;
        for (int k = 0; k < sweeps; ++k) {
            chain.sweep(0.0, 5, 1, {});
            for (std::size_t lane = 0; lane < am::swap_chain_lanes; ++lane)
                own[static_cast<std::size_t>(chain.matching(lane)[3])] += 1;
        }
        double doubt = 0.0;
        for (const double count : own) {
            const double p = count / (sweeps * static_cast<double>(am::swap_chain_lanes));
            if (p > 0) doubt -= p * std::log2(p);
        }
        CHECK(std::abs(doubt - 1.577406) < 0.02);
    }
}

void the_scaling_is_doubly_stochastic_and_bounds_hold() {
    const Case test;
    am::BandScaling scaling(test.band(false));
    scaling.steps(200, 1.0, {});
    CHECK(scaling.finish() < 1e-9);
    const am::SwapChain chain(test.band(false), std::vector<std::int32_t>(6, 1), 1);
    const auto rows = chain.rows(scaling, 0, 6, 6);
    double upper = 0.0;
    for (std::size_t i = 0; i < 6; ++i)
        upper += rows.upper[i] - std::log(scaling.rows()[i]) - std::log(scaling.columns()[i]);
    CHECK(rows.positive);
    CHECK(rows.lower <= std::log(14.0));
    CHECK(upper >= std::log(14.0));
    CHECK(std::abs(rows.shannon[0]) < 1e-9);
}

void every_instruction_set_makes_the_same_choices() {
#if defined(__x86_64__)
    const Case test;
    std::vector<float> logs(test.weights.size());
    for (std::size_t e = 0; e < logs.size(); ++e) logs[e] = -0.1F * static_cast<float>(e % 7);
    const auto offsets = am::swap_offsets(test.band(true));
    std::vector<std::vector<std::int32_t>> held;
    std::vector<am::swap_chain::SweepStretch> all{
        am::swap_chain::sweep_stretch_portable(true, true)};
    if (__builtin_cpu_supports("avx2"))
        all.push_back(am::swap_chain::sweep_stretch_avx2(true, true));
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        all.push_back(am::swap_chain::sweep_stretch_avx512(true, true));
    for (const auto stretch : all) {
        std::vector<std::int32_t> lengths, reach(6, 5), state;
        std::vector<float> held_logs;
        for (std::size_t i = 0; i < 6; ++i) {
            lengths.push_back(test.last[i] - test.first[i]);
            const auto entry =
                static_cast<std::size_t>(offsets[i]) + i - static_cast<std::size_t>(test.first[i]);
            for (std::size_t lane = 0; lane < am::swap_chain_lanes; ++lane) {
                state.push_back(static_cast<std::int32_t>(i));
                held_logs.push_back(logs[entry]);
            }
        }
        std::uint32_t random[4][16];
        for (std::uint32_t k = 0; k < 64; ++k) random[k / 16][k % 16] = 2654435761U * (k + 1);
        std::uint64_t shared = 7;
        const am::swap_chain::Sweep sweep{test.first.data(),
                                          lengths.data(),
                                          offsets.data(),
                                          reach.data(),
                                          logs.data(),
                                          state.data(),
                                          held_logs.data(),
                                          random,
                                          &shared,
                                          6,
                                          0.1F,
                                          5};
        std::int32_t crossing[16] = {}, taken[16] = {};
        for (int k = 0; k < 50; ++k) stretch(sweep, 0, 6, crossing, taken);
        held.push_back(state);
    }
    for (const auto& state : held) CHECK(state == held.front());
#endif
}

}  // namespace

int main() {
    the_chain_visits_all_matchings_alike();
    the_scaling_is_doubly_stochastic_and_bounds_hold();
    every_instruction_set_makes_the_same_choices();
    return check::report("test_swap_chain");
}
