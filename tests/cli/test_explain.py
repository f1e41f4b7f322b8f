"""Which solver answers for a log: `audit --explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymatch.audits import explained
from anonymatch.cli import main
from anonymatch.mixes import (
    SOLVERS,
    LinkProblem,
    LogOffer,
    Messages,
    Refusal,
    Solver,
    observe,
    parse_law,
    solve,
    synthesize,
)
from anonymatch.mixes.solvers import offers
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running import Budget, Execution


def chosen(log: Messages, law: str, loss: float | None) -> str:
    offers = explained(observe(log, law, loss=loss), Budget.of(None))
    return next(one.name for one in offers if one.chosen)


@pytest.mark.parametrize(
    ("law", "loss", "name"),
    [
        ("exponential:2", None, "closed form"),
        ("exponential:2", 0.1, "hidden chain"),
        ("erlang:2,1", 0.1, "phase chain"),
        ("pool:5,2", 0.1, "flush chain"),
        ("lognormal:2,0.5", 0.1, "link chain"),
        ("lognormal:2,0.5", None, "exact counting"),
    ],
)
def test_the_law_and_the_conditions_decide(law: str, loss: float | None, name: str) -> None:
    log = synthesize(law, messages=40, seed=3)
    assert chosen(log, law, loss) == name


def test_a_long_log_is_solved_in_stretches_and_the_whole_is_refused() -> None:
    log = synthesize("exponential:2", messages=400_000, seed=1)
    offers = explained(observe(log, "exponential:2", loss=0.1), Budget.of(1.0))
    named = {one.name: one for one in offers}
    assert named["hidden chain in stretches"].chosen
    assert isinstance(named["hidden chain"].offer, Refusal)
    assert "beyond the budget" in named["hidden chain"].offer.why


def test_every_solver_that_applies_finds_the_same_entropies() -> None:
    log = synthesize("exponential:2", messages=12, rate=2.0, seed=5)
    problem = LinkProblem(
        arrivals=log.arrivals,
        departures=log.departures,
        law=parse_law("exponential:2"),
        channel=Channel(begin=0.0, end=float(log.departures[-1]), drained=True),
        clean=True,
    )
    budget, effort = Budget.of(20.0), Execution()
    figures = {
        solver.name: solver.run(problem, budget, effort).links
        for solver in SOLVERS
        if isinstance(solver.offer(problem, budget), LogOffer)
    }
    assert set(figures) == {"closed form", "hidden chain", "phase chain", "link chain"}
    first = solve(problem, budget, effort).links
    assert first.method == "closed_form"
    for name, links in figures.items():
        assert links.shannon.value == pytest.approx(first.shannon.value, abs=1e-6), name
        assert links.joint_bits.value == pytest.approx(first.joint_bits.value, abs=1e-6), name


def test_the_command_prints_the_choice_and_what_others_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv"
    main(["synthesize", "exponential:2", str(path), "--messages", "40", "--loss", "0.1"])
    capsys.readouterr()

    assert main(["audit", str(path), "--law", "exponential:2", "--explain"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "hidden chain: chosen, exact, about" in shown
    assert "link chain: " in shown
    assert "flush chain: does not apply" in shown

    assert main(["audit", str(path), "--law", "exponential:2", "--explain", "--json"]) == 0
    solvers = json.loads(capsys.readouterr().out)["solvers"]
    assert [one["name"] for one in solvers if one["chosen"]] == ["hidden chain"]


def test_a_solver_of_the_table_is_asked_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    log = synthesize("window:1,5", messages=20, seed=1)
    observation = observe(log, "window:1,5", loss=0.1)
    (link,) = (solver for solver in SOLVERS if solver.name == "link chain")

    def offer(problem: LinkProblem, budget: Budget) -> LogOffer:
        return LogOffer(budget.seconds / 2, len(problem.arrivals) > 0, "it is the first")

    toy = Solver("toy", offer, link.run)
    monkeypatch.setattr(offers, "SOLVERS", (toy, *SOLVERS))
    first, *others = explained(observation, Budget.of(4.0))
    assert first == ("toy", LogOffer(2.0, True, "it is the first"), True)
    assert [one.name for one in others] == [solver.name for solver in SOLVERS]
    assert not any(one.chosen for one in others)
