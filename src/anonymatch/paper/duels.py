"""Graphs against the partition graph H of as many users and edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from anonymatch.graph import Graph, complete, partition
from anonymatch.paper.claim import Evidence
from anonymatch.paper.evidence import table
from anonymatch.paper.named_graphs import (
    PartitionGraph,
    attack_value,
    beside,
    matchings,
    near_complete,
    two_hexagons_less,
)

__all__ = ["CASES", "Duel", "duels_table", "regular_duels"]

CASES = (
    "Cases of H: A all components complete, B some of them G_k, C edges left over in these, D "
    "edges "
    "left unused, ext not defined by the paper"
)


@dataclass(frozen=True)
class Duel:
    """One graph against H.

    Examples
    --------
    >>> duel = Duel("K44 + 2 K22", partition([4, 2, 2]))
    >>> duel.matchings > duel.partition.matchings, duel.attack > duel.partition.attack
    (True, False)
    """

    name: str
    graph: Graph
    spare: int = 0  # edges that it may have beyond these, in no matching

    @cached_property
    def partition(self) -> PartitionGraph:
        return PartitionGraph(self.graph.n_users, self.graph.n_edges + self.spare)

    @cached_property
    def matchings(self) -> int:
        return matchings(self.graph)

    @cached_property
    def attack(self) -> Fraction:
        """What the best attack leaves."""
        return attack_value(self.graph)

    @property
    def typeset(self) -> str:
        """Its name with formulas as TeX.

        Examples
        --------
        >>> print(Duel("K44 + X6", complete(4)).typeset)
        $K_{4,4}$ + $X_6$
        """
        complete_ones = re.sub(r"K(\d)\1", r"$K_{\1,\1}$", self.name)
        return complete_ones.replace("X6", "$X_6$")

    @property
    def sizes(self) -> str:
        """Users and edges, in words."""
        return f"with {self.partition.n} users and {self.partition.m} edges"

    @property
    def at(self) -> str:
        """Users and edges, as a pair."""
        return f"({self.partition.n}, {self.partition.m})"


def regular_duels() -> list[Duel]:
    """Graphs with k n edges, against H where it is not best, before or after an attack."""
    hexagons = two_hexagons_less()
    return [
        Duel("K44 + 2 K22", partition([4, 2, 2])),
        Duel("K44 + X6", beside(complete(4), hexagons)),
        Duel("2 K44 + X6", beside(partition([4, 4]), hexagons)),
        Duel("2 K44 + K22 + (K55 - e)", beside(partition([4, 4, 2]), near_complete(5, 1))),
        Duel("K66 + 3 K55 + K33", partition([6, 5, 5, 5, 3])),
        Duel("4 K55 + K44, 4 edges unused", partition([5, 5, 5, 5, 4]), spare=4),
    ]


def duels_table(duels: Sequence[Duel]) -> Evidence:
    """All figures of both sides; the case is the paper's, ext where it defines no H."""
    return table(
        "Graphs against H: their matchings, and those that remain on average once an optimising "
        f"attacker has de-anonymised one user. X6 is K66 less two hexagons. {CASES}",
        [
            *("n", "m", "case", "matchings of H", "remain of H"),
            *("of the graph", "remain of it", "graph"),
        ],
        [
            [h.n, h.m, h.case, h.matchings, h.attack, duel.matchings, duel.attack, duel.name]
            for duel in duels
            for h in [duel.partition]
        ],
    )
