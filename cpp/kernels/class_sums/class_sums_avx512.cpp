// The path of class_sums.hpp by AVX-512 with IFMA: eight numbers a vector, four vectors abreast.
#if defined(__x86_64__)

#include <immintrin.h>

#include "class_sums/class_sums_grid.hpp"

#if defined(__clang__)
#pragma clang attribute push(                                                      \
    __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"))), \
    apply_to = function)
#else
// GCC 12's own header reads its undefined vectors (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")
#endif

#include "class_sums/class_sums_inner.hpp"

namespace anonymatch::class_sums {
namespace {

struct Numbers {
    static constexpr std::size_t size = step;
    struct Modulus {
        __m512i p, inverse;
        explicit Modulus(const Field& field) noexcept
            : p(_mm512_set1_epi64(static_cast<long long>(field.p))),
              inverse(_mm512_set1_epi64(static_cast<long long>(field.inverse))) {}
    };
    __m512i x[abreast];

    static Numbers all(Word value) noexcept {
        Numbers made;
        for (auto& one : made.x) one = _mm512_set1_epi64(static_cast<long long>(value));
        return made;
    }
    static Numbers zero() noexcept { return all(0); }
    static Numbers load(const Word* from) noexcept {
        Numbers made;
        for (std::size_t k = 0; k < abreast; ++k) made.x[k] = _mm512_loadu_si512(from + k * lanes);
        return made;
    }
    void store(Word* to) const noexcept {
        for (std::size_t k = 0; k < abreast; ++k) _mm512_storeu_si512(to + k * lanes, x[k]);
    }
    [[nodiscard]] Word sum(const Field& field) const noexcept {
        alignas(64) Word words[step];
        store(words);
        u128 total = 0;
        for (const Word one : words) total += one;
        return static_cast<Word>(total % field.p);
    }
    [[nodiscard]] Numbers reduced(const Field& field) const noexcept {
        alignas(64) Word words[step];
        store(words);
        for (Word& one : words) one = field.reduced(one);
        return load(words);
    }
};

inline Numbers add(Numbers a, const Numbers& b) noexcept {
    for (std::size_t k = 0; k < abreast; ++k) a.x[k] = _mm512_add_epi64(a.x[k], b.x[k]);
    return a;
}

inline Numbers multiply(const Numbers& a, const Numbers& b, const Numbers::Modulus& m) noexcept {
    const __m512i zero = _mm512_setzero_si512();
    Numbers r;
    for (std::size_t k = 0; k < abreast; ++k) {
        const __m512i low = _mm512_madd52lo_epu64(zero, a.x[k], b.x[k]);
        const __m512i high = _mm512_madd52hi_epu64(m.p, a.x[k], b.x[k]);
        const __m512i q = _mm512_madd52lo_epu64(zero, low, m.inverse);
        r.x[k] = _mm512_sub_epi64(high, _mm512_madd52hi_epu64(zero, q, m.p));
    }
    return r;
}

}  // namespace

Word Avx512::count(const Grid& grid, const OuterPoint& point) {
    return count_inner<Numbers>(grid, point);
}

void Avx512::minors(const Grid& grid, const OuterPoint& point, Words& scratch, Words& by_point,
                    Words& sums) {
    minors_inner<Numbers>(grid, point, scratch, by_point, sums);
}

}  // namespace anonymatch::class_sums

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
