"""Closed formulas: the largest bound, permutations that avoid fixed points, attacks on parts.

F(s, j) is the number of permutations of s things that leave none of j given things in place: the
count of a complete part of s users from which a matching of j edges was removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.base.logarithms import TERMS, log_factorial, log_share, phi, phi_difference, psi
from anonymatch.base.text import Argument, did_you_mean
from anonymatch.theory.designs.tuning import TUNING

__all__ = [
    "ComponentAttack",
    "Equity",
    "attack_component",
    "avoiding_share_log",
    "equity",
    "equity_gain",
    "equity_increment",
    "limit_ratio",
    "linked_pair",
    "max_bound",
    "restricted_permutations",
    "restricted_permutations_log",
    "steps_to_full_deanonymisation",
]


# ---- permutations that avoid fixed points


def restricted_permutations(s: int, forbidden: int) -> int:
    """Permutations of s things that leave none of ``forbidden`` given things in place: F(s, j).

    Examples
    --------
    >>> restricted_permutations(4, 0), restricted_permutations(4, 2), restricted_permutations(4, 4)
    (24, 14, 9)
    """
    size, j = _part(s, forbidden)
    # With d = s - j things that may stay: F(d, 0) = d!, F(d+1, 1) = d d!, and
    # F(d+i, i) = (d+i-1) F(d+i-1, i-1) + (i-1) F(d+i-2, i-2), as for derangements (d = 0).
    free = size - j
    before, value = 0, math.factorial(free)
    for i in range(1, j + 1):
        before, value = value, (free + i - 1) * value + (i - 1) * before
    return value


def avoiding_share_log(s: int, forbidden: int) -> float:
    """Log of F(s, j) / s!, accurate for any size; -inf for the one case without a permutation.

    Examples
    --------
    >>> avoiding_share_log(10**9, 123_456_789)
    -0.12345678905410761
    """
    size, j = _part(s, forbidden)
    return _share_log(size, j)


def restricted_permutations_log(s: int, forbidden: int) -> float:
    """Natural log of F(s, j).

    Examples
    --------
    >>> restricted_permutations_log(10_000, 2_500)
    82108.677827438
    """
    size, j = _part(s, forbidden)
    return log_factorial(size) + _share_log(size, j)


@lru_cache(maxsize=65536)
def _share_log(size: int, j: int) -> float:
    return log_share(size, [math.comb(j, picked) for picked in range(min(j, TERMS) + 1)])


def _part(s: object, forbidden: object) -> tuple[int, int]:
    size, j = whole(s, "s"), whole(forbidden, "forbidden")
    if j > size:
        raise InputError(f"forbidden must be at most s = {size}, not {j}")
    return size, j


def linked_pair(p: int, q: int, u: int, v: int) -> int:
    """The count of two complete parts of p and q users, joined by single edges.

    ``u`` users of the first may each also have done one of the second's behaviours, all different,
    and ``v`` users of the second one of the first's.

    Examples
    --------
    >>> linked_pair(3, 2, 1, 1)
    14
    """
    p, q = whole(p, "p"), whole(q, "q")
    u, v = whole(u, "u"), whole(v, "v")
    if max(u, v) > min(p, q):
        raise InputError(f"links must be at most {min(p, q)} each way, not {max(u, v)}")
    return sum(
        math.comb(u, used)
        * math.comb(v, used)
        * math.factorial(p - used)
        * math.factorial(q - used)
        for used in range(min(u, v) + 1)
    )


# ---- Lemma equity and the limit


def equity_gain(a: int) -> float:
    """Log of f(a) = (a!)^(1/a) / ((a-1)!)^(1/(a-1)): what a degree of a instead of a - 1 gains.

    Examples
    --------
    >>> equity_gain(2), math.log(2) / 2
    (0.34657359, 0.34657359)
    """
    return phi_difference(whole(a, "a", least=2) - 1, a)


def equity_increment(a: int) -> float:
    """Log of f(a+1) / f(a), below 0 for every a: the reason why equal degrees are best.

    Examples
    --------
    >>> equity_increment(2), equity_increment(10**6)
    (-0.095894024, -9.9998585e-13)
    """
    a = whole(a, "a", least=2)
    # [a(a-1) ln(a+1) - a(a+1) ln a + 2 ln a!] / ((a+1) a (a-1)) with ln a! = a (ln a - 1 + psi).
    return ((a - 1) * math.log1p(1 / a) - 2 + 2 * psi(a)) / ((a + 1) * (a - 1))


def limit_ratio(k: int, b: int) -> float:
    """M(H) / (k!)^(n/k) for n = a k + b users, k edges each, a >= b: b crowns, else complete parts.

    It tends to 1 with k if and only if b ln k / k tends to 0.

    Examples
    --------
    >>> limit_ratio(10, 1), limit_ratio(100, 99)
    (0.8935562517, 0.110244943)
    """
    k, b = whole(k, "k", least=1), whole(b, "b")
    if b >= k:
        raise InputError(f"b is what is left of the users after parts of k = {k}, not {b}")
    crown = math.log1p(1 / k) + 1 + _share_log(k + 1, k + 1) - psi(k)
    return math.exp(b * crown)


# ---- attacks on one part


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentAttack:
    """Matchings that are left on average once a user's behaviour is known; None: no such user.

    Examples
    --------
    >>> attack_component(4, 2).best
    Fraction(25, 7)
    """

    full_user: Fraction | None  # one who may have done everything
    constrained_user: Fraction | None  # one who lacks an edge

    @property
    def best(self) -> Fraction:
        """The attacker's choice: the fewest."""
        return min(value for value in (self.full_user, self.constrained_user) if value is not None)


def attack_component(s: int, forbidden: int) -> ComponentAttack:
    """What an attacker who learns one user's behaviour leaves of a part of F(s, j) matchings.

    Examples
    --------
    >>> attack_component(5, 5)
    ComponentAttack(full_user=None, constrained_user=Fraction(11, 1))
    """
    size, j = _part(s, forbidden)
    total = restricted_permutations(size, j)
    if total == 0 or size == 0:
        raise InputError(f"a part of {size} with {j} forbidden has no matching to attack")

    def left(targets: list[tuple[int, int, int]]) -> Fraction:
        return Fraction(sum(times * _count(*rest) ** 2 for times, *rest in targets), total)

    return ComponentAttack(
        full_user=left(_full_user(size, j)) if j < size else None,
        constrained_user=left(_constrained_user(size, j)) if j else None,
    )


def steps_to_full_deanonymisation(s: int, forbidden: int) -> Fraction:
    """The least expected number of users to expose until one matching is left.

    Examples
    --------
    >>> steps_to_full_deanonymisation(4, 2), steps_to_full_deanonymisation(9, 0)
    (Fraction(16, 7), Fraction(8, 1))
    """
    size, j = _part(s, forbidden)
    if restricted_permutations(size, j) == 0:
        raise InputError(f"a part of {size} with {j} forbidden has no matching to attack")
    known: dict[tuple[int, int], Fraction] = {}
    for users in range(size + 1):
        for lacking in range(max(0, j - 2 * (size - users)), min(users, j) + 1):
            known[users, lacking] = _steps(users, lacking, known)
    return known[size, j]


def _steps(size: int, j: int, known: dict[tuple[int, int], Fraction]) -> Fraction:
    total = _count(size, j)
    if total <= 1:
        return Fraction(0)
    choices = ([_full_user(size, j)] if j < size else []) + (
        [_constrained_user(size, j)] if j else []
    )
    return 1 + min(
        sum(
            (
                Fraction(times * _count(*rest), total) * known[rest[0], rest[1]]
                for times, *rest in targets
                if times and _count(*rest)
            ),
            Fraction(0),
        )
        for targets in choices
    )


def _full_user(size: int, j: int) -> list[tuple[int, int, int]]:
    """(edges, users left, edges lacking then) of a user who may have done everything."""
    return [(size - j, size - 1, j), (j, size - 1, j - 1)]


def _constrained_user(size: int, j: int) -> list[tuple[int, int, int]]:
    """The same of a user who lacks an edge: exposing one frees the behaviour that it lacked."""
    return [(size - j, size - 1, j - 1), (j - 1, size - 1, j - 2)]


@lru_cache(maxsize=65536)
def _count(size: int, j: int) -> int:
    return restricted_permutations(size, j) if 0 <= j <= size else 0


# ---- Lemma equity: the largest Brègman bound, and when it is attained

# Degrees as equal as possible are best: with k = floor(m / n) and r = m - k n the bound is
# k!^((n-r)/k) (k+1)!^(r/(k+1)).


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


# ---- arguments


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
