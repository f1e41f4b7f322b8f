"""Graphs of logs and of passages: their matchings, their places for lost messages, their cost."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.test_observing import graph_of, log_of, matchings

import anonymatch as am
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.mixes.closed_forms import exponential_mix_count
from anonymatch.mixes.laws import Exponential
from anonymatch.mixes.logs.log_graph import exponential_graph
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.synthetic import synthesize


@given(st.integers(1, 9), st.integers(0, 10_000))
def test_exponential_closed_form_equals_its_graph(size: int, seed: int) -> None:
    log = replace(synthesize("exponential:3", messages=size, loss=0.2, seed=seed), lost=None)
    count = exponential_mix_count(log.arrivals, log.departures)
    graph = exponential_graph(log)
    lost = log.n_in - log.n_out

    assert am.count(graph, exact=True).value == count * math.factorial(lost)
    assert matchings(log, Exponential(3)) == count
    assert observe(log, Exponential(3)).lost == lost


def test_graphs_beyond_the_budget_are_refused() -> None:
    log = synthesize("exponential:3", messages=4000)

    with pytest.raises(BudgetError, match="edges would take"):
        exponential_graph(log, budget=am.Budget(memory=1e6))
    assert observe(log, "exponential:3", budget=0.0).passage is not None
    with pytest.raises(InputError, match="more messages leave than come in"):
        exponential_graph(log_of([0], [1, 2]))


def test_places_have_no_receiver_and_numbers_clash_with_no_name() -> None:
    log = log_of([0, 1, 9], [3, 4], senders=["ann", "ann", "ann #1"], receivers=["lost #1", "x"])
    observation = observe(log, "window:1,5")

    assert graph_of(observation).users == ("ann ##1", "ann ##2", "ann #1")
    assert graph_of(observation).behaviours == ("lost #1", "x", "lost ##1")
    assert observation.receivers == ("lost #1", "x", None)
