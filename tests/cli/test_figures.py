"""--figures: every chart as a file, checked before any work, and nothing half-written."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.reporting.charts import save_charts

BEGINS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    am.mixes.write_messages(am.mixes.synthesize("window:1,5", messages=60, rate=2, seed=1), path)
    return str(path)


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
    return str(path)


@pytest.mark.grid
@pytest.mark.parametrize("kind", BEGINS)
def test_every_chart_of_an_audit_is_a_file(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    folder = tmp_path / "charts"
    wanted = ["--figures", str(folder), "--figures-format", kind]
    assert main(["audit", log, "--law", "window:1,5", "--steps", "2", *wanted]) == 0

    names = am.audit(log, law="window:1,5", steps=2).charts
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{n}.{kind}" for n in names)
    assert all(path.read_bytes().startswith(BEGINS[kind]) for path in folder.iterdir())
    listed = f"wrote {folder}: {', '.join(f'{name}.{kind}' for name in names)}"
    assert listed in " ".join(capsys.readouterr().err.split("\n"))


def test_figures_are_svg_unless_told_and_replace_older_ones(pairs: str, tmp_path: Path) -> None:
    folder = tmp_path / "charts"
    folder.mkdir()
    (folder / "entropy.svg").write_text("old")
    (folder / "mine.txt").write_text("mine")
    assert main(["audit", pairs, "--figures", str(folder), "--json"]) == 0

    assert (folder / "entropy.svg").read_bytes().startswith(b"<svg")
    assert (folder / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--figures", "charts", "--figures-format", "gif"],
            "--figures-format gif: charts are written as svg, png, pdf",
        ),
        (["--figures-format", "png"], "--figures-format is of charts; give --figures DIR, too"),
        (["--figures", "pairs.csv"], "pairs.csv: it is a file; give the name of a folder"),
        (["--figures", ""], "'--figures': it is empty; give the name of a folder"),
        (["--figures", "no/such"], "no/such: the folder no does not exist; make it first"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    pairs: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["audit", pairs, *arguments]) == 2

    said = capsys.readouterr()
    assert line in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


def test_a_folder_in_the_place_of_a_chart_is_refused_before_any_work(
    pairs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charts = tmp_path / "charts"
    (charts / "probability.svg").mkdir(parents=True)

    assert main(["audit", pairs, "--figures", str(charts)]) == 2

    said = capsys.readouterr()
    assert "probability.svg in it is no file" in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert [path.name for path in charts.iterdir()] == ["probability.svg"]
    assert main(["audit", pairs, "--figures", str(charts), "--figures-format", "png"]) == 0


def test_all_charts_are_written_or_none(pairs: str, tmp_path: Path) -> None:
    charts = tmp_path / "charts"
    (charts / "set_size.svg").mkdir(parents=True)
    audit = am.audit(pairs)
    makers = {name: partial(audit.chart, name) for name in audit.charts}

    with pytest.raises(am.InputError, match=r"set_size\.svg: it is a folder"):
        save_charts(makers, charts)

    assert [path.name for path in charts.iterdir()] == ["set_size.svg"]


@pytest.mark.slow
def test_attacks_and_comparisons_have_figures_too(pairs: str, tmp_path: Path) -> None:
    attacked, compared = tmp_path / "attack", tmp_path / "compare"
    assert main(["attack", pairs, "--steps", "2", "--figures", str(attacked)]) == 0
    assert main(["compare", pairs, pairs, "--figures", str(compared)]) == 0

    assert {path.name for path in attacked.iterdir()} == {"bits.svg", "doubt.svg"}
    assert {"cost.svg", "difference.svg", "spread.svg"} <= {p.name for p in compared.iterdir()}


@pytest.mark.slow
def test_plans_and_rounds_have_figures_too(tmp_path: Path) -> None:
    planned, seen = tmp_path / "plan", tmp_path / "rounds"
    path = tmp_path / "rounds.csv"
    am.disclosure.write_rounds(am.disclosure.synthesize_rounds(30, users=12, batch=4, seed=1), path)
    plan = ["plan", "--users", "100", "--rate", "0.1", "--network", "one", "--law", "threshold:10"]
    assert main([*plan, "--worst", "1%=8", "--figures", str(planned)]) == 0
    assert main(["rounds", str(path), "--figures", str(seen)]) == 0

    assert {path.name for path in planned.iterdir()} == {"delay.svg", "delay_99.svg", "cover.svg"}
    assert "bits.svg" in {path.name for path in seen.iterdir()}
