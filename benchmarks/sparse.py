"""Sparse, near-complete and split graphs: answers that are known, goals in seconds.

Of the peers only Graphillion answers exactly without trying all subsets; it is asked up to 40
users. Known answers come from recurrences and formulas that the package does not use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse

import anonymatch as am
from anonymatch.graph.decomposition import block_table, structure
from benchmarks import peers
from benchmarks.report import Line, Size, faster, under, within
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]

_REGULAR_GOALS = {60: 0.1, 80: 3.0, 100: 120.0}  # seconds
_HYPERCUBES = {3: 9, 6: 16332454526976}  # by dimension
_BLOCK = 8  # users
_EQUAL_BLOCK = 10  # users


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    beside: tuple[int, ...]  # 3-regular, beside Graphillion
    regular: tuple[int, ...]
    ring: int
    hypercube: int
    near_complete: int
    blocks: int
    equal_blocks: int
    cycle: int
    log: int
    rounds: int
    judged: bool


_SIZES = {
    "tiny": _Sizes(
        beside=(10,), regular=(14,), ring=30, hypercube=3, near_complete=20, blocks=5,
        equal_blocks=20, cycle=50, log=100, rounds=1, judged=False,
    ),
    "quick": _Sizes(
        beside=(30, 40), regular=(60, 80), ring=1000, hypercube=6, near_complete=1000, blocks=1000,
        equal_blocks=10**4, cycle=10**5, log=10**4, rounds=3, judged=True,
    ),
    "full": _Sizes(
        beside=(30, 40), regular=(60, 80, 100), ring=1000, hypercube=6, near_complete=1000,
        blocks=1000, equal_blocks=10**5, cycle=10**6, log=10**5, rounds=5, judged=True,
    ),
}  # fmt: skip


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    yield from _beside_graphillion(sizes)
    for n in sizes.regular:
        yield _regular(n, sizes)
    for k in (3, 5, 8):
        yield _ring(sizes.ring, k, sizes)
    yield _known(
        f"hypercube of dimension {sizes.hypercube}",
        am.hypercube(sizes.hypercube),
        _HYPERCUBES[sizes.hypercube],
        10.0,
        sizes,
    )
    n = sizes.near_complete
    yield _known(f"crown, n = {n}", am.crown(n), _derangements(n), 0.1, sizes)
    yield _known(f"menage, n = {n}", _menage_graph(n), _menage_number(n), 0.1, sizes)
    yield _known(
        f"complete but 10 edges, n = {n}", _without(n, 10), _without_count(n, 10), 0.1, sizes
    )
    yield _different_blocks(sizes)
    yield from _equal_blocks(sizes)
    yield _cycle(sizes)
    yield from _log(sizes)


def _count(graph: am.Graph) -> int:
    value = am.count(fresh(graph), exact=True, executor=HERE).value
    assert isinstance(value, int)
    return value


def _known(what: str, graph: am.Graph, answer: int, goal: float, sizes: _Sizes) -> Line:
    timed = race({"ours": partial(_count, graph)}, rounds=sizes.rounds)["ours"]
    assert timed.answer == answer, what
    return under(what, timed.seconds, goal if sizes.judged else None)


# ---- regular graphs and rings


def _beside_graphillion(sizes: _Sizes) -> Iterator[Line]:
    peer = peers.graphillion()
    for n in sizes.beside:
        graph = am.random_regular(n, 3, seed=1)
        calls: dict[str, Callable[[], int]] = {"ours": partial(_count, graph)}
        if peer is not None:
            calls["its order"] = partial(peer, graph, True)
            calls["our order"] = partial(peer, graph, False)
        timed = race(calls, rounds=2 * sizes.rounds)  # its time varies a lot between rounds
        ours = timed.pop("ours")
        assert all(result.answer == ours.answer for result in timed.values())
        best = min(timed, key=lambda name: timed[name].seconds, default=None)
        yield faster(
            f"3-regular, n = {n}",
            ours.seconds,
            "Graphillion",
            timed[best].seconds if best else None,
            1.0 if sizes.judged else None,
            f"Graphillion in {best}, the better for it" if best else "",
        )


def _regular(n: int, sizes: _Sizes) -> Line:
    """Checked by another order: the transposed graph has the same count."""
    graph = am.random_regular(n, 3, seed=1)
    timed = race({"ours": partial(_count, graph)}, rounds=sizes.rounds)["ours"]
    assert _count(am.Graph.from_biadjacency(graph.to_scipy().T)) == timed.answer
    goal = _REGULAR_GOALS.get(n) if sizes.judged else None
    return under(f"3-regular, n = {n}", timed.seconds, goal, f"{timed.answer} matchings")


def _ring(n: int, k: int, sizes: _Sizes) -> Line:
    if k == 3:
        return _known(f"ring of 3, n = {n}", am.ring(n, 3), _lucas(n) + 2, 1.0, sizes)
    timed = race({"ours": partial(_count, am.ring(n, k))}, rounds=sizes.rounds)["ours"]
    # A ring of k behaviours a user, read the other way round, is the same ring.
    mirrored = am.circulant(n, [-shift for shift in range(k)])
    assert _count(mirrored) == timed.answer
    note = f"{len(str(timed.answer))} digits"
    return under(f"ring of {k}, n = {n}", timed.seconds, 1.0 if sizes.judged else None, note)


def _lucas(n: int) -> int:
    one, other = 2, 1
    for _ in range(n):
        one, other = other, one + other
    return one


# ---- near-complete graphs


def _derangements(n: int) -> int:
    value = 1
    for k in range(1, n + 1):
        value = k * value + (-1) ** k
    return value


def _menage_graph(n: int) -> am.Graph:
    """Everything but i and i + 1."""
    here = np.eye(n, dtype=np.bool_)
    return am.Graph.from_biadjacency(~(here | np.roll(here, 1, axis=1)))


def _menage_number(n: int) -> int:
    """Touchard's formula."""
    return sum(
        (-1) ** k * 2 * n * math.comb(2 * n - k, k) // (2 * n - k) * math.factorial(n - k)
        for k in range(n + 1)
    )


def _without(n: int, missing: int) -> am.Graph:
    cells = np.ones((n, n), dtype=np.bool_)
    cells[np.arange(missing), np.arange(missing)] = False
    return am.Graph.from_biadjacency(cells)


def _without_count(n: int, missing: int) -> int:
    return sum(
        (-1) ** k * math.comb(missing, k) * math.factorial(n - k) for k in range(missing + 1)
    )


# ---- many blocks


def _different_blocks(sizes: _Sizes) -> Line:
    rng = np.random.default_rng(1)
    cells = rng.random((sizes.blocks, _BLOCK, _BLOCK)) < 0.5
    cells |= np.eye(_BLOCK, dtype=np.bool_)  # at least one matching each
    graph = _shuffled([block.astype(np.int8) for block in cells], rng)
    answer = math.prod(_ryser(cells))
    return _known(f"{sizes.blocks} random blocks of {_BLOCK}", graph, answer, 0.05, sizes)


def _equal_blocks(sizes: _Sizes) -> Iterator[Line]:
    """A count of copies should take no longer than finding out that they are copies."""
    rng = np.random.default_rng(1)
    half = rng.random((_EQUAL_BLOCK, _EQUAL_BLOCK)) < 0.5
    half |= np.eye(_EQUAL_BLOCK, dtype=np.bool_)
    for what, cells in (("complete", np.ones_like(half)), ("half full", half)):
        graph = _shuffled([cells.astype(np.int8)] * sizes.equal_blocks, rng)
        timed = race(
            {"ours": partial(_log2, graph), "reduction": partial(_reduction, graph)},
            rounds=sizes.rounds,
        )
        one = _ryser(cells[None])[0]
        assert math.isclose(timed["ours"].answer, sizes.equal_blocks * math.log2(one))
        yield within(
            f"{sizes.equal_blocks} {what} blocks of {_EQUAL_BLOCK}",
            timed["ours"].seconds,
            "its reduction",
            timed["reduction"].seconds,
            1.5 if sizes.judged else None,
        )


def _log2(graph: am.Graph) -> float:
    result = am.count(fresh(graph), executor=HERE)
    assert result.exact
    return result.log2


def _reduction(graph: am.Graph) -> int:
    alone = fresh(graph)
    structure(alone)
    return block_table(alone).n_blocks


def _cycle(sizes: _Sizes) -> Line:
    graph = am.ring(sizes.cycle, 2)
    timed = race(
        {"ours": partial(_count, graph), "reduction": partial(_reduction, graph)},
        rounds=sizes.rounds,
    )
    assert timed["ours"].answer == 2
    what = f"one cycle, n = {sizes.cycle}"
    theirs = timed["reduction"].seconds
    return within(what, timed["ours"].seconds, "its reduction", theirs, None)


def _shuffled(blocks: list[npt.NDArray[np.int8]], rng: np.random.Generator) -> am.Graph:
    """The blocks side by side, users and behaviours in random order."""
    whole = scipy.sparse.coo_array(scipy.sparse.block_diag(blocks))
    users, behaviours = (rng.permutation(length) for length in whole.shape)
    rows, columns = whole.coords
    return am.Graph.from_biadjacency(
        scipy.sparse.csr_array((whole.data, (users[rows], behaviours[columns])), shape=whole.shape)
    )


def _ryser(cells: npt.NDArray[np.bool_]) -> list[int]:
    """Permanents of small matrices by Ryser's formula, all at once."""
    n = cells.shape[1]
    totals = np.zeros(len(cells), dtype=np.int64)
    for subset in range(1, 2**n):
        chosen = [column for column in range(n) if subset >> column & 1]
        sign = (-1) ** (n - len(chosen))
        totals += sign * cells[:, :, chosen].sum(axis=2).prod(axis=1)
    return [int(total) for total in totals]


# ---- logs by time


def _log_graph(n: int) -> am.Graph:
    """Messages that leave a mix within 12 of their coming, one a unit of time."""
    rng = np.random.default_rng(1)
    came = np.sort(rng.uniform(0, n, n))
    left = np.sort(came + rng.uniform(0, 12.0, n))
    starts = np.searchsorted(left, came, "left")
    degrees = np.searchsorted(left, came + 12.0, "right") - starts
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    indices = np.repeat(starts - indptr[:-1], degrees) + np.arange(indptr[-1])
    ones = np.ones(len(indices), dtype=np.int8)
    return am.Graph.from_biadjacency(scipy.sparse.csr_array((ones, indices, indptr), shape=(n, n)))


def _log(sizes: _Sizes) -> Iterator[Line]:
    """The integer and probabilities, and doubles in whose interval it must lie."""
    n = sizes.log
    graph = _log_graph(n)

    def integer() -> float:
        return am.count(fresh(graph), exact=True, budget=3600, executor=HERE).log

    def probabilities() -> float:
        outcome = am.posterior(fresh(graph), budget=3600, executor=HERE)
        return float(outcome.probabilities.sum())

    def doubles() -> tuple[float, float]:
        weighted = am.Graph.from_biadjacency(graph.to_scipy().astype(float) * 2.0)
        outcome = am.count(weighted, budget=3600, executor=HERE)
        shift = n * math.log(2.0)  # doubles every matching n times, and keeps to doubles
        return outcome.low - shift, outcome.high - shift

    timed = race({"integer": integer, "probabilities": probabilities, "doubles": doubles}, rounds=1)
    low, high = timed["doubles"].answer
    slack = 1e-12 * abs(low)
    assert low - slack <= timed["integer"].answer <= high + slack
    assert abs(timed["probabilities"].answer - n) < 1e-6 * n
    limit = n / 1000 if sizes.judged else None  # seconds of one core
    yield under(f"log by time, n = {n}: exact count", timed["integer"].seconds, limit)
    yield under(f"log by time, n = {n}: all probabilities", timed["probabilities"].seconds, limit)
