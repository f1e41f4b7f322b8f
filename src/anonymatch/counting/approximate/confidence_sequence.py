"""Intervals for the mean of draws in [0, 1] that hold at every moment: when to stop is free.

Bets are made against every possible mean m. For a bet b in (0, 1) the capital
product of (1 - b x) / (1 - b m) over draws x is a martingale when m is the mean, and so is
product of (1 + b x) / (1 + b m) for b > 0. A mixture of such capitals begins at 1 and never falls
below 0: by Ville's inequality it ever reaches 1 / alpha with probability at most alpha. The means
that no side has refuted so are the interval [1]_ [2]_. Bets must be fixed before the draws are
seen.

With mean m and variance v about ln(1/alpha) max(2 v / (epsilon m)^2, 1 / (epsilon m)) draws suffice
for a relative width epsilon; a count of successes alone would need 1 / (epsilon^2 m).

References
----------
.. [1] Ville. Étude critique de la notion de collectif. 1939.
.. [2] Waudby-Smith, Ramdas. Estimating means of bounded random variables by betting.
       Journal of the Royal Statistical Society B, 2024.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ConfidenceInterval", "ConfidenceSequence", "draws_needed"]

Floats = npt.NDArray[np.float64]

_SPREAD = (0.25, 0.5, 1.0, 2.0, 4.0)  # around the bet that suits the guess of mean and variance
_SHARES = (0.1, 0.15, 0.5, 0.15, 0.1)
_LARGEST_SMALLER = 0.99
_LARGEST_LARGER = 0.8  # in units of 1 / mean
_HALVINGS = 44


def draws_needed(mean: float, variance: float, *, epsilon: float, delta: float) -> float:
    """About how many draws narrow the interval to a factor 1 +- epsilon."""
    goal = math.log(2 / delta) - math.log(max(_SHARES))
    return goal / _growth(mean, variance, epsilon)


def _growth(mean: float, variance: float, epsilon: float) -> float:
    """Log of the factor a draw by which capitals must grow for a width of 2 epsilon.

    Against a mean that lies ``gap`` away, a bet b makes the capital grow by b gap - b^2 v / 2.
    """
    below, above = -700.0, 700.0  # logs of the growth
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        growth = math.exp(middle)
        width = sum(growth / bet + bet * variance / 2 for bet in _suited(mean, variance, growth))
        below, above = (middle, above) if width < 2 * epsilon * mean else (below, middle)
    return math.exp(below)


def _suited(mean: float, variance: float, growth: float) -> tuple[float, float]:
    """Bets on a smaller and on a larger mean: the best, or the largest that are allowed."""
    best = math.sqrt(2 * growth / variance) if variance > 0 else math.inf
    return min(_LARGEST_SMALLER, best), min(_LARGEST_LARGER / mean, best)


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The mean lies in it, with the probability that was asked for, at all times together."""

    low: float
    high: float

    def narrow(self, epsilon: float) -> bool:
        """Whether one value is within a factor 1 +- epsilon of everything in it."""
        return self.high * (1 - epsilon) <= self.low * (1 + epsilon)

    def value(self, guess: float, epsilon: float) -> float:
        """The value in it nearest to the guess that is within a factor 1 +- epsilon of all of it.

        Examples
        --------
        >>> interval = ConfidenceInterval(1.0, 1.1)
        >>> interval.value(1.05, 0.1), interval.value(2.0, 0.05)
        (1.05, 1.05)
        """
        low = max(self.low, self.high * (1 - epsilon))
        high = min(self.high, self.low * (1 + epsilon))
        return min(max(guess, low), high)


class ConfidenceSequence:
    """Bets on the mean, and what draws made of them."""

    def __init__(self, *, mean: float, variance: float, epsilon: float, delta: float) -> None:
        smaller, larger = _suited(mean, variance, _growth(mean, variance, epsilon))
        larger /= 1 - larger * mean  # as 1 + b x grows less than b x
        self.smaller = np.array([min(_LARGEST_SMALLER, s * smaller) for s in _SPREAD])
        self.larger = np.array([s * larger for s in _SPREAD])
        self._goal = math.log(2 / delta)  # half of delta a side
        self._losses = np.zeros(len(_SPREAD))
        self._gains = np.zeros(len(_SPREAD))
        self._draws = 0.0
        self.interval = ConfidenceInterval(0.0, 1.0)

    def see(self, draws: float, gains: Floats, losses: Floats) -> ConfidenceInterval:
        """More draws: sums of ln(1 + larger * draw) and of ln(1 - smaller * draw) over them."""
        self._draws += draws
        self._gains = self._gains + gains
        self._losses = self._losses + losses
        # The interval holds at all times, so what was refuted once stays refuted.
        self.interval = ConfidenceInterval(
            max(self.interval.low, self._low()), min(self.interval.high, self._high())
        )
        return self.interval

    def _low(self) -> float:
        bets, gains = self.larger.tolist(), self._gains.tolist()

        def refuted(mean: float) -> bool:
            logs = (
                gain - self._draws * math.log1p(bet * mean)
                for bet, gain in zip(bets, gains, strict=True)
            )
            return _log_capital(list(logs)) >= self._goal

        return _border(refuted, 0.0)

    def _high(self) -> float:
        bets, losses = self.smaller.tolist(), self._losses.tolist()

        def open_still(mean: float) -> bool:
            logs = (
                loss - self._draws * math.log1p(-bet * mean)
                for bet, loss in zip(bets, losses, strict=True)
            )
            return _log_capital(list(logs)) < self._goal

        return _border(open_still, 1.0)


def _log_capital(logs: Sequence[float]) -> float:
    top = max(logs)
    if top == -math.inf:
        return top
    parts = (share * math.exp(log - top) for share, log in zip(_SHARES, logs, strict=True))
    return top + math.log(sum(parts))


def _border(holds: Callable[[float], bool], outer: float) -> float:
    """Where a claim about means that holds from 0 up to somewhere ends, rounded to ``outer``."""
    below, above = -690.0, 0.0  # logs of means
    if holds(1.0):
        return 1.0
    if not holds(math.exp(below)):
        return outer if outer == 0.0 else math.exp(below)
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if holds(math.exp(middle)) else (below, middle)
    return math.exp(below if outer == 0.0 else above)
