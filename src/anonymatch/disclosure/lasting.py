"""How long one user's anonymity lasts who hides among so many: a half-life without a log."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import entropy_terms
from anonymatch.disclosure.decay import CurvePoint, half_life

__all__ = ["target_half_life"]

_WORLDS, _FEWEST_WORLDS = 60, 10  # less where each takes long
_DRAWN = 6000  # messages out of one round, of all worlds
_CHANCES = 10_000  # behaviours beyond which more of them change nothing
_BURN, _SWEEPS = 40, 80
_STRENGTH = 2.0  # of the attacker's prior
_MOST = 4096  # messages of the target that are tried


def target_half_life(
    among: int, *, friends: int = 3, behaviours: int = 1000, seed: int = 0
) -> Interval | None:
    """Messages of one user until half the bits about their receivers are gone.

    The user writes to ``friends`` of the ``behaviours``, the first twice as often as the second,
    three times as often as the third and so on, and each message hides ``among`` others and itself,
    which go to anybody alike. The attacker knows nothing of what others do, so that a log of all
    users tells sooner. By simulation; None if more than 4096 messages are needed.

    Examples
    --------
    >>> few, many = (target_half_life(among, behaviours=200) for among in (5, 50))
    >>> 1 < few.value < 12 < many.value
    True
    """
    size, known = whole(among, "among", least=1), whole(behaviours, "behaviours", least=1)
    own = whole(friends, "friends", least=1, most=known)
    known = max(own, min(known, _CHANCES))
    draw = np.random.default_rng(whole(seed, "seed"))
    points: list[CurvePoint] = []
    messages = 1
    while messages <= _MOST:
        bits = _bits(messages, size, own, known, draw)
        points.append(CurvePoint(messages, Interval(bits, bits, bits), None, None))
        if half_life(points) is not None or bits <= 0.0:
            break
        messages = math.ceil(messages * 1.5)
    return half_life(points)


def _bits(messages: int, size: int, own: int, known: int, draw: np.random.Generator) -> float:
    """Mean bits about the receiver of a message, over worlds that are drawn and chains in them."""
    number = max(_FEWEST_WORLDS, min(_WORLDS, _DRAWN // size))
    friend = np.array([draw.choice(known, own, replace=False) for _ in range(number)])
    shares = 1.0 / np.arange(1, own + 1)
    chosen = draw.choice(own, size=(number, messages), p=shares / shares.sum())
    out = draw.integers(known, size=(number, messages, size))
    out[:, :, 0] = np.take_along_axis(friend, chosen, axis=1)
    return float(np.mean(_entropies(out, link_shares(out, known, draw))))


def link_shares(out: Ints, known: int, draw: np.random.Generator) -> Floats:
    """Probability of every message out of every round to be the target's, by Gibbs sampling.

    ``out``: what was received, by world, round and message; worlds have nothing to do with each
    other.
    """
    number, messages, size = out.shape
    worlds = np.arange(number)
    link = draw.integers(size, size=(number, messages))
    counts = np.zeros((number, known))
    for at in range(messages):
        counts[worlds, out[worlds, at, link[:, at]]] += 1
    sums: Floats = np.zeros((number, messages, size))
    for sweep in range(_BURN + _SWEEPS):
        for at in range(messages):
            counts[worlds, out[worlds, at, link[:, at]]] -= 1
            weights = _STRENGTH / known + np.take_along_axis(counts, out[:, at], axis=1)
            total = np.cumsum(weights, axis=1)
            if sweep >= _BURN:
                sums[:, at] += weights / total[:, -1:]
            link[:, at] = (draw.random((number, 1)) * total[:, -1:] > total).sum(axis=1)
            counts[worlds, out[worlds, at, link[:, at]]] += 1
    sums /= _SWEEPS
    return sums


def _entropies(out: Ints, shares: Floats) -> Floats:
    """Bits about the receiver of each message: equal receivers are one."""
    order = np.argsort(out, axis=2)
    names, values = (np.take_along_axis(part, order, axis=2) for part in (out, shares))
    ends = np.ones(names.shape, dtype=np.bool_)
    ends[:, :, :-1] = names[:, :, 1:] != names[:, :, :-1]
    sums = np.cumsum(values, axis=2)
    before = np.maximum.accumulate(np.where(ends, sums, 0.0), axis=2)
    before = np.concatenate((np.zeros_like(before[:, :, :1]), before[:, :, :-1]), axis=2)
    apart = np.where(ends, sums - before, 0.0)
    return np.asarray(entropy_terms(apart.clip(0.0, 1.0)).sum(axis=2))
