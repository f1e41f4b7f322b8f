"""Plans on the command line."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from pathlib import Path

import pytest
from tests.patience import PATIENCE

from anonymatch.base.options import option_of
from anonymatch.cli import main
from anonymatch.cli.console import watch
from anonymatch.planning import PlanOptions
from anonymatch.running import Progress

_QUICK = ("--users", "100", "--rate", "0.1", "--network", "one", "--cover", "0")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["plan", *(str(argument) for argument in arguments)])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_a_plan_is_told_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *_QUICK, "--law", "threshold:10,pool:1,4", "--worst", "1%=11")
    assert code == 0
    assert "Take pool:1,4 with no cover" in out
    assert "n-1 attack" in out
    assert "27 own messages" in out


def test_json_has_the_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *_QUICK, "--law", "threshold:10", "--worst", "1%=8", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["best"]["law"] == "threshold:10"
    assert record["best"]["worst"]["low"] == pytest.approx(10)
    assert set(record) >= {"best", "front", "settings", "ceiling", "met", "nearest", "verdict"}


def test_a_gate_that_is_missed_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (*_QUICK, "--law", "threshold:10", "--worst", "1%=11")
    assert run(capsys, *asked, "--require")[0] == 1
    assert run(capsys, *asked)[0] == 0


def test_a_setting_is_written_for_others_and_planned_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = (*_QUICK, "--law", "threshold:10", "--worst", "1%=8")
    code, out, _ = run(capsys, *asked, "--emit", "toml")
    assert code == 0
    path = tmp_path / "plan.toml"
    path.write_text(out)
    code, out, _ = run(capsys, path, "--require")
    assert code == 0
    assert "threshold:10" in out


def test_pages_and_tables_are_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page, table = tmp_path / "plan.html", tmp_path / "plan.csv"
    asked = (*_QUICK, "--law", "exponential,pool", "--worst", "1%=8", "--mean-delay", "1.5")
    code, _, err = run(capsys, *asked, "--html", page, "--csv", table)
    assert code == 0
    assert err.count("wrote") == 2
    assert "What delay buys" in page.read_text()
    assert table.read_text().startswith("law,parameters,cover,mean_delay")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--worst", "20"), "1%=20"),
        (("--rate", "0"), "rate above 0"),
        (("--network", "3by3"), "--network must be one, cascade"),
        (("--corrupt-mixes", "99"), "--corrupt-mixes is 99, and 3x3 has 9 mixes"),
        (("--emit", "tor"), "katzenpost, nym, toml"),
        (("--law", "poisson"), "plans know"),
        (("nothing.toml",), "there is no such file"),
    ],
)
def test_bad_options_get_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_laws_keep_their_own_commas() -> None:
    read = option_of(PlanOptions, "laws").read

    assert read is not None
    assert read("pool:2,4,exponential,timed:3") == ["pool:2,4", "exponential", "timed:3"]


def test_users_that_were_taken_are_told_in_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--network", "one", "--cover", "0", "--law", "threshold:10")
    _, _, err = run(capsys, "--rate", "0.1", *asked)
    assert err == "note: 1,000 users are taken; tell how many with --users\n"
    assert run(capsys, "--rate", "0.1", "--users", "100", *asked)[2] == ""


def test_one_setting_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *_QUICK, "--law", "threshold:10", "--worst", "1%=8")
    assert "The front: 1 setting was tried" in out
    assert out.count("\n  threshold:10 ") == 1


def test_long_work_without_a_terminal_prints_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.cli.console._PATIENCE", 0.0)
    monkeypatch.setattr("anonymatch.cli.console._FIRST_LINE", 0.0)
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stderr", printed)

    def work(tell: Progress) -> int:
        end = time.monotonic() + PATIENCE
        while "planning: 25 % after" not in printed.getvalue():  # other lines may precede tell()
            assert time.monotonic() < end
            tell(1.0, 4.0)
            time.sleep(0.01)
        return 7

    assert watch("planning", work) == 7
    lines = printed.getvalue().splitlines()
    assert all(re.fullmatch(r"planning: (25 %|at work) after \d+ s", line) for line in lines)
