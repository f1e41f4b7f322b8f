#include "importance/importance_leaf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace anonymatch {

Leaf::Leaf() : starts_{0} {}

void Leaf::clear() {
    edges_.clear();
    starts_.assign(1, 0);
}

void Leaf::end_row() {
    starts_.push_back(edges_.size());
}

double Leaf::solve() {
    const std::size_t full = (std::size_t{1} << n_rows()) - 1;
    double log = 0;
    for (std::size_t row = 0; row < n_rows(); ++row) {
        double largest = 0;
        for (std::size_t e = starts_[row]; e < starts_[row + 1]; ++e)
            largest = std::max(largest, edges_[e].weight);
        if (largest == 0) return -HUGE_VAL;
        log += std::log(largest);
        for (std::size_t e = starts_[row]; e < starts_[row + 1]; ++e) edges_[e].weight /= largest;
    }
    ahead_.assign(full + 1, 0.0);
    ahead_[0] = 1.0;
    for (std::size_t mask = 0; mask < full; ++mask) {
        const double value = ahead_[mask];
        if (value == 0) continue;
        const auto row = static_cast<std::size_t>(std::popcount(mask));
        for (std::size_t e = starts_[row]; e < starts_[row + 1]; ++e) {
            const std::size_t bit = std::size_t{1} << edges_[e].column;
            if ((mask & bit) == 0) ahead_[mask | bit] += value * edges_[e].weight;
        }
    }
    return log + std::log(ahead_[full]);
}

void Leaf::marginals(std::vector<double>& chances) {
    const std::size_t full = (std::size_t{1} << n_rows()) - 1;
    back_.assign(full + 1, 0.0);
    back_[full] = 1.0 / ahead_[full];
    chances.assign(edges_.size(), 0.0);
    for (std::size_t mask = full; mask-- > 0;) {
        const double value = ahead_[mask];
        if (value == 0) continue;
        const auto row = static_cast<std::size_t>(std::popcount(mask));
        double sum = 0;
        for (std::size_t e = starts_[row]; e < starts_[row + 1]; ++e) {
            const std::size_t bit = std::size_t{1} << edges_[e].column;
            if ((mask & bit) != 0) continue;
            const double term = edges_[e].weight * back_[mask | bit];
            chances[e] += value * term;
            sum += term;
        }
        back_[mask] = sum;
    }
}

void Leaf::sample(Random& random, std::vector<std::int32_t>& choice) const {
    std::size_t mask = (std::size_t{1} << n_rows()) - 1;
    choice.assign(n_rows(), -1);
    for (std::size_t row = n_rows(); row-- > 0;) {
        double left = random.unit() * ahead_[mask];
        for (std::size_t e = starts_[row]; e < starts_[row + 1]; ++e) {
            const std::size_t bit = std::size_t{1} << edges_[e].column;
            if ((mask & bit) == 0 || ahead_[mask ^ bit] == 0) continue;
            // Rounding may leave a little at the end: it belongs to the last choice.
            choice[row] = static_cast<std::int32_t>(e);
            left -= ahead_[mask ^ bit] * edges_[e].weight;
            if (left < 0) break;
        }
        mask ^= std::size_t{1} << edges_[static_cast<std::size_t>(choice[row])].column;
    }
}

}  // namespace anonymatch
