"""How old outputs are when they are spent or taken as decoys, and what members weigh by that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Piece, did_you_mean, quoted
from anonymatch.rings.ring_set import Merge, Ring, RingFile

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


# ---- weights


def member_weights(
    file: RingFile, outputs: dict[str, int], codes: list[list[int]], merged: Sequence[Merge]
) -> tuple[Floats | None, str]:
    """Of all members in the order of the file; and what they are from.

    Weights of the file are as they are there. Laws of ages have no unit: with them the heaviest
    member of a ring is 1.
    """
    rings = list(file.rings.values())
    logs = np.zeros(sum(len(ring) for ring in codes))
    begins = np.concatenate(([0], np.cumsum([len(ring) for ring in codes]))).astype(np.int64)
    words = []
    if any(ring.weights is not None for ring in rings):
        words.append("weights in the file")
        for ring, begin in zip(rings, begins.tolist(), strict=False):
            if ring.weights is not None:
                logs[begin : begin + len(ring.weights)] += np.log(ring.weights)
    if file.decoys is not None or file.spends is not None:
        decoys = age_law(file.decoys or "uniform", Argument("decoys"))
        spends = age_law(file.spends or "gamma", Argument("spends"))
        logs += _log_ratio(file, outputs, codes, spends, decoys)
        if decoys.unspent:
            raise InputError(
                Argument("decoys"), " may be spent: unspent is for ", Argument("spends")
            )
        among = " among unspent outputs" if spends.unspent else ""
        words.append(f"{spends.name} spends{among} over {decoys.name} decoys")
    if file.merging is not None and file.merging > 1.0 and merged:
        words.append(f"merged outputs {file.merging:g} times")
        for one in merged:
            begin = int(begins[one.input])
            for at, output in enumerate(codes[one.input]):
                if output == one.output:
                    logs[begin + at] += math.log(file.merging)
    if not words:
        return None, ""
    if file.decoys is None and file.spends is None:
        return _as_told(rings, codes, begins, merged, file.merging or 1.0), ", ".join(words)
    tops = np.maximum.reduceat(logs, begins[:-1])
    return np.exp(np.maximum(logs - np.repeat(tops, np.diff(begins)), -690.0)), ", ".join(words)


def _as_told(
    rings: list[Ring], codes: list[list[int]], begins: Ints, merged: Sequence[Merge], times: float
) -> Floats:
    """Weights of the file, and merged outputs so many times."""
    weights = np.ones(int(begins[-1]))
    for ring, begin in zip(rings, begins.tolist(), strict=False):
        if ring.weights is not None:
            weights[begin : begin + len(ring.weights)] = ring.weights
    for one in merged if times > 1.0 else ():
        begin = int(begins[one.input])
        for at, output in enumerate(codes[one.input]):
            if output == one.output:
                weights[begin + at] *= times
    return weights


def _log_ratio(
    file: RingFile, outputs: dict[str, int], codes: list[list[int]], spends: AgeLaw, decoys: AgeLaw
) -> Floats:
    """How much likelier each member is as what was spent than as a decoy, as a log."""
    scale = BLOCK if file.unit != "time" else 1.0
    told = {name: output.when for name, output in file.outputs.items()}
    born = [told.get(name) for name in outputs]
    names = list(outputs)
    first = min((when for when in born if when is not None), default=0.0)
    first = 0.0 if file.unit != "time" else first
    ages, spans = [], []
    for (name, ring), members in zip(file.rings.items(), codes, strict=True):
        if ring.when is None:
            raise InputError(
                f"ring {quoted(name)} has no height or time; laws of ages need one for every ring "
                "and every member"
            )
        for member in members:
            when = born[member]
            if when is None:
                raise InputError(
                    f"output {quoted(names[member])} has no height or time; laws of ages need one "
                    "for every ring and every member"
                )
            if when > ring.when:
                raise InputError(
                    f"ring {quoted(name)} of {file.unit} {ring.when:g} has the member "
                    f"{quoted(names[member])} of {file.unit} {when:g}, which is later; check both"
                )
            ages.append(scale * (ring.when - when))
            spans.append(scale * (ring.when - first))
    age, span = np.array(ages), np.array(spans)
    ratio = spends.log_density(age, span) - decoys.log_density(age, span)
    if spends.unspent:
        births = scale * np.array([when for when in told.values() if when is not None])
        rings = scale * np.array([ring.when for ring in file.rings.values()], dtype=np.float64)
        when_of = np.repeat(rings, [len(members) for members in codes])
        ratio += log_escaped(spends, births, rings, when_of - age, when_of, scale * first)
    return ratio
