#include "frontier/frontier_merge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace anonymatch::frontier {
namespace {

constexpr std::uint64_t end_mark = std::numeric_limits<std::uint64_t>::max();

struct Filtered {
    std::size_t scanned;
    std::size_t filled;
};

/// Appends targets of `source[scanned ..)` that pass, until fewer than 8 places are left.
Filtered filter_plain(const Stream& stream, std::span<const std::uint64_t> source, Filtered at,
                      std::uint64_t* target, std::uint32_t* index) {
    while (at.scanned < source.size() && at.filled + 8 <= KeyMerger::chunk) {
        const std::uint64_t key = source[at.scanned];
        target[at.filled] = key + stream.delta;
        index[at.filled] = static_cast<std::uint32_t>(at.scanned);
        at.filled += (key & stream.mask) == stream.expect ? 1U : 0U;
        ++at.scanned;
    }
    return at;
}

/// The same for streams that limit the number of bits.
Filtered filter_limited(const Stream& stream, std::span<const std::uint64_t> source, Filtered at,
                        std::uint64_t* target, std::uint32_t* index) {
    while (at.scanned < source.size() && at.filled + 8 <= KeyMerger::chunk) {
        const std::uint64_t key = source[at.scanned];
        target[at.filled] = key + stream.delta;
        index[at.filled] = static_cast<std::uint32_t>(at.scanned);
        const bool passes =
            (key & stream.mask) == stream.expect && std::popcount(key) <= stream.most;
        at.filled += passes ? 1U : 0U;
        ++at.scanned;
    }
    return at;
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,popcnt"))) Filtered
filter_avx512(const Stream& stream, std::span<const std::uint64_t> source, Filtered at,
              std::uint64_t* target, std::uint32_t* index) {
    const __m512i mask = _mm512_set1_epi64(static_cast<long long>(stream.mask));
    const __m512i expect = _mm512_set1_epi64(static_cast<long long>(stream.expect));
    const __m512i delta = _mm512_set1_epi64(static_cast<long long>(stream.delta));
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    while (at.scanned < source.size() && at.filled + 8 <= KeyMerger::chunk) {
        const std::size_t left = source.size() - at.scanned;
        const auto valid = static_cast<__mmask8>(left >= 8 ? 255U : (1U << left) - 1U);
        const __m512i keys = _mm512_maskz_loadu_epi64(valid, source.data() + at.scanned);
        const __mmask8 pass =
            _mm512_mask_cmpeq_epi64_mask(valid, _mm512_and_si512(keys, mask), expect);
        // Compressing in a register and storing whole is quick everywhere; to memory it is not.
        _mm512_storeu_si512(target + at.filled,
                            _mm512_maskz_compress_epi64(pass, _mm512_add_epi64(keys, delta)));
        const __m256i here =
            _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(at.scanned)), lanes);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(index + at.filled),
                            _mm256_maskz_compress_epi32(pass, here));
        at.filled += static_cast<std::size_t>(__builtin_popcount(pass));
        at.scanned += std::min<std::size_t>(left, 8);
    }
    return at;
}
#endif

using Filter = Filtered (*)(const Stream&, std::span<const std::uint64_t>, Filtered, std::uint64_t*,
                            std::uint32_t*);

Filter best_filter() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return filter_avx512;
#endif
    return filter_plain;
}

struct Front {
    const std::uint64_t* target;
    std::uint32_t* place;
    std::size_t head;
};

/// `n` rounds of a D-way merge. The caller knows that `n` distinct keys are left and that no stream
/// runs past its end mark, so the loop has no other branch: which streams share the least key is
/// random, and a branch on it would be missed half of the time.
template <std::size_t D>
void merge_rounds(std::array<Front, D>& fronts, std::size_t n, std::uint64_t* keys) {
    std::array<std::uint64_t, D> heads;
    for (std::size_t i = 0; i < D; ++i) heads[i] = fronts[i].target[fronts[i].head];
    for (std::size_t j = 0; j < n; ++j) {
        std::uint64_t least = heads[0];
        for (std::size_t i = 1; i < D; ++i) least = std::min(least, heads[i]);
        keys[j] = least;
        for (std::size_t i = 0; i < D; ++i) {
            Front& front = fronts[i];
            front.place[front.head] = static_cast<std::uint32_t>(j);
            front.head += heads[i] == least ? 1U : 0U;
            heads[i] = front.target[front.head];
        }
    }
}

void merge_rounds_any(std::span<Front> fronts, std::size_t n, std::uint64_t* keys) {
    std::array<std::uint64_t, 64> heads;
    const std::size_t d = fronts.size();
    for (std::size_t i = 0; i < d; ++i) heads[i] = fronts[i].target[fronts[i].head];
    for (std::size_t j = 0; j < n; ++j) {
        std::uint64_t least = heads[0];
        for (std::size_t i = 1; i < d; ++i) least = std::min(least, heads[i]);
        keys[j] = least;
        for (std::size_t i = 0; i < d; ++i) {
            Front& front = fronts[i];
            front.place[front.head] = static_cast<std::uint32_t>(j);
            front.head += heads[i] == least ? 1U : 0U;
            heads[i] = front.target[front.head];
        }
    }
}

template <std::size_t D>
void merge_fixed(std::span<Front> fronts, std::size_t n, std::uint64_t* keys) {
    std::array<Front, D> local;
    std::copy_n(fronts.begin(), D, local.begin());
    merge_rounds<D>(local, n, keys);
    std::copy_n(local.begin(), D, fronts.begin());
}

void merge(std::span<Front> fronts, std::size_t n, std::uint64_t* keys) {
    switch (fronts.size()) {
        case 1:
            return merge_fixed<1>(fronts, n, keys);
        case 2:
            return merge_fixed<2>(fronts, n, keys);
        case 3:
            return merge_fixed<3>(fronts, n, keys);
        case 4:
            return merge_fixed<4>(fronts, n, keys);
        case 5:
            return merge_fixed<5>(fronts, n, keys);
        default:
            return merge_rounds_any(fronts, n, keys);
    }
}

}  // namespace

KeyMerger::KeyMerger(std::size_t max_streams)
    : target_(max_streams * room), index_(max_streams * room), place_(max_streams * room) {}

void KeyMerger::begin(std::span<const Stream> streams) {
    streams_.assign(streams.begin(), streams.end());
    cursors_.assign(streams.size(), {});
}

std::size_t KeyMerger::bytes() const noexcept {
    return target_.size() * (sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
}

void KeyMerger::refill(std::size_t i, std::span<const std::uint64_t> source) {
    static const Filter best = best_filter();
    const Filter filter = streams_[i].most < 64 ? filter_limited : best;
    Cursor& cursor = cursors_[i];
    std::uint64_t* target = target_.data() + i * room;
    std::uint32_t* index = index_.data() + i * room;
    std::copy(target + cursor.head, target + cursor.filled, target);
    std::copy(index + cursor.head, index + cursor.filled, index);
    const Filtered at =
        filter(streams_[i], source, {cursor.scanned, cursor.filled - cursor.head}, target, index);
    looked_at_ += static_cast<double>(at.scanned - cursor.scanned);
    cursor = {at.scanned, at.filled, 0, 0};
    target[at.filled] = end_mark;
}

std::size_t KeyMerger::next(std::span<const std::uint64_t> source, std::uint64_t* keys) {
    assert(source.size() < (std::size_t{1} << 32));
    // A round takes at most one target of each stream. While a stream has more to come, its buffer
    // bounds the rounds; at the end the longest buffer does, for its targets are distinct.
    std::size_t bounded = chunk;
    std::size_t longest = 0;
    bool more = false;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        Cursor& cursor = cursors_[i];
        if (cursor.scanned < source.size() && cursor.filled - cursor.head < chunk / 2)
            refill(i, source);
        cursor.from = cursor.head;
        const std::size_t buffered = cursor.filled - cursor.head;
        longest = std::max(longest, buffered);
        if (cursor.scanned < source.size()) {
            more = true;
            bounded = std::min(bounded, buffered);
        }
    }
    const std::size_t n = more ? bounded : longest;
    if (n == 0) return 0;
    std::array<Front, 64> fronts;
    std::size_t d = 0;
    std::array<std::size_t, 64> stream_of{};
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        if (cursors_[i].head == cursors_[i].filled) continue;
        stream_of[d] = i;
        fronts[d++] = {target_.data() + i * room, place_.data() + i * room, cursors_[i].head};
    }
    merge({fronts.data(), d}, n, keys);
    for (std::size_t k = 0; k < d; ++k) cursors_[stream_of[k]].head = fronts[k].head;
    return n;
}

}  // namespace anonymatch::frontier
