#include <algorithm>
#include <array>
#include <limits>

#include "frontier/frontier_search.hpp"

namespace anonymatch::frontier {
namespace {

constexpr std::size_t binomial_rows = 64;
using Binomials = std::array<std::array<double, binomial_rows>, binomial_rows>;

constexpr Binomials make_binomials() {
    Binomials table{};
    for (std::size_t n = 0; n < binomial_rows; ++n) {
        table[n][0] = 1;
        for (std::size_t k = 1; k <= n; ++k)
            table[n][k] = table[n - 1][k - 1] + (k < n ? table[n - 1][k] : 0);
    }
    return table;
}

constexpr Binomials binomials = make_binomials();

}  // namespace

double subsets_between(std::int32_t live, std::int32_t least, std::int32_t most) {
    if (live > frontier_width_limit) return std::numeric_limits<double>::infinity();
    double total = 0;
    for (std::int32_t used = std::max(least, 0); used <= std::min(most, live); ++used)
        total += binomials[static_cast<std::size_t>(live)][static_cast<std::size_t>(used)];
    return total;
}

Price price_order(const BlockView& block, std::span<const std::int32_t> order) {
    Price price;
    const std::int32_t slack = block.n_columns - block.n_rows;
    std::vector<std::int32_t> rows_left(static_cast<std::size_t>(block.n_columns), 0);
    for (const std::int32_t column : block.indices) ++rows_left[static_cast<std::size_t>(column)];
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(block.n_columns), 0);
    std::int32_t live = 0;
    std::int32_t gone = 0;
    std::int32_t done = 0;
    double states = 1;
    price.states = 1;
    // The gone columns are used but for at most `slack`, so the used live ones are done - gone at
    // least.
    const auto layer = [&] {
        states = subsets_between(live, done - gone, std::min(done, done - gone + slack));
        if (states > price.peak) price.widest = done;
        price.possible = price.possible && states > 0;
        price.peak = std::max(price.peak, states);
        price.states += states;
    };
    for (const std::int32_t row : order) {
        const auto first = static_cast<std::size_t>(block.indptr[static_cast<std::size_t>(row)]);
        const auto last = static_cast<std::size_t>(block.indptr[static_cast<std::size_t>(row) + 1]);
        std::int32_t leaving = 0;
        for (std::size_t edge = first; edge < last; ++edge) {
            const auto column = static_cast<std::size_t>(block.indices[edge]);
            live += seen[column] == 0 ? 1 : 0;
            seen[column] = 1;
            leaving += --rows_left[column] == 0 ? 1 : 0;
        }
        price.width = std::max(price.width, live);
        price.transitions += states * static_cast<double>(last - first);
        ++done;
        if (slack == 0) {
            live -= leaving;
            gone += leaving;
            layer();
            continue;
        }
        layer();
        for (; leaving > 0; --leaving) {
            price.transitions += 2 * states;
            --live;
            ++gone;
            layer();
        }
    }
    return price;
}

}  // namespace anonymatch::frontier
