"""RingSet: what is known of ring signatures beside who may have spent what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Piece, did_you_mean

__all__ = ["AGE_LAWS", "AgeLaw", "Merge", "RingSet", "age_law", "merges"]

Ints = npt.NDArray[np.int64]

BLOCK = 120.0  # seconds from one block to the next, and the least age


@dataclass(frozen=True, slots=True)
class AgeLaw:
    """How old outputs are when they are spent, or taken as decoys.

    Examples
    --------
    >>> law = age_law("gamma", "decoys")
    >>> ages, span = np.array([120.0, 86400.0]), np.array([1e8, 1e8])
    >>> law.name, law.log_density(ages, span).round(2).tolist()
    ('gamma', [-11.9, -13.27])
    """

    name: str
    shape: float = 0.0
    rate: float = 0.0

    def log_density(self, age: Floats, span: Floats) -> Floats:
        """Up to a constant a ring: of ages in seconds, in a chain that is so old."""
        age = np.maximum(age, BLOCK)
        if self.name == "uniform":
            return np.zeros(len(age))
        if self.name == "triangular":
            span = np.maximum(span, age)
            return np.log(np.maximum(1.0 - age / (span + BLOCK), BLOCK / (span + BLOCK) / 2))
        logs = np.log(age)
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        density: Floats = (self.shape - 1.0) * np.log(logs) - self.rate * logs - logs + constant
        return density


AGE_LAWS: Mapping[str, str] = {
    "uniform": "every earlier output alike",
    "triangular": "newer outputs in proportion, none at the age of the chain",
    "gamma": "log of the age in seconds is gamma, 19.28 and 1.61 unless told",
}
"""Laws of ages by name, each in a line."""

_GAMMA = 19.28, 1.61  # Moeser et al. 2018, of spends that were certain


def age_law(text: str, what: Piece) -> AgeLaw:
    """A law from its text: ``uniform``, ``triangular``, ``gamma`` or ``gamma:19.28,1.61``.

    ``what``: how errors call it.
    """
    name, _, numbers = text.partition(":")
    if name not in AGE_LAWS:
        near = did_you_mean(name, AGE_LAWS)
        raise InputError(what, f" must be {', '.join(AGE_LAWS)}; not {text!r}{near}")
    if name != "gamma":
        if numbers:
            raise InputError(what, f": {name} has no numbers; leave out {numbers!r}")
        return AgeLaw(name)
    shape, rate = _GAMMA
    if numbers:
        try:
            shape, rate = (float(number) for number in numbers.split(","))
        except ValueError:
            shape = rate = math.nan
    if not (0.0 < shape < math.inf and 0.0 < rate < math.inf):
        raise InputError(
            what,
            f": gamma has a shape and a rate above 0, as in gamma:19.28,1.61; not {numbers!r}",
        )
    return AgeLaw(name, shape, rate)


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
