"""Figures of messages through one exponential mix, in time linear in the messages.

Whoever is inside when a message leaves may have sent it, all equally likely: with N inside, a
message leaves now with probability 1/N and waits for the next departure with probability 1 - 1/N.
So what is left to learn about a message depends only on the departures to come, and every figure is
a sum that runs backwards over them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch._native import PassageStay, flush_stay, passage_stay
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.counting import Count, product
from anonymatch.counting.measures import LOST, Range, UserFigures, entropy_terms
from anonymatch.mixes.closed_forms import ceiling_bits, exponential_mix_inside
from anonymatch.mixes.solvers.tuning import SOLVING


def stay_of(inside: npt.ArrayLike) -> PassageStay:
    """What is open for a message inside just before each departure, in order of time.

    The last entry of every array is for messages that are still inside after all departures.

    Parameters
    ----------
    inside : array of int
        Messages inside just before each departure.

    Returns
    -------
    allowed : array
        Departures that it may be, until the mix is empty; to stay inside counts as one.
    shannon, collision, largest : array
        Entropy in bits, sum of squared probabilities, and the largest probability, of its
        departure.
    guess : array
        The most likely departure, the first of equals; one past the last one for none.
    guesses : array
        Guesses until it is named, on average, given that it departs. The departures are best named
        in order of time: of N inside, N - 1 or more are inside before the next departure, so that
        none is likelier than the one before.

    Examples
    --------
    >>> stay = stay_of([2, 1])
    >>> stay.allowed.tolist(), stay.shannon.tolist(), stay.largest.tolist(), stay.guess.tolist()
    ([2, 1, 1], [1.0, 0.0, 0.0], [0.5, 1.0, 1.0], [0, 1, 2])
    >>> stay_of([2, 2, 1]).guesses.tolist()
    [1.75, 1.5, 1.0, 1.0]
    """
    return passage_stay(np.asarray(inside))


def passage_count(arrivals: npt.ArrayLike, departures: npt.ArrayLike) -> Count:
    """How many ways the departures can be matched to the arrivals, exactly.

    Examples
    --------
    >>> passage_count([0, 1, 2], [1.5, 3, 4]).value
    4
    """
    inside = exponential_mix_inside(arrivals, departures)
    log = float(np.log(inside).sum())
    factor = partial(product, inside.tolist())
    return Count(
        exact=True, log=log, low=log, high=log, method="closed_form", factors=((factor, 1),)
    )


def passage_figures(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    users: Sequence[Hashable] | None = None,
    behaviours: Sequence[Hashable] | None = None,
) -> UserFigures:
    """Figures of each message that came into one exponential mix.

    If more came in than left, the other messages are still in the mix when the log ends. Figures
    are then given that the message departed. ``departed`` and ``inside`` hold the probabilities of
    both outcomes, and ``shannon_all`` the entropy over all of them.

    Parameters
    ----------
    arrivals, departures : arrays of times, in any order
    users, behaviours : sequences, optional
        Their names; numbers unless told.

    Examples
    --------
    >>> figures = passage_figures([0, 1, 2], [1.5, 3, 4])
    >>> figures.allowed.tolist(), figures.shannon.value.tolist(), figures.probability.value.tolist()
    ([3, 3, 2], [1.5, 1.5, 1.0], [0.5, 0.5, 0.5])
    """
    came = np.asarray(arrivals, dtype=np.float64)
    inside = exponential_mix_inside(came, departures)
    order = np.argsort(np.asarray(departures, dtype=np.float64), kind="stable")
    left = np.asarray(departures, dtype=np.float64)[order]
    n_lost = len(came) - len(left)
    if n_lost < 0:
        raise InputError("more messages leave than came in; check the times")
    first = np.searchsorted(left, came, side="left")
    # Positive terms only: each of at most so many steps rounds by a few units in the last place.
    slack = 8.0 * (len(left) + 1) * 2.0**-53
    names = np.concatenate((order, [LOST]))
    if n_lost:
        return _given_departure(
            users=range(len(came)) if users is None else users,
            behaviours=range(len(left)) if behaviours is None else behaviours,
            inside=inside,
            first=first,
            names=names,
            slack=slack,
        )
    stay = stay_of(inside)
    shannon = _spread(stay.shannon[first], slack, 0.0, np.log2(stay.allowed[first]))
    collision = _spread(stay.collision[first], slack, 1.0 / stay.allowed[first], 1.0)
    probability = _spread(stay.largest[first], slack, 1.0 / stay.allowed[first], 1.0)
    return UserFigures(
        users=range(len(came)) if users is None else users,
        behaviours=range(len(left)) if behaviours is None else behaviours,
        degree=len(left) - first,
        allowed=stay.allowed[first],
        shannon=shannon,
        renyi2=collision.minus_log2(),
        min_entropy=probability.minus_log2(),
        effective=shannon.map(np.exp2),
        probability=probability,
        guess=names[stay.guess[first]],
        guesses=_spread(stay.guesses[first], 2 * slack, 1.0, np.inf),
    )


def _given_departure(
    *,
    users: Sequence[Hashable],
    behaviours: Sequence[Hashable],
    inside: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    names: npt.NDArray[np.int64],
    slack: float,
) -> UserFigures:
    """Figures of messages of which some are still inside at the end, given that they departed."""
    stay = flush_stay(inside, np.ones(len(inside), dtype=np.int64))
    departs, stays = stay.departs[first], stay.stays[first]
    some = departs > 0.0
    share = np.where(some, departs, 1.0)
    # A departure with nobody else inside is the last one that a message can be.
    allowed = np.where(some, stay_of(inside).allowed[first] - (stays > 0.0), 0)
    most = np.maximum(allowed, 1)
    everything = stay.shannon[first]
    own = (everything - entropy_terms(departs) - entropy_terms(stays)) / share
    off = slack * (everything + 1.0) / share
    shannon = Range(*(np.clip(own + by, 0.0, np.log2(most)) for by in (0.0, -off, off)))
    collision = np.where(some, stay.collision[first] / share**2, 1.0)
    surest = np.where(some, stay.largest[first] / share, 1.0)
    return UserFigures(
        users=users,
        behaviours=behaviours,
        degree=len(names) - 1 - first,
        allowed=allowed,
        shannon=shannon,
        renyi2=_spread(collision, 3 * slack, 1.0 / most, 1.0).minus_log2(),
        min_entropy=_spread(surest, 2 * slack, 1.0 / most, 1.0).minus_log2(),
        effective=shannon.map(np.exp2),
        probability=_spread(stay.largest[first], slack, 0.0, 1.0),
        guess=names[np.where(some, stay.guess[first], len(names) - 1)],
        departed=departs,
        lost=np.zeros(len(first)),
        inside=stays,
        shannon_all=_spread(everything, slack, 0.0, np.log2(most + 1.0)),
        guesses=_spread(np.where(some, stay.ranks[first] / share, 1.0), 2 * slack, 1.0, np.inf),
    )


def passage_asked(
    arrivals: npt.ArrayLike, departures: npt.ArrayLike, asked: npt.ArrayLike
) -> Floats:
    """Return the probability of each message to be the departure that is asked for.

    ``asked`` has the number of a departure for each message, or -1, whose probability is then 0.

    Examples
    --------
    >>> passage_asked([0, 1, 2], [1.5, 3, 4], [1, 0, -1]).tolist()
    [0.25, 0.5, 0.0]
    """
    came = np.asarray(arrivals, dtype=np.float64)
    times = np.asarray(departures, dtype=np.float64)
    wanted = np.asarray(asked, dtype=np.int64)
    order = np.argsort(times, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    first = np.searchsorted(times[order], came, side="left")
    at = np.where(wanted >= 0, rank[wanted], -1) if len(rank) else wanted
    inside = exponential_mix_inside(came, times)
    return leaving_probability(inside, np.ones_like(inside), first, at)


def leaving_probability(inside: Ints, left: Ints, first: Ints, at: Ints) -> Floats:
    """Return the probability of one message to be one departure of flush ``at``.

    Of ``inside`` messages ``left`` leave with each flush, all equally likely. A message takes part
    from flush ``first`` on. The probability is 0 if ``at`` is earlier.
    """
    n, s = inside.astype(np.float64), left.astype(np.float64)
    stays = np.where(n > 0, (n - s) / np.maximum(n, 1.0), 1.0)
    empties = stays <= 0.0
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.where(empties, 1.0, stays)))))
    emptied = np.concatenate(([0], np.cumsum(empties)))
    possible = (at >= first) & (at >= 0)
    begin, end = np.where(possible, first, 0), np.where(possible, at, 0)
    possible &= emptied[end] == emptied[begin]
    probability = np.zeros(len(possible))
    begin, end = begin[possible], end[possible]
    probability[possible] = np.exp(logs[end] - logs[begin]) / np.maximum(n[end], 1.0)
    return probability


def _spread(values: Floats, slack: float, least: float | Floats, most: float | Floats) -> Range:
    ends = (np.clip(values * factor, least, most) for factor in (1.0, 1.0 - slack, 1.0 + slack))
    return Range(*ends)


# ---- messages through one mix that chooses uniformly, summed up in stretches: any number, one pass


class FlushTotals:
    """Sums over messages. To be inside at the end is one more outcome; nobody is lost.

    Examples
    --------
    >>> totals = FlushTotals()
    >>> totals.add_before(np.array([True, False, False]), inside=1)  # the second half of a log
    True
    >>> totals.add_before(np.array([True]), inside=0)
    True
    >>> totals.messages, totals.mean_bits, totals.joint_bits
    (2, 1.0, 1.0)
    """

    def __init__(self) -> None:
        self.messages, self.departures, self.identified = 0, 0, 0
        self.joint_bits, self.inside_sum = 0.0, 0.0  # log2 of the matchings
        self._bits, self._min_entropy = 0.0, 0.0
        self._numbers = np.zeros(1, dtype=np.int64)  # of messages by their bits, on the grid
        self._shannon, self._largest = 0.0, 0.0  # for who is inside at the end of a stretch

    def add_before(self, comes: Bools, inside: int) -> bool:
        """Add the stretch before all others: whether each of its events is a message coming in.

        ``inside``: messages when it begins. False, and nothing is added, if a message leaves an
        empty mix.
        """
        numbers = inside + np.cumsum(np.where(comes, 1, -1))
        before = (numbers[~comes] + 1).astype(np.int64)
        if len(before) and before.min() < 1:
            return False
        # Those that leave together are drawn as if one by one: each is as likely to be each.
        stay = _native.flush_stay(before, np.ones(len(before), dtype=np.int64))
        shannon = stay.shannon + stay.stays * self._shannon
        largest = np.maximum(stay.largest, stay.stays * self._largest)
        next_out = np.cumsum(~comes)[comes]
        if not self.departures:  # who comes after the last departure cannot be any
            next_out = next_out[next_out < len(before)]
        self._add(shannon[next_out], largest[next_out])
        self.departures += len(before)
        self.joint_bits += float(np.log2(before).sum())
        self.inside_sum += float(before.sum())
        self._shannon, self._largest = float(shannon[0]), float(largest[0])
        return True

    def _add(self, bits: Floats, largest: Floats) -> None:
        self.messages += len(bits)
        self._bits += float(bits.sum())
        self._min_entropy -= float(np.log2(largest).sum())
        self.identified += int((largest > 1 - SOLVING.total_sure).sum())
        numbers = np.bincount(np.floor(bits * SOLVING.total_grid + 1e-9).astype(np.int64))
        if len(numbers) > len(self._numbers):
            numbers[: len(self._numbers)] += self._numbers
            self._numbers = numbers
        else:
            self._numbers[: len(numbers)] += numbers

    @property
    def mean_bits(self) -> float:
        """Mean Shannon entropy of a message."""
        return self._bits / self.messages

    @property
    def mean_min_entropy(self) -> float:
        return self._min_entropy / self.messages

    @property
    def ceiling(self) -> float:
        """Mean bits that no log exceeds with as many inside before departures, on average."""
        return ceiling_bits(self.inside_sum / self.departures - 1)

    def quantile(self, share: float) -> float:
        """Bits that the worst share of messages does not exceed, down to a thousandth."""
        rank = max(1, math.ceil(share * self.messages - 1e-9))
        return int(np.searchsorted(np.cumsum(self._numbers), rank)) / SOLVING.total_grid
