"""A law that is registered is known everywhere: to text, help, the command line and its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import anonymatch as am
from anonymatch.base.arrays import Floats, Ints
from anonymatch.cli import main
from anonymatch.mixes import LAWS, law_name, parse_law, register
from anonymatch.mixes.laws import DelayLaw, Exponential, Parameter, law_examples
from anonymatch.mixes.laws.candidates import Candidates, between
from anonymatch.studio.options import AddressOptions, law_choices


@dataclass(frozen=True, slots=True)
class Jitter(DelayLaw):
    """A fixed delay, and a uniform jitter on top of it."""

    keyword: ClassVar[str] = "jitter"
    aliases: ClassVar[tuple[str, ...]] = ("wobble",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("fixed", "FIXED", "fixed delay in s"),
        Parameter("most", "MOST", "largest jitter in s"),
    )
    example: ClassVar[str] = "1,2"

    fixed: float
    most: float

    @property
    def mean_delay(self) -> float:
        return self.fixed + self.most / 2

    @property
    def longest_delay(self) -> float:
        return self.fixed + self.most

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        came, left = arrivals[users], departures[behaviours]
        return between(came, left, self.fixed, self.longest_delay, end)

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return self.fixed + draw.uniform(0.0, self.most, size)

    def __str__(self) -> str:
        return f"jitter law, {self.fixed:g} s and up to {self.most:g} s more"


@pytest.fixture(autouse=True)
def jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAWS, "jitter", Jitter)  # and taken out again after the test
    monkeypatch.delitem(LAWS, "jitter")
    register(Jitter)


def test_text_names_it_and_a_misspelt_name_suggests_it() -> None:
    assert parse_law("jitter:1,2") == parse_law("Wobble:1,2") == Jitter(1.0, 2.0)
    assert law_name("wobble") == "jitter"
    assert law_examples().endswith("jitter:1,2")
    with pytest.raises(am.InputError, match="jitter needs 2 numbers, fixed,most"):
        parse_law("jitter:1")
    with pytest.raises(am.InputError, match="jitter"):
        parse_law("jiter:1,2")


def test_the_command_line_draws_and_audits_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    assert main(["synthesize", "jitter:1,2", str(log), "--messages", "60", "--seed", "1"]) == 0
    capsys.readouterr()
    assert main(["audit", str(log), "--law", "jitter:1,2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["source"] == "jitter law, 1 s and up to 2 s more"

    # The same delays as a window law has: so the same bits.
    assert main(["audit", str(log), "--law", "window:1,3", "--json"]) == 0
    window = json.loads(capsys.readouterr().out)
    assert answer["bits"] == window["bits"]


def test_help_and_the_studio_list_it(capsys: pytest.CaptureFixture[str]) -> None:
    main(["audit", "--help"])
    assert "jitter:FIXED,MOST" in " ".join(capsys.readouterr().out.split())
    assert law_choices()["jitter"] == "jitter: fixed delay in s, largest jitter in s"

    options = AddressOptions(example="mix_log.csv")
    options.delay("jitter")
    wanted = "fixed delay in s, largest jitter in s, such as 1,2"
    assert options.missing == f"Tell the numbers of the jitter law: {wanted}."


def test_two_laws_of_one_name_are_refused() -> None:
    class Other(Exponential):
        keyword = "fast"
        aliases = ("poisson",)

    with pytest.raises(am.InputError, match="a name of its own, not 'poisson'"):
        register(Other)
    assert "fast" not in LAWS
