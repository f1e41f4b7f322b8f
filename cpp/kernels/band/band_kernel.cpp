#include "band/band_kernel.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace anonymatch::band {
namespace {

#define ANONYMATCH_INLINE inline __attribute__((always_inline))

constexpr std::size_t part_blocks = 4096;
constexpr std::size_t stretch = 64;

ANONYMATCH_INLINE double lane_dot(const double* a, const double* b, std::size_t size) {
    double lanes[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
    for (; i < size; ++i) lanes[i % 8] += a[i] * b[i];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

template <class T, bool weighted>
ANONYMATCH_INLINE void up_all(const T* __restrict x, T* __restrict z, int bits, int size,
                              const double* weights, const Offsets& at) {
    const int low = std::min(bits, low_limit);
    const int upper = bits - low;
    const Joins& table = joins(low);
    for (std::size_t mask = 0; mask < (std::size_t{1} << upper); ++mask) {
        const int held = size + 1 - std::popcount(mask);
        if (held < 0 || held > low) continue;
        const std::size_t length = subsets(low, held);
        T* target = z + at.of_more[mask];
        for (std::size_t rest = mask; rest != 0; rest &= rest - 1) {
            const T* source = x + at.of_less[mask ^ (rest & (~rest + 1))];
            if constexpr (weighted) {
                const double weight = weights[low + std::countr_zero(rest)];
                for (std::size_t i = 0; i < length; ++i) target[i] += weight * source[i];
            } else {
                for (std::size_t i = 0; i < length; ++i) target[i] += source[i];
            }
        }
        if (held == 0) continue;
        const T* source = x + at.of_less[mask];
        const Join* join = table.ups[static_cast<std::size_t>(held - 1)].data();
        for (std::size_t i = 0; i < length; ++i) {
            T sum{};
            for (int j = 0; j < held; ++j, ++join) {
                if constexpr (weighted) {
                    sum += weights[join->bit] * source[join->index];
                } else {
                    sum += source[join->index];
                }
            }
            target[i] += sum;
        }
    }
}

template <class T, bool weighted, bool edges>
ANONYMATCH_INLINE void down_all(const T* __restrict z, T* __restrict x, int bits, int size,
                                const double* weights, const double* before, double* sums,
                                const Offsets& at) {
    const int low = std::min(bits, low_limit);
    const int upper = bits - low;
    const Joins& table = joins(low);
    const std::size_t all = (std::size_t{1} << upper) - 1;
    double parts[band_width_limit] = {};
    std::size_t blocks = 0;
    const auto flush = [&] {
        for (int bit = 0; bit < bits; ++bit) {
            sums[bit] += parts[bit];
            parts[bit] = 0;
        }
    };
    for (std::size_t mask = 0; mask <= all; ++mask) {
        const int held = size - std::popcount(mask);
        if (held < 0 || held > low) continue;
        const std::size_t length = subsets(low, held);
        T* target = x + at.of_less[mask];
        for (std::size_t rest = all & ~mask; rest != 0; rest &= rest - 1) {
            const int bit = low + std::countr_zero(rest);
            const T* source = z + at.of_more[mask | (rest & (~rest + 1))];
            if constexpr (weighted) {
                for (std::size_t i = 0; i < length; ++i) target[i] += weights[bit] * source[i];
            } else {
                for (std::size_t i = 0; i < length; ++i) target[i] += source[i];
            }
            if constexpr (edges) parts[bit] += lane_dot(before + at.of_less[mask], source, length);
        }
        if (held < low) {
            const T* source = z + at.of_more[mask];
            const Join* join = table.downs[static_cast<std::size_t>(held)].data();
            [[maybe_unused]] double block_sums[low_limit] = {};
            for (std::size_t i = 0; i < length; ++i) {
                T sum{};
                for (int j = held; j < low; ++j, ++join) {
                    const T value = source[join->index];
                    if constexpr (weighted) {
                        sum += weights[join->bit] * value;
                    } else {
                        sum += value;
                    }
                    if constexpr (edges)
                        block_sums[join->bit] += before[at.of_less[mask] + i] * value;
                }
                target[i] += sum;
            }
            if constexpr (edges)
                for (int bit = 0; bit < low; ++bit) parts[bit] += block_sums[bit];
        }
        if constexpr (edges)
            if (++blocks % part_blocks == 0) flush();
    }
    if constexpr (edges) flush();
}

/// The blocks of an insertion: how many bits they have, and where they begin in all three arrays.
int locate_insertion(int bits, int fresh, int size, Offsets& at) {
    const int low = std::min(bits + fresh, low_limit);
    const int upper = bits + fresh - low;
    at.whole.locate(upper, low, size);
    at.without.locate(upper, low - fresh, size);
    at.with.locate(upper, low - fresh, size - 1);
    return low;
}

template <class T>
ANONYMATCH_INLINE void insert_all(const T* none, const T* less, T* whole, int low, int fresh,
                                  int size, const double* weights, const Offsets& at) {
    for (std::size_t mask = 0; mask < at.whole.blocks(); ++mask) {
        const int held = size - std::popcount(mask);
        if (held < 0 || held > low) continue;
        const Insertion& table = insertion(low, fresh, held);
        T* target = whole + at.whole[mask];
        const T* source = none + at.without[mask];
        for (const std::uint8_t place : table.none) target[place] = *source++;
        for (const std::uint8_t place : table.more) target[place] = T{};
        for (int c = 0; c < fresh; ++c) {
            const auto& places = table.one[static_cast<std::size_t>(c)];
            if (less == nullptr) {
                for (const std::uint8_t place : places) target[place] = T{};
                continue;
            }
            source = less + at.with[mask];
            if (weights == nullptr) {
                for (const std::uint8_t place : places) target[place] = *source++;
            } else {
                const T weight = static_cast<T>(weights[c]);
                for (const std::uint8_t place : places) target[place] = weight * *source++;
            }
        }
    }
}

template <class T>
ANONYMATCH_INLINE void extract_all(const T* whole, T* part, int low, int fresh, int size, int which,
                                   const Offsets& at) {
    const BlockOffsets& offsets = which < 0 ? at.without : at.with;
    for (std::size_t mask = 0; mask < at.whole.blocks(); ++mask) {
        const int held = size - std::popcount(mask);
        if (held < 0 || held > low) continue;
        const Insertion& table = insertion(low, fresh, held);
        const T* source = whole + at.whole[mask];
        T* target = part + offsets[mask];
        for (const std::uint8_t place :
             which < 0 ? table.none : table.one[static_cast<std::size_t>(which)])
            *target++ = source[place];
    }
}

template <class T>
ANONYMATCH_INLINE void add_all(const T* __restrict source, T factor, T* __restrict target,
                               std::size_t size) {
    if (factor == T{1}) {
        for (std::size_t i = 0; i < size; ++i) target[i] += source[i];
    } else {
        for (std::size_t i = 0; i < size; ++i) target[i] += factor * source[i];
    }
}

ANONYMATCH_INLINE std::uint64_t carry_all(std::uint64_t* __restrict low,
                                          std::uint64_t* __restrict high, std::size_t size,
                                          int bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    std::uint64_t taken = 0;
    if (high == nullptr) {
        for (std::size_t i = 0; i < size; ++i) taken |= low[i] >> bits;
        return taken;
    }
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint64_t beyond = low[i] >> bits;
        taken |= beyond;
        high[i] += beyond;
        low[i] &= mask;
    }
    return taken;
}

struct Kernels {
    void (*up_real)(const double*, double*, int, int, const double*, const Offsets&);
    void (*up_digit)(const std::uint64_t*, std::uint64_t*, int, int, const Offsets&);
    void (*down_real)(const double*, double*, int, int, const double*, const double*, double*,
                      const Offsets&);
    void (*down_digit)(const std::uint64_t*, std::uint64_t*, int, int, const Offsets&);
    void (*insert_real)(const double*, const double*, double*, int, int, int, const double*,
                        const Offsets&);
    void (*insert_digit)(const std::uint64_t*, const std::uint64_t*, std::uint64_t*, int, int, int,
                         const Offsets&);
    void (*extract_real)(const double*, double*, int, int, int, int, const Offsets&);
    void (*extract_digit)(const std::uint64_t*, std::uint64_t*, int, int, int, int, const Offsets&);
    void (*add_real)(const double*, double, double*, std::size_t);
    void (*add_digit)(const std::uint64_t*, std::uint64_t, std::uint64_t*, std::size_t);
    std::uint64_t (*carry)(std::uint64_t*, std::uint64_t*, std::size_t, int);
};

// The same code for three instruction sets; additions keep their order, so answers are equal.
#define ANONYMATCH_BAND_KERNELS(name, target)                                                      \
    target void up_real_##name(const double* x, double* z, int bits, int size,                     \
                               const double* weights, const Offsets& at) {                         \
        if (weights == nullptr) return up_all<double, false>(x, z, bits, size, weights, at);       \
        up_all<double, true>(x, z, bits, size, weights, at);                                       \
    }                                                                                              \
    target void up_digit_##name(const std::uint64_t* x, std::uint64_t* z, int bits, int size,      \
                                const Offsets& at) {                                               \
        up_all<std::uint64_t, false>(x, z, bits, size, nullptr, at);                               \
    }                                                                                              \
    target void down_real_##name(const double* z, double* x, int bits, int size,                   \
                                 const double* weights, const double* before, double* sums,        \
                                 const Offsets& at) {                                              \
        if (before == nullptr && weights == nullptr)                                               \
            return down_all<double, false, false>(z, x, bits, size, weights, before, sums, at);    \
        if (before == nullptr)                                                                     \
            return down_all<double, true, false>(z, x, bits, size, weights, before, sums, at);     \
        if (weights == nullptr)                                                                    \
            return down_all<double, false, true>(z, x, bits, size, weights, before, sums, at);     \
        down_all<double, true, true>(z, x, bits, size, weights, before, sums, at);                 \
    }                                                                                              \
    target void down_digit_##name(const std::uint64_t* z, std::uint64_t* x, int bits, int size,    \
                                  const Offsets& at) {                                             \
        down_all<std::uint64_t, false, false>(z, x, bits, size, nullptr, nullptr, nullptr, at);    \
    }                                                                                              \
    target void insert_real_##name(const double* none, const double* less, double* whole, int low, \
                                   int fresh, int size, const double* weights,                     \
                                   const Offsets& at) {                                            \
        insert_all(none, less, whole, low, fresh, size, weights, at);                              \
    }                                                                                              \
    target void insert_digit_##name(const std::uint64_t* none, const std::uint64_t* less,          \
                                    std::uint64_t* whole, int low, int fresh, int size,            \
                                    const Offsets& at) {                                           \
        insert_all(none, less, whole, low, fresh, size, nullptr, at);                              \
    }                                                                                              \
    target void extract_real_##name(const double* whole, double* part, int low, int fresh,         \
                                    int size, int which, const Offsets& at) {                      \
        extract_all(whole, part, low, fresh, size, which, at);                                     \
    }                                                                                              \
    target void extract_digit_##name(const std::uint64_t* whole, std::uint64_t* part, int low,     \
                                     int fresh, int size, int which, const Offsets& at) {          \
        extract_all(whole, part, low, fresh, size, which, at);                                     \
    }                                                                                              \
    target void add_real_##name(const double* source, double factor, double* to,                   \
                                std::size_t size) {                                                \
        add_all(source, factor, to, size);                                                         \
    }                                                                                              \
    target void add_digit_##name(const std::uint64_t* source, std::uint64_t factor,                \
                                 std::uint64_t* to, std::size_t size) {                            \
        add_all(source, factor, to, size);                                                         \
    }                                                                                              \
    target std::uint64_t carry_##name(std::uint64_t* low, std::uint64_t* high, std::size_t size,   \
                                      int bits) {                                                  \
        return carry_all(low, high, size, bits);                                                   \
    }                                                                                              \
    constexpr Kernels kernels_##name = {                                                           \
        up_real_##name,     up_digit_##name,     down_real_##name,    down_digit_##name,           \
        insert_real_##name, insert_digit_##name, extract_real_##name, extract_digit_##name,        \
        add_real_##name,    add_digit_##name,    carry_##name};

ANONYMATCH_BAND_KERNELS(portable, )
#if defined(__x86_64__)
ANONYMATCH_BAND_KERNELS(avx2, __attribute__((target("avx2,popcnt"))))
ANONYMATCH_BAND_KERNELS(avx512, __attribute__((target("avx512f,avx512dq,avx512vl,popcnt"))))
#endif

const Kernels& kernels() {
    static const Kernels best = [] {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            return kernels_avx512;
        if (__builtin_cpu_supports("avx2")) return kernels_avx2;
#endif
        return kernels_portable;
    }();
    return best;
}

void locate(int bits, int size, Offsets& at) {
    const int low = std::min(bits, low_limit);
    at.of_less.locate(bits - low, low, size);
    at.of_more.locate(bits - low, low, size + 1);
}

}  // namespace

void up(const double* x, double* z, int bits, int size, const double* weights, Offsets& offsets) {
    locate(bits, size, offsets);
    kernels().up_real(x, z, bits, size, weights, offsets);
}
void up(const std::uint64_t* x, std::uint64_t* z, int bits, int size, Offsets& offsets) {
    locate(bits, size, offsets);
    kernels().up_digit(x, z, bits, size, offsets);
}
void down(const double* z, double* x, int bits, int size, const double* weights,
          const double* before, double* sums, Offsets& offsets) {
    locate(bits, size, offsets);
    kernels().down_real(z, x, bits, size, weights, before, sums, offsets);
}
void down(const std::uint64_t* z, std::uint64_t* x, int bits, int size, Offsets& offsets) {
    locate(bits, size, offsets);
    kernels().down_digit(z, x, bits, size, offsets);
}

void insert(const double* none, const double* less, double* whole, int bits, int fresh, int size,
            const double* weights, Offsets& offsets) {
    const int low = locate_insertion(bits, fresh, size, offsets);
    kernels().insert_real(none, less, whole, low, fresh, size, weights, offsets);
}
void insert(const std::uint64_t* none, const std::uint64_t* less, std::uint64_t* whole, int bits,
            int fresh, int size, Offsets& offsets) {
    const int low = locate_insertion(bits, fresh, size, offsets);
    kernels().insert_digit(none, less, whole, low, fresh, size, offsets);
}
void add(const double* source, double factor, double* target, std::size_t size) {
    kernels().add_real(source, factor, target, size);
}
void add(const std::uint64_t* source, std::uint64_t factor, std::uint64_t* target,
         std::size_t size) {
    kernels().add_digit(source, factor, target, size);
}
std::uint64_t carry(std::uint64_t* low, std::uint64_t* high, std::size_t size, int bits) {
    return kernels().carry(low, high, size, bits);
}

template <class T>
void extract(const T* whole, T* part, int bits, int fresh, int size, int which, Offsets& at) {
    const int low = locate_insertion(bits, fresh, size, at);
    if constexpr (std::is_same_v<T, double>) {
        kernels().extract_real(whole, part, low, fresh, size, which, at);
    } else {
        kernels().extract_digit(whole, part, low, fresh, size, which, at);
    }
}
template void extract(const double*, double*, int, int, int, int, Offsets&);
template void extract(const std::uint64_t*, std::uint64_t*, int, int, int, int, Offsets&);

double dot(const double* a, const double* b, std::size_t size) {
    double total = 0;
    for (std::size_t begin = 0; begin < size; begin += part_blocks * stretch) {
        double part = 0;
        const std::size_t end = std::min(size, begin + part_blocks * stretch);
        for (std::size_t i = begin; i < end; i += stretch)
            part += lane_dot(a + i, b + i, std::min(stretch, end - i));
        total += part;
    }
    return total;
}

}  // namespace anonymatch::band
