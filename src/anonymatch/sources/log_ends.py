"""Messages near an end of a log: what came before or after it was not seen.

The first messages find an emptier mix than those later, the last ones have fewer departures to be.
So their figures say more about the log than about the system.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import gammainccinv

from anonymatch.sources.laws.laws import (
    Binomial,
    Cottrell,
    Erlang,
    Exponential,
    Law,
    Pool,
    Timed,
    TimedPool,
    Window,
)

__all__ = ["LATE", "end_delay", "near_an_end"]

LATE = 1e-3
"""A delay so long that only this share of messages has a longer one reaches from an end."""

_FEWEST = 0.5  # of the messages that must be left


def end_delay(law: Law, rate: float | None) -> float | None:
    """Seconds that an end of a log reaches into it: the law's 99.9 % delay; None if not known.

    Examples
    --------
    >>> round(end_delay(Exponential(2.0), None), 3), end_delay(Window(1, 5), None)
    (13.816, 4.996)
    """
    if isinstance(law, Exponential):
        return -law.mean * math.log(LATE)
    if isinstance(law, Erlang):
        return law.mean * float(gammainccinv(law.hops, LATE))
    if isinstance(law, Window):
        return law.high - LATE * (law.high - law.low)
    if isinstance(law, Timed):
        return law.interval
    if isinstance(law, Pool) and law.kept and rate:
        return _flushes(law.kept / (law.batch + law.kept)) * law.batch / rate
    if isinstance(law, TimedPool) and rate:
        return _flushes(law.kept / (law.kept + rate * law.interval)) * law.interval
    if isinstance(law, Binomial):
        return _flushes(1.0 - law.leave) * law.interval
    if isinstance(law, Cottrell):
        most = law.least / (law.least + rate * law.interval) if rate else 0.0
        return _flushes(max(1.0 - law.fraction, most)) * law.interval
    longest = law.longest_delay
    return longest if longest is not None and longest < math.inf else None


def _flushes(stay: float) -> int:
    """Flushes after which hardly anybody is left, if each lets so large a share stay."""
    return 1 if stay <= 0.0 else math.ceil(math.log(LATE) / math.log(min(stay, 0.999)))


def near_an_end(
    arrivals: npt.NDArray[np.float64], begin: float, end: float, reach: float | None
) -> npt.NDArray[np.bool_] | None:
    """Which messages came in near an end; None if nobody did, or hardly anybody would be left.

    Examples
    --------
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 2.0).tolist()
    [True, True, False, False, False, False, False, False, False, True]
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 5.0) is None
    True
    """
    if reach is None or not len(arrivals):
        return None
    near = (arrivals < begin + reach) | (arrivals > end - reach)
    left = np.count_nonzero(~near) / len(arrivals)
    return near if near.any() and left >= _FEWEST else None
