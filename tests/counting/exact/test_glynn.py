"""Glynn's formula: what it does besides giving the right count (test_agreement.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.blocks.solution import Context
from anonymatch.counting.exact import glynn
from anonymatch.counting.reference import block_of, permanent
from anonymatch.running import Budget, Execution


def test_a_count_that_few_bits_tell_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows near 2^15 and three light ones: no two factors below 2^51, but a small count."""
    rng = np.random.default_rng(1)
    sums = [30001] * 5 + [167] * 3
    matrix = np.array([rng.multinomial(s - 8, np.ones(8) / 8) + 1 for s in sums])
    packed = _native.GlynnMatrix(matrix.astype(np.uint32))
    block = block_of(matrix.astype(object))
    context = Context(edges=False, budget=Budget.of(None), effort=Execution())
    option = glynn.offer(block, context)
    used: list[int] = []
    if packed.kept_bits:  # the other instruction sets find all bits
        count = _native.GlynnMatrix.count_kept

        def watched(*given: Any) -> Any:
            used.append(1)
            return count(*given)

        monkeypatch.setattr(_native.GlynnMatrix, "count_kept", watched)

    assert packed.factors == 3
    assert packed.kept_bits in (0, 104)
    assert option is not None
    assert option.solve().total == permanent(matrix.astype(object))
    assert bool(used) == bool(packed.kept_bits)
    with pytest.raises(ValueError, match="all bits"):
        _native.GlynnMatrix(np.ones((9, 9), dtype=np.uint32)).count_kept(0, 1)


@pytest.mark.slow
def test_kept_bits_and_all_bits_give_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = am.random_density(30, 0.5, seed=3)
    kept = am.count(graph, method="glynn").value
    monkeypatch.setattr(_native.GlynnMatrix, "kept_bits", 0)

    assert kept == am.count(graph, method="glynn").value


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
