"""Lemma equity: the largest Brègman bound that n users and m edges allow, and when it is attained.

Degrees as equal as possible are best: with k = floor(m / n) and r = m - k n the bound is
k!^((n-r)/k) (k+1)!^(r/(k+1)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.base.logarithms import phi
from anonymatch.base.text import Argument, did_you_mean
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["Equity", "equity", "max_bound"]


def users_and_edges(users: object, edges: object) -> tuple[int, int]:
    """Both, checked: a matching takes an edge a user, and there are users x users pairs.

    Examples
    --------
    >>> users_and_edges(4, 3)
    Traceback (most recent call last):
        ...
    anonymatch.InputError: 3 edges are too few for 4 users; give 4 to 16
    """
    n, m = whole(users, "users", least=1), whole(edges, "edges")
    if not n <= m <= n * n:
        what = "few" if m < n else "many"
        noun = "user" if n == 1 else "users"
        raise InputError(f"{m} edges are too {what} for {n} {noun}; give {n} to {n * n}")
    return n, m


def one_of(value: object, name: str, choices: Sequence[str]) -> str:
    """The value if it is one of the choices.

    Examples
    --------
    >>> one_of("bset", "method", ["paper", "best"])
    Traceback (most recent call last):
        ...
    anonymatch.InputError: method must be 'paper' or 'best', not 'bset'; did you mean 'best'?
    """
    if not isinstance(value, str) or value not in choices:
        known = " or ".join(repr(choice) for choice in choices)
        near = did_you_mean(value, choices)
        raise InputError(Argument(name), f" must be {known}, not {value!r}{near}")
    return value


def max_bound(n: int, m: int) -> float:
    """The largest Brègman bound over all degrees of n users with m edges, as natural log.

    No graph has more matchings.

    Parameters
    ----------
    n, m : int
        Users, and edges.

    Returns
    -------
    float

    Examples
    --------
    >>> round(math.exp(max_bound(8, 24)), 2)
    118.87
    >>> max_bound(10**6, 37_012_345)
    2684920.738914
    """
    n, m = users_and_edges(n, m)
    k, r = divmod(m, n)
    return math.fsum(((n - r) * phi(k), r * phi(k + 1)))


@dataclass(frozen=True, kw_only=True)
class Equity:
    """The bound in full: the degrees that give it and whether some graph attains it.

    Examples
    --------
    >>> found = equity(5, 13)
    >>> found.degrees, found.floor, found.partition
    (((2, 2), (3, 3)), 12, ((2, 1), (3, 1)))
    """

    users: int
    edges: int
    log: float

    @property
    def degrees(self) -> tuple[tuple[int, int], ...]:
        """Pairs (degree, number of users), increasing; nobody is left out."""
        k, r = divmod(self.edges, self.users)
        return tuple(pair for pair in ((k, self.users - r), (k + 1, r)) if pair[1])

    @property
    def partition(self) -> tuple[tuple[int, int], ...] | None:
        """Pairs (users of a complete part, number of such parts) that attain it, or None."""
        parts = []
        for degree, number in self.degrees:
            if number % degree:
                return None
            parts.append((degree, number // degree))
        return tuple(parts)

    @property
    def attained(self) -> bool:
        """Whether some graph has this many matchings: only complete parts do [1]_.

        .. [1] Wu, Dong, Lu. arXiv 2502.12787, Theorem 1.8.
        """
        return self.partition is not None

    @cached_property
    def floor(self) -> int | None:
        """The largest integer that is not above the bound; None when that takes long."""
        # bound^(k (k+1)) is an integer; of one degree alone bound^k is.
        degrees = self.degrees
        root = math.lcm(*(degree for degree, _ in degrees))
        if self.log * root > TUNING.bound_bits * math.log(2):
            return None
        power = math.prod(
            math.factorial(degree) ** (number * (root // degree)) for degree, number in degrees
        )
        return _root(power, root, self.log)


def equity(n: int, m: int) -> Equity:
    """The bound of :func:`max_bound` with its degrees, its floor and the parts that attain it.

    It is attained if and only if k + 1 divides m - k n and k divides (k+1) n - m.

    Examples
    --------
    >>> equity(8, 24).attained, equity(9, 27).partition
    (False, ((3, 3),))
    """
    n, m = users_and_edges(n, m)
    return Equity(users=n, edges=m, log=max_bound(n, m))


def _root(value: int, degree: int, log: float) -> int:
    """The floor of the root, by Newton's method from just above its natural log."""
    whole, part = divmod((log + 1e-9) / math.log(2), 1)
    digits = int(2.0 ** (part + 52))  # 53 bits, to be shifted to their place
    guess = 1 + ((digits + 1) << int(whole) >> 52)
    while True:
        better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better
