"""Comparisons with Brègman's bound in whole numbers, and logarithms to fifty digits.

The bound is a product of roots, (d!)^(1/d). Raised to a common multiple of all degrees it is an
integer, so that a count can be compared with it without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

__all__ = [
    "DIGITS",
    "Power",
    "balanced",
    "bound_power",
    "compare",
    "degree_sequences",
    "log_factorial_digits",
    "precise",
    "reciprocal_of_e",
]

DIGITS = 50

Power = tuple[int, int]
"""(value, root): the number whose root-th power is value."""


def bound_power(degrees: Iterable[int]) -> Power:
    """Brègman's bound for these degrees as an integer and the root to take of it.

    Examples
    --------
    >>> bound_power([2, 2, 3, 3, 3])
    (2985984, 6)
    """
    sizes = list(degrees)
    if min(sizes, default=1) < 1:
        raise ZeroDivisionError("(0!)^(1/0) is no number")
    root = math.lcm(*sizes)
    return math.prod(math.factorial(size) ** (root // size) for size in sizes), root


def compare(left: Power, right: Power) -> int:
    """-1, 0 or 1: whether the first is the smaller, equal, or the larger one.

    Examples
    --------
    >>> compare((3, 1), (8, 2)), compare((4, 2), (2, 1))
    (1, 0)
    """
    root = math.lcm(left[1], right[1])
    one: int = left[0] ** (root // left[1])
    other: int = right[0] ** (root // right[1])
    return (one > other) - (one < other)


def balanced(n: int, m: int) -> list[int]:
    """Degrees of n users with m edges that differ by one at most.

    Examples
    --------
    >>> balanced(3, 7)
    [3, 2, 2]
    """
    k, r = divmod(m, n)
    return [k + 1] * r + [k] * (n - r)


def degree_sequences(n: int, m: int, largest: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    """Falling sequences of n degrees from ``least`` to ``largest`` that sum to m.

    Examples
    --------
    >>> list(degree_sequences(3, 6, 3))
    [(3, 2, 1), (2, 2, 2)]
    """
    if n == 0:
        if m == 0:
            yield ()
        return
    for first in range(min(largest, m - least * (n - 1)), max(least, -(-m // n)) - 1, -1):
        for rest in degree_sequences(n - 1, m - first, first, least):
            yield first, *rest


@lru_cache(maxsize=4096)
def log_factorial_digits(n: int) -> Decimal:
    """Natural log of n! to fifty digits."""
    with localcontext() as context:
        context.prec = DIGITS + 10
        return Decimal(math.factorial(n)).ln()


def precise(formula: Callable[..., Decimal], *arguments: int) -> Decimal:
    """The value of a formula in Decimals, worked out with fifty digits and ten to spare."""
    with localcontext() as context:
        context.prec = DIGITS + 10
        return formula(*(Decimal(argument) for argument in arguments))


def reciprocal_of_e(terms: int) -> tuple[Fraction, Fraction]:
    """Two fractions that enclose 1/e: neighbouring partial sums of its alternating series.

    Examples
    --------
    >>> low, high = reciprocal_of_e(20)
    >>> low < high, high - low == Fraction(1, math.factorial(20)), float(low) == 1 / math.e
    (True, True, True)
    """
    total, last = Fraction(0), Fraction(0)
    for i in range(terms + 1):
        last, total = total, total + Fraction((-1) ** i, math.factorial(i))
    return min(last, total), max(last, total)
