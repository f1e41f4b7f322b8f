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
    retained = Path(anonymatch.__file__).with_name("_kernels.pyi")

    assert made.read_text() == retained.read_text()


@pytest.mark.parametrize("matrix", [np.ones((2, 3)), np.ones((41, 41)), np.zeros((0, 0))])
def test_glynn_refuses_matrices_that_the_kernel_cannot_take(matrix: np.ndarray) -> None:
    with pytest.raises(ValueError, match="glynn takes square matrices of up to"):
        _native.GlynnMatrix(matrix.astype(np.uint32))


def test_glynn_refuses_rows_that_would_overflow() -> None:
    heavy = np.full((2, 2), 2**30, dtype=np.uint32)
    with pytest.raises(ValueError, match="out of bounds"):
        _native.GlynnMatrix(heavy)


@pytest.mark.parametrize(("words", "first", "last"), [(0, 0, 1), (4, 0, 1), (1, 1, 0), (1, 0, 2)])
def test_glynn_refuses_units_and_words_out_of_bounds(words: int, first: int, last: int) -> None:
    matrix = _native.GlynnMatrix(np.ones((3, 3), dtype=np.uint32))
    with pytest.raises(ValueError, match=r"3 words|out of bounds"):
        matrix.count(words, first, last)


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
