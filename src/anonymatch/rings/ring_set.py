"""RingSet: what is known of ring signatures beside who may have spent what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Piece, did_you_mean

__all__ = ["AGE_LAWS", "AgeLaw", "Merge", "RingSet", "age_law", "log_escaped", "merges"]

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
    unspent: bool = False  # over outputs that are not spent by then, rather than over all

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

_UNSPENT = ":unspent"
_CELLS = 1500  # births, and times of rings, that are told apart
_GAMMA = 19.28, 1.61  # Moeser et al. 2018, of spends that were certain


def age_law(text: str, what: Piece) -> AgeLaw:
    """A law from its text: ``uniform``, ``triangular``, ``gamma`` or ``gamma:19.28,1.61``.

    Each may end in ``:unspent``. ``what``: how errors call it.
    """
    if text.endswith(_UNSPENT):
        return replace(age_law(text.removesuffix(_UNSPENT), what), unspent=True)
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


def log_escaped(
    law: AgeLaw, births: Floats, spent: Floats, members: Floats, when: Floats, first: float
) -> Floats:
    """What it adds to a member's log weight that spends choose among outputs not spent by then.

    Every ring takes one of the outputs that are left, in proportion to the law. So an output that
    is not spent by a ring escapes each ring after it, too: with probability 1 - density / sum over
    what is left. Whoever is spent early need not escape what comes later, which favours outputs
    that later rings would like. What is left at a time is taken as it is on average.

    Parameters
    ----------
    law : AgeLaw
    births, spent : array
        Seconds of all outputs, and of all rings.
    members, when : array
        The same of a ring's member, and of its ring.
    first : float
        When the chain began.

    Examples
    --------
    >>> births, rings = np.array([0.0, 0.0, 600.0]), np.array([1200.0, 2400.0])
    >>> members, when = np.array([0.0, 600.0, 0.0]), np.array([1200.0, 1200.0, 2400.0])
    >>> log_escaped(AgeLaw("uniform"), births, rings, members, when, 0.0).round(2).tolist()
    [0.47, 0.47, 0.0]
    """
    born, of_born = _cells(births)
    times, of_times = _cells(spent)
    hazard = np.zeros((len(times) + 1, len(born)))
    for j, time in enumerate(times.tolist()):
        ages = np.maximum(time - born, 0.0)
        logs = law.log_density(ages, np.full(len(born), time - first))
        there = born <= time
        density = np.where(there, np.exp(logs - logs[there].max(initial=-math.inf)), 0.0)
        left = float((of_born * density * np.exp(-hazard[j])).sum())
        hazard[j + 1] = hazard[j] + (of_times[j] * density / left if left > 0.0 else 0.0)
    at, of = (_nearest(times, when), _nearest(born, members))
    # Of the rings of its own time, half of the others come after it.
    before = (of_times + 1.0) / (2.0 * of_times)
    own = before[at] * (hazard[at + 1, of] - hazard[at, of])
    escaped: Floats = hazard[-1, of] - hazard[at, of] - own
    return escaped


def _cells(values: Floats) -> tuple[Floats, Floats]:
    """Values in few cells, each by its mean, and how many are there."""
    distinct, numbers = np.unique(values, return_counts=True)
    if len(distinct) <= _CELLS:
        return distinct, numbers.astype(np.float64)
    parts = np.array_split(np.sort(values), _CELLS)
    means = np.array([float(part.mean()) for part in parts])
    cells, which = np.unique(means, return_inverse=True)
    return cells, np.bincount(which, [len(part) for part in parts]).astype(np.float64)


def _nearest(cells: Floats, values: Floats) -> Ints:
    borders = (cells[1:] + cells[:-1]) / 2
    return np.asarray(np.searchsorted(borders, values), dtype=np.int64)


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
