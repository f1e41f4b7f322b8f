"""What attacks over rounds need, by formulas."""

from __future__ import annotations

import math

from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError

__all__ = ["intersection_candidates", "lsda_error", "sda_rounds"]


def sda_rounds(users: int, friends: int, batch: int, *, deviations: float = 2.0) -> float:
    """Rounds of a target after which averages (SDA) tell its friends from all others.

    ``users`` receive anything alike; the target writes to its ``friends`` alike, in batches of
    ``batch``. ``deviations``: how many standard deviations friends must stand out by (Danezis
    2003).

    Examples
    --------
    >>> round(sda_rounds(100, 4, 10), 1), round(sda_rounds(1000, 10, 50), 1)
    (43.5, 141.1)
    >>> round(sda_rounds(20000, 20, 100, deviations=3), 1)
    322.6
    """
    number, own = whole(users, "users", least=1), whole(friends, "friends", least=1)
    spread = (whole(batch, "batch", least=1) - 1) * (number - 1) / number**2
    far = real(deviations, "deviations")
    return (own * far * (math.sqrt(spread) + math.sqrt(spread + (own - 1) / own**2))) ** 2


def lsda_error(users: int, batch: int, rounds: int, *, spread: float) -> float:
    """Expected squared error of a profile by least squares, for even batches of different users.

    ``spread``: 1 less the sum of a profile's squares. For many rounds it is ``spread * ((N - 1)^2 /
    (N - b) + 1 / b) / rounds``; with fewer, rounds count less as many as there are users, as in any
    regression.

    Examples
    --------
    >>> round(lsda_error(30, 10, 400, spread=0.595), 4)
    0.0678
    """
    number, size = whole(users, "users", least=2), whole(batch, "batch", least=1)
    if size >= number:
        raise InputError(f"batch must be below the {number} users, not {size}")
    seen = whole(rounds, "rounds", least=number + 1) - number
    return (
        real(spread, "spread", high=1.0) * ((number - 1) ** 2 / (number - size) + 1 / size) / seen
    )


def intersection_candidates(users: int, online: float, observations: int) -> float:
    """How many users were there every time, on average: the owner, and others by chance.

    ``online``: the probability of any other user to be there.

    Examples
    --------
    >>> intersection_candidates(101, 0.5, 3)
    13.5
    """
    number, seen = whole(users, "users", least=1), whole(observations, "observations")
    return 1 + (number - 1) * real(online, "online", high=1.0) ** seen
