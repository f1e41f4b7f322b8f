"""Graphs that claims speak of: the paper's construction, and those that do better."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from anonymatch.attacks import exposures
from anonymatch.base.errors import InputError
from anonymatch.counting import count
from anonymatch.designs import Design, Near, design, parameters
from anonymatch.graph import Graph

__all__ = [
    "PartitionGraph",
    "attack_value",
    "beside",
    "lacking",
    "matchings",
    "near_complete",
    "two_hexagons_less",
    "without_edge",
]

_T = TypeVar("_T")


def matchings(graph: Graph) -> int:
    """The number of perfect matchings, exactly."""
    return int(count(graph, exact=True).value)


def attack_value(graph: Graph) -> Fraction:
    """Matchings left on average once an attacker has exposed the user who is best for that.

    Examples
    --------
    >>> import anonymatch as am
    >>> attack_value(am.partition([2, 2]))
    Fraction(2, 1)
    """
    return min(Fraction(left) for left in exposures(graph).expected_left)


def beside(*graphs: Graph) -> Graph:
    """The graphs as parts of one, without an edge between them.

    Examples
    --------
    >>> import anonymatch as am
    >>> beside(am.complete(1), am.complete(2)).to_rows()
    ['100', '011', '011']
    """
    width = sum(graph.n_behaviours for graph in graphs)
    rows, begin = [], 0
    for graph in graphs:
        rows += [("0" * begin + row).ljust(width, "0") for row in graph.to_rows()]
        begin += graph.n_behaviours
    return Graph.from_rows(rows)


def without_edge(graph: Graph, user: int, behaviour: int) -> Graph:
    """The graph less one edge."""
    mask = (graph.rows() != user) | (graph.indices != behaviour)
    return graph.keep_edges(mask)


def near_complete(size: int, forbidden: int) -> Graph:
    """Complete but for a matching of so many edges.

    Examples
    --------
    >>> near_complete(3, 1).to_rows()
    ['111', '111', '110']
    """
    users, behaviours = Near(size, forbidden).cells()
    return Graph.from_edges(
        zip(users.tolist(), behaviours.tolist(), strict=True),
        users=range(size),
        behaviours=range(size),
    )


def two_hexagons_less() -> Graph:
    """Six users who may have done everything but the edges of two cycles of six: 82 matchings."""
    return Graph.from_rows(["001111", "100111", "010111", "111001", "111100", "111010"])


def lacking(size: int, users: int) -> Graph:
    """Complete, but for one behaviour that so many users cannot have done.

    Examples
    --------
    >>> lacking(4, 2).to_rows()
    ['1111', '1111', '0111', '0111']
    """
    full, short = "1" * size, "0" + "1" * (size - 1)
    return Graph.from_rows([full] * (size - users) + [short] * users)


@dataclass(frozen=True)
class PartitionGraph:
    """The paper's H(n, m), with exact figures.

    Examples
    --------
    >>> finding = PartitionGraph(8, 24)
    >>> finding.matchings, finding.attack, finding.case, finding.graph.n_edges
    (81, Fraction(27, 1), 'B', 24)
    """

    n: int
    m: int

    @cached_property
    def design(self) -> Design:
        return design(users=self.n, edges=self.m, method="paper")

    @property
    def case(self) -> str:
        """The paper's case, or ext."""
        return parameters(self.n, self.m).case

    @property
    def defined(self) -> bool:
        """Whether the paper says what it is."""
        return self.case != "ext"

    @cached_property
    def matchings(self) -> int:
        return _known(self.design.value)

    @cached_property
    def attack(self) -> Fraction:
        """Its attack value."""
        return _known(self.design.attack)

    @cached_property
    def graph(self) -> Graph:
        """Its parts without spare edges, which are in no matching."""
        return self.design.graph(spare=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """That graph, a string of bits a user."""
        return tuple(self.graph.to_rows())


def _known(value: _T | None) -> _T:
    if value is None:
        raise InputError("this partition graph is too large for exact figures")
    return value
