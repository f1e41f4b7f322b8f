"""The door to the compiled kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anonymatch
from anonymatch import _native
from anonymatch.counting.integers import combine, primes, residues, words_for


def test_the_stub_describes_the_compiled_module(tmp_path: Path) -> None:
    """Made by: python -m nanobind.stubgen -m anonymatch._kernels -o src/anonymatch/_kernels.pyi"""
    made = tmp_path / "kernels.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "anonymatch._kernels", "-o", made],
        check=True,
    )
    kept = Path(anonymatch.__file__).with_name("_kernels.pyi")

    assert made.read_text() == kept.read_text()


@pytest.mark.parametrize("matrix", [np.ones((2, 3)), np.ones((41, 41)), np.zeros((0, 0))])
def test_signs_refuse_matrices_that_the_kernel_cannot_take(matrix: np.ndarray) -> None:
    with pytest.raises(ValueError, match="signs take up to"):
        _native.signs_count(matrix.astype(np.uint32), 1, 0, 1)


def test_signs_refuse_rows_that_would_overflow() -> None:
    heavy = np.full((2, 2), 2**30, dtype=np.uint32)
    with pytest.raises(ValueError, match="out of bounds"):
        _native.signs_count(heavy, 1, 0, 1)


def test_words_hold_what_they_promise() -> None:
    for bits in range(1, 500):
        moduli = 2**64 * np.prod([1, *primes(words_for(bits) - 1)], dtype=object)
        assert moduli >= 2**bits  # counts are below 2^bits


@pytest.mark.parametrize("words", [1, 2, 3, 8])
def test_integers_come_back_from_their_residues(words: int) -> None:
    largest = 2**64 * np.prod([1, *primes(words - 1)], dtype=object) - 1
    values = np.array([0, 1, 2**64 - 1, largest // 3, largest], dtype=object)

    assert combine(residues(values, words), words) == values.tolist()


@pytest.mark.parametrize(
    ("rows", "columns", "shape"),
    [([0, 2], [0, 0], (2, 1)), ([-1], [0], (2, 1)), ([0], [2**32], (1, 5)), ([0], [], (1, 1))],
)
def test_edges_outside_their_graph_never_reach_the_kernel(
    rows: list[int], columns: list[int], shape: tuple[int, int]
) -> None:
    with pytest.raises(ValueError, match="graph"):
        _native.sort_edges(np.array(rows), np.array(columns, dtype=int), shape, ordered=False)
