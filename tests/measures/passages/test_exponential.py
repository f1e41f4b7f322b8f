"""The closed forms of one exponential mix against the graph that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.mixes.solvers.exponential import passage_count, passage_figures


@st.composite
def passages(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Arrivals and departures on whole seconds, so that there are ties; nobody leaves early."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=7))
    return [came for came, _ in pairs], [came + stayed for came, stayed in pairs]


def graph_of(arrivals: list[int], departures: list[int]) -> am.Graph:
    return am.Graph.from_biadjacency(np.less_equal.outer(arrivals, departures).astype(int))


@given(passages())
def test_figures_are_those_of_the_graph(times: tuple[list[int], list[int]]) -> None:
    arrivals, departures = times
    graph = graph_of(arrivals, departures)
    closed = passage_figures(arrivals, departures)
    counted = am.metrics(graph).user_figures

    assert passage_count(arrivals, departures).value == am.count(graph).value
    assert closed.degree.tolist() == counted.degree.tolist()
    assert closed.allowed.tolist() == counted.allowed.tolist()
    for name in ("shannon", "renyi2", "min_entropy", "effective", "probability"):
        mine, theirs = getattr(closed, name), getattr(counted, name)
        assert mine.value == pytest.approx(theirs.value, abs=1e-9)
        assert (mine.low <= theirs.high + 1e-12).all()
        assert (mine.high >= theirs.low - 1e-12).all()
    probabilities = am.posterior(graph).matrix.toarray()
    guessed = probabilities[np.arange(len(arrivals)), closed.guess]
    assert guessed == pytest.approx(closed.probability.value, abs=1e-9)


@given(passages(), st.integers(1, 3))
def test_lost_messages_are_places_that_nobody_tells_apart(
    times: tuple[list[int], list[int]], n_lost: int
) -> None:
    arrivals, departures = times
    remaining = departures[: max(len(departures) - n_lost, 0)]
    lost = len(departures) - len(remaining)
    fits = np.less_equal.outer(arrivals, [*remaining, *[10**6] * lost]).astype(int)
    graph = am.Graph.from_biadjacency(fits)
    if am.witness(graph) is not None:
        return
    probabilities = am.posterior(graph).matrix.toarray()
    pairs = probabilities[:, : len(remaining)]
    departed = pairs.sum(axis=1)
    some = departed > 1e-12
    given = pairs / np.where(some, departed, 1.0)[:, None]
    closed = passage_figures(arrivals, remaining)

    assert passage_count(arrivals, remaining).log == pytest.approx(
        am.count(graph).log - sum(np.log(np.arange(1, lost + 1))), abs=1e-9
    )
    assert closed.probability.value == pytest.approx(pairs.max(axis=1, initial=0.0), abs=1e-9)
    assert 2.0 ** -closed.renyi2.value[some] == pytest.approx(
        (given**2).sum(axis=1)[some], abs=1e-9
    )
    assert closed.surest.value[some] == pytest.approx(
        given.max(axis=1, initial=0.0)[some], abs=1e-9
    )
    assert closed.allowed.tolist() == (pairs > 1e-12).sum(axis=1).tolist()
    if lost:
        assert closed.departed == pytest.approx(departed, abs=1e-9)
        logs = np.log2(np.where(given > 1e-12, given, 1.0))
        assert closed.shannon.value == pytest.approx(-(given * logs).sum(axis=1), abs=1e-7)


def test_a_message_that_leaves_before_anybody_came_is_refused() -> None:
    with pytest.raises(InputError, match="leaves at 1"):
        passage_figures([2, 3], [1, 4])
