"""Weights from relay topologies, against a list of all paths."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.sources.relays import path_counts, relay_graph, relay_weights

FACTS: list[dict[str, Any]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "measures.json").read_text()
)["relays"]
LINKS: list[tuple[str, str]] = [(a, b) for a, b in FACTS[0]["links"]]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["id"])
def test_known_weights(fact: dict[str, Any]) -> None:
    links = [(a, b) for a, b in fact["links"]]
    found = relay_weights(links, entry=fact["entry"], exits=fact["exits"], relays=fact["relays"])

    assert found == [Fraction(value) for value in fact["expected"]]


def test_matching_all_users_changes_what_paths_alone_say() -> None:
    users = {"alice": "T", "bob": "T", "cem": "B", "dan": "B"}
    graph = relay_graph(LINKS, users=users, exits={"E1": 2, "E2": 2})
    total = am.count(graph, exact=True).value
    through = am.posterior(graph, exact=True).counts["alice"]

    assert total == Fraction(11, 108)
    assert [value / total for value in through.values()] == [
        Fraction(4, 11),
        Fraction(4, 11),
        Fraction(3, 22),
        Fraction(3, 22),
    ]
    assert graph.behaviours == (("E1", 0), ("E1", 1), ("E2", 0), ("E2", 1))


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30), st.integers(1, 6))
def test_paths_are_those_of_a_list(links: set[tuple[int, int]], relays: int) -> None:
    links |= {(0, 1)}
    expected: dict[int, int] = {}
    for rest in permutations(range(1, 7), relays - 1):
        path = (0, *rest)
        if all(link in links for link in pairwise(path)):
            expected[path[-1]] = expected.get(path[-1], 0) + 1

    assert path_counts(sorted(links), entry=0, relays=relays) == expected


def test_layers_of_a_stratified_network_are_counted_at_once() -> None:
    """Five layers of forty: 40^4 paths from the entry, none of them listed."""
    layers = [[(layer, k) for k in range(40)] for layer in range(5)]
    links = [link for one, two in pairwise(layers) for link in product(one, two)]
    found = path_counts(links, entry=(0, 0), relays=5)

    assert set(found.values()) == {40**3}
    assert len(found) == 40


def test_paths_through_cycles_have_a_budget() -> None:
    links = list(permutations(range(30), 2))
    with pytest.raises(am.BudgetError, match="paths of 8 different relays"):
        path_counts(links, entry=0, relays=8, budget=1.0)


def test_an_exit_without_behaviours_does_not_weigh() -> None:
    assert relay_weights(LINKS, entry="T", exits={"E1": 3, "E2": 0}) == [Fraction(1, 3)] * 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"entry": "Z"}, "entry 'Z' is on no link"),
        ({"exits": {"Z": 1}}, "exit 'Z' is on no link"),
        ({"exits": {"E1": -1}}, "exit 'E1' has -1 behaviours"),
        ({"relays": 0}, "relays must be"),
        ({"relays": 5}, "no path of 5 relays leads from 'T'"),
        ({"links": [("T",)]}, "give pairs of relays"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"links": LINKS, "entry": "T", "exits": {"E1": 1}} | change
    with pytest.raises(am.InputError, match=says):
        relay_weights(given.pop("links"), **given)
