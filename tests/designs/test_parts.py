"""Every kind of part against the graph that it draws: count, logs, attack and edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import edge_truth, precise_log

import anonymatch as am
from anonymatch.counting.reference import permanent
from anonymatch.theory.designs.partition import Layered, layered
from anonymatch.theory.designs.parts import (
    Linked,
    Near,
    Necklace,
    Searched,
    Shape,
    exposes,
    graph_of,
)
from anonymatch.theory.designs.search import catalogue, items
from anonymatch.theory.designs.small import counts, tally


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Parts of up to 7 users, of every kind."""
    kind = draw(st.sampled_from(["near", "layered", "linked", "necklace", "found"]))
    size = draw(st.integers(2, 7))
    if kind == "near":
        return Near(size, draw(st.integers(0, size)))
    if kind == "layered":
        return layered(size, draw(st.integers(size, size * size)))
    if kind == "linked":
        p = draw(st.integers(1, size - 1))
        most = min(p, size - p)
        return Linked(p, size - p, draw(st.integers(0, most)), draw(st.integers(0, most)))
    if kind == "necklace":
        return Necklace(size, draw(st.integers(2, size)))
    return draw(st.sampled_from([part for n in range(4, 8) for part in catalogue()[n]]))


def matrix_of(shape: Shape) -> list[list[int]]:
    matrix = np.zeros((shape.size, shape.size), dtype=int)
    matrix[shape.cells()] = 1
    rows: list[list[int]] = matrix.tolist()
    return rows


@given(shapes())
def test_count_and_attack_are_those_of_its_edges(shape: Shape) -> None:
    matrix = matrix_of(shape)
    total = permanent(matrix)
    through = edge_truth([list(row) for row in matrix])
    left = min(sum(value * value for value in row) for row in through) / total**2

    assert sum(map(sum, matrix)) == len(shape.cells()[0]) == shape.edges
    assert shape.count() == total
    assert shape.attack() == left
    assert shape.attack_log == pytest.approx(math.log(left), abs=1e-13)
    share = float(precise_log(Fraction(total, math.factorial(shape.size))))
    assert shape.share_logs == pytest.approx((share, share), abs=1e-13)


@given(shapes())
def test_two_edges_a_user_close_the_group(shape: Shape) -> None:
    graph = graph_of(shape.size, shape.cells())
    if isinstance(shape, Linked) and not (shape.u and shape.v):
        return  # two groups, never used as one part

    smallest = min(len(block.users) for block in am.blocks(graph))
    assert smallest == (1 if exposes(shape) else shape.size)


@given(shapes(), st.data())
def test_edges_come_by_user_in_any_pieces(shape: Shape, data: st.DataObject) -> None:
    row, column = shape.cells()
    cut = data.draw(st.integers(0, shape.size))
    pieces = shape.cells(0, cut), shape.cells(cut)

    assert np.concatenate([piece[0] for piece in pieces]).tolist() == row.tolist()
    assert np.concatenate([piece[1] for piece in pieces]).tolist() == column.tolist()
    keys = row * shape.size + column
    assert (np.diff(keys) > 0).all()


@pytest.mark.parametrize(("size", "edges"), [(26, 26 * 24), (26, 26 * 24 + 3), (40, 40 * 38 + 31)])
def test_two_missing_edges_a_user_have_a_closed_form(size: int, edges: int) -> None:
    part = Layered(size, edges)
    counted = am.count(graph_of(size, part.cells())).value

    assert part.exact
    assert part.count() == counted
    share = precise_log(Fraction(part.count(), math.factorial(size)))
    assert part.share_logs[0] == pytest.approx(float(share), rel=1e-13)


@pytest.mark.parametrize(("size", "edges"), [(25, 300), (25, 60), (27, 500), (27, 486)])
def test_bounds_of_large_layers_enclose_the_count(size: int, edges: int) -> None:
    part = Layered(size, edges)
    log = am.count(graph_of(size, part.cells())).log - math.lgamma(size + 1)
    low, high = part.share_logs

    assert not part.exact
    assert low <= log <= high
    assert part.attack() is None


def test_huge_layers_keep_their_bounds_apart() -> None:
    """The bounds lie a few units apart where both are of size 10^10."""
    low, high = Layered(418_312_945, 49_315_361_463_306_624).share_logs

    assert 0 < high - low < 50


@pytest.mark.parametrize("size", [2, 3, 7, 12, 13, 20])
def test_what_a_search_knows_of_parts_is_true(size: int) -> None:
    for item in items(size):
        assert (item.size, item.edges) == (item.shape.size, item.shape.edges)
        assert item.log == pytest.approx(math.log(item.shape.count()), rel=1e-13)
        assert item.attack_log <= item.shape.attack_log + 1e-12
        assert not exposes(item.shape)


def test_found_parts_are_worth_their_place() -> None:
    """Each leaves more, or has more matchings, than any other kind of part of its size."""
    for size, parts in catalogue().items():
        others = [item for item in items(size) if not isinstance(item.shape, Searched)]
        for part in parts:
            log, left = math.log(part.count()), part.attack_log
            rivals = [item for item in others if item.edges <= part.edges]

            assert not any(r.log >= log and r.attack_log >= left - 1e-12 for r in rivals)


def test_small_graphs_are_counted_together() -> None:
    matrices = [(0b11, 0b11), (0b111, 0b011, 0b001), (0b10, 0b10)]

    assert counts(matrices) == [2, 1, 0]
    assert [result.squares for result in tally(matrices)][:2] == [(2, 2), (1, 1, 1)]
    assert counts([]) == []
    assert tally([]) == []
