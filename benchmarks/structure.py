"""Blocks, allowed and forced edges of large graphs beside scipy.

scipy's share is what it offers for the same answer: ``maximum_bipartite_matching`` and
``connected_components`` of the matched digraph.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from anonymatch.graph import Graph
from anonymatch.graph.decomposition import allowed, forced, structure
from benchmarks.report import Line, Size, faster, plain, within
from benchmarks.timing import fresh, race

__all__ = ["largest_memory", "lines"]

Ints = npt.NDArray[np.int64]

_SIZES = {"tiny": (100, 1), "quick": (10**5, 3), "full": (10**6, 3)}  # users, rounds
_GATHERS = 10.0
_EXPONENT = 1.2  # linear, but for what caches do: small graphs fit into them, large ones do not


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
    yield "bad for a greedy start", hard_start(max(n // 500, 20))
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
    result = structure(graph)
    if not result.matched:
        return result.n_matched, 0, 0, 0
    return result.n_matched, result.n_blocks, allowed(graph).n_edges, len(forced(graph))


def _afresh(graph: Graph) -> tuple[int, int, int, int]:
    return by_anonymatch(fresh(graph))


def lines(size: Size) -> Iterator[Line]:
    n, rounds = _SIZES[size]
    for number, (name, graph) in enumerate(cases(n)):
        if number and size == "quick":
            break
        matrix = scipy.sparse.csr_matrix(graph.to_scipy())
        timed = race(
            {
                "scipy": partial(by_scipy, matrix),
                "ours": partial(_afresh, graph),
            },
            rounds=rounds,
            patience=20.0,
        )
        answer = timed["ours"].answer
        assert answer == timed["scipy"].answer, name
        judged = number == 0 and size != "tiny"  # the goal names this graph
        yield faster(
            f"blocks: {name}",
            timed["ours"].seconds,
            "scipy",
            timed["scipy"].seconds,
            5.0 if judged else None,
            f"{graph.n_users} users, {graph.n_edges} edges, {answer[1]} blocks",
        )
        if judged:
            yield _gathers(graph, judged=size == "full")
    if size == "full":
        yield _linear(n)
        yield _memory(n)


def _gathers(graph: Graph, *, judged: bool) -> Line:
    """Beside one look at a random number for every edge, which no method can do without."""
    numbers = np.arange(graph.n_behaviours, dtype=np.int32)
    indices = np.asarray(graph.indices)
    timed = race(
        {"ours": partial(_afresh, graph), "gather": lambda: int(numbers[indices][-1])}, rounds=5
    )
    seconds = [timed[name].seconds for name in ("ours", "gather")]
    goal = _GATHERS if judged else None
    return within("blocks: in random gathers", seconds[0], "numbers[indices]", seconds[1], goal)


def _linear(n: int) -> Line:
    """How time grows with the edges, from a hundredth of the users to all of them."""
    users = [n // 100, n // 30, n // 10, n // 3, n]
    graphs = [next(cases(part))[1] for part in users]
    timed = race({str(k): partial(_afresh, graph) for k, graph in enumerate(graphs)}, rounds=5)
    edges = np.array([graph.n_edges for graph in graphs])
    seconds = np.array([timed[str(k)].seconds for k in range(len(graphs))])
    exponent = float(np.polyfit(np.log(edges), np.log(seconds), 1)[0])
    each = ", ".join(
        f"{1e9 * s / m:.0f} ns at {m:.1e}" for s, m in zip(seconds, edges, strict=True)
    )
    return plain(
        f"blocks: growth from {users[0]} users",
        float(seconds[-1]),
        goal=f"<= edges^{_EXPONENT:g}",
        passed=exponent <= _EXPONENT,
        note=f"edges^{exponent:.2f}; an edge takes {each} edges",
    )


def _memory(n: int) -> Line:
    """The largest memory of a process that makes the graph and does nothing else."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = f"from benchmarks.structure import largest_memory; largest_memory({n})"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = float(printed)
    return plain(
        f"blocks: memory, {n} users",
        end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime,
        goal="<= 2 GiB",
        passed=peak <= 2.0 if peak else None,
        note=f"{peak:.2f} GiB for the whole process; the time includes making the graph"
        if peak
        else "this system does not say",
    )


def largest_memory(n: int) -> None:
    """Print the GiB that this process has needed at most, 0 where the system does not say."""
    by_anonymatch(next(cases(n))[1])
    status = Path("/proc/self/status")  # getrusage would count the memory of the parent
    text = status.read_text(encoding="ascii") if status.exists() else ""
    result = [line for line in text.splitlines() if line.startswith("VmHWM")]
    print(int(result[0].split()[1]) / 2**20 if result else 0)
