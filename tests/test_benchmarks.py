"""Benchmarks run and their answers are right; seconds are not asserted anywhere."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.page import render, with_comparison

ROOT = Path(__file__).parent.parent
SECTIONS = (
    "dense", "posteriors", "releases", "rings", "sparse", "shapes", "estimates", "budgets", "plans",
    "planning", "lossy", "hops", "networks", "rounds", "tables", "wide", "structure", "scale",
    "cluster", "csv", "startup",
)  # fmt: skip


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


@pytest.mark.slow
def test_every_section_answers_right_at_tiny_sizes() -> None:
    """A wrong answer of ours, or of a peer where it should be right, ends the run."""
    done = run("--size", "tiny", "--json")

    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert tuple(printed["lines"]) == SECTIONS
    measured = [line for part in printed["lines"].values() for line in part]
    assert all(line["ours"] > 0 and line["passed"] is None for line in measured)
    page = render(printed)
    assert all(f"| {line['what']} |" in page for line in measured)


def test_comparison_of_the_readme_has_the_figures_of_the_benchmark_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (ours,) = re.findall(
        r"^\| half full, n = 24 \| (\S+ ms) \| thewalrus int64", page, re.MULTILINE
    )

    assert with_comparison(readme, page) == readme
    assert (
        with_comparison(readme, page.replace(f"| {ours} | thewalrus", "| 7 ms | thewalrus"))
        != readme
    )


@pytest.mark.slow
def test_an_unknown_section_is_refused_with_those_there_are() -> None:
    done = run("dens")

    assert done.returncode == 2
    assert "no section 'dens'; there are dense, posteriors" in done.stderr


@pytest.mark.usefixtures("_importable")
@pytest.mark.parametrize(
    ("arguments", "size"), [([], "full"), (["--quick"], "quick"), (["--size", "tiny"], "tiny")]
)
def test_the_size_is_full_unless_told(arguments: list[str], size: str) -> None:
    from benchmarks.__main__ import parse

    assert parse(arguments).size == size


@pytest.mark.usefixtures("_importable")
def test_a_peer_that_is_missing_is_named_and_judges_nothing() -> None:
    from benchmarks.report import faster

    line = faster("count", 0.5, "FLINT", None, 8.0)

    assert line.passed is None
    assert "FLINT: not installed" in str(line)


@pytest.mark.usefixtures("_importable")
def test_goals_are_judged_in_their_own_direction() -> None:
    from benchmarks.report import faster, summary, under, within

    lines = [
        faster("a", 1.0, "peer", 8.0, 8.0),
        faster("b", 1.0, "peer", 7.9, 8.0),
        within("c", 6.0, "one count", 1.0, 6.0),
        within("d", 6.1, "one count", 1.0, 6.0),
        under("e", 0.1, 0.1),
        under("f", 0.2, 0.1),
        under("g", 0.2, None),
    ]

    assert [line.verdict for line in lines] == ["pass", "MISS", "pass", "MISS", "pass", "MISS", ""]
    assert summary(lines) == "3 of 6 goals met; missed: b, d, f"


@pytest.mark.usefixtures("_importable")
def test_a_race_alternates_and_keeps_the_best_round() -> None:
    from benchmarks.timing import race

    seconds = iter([3.0, 1.0, 2.0, 5.0])
    now = 0.0
    ran: list[str] = []

    def clock() -> float:
        return now

    def call(name: str) -> str:
        nonlocal now
        ran.append(name)
        now += next(seconds)
        return name

    timed = race(
        {"ours": lambda: call("ours"), "theirs": lambda: call("theirs")}, rounds=2, clock=clock
    )

    assert ran == ["ours", "theirs"] * 2
    assert [timed[name].seconds for name in ("ours", "theirs")] == [2.0, 1.0]


@pytest.mark.usefixtures("_importable")
def test_a_call_that_changes_its_answer_is_no_result() -> None:
    from benchmarks.timing import race

    answers = iter(range(100))

    with pytest.raises(AssertionError, match="two rounds, two answers"):
        race({"ours": lambda: next(answers)}, rounds=2)


@pytest.mark.usefixtures("_importable")
def test_flint_is_reached_inside_its_wheel() -> None:
    pytest.importorskip("flint")
    import numpy as np
    from benchmarks.peers import flint

    permanent = flint()

    assert permanent is not None
    assert permanent(np.ones((21, 21), dtype=np.int64)) == math.factorial(21)


@pytest.mark.usefixtures("_importable")
def test_growth_is_judged_by_its_exponent() -> None:
    from benchmarks.scale import CASES, _verdict

    case, sizes = CASES["sparse"], (10**3, 10**4, 10**5, 10**6)

    def grown(power: float) -> list[dict[str, float]]:
        return [{"seconds": n**power, "memory": 80 + n / 1e3, "start": 80.0} for n in sizes]

    assert _verdict(case, sizes, grown(1.1)).passed
    assert not _verdict(case, sizes, grown(1.3)).passed
    assert "time n^1.30, memory n^1.00; documented n^1" in _verdict(case, sizes, grown(1.3)).note


@pytest.mark.usefixtures("_importable")
def test_the_table_of_costs_shares_out_what_can_be_shared() -> None:
    from benchmarks.cost_table import render, rows

    result = list(rows([(0.5, 36)], [(5, 52)], [(8, 100)]))
    dense, sparse, log = result

    assert dense.method == "glynn"
    assert dense.on(100) == pytest.approx(max(dense.seconds / 100, 1.0))
    assert sparse.method == "frontier"
    assert sparse.longest is not None
    assert sparse.on(10_000) == sparse.longest < sparse.seconds / 10
    assert log.method == "band"
    assert log.on(10_000) == log.seconds
    assert [line.count("|") for line in render(iter(result))] == [7] * 5


@pytest.mark.usefixtures("_importable")
def test_every_section_has_its_title_on_the_page() -> None:
    from benchmarks.__main__ import SECTIONS
    from benchmarks.page import _TITLES

    assert set(SECTIONS) == set(_TITLES)
