#include "ryser/ryser.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace anonymatch {
namespace {

__extension__ typedef unsigned __int128 u128;

struct Offset {
    std::int64_t value = 0;
    double chance = 0;  // that a random set of columns meets it
};

/// The likeliest subset sum of a row's weights.
Offset best_offset(std::span<const std::uint32_t> row) {
    std::int64_t total = 0;
    for (const auto weight : row) total += weight;
    constexpr std::int64_t widest =
        4096;  // heavier rows seldom vanish; half their sum keeps factors small
    if (total > widest) return {total / 2, 0};
    std::vector<double> chance(static_cast<std::size_t>(total) + 1, 0);
    chance[0] = 1;
    for (const auto weight : row) {
        if (weight == 0) continue;
        for (std::size_t sum = chance.size(); sum-- > 0;)
            chance[sum] = (chance[sum] + (sum >= weight ? chance[sum - weight] : 0)) / 2;
    }
    // Of equally likely sums the middle one, for small factors.
    Offset best{0, -1};
    for (std::size_t sum = 0; sum < chance.size(); ++sum) {
        const auto value = static_cast<std::int64_t>(sum);
        const bool nearer = std::abs(2 * value - total) < std::abs(2 * best.value - total);
        if (chance[sum] > best.chance || (chance[sum] == best.chance && nearer))
            best = {value, chance[sum]};
    }
    return best;
}

/// Expected number of surviving prefixes, if rows vanished independently.
class Forecast {
public:
    Forecast(std::span<const std::uint32_t> matrix, std::size_t n) : n_(n), users_(n), chance_(n) {
        for (std::size_t i = 0; i < n; ++i) {
            chance_[i] = best_offset(matrix.subspan(i * n, n)).chance;
            for (std::size_t j = 0; j < n; ++j)
                if (matrix[i * n + j] != 0) {
                    users_[j].push_back(i);
                    ++degree_[i];
                }
        }
    }

    [[nodiscard]] double operator()(std::span<const std::int32_t> order) const {
        auto left = degree_;
        double alive = 1;
        double sum = 0;
        for (const auto column : order) {
            alive *= 2;
            for (const std::size_t i : users_[static_cast<std::size_t>(column)])
                if (--left[i] == 0) alive *= 1 - chance_[i];
            sum += alive;
        }
        return sum;
    }

    /// From one row on: always finish the row with the fewest columns left, the likeliest to vanish
    /// among equals; of its columns first those of the most rows that were begun.
    [[nodiscard]] std::vector<std::int32_t> greedy(
        std::size_t start, const std::vector<std::vector<std::size_t>>& columns) const {
        auto left = degree_;
        std::vector<bool> done(n_);
        std::vector<std::int32_t> order;
        std::size_t row = start;
        while (order.size() < n_) {
            std::vector<std::size_t> open;
            for (const std::size_t j : columns[row])
                if (!done[j]) open.push_back(j);
            std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
                const auto begun = [&](std::size_t j) {
                    return std::count_if(users_[j].begin(), users_[j].end(),
                                         [&](std::size_t i) { return left[i] < degree_[i]; });
                };
                return begun(a) > begun(b);
            });
            for (const std::size_t j : open) {
                done[j] = true;
                order.push_back(static_cast<std::int32_t>(j));
                for (const std::size_t i : users_[j]) --left[i];
            }
            std::size_t best = n_;
            for (std::size_t i = 0; i < n_; ++i)
                if (left[i] > 0 && (best == n_ || left[i] < left[best] ||
                                    (left[i] == left[best] && chance_[i] > chance_[best])))
                    best = i;
            if (best == n_) break;
            row = best;
        }
        for (std::size_t j = 0; j < n_; ++j)
            if (!done[j]) order.push_back(static_cast<std::int32_t>(j));
        return order;
    }

private:
    std::size_t n_;
    std::vector<std::vector<std::size_t>> users_;
    std::vector<double> chance_;
    std::array<int, ryser_largest_n> degree_{};
};

/// The search tree: what the decision at each level adds, and which rows it completes.
template <class Cell>
struct Tree {
    static constexpr std::size_t width = ryser_largest_n;
    typedef Cell State __attribute__((vector_size(width * sizeof(Cell))));  // r_i - o_i

    std::size_t n;
    bool vanishes = false;
    State root{};
    State column[width]{};
    std::array<std::array<std::uint8_t, width>, width> completed{};
    std::array<std::size_t, width> completions{};

    Tree(std::span<const std::uint32_t> matrix, int size, std::span<const std::int32_t> order)
        : n(static_cast<std::size_t>(size)) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = matrix.subspan(i * n, n);
            root[i] = static_cast<Cell>(-best_offset(row).value);
            std::size_t last = n;
            for (std::size_t level = 0; level < n; ++level) {
                const auto weight = row[static_cast<std::size_t>(order[level])];
                column[level][i] = static_cast<Cell>(weight);
                if (weight != 0) last = level;
            }
            if (last == n)
                vanishes = true;
            else
                completed[last][completions[last]++] = static_cast<std::uint8_t>(i);
        }
    }

    void include(State& child, const State& parent, std::size_t level) const noexcept {
        child = parent + column[level];
    }

    [[nodiscard]] bool survives(const State& state, std::size_t level) const noexcept {
        for (std::size_t k = 0; k < completions[level]; ++k)
            if (state[completed[level][k]] == 0) return false;
        return true;
    }

    template <class Number>
    [[nodiscard]] Number factor(const State& state, std::size_t level,
                                Number product) const noexcept {
        for (std::size_t k = 0; k < completions[level]; ++k)
            product *= static_cast<Number>(static_cast<std::int64_t>(state[completed[level][k]]));
        return product;
    }
};

template <class Cell, class Number>
class Walk {
public:
    Walk(const Tree<Cell>& tree) noexcept : tree_(tree) { states_[0] = tree.root; }

    /// The sum of the terms below one unit, whose bits decide the first levels.
    Number unit(std::uint64_t bits, std::size_t levels) noexcept {
        sum_ = 0;
        const auto* state = &states_[0];
        Number product = tree_.n % 2 == 0 ? Number{1} : Number{0} - Number{1};
        for (std::size_t level = 0; level < levels; ++level) {
            if (bits >> (levels - 1 - level) & 1) {
                tree_.include(states_[level + 1], *state, level);
                state = &states_[level + 1];
                product = Number{0} - product;
            }
            if (!tree_.survives(*state, level)) return 0;
            product = tree_.factor(*state, level, product);
        }
        descend(levels, *state, product);
        return sum_;
    }

private:
    void descend(std::size_t level, const typename Tree<Cell>::State& state,
                 Number product) noexcept {
        if (level == tree_.n) {
            sum_ += product;
            return;
        }
        if (tree_.survives(state, level))
            descend(level + 1, state, tree_.factor(state, level, product));
        auto& child = states_[level + 1];
        tree_.include(child, state, level);
        if (tree_.survives(child, level))
            descend(level + 1, child, tree_.factor(child, level, Number{0} - product));
    }

    const Tree<Cell>& tree_;
    typename Tree<Cell>::State states_[ryser_largest_n + 1];
    Number sum_ = 0;
};

std::size_t unit_levels(int n) noexcept {
    return n >= 24 ? 12 : 0;
}

template <class Cell, class Number>
Number count(const Tree<Cell>& tree, std::uint64_t first, std::uint64_t last, std::size_t levels) {
    Number sum = 0;
    if (tree.vanishes) return sum;
    Walk<Cell, Number> walk(tree);
    for (std::uint64_t unit = first; unit < last; ++unit) sum += walk.unit(unit, levels);
    return sum;
}

bool light(std::span<const std::uint32_t> matrix, int n) {
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < size; ++i)
        if (std::accumulate(matrix.begin() + static_cast<std::ptrdiff_t>(i * size),
                            matrix.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                            std::uint64_t{0}) > 127)
            return false;
    return true;
}

template <class Cell>
double prefixes(const Tree<Cell>& tree, int descents, std::uint64_t seed) {
    if (tree.vanishes) return 0;
    std::mt19937_64 random(seed);
    double sum = 0;
    for (int k = 0; k < descents; ++k) {
        auto state = tree.root;
        double weight = 1;
        for (std::size_t level = 0; level < tree.n; ++level) {
            typename Tree<Cell>::State child{};
            tree.include(child, state, level);
            const bool in = tree.survives(child, level);
            const bool out = tree.survives(state, level);
            if (!in && !out) break;
            if (in && out) weight *= 2;
            sum += weight;
            if (in && (!out || (random() >> 63) != 0)) state = child;
        }
    }
    return sum / descents;
}

}  // namespace

double ryser_order(std::span<const std::uint32_t> matrix, int n, int moves, std::uint64_t seed,
                   std::span<std::int32_t> order) noexcept {
    assert(1 <= n && n <= ryser_largest_n && order.size() == static_cast<std::size_t>(n));
    const auto size = static_cast<std::size_t>(n);
    const Forecast forecast(matrix, size);
    std::vector<std::vector<std::size_t>> columns(size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j)
            if (matrix[i * size + j] != 0) columns[i].push_back(j);
    std::vector<std::int32_t> best;
    double cost = 0;
    for (std::size_t start = 0; start < size; ++start) {
        const auto candidate = forecast.greedy(start, columns);
        const double predicted = forecast(candidate);
        if (best.empty() || predicted < cost) best = candidate, cost = predicted;
    }
    std::mt19937_64 random(seed);
    for (int move = 0; move < moves; ++move) {
        auto candidate = best;
        const auto from = static_cast<std::ptrdiff_t>(random() % size);
        const auto to = static_cast<std::ptrdiff_t>(random() % size);
        const auto begin = candidate.begin();
        from < to ? std::rotate(begin + from, begin + from + 1, begin + to + 1)
                  : std::rotate(begin + to, begin + from, begin + from + 1);
        const double predicted = forecast(candidate);
        if (predicted <= cost) best = candidate, cost = predicted;
    }
    std::copy(best.begin(), best.end(), order.begin());
    return cost;
}

double ryser_prefixes(std::span<const std::uint32_t> matrix, int n,
                      std::span<const std::int32_t> order, int descents,
                      std::uint64_t seed) noexcept {
    assert(1 <= n && n <= ryser_largest_n && descents > 0);
    return light(matrix, n) ? prefixes(Tree<std::int8_t>(matrix, n, order), descents, seed)
                            : prefixes(Tree<std::int32_t>(matrix, n, order), descents, seed);
}

std::uint64_t ryser_units(int n) noexcept {
    return std::uint64_t{1} << unit_levels(n);
}

void ryser_count(std::span<const std::uint32_t> matrix, int n, std::span<const std::int32_t> order,
                 std::uint64_t first, std::uint64_t last, std::span<std::uint64_t> out) noexcept {
    assert(1 <= n && n <= ryser_largest_n && order.size() == static_cast<std::size_t>(n));
    assert(first <= last && last <= ryser_units(n) && 1 <= out.size() && out.size() <= 2);
    const std::size_t levels = unit_levels(n);
    const auto total = [&]<class Cell>(const Tree<Cell>& tree) -> u128 {
        return out.size() == 1 ? count<Cell, std::uint64_t>(tree, first, last, levels)
                               : count<Cell, u128>(tree, first, last, levels);
    };
    const u128 sum = light(matrix, n) ? total(Tree<std::int8_t>(matrix, n, order))
                                      : total(Tree<std::int32_t>(matrix, n, order));
    const u128 before = out.size() == 2 ? static_cast<u128>(out[1]) << 64 | out[0] : out[0];
    const u128 after = before + sum;
    out[0] = static_cast<std::uint64_t>(after);
    if (out.size() == 2) out[1] = static_cast<std::uint64_t>(after >> 64);
}

}  // namespace anonymatch
