"""Logarithms of factorials and of shares of them, accurate where plain differences are not.

Two numbers of the size n ln n must never be subtracted to learn their ratio: everything here is
kept relative to k ln k - k, whose part cancels on paper. Written phi(d) = ln(d!) / d, a user of
degree d adds at most phi(d) to the log of the count (Brègman).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

_EXACT_FACTORIAL = 170  # factorials up to this are doubles

TERMS = 45  # of a sum whose terms are below 2^l / l!: the rest is below 1e-42
_SERIES_FROM = 30
_SUM_UP_TO = 100


def log_factorial(n: int) -> float:
    """Natural log of n!, to the last digits.

    Examples
    --------
    >>> log_factorial(3) == math.log(6)
    True
    """
    return math.log(math.factorial(n)) if n <= _EXACT_FACTORIAL else math.lgamma(n + 1)


def log_factorials(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Natural logs of the factorials of whole numbers, by Stirling's series from 171 on.

    The first term of the series that is left out is below 1e-18 there.

    Examples
    --------
    >>> log_factorials([0, 3, 3]).round(6).tolist()
    [0.0, 1.791759, 1.791759]
    """
    n = np.asarray(values, dtype=np.float64)
    large = np.maximum(n, _EXACT_FACTORIAL)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / large**2) / large**2) / large
    logs = large * (np.log(large) - 1.0) + 0.5 * np.log(2 * math.pi * large) + series
    small = _exact_logs()[np.minimum(n, _EXACT_FACTORIAL).astype(np.intp)]
    return np.where(n > _EXACT_FACTORIAL, logs, small)


@cache
def _exact_logs() -> npt.NDArray[np.float64]:
    return np.array([log_factorial(n) for n in range(_EXACT_FACTORIAL + 1)])


@lru_cache(maxsize=4096)
def psi(k: int) -> float:
    """phi(k) - ln k + 1: what is left of phi once its large part is taken out.

    From 30 on by Stirling's series; its first term left out is below 1e-16 there.

    Examples
    --------
    >>> abs(psi(29) - psi(30)) < 0.003, psi(1)
    (True, 1.0)
    """
    if k < _SERIES_FROM:
        return log_factorial(k) / k - math.log(k) + 1
    square = float(k) * k
    tail = 1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square
    return math.log(2 * math.pi * k) / (2 * k) + tail / square


def phi(k: int) -> float:
    """phi(k) = ln(k!) / k: the most that a user of degree k adds to the log of the count.

    Examples
    --------
    >>> phi(2) == math.log(2) / 2
    True
    """
    return log_factorial(k) / k if k < _SERIES_FROM else math.log(k) - 1 + psi(k)


def phi_difference(k: int, other: int) -> float:
    """phi(other) - phi(k), without cancellation for large ones.

    Examples
    --------
    >>> phi_difference(10**9, 10**9 + 1)
    9.9999998872e-10
    """
    return math.log1p((other - k) / k) + (psi(other) - psi(k))


def log_binomial(n: int, k: int) -> float:
    """Log of n over k, without subtracting logs of factorials of large n.

    Examples
    --------
    >>> log_binomial(4, 2) == math.log(6), log_binomial(10**18, 10**9)
    (True, 21723265825.166)
    """
    few = min(k, n - k)
    if few < _SUM_UP_TO:
        return math.fsum(math.log((n - i) / (i + 1)) for i in range(few))
    many = n - few
    shares = few * math.log(n / few) - many * math.log1p(-few / n)
    widths = math.log(few) + math.log1p(-few / n) + math.log(2 * math.pi)
    return shares - widths / 2 + _stirling(n) - _stirling(few) - _stirling(many)


def _stirling(k: int) -> float:
    """Log of k! less (k ln k - k + ln(2 pi k) / 2) for large k."""
    return (1 / 12 - (1 / 360 - 1 / 1260 / (k * k)) / (k * k)) / k


@dataclass(frozen=True, slots=True)
class Line:
    """The bound per part: phi between the degrees k and k + 1 continued as a straight line.

    phi is concave, so no part lies above the line, and complete parts of k or k + 1 users lie on
    it. What a part loses against it adds up to what a design loses against the bound.
    """

    k: int

    @property
    def slope(self) -> float:
        """What one more edge adds to the log of the bound."""
        return phi_difference(self.k, self.k + 1)

    def loss(self, size: int, edges: int, log_share: float) -> float:
        """How far ln(share * size!) of a part lies below the line; 0 on it, never less.

        Examples
        --------
        >>> Line(3).loss(4, 16, 0.0), Line(3).loss(2, 4, 0.0)
        (0.0, 0.1068385)
        """
        on_line = (edges - self.k * size) * self.slope - size * phi_difference(self.k, size)
        return on_line - log_share

    def doubt(self, size: int) -> float:
        """The rounding error that :meth:`loss` may have; it grows as the size leaves k behind.

        Examples
        --------
        >>> Line(10).doubt(10), Line(1).doubt(10**7) > 1e-8
        (0.0, True)
        """
        return 4e-16 * size * abs(phi_difference(self.k, size))


def log_share(size: int, rooks: Sequence[int]) -> float:
    """Log of the share of permutations that avoid a pattern: sum of (-1)^l r_l (size-l)!/size!.

    Parameters
    ----------
    size : int
    rooks : sequence of int
        Ways to pick l = 0, 1, ... disjoint cells of the pattern; :data:`TERMS` are enough when no
        user and no behaviour has more than two of them.

    Examples
    --------
    >>> log_share(2, [1, 1]) == math.log(1 / 2), log_share(1, [1, 1])
    (True, -inf)
    """
    # Horner's rule from the last term on, as a fraction top / bottom: r_l - (rest) / (size - l).
    top, bottom = 0, 1
    for picked in range(len(rooks) - 1, -1, -1):
        bottom *= max(size - picked, 1)
        top = rooks[picked] * bottom - top
    if top == 0:
        return -math.inf
    return math.log1p((top - bottom) / bottom)
