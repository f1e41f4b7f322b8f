// What belief propagation on the whole graph needs: scaled weights and sweeps over them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "belief_propagation/belief_propagation.hpp"

namespace anonymatch {

using Index = std::int32_t;

inline std::size_t at(Index index) noexcept {
    return static_cast<std::size_t>(index);
}

inline constexpr double least_complement = 1e-300;

/// (1 - p)^-kappa from 1 - p.
class Gain {
public:
    explicit Gain(double kappa) : kappa_(kappa) {}
    double operator()(double complement) const noexcept { return std::pow(complement, -kappa_); }

private:
    double kappa_;
};

/// The same for kappa 1.
struct BetheGain {
    double operator()(double complement) const noexcept { return 1.0 / complement; }
    /// weight / total * gain(rest / total).
    [[nodiscard]] double send(double weight, double /*total*/, double rest) const noexcept {
        return weight / rest;
    }
};

/// The same for kappa 1/2, many times as fast as a power.
struct HalfGain {
    double operator()(double complement) const noexcept { return 1.0 / std::sqrt(complement); }
};

/// The same for proposals, right to about 1e-3: any positive number would do there.
class QuickGain {
public:
    explicit QuickGain(double kappa) : spare_(1.0 - kappa) {}
    double operator()(double complement) const noexcept { return power(complement) / complement; }
    [[nodiscard]] double send(double weight, double total, double rest) const noexcept {
        return weight / rest * power(rest / total);
    }

private:
    [[nodiscard]] double power(double complement) const noexcept {
        // complement^spare = 2^(spare * log2(complement)), both by polynomials of degree three.
        const auto bits = std::bit_cast<std::uint64_t>(complement);
        const double mantissa =
            std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFU) | 0x3FF0000000000000U);
        const double log2 =
            static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023) +
            ((0.16404256 * mantissa - 1.09886529) * mantissa + 3.14829793) * mantissa - 2.21347520;
        const double exponent = spare_ * log2;
        // Complements are at most one, so this rounds down (a part of one does no harm).
        const std::int64_t whole = static_cast<std::int64_t>(exponent) - 1;
        const double part = exponent - static_cast<double>(whole);
        const double root = 1.0 + part * (0.69583282 + part * (0.22606716 + part * 0.07810002));
        const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(whole + 1023) << 52);
        return root * scale;
    }

    double spare_;
};

/// The sum of positive terms with the largest apart, so that the sum of the others is at hand.
struct Sum {
    double largest = 0;
    double rest = 0;
    std::size_t where = 0;

    void add(double term, std::size_t index) noexcept {
        if (term > largest) {
            rest += largest;
            largest = term;
            where = index;
        } else {
            rest += term;
        }
    }
    [[nodiscard]] double total() const noexcept { return largest + rest; }
    /// The sum of all terms but this one.
    [[nodiscard]] double without(double term, std::size_t index) const noexcept {
        return index == where ? rest : total() - term;
    }
};

/// State of a run over a block: log a = log b + row_logs + column_logs.
struct Sweeps {
    std::vector<double> scaled;       // b, one an edge
    std::vector<double> complements;  // 1 - z (after the columns), one an edge
    double log_scale = 0;             // sum of all row_logs and column_logs
};

/// Scales the weights to about doubly stochastic, in logs, with an exponent that rises to one:
/// Sinkhorn's scaling alone is slow when weights lie far apart.
Sweeps scaled_weights(const SquareBlock& block);

/// Columns' work space of a sweep.
class Sweeper {
public:
    void reserve(Index n) { columns_.reserve(at(n)), factors_.reserve(at(n)); }

    /// Rows, then columns, once each; gives the residual.
    template <class G>
    double sweep(const SquareBlock& block, Sweeps& state, const G& gain, double damping) {
        columns_.assign(at(block.n), Sum{});
        for (Index i = 0; i < block.n; ++i) update_row(block, state, gain, i);
        return update_columns(block, state, gain, damping);
    }

private:
    template <class G>
    void update_row(const SquareBlock& block, Sweeps& state, const G& gain, Index row) {
        const std::size_t first = at(block.indptr[at(row)]);
        const std::size_t last = at(block.indptr[at(row) + 1]);
        Sum sum;
        for (std::size_t e = first; e < last; ++e) {
            const double term = state.scaled[e] * gain(state.complements[e]);
            state.complements[e] = term;
            sum.add(term, e);
        }
        const double factor = 1.0 / sum.total();
        state.log_scale -= std::log(factor);
        for (std::size_t e = first; e < last; ++e) {
            const double complement =
                std::max(sum.without(state.complements[e], e) * factor, least_complement);
            state.complements[e] = complement;
            state.scaled[e] = std::max(state.scaled[e] * factor, least_scaled_weight);
            columns_[at(block.indices[e])].add(state.scaled[e] * gain(complement), e);
        }
    }

    template <class G>
    double update_columns(const SquareBlock& block, Sweeps& state, const G& gain, double damping) {
        factors_.resize(at(block.n));
        for (std::size_t j = 0; j < at(block.n); ++j) {
            const double total = columns_[j].total();
            factors_[j] = 1.0 / total;
            state.log_scale += std::log(total);
        }
        double residual = 0;
        for (std::size_t e = 0; e < block.indices.size(); ++e) {
            const std::size_t j = at(block.indices[e]);
            const double term = state.scaled[e] * gain(state.complements[e]);
            const double fresh =
                std::max(columns_[j].without(term, e) * factors_[j], least_complement);
            const double old = state.complements[e];
            residual = std::max(residual, std::abs(fresh - old));
            state.complements[e] = fresh + damping * (old - fresh);
            state.scaled[e] = std::max(state.scaled[e] * factors_[j], least_scaled_weight);
        }
        return residual;
    }

    std::vector<Sum> columns_;
    std::vector<double> factors_;
};

}  // namespace anonymatch
