"""Bad input: one line on standard error that names the cause, exit code 2, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RELEASED = str(EXAMPLES / "people_released.csv")
PEOPLE = str(EXAMPLES / "people.csv")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("design --users 8", "missing option '--edges'; see 'anonymatch design --help'"),
        ("random --degree 3", "missing option '--users'; see 'anonymatch random --help'"),
        ("totals log.parquet", "missing option '--law'; see 'anonymatch totals --help'"),
        ("totals no.parquet --law exponential:2", "no.parquet: there is no such file"),
        ("plan folder", "folder: it is a folder; give a file in it"),
        ("plan empty.toml", "empty.toml: it is empty; a plan has tables, such as [traffic]"),
        ("plan binary.toml", "binary.toml: line 1: byte 0xd0 is not UTF-8"),
        ("count folder", "folder: it is a folder; give a file in it"),
        ("rounds folder", "folder: it is a folder; give a file in it"),
        (f"table audit folder --original {PEOPLE}", "folder: it is a folder; give a file in it"),
        (
            f"table improve {RELEASED} --original {PEOPLE} --target foo=5",
            "there is no privacy model 'foo'; there are k-anonymity",
        ),
        (
            f"table improve {RELEASED} --original {PEOPLE} --target k-anonymity=x",
            "the target 'k-anonymity=x' must be MODEL=N, such as k-anonymity=5",
        ),
        ("count number.json", "number.json: user 'a' must have a list of behaviours, not an int"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("empty.toml").write_text("\n")
    Path("binary.toml").write_bytes(b"\x7fELF\x00\xd0\x00")
    Path("number.json").write_text('{"a": 1}')

    assert main(arguments.split()) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"error: {reason}")
    assert output.err.count("\n") == 1


def test_audit_table_takes_the_original_as_second_argument_and_asks_for_it() -> None:
    assert am.audit_table(RELEASED, PEOPLE).identified == 4
    with pytest.raises(am.InputError, match="a released table needs the original one"):
        am.audit_table(RELEASED)


def test_help_and_documentation_have_one_name_for_the_half_life(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "half_life=20" in shown
    assert "halflife" not in shown
