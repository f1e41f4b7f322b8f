#include "nested_bound/nested_bound_draw.hpp"

#include <algorithm>
#include <cmath>

namespace anonymatch::nested_bound {
namespace {

#define ANONYMATCH_INLINE inline __attribute__((always_inline))

typedef std::uint64_t Words __attribute__((vector_size(64)));
typedef std::int64_t Signed __attribute__((vector_size(64)));

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
// A factor lies within nested_bound_spread^3 / n and n / nested_bound_spread^3: one more does not leave the
// range of doubles.
constexpr double tiny = 1e-100;
constexpr double huge = 1e100;

/// The output function of splitmix64 (Steele, Lea, Flood 2014).
ANONYMATCH_INLINE void mix(Words& x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    x = x ^ (x >> 31);
}

/// Uniform in [0, 1), 52 bits.
ANONYMATCH_INLINE void uniform(const Words& generators, std::uint64_t step, Lanes& values) {
    Words words = generators + golden * (step + 1);
    mix(words);
    words = (words >> 12) | 0x3FF0000000000000U;
    values = (Lanes)words - 1.0;
}

ANONYMATCH_INLINE void keep_in_range(double& value, int& exponent) {
    if (value > tiny && value < huge) return;
    int shift = 0;
    value = std::frexp(value, &shift);
    exponent += shift;
}

ANONYMATCH_INLINE void draw_body(const Table& table, std::uint64_t seed, std::uint64_t group,
                                 Scratch& scratch) {
    Words generators = {0, 1, 2, 3, 4, 5, 6, 7};
    Words seeds = Words{} + seed;
    mix(seeds);
    generators = seeds + golden * (generators + 8 * group + 1);
    mix(generators);
    Lanes* left = &scratch.left.front().lanes;
    Lanes* totals = &scratch.totals.front().lanes;
    const Lanes one = Lanes{} + 1.0;
    const Lanes none = Lanes{};
    for (std::size_t i = 0; i < table.n; ++i) left[i] = one;
    Lanes draw = one;
    int exponents[8] = {};
    for (std::size_t t = 0; t < table.n; ++t) {
        const Choice* choices = table.choices.data() + table.starts[t];
        const std::size_t forced = table.forced[t] - table.starts[t];
        const std::size_t size = table.starts[t + 1] - table.starts[t];
        Lanes total = none;
        Lanes must = none;
        for (std::size_t k = 0; k < forced; ++k) {
            const Lanes& here = left[choices[k].row];
            must += here;
            total += here * choices[k].rate;
            totals[k] = total;
        }
        const Lanes open = forced == 0 ? one : (Lanes)((Signed)one & (must == none));
        for (std::size_t k = forced; k < size; ++k) {
            total += left[choices[k].row] * open * choices[k].rate;
            totals[k] = total;
        }
        Lanes target;
        uniform(generators, t, target);
        target *= total * (1.0 - 0x1p-50);  // below the total whatever is rounded
        Signed picked = {};
        for (std::size_t k = 0; k + 1 < size; ++k) picked -= totals[k] <= target;
        if (forced > 1) total = (Lanes)((Signed)total & (must <= one));
        draw *= total;
        bool some = false;
        for (std::size_t lane = 0; lane < 8; ++lane) {
            const Choice& choice = choices[picked[lane]];
            double value = draw[lane];
            keep_in_range(value, exponents[lane]);
            value *= choice.height;
            keep_in_range(value, exponents[lane]);
            draw[lane] = value;
            left[choice.row][lane] = 0.0;
            scratch.picks[t * 8 + lane] =
                table.starts[t] + static_cast<std::uint32_t>(picked[lane]);
            some |= value != 0.0;
        }
        if (!some) break;
    }
    Lanes coins;
    uniform(generators, table.n, coins);
    for (std::size_t lane = 0; lane < 8; ++lane) {
        scratch.draws[lane] = table.shrink * std::ldexp(draw[lane], exponents[lane]);
        scratch.coins[lane] = coins[lane];
    }
}

void draw_plain(const Table& table, std::uint64_t seed, std::uint64_t group, Scratch& scratch) {
    draw_body(table, seed, group, scratch);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq"))) void draw_avx512(const Table& table, std::uint64_t seed,
                                                             std::uint64_t group,
                                                             Scratch& scratch) {
    draw_body(table, seed, group, scratch);
}
__attribute__((target("avx2"))) void draw_avx2(const Table& table, std::uint64_t seed,
                                               std::uint64_t group, Scratch& scratch) {
    draw_body(table, seed, group, scratch);
}
#endif

}  // namespace

Scratch::Scratch(const Table& table) : left(table.n), picks(table.n * 8) {
    std::size_t widest = 0;
    for (std::size_t t = 0; t < table.n; ++t)
        widest = std::max<std::size_t>(widest, table.starts[t + 1] - table.starts[t]);
    totals.resize(widest);
}

DrawGroup draw_group() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return draw_avx512;
    if (__builtin_cpu_supports("avx2")) return draw_avx2;
#endif
    return draw_plain;
}

}  // namespace anonymatch::nested_bound
