"""Reasons for identified users, and blocks as JSON, held to the library's own answers."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations

import pytest
from hypothesis import given
from tests.strategies import Matrix, graph_of, matrices

import anonymatch as am
import anonymatch.audits.worst as module
from anonymatch.audits.worst import identified
from anonymatch.base.text import names
from anonymatch.cli import json_output


@given(matrices(users=(1, 8), spare=2, matched=True))
def test_rivals_are_the_witness_without_the_pair(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    for pair in identified(graph):
        others = am.Graph.from_edges(
            [edge for edge in graph.to_edges() if edge != (pair.user, pair.behaviour)],
            users=graph.users,
            behaviours=graph.behaviours,
        )
        why = am.witness(others)

        assert why is not None
        assert pair.user in why.users
        rivals = [user for user in why.users if user != pair.user]
        if pair.reason.startswith("what else"):
            assert f"needed by {names(rivals)}, who" in pair.reason


@given(matrices(users=(1, 8), matched=True))
def test_where_rivals_are_many_fewer_behaviours_tell_why(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_NAMED", 1)
        pairs = identified(graph)
    for pair in pairs:
        if not pair.reason.startswith("who else"):
            continue
        fitted = {b: {u for u, c, *_ in graph.to_edges() if c == b} for b in graph.behaviours}
        needs = set(_closed(fitted, pair.user, pair.behaviour))
        shown = names(sorted(needs, key=graph.behaviour_index)[:1], total=len(needs))
        assert f"is needed for {shown}, which nobody else fits" in pair.reason
        # As many others fit them as they are, so that nobody of these is left for the pair.
        assert len(set.union(*(fitted[b] for b in needs))) == len(needs)
        assert fitted[pair.behaviour] - {pair.user} <= set.union(*(fitted[b] for b in needs))


def _closed(
    fitted: dict[Hashable, set[Hashable]], user: Hashable, behaviour: Hashable
) -> tuple[Hashable, ...]:
    """The fewest behaviours that need all others who fit this one."""
    others = [one for one in fitted if one != behaviour]
    for size in range(1, len(others) + 1):
        for some in combinations(others, size):
            people = set.union(*(fitted[one] for one in some))
            if len(people) == size and fitted[behaviour] - {user} <= people:
                return some
    raise AssertionError("no such set")


def test_people_who_may_be_left_out_do_not_hide_why_a_row_is_certain() -> None:
    # Seven people and three rows: four are left out, which is all that the last columns say.
    rows = ["101", "110", "001", "001", "001", "001", "001"]
    graph = am.Graph.from_rows([f"{row}1111" for row in rows])

    reasons = [pair.reason for pair in identified(graph)]

    assert reasons == [
        "who else fits 0 is needed for 1, which nobody else fits",
        "nobody else fits 1",
    ]


def test_searches_end_when_they_have_cost_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WORK", 5)
    rows = ["110000", "110000", "011000", "000110", "000110", "000011"]
    graph = am.Graph.from_rows([f"{row}0" for row in rows])  # one behaviour is spare

    first, last = (pair.reason for pair in identified(graph))

    assert first == "what else fits is needed by 0, 1, who fit nothing else"
    assert last == "what else fits is needed by others, who fit nothing else"


@given(matrices(users=(1, 8), spare=2, matched=True))
def test_the_record_of_blocks_is_what_the_library_says(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    record = json_output.blocks_record(graph, identified(graph))

    assert record["blocks"] == [
        {"users": [*b.users], "behaviours": [*b.behaviours], "n_edges": b.n_edges}
        for b in am.blocks(graph)
    ]
    assert record["forced_share"] == len(am.forced(graph)) / graph.n_users
