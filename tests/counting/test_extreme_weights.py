"""Weights from one end of the range of doubles to the other: proven errors hold all the same."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from tests.strategies import Matrix, edge_truth, graph_of, holds, truth, worst_error

import anonymatch as am
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.counting.exact import EXACT

Draws = np.random.Generator

LEAST, MOST = 5e-324, 1.7976931348623157e308
ENDS = (LEAST, 1e-308, 2.2e-308, 2.3e-308, 1e-200, 1.0, 1e200, 1e308, 1.7e308, MOST)
RANGES = ((-1074, 1024), (-1074, -1000), (1000, 1024), (-60, 60))  # binary exponents


def weight(draws: Draws, kind: int) -> float:
    if kind == len(RANGES):
        return float(draws.choice(ENDS))
    exponent = int(draws.integers(*RANGES[kind]))
    return max(LEAST, float(np.ldexp(draws.uniform(1, 2), exponent)))


def support(draws: Draws) -> npt.NDArray[np.bool_]:
    """A graph with a perfect matching: sparse to full, often a band or with spare behaviours."""
    n = int(draws.integers(1, 6))
    m = n + int(draws.choice([0, 0, 1, 2, 4]))
    mask: npt.NDArray[np.bool_] = draws.random((n, m)) < draws.choice([0.4, 0.7, 1.0])
    if draws.random() < 0.5:
        starts = np.sort(draws.integers(0, m, n))
        stops = np.maximum(np.sort(starts + draws.integers(1, 6, n)), starts + 1)
        mask = (np.arange(m) >= starts[:, None]) & (np.arange(m) < stops[:, None])
    mask[np.arange(n), draws.permutation(m)[:n]] = True
    return mask


def matrix_of(seed: int) -> Matrix:
    draws = np.random.default_rng([seed, 5])
    kind = int(draws.integers(len(RANGES) + 1))
    mask = support(draws)
    if seed % 3 == 0:  # users who are alike, two by two
        rows: Matrix = [[weight(draws, kind) for _ in row] for row in mask]
        return [rows[i // 2] for i in range(len(rows))]
    return [[weight(draws, kind) if cell else 0 for cell in row] for row in mask]


def shuffled(matrix: Matrix, seed: int) -> am.Graph:
    """The same graph from named edges in another order, and so behaviours in another order."""
    edges = [
        (f"u{i}", f"b{j}", float(w)) for i, row in enumerate(matrix) for j, w in enumerate(row) if w
    ]
    order = np.random.default_rng(seed).permutation(len(edges))
    return am.Graph.from_edges([edges[k] for k in order])


def named_error(posterior: am.Posterior, through: list[list[Fraction]]) -> Fraction:
    return max(
        abs(Fraction(probability) - row[int(str(name)[1:])] / sum(row))
        for i, row in enumerate(through)
        for name, probability in posterior[f"u{i}"].items()
    )


def answers(graph: am.Graph, method: str) -> tuple[am.Posterior, am.Count] | None:
    """Probabilities and count without one warning; None if the method is not for such a block."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return am.posterior(graph, method=method), am.count(graph, method=method)
        except am.InputError as problem:
            if "does not apply" in str(problem):
                return None
            raise


@pytest.mark.grid
@pytest.mark.parametrize("method", ["auto", *EXACT.names])
def test_probabilities_and_counts_hold_their_proven_errors_over_the_whole_range(
    method: str,
) -> None:
    """80 graphs against exact fractions, in two orders of behaviours, without one warning."""
    checked = 0
    for seed in range(80):
        matrix = matrix_of(seed)
        through, total = edge_truth(matrix), truth(matrix)
        for graph in (graph_of(matrix), shuffled(matrix, seed)):
            answer = answers(graph, method)
            if answer is None:
                continue
            posterior, count = answer
            named = isinstance(graph.users[0], str)
            error = named_error(posterior, through) if named else worst_error(posterior, through)
            assert np.isfinite(posterior.probabilities).all()
            assert error <= Fraction(posterior.error), seed
            assert math.isfinite(count.log)
            assert holds(count, total), seed
            checked += 1

    assert checked > 20 or method in ("closed_form", "contract", "low_rank", "ryser")


@pytest.mark.parametrize(
    ("matrix", "probabilities"),
    [
        ([[1e308, 1e308, 1.0]], [0.5, 0.5, 0.0]),
        ([[1.7e308, 1e308, 2.2e-308]], [17 / 27, 10 / 27, 0.0]),
        ([[LEAST, 3 * LEAST]], [0.25, 0.75]),
        ([[0, LEAST, LEAST], [1.7e308, 2.2e-308, 0]], [0.5, 0.5, 1.0, 0.0]),
    ],
)
def test_one_row_may_have_the_largest_and_the_least_weight(
    matrix: Matrix, probabilities: list[float]
) -> None:
    for method in ("auto", "band", "frontier"):
        assert am.posterior(graph_of(matrix), method=method).probabilities == pytest.approx(
            probabilities
        )


@pytest.mark.slow
def test_a_long_weighted_band_always_has_proven_bounds() -> None:
    """Sinkhorn's scaling is too slow for it: then one matching bounds the count from below."""
    n = 500
    draws = np.random.default_rng(1)
    came = np.sort(draws.uniform(0, 100, n))
    left = np.sort(came + draws.gamma(3, 0.5, n))
    delays = left[None, :] - came[:, None]
    fits = (delays > 0) & (delays < 12)
    weights = np.where(fits, np.maximum(delays, 1e-9) ** 2 * np.exp(-delays / 0.5), 0.0)
    reduced = reduce(am.Graph.from_biadjacency(weights), exact=False)
    block = reduced.block(int(np.argmax(reduced.sizes()[2])))

    low, high = block_bounds(block, 0.5)

    assert math.isfinite(low)
    assert low <= high < math.inf
    count = am.count(am.Graph.from_biadjacency(weights), budget=0)
    assert all(math.isfinite(end) for end in (count.log, count.low, count.high, *count.proven))
