"""Annealing: it never loses, it is repeatable, and it finds what no closed form has."""

from __future__ import annotations

import pytest

import anonymatch as am
from anonymatch.theory.designs import design, polish


def test_polish_finds_what_no_closed_form_has() -> None:
    start = design(7, 34, method="paper").graph()
    result = polish(start, steps=4000, seed=1)

    assert am.count(start).value == 464
    assert am.count(result).value == 470
    assert result.n_edges == 34
    assert polish(start, steps=4000, seed=1) == result


def test_polish_against_attacks() -> None:
    start = design(4, 14, method="paper").graph()
    result = polish(start, objective="after_attack", steps=1000, seed=1)
    through = am.posterior(result).counts.to_dense().tolist()

    assert min(sum(v * v for v in row) for row in through) / sum(through[0]) == 4


def test_polish_keeps_names_and_what_cannot_be_moved() -> None:
    full = am.Graph.from_edges([(u, b) for u in "pq" for b in "xy"])

    assert polish(full) == full
    named = am.Graph.from_edges([("p", "x"), ("q", "y"), ("p", "y")])
    assert polish(named, steps=10).users == ("p", "q")
    empty = am.Graph.from_rows(["00", "00"])
    assert polish(empty) == empty


@pytest.mark.parametrize("graph", [am.complete(13), am.Graph.from_rows(["111", "111"])])
def test_polish_refuses_what_it_cannot_take(graph: am.Graph) -> None:
    with pytest.raises(am.InputError, match="up to 12 users and as many behaviours"):
        polish(graph)
