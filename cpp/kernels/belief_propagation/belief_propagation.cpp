#include "belief_propagation/belief_propagation.hpp"

#include <algorithm>
#include <cmath>

#include "belief_propagation/messages.hpp"

namespace anonymatch {
namespace {

/// One more half sweep over the rows, after which both messages of every edge are known: the value
/// is stationary there, so an error of the messages enters it squared.
void read_off(const SquareBlock& block, const Sweeps& state, double kappa,
              BeliefPropagation& result) {
    const Gain gain(kappa);
    std::vector<double> columns(at(block.n), 0.0);
    double log = state.log_scale;
    double edges = 0;
    for (Index i = 0; i < block.n; ++i) {
        const std::size_t first = at(block.indptr[at(i)]);
        const std::size_t last = at(block.indptr[at(i) + 1]);
        Sum sum;
        for (std::size_t e = first; e < last; ++e) {
            result.marginals[e] = state.scaled[e] * gain(state.complements[e]);
            sum.add(result.marginals[e], e);
        }
        const double total = sum.total();
        log += std::log(total);
        for (std::size_t e = first; e < last; ++e) {
            const double share = result.marginals[e] / total;
            const double complement =
                std::max(sum.without(result.marginals[e], e) / total, least_complement);
            result.marginals[e] = share;
            columns[at(block.indices[e])] += state.scaled[e] / total * gain(complement);
            edges += kappa == 1.0 ? -std::log1p(share / complement) : kappa * std::log(complement);
        }
    }
    for (const double column : columns) log += std::log(column);
    result.log = log + edges;
}

template <class G>
void iterate(const SquareBlock& block, const BeliefPropagationOptions& options, const G& gain,
             CancelFlag cancel, Sweeps& state, BeliefPropagation& result) {
    Sweeper sweeper;
    result.residual = 1.0;
    while (result.sweeps < options.sweeps && result.residual > options.tolerance &&
           !cancel.raised()) {
        result.residual = sweeper.sweep(block, state, gain, options.damping);
        ++result.sweeps;
    }
}

}  // namespace

BeliefPropagation propagate_beliefs(const SquareBlock& block,
                                    const BeliefPropagationOptions& options, CancelFlag cancel) {
    BeliefPropagation result;
    if (block.n == 1) {
        result.log = block.weights.empty() ? 0.0 : std::log(block.weights[0]);
        result.marginals.assign(1, 1.0);
        return result;
    }
    Sweeps state = scaled_weights(block);
    if (options.kappa == 1.0) {
        iterate(block, options, BetheGain{}, cancel, state, result);
    } else if (options.kappa == 0.5) {
        iterate(block, options, HalfGain{}, cancel, state, result);
    } else {
        iterate(block, options, Gain(options.kappa), cancel, state, result);
    }
    result.marginals.resize(block.indices.size());
    read_off(block, state, options.kappa, result);
    return result;
}

}  // namespace anonymatch
