"""What two samples of weights prove about their mean: one as proposed, one as it should be.

The log weight of a proposed draw is on average at most the log of the count, that of a matching
drawn as it should be at least (Jensen, both ways): a bracket. Where the two samples overlap, their
bridge (Bennett) is far closer than either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.tuning import ESTIMATE
from anonymatch.running import chain_error


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where the log of the count lies, from the means of log weights, and their errors."""

    low: float
    high: float
    low_error: float
    high_error: float

    @property
    def width(self) -> float:
        return self.high - self.low

    def widened(self, quantile: float) -> tuple[float, float]:
        return self.low - quantile * self.low_error, self.high + quantile * self.high_error


def bracket_of(forward: Floats, backward: Floats) -> Bracket:
    """The bracket from log weights of draws, and of matchings of chains (chains by samples)."""
    alive = forward[np.isfinite(forward)]
    if len(alive) < 2:
        return Bracket(-math.inf, float(backward.mean()), math.inf, chain_error(backward))
    share = len(alive) / len(forward)  # dead ends weigh nothing: the mean of the others times it
    low_error = math.hypot(
        float(alive.std(ddof=1)) / math.sqrt(len(alive)),
        math.sqrt((1.0 - share) / (share * len(forward))),
    )
    low = math.log(share) + float(alive.mean())
    return Bracket(low, float(backward.mean()), low_error, chain_error(backward))


def hidden_variance(forward: Floats, backward: Floats) -> float:
    """How much larger the relative variance of weights is by chains than by the draws themselves.

    The mean of w/Z over matchings as they should be is 1 plus that variance: chains meet the heavy
    matchings that draws reach too rarely.
    """
    by_draws, by_chains = _variances(forward, backward)
    return max(by_chains - by_draws, 0.0) if math.isfinite(by_draws) else math.inf


def rare_variance(forward: Floats, backward: Floats) -> float:
    """How much of the relative variance of weights is of few draws that stand far above the rest.

    Weights whose logs are about normal have a variance of exp(width) - 1, with the width of their
    bracket. Where the variance is far larger, be it of draws or of chains, rare matchings weigh far
    more than all others: a sample that met none of them, as most do, agrees with itself and is
    too low.
    """
    width = bracket_of(forward, backward).width
    if not math.isfinite(width):
        return math.inf
    common = math.expm1(min(max(width, 0.0), 500.0))
    return max(max(_variances(forward, backward)) - ESTIMATE.common * common, 0.0)


def _variances(forward: Floats, backward: Floats) -> tuple[float, float]:
    """Relative variance of the weights by draws, and by matchings of chains."""
    from scipy.special import logsumexp  # takes as long to load as numpy

    alive = forward[np.isfinite(forward)]
    if len(alive) < 2:
        return math.inf, math.inf
    log = float(logsumexp(alive)) - math.log(len(forward))
    by_chains = float(np.exp(np.minimum(backward - log, 500.0)).mean()) - 1.0
    by_draws = float(np.exp(2.0 * (alive - log)).sum()) / len(forward) - 1.0
    return by_draws, by_chains


@dataclass(frozen=True, slots=True)
class Bridge:
    """Bennett's estimate of the log of the count."""

    log: float
    error: float  # standard error
    freedom: float  # degrees of freedom of the error
    overlap: float  # draws, of both sides, in the region that both reach


def bridge_of(forward: Floats, backward: Floats) -> Bridge | None:
    """The solution Z of sum 1/(1 + Z/w) over draws = sum 1/(1 + w/Z) over chains [1]_.

    Both samples must be equally large. None if they do not reach each other.

    References
    ----------
    .. [1] Bennett. Efficient estimation of free energy differences from Monte Carlo data. 1976.
    """
    from scipy.special import expit  # takes as long to load as numpy

    flat = backward.ravel()
    alive = forward[np.isfinite(forward)]
    if len(alive) == 0:
        return None

    def excess(log: float) -> float:
        return float(expit(alive - log).sum() - expit(log - flat).sum())

    low = min(alive.min(), flat.min()) - 50.0
    high = max(alive.max(), flat.max()) + 50.0
    if excess(low) <= 0.0 or excess(high) >= 0.0:
        return None
    from scipy.optimize import brentq  # slow to import, and seldom needed

    log = float(brentq(excess, low, high, xtol=1e-10))
    ahead = np.zeros(len(forward))
    ahead[np.isfinite(forward)] = expit(alive - log)
    behind = expit(log - backward)
    slope = float(np.sum(ahead * (1.0 - ahead)) + np.sum(behind * (1.0 - behind)))
    if slope <= 0.0:
        return None
    of_draws = float(ahead.var(ddof=1)) / len(ahead)
    of_chains = chain_error(behind) ** 2
    variance = of_draws + of_chains
    freedom = variance**2 / max(
        of_draws**2 / (len(ahead) - 1) + of_chains**2 / (len(behind) - 1), 1e-300
    )
    unmet = 1.0 / len(ahead)  # one more sample may lie where no draw is
    error = math.hypot(len(ahead) * math.sqrt(variance) / slope, unmet)
    return Bridge(log, error, freedom, 2.0 * float(ahead.sum()))
