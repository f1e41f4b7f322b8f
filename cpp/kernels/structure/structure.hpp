// The reduction of a graph: maximum matching, Hall's witness, irreducible blocks, classes of equal
// blocks.
//
// Cost: find_structure is O(edges * sqrt(users)) at worst and linear in edges in practice;
// build_block_table is linear in edges times a constant bound on the rounds of colour refinement,
// plus sorting inside blocks.
//
// Memory beside the results: find_structure at most 12 bytes an edge and 60 a vertex;
// build_block_table 12 bytes an edge of the largest block and 40 a vertex. Nothing recurses.
//
// Overflow: vertices and edges number less than 2^31, so every index, degree, level and block label
// fits an int32; work is counted in 64 bits. Hashes wrap on purpose (unsigned) and never decide an
// answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/cancel.hpp"

namespace anonymatch {

/// A bipartite graph as rows of behaviours: indptr has n_users + 1 entries from 0, and the
/// behaviours of user u are indices[indptr[u], indptr[u + 1]), ascending, without repeats, each in
/// [0, n_behaviours).
struct BipartiteView {
    std::int32_t n_users = 0;
    std::int32_t n_behaviours = 0;
    std::span<const std::int32_t> indptr;
    std::span<const std::int32_t> indices;
};

/// What find_structure learns. A matching here may leave users out; it covers all iff n_matched ==
/// n_users.
struct Structure {
    bool stopped = false;        ///< the flag was raised: nothing below is to be used
    std::int32_t n_matched = 0;  ///< size of a maximum matching
    std::vector<std::int32_t> behaviour_of_user;  ///< that matching, -1 for none
    std::vector<std::int32_t> user_of_behaviour;  ///< its inverse, -1 for none

    /// Blocks, when every user is matched (otherwise empty): the edge (u, b) is in some matching
    /// that covers all users iff block_of_user[u] == block_of_behaviour[b]. Blocks are numbered by
    /// their smallest user. A behaviour has -1 iff it has no edge. Each block has as many
    /// behaviours as users and is fully indecomposable, or has more and can leave any one of them
    /// unused.
    std::int32_t n_blocks = 0;
    std::vector<std::int32_t> block_of_user;
    std::vector<std::int32_t> block_of_behaviour;

    /// Hall's witness, when some user is unmatched (otherwise empty), ascending: users who together
    /// reach exactly witness_behaviours, one fewer than they are. No proper subset of these users
    /// is short of behaviours. Among the witnesses that alternating searches from the unmatched
    /// users give it is the smallest, unless that would take more than about 2 scans of the graph.
    std::vector<std::int32_t> witness_users;
    std::vector<std::int32_t> witness_behaviours;
};

Structure find_structure(const BipartiteView& graph, CancelFlag cancel = {});

/// All blocks as one graph of allowed edges, ordered by block and numbered locally within each
/// block.
///
/// Block k has users[user_offsets[k], user_offsets[k + 1]) and behaviours likewise; the order
/// inside is the local numbering. The user at position p of `users` has the local edges
/// [row_offsets[p], row_offsets[p + 1]): local_indices are local behaviour numbers, ascending in
/// each row, edges are the indices of the same edges in the graph. So the local CSR of block k is
/// row_offsets over its users minus edge_offsets[k] == row_offsets[user_offsets[k]].
///
/// Two blocks of the same class have identical local CSR (and identical weights, bit for bit, when
/// given); equality is checked exactly. The local order is that of the graph, except where blocks
/// of the same three sizes differ: these are put in an order that colour refinement finds, under
/// which isomorphic blocks mostly, but not always, become identical. Classes are numbered by their
/// first block, which is class_first.
struct BlockTable {
    bool stopped = false;  ///< the flag was raised: nothing below is to be used
    std::vector<std::int32_t> user_offsets;
    std::vector<std::int32_t> users;
    std::vector<std::int32_t> behaviour_offsets;
    std::vector<std::int32_t> behaviours;
    std::vector<std::int32_t> edge_offsets;
    std::vector<std::int32_t> row_offsets;
    std::vector<std::int32_t> local_indices;
    std::vector<std::int32_t> edges;
    std::vector<std::int32_t> class_of_block;
    std::vector<std::int32_t> class_first;
};

/// `structure` must be find_structure(graph) with every user matched; weights are one an edge, or
/// none.
BlockTable build_block_table(const BipartiteView& graph, const Structure& structure,
                             std::span<const double> weights = {}, CancelFlag cancel = {});

}  // namespace anonymatch
