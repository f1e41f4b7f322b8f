"""Estimates beyond exact reach: how often intervals hold, and how close they are how soon."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import anonymatch as am
from anonymatch.counting.approximate.estimate import estimate
from anonymatch.counting.approximate.marginals import estimate_edges
from anonymatch.counting.approximate.particles import promising_filter
from anonymatch.counting.approximate.records import EstimateBudget
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.running.budget import Execution
from benchmarks.report import Line, Size, plain, within
from benchmarks.timing import HERE, fresh, race

__all__ = ["CLASSES", "lines"]

Draws = np.random.Generator
Matrix = npt.NDArray[Any]

_PROMISED = 0.95
_ERRORS = 1.96  # standard errors that hold so often
_RUNS = 2000
_EDGES_EVERY = 5  # runs in which probabilities are held against exact ones too
_ALLOWED = EstimateBudget(seconds=0.1, half_width=1e-3)
_UNASKED = EstimateBudget(
    seconds=30.0, half_width=0.01, strict=False
)  # what nobody set a budget for


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    runs: int  # of each class
    users: tuple[int, int]
    speed: tuple[tuple[int, float, float], ...]  # users, half-width of the log, seconds
    giant: int
    judged: bool


_SIZES = {
    "tiny": _Sizes(runs=1, users=(13, 14), speed=(), giant=0, judged=False),
    "quick": _Sizes(runs=20, users=(15, 26), speed=((100, 0.02, 10.0),), giant=10_000, judged=True),
    "full": _Sizes(
        runs=125,
        users=(15, 41),
        speed=((100, 0.02, 10.0), (1000, 0.2, 60.0)),
        giant=100_000,
        judged=True,
    ),
}


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    yield from _coverage(sizes)
    yield _log_normal(sizes)
    for users, half_width, seconds in sizes.speed:
        yield _close(users, half_width, seconds)
    for name, graph in _plain_cases(size):
        yield _beside_runs(name, graph, judged=sizes.judged)
    if sizes.giant:
        yield _giant(sizes.giant)


# ---- how often intervals hold


def _dense(n: int, draws: Draws) -> Matrix:
    size = min(n, 27)  # what Ryser's formula reaches quickly
    return (draws.random((size, size)) < 0.5) | _eye(size)


def _sparse(n: int, draws: Draws) -> Matrix:
    return (draws.random((n, n)) < draws.uniform(2, 4) / n) | _eye(n) | _next(n)


def _regular(n: int, draws: Draws) -> Matrix:
    degree = int(draws.integers(3, 7)) if n < 30 else 3
    graph = am.random_regular(n, degree, seed=int(draws.integers(2**31)))
    return np.asarray(graph.to_scipy().toarray())


def _banded(n: int, draws: Draws) -> Matrix:
    graph = am.band(n, int(draws.integers(2, 5)), int(draws.integers(2, 5)))
    return np.asarray(graph.to_scipy().toarray())


def _bridged(n: int, draws: Draws) -> Matrix:
    """Two dense parts and a thin bridge."""
    half, matrix = n // 2, _eye(n)
    for part in (slice(0, half), slice(half, n)):
        cells = draws.random(matrix[part, part].shape)
        matrix[part, part] |= cells < (0.8 if n < 32 else 0.5)
    matrix[0, n - 1] = matrix[n - 1, 0] = True
    return matrix


def _weighted(n: int, draws: Draws) -> Matrix:
    return np.asarray(_support(n, draws) * draws.random((n, n)))


def _heavy_tailed(n: int, draws: Draws) -> Matrix:
    return np.asarray(_support(n, draws) * np.exp(draws.normal(0, 3, (n, n))))


def _near_permutation(n: int, draws: Draws) -> Matrix:
    others = _support(n, draws) * draws.random((n, n))
    return np.asarray(_eye(n) * 10.0 ** draws.uniform(1, 3) + others)


def _rare_cycle(n: int, draws: Draws) -> Matrix:
    """Two matchings of about the same weight with nothing in common, and hardly a way between."""
    matrix = _eye(n) + _support(n, draws) * 10.0 ** -draws.uniform(2, 5) * draws.random((n, n))
    matrix[_next(n)] = 10.0 ** draws.uniform(-0.1, 0.1, n)
    return np.asarray(matrix)


def _eye(n: int) -> Matrix:
    return np.eye(n, dtype=bool)


def _next(n: int) -> Matrix:
    return np.roll(_eye(n), 1, axis=1)


def _support(n: int, draws: Draws) -> Matrix:
    """Where weights are: everywhere, or at about five behaviours a user if there are many."""
    if n <= 22:
        return np.ones((n, n), dtype=bool)
    return (draws.random((n, n)) < 3 / n) | _eye(n) | _next(n)


CLASSES: dict[str, Callable[[int, Draws], Matrix]] = {
    "dense": _dense,
    "sparse": _sparse,
    "regular": _regular,
    "banded": _banded,
    "blocks with a thin bridge": _bridged,
    "weighted": _weighted,
    "heavy-tailed weights": _heavy_tailed,
    "near a permutation": _near_permutation,
    "dominated by rare matchings": _rare_cycle,
}


def _coverage(sizes: _Sizes) -> Iterator[Line]:
    held_of_all = 0
    seconds_of_all = 0.0
    for number, (name, kind) in enumerate(CLASSES.items()):
        held, widths, scores, spent = 0, [], [], 0.0
        for seed in range(sizes.runs):
            draws = np.random.default_rng([seed, number])
            block = _largest_block(_graph(kind(int(draws.integers(*sizes.users)), draws)))
            begin = time.process_time()
            result = estimate(
                block, seed=(seed,), allowed=_ALLOWED, effort=Execution(executor=HERE)
            )
            spent += time.process_time() - begin
            graph = _graph(block.dense())
            truth = am.count(graph).log
            assert result.proven[0] <= truth <= result.proven[1], (name, seed)
            held += result.low <= truth <= result.high
            widths.append((result.high - result.low) / 2)
            if seed % _EDGES_EVERY == 0:
                scores.append(_scores(block, graph, seed))
        held_of_all += held
        seconds_of_all += spent
        yield plain(
            f"intervals, {name}, {sizes.runs} graphs",
            spent / sizes.runs,
            goal="",
            passed=None,
            note=f"{held} hold the truth; half-width of the log {np.median(widths):.2g} (median); "
            f"{np.mean(np.abs(np.concatenate(scores)) < 2):.1%} of probabilities within 2 errors",
        )
    runs = sizes.runs * len(CLASSES)
    yield plain(
        f"intervals that hold the truth, of {runs}",
        seconds_of_all / runs,
        goal=f">= {_PROMISED:.0%}" if sizes.judged else "",
        passed=held_of_all >= _PROMISED * runs if sizes.judged else None,
        note=f"{held_of_all / runs:.1%} hold; proven ones hold always",
    )


def _log_normal(sizes: _Sizes) -> Line:
    """Weights so far apart that many draws agree with each other and miss rare heavy matchings."""
    held, widths, spent = 0, [], 0.0
    for seed in range(sizes.runs):
        draws = np.random.default_rng([seed, 6])
        n, density = int(draws.integers(13, 19)), draws.choice([0.3, 0.6, 1.0])
        support = (draws.random((n, n)) < density) | _eye(n)
        weights = np.where(support, np.exp(draws.normal(0, 6, (n, n))), 0.0)
        block = _largest_block(_graph(weights))
        begin = time.process_time()
        result = estimate(block, seed=(seed,), allowed=_UNASKED, effort=Execution(executor=HERE))
        spent += time.process_time() - begin
        held += result.low <= am.count(_graph(block.dense())).log <= result.high
        widths.append((result.high - result.low) / 2)
    return plain(
        f"intervals, log-normal weights of sigma 6, {sizes.runs} graphs",
        spent / sizes.runs,
        goal=f">= {_PROMISED:.0%}" if sizes.judged else "",
        passed=held >= _PROMISED * sizes.runs if sizes.judged else None,
        note=f"{held} hold the truth; half-width of the log {np.median(widths):.2g} (median)",
    )


def _scores(block: Block, graph: am.Graph, seed: int) -> npt.NDArray[np.float64]:
    """How far estimated probabilities are from exact ones, in their standard errors."""
    result = estimate_edges(block, seed=(seed,), allowed=_ALLOWED, effort=Execution(executor=HERE))
    assert result is not None
    scores: npt.NDArray[np.float64] = (
        result.probabilities - am.posterior(graph).probabilities
    ) / result.errors
    return scores


def _graph(matrix: object) -> am.Graph:
    return am.Graph.from_biadjacency(np.asarray(matrix, dtype=float))


def _largest_block(graph: am.Graph) -> Block:
    reduced = reduce(graph, exact=False)
    return reduced.block(int(np.argmax(reduced.sizes()[2])))


# ---- how close how soon


def _plain_cases(size: Size) -> Iterator[tuple[str, am.Graph]]:
    if size != "tiny":
        yield "density 1/2, 100 users", am.random_density(100, 0.5, seed=1)
        yield "10-regular, 60 users", am.random_regular(60, 10, seed=1)
        yield "10-regular, 100 users", am.random_regular(100, 10, seed=1)


def _beside_runs(name: str, graph: am.Graph, *, judged: bool) -> Line:
    """A default estimate beside runs of the filter alone, as many as give an interval as wide."""
    effort = Execution(executor=HERE)
    promising = promising_filter(_largest_block(graph), (1,), math.inf, effort)
    assert promising is not None, name
    runs = partial(promising[0].trees, 0, _RUNS, effort)
    timed = race(
        {
            "ours": lambda: am.count(fresh(graph), exact=False, executor=HERE),
            "runs": lambda: float(runs().log_weights.sum()),
        },
        rounds=3,
    )
    count = timed["ours"].answer
    logs = runs().log_weights
    log = float(np.log(np.exp(logs - logs.max()).mean()) + logs.max())
    error = float(np.exp(logs - log).std(ddof=1))
    half = (count.high - count.low) / 2
    assert abs(count.log - log) < 3 * (half + error / _RUNS**0.5), name
    needed = (_ERRORS * error / half) ** 2
    return within(
        f"default estimate: {name}",
        timed["ours"].seconds,
        "runs alone, equal error",
        timed["runs"].seconds * needed / _RUNS,
        1.5 if judged else None,
        f"half-width {half:.3g} of the log",
    )


def _close(users: int, half_width: float, seconds: float) -> Line:
    graph = am.random_regular(users, 10, seed=1)
    begin = time.process_time()
    result = am.count(fresh(graph), executor=HERE)
    spent = time.process_time() - begin
    half = (result.high - result.low) / 2
    return plain(
        f"10-regular, n = {users}: half-width <= {half_width:g}",
        spent,
        goal=f"<= {seconds:g} s",
        passed=spent <= seconds and half <= half_width,
        note=f"half-width of the log {half:.2g}; {result.method}",
    )


def _giant(users: int) -> Line:
    graph = am.random_regular(users, 10, seed=1)
    begin = time.process_time()
    result = am.count(fresh(graph), executor=HERE)
    probabilities = am.posterior(graph, executor=HERE)
    spent = time.process_time() - begin
    off = (result.high - result.low) / 2 / users / np.log(2)
    return plain(
        f"count and probabilities, n = {users}, {graph.n_edges} edges",
        spent,
        goal="<= 180 s",
        passed=spent <= 180 and off <= 1e-3,
        note=f"+-{off:.1g} bits a message; errors of probabilities below {probabilities.error:.2g}",
    )
