"""The chain reaction, against its definition: cross out what is certain until nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.graph import chain_reaction


def by_definition(rings: list[set[int]]) -> dict[int, int]:
    left = [set(ring) for ring in rings]
    told: dict[int, int] = {}
    while True:
        single = [k for k, ring in enumerate(left) if len(ring) == 1 and k not in told]
        if not single:
            return told
        for ring in single:
            told[ring] = next(iter(left[ring]))
        for k, members in enumerate(left):
            for one in single:
                if k != one:
                    members.discard(told[one])


@given(st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=3), min_size=1, max_size=7))
def test_it_is_that_of_the_definition(rings: list[set[int]]) -> None:
    graph = am.Graph.from_edges(
        [(k, member) for k, ring in enumerate(rings) for member in sorted(ring)],
        behaviours=range(8),
    )
    if am.witness(graph) is not None:
        with pytest.raises(am.NoMatchingError):
            chain_reaction(graph)
        return
    told, steps = chain_reaction(graph)
    wanted = by_definition(rings)

    assert {k: int(v) for k, v in enumerate(told) if v >= 0} == wanted
    assert ((steps > 0) == (told >= 0)).all()
    certain = dict(am.forced(graph))
    assert all(certain[ring] == output for ring, output in wanted.items())


def test_a_long_chain_takes_a_step_a_ring() -> None:
    number = 3000
    edges = [(0, 0), *((k, k - j) for k in range(1, number) for j in (0, 1))]
    told, steps = chain_reaction(am.Graph.from_edges(edges))

    assert told.tolist() == list(range(number))
    assert np.array_equal(steps, np.arange(1, number + 1))
