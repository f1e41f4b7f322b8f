"""What a log shows before it is audited: its load over time, its delays, and what a law makes of
it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount, plural
from anonymatch.mixes import Candidates, Law, Messages, on_clock_of
from anonymatch.reporting.charts import Line

__all__ = ["LawTrial", "load", "span_words", "time_unit", "try_law"]

_POINTS = 300  # of a load that is followed
_BINS = 60  # of arrivals and departures
_TRIED = 300  # messages whose candidates are weighed
_WEIGHED = 20_000  # candidates of one of them, at most
_UNITS = ((2 * 86400.0, 86400.0, "days"), (7200.0, 3600.0, "hours"), (300.0, 60.0, "minutes"))


def time_unit(seconds: float) -> tuple[float, str]:
    """A unit for a span of time, in seconds, and its name.

    Examples
    --------
    >>> time_unit(90.0), time_unit(8000.0)
    ((1.0, 's'), (3600.0, 'hours'))
    """
    return next(((unit, name) for least, unit, name in _UNITS if seconds >= least), (1.0, "s"))


def span_words(messages: Messages) -> tuple[str, str]:
    """How long a log is, and from when to when."""
    first, last = _ends(messages)
    unit, name = time_unit(last - first)
    ends = f"from {messages.moment(first).removesuffix(' s')} to {messages.moment(last)}"
    return f"{amount((last - first) / unit)} {name}", ends


def _ends(messages: Messages) -> tuple[float, float]:
    times = [
        float(times[at])
        for times in (messages.arrivals, messages.departures)
        if len(times)
        for at in (0, -1)
    ]
    return min(times, default=0.0), max(times, default=0.0)


def load(messages: Messages) -> tuple[list[Line], str, str]:
    """The load over time as lines, with names of both axes.

    Messages inside, where the log tells which came out; else arrivals and departures.

    Examples
    --------
    >>> log = Messages(
    ...     arrivals=[0, 1], departures=[2, 4], senders="ab", receivers="xy", truth=[0, 1]
    ... )
    >>> lines, x, y = load(log)
    >>> x, y, max(lines[0].y), lines[0].y[-1]
    ('s from the first', 'messages inside', 2, 0)
    """
    first, last = _ends(messages)
    unit, name = time_unit(last - first)
    x_label = f"{name} from the first"
    if messages.truth is not None:
        known = messages.truth >= 0
        came = messages.arrivals[known]
        left = np.sort(messages.departures[messages.truth[known]])
        times = np.linspace(first, last, _POINTS)
        inside = np.searchsorted(came, times, "right") - np.searchsorted(left, times, "right")
        xs = ((times - first) / unit).tolist()
        return [Line("inside", xs, inside.tolist())], x_label, "messages inside"
    ends = np.linspace(first, last, _BINS + 1)
    width = max((last - first) / _BINS, 1e-300)
    middles = (((ends[1:] + ends[:-1]) / 2 - first) / unit).tolist()
    lines = [
        Line(name, middles, (np.histogram(times, ends)[0] / width).tolist())
        for name, times in (("in", messages.arrivals), ("out", messages.departures))
    ]
    return lines, x_label, "messages a second"


@dataclass(frozen=True, kw_only=True, eq=False)
class LawTrial:
    """What a law makes of a log, message by message, before anything is counted.

    Attributes
    ----------
    law : Law
    candidates : array of float
        Messages out that each of some messages may be, weighed by how likely the law makes them;
        empty for laws of which no graph of candidates says it.
    nothing : int
        Messages that no message out fits, and that cannot be inside at the end either.
    orphans : int
        Messages out that nobody can have sent.
    """

    law: Law
    candidates: Floats
    nothing: int = 0
    orphans: int = 0

    @property
    def fits(self) -> bool:
        """Whether everything that was seen can have happened, as far as this look says."""
        return not self.nothing and not self.orphans

    def words(self) -> str:
        """The same in a sentence or two."""
        if not len(self.candidates):
            return (
                "Who may be who follows from how many are inside at each sending: the audit tells."
            )
        low, middle = float(self.candidates.min()), float(np.median(self.candidates))
        typical = "1 message out fits" if middle < 1.05 else f"{middle:,.3g} messages out fit"
        text = (
            f"Under this law {typical} a typical message, and {low:,.3g} the one that fits fewest, "
            "each seen alone."
        )
        misfits = []
        if self.nothing:
            verb = "fits" if self.nothing == 1 else "fit"
            misfits.append(f"{plural(self.nothing, 'message')} {verb} nothing that came out")
        if self.orphans:
            misfits.append(f"{plural(self.orphans, 'message')} out can be nobody's")
        if misfits:
            text += f" But {' and '.join(misfits)}: the law, or the unit of times, is another one."
        return text


def try_law(messages: Messages, law: Law) -> LawTrial:
    """Candidates of messages under a law; those that are known to be lost or cover are left out.

    Examples
    --------
    >>> from anonymatch.sources import parse_law, synthesize
    >>> trial = try_law(synthesize("window:1,5", messages=200, seed=1), parse_law("window:1,5"))
    >>> trial.fits, round(float(trial.candidates.mean()), 1)
    (True, 4.6)
    """
    messages = on_clock_of(law, messages)
    users = np.flatnonzero(_real(messages.lost, messages.n_in))
    behaviours = np.flatnonzero(_real(messages.cover, messages.n_out))
    end = _ends(messages)[1]
    if not len(users):
        return LawTrial(law=law, candidates=np.empty(0))
    try:
        runs = law.candidates(
            messages.arrivals, messages.departures, users=users, behaviours=behaviours, end=end
        )
    except InputError:  # laws that follow how many are inside
        return LawTrial(law=law, candidates=np.empty(0))
    lengths = np.maximum(runs.end - runs.first, 0)
    nothing = int(np.count_nonzero((lengths == 0) & ~runs.late))
    orphans = len(runs.orphans(len(behaviours)))
    counts = lengths[lengths > 0].astype(np.float64)
    if runs.weigh is not None:
        some = np.flatnonzero(lengths > 0)
        some = some[np.linspace(0, len(some) - 1, min(_TRIED, len(some))).astype(np.int64)]
        counts = np.array([_effective(runs, i) for i in some.tolist()])
    return LawTrial(law=law, candidates=counts, nothing=nothing, orphans=orphans)


def _real(flags: Bools | None, size: int) -> Bools:
    return np.ones(size, dtype=np.bool_) if flags is None else ~flags


def _effective(runs: Candidates, row: int) -> float:
    """As many equally likely candidates as leave the same doubt about one message, seen alone."""
    begin, end = int(runs.first[row]), int(runs.end[row])
    columns = np.arange(begin, min(end, begin + _WEIGHED))
    assert runs.weigh is not None
    logs = runs.weigh(np.full(len(columns), row), columns)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    some = shares[shares > 0]
    return math.exp(-float((some * np.log(some)).sum()))
