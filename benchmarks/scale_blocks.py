"""Blocks, allowed and forced edges of large graphs beside scipy, interleaved, answers compared.

scipy's share is what it offers for the same answer: ``maximum_bipartite_matching`` and
``connected_components`` of the matched digraph. Prints one line a graph; seconds are CPU time, best
of the rounds. Run: ``python -m benchmarks.scale_blocks [users] [rounds]``.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from anonymatch.graph import Graph
from anonymatch.graph.structure import allowed, block_table, forced, structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
Ints = npt.NDArray[np.int64]


def graph_of(rows: Ints, columns: Ints, n: int, rng: np.random.Generator | None = None) -> Graph:
    """A square graph, with users and behaviours shuffled if ``rng`` is given."""
    if rng is not None:
        rows, columns = rng.permutation(n)[rows], rng.permutation(n)[columns]
    keys = np.unique(rows * n + columns)
    pairs = scipy.sparse.csr_array(
        (np.ones(len(keys), dtype=np.int8), (keys // n, keys % n)), shape=(n, n)
    )
    return Graph.from_biadjacency(pairs)


def cases(n: int) -> Iterator[tuple[str, Graph]]:
    rng = np.random.default_rng(1)
    users = np.arange(n)

    def around(shifts: list[int]) -> tuple[Ints, Ints]:
        rows = np.repeat(users, len(shifts))
        return rows, (rows + np.tile(shifts, n)) % n

    for degree in (9, 3):
        rows = np.concatenate((users, np.repeat(users, degree - 1)))
        columns = np.concatenate((users, rng.integers(0, n, n * (degree - 1))))
        yield f"random, {degree} edges a user", graph_of(rows, columns, n, rng)
    yield (
        "random, 3 edges, no matching",
        graph_of(np.repeat(users, 3), rng.integers(0, n, 3 * n), n),
    )
    permuted = np.concatenate([rng.permutation(n) for _ in range(3)])
    yield "3-regular", graph_of(np.tile(users, 3), permuted, n)
    yield "band of 9", graph_of(*around(list(range(9))), n)
    yield "one cycle", graph_of(*around([0, 1]), n)
    rows = np.repeat(users, 10)
    block_columns = rows // 10 * 10 + np.tile(np.arange(10), n)
    inside = block_columns < n
    yield "complete tens, shuffled", graph_of(rows[inside], block_columns[inside], n, rng)
    yield "bad for a greedy start", hard_start(2000)
    # scipy takes time quadratic in the users on these: many minutes at the full size.
    users, n = users[: n // 20], n // 20
    yield "band of 9, shuffled, 1/20", graph_of(*around(list(range(9))), n, rng)
    rows, columns = around([0, 1])
    yield "one cycle, shuffled, 1/20", graph_of(rows, columns, n, rng)
    yield "path, shuffled, 1/20", graph_of(rows[:-1], columns[:-1], n, rng)


def hard_start(half: int) -> Graph:
    """A full corner that attracts greedy choices, though only the two diagonals beside it match."""
    corner = np.arange(half)
    few = np.arange(8)
    rows = [np.repeat(corner, half), corner, corner + half, np.repeat(few, half)]
    columns = [np.tile(corner, half), corner + half, corner, np.tile(corner + half, len(few))]
    rows.append(np.tile(corner + half, len(few)))
    columns.append(np.repeat(few + half, half))
    return graph_of(np.concatenate(rows), np.concatenate(columns), 2 * half)


def by_scipy(matrix: Any) -> tuple[int, int, int, int]:
    """Matched users, blocks, allowed and forced edges."""
    n = matrix.shape[0]
    partner = maximum_bipartite_matching(matrix, perm_type="row")
    n_matched = int((partner >= 0).sum())
    if n_matched < n:
        return n_matched, 0, 0, 0
    pointed = partner[matrix.indices]
    digraph = scipy.sparse.csr_matrix((matrix.data, pointed, matrix.indptr), shape=(n, n))
    n_blocks, labels = connected_components(digraph, connection="strong")
    same = np.repeat(labels, np.diff(matrix.indptr)) == labels[pointed]
    single = int((np.bincount(labels) == 1).sum())
    return n_matched, int(n_blocks), int(same.sum()), single


def by_anonymatch(graph: Graph) -> tuple[int, int, int, int]:
    found = structure(graph)
    if not found.matched:
        return found.n_matched, 0, 0, 0
    return found.n_matched, found.n_blocks, allowed(graph).n_edges, len(forced(graph))


def timed(call: Callable[[], T]) -> tuple[float, T]:
    begin = time.process_time()
    answer = call()
    return time.process_time() - begin, answer


def main(n: int, rounds: int) -> None:
    print(
        f"{'graph':32}{'edges':>10}{'blocks':>9}{'scipy s':>9}{'ours s':>8}{'ratio':>7}{'table':>7}"
    )
    for name, graph in cases(n):
        matrix = scipy.sparse.csr_matrix(graph.to_scipy())
        theirs = ours = table = float("inf")
        for _ in range(rounds):
            fresh = Graph(graph._users, graph._behaviours, graph._edges)
            seconds, expected = timed(partial(by_scipy, matrix))
            theirs = min(theirs, seconds)
            seconds, answer = timed(partial(by_anonymatch, fresh))
            ours = min(ours, seconds)
            assert answer == expected, (name, answer, expected)
            if answer[1]:
                seconds, _ = timed(partial(block_table, fresh))
                table = min(table, seconds)
            del fresh
        shown = f"{table:7.3f}" if np.isfinite(table) else f"{'-':>7}"
        print(
            f"{name:32}{graph.n_edges:10}{answer[1]:9}{theirs:9.3f}{ours:8.3f}{theirs / ours:7.1f}"
            + shown,
            flush=True,
        )


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["1000000", "3"][len(sys.argv) - 1 :])))
