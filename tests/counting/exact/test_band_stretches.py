"""Bands in stretches of rows: the same answers as in one run, recorded on the way."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.counting.exact.test_band import blocks, log_band, way_of
from tests.strategies import graph_of

import anonymatch as am
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.exact import band_stretches
from anonymatch.counting.exact.band import BandPlan
from anonymatch.counting.exact.band_stretches import LongBand
from anonymatch.running.budget import Execution

anyhow = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of a row or two, however short the work."""
    monkeypatch.setattr(band_stretches, "_STRETCH", 1e-9)
    monkeypatch.setattr(band_stretches, "_BYTES_A_SECOND", 1e18)
    monkeypatch.setattr(band_stretches, "_COUNTS_FROM", 0.0)
    monkeypatch.setattr(band_stretches, "_CHANCES_FROM", 0.0)


def long_band(block: Block) -> LongBand:
    return LongBand(way_of(block), 2.0**30, Execution())


@anyhow
@given(blocks(weighted=False))
def test_counts_are_those_of_one_run(short: None, block: Block) -> None:
    assert long_band(block).count().total == way_of(block).count().total


@anyhow
@given(blocks(weighted=True, users=30))
def test_probabilities_are_those_of_one_run_bit_by_bit(short: None, block: Block) -> None:
    long, whole = long_band(block), way_of(block).probabilities(0.0)
    assume(long.price_of_probabilities() is not None)
    found, real = long.probabilities(2.0**30), long.real()

    assert whole is not None
    assert found is not None
    assert real is not None
    assert found.probabilities is not None
    assert whole.probabilities is not None
    assert np.array_equal(found.probabilities, whole.probabilities)
    assert abs(found.log - whole.log) <= 2 * way_of(block).log_error + 2.0**-50 * abs(whole.log)
    assert abs(real.log - whole.log) <= 2 * way_of(block).log_error + 2.0**-50 * abs(whole.log)


def test_long_bands_are_cut_where_layers_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    way = largest_block(log_band(3000, 9.0, seed=2))
    monkeypatch.setattr(band_stretches, "_CHANCES_FROM", 0.0)
    monkeypatch.setattr(band_stretches, "_STRETCH", way.seconds / 8)
    monkeypatch.setattr(band_stretches, "_BYTES_A_SECOND", 1e18)
    long = LongBand(way, 2.0**30, Execution())
    stretches, states = long._stretches(), long._rows.states
    borders = [int(states[one.last]) for one in stretches[:-1]]

    assert [one.first for one in stretches[1:]] == [one.last for one in stretches[:-1]]
    assert (stretches[0].first, stretches[-1].last) == (0, len(states) - 1)
    assert 5 <= len(stretches) <= 8
    assert np.mean(borders) < 0.5 * np.average(states[1:], weights=long._rows.seconds)
    price = long.price_of_probabilities()
    assert price is not None
    assert way.edges_seconds < price.seconds < way.edges_seconds + 2 * way.seconds


def largest_block(graph: am.Graph) -> BandPlan:
    part = max(am.blocks(graph), key=lambda block: block.n_users).graph()
    return way_of(Block(part.n_users, part.n_behaviours, part.indptr, part.indices))


@pytest.mark.parametrize("call", [am.count, am.posterior])
def test_a_second_session_computes_nothing_again(
    short: None, call: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.running.budget._RECORDS_PAY_FROM", 0.0)
    graph = log_band(60, 5.0, seed=3)
    ask = am.count if call is am.count else am.posterior
    here = _figures(ask(graph))
    with am.Checkpoint(tmp_path / "run.sqlite", graph) as run:
        first = _figures(ask(graph, executor=run))
        chunks = run.computed
    with am.Checkpoint(tmp_path / "run.sqlite", graph) as run:
        again = _figures(ask(graph, executor=run))
        assert run.computed == 0
        assert run.taken == chunks

    assert chunks > 10
    assert first == again == here


def _figures(answer: am.Count | am.Posterior) -> object:
    return answer.value if isinstance(answer, am.Count) else answer.probabilities.tobytes()


def test_answers_are_the_same_in_other_processes(short: None) -> None:
    graph = log_band(60, 5.0, seed=2)
    here, probabilities = am.count(graph), am.posterior(graph).probabilities
    with ProcessPoolExecutor(2) as executor:
        assert am.count(graph, executor=executor).value == here.value
        assert (am.posterior(graph, executor=executor).probabilities == probabilities).all()


def test_weights_that_spread_too_far_go_another_way(short: None) -> None:
    rows = [
        [10.0 ** (60 * (-1) ** (i + j)) if 0 <= j - i + 2 < 5 else 0 for j in range(30)]
        for i in range(30)
    ]
    graph = graph_of(rows)
    found, other = am.count(graph, method="band"), am.count(graph, method="frontier")

    assert "in stretches" in str(found.plan)
    assert found.log == pytest.approx(other.log, abs=1e-9)
    assert am.posterior(graph, method="band").probabilities == pytest.approx(
        am.posterior(graph, method="frontier").probabilities, abs=1e-12
    )


def test_too_little_memory_for_stretches_leaves_one_run(short: None) -> None:
    way = largest_block(log_band(60, 5.0, seed=2))

    assert LongBand(way, 6.9 * way.words_memory, Execution()).price_of_count() is None
    assert LongBand(way, 7.1 * way.words_memory, Execution()).price_of_count() is not None
