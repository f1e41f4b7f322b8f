// What the files of the reduction share; not for other kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "structure/structure.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace anonymatch::structure_parts {

using Index = std::int32_t;
using Indices = std::vector<Index>;

inline std::size_t at(Index index) noexcept {
    return static_cast<std::size_t>(index);
}

inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address);
}

/// The neighbours of row `row` of a CSR.
inline std::span<const Index> row_of(std::span<const Index> indptr, std::span<const Index> indices,
                                     Index row) noexcept {
    const std::size_t first = at(indptr[at(row)]);
    return indices.subspan(first, at(indptr[at(row) + 1]) - first);
}

inline std::span<const Index> row_of(const BipartiteView& graph, Index user) noexcept {
    return row_of(graph.indptr, graph.indices, user);
}

/// Makes room in an empty vector for random access: in large pages where the system offers them,
/// since with small ones most of the time goes into address translation.
template <class T>
void make_room(std::vector<T>& values, std::size_t size) {
    values.reserve(size);
#if defined(__linux__)
    const std::uintptr_t page = 4096, begin = reinterpret_cast<std::uintptr_t>(values.data());
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + size * sizeof(T)) / page * page;
    // Advice only: where it is refused, small pages do.
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

/// One bit a vertex: those of a million fit the second-level cache, so that tests of random ones
/// need not wait for memory.
class Bits {
public:
    explicit Bits(Index size = 0, bool value = false)
        : words_((at(size) + 63) / 64, value ? ~std::uint64_t{0} : 0) {}

    [[nodiscard]] bool test(Index index) const noexcept {
        return (words_[at(index) / 64] >> (at(index) % 64) & 1U) != 0;
    }
    void set(Index index) noexcept {
        words_[at(index) / 64] |= std::uint64_t{1} << (at(index) % 64);
    }
    void reset(Index index) noexcept {
        words_[at(index) / 64] &= ~(std::uint64_t{1} << (at(index) % 64));
    }

private:
    std::vector<std::uint64_t> words_;
};

/// The same graph by behaviours: rows of users, ascending.
struct Transposed {
    Indices indptr;
    Indices indices;

    [[nodiscard]] std::span<const Index> row(Index behaviour) const noexcept {
        return row_of(indptr, indices, behaviour);
    }
};

/// The transposed graph, made when first asked for: graphs that are easy to match do without.
class ByBehaviour {
public:
    explicit ByBehaviour(const BipartiteView& graph) : graph_(graph) {}

    const Transposed& get();
    [[nodiscard]] bool made() const noexcept { return made_.has_value(); }

private:
    const BipartiteView& graph_;
    std::optional<Transposed> made_;
};

/// Matches what it can without looking back; the matching of `found` must be empty.
void start_greedily(const BipartiteView& graph, const Transposed& by_behaviour, CancelFlag cancel,
                    Structure& found);

/// Fills the maximum matching of `found`. Single searches are the fastest on nearly all graphs but
/// have no good bound, so they may take this many scans of the graph before phases of Hopcroft and
/// Karp take over.
inline constexpr std::int64_t scans_of_single_searches = 8;
void find_matching(const BipartiteView& graph, ByBehaviour& by_behaviour, CancelFlag cancel,
                   Structure& found, std::int64_t scans = scans_of_single_searches);

/// Fills the blocks of `found`, whose matching must cover all users.
void find_blocks(const BipartiteView& graph, ByBehaviour& by_behaviour, CancelFlag cancel,
                 Structure& found);

/// Gives the behaviours of the giant strong component of a matched square graph the label. False if
/// it found none cheaply; what it labels is always one whole strong component.
bool label_giant(const BipartiteView& graph, const Structure& found, Index label,
                 Indices& component);

/// Fills the witness of `found`, whose matching must be maximum and leave some user out.
void find_witness(const BipartiteView& graph, CancelFlag cancel, Structure& found);

/// The local CSR of one block: row_offsets (one more than users) count from row_offsets[0], which
/// need not be 0, so that the parts of a BlockTable can be used as they are.
struct LocalBlock {
    std::int32_t n_users, n_behaviours;
    std::span<const Index> row_offsets;
    std::span<const Index> local_indices;
    std::span<const Index> edges;
};

/// Finds orders of users and behaviours under which isomorphic blocks mostly become identical.
class CanonicalOrder {
public:
    explicit CanonicalOrder(std::span<const double> weights) : weights_(weights) {}

    /// Writes the present local numbers in their new order.
    void find(const LocalBlock& block, std::span<Index> users, std::span<Index> behaviours);

private:
    struct Ranked {
        std::uint64_t colour;
        std::uint32_t vertex;
    };

    bool load(const LocalBlock& block);
    void refine();
    std::uint64_t gather(std::uint32_t vertex) const;
    std::size_t rank(std::uint32_t first, std::uint32_t last);
    bool split_tie();
    bool twins(std::uint32_t left, std::uint32_t right) const;

    std::span<const double> weights_;
    std::uint32_t n_users_ = 0, n_vertices_ = 0;
    // The block as one graph, users first: the neighbours of v are neighbours_[starts_[v],
    // starts_[v + 1]).
    std::vector<std::uint32_t> starts_, neighbours_, fill_;
    std::vector<std::uint64_t> keys_;  // of the weight of the edge beside it; empty without weights
    std::vector<std::uint64_t> colours_, mixed_;
    std::vector<Ranked> ranked_;
    int rounds_left_ = 0;
};

/// A hash of 64 bits into 64; a bijection.
inline std::uint64_t mix(std::uint64_t value) noexcept {
    value ^= value >> 32;
    value *= 0x9E3779B97F4A7C15U;
    value ^= value >> 29;
    value *= 0xBF58476D1CE4E5B9U;
    return value ^ (value >> 32);
}

}  // namespace anonymatch::structure_parts
