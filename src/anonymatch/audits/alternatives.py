"""What the same cost could buy: designs of as many edges, and mixes of as much delay."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anonymatch.audits.answers import Answers
from anonymatch.mixes import (
    MessageObservation,
    Observation,
    exponential_bits,
    passage_of,
    pool_bits,
    threshold_bits,
)
from anonymatch.mixes import closed_forms as mixes
from anonymatch.theory import designs

if TYPE_CHECKING:
    from anonymatch.theory.designs import Design

__all__ = ["best_design", "front", "has_designs", "rival_delay", "rivals", "same_delay"]

_MOST_INSIDE = 1e6  # messages on average, for which closed forms are worth their time
_HALVINGS = 60
_WHOLE = 1e-9  # nearer to a whole number is one
_DELAYS = tuple(2.0 ** (k / 2) for k in range(-6, 7))  # of the rivals, as factors of the own one
_FRONT = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


def has_designs(observation: Observation, answers: Answers) -> bool:
    """Whether designs of as many edges are a fair comparison.

    They are for as many users as behaviours. Through one exponential mix everybody who came before
    is a candidate, however unlikely: there, not edges but delay is what is paid.
    """
    n_users = len(answers.users.users)
    square = observation.lost == 0 and n_users == len(answers.users.behaviours) and n_users > 0
    return square and passage_of(observation) is None


def best_design(observation: Observation, answers: Answers, objective: str) -> Design | None:
    """The best for the same users and edges; None where that is no fair comparison."""
    if not has_designs(observation, answers):
        return None
    return designs.design(users=len(answers.users.users), edges=answers.edges, objective=objective)


def same_delay(
    observation: MessageObservation, ceiling: float | None = None
) -> tuple[tuple[str, float], ...]:
    """What other mixes give that hold messages back as long, for messages that come in at random.

    With so many messages inside on average, an exponential mix holds each as long; batches of k
    hold them (k - 1)/2 arrivals, and a pool of k that swaps one message at a time k arrivals. Of
    two sizes that are used in turn the delay is between theirs: so all hold messages back
    :func:`rival_delay`. All are the entropy of one message, as the headline is, and none is above
    ``ceiling``.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("exponential:5", messages=2000, seed=1)
    >>> [title for title, _ in same_delay(am.mixes.observe(log, "exponential:5"))]
    ['one exponential mix', 'batches of 10 or 11', 'pool mix 1,4 or 1,5']
    """
    delay = rival_delay(observation, ceiling)
    if delay is None or observation.rate is None:
        return ()
    inside = observation.rate * delay
    size, pool = int(2 * inside) + 1, int(inside)
    others = [
        ("one exponential mix", exponential_bits(inside)),
        _in_turn("batches of ", size, 2 * inside + 1, threshold_bits),
    ]
    if pool >= 1:
        others.append(_in_turn("pool mix 1,", pool, inside, lambda kept: pool_bits(1, kept)))
    return tuple(others)


def rival_delay(observation: MessageObservation, ceiling: float | None = None) -> float | None:
    """Seconds that the mixes of :func:`same_delay` hold messages back; None if there are none.

    As long as here, but no more messages may be inside than here. In traffic that is steadier than
    random there are fewer when one leaves than the delay says, and the ceiling is that of these.
    """
    if observation.mean_delay is None or observation.rate is None:
        return None
    inside = observation.rate * observation.mean_delay
    if not 0 < inside < _MOST_INSIDE:
        return None
    if ceiling is None or mixes.ceiling_bits(inside) <= ceiling:
        return observation.mean_delay
    inside = _inside_at(ceiling, inside)
    return inside / observation.rate if inside > 0 else None


def _inside_at(ceiling: float, high: float) -> float:
    """How many messages inside have this ceiling, which is below that of ``high``: by halving."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mixes.ceiling_bits(middle) <= ceiling else (low, middle)
    return low


def _in_turn(
    title: str, small: int, size: float, bits: Callable[[int], float]
) -> tuple[str, float]:
    """Mixes of ``small`` and of one more, each for so many messages that the mean is ``size``."""
    more = size - small
    if more * small < _WHOLE:
        return f"{title}{small:,}", bits(small)
    again = title.rpartition(" ")[2]
    name = f"{title}{small:,} or {again}{small + 1:,}"
    return name, (1 - more) * bits(small) + more * bits(small + 1)


def rivals(
    observation: MessageObservation, packets: float | None = None
) -> dict[str, tuple[tuple[float, float], ...]]:
    """What other mixes give for shorter and for longer delays: mean seconds and bits, by name.

    Messages come in at random as often as here. The last is what no mix exceeds in such traffic,
    with as many ``packets`` a message as here; None if that is not known, and then it is left out.
    """
    if rival_delay(observation) is None:
        return {}
    assert observation.mean_delay is not None
    assert observation.rate is not None
    rate = observation.rate
    delays = [observation.mean_delay * factor for factor in _DELAYS]
    batches = sorted({max(round(2 * rate * delay + 1), 1) for delay in delays})
    pools = sorted({round(rate * delay) for delay in delays} - {0})
    curves = {
        "exponential mixes": [(delay, exponential_bits(rate * delay)) for delay in delays],
        "batches": [((k - 1) / 2 / rate, threshold_bits(k)) for k in batches if k > 1],
        "pools that swap one": [(k / rate, pool_bits(1, k)) for k in pools],
    }
    if packets is not None:
        line = [(delay, mixes.ceiling_bits(rate * packets * delay)) for delay in delays]
        curves["ceiling of steady traffic"] = line
    return {name: tuple(points) for name, points in curves.items() if points}


def front(observation: Observation, answers: Answers) -> tuple[tuple[float, float], ...]:
    """What partition graphs give for fewer and for more candidates a user.

    They are made in closed form and nearly reach the bound, so that a curve of them costs nothing.
    """
    if not has_designs(observation, answers):
        return ()
    users = len(answers.users.users)
    own = answers.edges / users
    sizes = sorted({size for size in (*_FRONT, own) if size <= min(users, 4 * own)})
    return tuple(
        (edges / users, designs.design(users=users, edges=edges, method="paper").log2 / users)
        for edges in (round(size * users) for size in sizes)
    )
