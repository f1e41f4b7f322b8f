from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anonymatch.counting.exact.near_complete import near_complete
from anonymatch.counting.exact.rook import (
    Thread,
    canonical,
    plan_rows,
    plan_sweep,
    rook_polynomial,
    row_deletions,
)
from anonymatch.counting.reference import block_of, first_minors, permanent

Matrix = npt.NDArray[np.int64]


def missing(shape: tuple[int, int], share: int) -> st.SearchStrategy[Matrix]:
    cells = st.integers(0, 9).map(lambda x: int(x >= share))
    return hnp.arrays(np.int64, shape, elements=cells)


def rows_of(matrix: Matrix) -> list[tuple[int, ...]]:
    return [tuple(np.flatnonzero(row).tolist()) for row in matrix]


def derangements(n: int) -> int:
    return 1 if n == 0 else n * derangements(n - 1) + (-1) ** n


def without_fixed_points(s: int, j: int) -> int:
    return sum((-1) ** i * math.comb(j, i) * math.factorial(s - i) for i in range(j + 1))


@seed(4)
@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 6)
    .flatmap(lambda n: st.tuples(st.just(n), st.integers(n, n + 3)))
    .flatmap(lambda s: st.integers(1, 4).flatmap(lambda share: missing(s, share)))
)
def test_near_complete_agrees_with_the_definition(matrix: Matrix) -> None:
    solved = near_complete(block_of(matrix))
    if solved is None:
        assert 2 * matrix.sum() < matrix.size
        return
    total, expected = permanent(matrix), first_minors(matrix)[np.nonzero(matrix)].tolist()

    assert solved.total == total
    assert solved.minors().tolist() == expected
    if total:
        assert solved.posteriors().tolist() == [m / total for m in expected]
        assert solved.log == pytest.approx(math.log(total), abs=1e-13)


@seed(5)
@settings(max_examples=100, deadline=None)
@given(missing((4, 5), 5))
def test_rook_polynomial_counts_disjoint_edges(matrix: Matrix) -> None:
    edges = list(zip(*(ends.tolist() for ends in np.nonzero(matrix)), strict=True))
    counts = [1]
    for k in range(1, 5):
        number = sum(
            all(len(set(ends)) == k for ends in zip(*chosen, strict=True))
            for chosen in combinations(edges, k)
        )
        counts += [number] if number else []
    sweep = plan_sweep(rows_of(matrix))
    assert sweep is not None

    assert rook_polynomial(sweep) == counts


@seed(6)
@settings(max_examples=100, deadline=None)
@given(missing((4, 4), 6), st.permutations(range(4)), st.permutations(range(4)))
def test_canonical_labels_keep_the_pattern(
    matrix: Matrix, rows: list[int], columns: list[int]
) -> None:
    matrix[0] = 1  # connected, as components are
    pattern = [row for row in rows_of(matrix[rows][:, columns]) if row]
    new, row_label, column_label = canonical(pattern)

    relabelled = {(row_label[i], column_label[j]) for i, row in enumerate(pattern) for j in row}
    assert relabelled == {(i, j) for i, row in enumerate(new) for j in row}


@seed(17)
@settings(max_examples=100, deadline=None)
@given(missing((4, 5), 5))
def test_row_deletions_are_the_polynomials_of_what_is_left(matrix: Matrix) -> None:
    sweep = plan_rows(tuple(rows_of(matrix)))
    assert sweep is not None
    without = row_deletions(sweep)

    for t, i in enumerate(sweep.order):
        rest = plan_sweep(rows_of(np.delete(matrix, i, axis=0)))
        assert rest is not None
        assert without[t] == rook_polynomial(rest)


@pytest.mark.parametrize("axis", [0, 1])
def test_one_user_or_behaviour_that_lacks_many_edges_is_swept_across(axis: int) -> None:
    """Wider than any sweep on its own side, but of width one from the other."""
    n = 40
    matrix = np.ones((n, n), dtype=np.int64)
    matrix[:30, 0] = 0
    matrix = matrix if axis == 0 else matrix.T
    solved = near_complete(block_of(matrix))
    assert solved is not None

    assert solved.total == 10 * math.factorial(n - 1)
    assert set(solved.minors()) == {
        math.factorial(n - 1),
        9 * math.factorial(n - 2),
        10 * math.factorial(n - 2),
    }


def test_isomorphic_components_are_solved_once() -> None:
    """Three paths of three edges, one of them turned round by exchanging users and behaviours."""
    matrix = np.ones((9, 9), dtype=np.int64)
    for i, j in [(0, 0), (0, 1), (1, 1), (3, 4), (2, 4), (3, 3), (5, 5), (6, 5), (6, 6)]:
        matrix[i, j] = 0
    solved = near_complete(block_of(matrix))
    assert solved is not None

    assert [kind.copies for kind in solved.kinds] == [3]
    assert solved.total == permanent(matrix)


@pytest.mark.parametrize("n", [2, 3, 10, 17, 21, 100])
def test_crown_counts_derangements(n: int) -> None:
    solved = near_complete(block_of(1 - np.eye(n, dtype=np.int64)))
    assert solved is not None

    assert solved.total == derangements(n)
    assert set(solved.minors()) == {derangements(n) // (n - 1)}


@pytest.mark.parametrize(("s", "j"), [(4, 0), (5, 2), (6, 6), (9, 4), (30, 7)])
def test_lacking_a_partial_matching(s: int, j: int) -> None:
    """F(s, j): permutations of s things that avoid j given fixed points."""
    matrix = np.ones((s, s), dtype=np.int64)
    matrix[range(j), range(j)] = 0
    solved = near_complete(block_of(matrix))
    assert solved is not None

    assert solved.total == without_fixed_points(s, j)


def test_menage_numbers() -> None:
    """OEIS A000179."""
    known = {4: 2, 5: 13, 6: 80, 7: 579, 8: 4738, 9: 43387, 10: 439792, 20: 312400218671253762}
    for n, count in known.items():
        eye = np.eye(n, dtype=np.int64)
        solved = near_complete(block_of(1 - eye - np.roll(eye, 1, axis=1)))
        assert solved is not None
        assert solved.total == count


@pytest.mark.parametrize(("n", "copies"), [(2, 1), (3, 1), (4, 1), (6, 1), (2, 3), (3, 2)])
def test_minors_around_missing_cycles(n: int, copies: int) -> None:
    """In a cycle only the gap matters; shuffled, so that labels and places differ."""
    eye = np.eye(n, dtype=np.int64)
    cycles = np.kron(np.eye(copies, dtype=np.int64), eye | np.roll(eye, 1, axis=1))
    matrix = 1 - np.pad(cycles, ((0, 2), (0, 3)))
    rng = np.random.default_rng(n)
    matrix = matrix[rng.permutation(len(matrix))][:, rng.permutation(matrix.shape[1])]
    solved = near_complete(block_of(matrix))
    assert solved is not None

    assert [kind.thread for kind in solved.kinds] == [Thread(2 * n, True)]
    assert solved.minors().tolist() == first_minors(matrix)[np.nonzero(matrix)].tolist()


@pytest.mark.parametrize(
    ("edges", "copies"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 1), (6, 1), (7, 1), (8, 1), (3, 3)]
)
def test_minors_around_missing_paths(edges: int, copies: int) -> None:
    """In a path only the lengths of what is left matter; shuffled, as above."""
    path = np.zeros((edges // 2 + 1, (edges + 1) // 2), dtype=np.int64)
    for k in range(edges):
        path[(k + 1) // 2, k // 2] = 1
    for pattern in (path, path.T):
        missing_edges = np.kron(np.eye(copies, dtype=np.int64), pattern)
        size = max(missing_edges.shape) + 2
        matrix = 1 - np.pad(
            missing_edges, [(0, size + k - s) for k, s in enumerate(missing_edges.shape)]
        )
        rng = np.random.default_rng(edges)
        matrix = matrix[rng.permutation(len(matrix))][:, rng.permutation(matrix.shape[1])]
        solved = near_complete(block_of(matrix))
        assert solved is not None
        assert [kind.thread for kind in solved.kinds] == [Thread(edges, False)]
        assert solved.minors().tolist() == first_minors(matrix)[np.nonzero(matrix)].tolist()


def test_minors_around_a_long_path_are_those_of_its_sweeps() -> None:
    """Sixty missing edges, and one kind of component more, beside the general way."""
    n = 40
    matrix = np.ones((n, n), dtype=np.int64)
    for k in range(60):
        matrix[(k + 1) // 2, k // 2] = 0
    matrix[35:38, 36:38] = 0
    solved = near_complete(block_of(matrix))
    assert solved is not None
    swept = replace(solved, kinds=[replace(kind, thread=None) for kind in solved.kinds])

    assert sum(kind.thread is not None for kind in solved.kinds) == 1
    assert solved.minors().tolist() == swept.minors().tolist()


def test_menage_minors_sum_to_the_count_at_every_user() -> None:
    n = 60
    eye = np.eye(n, dtype=np.int64)
    block = block_of(1 - eye - np.roll(eye, 1, axis=1))
    solved = near_complete(block)
    assert solved is not None
    sums = solved.minors().reshape(n, n - 2).sum(axis=1)

    assert set(sums) == {solved.total}


def test_long_band_repacks_its_coefficients() -> None:
    """200 rows of three: the first coefficients count edges and pairs of disjoint edges."""
    n = 200
    sweep = plan_sweep([(i, (i + 1) % n, (i + 2) % n) for i in range(n)])
    assert sweep is not None
    polynomial = rook_polynomial(sweep)

    assert polynomial[:3] == [1, 3 * n, math.comb(3 * n, 2) - 2 * n * 3]
    assert polynomial[n] == lucas(n) + 2


def lucas(n: int) -> int:
    a, b = 2, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@pytest.mark.parametrize("edges", range(1, 9))
def test_paths_and_cycles_agree_with_the_sweep(edges: int) -> None:
    path = [
        tuple(sorted({t // 2 + t % 2 for t in (2 * i, 2 * i + 1) if t < edges}))
        for i in range(edges // 2 + 1)
    ]
    path = [row for row in path if row]
    sweep = plan_sweep(path)
    assert sweep is not None
    assert sweep.threads == (Thread(edges, False),)

    assert rook_polynomial(sweep) == rook_polynomial(replace(sweep, threads=()))


def test_too_wide_a_pattern_is_refused_before_it_is_swept() -> None:
    cells = np.random.default_rng(7).random((60, 60)) < 0.6
    matrix = cells.astype(np.int64)

    assert near_complete(block_of(matrix)) is None
    assert near_complete(block_of(1 - np.eye(9, dtype=np.int64)), limit=0) is None


def test_weights_are_not_for_rook_polynomials() -> None:
    assert near_complete(block_of([[1, 2], [1, 1]])) is None


def test_predicted_cost_of_minors_grows_with_the_components() -> None:
    small = near_complete(block_of(1 - np.eye(30, dtype=np.int64)))
    large = near_complete(
        block_of(1 - np.eye(30, dtype=np.int64) - np.eye(30, k=1, dtype=np.int64))
    )
    assert small is not None
    assert large is not None

    assert small.minor_operations < large.minor_operations


def test_many_equal_rows_are_planned_as_one_kind() -> None:
    """Rows of three columns come in seven kinds, whatever their number."""
    rows = [tuple(j for j in range(3) if (i % 7 + 1) >> j & 1) for i in range(20_000)]
    plan = plan_rows(tuple(rows))

    assert plan is not None
    assert sorted(plan.order) == list(range(20_000))
