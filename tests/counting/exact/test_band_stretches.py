"""Bands in stretches of rows: the same answers as in one run, recorded on the way."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.counting.exact.test_band import blocks, log_band, plan_of
from tests.strategies import graph_of

import anonymatch as am
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuned
from anonymatch.counting.exact.band import BandOrdering, LongBand
from anonymatch.running.budget import Execution

anyhow = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def short() -> Iterator[None]:
    """Stretches of a row or two, however short the work."""
    with tuned(
        band_stretch=1e-9,
        band_bytes_a_second=1e18,
        band_counts_from=0.0,
        band_probabilities_from=0.0,
    ):
        yield


def long_band(block: Block) -> LongBand:
    return LongBand(plan_of(block), 2.0**30, Execution())


@anyhow
@given(blocks(weighted=False))
def test_counts_are_those_of_one_run(short: None, block: Block) -> None:
    assert long_band(block).count().total == plan_of(block).count().total


@anyhow
@given(blocks(weighted=True, users=30))
def test_probabilities_are_those_of_one_run_bit_by_bit(short: None, block: Block) -> None:
    long, whole = long_band(block), plan_of(block).probabilities(0.0)
    assume(long.price_of_probabilities() is not None)
    result, real = long.probabilities(2.0**30), long.real()

    assert whole is not None
    assert result is not None
    assert real is not None
    assert result.probabilities is not None
    assert whole.probabilities is not None
    assert np.array_equal(result.probabilities, whole.probabilities)
    assert abs(result.log - whole.log) <= 2 * plan_of(block).log_error + 2.0**-50 * abs(whole.log)
    assert abs(real.log - whole.log) <= 2 * plan_of(block).log_error + 2.0**-50 * abs(whole.log)


def test_long_bands_are_cut_where_layers_are_small() -> None:
    plan = largest_block(log_band(3000, 9.0, seed=2))
    long = LongBand(plan, 2.0**30, Execution())
    with tuned(
        band_probabilities_from=0.0, band_stretch=plan.seconds / 8, band_bytes_a_second=1e18
    ):
        stretches, states = long._stretches(), long._rows.states
        price = long.price_of_probabilities()
    borders = [int(states[one.last]) for one in stretches[:-1]]

    assert [one.first for one in stretches[1:]] == [one.last for one in stretches[:-1]]
    assert (stretches[0].first, stretches[-1].last) == (0, len(states) - 1)
    assert 5 <= len(stretches) <= 8
    assert np.mean(borders) < 0.5 * np.average(states[1:], weights=long._rows.seconds)
    assert price is not None
    assert plan.edges_seconds < price.seconds < plan.edges_seconds + 2 * plan.seconds


def largest_block(graph: am.Graph) -> BandOrdering:
    part = max(am.blocks(graph), key=lambda block: block.n_users).graph()
    return plan_of(Block(part.n_users, part.n_behaviours, part.indptr, part.indices))


@pytest.mark.parametrize("call", [am.count, am.posterior])
def test_a_second_session_computes_nothing_again(short: None, call: object, tmp_path: Path) -> None:
    graph = log_band(60, 5.0, seed=3)
    ask = partial(am.count if call is am.count else am.posterior, method="band")
    here = _figures(ask(graph))
    as_if_long = tuned(band_real=4e-5, band_digit=4.5e-5, band_probabilities=1.5e-4)
    with as_if_long:  # what takes no time is not recorded
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
    count, other = am.count(graph, method="band"), am.count(graph, method="frontier")

    assert "in stretches" in str(count.plan)
    assert count.log == pytest.approx(other.log, abs=1e-9)
    assert am.posterior(graph, method="band").probabilities == pytest.approx(
        am.posterior(graph, method="frontier").probabilities, abs=1e-12
    )


def test_too_little_memory_for_stretches_leaves_one_run(short: None) -> None:
    plan = largest_block(log_band(60, 5.0, seed=2))

    assert LongBand(plan, 6.9 * plan.words_memory, Execution()).price_of_count() is None
    assert LongBand(plan, 7.1 * plan.words_memory, Execution()).price_of_count() is not None
