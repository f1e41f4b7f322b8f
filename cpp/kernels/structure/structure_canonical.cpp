// A canonical order by colour refinement: vertices start with their degree as colour, and in every
// round take the multiset of the colours (and weights) around them into their own. When that
// separates no more, one user of the first tied colour is singled out and refinement goes on. If
// tied users are exchangeable by an automorphism (in rings, complete graphs, and most small blocks)
// the choice does not show in the result; if not, isomorphic blocks may come out different, which
// costs time elsewhere but is never wrong.
#include <algorithm>
#include <bit>

#include "structure/structure_parts.hpp"

namespace anonymatch::structure_parts {

namespace {

// Rounds in all: enough to separate blocks of some dozens of users; larger ones must not cost more
// than a few scans.
constexpr std::uint32_t small_block = 64;
constexpr int rounds_of_small = 48;
constexpr int rounds_of_large = 6;
constexpr std::uint64_t singled_out = 0x5851F42D4C957F2DU;

}  // namespace

// False when any order is as good as another: every user has every behaviour, at the same weight.
bool CanonicalOrder::load(const LocalBlock& block) {
    n_users_ = static_cast<std::uint32_t>(block.n_users);
    n_vertices_ = n_users_ + static_cast<std::uint32_t>(block.n_behaviours);
    const std::size_t n_edges = block.edges.size();
    const auto key_of = [&](std::size_t i) {
        return std::bit_cast<std::uint64_t>(weights_[at(block.edges[i])]);
    };
    if (n_edges == at(block.n_users) * at(block.n_behaviours)) {
        bool equal = true;
        for (std::size_t i = 1; !weights_.empty() && equal && i < n_edges; ++i)
            equal = key_of(i) == key_of(0);
        if (equal) return false;
    }
    const auto first = static_cast<std::uint32_t>(block.row_offsets[0]);
    starts_.assign(n_vertices_ + 1, 0);
    for (std::uint32_t u = 0; u < n_users_; ++u) {
        starts_[u + 1] = static_cast<std::uint32_t>(block.row_offsets[u + 1]) - first;
    }
    for (const Index behaviour : block.local_indices) ++starts_[n_users_ + at(behaviour) + 1];
    for (std::uint32_t v = n_users_; v < n_vertices_; ++v) starts_[v + 1] += starts_[v];
    fill_.assign(starts_.begin() + n_users_, starts_.end());
    neighbours_.resize(2 * n_edges);
    keys_.resize(weights_.empty() ? 0 : 2 * n_edges);
    for (std::uint32_t u = 0; u < n_users_; ++u) {
        for (std::size_t i = starts_[u]; i < starts_[u + 1]; ++i) {
            const std::size_t behaviour = at(block.local_indices[i]);
            const std::uint32_t back = fill_[behaviour]++;
            neighbours_[i] = n_users_ + static_cast<std::uint32_t>(behaviour);
            neighbours_[back] = u;
            if (!weights_.empty()) keys_[i] = keys_[back] = mix(key_of(i) + singled_out);
        }
    }
    colours_.resize(n_vertices_);
    mixed_.resize(n_vertices_);
    for (std::uint32_t v = 0; v < n_vertices_; ++v) {
        colours_[v] = starts_[v + 1] - starts_[v];
        mixed_[v] = mix(colours_[v]);
    }
    return true;
}

std::uint64_t CanonicalOrder::gather(std::uint32_t vertex) const {
    std::uint64_t sum = 0;
    if (keys_.empty()) {
        for (std::size_t i = starts_[vertex]; i < starts_[vertex + 1]; ++i)
            sum += mixed_[neighbours_[i]];
    } else {
        for (std::size_t i = starts_[vertex]; i < starts_[vertex + 1]; ++i) {
            sum += mix(mixed_[neighbours_[i]] ^ keys_[i]);
        }
    }
    return sum;
}

// Behaviours first, then users from the new colours of the behaviours: if that leaves the partition
// of the users as it was, a further round changes neither side.
void CanonicalOrder::refine() {
    const auto recolour = [&](std::uint32_t v) {
        colours_[v] = mix(colours_[v] + 3 * gather(v));
        mixed_[v] = mix(colours_[v]);
    };
    for (std::uint32_t v = n_users_; v < n_vertices_; ++v) recolour(v);
    for (std::uint32_t v = 0; v < n_users_; ++v) recolour(v);
    --rounds_left_;
}

// Sorts [first, last) into ranked_ by colour, then index; returns the number of colours.
std::size_t CanonicalOrder::rank(std::uint32_t first, std::uint32_t last) {
    const auto before = [](const Ranked& left, const Ranked& right) {
        return left.colour != right.colour ? left.colour < right.colour
                                           : left.vertex < right.vertex;
    };
    ranked_.clear();
    for (std::uint32_t v = first; v < last; ++v) ranked_.push_back({colours_[v], v});
    std::sort(ranked_.begin(), ranked_.end(), before);
    std::size_t n_colours = ranked_.empty() ? 0 : 1;
    for (std::size_t i = 1; i < ranked_.size(); ++i)
        n_colours += ranked_[i].colour != ranked_[i - 1].colour;
    return n_colours;
}

bool CanonicalOrder::twins(std::uint32_t left, std::uint32_t right) const {
    const std::size_t n = starts_[left + 1] - starts_[left];
    if (n != starts_[right + 1] - starts_[right]) return false;
    const std::size_t a = starts_[left], b = starts_[right];
    for (std::size_t i = 0; i < n; ++i) {
        if (neighbours_[a + i] != neighbours_[b + i]) return false;
        if (!keys_.empty() && keys_[a + i] != keys_[b + i]) return false;
    }
    return true;
}

// Singles out the first user of the first tied colour in ranked_; users with the same edges may
// stay tied. False when there is none.
bool CanonicalOrder::split_tie() {
    for (std::size_t i = 0; i + 1 < ranked_.size();) {
        std::size_t end = i + 1;
        bool exchangeable = true;
        for (; end < ranked_.size() && ranked_[end].colour == ranked_[i].colour; ++end) {
            exchangeable = exchangeable && twins(ranked_[i].vertex, ranked_[end].vertex);
        }
        if (!exchangeable) {
            const std::uint32_t chosen = ranked_[i].vertex;
            colours_[chosen] = mix(colours_[chosen] + singled_out);
            mixed_[chosen] = mix(colours_[chosen]);
            return true;
        }
        i = end;
    }
    return false;
}

void CanonicalOrder::find(const LocalBlock& block, std::span<Index> users,
                          std::span<Index> behaviours) {
    if (!load(block)) {
        for (std::size_t i = 0; i < users.size(); ++i) users[i] = static_cast<Index>(i);
        for (std::size_t i = 0; i < behaviours.size(); ++i) behaviours[i] = static_cast<Index>(i);
        return;
    }
    rounds_left_ = n_vertices_ <= small_block ? rounds_of_small : rounds_of_large;
    std::size_t n_colours = 0;
    while (rounds_left_ > 0) {
        refine();
        const std::size_t n_new = rank(0, n_users_);
        const bool stable = n_new == n_colours;
        n_colours = n_new;
        if (n_colours == n_users_) break;
        if (stable) {
            if (!split_tie()) break;
            ++n_colours;
        }
    }
    // Once more, so that behaviours are told apart by the final colours of their users.
    refine();
    rank(0, n_users_);
    for (std::size_t i = 0; i < users.size(); ++i) users[i] = static_cast<Index>(ranked_[i].vertex);
    rank(n_users_, n_vertices_);
    for (std::size_t i = 0; i < behaviours.size(); ++i) {
        behaviours[i] = static_cast<Index>(ranked_[i].vertex - n_users_);
    }
}

}  // namespace anonymatch::structure_parts
