#include "planar/planar.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "planar/planar_lanes.hpp"
#include "planar/planarity.hpp"

namespace anonymatch {
namespace {

using Index = std::int32_t;
using planar::Lanes;
__extension__ typedef unsigned __int128 Wide;

inline std::size_t at(std::int64_t index) noexcept {
    return static_cast<std::size_t>(index);
}

/// The graph of matched pairs: two are neighbours if an edge joins them.
struct Pairs {
    std::vector<Index> starts, neighbours;

    Pairs(const BipartiteView& block, std::span<const Index> user_of_behaviour) {
        const std::size_t n = at(block.n_users);
        std::vector<std::vector<Index>> around(n);
        for (std::size_t u = 0; u < n; ++u)
            for (Index e = block.indptr[u]; e < block.indptr[u + 1]; ++e) {
                const Index v = user_of_behaviour[at(block.indices[at(e)])];
                if (at(v) == u) continue;
                around[u].push_back(v);
                around[at(v)].push_back(static_cast<Index>(u));
            }
        starts.push_back(0);
        for (auto& row : around) {
            std::sort(row.begin(), row.end());
            row.erase(std::unique(row.begin(), row.end()), row.end());
            neighbours.insert(neighbours.end(), row.begin(), row.end());
            starts.push_back(static_cast<Index>(neighbours.size()));
        }
    }
};

double centred(double value, double prime) {
    return value > prime / 2 ? value - prime : value;
}

double canonical(double value, double prime) {
    return value < 0 ? value + prime : value;
}

std::uint64_t times_modulo(std::uint64_t x, std::uint64_t y, std::uint64_t p) {
    return static_cast<std::uint64_t>(static_cast<Wide>(x) * y % p);
}

std::uint64_t inverse_modulo(std::uint64_t x, std::uint64_t p) {
    std::uint64_t result = 1;
    for (std::uint64_t k = p - 2; k != 0; k >>= 1) {
        if ((k & 1) != 0) result = times_modulo(result, x, p);
        x = times_modulo(x, x, p);
    }
    return result;
}

}  // namespace

std::optional<PlanarPlan> PlanarPlan::make(const BipartiteView& block, CancelFlag cancel) {
    if (block.n_users != block.n_behaviours) throw std::invalid_argument("not square");
    const auto signs = kasteleyn_signs(block);
    if (!signs) return std::nullopt;
    const Structure structure = find_structure(block, cancel);
    if (structure.stopped) return std::nullopt;
    if (structure.n_matched != block.n_users) throw std::invalid_argument("no matching");
    const auto& user_of = structure.user_of_behaviour;
    const Pairs pairs(block, user_of);
    PlanarPlan plan;
    plan.pattern_ =
        minimum_degree(pairs.starts, pairs.neighbours, std::numeric_limits<Index>::max(), cancel);
    if (!plan.pattern_.complete) return std::nullopt;
    const Elimination& pattern = plan.pattern_;
    std::vector<Index> rank(pattern.order.size());
    for (std::size_t k = 0; k < rank.size(); ++k)
        rank[at(pattern.order[k])] = static_cast<Index>(k);
    std::vector<std::int8_t> column_sign(rank.size(), 1);
    for (std::size_t u = 0; u < rank.size(); ++u)
        for (Index e = block.indptr[u]; e < block.indptr[u + 1]; ++e)
            if (at(user_of[at(block.indices[at(e)])]) == u) column_sign[u] = (*signs)[at(e)];
    for (std::size_t u = 0; u < rank.size(); ++u)
        for (Index e = block.indptr[u]; e < block.indptr[u + 1]; ++e) {
            const std::size_t v = at(user_of[at(block.indices[at(e)])]);
            const Index row = rank[u], column = rank[v];
            const Index low = std::min(row, column), high = std::max(row, column);
            Entry entry;
            entry.sign = static_cast<std::int8_t>((*signs)[at(e)] * column_sign[v]);
            entry.part = static_cast<std::int8_t>(row < column ? 1 : row > column ? -1 : 0);
            if (entry.part == 0) {
                entry.position = row;
            } else {
                const auto first = pattern.fronts.begin() + pattern.starts[at(low)];
                const auto last = pattern.fronts.begin() + pattern.starts[at(low) + 1];
                entry.position = std::lower_bound(first, last, high) - pattern.fronts.begin();
            }
            plan.entries_.push_back(entry);
        }
    return plan;
}

double PlanarPlan::run_bytes(bool edges) const noexcept {
    const auto n = static_cast<double>(pattern_.order.size());
    const auto entries = static_cast<double>(pattern_.fronts.size());
    const double factors = (2 * n + 2 * entries) * sizeof(Lanes);
    if (!edges) return factors;
    return factors + (n + 2 * entries + static_cast<double>(entries_.size())) * sizeof(Lanes);
}

PlanarResidues PlanarPlan::run(const PlanarPrimes& primes, std::span<const double> weights,
                               bool edges, CancelFlag cancel) const {
    const std::size_t n = pattern_.order.size(), m = entries_.size();
    const auto lanes = static_cast<std::size_t>(planar_lanes);
    if (!weights.empty() && weights.size() != lanes * m)
        throw std::invalid_argument("weights must have a lane a prime for each edge");
    planar::Factors factors;
    for (std::size_t l = 0; l < lanes; ++l) {
        if (!(primes[l] >= 3 && primes[l] < planar_prime_limit))
            throw std::invalid_argument("primes must be odd and below 2^49");
        factors.prime.lane[l] = primes[l];
        factors.reciprocal.lane[l] = 1 / primes[l];
    }
    std::vector<Lanes> diagonal(n, Lanes{}), inverse(n, Lanes{});
    std::vector<Lanes> upper(pattern_.fronts.size(), Lanes{}), lower(upper.size(), Lanes{});
    factors.starts = pattern_.starts;
    factors.fronts = pattern_.fronts;
    factors.diagonal = diagonal;
    factors.upper = upper;
    factors.lower = lower;
    factors.inverse = inverse;
    const auto weight = [&](std::size_t e) {
        Lanes value;
        for (std::size_t l = 0; l < lanes; ++l)
            value.lane[l] = entries_[e].sign *
                            (weights.empty() ? 1.0 : centred(weights[lanes * e + l], primes[l]));
        return value;
    };
    for (std::size_t e = 0; e < m; ++e) {
        auto& part = entries_[e].part == 0 ? diagonal : entries_[e].part > 0 ? upper : lower;
        part[at(entries_[e].position)] = weight(e);
    }
    const planar::Instructions used = planar::instructions().front();
    PlanarResidues result;
    if (!used.eliminate(factors, cancel)) {
        result.stopped = true;
        return result;
    }
    Lanes count{{1, 1, 1, 1, 1, 1, 1, 1}};
    for (const Lanes& pivot : diagonal) count = planar::times(factors, count, pivot);
    for (std::size_t l = 0; l < lanes; ++l) {
        result.count[l] = canonical(count.lane[l], primes[l]);
        result.found[l] = count.lane[l] != 0;
    }
    if (!edges) return result;
    std::vector<Lanes> z_diagonal(n, Lanes{}), z_upper(upper.size(), Lanes{}),
        z_lower(upper.size(), Lanes{});
    if (!used.invert(factors, {z_diagonal, z_upper, z_lower}, cancel)) {
        result.stopped = true;
        return result;
    }
    // The probability of entry (i, j) is a[i][j] times the inverse at (j, i).
    result.through.resize(lanes * m);
    for (std::size_t e = 0; e < m; ++e) {
        auto& part = entries_[e].part == 0 ? z_diagonal : entries_[e].part > 0 ? z_lower : z_upper;
        const Lanes share = planar::times(factors, weight(e), part[at(entries_[e].position)]);
        const Lanes through = planar::times(factors, count, share);
        for (std::size_t l = 0; l < lanes; ++l)
            result.through[lanes * e + l] = canonical(through.lane[l], primes[l]);
    }
    return result;
}

std::vector<std::uint64_t> chinese_coefficients(std::span<const std::uint64_t> primes) {
    std::vector<std::uint64_t> result;
    for (const std::uint64_t p : primes) {
        std::uint64_t others = 1;
        for (const std::uint64_t q : primes)
            if (q != p) others = times_modulo(others, q % p, p);
        result.push_back(inverse_modulo(others, p));
    }
    return result;
}

void add_fractions(std::span<const double> residues, std::int32_t lane, std::uint64_t prime,
                   std::uint64_t coefficient, std::span<std::uint64_t> sums) {
    const auto lanes = static_cast<std::size_t>(planar_lanes);
    for (std::size_t e = 0; 2 * e < sums.size(); ++e) {
        const auto residue = static_cast<std::uint64_t>(residues[lanes * e + at(lane)]);
        const std::uint64_t part = times_modulo(residue, coefficient, prime);
        const Wide first = static_cast<Wide>(part) << 64;
        const auto high = static_cast<std::uint64_t>(first / prime);
        const auto low = static_cast<std::uint64_t>(((first % prime) << 64) / prime);
        Wide sum = (static_cast<Wide>(sums[2 * e + 1]) << 64) | sums[2 * e];
        sum += (static_cast<Wide>(high) << 64) | low;
        sums[2 * e] = static_cast<std::uint64_t>(sum);
        sums[2 * e + 1] = static_cast<std::uint64_t>(sum >> 64);
    }
}

}  // namespace anonymatch
