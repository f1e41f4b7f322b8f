"""``python -m benchmarks.cost_table``: predicted times of exact counts on 1 to 10 000 cores.

From the prices of the plan, so nothing is counted. Sums over signs, Ryser's sum and long runs of
the frontier are cut into chunks; long bands run from both ends; the others take one core a block.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import anonymatch as am
from anonymatch.base.numbers import cost_in_words, time_in_words
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.counting.blocks.solution import Context, Option
from anonymatch.counting.planning.choose import choose
from anonymatch.running.budget import Budget, Execution

__all__ = ["Row", "render", "rows"]

CORES = (1, 100, 10_000)
_LEAST = 1.0  # seconds: the way to a cluster and back
_MEMORY = 256 * 2.0**30  # of a large machine
_RANDOM = [(density, n) for density in (0.1, 0.2, 0.5) for n in (24, 32, 40, 48, 64)]
_REGULAR = [(3, 100), (3, 140), (4, 80), (5, 56), (5, 64)]
_BANDS = [(8, 1000), (16, 1000), (20, 1000), (24, 1000), (8, 100_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A graph, the method that the plan takes, and its price."""

    what: str
    method: str
    seconds: float
    memory: float
    longest: float | None  # seconds on any number of cores

    def on(self, cores: int) -> float:
        """Predicted seconds by the clock."""
        if cores == 1 or self.longest is None:
            return self.seconds
        return max(self.seconds / cores, self.longest, min(self.seconds, _LEAST))


def rows(
    random: Sequence[tuple[float, int]] = _RANDOM,
    regular: Sequence[tuple[int, int]] = _REGULAR,
    bands: Sequence[tuple[int, int]] = _BANDS,
) -> Iterator[Row]:
    """Random graphs by density or candidates and users, logs by width and users."""
    for density, n in random:
        edges = np.random.default_rng(1).random((n, n)) < density
        graph = am.Graph.from_biadjacency((edges | np.eye(n, dtype=bool)).astype(np.int8))
        yield _row(f"{n} users, density {density:g}", graph)
    for degree, n in regular:
        yield _row(f"{n} users, {degree} candidates each", am.random_regular(n, degree, seed=1))
    for width, n in bands:
        yield _row(f"log of {n} users, width {width}", am.band(n, width // 2, width - width // 2))


def _row(what: str, graph: am.Graph) -> Row:
    """The dearest block, for it is nearly all of the price."""
    option = _dearest(graph)
    return Row(
        what=what,
        method=option.method,
        seconds=option.seconds,
        memory=option.memory,
        longest=option.longest,
    )


def _dearest(graph: am.Graph) -> Option:
    budget = Budget(seconds=math.inf, memory=_MEMORY)
    context = Context(edges=False, budget=budget, effort=Execution())
    reduced = reduce(graph, exact=False)
    kinds = [reduced.kind(k) for k in range(reduced.n_kinds)]
    return max((choose(kind.block, context) for kind in kinds), key=lambda option: option.seconds)


def render(table: Iterator[Row]) -> Iterator[str]:
    """The table as Markdown, line by line."""
    titles = ["graph", "method", "memory", *(f"{cores:,} cores" for cores in CORES)]
    titles[3] = "1 core"
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "---|" * len(titles)
    for row in table:
        if math.isinf(row.seconds) or row.memory > _MEMORY:
            cells = [row.what, "none: estimated", "", "", "", ""]
        else:
            memory = cost_in_words(0.0, row.memory).partition(" and ")[2]
            cells = [row.what, row.method, memory]
            cells += [time_in_words(row.on(cores)).removeprefix("about ") for cores in CORES]
        yield "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    for line in render(rows()):
        print(line)
        sys.stdout.flush()
