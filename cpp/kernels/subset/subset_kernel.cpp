#include "subset/subset_kernel.hpp"

#include <bit>

namespace anonymatch::subset {
namespace {

#define ANONYMATCH_INLINE inline __attribute__((always_inline))

/// The lanes without a low column, moved to the lanes with it (garbage elsewhere; weights are 0
/// there).
template <int Bit>
ANONYMATCH_INLINE void swap_low(const Lanes& from, Lanes& to) {
    if constexpr (Bit == 0) {
        to = __builtin_shufflevector(from, from, 1, 0, 3, 2, 5, 4, 7, 6);
    } else if constexpr (Bit == 1) {
        to = __builtin_shufflevector(from, from, 2, 3, 0, 1, 6, 7, 4, 5);
    } else {
        to = __builtin_shufflevector(from, from, 4, 5, 6, 7, 0, 1, 2, 3);
    }
}

// Weights by next row, zero in lanes that hold the low column: multiply first, then move.
template <int Bit>
ANONYMATCH_INLINE void add_low_forward(const Lanes* weights, const Lanes& now, Lanes& total) {
    Lanes moved;
    swap_low<Bit>(weights[Bit] * now, moved);
    total += moved;
}

ANONYMATCH_INLINE void forward_body(const Sweep& sweep, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t block = first; block < last; ++block) {
        const auto h = static_cast<std::size_t>(std::popcount(block));
        Lanes high{};
        if (block == 0) {
            high[0] = 1;
        } else {
            const Lanes* weights = sweep.weights + (h - 1) * sweep.columns + 3;
            Lanes other{};
            std::uint64_t bits = block;
            while (true) {
                const int c = std::countr_zero(bits);
                high += weights[c] * sweep.ahead[block ^ (std::uint64_t{1} << c)];
                bits &= bits - 1;
                if (bits == 0) break;
                const int d = std::countr_zero(bits);
                other += weights[d] * sweep.ahead[block ^ (std::uint64_t{1} << d)];
                bits &= bits - 1;
                if (bits == 0) break;
            }
            high += other;
        }
        // After k rounds the lanes that hold at most k low columns are right.
        const Lanes* low = sweep.weights + h * sweep.columns;
        Lanes now = high;
        for (int round = 0; round < 3; ++round) {
            Lanes total = high;
            add_low_forward<0>(low, now, total);
            add_low_forward<1>(low, now, total);
            add_low_forward<2>(low, now, total);
            now = total;
        }
        sweep.ahead[block] = now;
    }
}

template <int Bit>
ANONYMATCH_INLINE void add_low_back(const Lanes* weights, const Lanes& now, Lanes& total) {
    Lanes moved;
    swap_low<Bit>(now, moved);
    total += weights[Bit] * moved;
}

ANONYMATCH_INLINE void backward_body(const Sweep& sweep, std::uint64_t first, std::uint64_t last) {
    const std::size_t high_columns = sweep.columns - 3;
    const std::uint64_t full = (std::uint64_t{1} << high_columns) - 1;
    for (std::uint64_t block = last; block-- > first;) {
        const auto h = static_cast<std::size_t>(std::popcount(block));
        const Lanes* weights = sweep.weights + h * sweep.columns;
        Lanes* sums = sweep.sums + h * sweep.columns;
        const Lanes here = sweep.ahead[block];
        Lanes high{};
        if (block == full) high[7] = 1;
        for (std::uint64_t bits = full & ~block; bits != 0; bits &= bits - 1) {
            const int c = std::countr_zero(bits);
            const Lanes ahead = sweep.back[block | (std::uint64_t{1} << c)];
            high += weights[3 + c] * ahead;
            sums[3 + c] += here * ahead;
        }
        Lanes now = high;
        for (int round = 0; round < 3; ++round) {
            Lanes total = high;
            add_low_back<0>(weights, now, total);
            add_low_back<1>(weights, now, total);
            add_low_back<2>(weights, now, total);
            now = total;
        }
        sweep.back[block] = now;
        // Lanes that hold the column already add something meaningless here; the reader leaves them
        // out.
        Lanes moved;
        swap_low<0>(now, moved);
        sums[0] += here * moved;
        swap_low<1>(now, moved);
        sums[1] += here * moved;
        swap_low<2>(now, moved);
        sums[2] += here * moved;
    }
}

void forward_plain(const Sweep& sweep, std::uint64_t first, std::uint64_t last) {
    forward_body(sweep, first, last);
}
void backward_plain(const Sweep& sweep, std::uint64_t first, std::uint64_t last) {
    backward_body(sweep, first, last);
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void forward_avx512(const Sweep& sweep, std::uint64_t first,
                                                       std::uint64_t last) {
    forward_body(sweep, first, last);
}
__attribute__((target("avx512f"))) void backward_avx512(const Sweep& sweep, std::uint64_t first,
                                                        std::uint64_t last) {
    backward_body(sweep, first, last);
}
__attribute__((target("avx2"))) void forward_avx2(const Sweep& sweep, std::uint64_t first,
                                                  std::uint64_t last) {
    forward_body(sweep, first, last);
}
__attribute__((target("avx2"))) void backward_avx2(const Sweep& sweep, std::uint64_t first,
                                                   std::uint64_t last) {
    backward_body(sweep, first, last);
}
#endif

}  // namespace

SweepRange forward_sweep() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return forward_avx512;
    if (__builtin_cpu_supports("avx2")) return forward_avx2;
#endif
    return forward_plain;
}

SweepRange backward_sweep() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return backward_avx512;
    if (__builtin_cpu_supports("avx2")) return backward_avx2;
#endif
    return backward_plain;
}

}  // namespace anonymatch::subset
