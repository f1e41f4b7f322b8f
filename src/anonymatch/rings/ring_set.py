"""What is known of ring signatures beside who may have spent what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Piece


@dataclass(slots=True, kw_only=True, eq=False)
class Output:
    """What a file says of an output."""

    when: float | None = None
    transaction: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Ring:
    """What a file says of an input: its members, and weights in their order."""

    members: list[str]
    truth: str | None = None
    weights: list[float] | None = None
    when: float | None = None
    transaction: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class RingFile:
    """All that a file of rings says."""

    rings: dict[str, Ring]
    outputs: dict[str, Output] = field(default_factory=dict)
    unit: str | None = None
    decoys: str | None = None
    spends: str | None = None
    merging: float | None = None

    def with_laws(self, decoys: str | None, spends: str | None, merging: float | None) -> RingFile:
        """What is told beside the file comes before what it says."""
        self.decoys, self.spends = decoys or self.decoys, spends or self.spends
        self.merging = self.merging if merging is None else merging
        if merging is not None:
            check_merging(merging, Argument("merging"))
        if not self.rings:
            raise InputError("it holds no ring; give {input: [candidate outputs], ...}")
        return self

    def tell_unit(self, unit: str, who: str) -> None:
        if self.unit is not None and self.unit != unit:
            raise InputError(f"{who} has a {unit}, and others a {self.unit}; give one of them")
        self.unit = unit


def check_merging(merging: float, what: Piece) -> None:
    """Refuse a factor that makes members lighter."""
    if not 1.0 <= merging < math.inf:
        raise InputError(what, f" must be 1 or more, not {merging:g}")


@dataclass(frozen=True, slots=True)
class Merge:
    """An input whose transaction may spend several outputs of one earlier transaction together.

    Attributes
    ----------
    input, output : int
        By index: the input, and its member that is of the earlier transaction.
    spending, creating : str
        The transactions.
    """

    input: int
    output: int
    spending: str
    creating: str


@dataclass(frozen=True, kw_only=True, eq=False)
class RingSet:
    """What a file says of rings beside their members.

    Attributes
    ----------
    when : array of float or None
        Height or time of each ring; NaN where it is not told.
    unit : {"height", "time"}
        What `when` is.
    weighted : str
        What members' weights are from, in words; empty if all are alike.
    merges : tuple of Merge
        Members that are likely together.
    merging : float
        Times that such members weigh more: 1 if that is only told.
    """

    when: Floats | None = None
    unit: str = "height"
    weighted: str = ""
    merges: tuple[Merge, ...] = ()
    merging: float = 1.0


def merges(
    rings: Sequence[Sequence[int]],
    spending: Sequence[str | None],
    creating: Sequence[str | None],
) -> tuple[Merge, ...]:
    """Members of rings of one transaction that were made by one earlier transaction.

    At least two rings must have such members, and these at least two outputs: one cannot be spent
    twice. A ring with several of them has them all here.

    Examples
    --------
    >>> rings, made = [[0, 1], [2, 3], [1, 3]], ["a", "b", "a", "c"]
    >>> [(one.input, one.output) for one in merges(rings, ["t", "t", "u"], made)]
    [(0, 0), (1, 2)]
    """
    of_transaction: dict[str, list[int]] = {}
    for ring, name in enumerate(spending):
        if name is not None:
            of_transaction.setdefault(name, []).append(ring)
    merged: list[Merge] = []
    for name, inputs in of_transaction.items():
        if len(inputs) < 2:
            continue
        there: dict[str, list[tuple[int, int]]] = {}
        for ring in inputs:
            for output in rings[ring]:
                made = creating[output]
                if made is not None:
                    there.setdefault(made, []).append((ring, output))
        for made, pairs in there.items():
            if min(len({ring for ring, _ in pairs}), len({output for _, output in pairs})) >= 2:
                merged += [Merge(ring, output, name, made) for ring, output in pairs]
    return tuple(sorted(merged, key=lambda one: (one.input, one.output)))
