"""Small graphs for hypothesis, as matrices of exact numbers, and exact measures to hold them to."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from math import lcm
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.counting.reference import permanent

Number: TypeAlias = int | float | Fraction
Matrix: TypeAlias = list[list[Number]]
Weights: TypeAlias = st.SearchStrategy[Number]

ONES: Weights = st.just(1)
INTEGERS: Weights = st.integers(1, 9)
FRACTIONS: Weights = st.builds(Fraction, st.integers(1, 9), st.integers(1, 9))
FLOATS: Weights = st.floats(0.01, 100.0)
WILD: Weights = st.floats(1e-60, 1e60)  # products stay far from where doubles end, sums do not

_PRECISE = Context(prec=60)


@st.composite
def matrices(
    draw: st.DrawFn,
    *,
    users: tuple[int, int] = (1, 6),
    spare: int = 0,
    weights: Weights = ONES,
    matched: bool = False,
) -> Matrix:
    """Users by behaviours, 0 for no edge, sparse to full; ``matched``: with a perfect matching."""
    n = draw(st.integers(*users))
    width = n + draw(st.integers(0, spare))
    tenths = draw(st.sampled_from([1, 2, 4, 6, 8, 9, 10]))
    edge = st.integers(1, 10).map(lambda k: k <= tenths)
    rows = [draw(st.lists(edge, min_size=width, max_size=width)) for _ in range(n)]
    if matched:
        order = draw(st.permutations(range(width)))
        for row, column in zip(rows, order, strict=False):
            row[column] = True
    return [[draw(weights) if cell else 0 for cell in row] for row in rows]


def weighted_matrices(
    *, users: tuple[int, int] = (1, 6), spare: int = 0, matched: bool = False
) -> st.SearchStrategy[Matrix]:
    """Matrices of every kind of weight, one kind at a time."""
    return st.sampled_from([ONES, INTEGERS, FRACTIONS, FLOATS]).flatmap(
        lambda weights: matrices(users=users, spare=spare, weights=weights, matched=matched)
    )


def graph_of(matrix: Matrix) -> am.Graph:
    return am.Graph.from_biadjacency(matrix)


def in_integers(matrix: Matrix) -> tuple[list[list[int]], int]:
    """The matrix times the returned common denominator; a float is the rational that it is."""
    exact = [[Fraction(value) for value in row] for row in matrix]
    common = lcm(*(value.denominator for row in exact for value in row))
    return [[int(value * common) for value in row] for row in exact], common


def truth(matrix: Matrix) -> Fraction:
    """The count by definition."""
    rows, common = in_integers(matrix)
    return Fraction(permanent(rows), common ** len(rows))


def edge_truth(matrix: Matrix) -> list[list[Fraction]]:
    """The sum over the matchings through each pair: all ways before it times all ways after it."""
    rows, common = in_integers(matrix)
    edges = [[(j, x) for j, x in enumerate(row) if x] for row in rows]
    through = [[0] * len(row) for row in rows]

    @cache
    def after(i: int, used: int) -> int:
        if i == len(rows):
            return 1
        return sum(x * after(i + 1, used | 1 << j) for j, x in edges[i] if not used >> j & 1)

    before = {0: 1}
    for i, row in enumerate(edges):
        reached: dict[int, int] = {}
        for used, plans in before.items():
            for j, x in row:
                if not used >> j & 1:
                    now = used | 1 << j
                    reached[now] = reached.get(now, 0) + plans * x
                    through[i][j] += plans * x * after(i + 1, now)
        before = reached
    return [[Fraction(value, common ** len(rows)) for value in row] for row in through]


def precise_log(value: Fraction | int) -> Decimal:
    """Natural logarithm to 60 digits; -Infinity for 0."""
    ratio = Fraction(value)
    if ratio == 0:
        return Decimal("-Infinity")
    numerator, denominator = (_PRECISE.ln(Decimal(x)) for x in ratio.as_integer_ratio())
    return _PRECISE.subtract(numerator, denominator)


def holds(result: am.Count, value: Fraction | int) -> bool:
    """Whether the interval of a result holds the true count; an exact one must be it."""
    if result.exact:
        return bool(result.value == value)
    return Decimal(result.low) <= precise_log(value) <= Decimal(result.high)


def dense(posterior: am.Posterior) -> npt.NDArray[np.float64]:
    probabilities: npt.NDArray[np.float64] = posterior.matrix.toarray()
    return probabilities


def worst_error(posterior: am.Posterior, through: list[list[Fraction]]) -> Fraction:
    """The largest error of the probabilities, exactly; what is impossible must have probability
    0.
    """
    worst = Fraction(0)
    for probabilities, row in zip(dense(posterior).tolist(), through, strict=True):
        total = sum(row)
        for probability, value in zip(probabilities, row, strict=True):
            assert value or not probability
            worst = max(worst, abs(Fraction(probability) - value / total))
    return worst
