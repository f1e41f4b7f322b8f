"""Commands by problem: table and rings, and the spellings of version 0.1 until 0.3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymatch.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
RELEASED = str(EXAMPLES / "people_released.csv")
PEOPLE = ("--original", str(EXAMPLES / "people.csv"))
RINGS = str(EXAMPLES / "certain_rings.json")


def answer(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0
) -> tuple[dict[str, Any], str]:
    """The JSON of a command without its time, and its notes."""
    assert main([*arguments, "--json"]) == code
    output = capsys.readouterr()
    record: dict[str, Any] = json.loads(output.out)
    return {key: value for key, value in record.items() if key != "seconds"}, output.err


def test_audit_with_original_is_table_audit_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    new, silent = answer(capsys, "table", "audit", RELEASED, *PEOPLE)
    old, said = answer(capsys, "audit", RELEASED, *PEOPLE)

    assert old == new
    assert silent == ""
    assert (
        said == "note: 'audit --original' is now 'anonymatch table audit'; it works until 0.3.0\n"
    )


def test_improve_with_original_is_table_improve_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = ("--target", "k-anonymity=2")
    new, silent = answer(capsys, "table", "improve", RELEASED, *PEOPLE, *target)
    old, said = answer(capsys, "improve", RELEASED, *PEOPLE, *target)

    assert old == new
    assert silent == ""
    assert said.count("\n") == 1
    assert "'improve --original' is now 'anonymatch table improve'" in said


def test_identifiers_is_quasi_identifiers_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    new, silent = answer(capsys, "table", "audit", RELEASED, *PEOPLE, "--quasi-identifiers", "age")
    old, said = answer(capsys, "table", "audit", RELEASED, *PEOPLE, "--identifiers=age")

    assert old == new
    assert silent == ""
    assert (
        said == "note: --identifiers is now --quasi-identifiers; the old name works until 0.3.0\n"
    )


def test_audit_of_rings_forwards_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    new, silent = answer(capsys, "rings", "audit", RINGS)
    old, said = answer(capsys, "audit", RINGS)

    assert old == new
    assert silent == ""
    assert (
        said == "note: certain_rings.json has ring signatures; this is 'anonymatch rings audit'\n"
    )


def test_options_of_other_problems_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "audit", RELEASED, *PEOPLE, "--law", "window:1,5"]) == 2
    assert "no such option: --law" in capsys.readouterr().err
    assert main(["rings", "audit", RINGS, "--loss", "0.1"]) == 2
    assert "'anonymatch rings audit --help'" in capsys.readouterr().err


@pytest.mark.parametrize("problem", ["table", "rings"])
def test_a_problem_without_a_command_lists_its_commands(
    capsys: pytest.CaptureFixture[str], problem: str
) -> None:
    assert main([problem]) == 0
    text = capsys.readouterr().out

    assert f"\n  {problem} audit " in text
    assert main([problem, "adit"]) == 2
    near = f"did you mean 'audit'? See 'anonymatch {problem} --help'"
    assert near in capsys.readouterr().err


def test_a_released_table_without_the_people_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["table", "audit", RELEASED]) == 2
    assert "--original" in capsys.readouterr().err
