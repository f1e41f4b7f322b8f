"""Other graphs of the same cost, to hold a design against."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anonymatch.base.errors import BudgetError
from anonymatch.base.logarithms import log_factorial
from anonymatch.counting import count
from anonymatch.designs.partition import layered
from anonymatch.designs.parts.part_edges import graph_of
from anonymatch.designs.random_graphs import random_expectation, regular_expectation
from anonymatch.designs.requests import users_and_edges

__all__ = ["Rival", "rivals"]

_COUNTED_UP_TO = 20_000  # edges of a ring that is counted when it has no closed form
_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Rival:
    """A graph or a kind of random graph, and the natural log of its count.

    Attributes
    ----------
    name : str
    low, high : float
        Equal when the log is known exactly, else proven bounds.
    expected : bool
        Whether it is the log of an expected count.

    Examples
    --------
    >>> rivals(6, 18)[0].log == math.log(20)
    True
    """

    name: str
    low: float
    high: float
    expected: bool = False

    @property
    def log(self) -> float:
        return self.low

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        low, high = (f"2^{log / math.log(2):.10g}" for log in (self.low, self.high))
        amount = f"{low} matchings" if self.exact else f"{low} to {high} matchings"
        return f"{self.name}: {amount}{' expected' if self.expected else ''}"


def rivals(n: int, m: int) -> tuple[Rival, ...]:
    """A ring (the paper's layers in one part) and random graphs with m edges.

    Random graphs of equal degrees join stubs at random, where that makes few parallel edges.

    Examples
    --------
    >>> [rival.name for rival in rivals(100, 500)]
    ['ring', 'random, exactly 500 edges', 'random, equal degrees']
    """
    n, m = users_and_edges(n, m)
    by_probability = random_expectation(n, edges=m)
    graphs = [
        _ring(n, m),
        Rival(f"random, exactly {m} edges", by_probability, by_probability, expected=True),
    ]
    k, r = divmod(m, n)
    if r == 0 and k * k <= n:  # denser, its parallel edges make it another kind of graph
        regular = regular_expectation(n, m)
        graphs.append(Rival("random, equal degrees", regular, regular, expected=True))
    return tuple(graphs)


def _ring(n: int, m: int) -> Rival:
    shape = layered(n, m)
    if not shape.exact and m <= _COUNTED_UP_TO:
        try:
            answer = count(graph_of(n, shape.cells()), exact=True, budget=_SECONDS)
            return Rival("ring", answer.log, answer.log)
        except BudgetError:
            pass
    low, high = (log_factorial(n) + share for share in shape.share_logs)
    return Rival("ring", low, high)
