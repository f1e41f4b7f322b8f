"""Facts computed by other programs, kept in tests/golden/facts.json: integers as strings."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.strategies import Matrix, dense, graph_of, holds

import anonymatch as am

FACTS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "facts.json").read_text()
)


def facts(*kinds: str) -> pytest.MarkDecorator:
    """One test for each fact of these kinds, named by it."""
    chosen = [
        pytest.param(fact["input"], fact["expected"], id=fact["id"])
        for kind in kinds
        for fact in FACTS[kind]
    ]
    return pytest.mark.parametrize(("given", "expected"), chosen)


def rational(rows: list[list[str]]) -> Matrix:
    return [[Fraction(value) for value in row] for row in rows]


@facts("permanent", "permanent_zero", "permanent_structured")
def test_count(given: list[str], expected: str) -> None:
    result = am.count(am.Graph.from_rows(given))

    assert result.value == int(expected)
    assert (result.witness is None) == (int(expected) > 0)
    for method in ("frontier", "glynn") if len(given) < 20 else ("frontier",):
        assert am.count(am.Graph.from_rows(given), method=method).value == int(expected)


@facts("edge_counts")
def test_matchings_through_every_edge(given: list[str], expected: list[list[str]]) -> None:
    counts = am.posterior(am.Graph.from_rows(given)).counts.to_dense()

    assert counts.tolist() == [[int(value) for value in row] for row in expected]


@facts("first_minors")
def test_minors_of_every_pair_are_counts_without_it(
    given: list[str], expected: list[list[str]]
) -> None:
    graph = am.Graph.from_rows(given)
    everyone = np.arange(graph.n_users)
    for i, row in enumerate(expected):
        for j, value in enumerate(row):
            rest = graph.take(np.delete(everyone, i), np.delete(everyone, j))

            assert am.count(rest).value == int(value)


@facts("first_minors")
def test_minors_of_edges_are_the_matchings_through_them(
    given: list[str], expected: list[list[str]]
) -> None:
    graph = am.Graph.from_rows(given)
    if am.count(graph).value == 0:
        with pytest.raises(am.NoMatchingError):
            am.posterior(graph)
        return
    for method in ("auto", "frontier", "glynn"):
        counts = am.posterior(graph, method=method).counts.to_dense()
        cells = zip(given, expected, strict=True)

        assert counts.tolist() == [
            [int(bit) * int(value) for bit, value in zip(bits, row, strict=True)]
            for bits, row in cells
        ]


@facts("weighted_permanent")
def test_weighted_count(given: list[list[str]], expected: str) -> None:
    graph = graph_of(rational(given))

    assert am.count(graph, exact=True).value == Fraction(expected)
    assert holds(am.count(graph), Fraction(expected))


@facts("weighted_posterior")
def test_weighted_posterior(given: list[list[str]], expected: list[list[str]]) -> None:
    matrix = rational(given)
    graph = graph_of(matrix)
    counts = am.posterior(graph, exact=True).counts.to_dense()
    total = am.count(graph, exact=True).value

    assert (counts / total).tolist() == rational(expected)
    assert dense(am.posterior(graph)) == pytest.approx(
        np.array(rational(expected), dtype=float), rel=1e-13, abs=0
    )


@facts("bregman_bound")
def test_bregman_bound(given: list[int], expected: dict[str, str]) -> None:
    bound = am.bregman(given)

    assert bound == pytest.approx(float(expected["ln"]), rel=1e-14, abs=1e-15)
    floor = int(expected["floor"])
    assert floor * (1 - 1e-13) <= math.exp(bound) < floor + 1


@facts("restricted_permutations")
def test_permutations_that_avoid_some_fixed_points(given: dict[str, int], expected: str) -> None:
    size, forbidden = given["s"], given["forbidden"]
    everything = set(range(size))
    rows = [everything - {i} if i < forbidden else everything for i in range(size)]

    assert am.count(am.Graph.from_rows(rows, n_behaviours=size)).value == int(expected)


@facts("linked_pair")
def test_two_groups_linked_by_disjoint_edges(given: dict[str, int], expected: str) -> None:
    """Groups of p and q; u users of the first may also, each, have done one of the second's own."""
    p, q, u, v = (given[name] for name in "pquv")
    first = [{*range(p), *([p + i] if i < u else [])} for i in range(p)]
    second = [{*range(p, p + q), *([i] if i < v else [])} for i in range(q)]

    assert am.count(am.Graph.from_rows(first + second)).value == int(expected)
