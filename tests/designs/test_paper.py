"""The paper's construction: its cases, its parts, its counts, small and huge."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from tests.designs.facts import TABLE, facts

from anonymatch.theory.designs import Design, design
from anonymatch.theory.designs.partition import equal_parts, layered, paper


def sizes_and_edges(result: Design) -> tuple[list[int], list[int]]:
    single = [part for part in result.parts for _ in range(part.number)]
    return [part.size for part in single], [part.edges for part in single]


@facts("H_paper")
def test_paper_construction(given: dict[str, int], expected: dict[str, object]) -> None:
    result = design(given["n"], given["m"], method="paper")

    assert result.case == expected["case"]
    assert [*sizes_and_edges(result)] == [expected["sizes"], expected["edges"]]
    assert result.spare == expected["spare"]
    assert str(result.count) == expected["matchings"]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['n']}-{row['m']}")
def test_paper_construction_of_up_to_seven_users(row: dict[str, object]) -> None:
    result = design(int(str(row["n"])), int(str(row["m"])), method="paper")
    sizes, edges = sizes_and_edges(result)

    assert result.case == row["case"]
    assert result.count == row["paper"]
    assert "+".join(map(str, sizes)) == row["sizes"]
    assert "+".join(map(str, edges)) == row["edges"]
    assert result.spare == row["spare"]
    assert result.attack == Fraction(str(row["attack_paper"]))
    assert result.proof.startswith("optimal") == (row["paper"] == row["true_max"])


@facts("H_paper_matrix")
def test_paper_matrix(given: dict[str, int], expected: dict[str, list[str]]) -> None:
    result = design(given["n"], given["m"], method="paper")

    assert result.graph(spare=False).to_rows() == expected["rows_without_spare"]
    assert result.graph().to_rows() == expected["rows_with_spare"]


@facts("H_paper_ln_huge")
def test_huge_paper_construction(given: dict[str, str], expected: dict[str, object]) -> None:
    result = design(int(given["n"]), int(given["m"]), method="paper")

    for name in ("case", "k", "r", "a", "b"):
        assert getattr(result, name) == expected[name]
    assert result.log == pytest.approx(float(str(expected["ln_matchings"])), rel=1e-15)
    ratio = float(str(expected["ln_ratio_to_bound"]))
    assert math.log(result.ratio) == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(60, 167), (61, 259), (60, 457), (70, 1250), (95, 1618)])
def test_beyond_the_cases_the_number_of_parts_is_the_best_of_all(n: int, m: int) -> None:
    """More than 48 users: only promising numbers of parts are tried; here all are."""
    result, _ = paper(n, m)
    every = {number: equal_parts(n, m, number).parts for number in range(1, n + 1)}
    best = max(
        (math.prod(part.shape.count() ** part.number for part in parts), number)
        for number, parts in every.items()
        if all(part.exact for part in parts)
    )

    assert design(n, m, method="paper").case == "ext"
    assert sum(part.number for part in result.parts) == best[1]
    assert math.prod(part.shape.count() ** part.number for part in result.parts) == best[0]


def test_dense_graphs_of_many_users_have_proven_bounds() -> None:
    result = design(1000, 600_000, method="paper")

    assert [part.shape for part in result.parts] == [layered(1000, 600_000)]
    assert (result.exact, result.count.exact, result.value, result.attack) == (
        False,
        False,
        None,
        None,
    )
    assert result.low < result.high <= result.bound
    assert "proven lower bounds" in result.note


def test_one_edge_a_user_exposes_everybody() -> None:
    result = design(5, 5, method="paper")

    assert (result.value, result.smallest_group) == (1, 1)
    assert "exposed" in result.note
