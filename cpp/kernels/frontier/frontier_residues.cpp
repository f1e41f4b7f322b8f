#include "frontier/frontier_values.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace anonymatch::frontier {
namespace {

__extension__ typedef unsigned __int128 u128;

using Word = std::uint64_t;

/// Both below the modulus, so their sum is below 2^64; subtracting the modulus wraps to something
/// larger exactly when the sum was reduced already. With modulus 0 it is the sum modulo 2^64.
inline Word reduced_sum(Word a, Word b, Word modulus) noexcept {
    const Word total = a + b;
    return std::min(total, total - modulus);
}

template <std::size_t L>
void add_plain(Pairs origins, Pairs targets, const Word* from, Word* to,
               const Residues::Factor& factor) {
    const std::size_t n = L == 0 ? factor.moduli.size() : L;
    const Word* moduli = factor.moduli.data();
    for (std::size_t k = 0; k < origins.size(); ++k) {
        const Word* a = from + origins[k] * n;
        Word* b = to + targets[k] * n;
        for (std::size_t w = 0; w < n; ++w) b[w] = reduced_sum(a[w], b[w], moduli[w]);
    }
}

/// Shoup's product: with q = floor(weight * 2^64 / modulus), floor(q * x / 2^64) is at most one
/// short of floor(weight * x / modulus), so the remainder is below 2 * modulus < 2^64.
template <std::size_t L>
void add_weighted(Pairs origins, Pairs targets, const Word* from, Word* to,
                  const Residues::Factor& factor) {
    const std::size_t n = L == 0 ? factor.moduli.size() : L;
    const Word* moduli = factor.moduli.data();
    for (std::size_t k = 0; k < origins.size(); ++k) {
        const Word* a = from + origins[k] * n;
        Word* b = to + targets[k] * n;
        for (std::size_t w = 0; w < n; ++w) {
            const auto estimate =
                static_cast<Word>(static_cast<u128>(factor.quotients[w]) * a[w] >> 64);
            const Word rough = factor.weights[w] * a[w] - estimate * moduli[w];
            b[w] = reduced_sum(std::min(rough, rough - moduli[w]), b[w], moduli[w]);
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void add_avx512(Pairs origins, Pairs targets, const Word* from,
                                                   Word* to, const Residues::Factor& factor) {
    const std::size_t n = factor.moduli.size();
    const std::size_t whole = n / 8 * 8;
    const auto rest = static_cast<__mmask8>((1U << (n % 8)) - 1U);
    const Word* moduli = factor.moduli.data();
    for (std::size_t k = 0; k < origins.size(); ++k) {
        const Word* a = from + origins[k] * n;
        Word* b = to + targets[k] * n;
        for (std::size_t w = 0; w < whole; w += 8) {
            const __m512i total =
                _mm512_add_epi64(_mm512_loadu_si512(a + w), _mm512_loadu_si512(b + w));
            const __m512i less = _mm512_sub_epi64(total, _mm512_loadu_si512(moduli + w));
            _mm512_storeu_si512(b + w, _mm512_maskz_min_epu64(255, total, less));
        }
        if (rest == 0) continue;
        const __m512i total = _mm512_add_epi64(_mm512_maskz_loadu_epi64(rest, a + whole),
                                               _mm512_maskz_loadu_epi64(rest, b + whole));
        const __m512i less =
            _mm512_sub_epi64(total, _mm512_maskz_loadu_epi64(rest, moduli + whole));
        _mm512_mask_storeu_epi64(b + whole, rest, _mm512_maskz_min_epu64(255, total, less));
    }
}
#endif

template <std::size_t L>
void add_any(Pairs origins, Pairs targets, const Word* from, Word* to,
             const Residues::Factor& factor) {
    if (factor.weights != nullptr) return add_weighted<L>(origins, targets, from, to, factor);
#if defined(__x86_64__)
    if (L == 0) {
        static const bool wide = __builtin_cpu_supports("avx512f") != 0;
        if (wide) return add_avx512(origins, targets, from, to, factor);
    }
#endif
    add_plain<L>(origins, targets, from, to, factor);
}

/// B words from `first` on, with their sums in registers. A sum's high half stays below the
/// modulus: a product is below modulus^2 < modulus * 2^64, so after adding it the sum is below 2 *
/// modulus * 2^64 <= 2^128 and one subtraction is enough.
template <std::size_t B>
void dot_words(Pairs lefts, Pairs rights, const Word* left, const Word* right,
               std::span<const Word> moduli, std::size_t first, Word* sum) {
    const std::size_t n = moduli.size();
    std::array<u128, B> total;
    std::array<Word, B> modulus;
    for (std::size_t w = 0; w < B; ++w) {
        total[w] = static_cast<u128>(sum[2 * (first + w) + 1]) << 64 | sum[2 * (first + w)];
        modulus[w] = moduli[first + w];
    }
    for (std::size_t k = 0; k < lefts.size(); ++k) {
        const Word* a = left + lefts[k] * n + first;
        const Word* b = right + rights[k] * n + first;
        for (std::size_t w = 0; w < B; ++w) {
            total[w] += static_cast<u128>(a[w]) * b[w];
            const auto high = static_cast<Word>(total[w] >> 64);
            total[w] = static_cast<u128>(std::min(high, high - modulus[w])) << 64 |
                       static_cast<Word>(total[w]);
        }
    }
    for (std::size_t w = 0; w < B; ++w) {
        sum[2 * (first + w)] = static_cast<Word>(total[w]);
        sum[2 * (first + w) + 1] = static_cast<Word>(total[w] >> 64);
    }
}

Residues::Add add_for(std::size_t words) {
    switch (words) {
        case 2:
            return add_any<2>;
        case 3:
            return add_any<3>;
        case 4:
            return add_any<4>;
        default:
            return add_any<0>;
    }
}

}  // namespace

Residues::Residues(const FrontierWords& values)
    : moduli_(1, 0),
      weights_(values.weights.begin(), values.weights.end()),
      quotients_(values.weights.size(), 0),
      add_(add_for(values.primes.size() + 1)) {
    moduli_.insert(moduli_.end(), values.primes.begin(), values.primes.end());
    for (std::size_t k = 0; k < weights_.size(); ++k) {
        const Word modulus = moduli_[k % moduli_.size()];
        if (modulus != 0)
            quotients_[k] = static_cast<Word>((static_cast<u128>(weights_[k]) << 64) / modulus);
    }
}

void Residues::add_products(Pairs lefts, Pairs rights, const Word* left, const Word* right,
                            Word* sum) const noexcept {
    std::size_t first = 0;
    for (; first + 4 <= words(); first += 4)
        dot_words<4>(lefts, rights, left, right, moduli_, first, sum);
    switch (words() - first) {
        case 3:
            return dot_words<3>(lefts, rights, left, right, moduli_, first, sum);
        case 2:
            return dot_words<2>(lefts, rights, left, right, moduli_, first, sum);
        case 1:
            return dot_words<1>(lefts, rights, left, right, moduli_, first, sum);
        default:
            return;
    }
}

void Residues::finish(const Word* sum, Word* out) const noexcept {
    for (std::size_t w = 0; w < words(); ++w) {
        const u128 total = static_cast<u128>(sum[2 * w + 1]) << 64 | sum[2 * w];
        out[w] = moduli_[w] == 0 ? sum[2 * w] : static_cast<Word>(total % moduli_[w]);
    }
}

}  // namespace anonymatch::frontier
