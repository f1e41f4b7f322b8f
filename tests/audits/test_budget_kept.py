"""Audits of graphs that are too wide for exact work keep their budget, and answer."""

from __future__ import annotations

from itertools import pairwise

import pytest

import anonymatch as am


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
