"""The table of figures: a figure that is added to it is seen by everything that shows figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.pages import audit_html

import anonymatch as am
from anonymatch.audits import (
    FIGURES,
    GATES,
    AuditFigure,
    Show,
    audit_report,
    extra_figure,
    shown_figures,
)
from anonymatch.base.interval import Interval
from anonymatch.cli import main
from anonymatch.reporting import report_html
from anonymatch.reporting.charts import Line, line_chart
from anonymatch.reporting.report import Chart, Section


def _likeliest(audit: am.Audit) -> Interval:
    """The mean probability of the best guess."""
    users = audit.answers.users
    mean = float(users.probability.value.mean())
    return Interval(mean, mean, mean)


MOOD = AuditFigure(
    key="mood",
    title="mood of {users}",
    meaning="how sure an attacker is of a {user}, on average",
    unit="share",
    better="higher",
    group="exposed",
    value=_likeliest,
    rests_on="posterior",
    gate=0.5,
)


@pytest.fixture
def mood() -> Iterator[AuditFigure]:
    with extra_figure(MOOD):
        yield MOOD
    assert "mood" not in FIGURES


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
    return path


def test_a_figure_of_the_table_is_in_what_an_audit_returns(mood: AuditFigure) -> None:
    audit = am.audit(am.complete(4))

    assert audit.to_dict()["mood"] == {"value": 0.25, "low": 0.25, "high": 0.25}
    assert mood.text(audit).line == "25 % (exact up to rounding)"  # type: ignore[union-attr]


def test_a_figure_of_the_table_is_on_the_terminal_and_in_json(
    mood: AuditFigure, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(pairs)]) == 0
    assert "mood of users" in capsys.readouterr().out
    assert main(["audit", str(pairs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mood"]["value"] == 0.5


def test_a_figure_of_the_table_is_a_threshold(
    mood: AuditFigure, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "mood" in GATES
    assert main(["audit", str(pairs), "--fail-under", "mood=0.4"]) == 0
    assert main(["audit", str(pairs), "--fail-under", "mood=0.6"]) == 1
    assert "mood=0.6 is missed" in capsys.readouterr().out


def test_a_figure_of_the_table_is_in_help_texts(
    mood: AuditFigure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--help"]) == 0
    assert "mood=0.5 (mood of users)" in " ".join(capsys.readouterr().out.split())


def test_a_figure_of_the_table_is_in_reports_and_comparisons(mood: AuditFigure) -> None:
    one, other = am.audit(am.complete(2), name="pair"), am.audit(am.complete(4), name="four")
    compared = am.compare([one, other])

    text = audit_html(one)
    assert "<h4>Mood of users</h4>" in text
    assert "How sure an attacker is of a user, on average. More is better." in text
    (row,) = (row for row in compared.rows if row.name == "mood")
    assert row.judgement == "pair is best: 50 % against 25 %"
    assert "mood" in [row["name"] for row in compared.to_dict()["rows"]]


def test_a_figure_is_shown_only_where_it_says() -> None:
    with extra_figure(replace(MOOD, show=Show.HTML, gate=None)):
        audit = am.audit(am.complete(4))

        assert "mood" not in audit.to_dict()
        assert "mood" not in GATES
        assert "Mood of users" in audit_html(audit)
        assert [each.key for each in shown_figures(Show.HTML, "exposed")][-1] == "mood"


def test_two_figures_of_one_key_are_refused() -> None:
    clash = replace(MOOD, key="bits")
    with (
        pytest.raises(am.InputError, match="there is a figure 'bits' already"),
        extra_figure(clash),
    ):
        pass


def test_a_chart_is_one_entry_of_the_report() -> None:
    audit = am.audit(am.partition([2, 3]))
    report = audit_report(audit)
    sizes = sorted(audit.answers.users.effective.value.tolist())
    chart = Chart(
        key="sizes",
        draw=lambda: line_chart([Line("size", range(len(sizes)), sizes)], title="Sizes in order"),
        caption="The smallest first. Exact.",
        section="sizes",
    )
    more = replace(
        report,
        charts=[*report.charts, chart],
        sections=[*report.sections, Section("sizes", "Sizes")],
    )
    text = report_html(more)

    assert "Sizes in order" in text
    assert '<a href="#sizes">Sizes</a>' in text
    assert "Sizes in order" not in report_html(report)
