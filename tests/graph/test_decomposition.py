"""Blocks, allowed and forced edges and witnesses, against the definition and against scipy."""

from __future__ import annotations

import gc
import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from anonymatch.base.errors import NoMatchingError
from anonymatch.graph import Graph
from anonymatch.graph.decomposition import (
    Witness,
    _structures,
    allowed,
    block_table,
    blocks,
    forced,
    structure,
    witness,
)

Matching = tuple[int, ...]


@st.composite
def graphs(draw: st.DrawFn, *, square: bool = False) -> Graph:
    n_users = draw(st.integers(0, 6))
    n_behaviours = n_users if square else draw(st.integers(0, 7))
    cells = st.integers(0, 2**n_behaviours - 1)
    rows = draw(st.lists(cells, min_size=n_users, max_size=n_users))
    chosen = [[b for b in range(n_behaviours) if row >> b & 1] for row in rows]
    return Graph.from_rows(chosen, n_behaviours=n_behaviours)


def neighbours(graph: Graph) -> list[set[int]]:
    return [set(row.tolist()) for row in np.split(graph.indices, graph.indptr[1:-1])]


def all_matchings(graph: Graph) -> list[Matching]:
    """By definition: every choice of different behaviours, one a user, along edges."""
    rows = neighbours(graph) if graph.n_users else []
    return [
        choice
        for choice in itertools.permutations(range(graph.n_behaviours), graph.n_users)
        if all(behaviour in row for behaviour, row in zip(choice, rows, strict=True))
    ]


@given(graphs())
def test_allowed_and_forced_are_the_union_and_the_intersection_of_matchings(graph: Graph) -> None:
    matchings = [set(enumerate(matching)) for matching in all_matchings(graph)]
    if not matchings:
        with pytest.raises(NoMatchingError):
            allowed(graph)
        with pytest.raises(NoMatchingError):
            forced(graph)
        return
    possible = allowed(graph)

    assert set(possible.to_edges()) == set().union(*matchings)
    assert (possible.users, possible.behaviours) == (graph.users, graph.behaviours)
    assert set(forced(graph)) == set.intersection(*matchings)


@given(graphs())
def test_blocks_are_the_components_of_the_allowed_edges(graph: Graph) -> None:
    if not structure(graph).matched:
        return
    network: nx.Graph[tuple[str, object]] = nx.Graph()
    network.add_nodes_from(("user", user) for user in graph.users)
    network.add_edges_from((("user", u), ("behaviour", b)) for u, b in allowed(graph).to_edges())
    expected = sorted(sorted(part) for part in nx.connected_components(network))

    answers = [
        sorted([("user", u) for u in part.users] + [("behaviour", b) for b in part.behaviours])
        for part in blocks(graph)
    ]

    assert sorted(answers) == expected
    smallest = [int(str(part.users[0])) for part in blocks(graph)]
    assert smallest == sorted(smallest)


@given(graphs())
def test_matchings_multiply_over_blocks(graph: Graph) -> None:
    if not structure(graph).matched:
        return
    product = 1
    for part in blocks(graph):
        assert (part.n_users, part.n_behaviours, part.n_edges) == (
            part.graph().n_users,
            part.graph().n_behaviours,
            part.graph().n_edges,
        )
        product *= len(all_matchings(part.graph()))

    assert product == len(all_matchings(graph))


@given(graphs())
def test_matching_is_maximum(graph: Graph) -> None:
    parts = structure(graph)
    network: nx.Graph[tuple[str, object]] = nx.Graph()
    network.add_nodes_from(("user", u) for u in graph.users)
    network.add_edges_from((("user", u), ("behaviour", b)) for u, b in graph.to_edges())
    best = nx.bipartite.hopcroft_karp_matching(network, [("user", u) for u in graph.users])

    assert parts.n_matched == len(best) // 2
    for user, behaviour in enumerate(parts.behaviour_of_user.tolist()):
        assert behaviour == -1 or parts.user_of_behaviour[behaviour] == user
    assert int((parts.behaviour_of_user >= 0).sum()) == parts.n_matched


@given(graphs(square=True) | graphs())
def test_witness_is_a_smallest_reason(graph: Graph) -> None:
    why = witness(graph)
    if why is None:
        assert all_matchings(graph)
        return
    rows = neighbours(graph)
    users = [int(str(user)) for user in why.users]

    assert not all_matchings(graph)
    assert set(why.behaviours) == set().union(*(rows[user] for user in users))
    assert len(why.behaviours) == len(users) - 1
    for left_out in users:
        rest = graph.select([u for u in users if u != left_out], graph.behaviours)
        assert all_matchings(rest)


def test_witness_is_small_among_many() -> None:
    """A crowd of 40 on 20 behaviours hides two users who share one."""
    crowd = [range(20)] * 40
    graph = Graph.from_rows([*crowd, [20], [20]], n_behaviours=60)

    assert witness(graph) == Witness(users=(40, 41), behaviours=(20,))


def test_no_matching_carries_the_names() -> None:
    graph = Graph.from_edges([("ann", "x"), ("bob", "x"), ("cem", "y")])

    with pytest.raises(NoMatchingError, match="2 users \\(ann, bob\\) fit only 1 behaviour") as got:
        blocks(graph)
    assert got.value.users == ("ann", "bob")


def test_more_users_than_behaviours() -> None:
    why = witness(Graph.from_rows(["11", "11", "11"]))
    assert why is not None
    assert len(why.users) == 3


@given(graphs(), st.booleans())
def test_table_holds_the_allowed_edges(graph: Graph, weighted: bool) -> None:
    if not structure(graph).matched:
        return
    if weighted:
        graph = Graph.from_edges(
            [(u, b, 1 + (u + b) % 2) for u, b in graph.to_edges()],
            users=graph.users,
            behaviours=graph.behaviours,
        )
    table = block_table(graph)
    keys: dict[tuple[float, ...], int] = {}
    for k in range(table.n_blocks):
        users = table.users[table.user_offsets[k] : table.user_offsets[k + 1]]
        behaviours = table.behaviours[table.behaviour_offsets[k] : table.behaviour_offsets[k + 1]]
        local = table.row_offsets[table.user_offsets[k] : table.user_offsets[k + 1] + 1]
        span = slice(table.edge_offsets[k], table.edge_offsets[k + 1])
        edges = table.edges[span]
        rows = np.repeat(users, np.diff(local))
        assert np.array_equal(graph.rows()[edges], rows)
        assert np.array_equal(graph.indices[edges], behaviours[table.local_indices[span]])
        key = (
            len(behaviours),
            *(local - local[0]).tolist(),
            *table.local_indices[span].tolist(),
            *([] if graph.weights is None else graph.weights[edges].tolist()),
        )
        assert keys.setdefault(key, table.class_of_block[k]) == table.class_of_block[k]
    assert len(keys) == len(table.class_first)
    mask = np.zeros(graph.n_edges, dtype=np.bool_)
    mask[table.edges] = True
    assert graph.keep_edges(mask) == allowed(graph)


def shuffled_copies(pattern: list[list[int]], copies: int, seed: int) -> Graph:
    size = len(pattern)
    rng = np.random.default_rng(seed)
    users, behaviours = rng.permutation(copies * size), rng.permutation(copies * size)
    rows: list[list[int]] = [[] for _ in users]
    for k, u in itertools.product(range(copies), range(size)):
        rows[users[k * size + u]] = [int(behaviours[k * size + b]) for b in pattern[u]]
    return Graph.from_rows(rows)


@pytest.mark.parametrize(
    "pattern",
    [
        [[u, (u + 1) % 10, (u + 3) % 10] for u in range(10)],
        [[b for b in range(8) if b != u] for u in range(8)],
        [[0, 1, 2], [1, 3, 4], [0, 4], [2, 3], [0, 1, 2, 3, 4]],
    ],
    ids=["ring", "crown", "irregular"],
)
def test_hidden_copies_of_one_block_are_one_class(pattern: list[list[int]]) -> None:
    table = block_table(shuffled_copies(pattern, 30, seed=4))

    assert table.n_blocks == 30
    assert len(table.class_first) == 1


def test_weights_that_floats_cannot_tell_apart_keep_blocks_apart() -> None:
    third = Fraction(1, 3)
    near = third + Fraction(1, 10**40)
    entries = [(0, 0, third), (1, 1, near), (2, 2, third)]
    table = block_table(Graph.from_edges(entries))

    assert table.class_of_block.tolist() == [0, 1, 0]


def test_block_graph_keeps_names_weights_and_order() -> None:
    edges = [("c", "z", 2), ("a", "x", 3), ("c", "x", 5), ("b", "x", 7), ("b", "z", Fraction(1, 3))]
    graph = Graph.from_edges([*edges, ("a", "w", 1)], users=list("abc"), behaviours=list("wxyz"))
    parts = [part.graph() for part in blocks(graph)]

    assert [part.users for part in parts] == [("a",), ("b", "c")]
    assert parts[1].to_edges() == [
        ("b", "x", 7),
        ("b", "z", Fraction(1, 3)),
        ("c", "x", 5),
        ("c", "z", 2),
    ]
    assert repr(blocks(graph)[0]) == "BlockView(1 user, 1 behaviour, 1 edge)"


def test_blocks_are_a_sequence() -> None:
    parts = blocks(Graph.from_rows(["100", "010", "001"]))

    assert len(parts[1:]) == 2
    assert parts[-1].users == (2,)
    assert repr(parts[:2]) == "Blocks(2 of Graph(3 users, 3 behaviours, 3 edges))"
    with pytest.raises(IndexError):
        parts[3]


def test_results_are_kept_while_the_graph_lives() -> None:
    graph = Graph.from_rows(["11", "11"])
    gc.collect()  # graphs of other tests go now, and not in between
    before = len(_structures)
    first = structure(graph)

    assert structure(graph) is first
    assert not first.block_of_user.flags.writeable
    del graph
    gc.collect()
    assert len(_structures) == before


@pytest.mark.parametrize(
    ("n", "degree", "seed"),
    [
        *((3000, degree, seed) for degree in (2, 3, 9) for seed in range(3)),
        pytest.param(140_000, 3, 0, marks=pytest.mark.slow),  # large graphs go other ways inside
    ],
)
def test_agrees_with_scipy_on_larger_graphs(n: int, degree: int, seed: int) -> None:
    rng = np.random.default_rng([degree, seed])
    rows = np.concatenate((np.arange(n), np.repeat(np.arange(n), degree - 1)))
    columns = np.concatenate((rng.permutation(n), rng.integers(0, n, n * (degree - 1))))
    matrix = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    matrix.data[:] = 1
    graph = Graph.from_biadjacency(matrix)
    partner = maximum_bipartite_matching(matrix, perm_type="row")  # user of each behaviour
    digraph = scipy.sparse.csr_matrix(
        (matrix.data, partner[matrix.indices], matrix.indptr), shape=(n, n)
    )
    n_blocks, labels = connected_components(digraph, connection="strong")

    assert structure(graph).n_blocks == n_blocks
    same = np.repeat(labels, np.diff(matrix.indptr)) == labels[digraph.indices]
    assert allowed(graph).n_edges == int(same.sum())
