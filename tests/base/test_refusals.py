"""Refusals keep their structure: what it would cost, and what to give instead."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch import cli
from anonymatch.base.text import Argument
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option
from anonymatch.counting.exact import EXACT, Method

HARD = am.random_regular(26, 8, seed=1)


def refused(graph: am.Graph, budget: am.Budget | float) -> am.BudgetError:
    with pytest.raises(am.BudgetError) as caught:
        am.count(graph, exact=True, budget=budget)
    return caught.value


def test_a_refusal_carries_its_cost_and_the_budget_that_would_do() -> None:
    error = refused(HARD, 0.001)
    (remedy,) = error.instead

    assert error.cost == (error.seconds, error.memory)
    assert 0.001 < error.cost.seconds < math.inf
    assert isinstance(remedy, Argument)
    assert remedy.name == "budget"
    assert float(repr(remedy.value)) >= error.cost.seconds
    assert am.count(HARD, exact=True, budget=float(repr(remedy.value))).exact


def test_a_refusal_names_further_remedies_as_arguments() -> None:
    with pytest.raises(am.BudgetError) as caught:
        am.attack(am.random_regular(30, 4, seed=2), steps=3, samples=10_000, budget=2)
    budget, samples = caught.value.instead

    assert isinstance(budget, Argument)
    assert isinstance(samples, Argument)
    assert (budget.name, samples.name) == ("budget", "samples")
    assert 1 < int(str(samples.value)) < 10_000


def test_what_no_budget_reaches_has_an_infinite_cost_and_no_larger_budget() -> None:
    error = refused(am.random_regular(120, 12, seed=1), 1.0)

    assert math.isinf(error.cost.seconds)
    assert error.instead == ()


def test_refusals_travel_with_what_they_carry() -> None:
    error = refused(HARD, 0.001).about("log.csv")
    again = pickle.loads(pickle.dumps(error))

    assert (again.cost, again.instead, again.where) == (error.cost, error.instead, "log.csv")
    assert str(again) == str(error)
    assert str(again).startswith("log.csv: an exact count would take")


def test_the_command_line_words_remedies_as_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, graph in (("hard", HARD), ("hopeless", am.random_regular(120, 12, seed=1))):
        am.write(graph, tmp_path / f"{name}.csv")
    hard, hopeless = (str(tmp_path / f"{name}.csv") for name in ("hard", "hopeless"))
    codes = [cli.main(["count", path, "--exact", "--budget", "0.001"]) for path in (hard, hopeless)]
    first, second = capsys.readouterr().err.splitlines()

    assert codes == [2, 2]
    assert "; allow it with --budget " in first
    assert "no exact method reaches a block of this graph; see 'anonymatch bounds'" in second


def test_a_refusal_does_not_plan_twice() -> None:
    calls = 0

    def offer(block: Block, context: Context, best: float) -> Option | None:
        nonlocal calls
        calls += 1
        return None

    with EXACT.registered(Method("spy", (offer,), "", "")):
        refused(HARD, 0.001)

    assert calls == 1
    assert np.isfinite(refused(HARD, 0.001).seconds)
