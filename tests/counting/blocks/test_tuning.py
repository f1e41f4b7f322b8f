"""Speeds and thresholds: each is used, and what is tuned ends with its context."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import anonymatch as am
from anonymatch.counting.blocks import tuning as of_counting
from anonymatch.counting.blocks.tuning import TUNING, Tuning, tuned, tuning
from anonymatch.theory.attacks import tuning as of_attacks
from anonymatch.theory.designs import tuning as of_designs


@pytest.mark.parametrize(
    ("room", "kind", "name"),
    [
        (Path(of_counting.__file__).parents[1], Tuning, "tuning()"),
        (Path(of_attacks.__file__).parent, of_attacks.AttackTuning, "attack_tuning()"),
        (Path(of_designs.__file__).parent, of_designs.DesignTuning, "TUNING."),
    ],
)
def test_every_number_is_used(room: Path, kind: Any, name: str) -> None:
    code = "".join(path.read_text() for path in room.rglob("*.py") if path.name != "tuning.py")
    unused = [one.name for one in fields(kind) if f".{one.name}" not in code]

    assert name in code
    assert unused == []


def test_what_is_tuned_ends_with_its_context() -> None:
    with tuned(search_from=1.0), tuned(moment_users=3):
        assert (tuning().search_from, tuning().moment_users) == (1.0, 3)
    with pytest.raises(KeyError), tuned(search_from=1.0):
        raise KeyError
    assert tuning() is TUNING


def test_speeds_decide_which_method_is_taken() -> None:
    graph = am.random_regular(24, 4, seed=1)
    with tuned(glynn_by_factors=dict.fromkeys((0, 2, 3, 4), 1e9)):
        without = am.count(graph)
    with tuned(frontier_transition=1.0, ryser_prefix=1.0, contraction=1.0):
        alone = am.count(graph)

    assert "glynn" not in without.method
    assert alone.method == "glynn"
    assert without.value == alone.value
