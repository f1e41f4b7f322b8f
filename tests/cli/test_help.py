"""The pages of --help: every command lists what acts on it, and nothing of typer's shows."""

from __future__ import annotations

import re

import pytest

from anonymatch.cli import main

COMMANDS = ("count", "posterior", "sample", "bounds", "blocks", "runs", "convert", "demo")
SHARED = {
    "--json", "--exact", "--method", "--budget", "--memory", "--threads", "--cluster", "--resume",
    "--seed",
}  # fmt: skip


def page(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_plain_text(capsys: pytest.CaptureFixture[str], command: str) -> None:
    text = page(capsys, command)

    assert text.startswith(f"Usage: anonymatch {command}")
    assert not re.search(r"[{}<>│╭]|\[required|x>=", text)
    assert max(len(line) for line in text.splitlines()) <= 80


@pytest.mark.parametrize(
    ("command", "acting"),
    [
        ("count", SHARED),
        ("posterior", SHARED),
        ("sample", SHARED - {"--exact", "--method"}),
        ("bounds", {"--json", "--threads"}),
        ("blocks", {"--json", "--threads"}),
        ("convert", {"--json", "--threads"}),
        ("demo", {"--json"}),
        ("runs", {"--json"}),
    ],
)
def test_options_that_do_nothing_are_not_listed(
    capsys: pytest.CaptureFixture[str], command: str, acting: set[str]
) -> None:
    listed = set(re.findall(r"^  (--[a-z]+)", page(capsys, command), re.MULTILINE))

    assert listed & SHARED == acting


def test_the_program_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys)

    assert [name for name in COMMANDS if f"\n  {name} " not in text] == []
    assert main([]) == 0
    assert capsys.readouterr().out == text


def test_the_list_of_commands_has_one_line_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    listed = page(capsys).partition("Commands\n")[2].partition("\n\n")[0].splitlines()

    assert len(listed) >= 18
    for line in listed:
        assert re.match(r"  [a-z]+ +[A-Z].*[.?]$", line)
        assert len(line) <= 80


def test_laws_are_listed_with_all_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    text = "".join(capsys.readouterr().out.split())
    assert "timed-pool:SECONDS,KEPT[,SHARE[,ORIGIN]]" in text
    assert "binomial:SECONDS,P[,SD[,ORIGIN]]" in text
