"""RingObservation: ring signatures and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass, field

from anonymatch.graph import Graph
from anonymatch.mixes import RINGS, Nouns, Observation
from anonymatch.rings.ring_set import RingSet

__all__ = ["RingObservation"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RingObservation(Observation):
    """Inputs and the outputs that they may spend.

    Attributes
    ----------
    graph : Graph
    rings : RingSet
        Heights, weights and merged outputs of the rings.
    """

    graph: Graph
    nouns: Nouns = RINGS
    rings: RingSet = field(repr=False)
