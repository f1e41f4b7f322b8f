"""Dense counts: half of all edges, one thread, beside everyone who computes permanents."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

import anonymatch as am
from anonymatch._native import GlynnMatrix, Isa, best_isa, glynn_units
from benchmarks import peers
from benchmarks.report import Line, Size, faster, plain, under
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]

_SEED = 1
_EXACT_GOAL = {"avx512": 8.0, "avx2": 2.0, "portable": None}  # times the fastest exact peer
_RATE_GOAL = 20e9  # row products a second and core, with AVX-512
_GOALS_FROM = 24  # users: below, calling Python takes a share of our time
_INT64 = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    sides: tuple[int, ...]
    kernel: int  # of the comparison of instruction sets
    wrapped: int  # half full, beyond 64 bits
    threads: int
    large: int
    rounds: int


_SIZES = {
    "tiny": _Sizes(sides=(8,), kernel=10, wrapped=0, threads=12, large=0, rounds=1),
    "quick": _Sizes(sides=(20, 24), kernel=24, wrapped=0, threads=28, large=0, rounds=3),
    "full": _Sizes(sides=(20, 24, 26), kernel=26, wrapped=28, threads=30, large=34, rounds=5),
}

Count = Callable[[peers.Matrix], float]


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    exact: dict[str, Count | None] = {
        "FLINT": peers.flint(),
        "thewalrus int64": peers.thewalrus(),
        "exqalibur int64": peers.exqalibur_integer(),
    }
    floating = peers.exqalibur_float()
    for n in sizes.sides:
        yield from _beside_all(n, exact, floating, sizes.rounds)
    yield from _instruction_sets(sizes.kernel, exact, sizes.rounds)
    yield from _beyond_64_bits(sizes.wrapped, exact)
    yield _kept_bits(sizes.threads, sizes.rounds)
    yield _two_threads(sizes.threads, sizes.rounds)
    if sizes.large:
        graph = am.random_density(sizes.large, 0.5, seed=_SEED)
        timed = race({"ours": partial(_count, graph)}, rounds=1)["ours"]
        yield under(f"half full, n = {sizes.large}", timed.seconds, 120.0, f"{timed.answer}")


def _count(graph: am.Graph) -> int:
    value = am.count(fresh(graph), exact=True, executor=HERE).value
    assert isinstance(value, int)
    return value


def _by_signs(graph: am.Graph) -> int:
    value = am.count(fresh(graph), method="glynn", executor=HERE).value
    assert isinstance(value, int)
    return value


def _matrix(graph: am.Graph) -> peers.Matrix:
    return np.ascontiguousarray(graph.to_scipy().toarray(), dtype=np.int64)


def _beside_all(
    n: int, exact: dict[str, Count | None], floating: Count | None, rounds: int
) -> Iterator[Line]:
    graph = am.random_density(n, 0.5, seed=_SEED)
    matrix = _matrix(graph)
    everyone = {**exact, "exqalibur float": floating}
    calls = {name: partial(peer, matrix) for name, peer in everyone.items() if peer is not None}
    timed = race({"ours": partial(_count, graph), **calls}, rounds=rounds)
    ours = timed["ours"]
    for name in everyone:
        note = _difference(name, timed[name].answer, ours.answer) if name in timed else ""
        goal = 1.0 if name == "exqalibur float" else _EXACT_GOAL[best_isa.name]
        yield faster(
            f"half full, n = {n}",
            ours.seconds,
            name,
            timed[name].seconds if name in timed else None,
            goal if n >= _GOALS_FROM else None,
            note,
        )


def _difference(name: str, theirs: float, ours: int) -> str:
    """What is wrong with the peer's answer; FLINT is always right, int64 may only wrap."""
    if theirs == ours:
        return ""
    if name == "exqalibur float":
        error = abs(theirs / ours - 1)
        assert error < 1e-8
        return f"exqalibur is wrong by {error:.1e}"
    assert name != "FLINT"
    assert ours >= _INT64
    assert (int(theirs) - ours) % 2**64 == 0
    return f"it wraps: it answers {theirs} for {ours}"


def _instruction_sets(n: int, exact: dict[str, Count | None], rounds: int) -> Iterator[Line]:
    """The kernel alone, on every instruction set that this processor has."""
    graph = am.random_density(n, 0.5, seed=_SEED)
    matrix = _matrix(graph)
    words = 1 if math.log2(_by_signs(graph)) + n < 64 else 2

    def by_kernel(isa: Isa) -> int:
        sums = GlynnMatrix(matrix.astype(np.uint32)).count(words, 0, glynn_units(n), isa)
        modulus = 1 << (64 * words)
        half = modulus // 2
        return ((int(sums[0]) + half) % modulus - half) >> (n - 1)

    calls = {isa.name: partial(by_kernel, isa) for isa in _supported(matrix)}
    rivals = {name: partial(peer, matrix) for name, peer in exact.items() if peer is not None}
    timed = race({**calls, **rivals}, rounds=rounds)
    fastest = min(rivals, key=lambda name: timed[name].seconds, default=None)
    answer = _by_signs(graph)
    assert all(timed[isa].answer == answer for isa in calls)
    for name in rivals:
        _difference(name, timed[name].answer, answer)
    for isa in calls:
        seconds = timed[isa].seconds
        rate = n * 2.0 ** (n - 1) / seconds
        yield faster(
            f"kernel {isa}, n = {n}",
            seconds,
            fastest or "FLINT",
            timed[fastest].seconds if fastest else None,
            _EXACT_GOAL[isa] if n >= _GOALS_FROM else None,
        )
        judged = isa == "avx512" and n >= _GOALS_FROM
        yield plain(
            f"kernel {isa}, n = {n}, row products",
            seconds,
            goal=f">= {_RATE_GOAL / 1e9:g} G/s" if judged else "",
            passed=rate >= _RATE_GOAL if judged else None,
            note=f"{rate / 1e9:.3g} x 10^9 row products a second",
        )


def _supported(matrix: peers.Matrix) -> Iterator[Isa]:
    small = np.ones((1, 1), dtype=np.uint32)
    for isa in (Isa.avx512, Isa.avx2, Isa.portable):
        try:
            GlynnMatrix(small).count(1, 0, 0, isa)
        except ValueError:
            continue
        yield isa


def _beyond_64_bits(half_full: int, exact: dict[str, Count | None]) -> Iterator[Line]:
    """Where 64 bits are not enough: ours is checked, theirs is shown."""
    graphs = {"complete, n = 21": am.complete(21)}
    if half_full:
        graphs[f"half full, n = {half_full}"] = am.random_density(half_full, 0.5, seed=_SEED)
    for what, graph in graphs.items():
        matrix = _matrix(graph)
        calls = {name: partial(peer, matrix) for name, peer in exact.items() if peer is not None}
        timed = race({"ours": partial(_by_signs, graph), **calls}, rounds=1)
        ours = timed["ours"]
        assert ours.answer >= _INT64
        if graph.n_edges == 21 * 21:
            assert ours.answer == math.factorial(21)
        for name in exact:
            note = _difference(name, timed[name].answer, ours.answer) if name in timed else ""
            theirs = timed[name].seconds if name in timed else None
            yield faster(f"{what}, by signs", ours.seconds, name, theirs, None, note)


def _kept_bits(n: int, rounds: int) -> Line:
    """The kernel from 30 users on: two factors for the bits of the count, beside all bits."""
    matrix = GlynnMatrix(_matrix(am.random_density(n, 0.5, seed=_SEED)).astype(np.uint32))
    units = min(glynn_units(n), 64)
    modulus = 1 << (matrix.kept_bits or 64)

    def kept() -> int:
        sums = matrix.count_kept(0, units) if matrix.kept_bits else matrix.count(3, 0, units)
        return int(sums[0]) % modulus

    timed = race(
        {"kept": kept, "all": lambda: int(matrix.count(3, 0, units)[0]) % modulus}, rounds=rounds
    )
    assert timed["kept"].answer == timed["all"].answer
    rate = n * units * 2.0 ** min(20, n - 1) / timed["kept"].seconds
    judged = best_isa.name == "avx512" and n >= 30
    return Line(
        what=f"kernel, n = {n}, row products",
        ours=timed["kept"].seconds,
        peer=f"all bits, {matrix.factors} factors",
        theirs=timed["all"].seconds,
        ratio=timed["all"].seconds / timed["kept"].seconds,
        goal=">= 38 G/s" if judged else "",
        passed=rate >= 38e9 if judged else None,
        note=f"{rate / 1e9:.3g} x 10^9 row products a second",
    )


def _two_threads(n: int, rounds: int) -> Line:
    """Wall time: on a busy machine there is no second core, and the load says so."""
    graph = am.random_density(n, 0.5, seed=_SEED)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(abs, range(2)))  # threads start before the clock does
        calls: dict[str, Callable[[], object]] = {
            "two": lambda: am.count(fresh(graph), method="glynn", executor=pool).value,
            "one": partial(_by_signs, graph),
        }
        wall = race(calls, rounds=rounds, clock=time.perf_counter)
        busy = race(calls, rounds=rounds)
    assert wall["one"].answer == wall["two"].answer
    more = busy["two"].seconds / busy["one"].seconds
    return faster(
        f"two threads, n = {n}, wall time",
        wall["two"].seconds,
        "one thread",
        wall["one"].seconds,
        1.8 if n >= _GOALS_FROM else None,
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; "
        f"two use {more:.2f} times the CPU time of one",
    )
