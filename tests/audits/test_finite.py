"""No figure of an audit is ever NaN or infinite: it is a number, or null if it is not known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.base.interval import Interval
from anonymatch.mixes.formats.message_files import write_messages
from anonymatch.mixes.synthetic import synthesize

FIGURES = ("bits", "degree", "below")


def numbers(value: Any) -> list[float]:
    """All floats in plain values."""
    if isinstance(value, dict):
        return [x for each in value.values() for x in numbers(each)]
    if isinstance(value, list | tuple):
        return [x for each in value for x in numbers(each)]
    return [value] if isinstance(value, float) else []


def assert_finite(audit: am.Audit) -> None:
    assert all(math.isfinite(x) for x in numbers(audit.to_dict()))
    json.dumps(audit.to_dict(), allow_nan=False)
    count = audit.count
    assert all(math.isfinite(x) for x in (count.log, count.low, count.high, *count.proven))
    for name in FIGURES:
        figure = getattr(audit, name)
        assert isinstance(figure, Interval)
        assert all(math.isfinite(x) for x in (figure.value, figure.low, figure.high))
        assert figure.low <= figure.value <= figure.high
    table = audit.users
    for column in table.columns:
        values = table[column]
        if values.dtype.is_float():
            assert values.drop_nulls().is_finite().all(), column


def random_graph(seed: int) -> am.Graph:
    draws = np.random.default_rng([seed, 3])
    n = int(draws.integers(1, 40))
    m = n + int(draws.choice([0, 0, 3]))
    mask = draws.random((n, m)) < draws.choice([0.1, 0.4, 1.0])
    mask[np.arange(n), draws.permutation(m)[:n]] = True
    spread = draws.choice([0.0, 1.0, 6.0, 60.0, 200.0])
    logs = draws.normal(0, spread, (n, m)).clip(-740, 700)
    return am.Graph.from_biadjacency(np.where(mask, np.exp(logs), 0.0))


@pytest.mark.grid
@pytest.mark.parametrize("budget", [0, 0.01, 0.5])
def test_every_number_of_audits_of_random_graphs_is_finite(budget: float) -> None:
    for seed in range(8):
        assert_finite(am.audit(random_graph(seed), steps=1, budget=budget))


@pytest.mark.grid
@pytest.mark.parametrize("law", ["erlang:3,0.27", "window:0,3", "exponential:2"])
@pytest.mark.parametrize("rate", [1.0, 12.0])
def test_every_number_of_audits_of_logs_is_finite(tmp_path: Path, law: str, rate: float) -> None:
    log = synthesize(law, messages=400, rate=rate, seed=1)
    write_messages(log, tmp_path / "log.csv")

    assert_finite(am.audit(tmp_path / "log.csv", law=law, steps=1, budget=5))


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 0.5])
def test_delays_as_weights_leave_every_number_finite(budget: float) -> None:
    """A long log as a graph with weights: no scaling of them converges soon."""
    draws = np.random.default_rng(1)
    came = np.sort(draws.uniform(0, 33, 400))
    left = np.sort(came + draws.gamma(3, 0.27, 400))
    delays = left[None, :] - came[:, None]
    fits = (delays > 0) & (delays < 7.2)
    weights = np.where(fits, np.maximum(delays, 1e-9) ** 2 * np.exp(-delays / 0.27), 0.0)

    assert_finite(am.audit(am.Graph.from_biadjacency(weights), steps=1, budget=budget))
