"""Reasons for identified users, and blocks as JSON, held to the library's own answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.strategies import Matrix, graph_of, matrices

import anonymatch as am
from anonymatch.audits import identification as module
from anonymatch.audits.identification import identified
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
