"""Facts computed by other programs, kept in tests/golden/attacks.json: rationals as strings."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.theory.attacks import adaptive, attack, exposures, reveals_needed

FACTS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "attacks.json").read_text()
)


def facts(kind: str) -> pytest.MarkDecorator:
    """One test for each fact of a kind, named by it."""
    chosen = [pytest.param(f["input"], f["expected"], id=f["id"]) for f in FACTS[kind]]
    return pytest.mark.parametrize(("given", "expected"), chosen)


def component(given: dict[str, int]) -> am.Graph:
    """A complete graph without some edges that share no user and no behaviour."""
    matrix = np.ones((given["s"], given["s"]), dtype=int)
    matrix[range(given["forbidden"]), range(given["forbidden"])] = 0
    return am.Graph.from_biadjacency(matrix)


@facts("attack")
def test_attack(given: dict[str, Any], expected: dict[str, Any] | None) -> None:
    graph = am.Graph.from_rows(given["rows"])
    if expected is None:
        with pytest.raises(am.NoMatchingError):
            attack(graph)
        return

    campaign, step = exposures(graph), attack(graph).steps[0]

    assert campaign.expected_left == [Fraction(value) for value in expected["per_user"]]
    assert list(campaign.best) == expected["best_users"] == list(step.ties)
    assert step.target == expected["best_users"][0]
    assert step.expected_left == Fraction(expected["best"])


@facts("max_attack_value")
def test_witness_of_the_largest_attack_value(given: dict[str, int], expected: Any) -> None:
    graph = am.Graph.from_rows(expected["witness"])

    assert (graph.n_users, graph.n_edges) == (given["n"], given["m"])
    assert attack(graph).steps[0].expected_left == Fraction(expected["value"])


@facts("multi_step_attack")
def test_several_steps(given: dict[str, Any], expected: dict[str, list[str]]) -> None:
    play = adaptive(am.Graph.from_rows(given["rows"]))

    assert [str(value) for value in play.optimal] == expected["optimal"]
    assert [str(value) for value in play.greedy] == expected["greedy"]


@facts("attack_component")
def test_users_of_a_component(given: dict[str, int], expected: dict[str, str | None]) -> None:
    left = exposures(component(given)).expected_left

    if expected["constrained_user"] is not None:
        assert left[0] == Fraction(expected["constrained_user"])
    if expected["full_user"] is not None:
        assert left[-1] == Fraction(expected["full_user"])


@facts("steps_to_full_deanonymisation")
def test_reveals_until_everybody_is_identified(given: dict[str, int], expected: str) -> None:
    assert reveals_needed(component(given)) == Fraction(expected)
