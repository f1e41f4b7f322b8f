"""Figures of messages through one exponential mix, in time linear in the messages.

Whoever is inside when a message leaves may have sent it, all equally likely: with N inside, a
message leaves now with probability 1/N and waits for the next departure with probability 1 - 1/N.
So what is left to learn about a message depends only on the departures to come, and every figure is
a sum that runs backwards over them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from anonymatch._native import PassageStay, passage_stay
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.counting import Count, product
from anonymatch.measures.mixes import exponential_mix_inside
from anonymatch.measures.users import LOST, Range, UserFigures

__all__ = ["passage_count", "passage_figures", "stay_of"]


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

    If more came in than left, the others are inside for good: for each message that is one more
    thing that may have happened to it, which no name stands for (`guess` is `LOST`).

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
    stay = stay_of(inside)
    # Positive terms only: each of at most so many steps rounds by a few units in the last place.
    slack = 8.0 * (len(left) + 1) * 2.0**-53
    shannon = _spread(stay.shannon[first], slack, 0.0, np.log2(stay.allowed[first]))
    collision = _spread(stay.collision[first], slack, 1.0 / stay.allowed[first], 1.0)
    probability = _spread(stay.largest[first], slack, 1.0 / stay.allowed[first], 1.0)
    names = np.concatenate((order, [LOST]))
    return UserFigures(
        users=range(len(came)) if users is None else users,
        behaviours=range(len(left)) if behaviours is None else behaviours,
        degree=len(left) - first + (n_lost > 0),
        allowed=stay.allowed[first],
        shannon=shannon,
        renyi2=collision.minus_log2(),
        min_entropy=probability.minus_log2(),
        effective=shannon.map(np.exp2),
        probability=probability,
        guess=names[stay.guess[first]],
        guesses=_spread(stay.guesses[first], 2 * slack, 1.0, np.inf),
    )


def _spread(values: Floats, slack: float, least: float | Floats, most: float | Floats) -> Range:
    ends = (np.clip(values * factor, least, most) for factor in (1.0, 1.0 - slack, 1.0 + slack))
    return Range(*ends)
