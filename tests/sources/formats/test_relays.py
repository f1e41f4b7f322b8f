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
from anonymatch.mixes.formats import relays as relays_module
from anonymatch.mixes.formats.relays import path_counts, path_graph, relay_graph, relay_weights

FACTS: list[dict[str, Any]] = json.loads(
    Path(__file__).parents[2].joinpath("golden", "measures.json").read_text()
)["relays"]
LINKS: list[tuple[str, str]] = [(a, b) for a, b in FACTS[0]["links"]]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["id"])
def test_known_weights(fact: dict[str, Any]) -> None:
    links = [(a, b) for a, b in fact["links"]]
    weights = relay_weights(links, entry=fact["entry"], exits=fact["exits"], relays=fact["relays"])

    assert weights == [Fraction(value) for value in fact["expected"]]


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
    counts = path_counts(links, entry=(0, 0), relays=5)

    assert set(counts.values()) == {40**3}
    assert len(counts) == 40


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


def walk_list(links: set[tuple[int, int]], first: int, relays: int, *, repeat: bool) -> list[Any]:
    """Every walk, or every path, as a tuple of its relays."""
    walks: list[tuple[int, ...]] = [(first,)]
    for _ in range(relays - 1):
        walks = [
            (*walk, end)
            for walk in walks
            for begin, end in links
            if begin == walk[-1] and begin != end and (repeat or end not in walk)
        ]
    return walks


@given(
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=18),
    st.integers(1, 5),
    st.booleans(),
    st.lists(st.sampled_from([0, 1, 3, 0.1, "2/7", 10**25]), min_size=6, max_size=6),
)
def test_weights_are_those_of_a_list(
    links: set[tuple[int, int]], relays: int, repeat: bool, wide: list[Any]
) -> None:
    """10^25 is beyond 64 bits; 0.1 is a tenth."""
    bandwidth = {relay: wide[relay] for relay in range(6)}
    exact = {relay: Fraction(str(value)) for relay, value in bandwidth.items()}
    ends = sorted({end for link in links for end in link})
    behaviours = {"x": ends[0], "y": ends[-1], "z": ends[-1]}
    expected: dict[tuple[str, str], Fraction] = {}
    for entry in ends:
        weights = dict.fromkeys(behaviours, Fraction(0))
        for walk in walk_list(links, entry, relays, repeat=repeat):
            weight = Fraction(1)
            for relay in walk[1:]:
                weight *= exact[relay]
            at_end = [name for name, exit_relay in behaviours.items() if exit_relay == walk[-1]]
            for name in at_end:
                weights[name] += weight / len(at_end)
        total = sum(weights.values())
        if not total:
            with pytest.raises(am.InputError, match="no path of"):
                path_graph(
                    links, users={"u": entry}, behaviours=behaviours, relays=relays,
                    repeat=repeat, bandwidth=bandwidth,
                )  # fmt: skip
            return
        expected |= {(f"u{entry}", name): w / total for name, w in weights.items() if w}
    graph = path_graph(
        sorted(links),
        users={f"u{entry}": entry for entry in ends},
        behaviours=behaviours,
        relays=relays,
        repeat=repeat,
        bandwidth=bandwidth,
    )

    assert {edge[:2]: edge[2] if len(edge) > 2 else 1 for edge in graph.to_edges()} == expected


def test_many_users_share_the_row_of_their_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the edges that stay exact, weights are the same to a rounding."""
    layers = [[(layer, k) for k in range(6)] for layer in range(3)]
    links = [
        (one, two)
        for left, right in pairwise(layers)
        for one, two in product(left, right)
        if (one[1] * two[1]) % 5 != 1
    ]
    users = {f"u{k}": layers[0][k % 6] for k in range(40)}
    behaviours = {f"b{k}": layers[2][k % 5] for k in range(40)}
    exact = path_graph(links, users=users, behaviours=behaviours)
    monkeypatch.setattr(relays_module, "EXACT_EDGES", 10)
    rough = path_graph(links, users=users, behaviours=behaviours)

    assert exact.rounded
    assert not rough.rounded
    assert exact.indices.tolist() == rough.indices.tolist()
    assert exact.weights is not None
    assert rough.weights is not None
    assert rough.weights == pytest.approx(exact.weights, rel=1e-14)


@pytest.mark.parametrize(
    ("bandwidth", "says"),
    [
        ({"T": 1}, "has no bandwidth"),
        (dict.fromkeys("TBM", 1) | {"E1": -1, "E2": 1}, "relay 'E1' has the bandwidth -1"),
        (dict.fromkeys("TBM", 1) | {"E1": float("nan"), "E2": 1}, "has the bandwidth nan"),
        (dict.fromkeys("TBM", 1) | {"E1": "wide", "E2": 1}, "has the bandwidth 'wide'"),
        (dict.fromkeys("TBM", 1) | {"E1": True, "E2": 1}, "has the bandwidth True"),
        (dict.fromkeys("TBM", 1) | {"E1": 0, "E2": 0}, "no path of 3 relays"),
    ],
)
def test_bad_bandwidths_are_named(bandwidth: dict[str, Any], says: str) -> None:
    relays = {relay for link in LINKS for relay in link}
    bandwidth = {relay: bandwidth[relay] for relay in relays if relay in bandwidth}
    with pytest.raises(am.InputError, match=says):
        relay_graph(LINKS, users={"a": "T"}, exits={"E1": 1, "E2": 1}, bandwidth=bandwidth)


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=20),
    st.lists(st.integers(0, 5), min_size=5, max_size=5),
    st.integers(1, 4),
    st.booleans(),
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=3, max_size=3),
)
def test_several_entries_and_exits_are_those_of_a_list_of_all_ways(
    links: set[tuple[int, int]],
    widths: list[int],
    relays: int,
    repeat: bool,
    groups: list[list[int]],
) -> None:
    """A way weighs the product of the bandwidths of its relays; a single entry is given."""
    links |= {(k, (k + 1) % 5) for k in range(5)}
    entered, *left = groups
    ways = [0, 0]
    choices = product(range(5), repeat=relays) if repeat else permutations(range(5), relays)
    for way in choices:
        if way[0] not in entered or any(a == b or (a, b) not in links for a, b in pairwise(way)):
            continue
        counted = way if len(set(entered)) > 1 else way[1:]
        weight = 1
        for relay in counted:
            weight *= widths[relay]
        for at, group in enumerate(left):
            ways[at] += weight * (way[-1] in group)
    wanted = [Fraction(number, max(sum(ways), 1)) for number in ways]
    if set(left[0]) == set(left[1]):
        wanted = [Fraction(1, 2) if any(ways) else Fraction(0)] * 2
    arguments: dict[str, Any] = {
        "users": {"u": entered},
        "behaviours": {"v": left[0], "w": left[1]},
        "relays": relays,
        "repeat": repeat,
        "bandwidth": dict(enumerate(widths)),
    }
    if not any(ways):
        with pytest.raises(am.InputError, match="no path of"):
            path_graph(sorted(links), **arguments)
        return
    graph = path_graph(sorted(links), **arguments)
    edges = {edge[1]: Fraction(edge[2] if len(edge) > 2 else 1) for edge in graph.to_edges()}
    assert [edges.get(name, Fraction(0)) for name in "vw"] == wanted
