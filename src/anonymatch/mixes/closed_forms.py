"""What single mixes give, in closed form.

Two figures are told apart. *Own bits* (`exponential_bits`, `pool_bits`, `timed_bits`,
`threshold_bits`) are the mean entropy of the attacker's posterior about one message: the field's
figure. *Joint bits* (`..._bits_per_message`) are log2 of the matchings, per message: less, because
what one message is says much about the others.

*Networks* (`network_bits`, `thin_network_bits`) and what no mix or network exceeds (`ceiling_bits`,
`log_ceiling_bits`) follow, and what attackers pay who take part (`corrupt_path_share`,
`n_minus_1_price`).

Which mix is better depends on what is held fixed. At equal mean delay an exponential mix gives more
bits a message than batches of 8 or more; partitions win where the cost is the number of edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole, wholes
from anonymatch.base.errors import InputError

__all__ = [
    "FlushBits",
    "Price",
    "alone_probability",
    "batch_bits_per_message",
    "candidate_senders",
    "ceiling_bits",
    "corrupt_path_share",
    "exponential_bits",
    "exponential_bits_per_message",
    "exponential_mix_count",
    "exponential_mix_inside",
    "exponential_mix_log",
    "flush_bits",
    "log_ceiling_bits",
    "loopix_guess",
    "n_minus_1_price",
    "network_bits",
    "noise_privacy",
    "pool_bits",
    "pool_mix_bits",
    "thin_network_bits",
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


def alone_probability(inside: float) -> float:
    """Probability that a message meets nobody in an exponential mix: it is known for certain.

    The mix is empty when it comes in, and nobody comes while it stays: exp(-inside)/(1 + inside).

    Examples
    --------
    >>> round(alone_probability(0.5), 4)
    0.4044
    """
    number = real(inside, "inside")
    return math.exp(-number) / (1 + number)


class FlushBits(NamedTuple):
    """What a mix leaves open that flushes: matchings, and own bits of those in each flush."""

    log2_matchings: float
    own: npt.NDArray[np.float64]
    """Own bits of a message that is inside just before each flush."""


def flush_bits(inside: npt.ArrayLike, leaving: npt.ArrayLike) -> FlushBits:
    """A mix of which ``leaving`` of the ``inside`` leave at each flush, drawn uniformly.

    All mixes that choose uniformly are of this kind: exponential (one leaves), threshold and timed
    (all leave), pools, timed pools, and binomial mixes, whose coins nobody sees but whose numbers
    everybody counts. There are ``prod n!/(n - s)!`` matchings. A message leaves now with the
    probability s/n, and is then one of s.

    What is inside after the last flush stays: that is one more outcome.

    Examples
    --------
    >>> bits = flush_bits([3, 2, 2], [2, 1, 2])
    >>> round(2**bits.log2_matchings), [round(float(own), 6) for own in bits.own]
    (24, [2.084963, 1.5, 1.0])
    """
    numbers, leave = (
        wholes(values, what) for values, what in ((inside, "inside"), (leaving, "leaving"))
    )
    if len(numbers) != len(leave) or (leave < 1).any() or (leave > numbers).any():
        raise InputError("of each flush at least 1 message and at most all inside must leave")
    n, s = numbers.astype(np.float64), leave.astype(np.float64)
    share, stay = s / n, (n - s) / n
    told = share * np.log2(s) + _coin(share, stay)
    own = np.empty(len(n))
    later = 0.0
    for k in range(len(n) - 1, -1, -1):
        later = float(told[k] + stay[k] * later)
        own[k] = later
    from scipy.special import gammaln

    logs = gammaln(n + 1) - gammaln(n - s + 1)
    return FlushBits(float(logs.sum()) / _LN2, own)


def network_bits(rate: float, layers: int, hop: float) -> float:
    """Own bits of a message through layers of exponential mixes with deep pools.

    ``rate``: messages a second in all; ``hop``: mean delay of a hop in seconds. It is log2 of the
    rate plus the differential entropy of an Erlang delay, for two layers or more whatever their
    width; for one layer give the rate through one mix. It holds while tens of messages are inside
    each mix; below it is too much (see `thin_network_bits`).

    Examples
    --------
    >>> round(network_bits(5000, 2, 2.425), 3), round(network_bits(5000, 3, 0.8 / 3), 3)
    (15.841, 13.046)
    """
    from scipy.special import digamma, gammaln

    number = whole(layers, "layers", least=1)
    _above_zero(rate, "rate"), _above_zero(hop, "hop")
    nats = number + gammaln(number) + (1 - number) * digamma(number) + math.log(hop)
    return math.log2(rate) + float(nats) / _LN2


def thin_network_bits(rate: float, layers: int, hop: float, width: int) -> float:
    """What own bits through layers of ``width`` exponential mixes cannot exceed.

    Each hop tells no more than its mix alone hides: ``layers`` times `exponential_bits`. The least
    of this and of `ceiling_bits` is sharp where few messages are inside.

    Examples
    --------
    >>> round(thin_network_bits(5500, 3, 0.015, 80), 1)  # 100 Nym clients, 80 mixes a layer
    4.6
    """
    number, mixes = whole(layers, "layers", least=1), whole(width, "width", least=1)
    _above_zero(rate, "rate"), _above_zero(hop, "hop")
    return number * exponential_bits(rate * hop / mixes)


def ceiling_bits(in_flight: float) -> float:
    """Own bits that no mix and no network exceeds with so many messages in flight on average.

    ``in_flight`` is the rate of messages times their mean delay. Poisson traffic through a box that
    does not foresee arrivals, whose outputs carry no marks: (1 + m) log2(1 + m) - m log2 m. So
    messages hide among e (m + 1/2) at most. A pool mix that swaps one message at a time attains it.

    Examples
    --------
    >>> round(ceiling_bits(4.5), 3), round(pool_bits(1, 4), 3), round(ceiling_bits(4), 3)
    (3.762, 3.61, 3.61)
    """
    number = real(in_flight, "in_flight")
    if number == 0 or math.isinf(number):
        return number
    # (1 + m) log2(1 + m) - m log2 m, without cancellation
    return math.log2(1 + number) + number * math.log1p(1 / number) / _LN2


def log_ceiling_bits(inside: npt.ArrayLike) -> float:
    """Mean own bits that a log cannot exceed in which everything leaves.

    ``inside``: messages just before each departure, the one that leaves included, and those that
    leave together one by one. Whatever the mix does, the mean is at most n h(1/n), n the mean of
    these numbers.

    Examples
    --------
    >>> round(log_ceiling_bits([2, 2, 1]), 3)
    1.618
    """
    numbers = wholes(inside, "inside", least=1)
    return ceiling_bits(float(numbers.mean()) - 1) if len(numbers) else 0.0


def corrupt_path_share(corrupt: Sequence[int], width: Sequence[int] | int) -> float:
    """Share of messages that pass corrupt mixes only: their way is known whatever the delay.

    ``corrupt``: corrupt mixes in each layer; ``width``: mixes in each, one number if all are alike.

    Examples
    --------
    >>> round(corrupt_path_share([1, 1, 1], 3), 4)
    0.037
    """
    bad = wholes(corrupt, "corrupt")
    mixes = np.full(len(bad), width) if isinstance(width, int) else wholes(width, "width", least=1)
    if len(mixes) != len(bad) or (bad > mixes).any() or not len(bad):
        raise InputError("give the number of corrupt mixes of each layer, at most its width")
    return float(np.prod(bad / mixes))


class Price(NamedTuple):
    """What an active attacker spends to learn one message: own messages, and seconds of blocking.

    Others are blocked for ``seconds``, or outnumbered by ``messages`` of his own.
    """

    messages: float
    seconds: float


def n_minus_1_price(
    kind: str,
    *,
    inside: float = 0.0,
    hop: float = 0.0,
    batch: int = 1,
    kept: int = 0,
    sure: float = 0.99,
) -> Price:
    """What an n-1 attack on one mix costs: all inside but the target are the attacker's.

    ``kind``: "exponential" (``inside`` messages on average, mean delay ``hop``: he blocks all
    others until nobody else is left), "batch" (threshold and pool mixes: he sends ``batch`` own
    messages a flush until none of the ``kept`` honest ones is left), or "timed" (he blocks for one
    interval ``hop``). ``sure``: with what probability he is right.

    References
    ----------
    .. [1] Serjantov, Dingledine, Syverson. From a trickle to a flood: active attacks on several mix
       types. Information Hiding 2002.

    Examples
    --------
    >>> round(n_minus_1_price("exponential", inside=100, hop=1.0).seconds, 1)
    9.2
    >>> n_minus_1_price("batch", batch=10, kept=5).messages / 10
    6.0
    >>> n_minus_1_price("batch", batch=1, kept=4).messages
    27.0
    """
    rest = 1 - real(sure, "sure", high=1 - 1e-12)
    if kind == "exponential":
        return Price(
            0.0, _above_zero(hop, "hop") * max(0.0, math.log(inside / rest)) if inside > 0 else 0.0
        )
    if kind == "timed":
        return Price(0.0, _above_zero(hop, "hop"))
    if kind != "batch":
        raise InputError(f"kind must be exponential, batch or timed, not {kind!r}")
    size, pool = _positive(batch, "batch"), whole(kept, "kept")
    if pool == 0:
        return Price(size - 1.0, 0.0)
    flushes = math.ceil(math.log(pool / rest) / math.log((size + pool) / pool) - 1e-9)
    return Price(float(size * flushes), 0.0)


def candidate_senders(users: int, rate: float, longest: float) -> float:
    """Users who can have sent a message at all: those who sent a packet while it may have come in.

    Each sends ``rate`` packets a second, and no message is under way for more than ``longest``
    seconds: 1 + (N - 1)(1 - exp(-rate longest)).

    Examples
    --------
    >>> round(candidate_senders(1000, 0.02, 5), 2)
    96.07
    """
    number = whole(users, "users", least=1)
    expected = real(rate, "rate") * real(longest, "longest")
    return 1 - (number - 1) * math.expm1(-expected)


def loopix_guess(honest: int, known: int, inside: int) -> tuple[float, float]:
    """Loopix' theorem 1: probabilities that the next message out is a given one.

    A mix holds ``honest`` and then ``known`` and ``inside`` more: of a message among the first
    n = ``honest`` when k = ``known`` of them are left beside l = ``inside`` that came later,
    k/(n (l + k)), and of one that came later, 1/(l + k).

    References
    ----------
    .. [1] Piotrowska, Hayes, Elahi, Meiser, Danezis. The Loopix anonymity system. USENIX Security
       2017.

    Examples
    --------
    >>> loopix_guess(5, 2, 3)
    (0.08, 0.2)
    """
    n, k, later = _positive(honest, "honest"), whole(known, "known"), whole(inside, "inside")
    if k + later < 1 or k > n:
        raise InputError("somebody must be inside, and known must be at most honest")
    return k / (n * (later + k)), 1 / (later + k)


def noise_privacy(mean: float, scale: float, shift: int = 1) -> tuple[float, float]:
    """Differential privacy (epsilon, delta) of a number hidden by noise, as in Vuvuzela.

    The noise is max(0, ceil(Laplace(mean, scale))); numbers differ by ``shift``: epsilon is
    shift/scale, delta exp((shift - 1 - mean)/scale)/2.

    Examples
    --------
    >>> epsilon, delta = noise_privacy(30, 5)
    >>> round(epsilon, 3), round(delta, 6)
    (0.2, 0.001239)
    """
    size, steps = _above_zero(scale, "scale"), whole(shift, "shift", least=1)
    return steps / size, 0.5 * math.exp((steps - 1 - real(mean, "mean")) / size)


def _coin(share: npt.NDArray[np.float64], stay: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Entropy of a coin in bits, from both of its probabilities."""
    from scipy.special import xlogy

    nats = xlogy(share, share) + xlogy(stay, stay)
    return np.asarray(-nats / _LN2, dtype=np.float64)


def _above_zero(value: float, what: str) -> float:
    number = real(value, what)
    if number == 0 or math.isinf(number):
        raise InputError(f"{what} must be a number above 0, not {value!r}")
    return number


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
