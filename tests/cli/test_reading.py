"""Options of the command line that say how a file is read are those of ReadOptions."""

from __future__ import annotations

from dataclasses import fields

import pytest

from anonymatch.cli import main
from anonymatch.cli.reading import FileOptions
from anonymatch.mixes import ReadOptions, help_text


def test_every_option_is_a_field_of_read_options_and_says_what_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {each.name for each in fields(ReadOptions)}
    given = [each.name for each in fields(FileOptions)]
    assert set(given) == names
    main(["audit", "--help"])
    page = " ".join(capsys.readouterr().out.split())
    for name in given:
        assert f"--{name.replace('_', '-')}" in page
        assert " ".join(help_text(name).split()[:4]) in page


def test_options_become_one_value() -> None:
    options = FileOptions(law=["window:1,5", "exponential:2"], loss=0.1, identifiers=[])

    assert options.of_file(1) == ReadOptions(law="exponential:2", loss=0.1)
