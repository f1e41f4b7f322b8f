"""AddedEdge and Improvement: edges to add, what each gains, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import label, several
from anonymatch.counting import Count
from anonymatch.graph import BlockView, Graph

__all__ = ["AddedEdge", "Improvement"]

_LN2 = math.log(2.0)


_SHOWN = 10  # edges in a notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedEdge:
    """An edge to add, and what it gains on top of those before it.

    Attributes
    ----------
    user, behaviour
    factor : Fraction or float
        What the count is multiplied with: a Fraction when exact; inf if there was no matching.
    bits : float
        The same as bits; inf if there was no matching.
    low, high : float
        Interval that holds `bits`; both equal to it when exact.
    confidence : float
        Probability that the interval holds; 1.0 means proven, less that counts were estimated.
    method, seed
        What counted the matchings before and after, and its seed (None: nothing random).
    alone : bool
        False for the first of two edges that gain only together: between two blocks one edge adds
        nothing, two add a way round. The gain of both is with the second.
    helped : user or None
        The user whose own entropy grows most by it; None if probabilities would have to be
        estimated.
    helped_bits : float
        By how many bits.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.improve(am.Graph.from_rows(["1100", "0110", "0011", "1001"])).edges[0]
    AddedEdge(user=0, behaviour=2, factor=Fraction(3, 2), bits=0.585, low=0.585, high=0.585,
              method='subset', confidence=1.0, seed=None, alone=True, helped=0, helped_bits=0.585)
    """

    user: Hashable
    behaviour: Hashable
    factor: Fraction | float
    bits: float
    low: float
    high: float
    method: str
    confidence: float = 1.0
    seed: int | None = None
    alone: bool = True
    helped: Hashable | None = None
    helped_bits: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether `factor` is what it says and not rounded or estimated."""
        return isinstance(self.factor, Fraction) or math.isinf(self.bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the factor as text when exact, infinite numbers as None."""
        factor = str(self.factor) if isinstance(self.factor, Fraction) else self.factor
        return {
            "user": self.user,
            "behaviour": self.behaviour,
            "factor": None if factor == math.inf else factor,
            "bits": _finite(self.bits),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "exact": self.exact,
            "confidence": self.confidence,
            "method": self.method,
            "seed": self.seed,
            "alone": self.alone,
            "helped": self.helped,
            "helped_bits": self.helped_bits,
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Improvement(Summarised):
    """Edges to add to a graph, best first, and the graph with them.

    Attributes
    ----------
    start : Count
        Matchings before.
    matched : Count
        Matchings once there are any: `start`, or with the edges that give the graph its first one.
    edges : tuple of AddedEdge
        Fewer than asked for if no edge, or pair of edges, would add a matching.
    graph : Graph
        With the edges.
    not_searched : tuple of BlockView
        Blocks of the graph at the start that the budget did not reach: edges inside them, and
        between them and others, were not looked at.
    all_between : bool
        Whether every single edge between blocks that could add a matching was looked at.

    Examples
    --------
    >>> import anonymatch as am
    >>> better = am.improve(am.partition([2, 2]), edges=2)
    >>> [(edge.user, edge.behaviour, str(edge.factor), edge.alone) for edge in better.edges]
    [(0, 2, '1', False), (2, 0, '5/4', True)]
    >>> print(better)
    2 edges: 2^2 to 2^2.322 matchings
    """

    start: Count
    matched: Count
    edges: tuple[AddedEdge, ...]
    graph: Graph = field(repr=False)
    not_searched: tuple[BlockView, ...] = field(default=(), repr=False)
    all_between: bool = True

    @property
    def log(self) -> float:
        """Natural log of the matchings with all edges."""
        return self.matched.log + _LN2 * sum(edge.bits for edge in self._gains)

    @property
    def low(self) -> float:
        """Lower end of the interval that holds `log`."""
        return self.matched.low + _LN2 * sum(edge.low for edge in self._gains)

    @property
    def high(self) -> float:
        """Upper end of the interval that holds `log`."""
        return self.matched.high + _LN2 * sum(edge.high for edge in self._gains)

    @property
    def confidence(self) -> float:
        """Probability that all intervals hold; 1.0 means proven."""
        probabilities = [self.matched.confidence, *(edge.confidence for edge in self.edges)]
        return max(0.0, 1.0 - sum(1.0 - probability for probability in probabilities))

    @property
    def seed(self) -> int | None:
        """Seed of what was estimated; None: nothing was."""
        seeds = [self.matched.seed, *(edge.seed for edge in self.edges)]
        return next((seed for seed in seeds if seed is not None), None)

    @property
    def exact(self) -> bool:
        """Whether the count before and the factor of every edge are exact."""
        return self.matched.exact and all(edge.exact for edge in self.edges)

    @property
    def _gains(self) -> tuple[AddedEdge, ...]:
        """The edges after those that give the graph its first matching."""
        first = next((k for k, edge in enumerate(self.edges) if math.isinf(edge.bits)), -1)
        return self.edges[first + 1 :]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON if the names of users and behaviours are."""
        return {
            "log_start": _finite(self.start.log),
            "log": self.log,
            "low": self.low,
            "high": self.high,
            "exact": self.exact,
            "confidence": self.confidence,
            "seed": self.seed,
            "edges": [edge.to_dict() for edge in self.edges],
            "blocks_not_searched": len(self.not_searched),
            "all_between": self.all_between,
        }

    def _heads(self) -> Sequence[str]:
        return ("edge", "user", "behaviour", "bits gained")

    def _figures(self) -> Figures:
        for number, edge in enumerate(self.edges[:_SHOWN], 1):
            yield (str(number), label(edge.user), label(edge.behaviour), f"{edge.bits:.4g}")
        if len(self.edges) > _SHOWN:
            yield ("...", "", "", "")

    def __str__(self) -> str:
        number = len(self.edges)
        if not number:
            text = "no edge would add a matching"
        else:
            before = f"2^{self.start.log2:.4g}" if math.isfinite(self.start.log) else "no"
            text = f"{several(number, 'edge')}: {before} to 2^{self.log / _LN2:.4g} matchings"
        if number and self.confidence < 1.0:
            low, high = (f"2^{end / _LN2:.6g}" for end in (self.low, self.high))
            sure = f"{self.confidence:.0%} sure, seed {self.seed}"
            text += f", estimated: between {low} and {high} ({sure})"
        if self.not_searched:
            text += f"; {several(len(self.not_searched), 'block')} beyond the budget"
        return text


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
