"""Estimates beyond exact reach: how often intervals hold, and how close they are how soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import anonymatch as am
from anonymatch.counting.block import Block
from anonymatch.counting.estimate import Allowance, estimate
from anonymatch.counting.reduce import reduce
from anonymatch.effort import Effort
from benchmarks.report import Line, Size, plain
from benchmarks.timing import HERE, fresh

__all__ = ["lines"]

Draws = np.random.Generator

_PROMISED = 0.95
_ALLOWED = Allowance(seconds=0.1, half_width=1e-3)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    runs: int  # of each class
    users: tuple[int, int]
    speed: tuple[tuple[int, float, float], ...]  # users, half-width of the log, seconds
    giant: int
    judged: bool


_SIZES = {
    "tiny": _Sizes(runs=1, users=(13, 14), speed=(), giant=0, judged=False),
    "quick": _Sizes(runs=20, users=(15, 22), speed=((100, 0.02, 10.0),), giant=10_000, judged=True),
    "full": _Sizes(
        runs=125,
        users=(15, 26),
        speed=((100, 0.02, 10.0), (1000, 0.2, 60.0)),
        giant=100_000,
        judged=True,
    ),
}


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    yield from _coverage(sizes)
    for users, half_width, seconds in sizes.speed:
        yield _close(users, half_width, seconds)
    if sizes.giant:
        yield _giant(sizes.giant)


# ---- how often intervals hold


def _dense(n: int, draws: Draws) -> am.Graph:
    return am.random_density(n, 0.5, seed=int(draws.integers(2**31)))


def _sparse(n: int, draws: Draws) -> am.Graph:
    eye = np.eye(n, dtype=bool)
    return _graph((draws.random((n, n)) < 4 / n) | eye | np.roll(eye, 1, axis=1))


def _regular(n: int, draws: Draws) -> am.Graph:
    return am.random_regular(n, int(draws.integers(3, 7)), seed=int(draws.integers(2**31)))


def _banded(n: int, draws: Draws) -> am.Graph:
    return am.band(n, int(draws.integers(2, 5)), int(draws.integers(2, 5)))


def _bridged(n: int, draws: Draws) -> am.Graph:
    """Two dense parts and a thin bridge."""
    half = n // 2
    matrix = np.eye(n, dtype=bool)
    for part in (slice(0, half), slice(half, n)):
        matrix[part, part] |= draws.random(matrix[part, part].shape) < 0.8
    matrix[0, n - 1] = matrix[n - 1, 0] = True
    return _graph(matrix)


def _weighted(n: int, draws: Draws) -> am.Graph:
    return _graph(draws.random((n, n)))


def _heavy_tailed(n: int, draws: Draws) -> am.Graph:
    return _graph(np.exp(draws.normal(0, 3, (n, n))))


def _near_permutation(n: int, draws: Draws) -> am.Graph:
    return _graph(np.eye(n) * 10.0 ** draws.uniform(1, 3) + draws.random((n, n)))


_CLASSES: dict[str, Callable[[int, Draws], am.Graph]] = {
    "dense": _dense,
    "sparse": _sparse,
    "regular": _regular,
    "banded": _banded,
    "thin bridge": _bridged,
    "weighted": _weighted,
    "heavy-tailed weights": _heavy_tailed,
    "near a permutation": _near_permutation,
}


def _coverage(sizes: _Sizes) -> Iterator[Line]:
    held_of_all = 0
    seconds_of_all = 0.0
    for number, (name, kind) in enumerate(_CLASSES.items()):
        held, widths, spent = 0, [], 0.0
        for seed in range(sizes.runs):
            draws = np.random.default_rng([seed, number])
            block = _largest_block(kind(int(draws.integers(*sizes.users)), draws))
            begin = time.process_time()
            found = estimate(block, seed=(seed,), allowed=_ALLOWED, effort=Effort(executor=HERE))
            spent += time.process_time() - begin
            truth = am.count(_graph(block.dense().astype(float))).log
            assert found.proven[0] <= truth <= found.proven[1], (name, seed)
            held += found.low <= truth <= found.high
            widths.append((found.high - found.low) / 2)
        held_of_all += held
        seconds_of_all += spent
        yield plain(
            f"intervals, {name}, {sizes.runs} graphs",
            spent / sizes.runs,
            goal="",
            passed=None,
            note=f"{held} hold the truth; half-width of the log {np.median(widths):.2g} (median)",
        )
    runs = sizes.runs * len(_CLASSES)
    yield plain(
        f"intervals that hold the truth, of {runs}",
        seconds_of_all / runs,
        goal=f">= {_PROMISED:.0%}" if sizes.judged else "",
        passed=held_of_all >= _PROMISED * runs if sizes.judged else None,
        note=f"{held_of_all / runs:.1%} hold; proven ones hold always",
    )


def _graph(matrix: object) -> am.Graph:
    return am.Graph.from_biadjacency(np.asarray(matrix, dtype=float))


def _largest_block(graph: am.Graph) -> Block:
    reduced = reduce(graph, exact=False)
    return reduced.block(int(np.argmax(reduced.sizes()[2])))


# ---- how close how soon


def _close(users: int, half_width: float, seconds: float) -> Line:
    graph = am.random_regular(users, 10, seed=1)
    begin = time.process_time()
    found = am.count(fresh(graph), executor=HERE)
    spent = time.process_time() - begin
    half = (found.high - found.low) / 2
    return plain(
        f"10-regular, n = {users}: half-width <= {half_width:g}",
        spent,
        goal=f"<= {seconds:g} s",
        passed=spent <= seconds and half <= half_width,
        note=f"half-width of the log {half:.2g}; {found.method}",
    )


def _giant(users: int) -> Line:
    graph = am.random_regular(users, 10, seed=1)
    begin = time.process_time()
    found = am.count(fresh(graph), executor=HERE)
    chances = am.posterior(graph, executor=HERE)
    spent = time.process_time() - begin
    off = (found.high - found.low) / 2 / users / np.log(2)
    return plain(
        f"count and chances, n = {users}, {graph.n_edges} edges",
        spent,
        goal="<= 180 s",
        passed=spent <= 180 and off <= 1e-3,
        note=f"+-{off:.1g} bits a message; errors of chances below {chances.error:.2g}",
    )
