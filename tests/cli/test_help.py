"""The pages of --help: every command lists what acts on it, in groups."""

from __future__ import annotations

import re

import pytest

from anonymatch.cli import main

COMMANDS = (
    "count", "posterior", "sample", "bounds", "blocks", "runs", "convert", "demo", "table audit",
    "rings audit",
)  # fmt: skip
SHARED = {
    "--json", "--exact", "--method", "--budget", "--memory", "--threads", "--cluster", "--resume",
    "--seed",
}  # fmt: skip


def page(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_plain_text(capsys: pytest.CaptureFixture[str], command: str) -> None:
    text = page(capsys, *command.split())

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


def test_the_list_of_commands_has_groups_and_one_line_per_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = page(capsys)
    lines = text.partition("Mix networks:\n")[2].splitlines()
    listed = [line for line in lines if re.match(r"  [a-z]", line)]

    for title in ("Mix networks", "Data releases", "Ring signatures", "Graphs and counting"):
        assert f"\n{title}:\n" in text
    assert len(listed) >= 24
    for line in listed:
        assert re.match(r"  [a-z]+( [a-z]+)? +[A-Z].*[.?]$", line)
        assert len(line) <= 80


def test_help_of_audit_has_groups_and_at_most_36_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = page(capsys, "audit")

    titles = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert titles == [
        "Arguments", "Message log", "Loss and cover traffic", "Networks", "Thresholds", "Output",
        "Computation",
    ]  # fmt: skip
    options = text.partition("\nArguments:\n")[2]
    assert len(re.findall(r"^  -", options, re.MULTILINE)) <= 36


def test_help_with_a_source_lists_the_options_of_that_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flows = page(capsys, "audit", "--source", "mixmatch")

    assert "--longest-delay SECONDS" in flows
    assert "--loss" not in flows
    assert "--longest-delay" not in page(capsys, "audit")


def test_laws_are_listed_with_all_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    text = "".join(capsys.readouterr().out.split())
    assert "timed-pool:SECONDS,KEPT[,SHARE[,ORIGIN]]" in text
    assert "binomial:SECONDS,P[,SD[,ORIGIN]]" in text
