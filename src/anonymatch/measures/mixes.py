"""What single mixes give, in closed form.

Two figures are told apart. *Own bits* (`exponential_bits`, `pool_bits`, `timed_bits`,
`threshold_bits`) are the mean entropy of the attacker's posterior about one message: the field's
figure. *Joint bits* (`..._bits_per_message`) are log2 of the matchings, per message: less, because
what one message is says much about the others.

Which mix is better depends on what is held fixed. At equal mean delay an exponential mix gives more
bits a message than batches of 8 or more; partitions win where the cost is the number of edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError

__all__ = [
    "batch_bits_per_message",
    "exponential_bits",
    "exponential_bits_per_message",
    "exponential_mix_count",
    "exponential_mix_inside",
    "exponential_mix_log",
    "pool_bits",
    "pool_mix_bits",
    "threshold_bits",
    "threshold_mix_bits",
    "timed_bits",
]

_LN2 = math.log(2.0)


def threshold_bits(batch: int) -> float:
    """Own bits of a message that leaves a mix in a batch of this size.

    References
    ----------
    .. [1] Serjantov, Danezis. Towards an information theoretic metric for anonymity. PET 2002.

    Examples
    --------
    >>> threshold_bits(8)
    3.0
    """
    return math.log2(_positive(batch, "batch"))


def threshold_mix_bits(batch: int) -> float:
    """Another name of :func:`threshold_bits`.

    Examples
    --------
    >>> threshold_mix_bits(8)
    3.0
    """
    return threshold_bits(batch)


def pool_bits(batch: int, kept: int) -> float:
    """Own bits of a message through a pool mix, after many rounds: of who sent it, or when it left.

    In each round ``batch`` messages come in, and ``kept`` of all that are inside stay: N in and n
    kept give (1 + n/N) log2(N + n) - (n/N) log2 n. Without a pool it is a threshold mix. A message
    waits (N - 1)/2 + n arrivals on average.

    References
    ----------
    .. [1] Serjantov, Danezis. Towards an information theoretic metric for anonymity. PET 2002.

    Examples
    --------
    >>> round(pool_bits(100, 10), 3), round(pool_bits(2, 4), 3), round(pool_bits(4, 2), 3)
    (7.127, 3.755, 3.377)
    """
    _positive(batch, "batch")
    if isinstance(kept, bool) or not isinstance(kept, int) or kept < 0:
        raise InputError(f"pool must be a whole number from 0, not {kept!r}")
    if kept == 0:
        return threshold_bits(batch)
    share = kept / batch
    return (1 + share) * math.log2(batch + kept) - share * math.log2(kept)


def pool_mix_bits(batch: int, pool: int) -> float:
    """Another name of :func:`pool_bits`.

    Examples
    --------
    >>> round(pool_mix_bits(100, 10), 3)
    7.127
    """
    return pool_bits(batch, pool)


def timed_bits(inside: float) -> float:
    """Own bits of a message through a mix that sends on what it has, every so often.

    Messages come in at random, ``inside`` of them in an interval on average: the mean of
    log2(1 + Poisson(inside)). A message waits half as many arrivals.

    Examples
    --------
    >>> round(timed_bits(9), 2)
    3.25
    """
    return _poisson_mean(inside, np.log2)


def exponential_bits(inside: float) -> float:
    """Own bits of a message through an exponential mix (Poisson or stop-and-go mix).

    Messages come in at random, ``inside`` are in the mix on average (rate times mean delay): the
    mean of n h(1/n) with n = 1 + Poisson(inside) and h the entropy of a coin. A message waits
    ``inside`` arrivals on average.

    References
    ----------
    .. [1] Danezis. The traffic analysis of continuous-time mixes. PET 2004: log2(e inside), the
       limit for large numbers.

    Examples
    --------
    >>> [round(exponential_bits(inside), 4) for inside in (0.5, 1, 3.5, 10, 100)]
    [0.8628, 1.5112, 3.2285, 4.763, 8.0865]
    """
    return _poisson_mean(inside, _coins)


def _coins(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Entropy of when a message leaves of which each departure is one in n: n h(1/n)."""
    others = np.maximum(numbers - 1.0, 1.0)
    waits = (numbers - 1.0) * (np.log2(numbers) - np.log2(others))
    result: npt.NDArray[np.float64] = np.log2(numbers) + waits
    return result


def exponential_mix_inside(
    arrivals: npt.ArrayLike, departures: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """Messages inside one exponential mix just before each departure, in order of time.

    A message that comes in at the moment of a departure may be the one that leaves.

    Parameters
    ----------
    arrivals, departures : arrays of times, in any order

    Examples
    --------
    >>> exponential_mix_inside([0, 1, 2], [1.5, 3, 4]).tolist()
    [2, 2, 1]
    """
    came, left = (
        np.sort(_times(times, what), kind="stable")  # in one pass if they are in order
        for times, what in ((arrivals, "arrivals"), (departures, "departures"))
    )
    inside = np.searchsorted(came, left, side="right") - np.arange(len(left))
    empty = np.flatnonzero(inside < 1)
    if len(empty):
        first = int(empty[0])
        raise InputError(
            f"a message leaves at {left[first]:g} but only {first} came in by then, and as many "
            "left; check the times"
        )
    return inside.astype(np.int64)


def exponential_mix_count(arrivals: npt.ArrayLike, departures: npt.ArrayLike) -> int:
    """How many matchings of departures to arrivals an exponential mix leaves open, exactly.

    Delays without memory make all of them equally likely. Whichever messages left before, each
    departure is any of those inside: the count is the product of :func:`exponential_mix_inside`.

    Examples
    --------
    >>> exponential_mix_count([0, 1, 2], [1.5, 3, 4])
    4
    """
    return math.prod(exponential_mix_inside(arrivals, departures).tolist())


def exponential_mix_log(arrivals: npt.ArrayLike, departures: npt.ArrayLike) -> float:
    """Natural log of :func:`exponential_mix_count`, for logs with millions of messages.

    Examples
    --------
    >>> round(exponential_mix_log([0, 1, 2], [1.5, 3, 4]) / math.log(2), 6)
    2.0
    """
    return float(np.log(exponential_mix_inside(arrivals, departures)).sum())


def batch_bits_per_message(batch: int) -> float:
    """Joint bits: log2 of the matchings of batches of this size, per message: log2(k!)/k.

    A message waits (k - 1)/2 arrivals on average.

    Examples
    --------
    >>> round(batch_bits_per_message(8), 2)
    1.91
    """
    return math.lgamma(_positive(batch, "batch") + 1) / _LN2 / batch


def exponential_bits_per_message(inside: float) -> float:
    """Joint bits of an exponential mix with Poisson arrivals, ``inside`` messages in it on average.

    A departure finds the leaving message and a Poisson number of others: the mean of
    log2(1 + Poisson(inside)). A message waits ``inside`` arrivals on average.

    Examples
    --------
    >>> round(exponential_bits_per_message(3.5), 2)
    2.03
    """
    return _poisson_mean(inside, np.log2)


def _poisson_mean(
    inside: float, function: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]
) -> float:
    """The mean of a function of 1 + Poisson(inside)."""
    if isinstance(inside, bool) or not isinstance(inside, int | float) or not 0 <= inside < 1e9:
        raise InputError(f"inside must be a number from 0 to 1e9, not {inside!r}")
    if inside == 0:
        return 0.0
    spread = 12 * math.sqrt(inside) + 40  # all but 1e-20 of the probability
    numbers = np.arange(max(0.0, math.floor(inside - spread)), math.ceil(inside + spread) + 1)
    # From one number to the next the weight changes by inside / number: their logs add up.
    logs = np.cumsum(math.log(inside) - np.log(np.maximum(numbers, 1.0)))
    weights = np.exp(logs - logs.max())
    return float(weights @ function(1 + numbers) / weights.sum())


def _positive(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} must be a whole number from 1, not {value!r}")
    return value


def _times(given: npt.ArrayLike, what: str) -> npt.NDArray[np.float64]:
    try:
        times = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a list of times in numbers") from None
    if times.ndim != 1 or not np.isfinite(times).all():
        raise InputError(f"{what} must be a list of finite times, one a message")
    return times
