"""Glynn's formula: what it does besides giving the right count (test_agreement.py)."""

from __future__ import annotations

from typing import Any

import pytest

import anonymatch as am
from anonymatch import _native


def test_a_count_packs_the_matrix_and_its_transpose_once_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed: list[int] = []
    counted: list[tuple[int, int]] = []

    class Watched(_native.GlynnMatrix):
        def __init__(self, entries: Any) -> None:
            packed.append(len(entries))
            super().__init__(entries)

        def count(self, words: int, first: int, last: int, isa: Any = _native.best_isa) -> Any:
            counted.append((first, last))
            return super().count(words, first, last, isa)

    monkeypatch.setattr(_native, "GlynnMatrix", Watched)
    graph = am.random_density(26, 0.5, seed=1)

    value = am.count(graph, method="signs").value

    assert value == am.count(graph, method="ryser").value
    assert packed == [26, 26]
    assert sorted(counted)[0][0] == 0
    assert sorted(counted)[-1][1] == _native.glynn_units(26)
