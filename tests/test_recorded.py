"""Commands give the answers of the record."""

from __future__ import annotations

import pytest
from tests.recorded import answers, differences, recorded


@pytest.mark.slow
def test_commands_give_the_recorded_answers() -> None:
    assert list(differences(recorded(), answers())) == []


def test_a_changed_figure_and_a_missing_key_are_differences() -> None:
    old = {"a": {"bits": 1.0, "exact": True}, "b": [1, 2]}
    new = {"a": {"bits": 1.1, "exact": True}, "b": [1]}
    assert list(differences(old, new)) == [
        ".a.bits: 1.0 before, 1.1 after",
        ".b: '[1, 2]' before, '[1]' after",
    ]
    assert list(differences({"bits": 2}, {})) == [".bits: only before"]
    assert list(differences(old, old)) == []
