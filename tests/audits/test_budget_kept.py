"""Audits of graphs that are too wide for exact work keep their budget, and answer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am


@pytest.mark.grid
@pytest.mark.parametrize("budget", [0.5, 2.0])
def test_an_audit_of_a_wide_graph_keeps_its_budget(budget: float) -> None:
    """All stages together, in predicted seconds: each tells its own work from 0 on."""
    n, reach = 1000, 20
    edges = [(i, j) for i in range(n) for j in range(max(0, i - reach), min(n, i + reach + 1))]
    told = [(0.0, 0.0)]
    audit = am.audit(
        am.Graph.from_edges(edges), budget=budget, progress=lambda *work: told.append(work)
    )
    steps = [after[0] - before[0] for before, after in pairwise(told)]
    assert 0 < sum(step for step in steps if step > 0) <= 1.2 * budget
    assert audit.bits.high - audit.bits.low < 0.01


def wide_log(path: Path, messages: int) -> Path:
    """Messages that come 30 a second and stay in three hops, 5 seconds in all."""
    draws = np.random.default_rng(1)
    arrivals = np.cumsum(draws.exponential(1 / 30, messages))
    departures = np.sort(arrivals + draws.gamma(3.0, 5 / 3, messages))
    rows = [(t, f"in,u{i},") for i, t in enumerate(arrivals.tolist())]
    rows += [(t, f"out,,m{j}") for j, t in enumerate(departures.tolist())]
    lines = [f"{time:.6f},{rest}" for time, rest in sorted(rows)]
    path.write_text("\n".join(["time,direction,user,behaviour", *lines]) + "\n")
    return path


LAWS = ["erlang:3,1.6667", "lognormal:5,0.5774", "window:0,40"]


@pytest.mark.grid
@pytest.mark.parametrize("budget", [0.5, 3.0])
@pytest.mark.parametrize("law", LAWS)
def test_an_audit_of_a_wide_log_has_one_bar_and_keeps_its_budget(
    law: str, budget: float, tmp_path: Path
) -> None:
    """Its share never falls, from the first moment on, and work is what the budget allows."""
    told: list[tuple[float, float]] = []
    audit = am.audit(
        wide_log(tmp_path / "log.csv", 1000),
        law=law,
        budget=budget,
        progress=lambda *work: told.append(work),
    )
    shares = [done / total for done, total in told]

    assert told[0] == (0.0, budget)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[-1][1] <= 1.2 * budget
    assert 0.0 <= audit.bits.low < audit.bits.high


@pytest.mark.grid
@pytest.mark.parametrize("budget", [0.7, 2.0])
@pytest.mark.parametrize("law", ["lognormal:5,0.5", "erlang:3,1.6667"])
def test_an_audit_of_a_wide_log_with_losses_and_cover_keeps_its_budget(
    law: str, budget: float
) -> None:
    """In predicted seconds, of which the chain plans as many as it is left."""
    log = am.mixes.synthesize(law, messages=2500, rate=10.0, loss=0.02, cover=0.2, seed=1)
    told = [(0.0, 0.0)]
    audit = am.audit(
        am.mixes.observe(log, law), budget=budget, progress=lambda *work: told.append(work)
    )
    steps = [after[0] - before[0] for before, after in pairwise(told)]

    assert 0 < sum(step for step in steps if step > 0) <= 1.2 * budget
    assert audit.bits.high - audit.bits.low < 0.25 / budget


def test_tilts_only_fall_where_time_is_short_and_the_interval_still_holds(tmp_path: Path) -> None:
    path = wide_log(tmp_path / "log.csv", 600)
    short, long = (am.audit(path, law="window:0,40", budget=budget) for budget in (0.05, 20.0))

    assert short.bits.high - short.bits.low > 2 * (long.bits.high - long.bits.low)
    assert short.bits.low <= long.bits.value <= short.bits.high
