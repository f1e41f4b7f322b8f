"""A problem that is registered in one row is found by every interface."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from anonymatch.base.interval import Interval
from anonymatch.cli import main
from anonymatch.problems import PROBLEMS, Problem, detected, registered, reported
from anonymatch.reporting import judge, report_html
from anonymatch.reporting.report import (
    BITS,
    COUNT,
    Better,
    Chart,
    Column,
    Figure,
    Matrix,
    Note,
    Provenance,
    Report,
    Section,
    Table,
)
from anonymatch.studio.request import AuditRequest


@dataclass(frozen=True)
class ToyAudit:
    """Number of candidates by name."""

    sizes: dict[str, int]


def solve(file: str | os.PathLike[str], **_: Any) -> ToyAudit:
    return ToyAudit(json.loads(Path(file).read_text())["toy"])


def toy_report(audit: ToyAudit) -> Report:
    worst = float(min(audit.sizes.values()))
    return Report(
        title="Toy audit",
        subject=f"{len(audit.sizes)} toys",
        attacker="The attacker sees every toy.",
        headline=("The worst toy is known.",),
        figures=(
            Figure(
                key="toy_entropy",
                title="toy entropy",
                value=Interval(worst, worst - 0.5, worst + 0.5),
                unit=BITS,
                meaning="of the worst toy",
                better=Better.HIGHER,
            ),
        ),
        tables=(
            Table(
                key="toys",
                title="Toys by size",
                section="toys",
                columns=(Column("toy"), Column("size", COUNT)),
                rows=sorted(audit.sizes.items()),
                noun="toy",
            ),
        ),
        charts=(
            Chart(
                key="shades",
                draw=lambda: Matrix(title="Shades", values=[[1.0]], rows=["a"], columns=["b"]),
                section="toys",
                file=False,
            ),
        ),
        notes=(Note(text="Toys are small."),),
        sections=(Section("toys", "All toys"),),
        provenance=Provenance(sentences=("Computed by hand.",), caveats=("Toys break.",)),
    )


TOY = Problem(
    kind="toy",
    title="Toys",
    command="audit",
    solve=solve,
    report=toy_report,
    accepts=lambda result: isinstance(result, ToyAudit),
    detect=lambda file: str(file).endswith(".toy"),
)


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "small.toy"
    path.write_text(json.dumps({"toy": {"ball": 2, "doll": 4}}))
    with registered(TOY):
        yield path
    assert "toy" not in PROBLEMS


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_terminal_shows_every_part_of_a_registered_problem(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "audit", toy)

    assert (code, err) == (0, "")
    for part in (
        "small.toy: 2 toys",
        "The worst toy is known.",
        "toy entropy  1.5 to 2.5 bits  of the worst toy",
        "Toys by size:",
        "ball     2",
        "Note: Toys are small.",
        "The attacker sees every toy.",
        "Computed by hand.",
    ):
        assert part in out


def test_page_shows_every_part_of_a_registered_problem(
    toy: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "toy.html"
    assert run(capsys, "audit", toy, "--html", page)[0] == 0

    for part in (
        "<h1>Toy audit</h1>",
        "The worst toy is known.",
        "1.5 to 2.5 bits",
        "Toys by size",
        '<td class="short">ball</td>',
        "Shades",
        "Toys are small.",
        "Toys break.",
    ):
        assert part in page.read_text()


def test_json_has_the_keys_of_the_figures(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(run(capsys, "audit", toy, "--json")[1])

    assert record["kind"] == "toy"
    assert record["figures"] == {"toy_entropy": {"value": 2.0, "low": 1.5, "high": 2.5}}


@pytest.mark.parametrize(
    ("threshold", "code", "state"),
    [
        (1.5, 0, "is reached"),
        (2, 1, "is not sure to be reached"),
        (3, 1, "is missed"),
    ],
)
def test_gates_judge_a_registered_problem_by_its_interval(
    toy: Path, capsys: pytest.CaptureFixture[str], threshold: float, code: int, state: str
) -> None:
    ended, out, _ = run(capsys, "audit", toy, "--fail-under", f"toy-entropy={threshold}")

    assert ended == code
    assert f"toy_entropy={threshold:g} {state}" in out


def test_a_figure_that_is_no_threshold_is_refused(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "audit", toy, "--fail-under", "toys=2")

    assert code == 2
    assert "known are toy_entropy=NUMBER" in err


def test_results_find_their_report(toy: Path) -> None:
    report = reported(solve(toy))

    assert report.title == "Toy audit"
    assert "Toy audit" in report_html(report)
    assert [gate.passed for gate in judge(report, {"toy_entropy": 1})] == [True]


def test_the_studio_shows_the_sections_of_a_registered_problem(toy: Path) -> None:
    problem = detected(toy)
    assert problem is TOY
    sections = AuditRequest(name="small.toy", path=toy).reported(problem, lambda *_: None)

    assert [each.anchor for each in sections] == ["verdict", "figures", "toys", "about"]
    assert "anonymatch audit small.toy" in sections[-1].body
