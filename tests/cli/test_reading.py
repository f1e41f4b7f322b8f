"""Options of the command line are derived from the dataclasses of each problem."""

from __future__ import annotations

import pytest

from anonymatch.base.options import Option, option_texts
from anonymatch.cli import main
from anonymatch.cli.app import load_command
from anonymatch.cli.commands import COMMANDS
from anonymatch.mixes import LogOptions, ReadOptions
from anonymatch.rings import RingOptions
from anonymatch.tables import TableOptions


@pytest.mark.parametrize(
    ("command", "group"),
    [
        ("audit", LogOptions),
        ("table audit", TableOptions),
        ("table improve", TableOptions),
        ("rings audit", RingOptions),
        ("convert", ReadOptions),
    ],
)
def test_help_lists_every_option_of_the_problem(
    capsys: pytest.CaptureFixture[str], command: str, group: type
) -> None:
    pages = []
    for kind in ("messages", "network", "mixim", "mixmatch"):
        more = ["--source", kind] if group is LogOptions else []
        assert main([*command.split(), *more, "--help"]) == 0
        pages.append(" ".join(capsys.readouterr().out.split()))
    for name, about in option_texts(group).items():
        assert any(about.flags(name)[0] in page for page in pages), name
        assert any(" ".join(about.help.split()[:4]) in page for page in pages), name


def test_every_option_has_a_sentence_and_a_group() -> None:
    described: list[Option] = [
        about for name in COMMANDS for about in load_command(name).described.values()
    ]

    assert len(described) > 300
    for about in described:
        assert about.help.endswith((".", "..."))
        assert about.group
        assert "unless told" not in about.help


def test_read_options_are_those_of_all_problems() -> None:
    parts = option_texts(LogOptions) | option_texts(TableOptions) | option_texts(RingOptions)

    assert option_texts(ReadOptions) == parts


def test_old_keywords_of_read_options_work() -> None:
    options = ReadOptions.of(ReadOptions(law="window:1,5"), {"identifiers": "age"})

    assert options == ReadOptions(law="window:1,5", quasi_identifiers="age")
