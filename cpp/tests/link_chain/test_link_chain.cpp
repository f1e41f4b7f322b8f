#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "link_chain/link_chain.hpp"
#include "link_chain/link_chain_sweep.hpp"

namespace am = anonymatch;

namespace {

/// Three messages in, four out: the second may not be the last.
struct Case {
    std::vector<std::int32_t> first{0, 0, 1}, last{3, 3, 4};
    std::vector<double> weights{1.0, 2.0, 0.5, 0.7, 1.0, 1.5, 2.0, 0.3, 1.0};
    std::vector<double> unpaired{0.5, 0.2, 1.0};
    double cover = 0.4;

    [[nodiscard]] am::LinkBand band(bool weighted) const {
        if (weighted) return {first, last, weights, 4};
        return {first, last, {}, 4};
    }
    [[nodiscard]] double weight(bool weighted, std::size_t i, std::int32_t j) const {
        if (j < 0) return unpaired[i];
        if (j < first[i] || j >= last[i]) return 0.0;
        return weighted ? weights[3 * i + static_cast<std::size_t>(j - first[i])] : 1.0;
    }
    /// Probability of each column of the first row, and of none, by definition.
    [[nodiscard]] std::vector<double> truth(bool weighted) const {
        std::vector<double> own(5, 0.0);
        double total = 0.0;
        for (std::int32_t a = -1; a < 4; ++a)
            for (std::int32_t b = -1; b < 4; ++b)
                for (std::int32_t c = -1; c < 4; ++c) {
                    if ((a >= 0 && (a == b || a == c)) || (b >= 0 && b == c)) continue;
                    const int pairs = (a >= 0) + (b >= 0) + (c >= 0);
                    const double product = weight(weighted, 0, a) * weight(weighted, 1, b) *
                                           weight(weighted, 2, c) * std::pow(cover, 4 - pairs);
                    own[static_cast<std::size_t>(a + 1)] += product;
                    total += product;
                }
        for (double& p : own) p /= total;
        return own;
    }
    [[nodiscard]] am::LinkChain chain(bool weighted) const {
        am::LinkChain chain(band(weighted), std::vector<std::int32_t>{2, 1, 1},
                            am::first_in_first_out(band(weighted)), 1);
        std::vector<double> logs;
        for (const double weight : unpaired) logs.push_back(std::log(weight));
        chain.set_weights(logs, std::log(cover));
        return chain;
    }
};

void explanations_are_visited_by_their_weights() {
    const Case test;
    for (const bool weighted : {false, true}) {
        am::LinkChain chain = test.chain(weighted);
        std::vector<double> own(5, 0.0);
        const int sweeps = 4000;
        for (int k = 0; k < sweeps; ++k) {
            chain.sweep(1, {}, 0.0, {}, {});
            for (std::size_t lane = 0; lane < am::link_chain_lanes; ++lane)
                own[static_cast<std::size_t>(chain.explanation(lane)[0] + 1)] += 1.0;
        }
        const auto truth = test.truth(weighted);
        for (std::size_t j = 0; j < own.size(); ++j)
            CHECK(std::abs(own[j] / (sweeps * 16.0) - truth[j]) < 0.01);
    }
}

void a_column_is_never_two_messages_and_limits_hold() {
    const Case test;
    am::LinkChain chain = test.chain(true);
    chain.set_limits(1, 2);
    for (int k = 0; k < 200; ++k) {
        chain.sweep(1, {}, 0.0, {}, {});
        for (std::size_t lane = 0; lane < am::link_chain_lanes; ++lane) {
            const auto columns = chain.explanation(lane);
            std::vector<int> used(4, 0);
            int pairs = 0;
            for (std::size_t i = 0; i < columns.size(); ++i) {
                if (columns[i] < 0) continue;
                CHECK(test.weight(true, i, columns[i]) > 0.0);
                CHECK(++used[static_cast<std::size_t>(columns[i])] == 1);
                ++pairs;
            }
            CHECK(pairs >= 1);
            CHECK(k < 100 || pairs <= 2);
        }
    }
}

void the_scaling_adds_up_to_one() {
    const Case test;
    am::LinkScaling scaling(test.band(true), test.unpaired, test.cover);
    CHECK(scaling.steps(200, 1.0, {}) < 1e-9);
    const auto alone = scaling.alone();
    for (std::size_t i = 0; i < 3; ++i) {
        double sum = alone[i];
        for (std::int32_t j = test.first[i]; j < test.last[i]; ++j)
            sum += scaling.rows()[i] * test.weight(true, i, j) *
                   scaling.columns()[static_cast<std::size_t>(j)];
        CHECK(std::abs(sum - 1.0) < 1e-9);
    }
}

/// What a sweep writes, for one instruction set.
struct State {
    std::vector<std::int32_t> held = std::vector<std::int32_t>(3 * 16, -1);
    std::vector<float> held_logs = std::vector<float>(3 * 16, 0.0F);
    std::vector<std::uint16_t> open = std::vector<std::uint16_t>(5, 0xFFFF);
    std::vector<std::int32_t> pairs = std::vector<std::int32_t>(16, 0);
    std::uint32_t random[4][16];
    std::uint64_t shared = 7;

    void run(const Case& test, bool weighted, am::link_chain::SweepStretch stretch) {
        for (std::uint32_t k = 0; k < 4; ++k)
            for (std::uint32_t l = 0; l < 16; ++l)
                random[k][l] = 0x9E3779B9U * (16 * k + l + 1) | 1U;
        const std::vector<am::link_chain::Run> runs{{0, 3}, {0, 3}, {1, 3}};
        const std::vector<std::int64_t> offsets{0, 3, 6, 9};
        const std::vector<std::int32_t> reach{2, 1, 1};
        std::vector<float> logs, unpaired, lengths{0.0F, 0.0F, 0.6931472F, 1.0986123F};
        for (const double weight : test.weights)
            logs.push_back(static_cast<float>(std::log(weight)));
        logs.push_back(0.0F);
        for (const double weight : test.unpaired)
            unpaired.push_back(static_cast<float>(std::log(weight)));
        const am::link_chain::Sweep sweep{runs.data(),
                                          runs.data(),
                                          offsets.data(),
                                          reach.data(),
                                          weighted ? logs.data() : nullptr,
                                          lengths.data(),
                                          unpaired.data(),
                                          -0.9F,
                                          held.data(),
                                          held_logs.data(),
                                          open.data(),
                                          pairs.data(),
                                          0,
                                          100,
                                          random,
                                          &shared,
                                          3};
        for (int k = 0; k < 50; ++k) stretch(sweep, 0, 3);
    }
};

void every_instruction_set_makes_the_same_choices() {
#if defined(__x86_64__)
    const Case test;
    for (const bool weighted : {false, true}) {
        State portable;
        portable.run(test, weighted, am::link_chain::sweep_stretch_portable(weighted));
        if (__builtin_cpu_supports("avx2")) {
            State other;
            other.run(test, weighted, am::link_chain::sweep_stretch_avx2(weighted));
            CHECK(other.held == portable.held);
            CHECK(other.pairs == portable.pairs);
        }
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
            State other;
            other.run(test, weighted, am::link_chain::sweep_stretch_avx512(weighted));
            CHECK(other.held == portable.held);
            CHECK(other.open == portable.open);
        }
    }
#endif
}

}  // namespace

int main() {
    explanations_are_visited_by_their_weights();
    a_column_is_never_two_messages_and_limits_hold();
    the_scaling_adds_up_to_one();
    every_instruction_set_makes_the_same_choices();
    return check::report("test_link_chain");
}
