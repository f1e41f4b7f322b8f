// Exponential stages, one after another, whose rates may differ.
//
// The order of stages does not change the law of their sum, so the slowest is the last, and time is
// counted in its mean. Everything is over e^-x, what a message in the last stage weighs after x:
// so nothing overflows, as all other stages are as fast or faster.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "phase_chain/phase_chain.hpp"

namespace anonymatch::phase_chain {

constexpr std::size_t most_stages = phase_chain_largest;
constexpr std::size_t most_steps = most_stages * (most_stages - 1) / 2;

/// Weights to be in stage b after a gap, from stage a; over those of the last stage to stay.
using Transitions = std::array<std::array<double, most_stages>, most_stages>;

/// The moves of a gap one after another: from stage `stage[k]` to the next, by `size[k]`.
struct Steps {
    std::size_t number = 0;
    std::array<std::size_t, most_steps> stage{};
    std::array<double, most_steps> size{};
    // ln of what each message in a stage weighs if it stays, beside one in the last stage.
    std::array<double, most_stages> stay{};
};

class Stages {
public:
    Stages() = default;
    explicit Stages(const PhaseModel& model);

    [[nodiscard]] std::size_t number() const { return number_; }
    /// Time beyond which a gap is to be cut in two, so that its steps are exact.
    [[nodiscard]] double longest_gap() const;
    [[nodiscard]] Transitions transitions(double gap) const;
    /// A gap is a product of positive steps from one stage to the next (Loewner, Whitney). A longer
    /// one than that is taken as that.
    [[nodiscard]] Steps steps(double gap) const;
    /// Density of the sum of all stages, over e^-x.
    [[nodiscard]] double density(double x) const;
    /// Its natural log, with e^-x; of stages with different rates from a table, to 1e-10.
    [[nodiscard]] double log_density(double x) const;
    /// Probability that the sum is larger, over e^-x.
    [[nodiscard]] double survival(double x) const;

private:
    std::size_t number_ = 1;
    std::array<double, most_stages> rates_{1, 1, 1, 1};
    bool equal_ = true;
    double fastest_ = 1;
    double log_factorial_ = 0;
    std::vector<double> table_;  // ln of density over x^(stages - 1), by ln(1 + fastest x)

    void fill_table();
    [[nodiscard]] double slope_at_zero() const;
};

}  // namespace anonymatch::phase_chain
