from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import anonymatch as am
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.exact import classes
from anonymatch.counting.exact.classes import TwinCounts, plan_classes
from anonymatch.counting.reference import block_of, first_minors, permanent

Matrix = npt.NDArray[np.object_]


def by_classes(block: Block) -> TwinCounts | None:
    plan = plan_classes(block)
    return None if plan is None else plan.solve()


@st.composite
def twin_matrices(draw: st.DrawFn) -> Matrix:
    """Few distinct rows and columns, repeated; square or with more columns."""
    kinds = draw(
        hnp.arrays(
            np.int64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 3)
        )
    )
    users = draw(st.lists(st.integers(0, kinds.shape[0] - 1), min_size=1, max_size=6))
    extra = draw(st.integers(0, 2))
    size = len(users) + extra
    behaviours = draw(st.lists(st.integers(0, kinds.shape[1] - 1), min_size=size, max_size=size))
    return kinds[users][:, behaviours].astype(object)


@seed(12)
@settings(max_examples=100, deadline=None)
@given(twin_matrices())
def test_twins_agree_with_the_definition(matrix: Matrix) -> None:
    solved = by_classes(block_of(matrix))
    assume(solved is not None)
    assert solved is not None
    total, edges = permanent(matrix), np.nonzero(matrix)
    minors = first_minors(matrix)[edges].tolist()

    assert solved.total == total
    assert solved.minors().tolist() == minors
    if total:
        expected = [w * m / total for w, m in zip(matrix[edges], minors, strict=True)]
        assert solved.posteriors() == pytest.approx(expected, rel=1e-15)
        assert solved.log == pytest.approx(math.log(total), abs=1e-13)


@seed(13)
@settings(max_examples=50, deadline=None)
@given(twin_matrices())
def test_float_weights_keep_their_accuracy(matrix: Matrix) -> None:
    total, edges = permanent(matrix), np.nonzero(matrix)
    assume(total > 0)
    n = len(matrix)
    solved = by_classes(block_of(matrix.astype(np.float64) / 1024))
    assume(solved is not None)
    assert solved is not None
    minors = first_minors(matrix)[edges].astype(np.float64)
    allowed = solved.roundings * 2**-53

    assert solved.total == pytest.approx(total / 1024**n, rel=allowed)
    assert solved.minors() == pytest.approx(minors / 1024 ** (n - 1), rel=allowed)
    assert solved.posteriors() == pytest.approx(
        matrix[edges].astype(np.float64) * minors / total, rel=2 * allowed
    )


@pytest.mark.parametrize("n", [3, 17, 21, 60])
def test_complete_is_one_class_on_either_side(n: int) -> None:
    solved = by_classes(block_of(np.ones((n, n), dtype=int)))
    assert solved is not None

    assert solved.total == math.factorial(n)
    assert solved.plan.operations == n


def test_counts_beyond_the_range_of_floats_have_a_log() -> None:
    n = 200
    solved = by_classes(block_of(np.full((n, n), 2.0)))
    assert solved is not None

    assert solved.log == pytest.approx(math.lgamma(n + 1) + n * math.log(2), rel=1e-14)
    assert solved.posteriors() == pytest.approx(np.full(n * n, 1 / n), rel=1e-12)
    with pytest.raises(OverflowError):
        _ = solved.total


def test_the_overlap_of_two_groups_by_hand() -> None:
    """Of 2a users a may take only A or B, a only B or C; B takes k of the first group."""
    a, shared = 6, 4
    rows = [[1] * 4 + [1] * shared + [0] * 4] * a + [[0] * 4 + [1] * shared + [1] * 4] * a
    expected = sum(
        math.comb(a, k)
        * math.comb(a, shared - k)
        * math.factorial(shared)
        * math.factorial(a - k)
        * math.factorial(a - shared + k)
        for k in range(shared + 1)
        if a - k == 4 and a - shared + k == 4
    )
    solved = by_classes(block_of(rows))
    assert solved is not None

    assert solved.total == expected


def test_the_cost_is_predicted_and_respected() -> None:
    rng = np.random.default_rng(14)
    kinds = (rng.random((6, 6)) < 0.7).astype(int) | np.eye(6, dtype=int)
    members = np.repeat(np.arange(6), 5)
    block = block_of(kinds[members][:, members])
    plan = plan_classes(block)
    assert plan is not None
    layers = plan.solve().result.layers
    assert layers is not None
    done = sum(len(layer.keys) * len(plan.sweep.phases[layer.phase].reach) for layer in layers)

    assert done <= plan.operations <= 8 * done
    held = [layer.keys.nbytes + layer.values.nbytes for layer in layers]
    assert plan.memory(edges=True) >= sum(held)
    assert max(len(layer.keys) for layer in layers) <= plan.sweep.peak
    assert plan.memory(edges=True) > plan.memory(edges=False) >= 2 * max(held)


def test_few_choices_are_counted_from_the_cheaper_side() -> None:
    """Twelve different users over two classes of behaviours: the state is two numbers."""
    rng = np.random.default_rng(15)
    kinds = rng.integers(1, 50, (12, 2))
    matrix = kinds[:, np.repeat([0, 1], 6)]
    plan = plan_classes(block_of(matrix))
    turned = plan_classes(block_of(matrix.T))
    assert plan is not None
    assert turned is not None

    assert (plan.turned, turned.turned) == (False, True)
    assert plan.operations == turned.operations <= 2 * 49
    assert plan.solve().total == turned.solve().total == permanent(matrix)


def test_many_different_users_of_few_kinds_of_behaviours() -> None:
    """300 users, all with different weights on two kinds: as many steps as users, no search."""
    n = 300
    rows = np.stack([np.arange(1, n + 1), np.ones(n, dtype=int)], axis=1)
    solved = by_classes(block_of(np.repeat(rows, n // 2, axis=1)))
    assert solved is not None
    symmetric = [1] + [0] * n  # elementary symmetric sums of 1..n
    for weight in range(1, n + 1):
        for k in range(weight, 0, -1):
            symmetric[k] += weight * symmetric[k - 1]

    assert solved.total == symmetric[n // 2] * math.factorial(n // 2) ** 2


def test_few_users_with_many_spare_behaviours_of_each_kind() -> None:
    """Seven kinds of 1000 would not fit a state: of each, three users take three at most."""
    kinds = np.array([[k >> i & 1 for k in range(1, 8)] for i in range(3)])
    a, b, c = (set(np.flatnonzero(row)) for row in np.repeat(kinds, 1000, axis=1))
    solved = by_classes(block_of(np.repeat(kinds, 1000, axis=1).astype(object)))

    assert solved is not None
    assert solved.total == (
        len(a) * len(b) * len(c)
        - len(a & b) * len(c)
        - len(a & c) * len(b)
        - len(b & c) * len(a)
        + 2 * len(a & b & c)
    )
    of_all = solved.minors()[3000]  # the first user and a behaviour that all three know
    assert of_all == (len(b) - 1) * (len(c) - 1) - (len(b & c) - 1)


@pytest.mark.parametrize(("t", "m"), [(2.0**27, 3), (2.0**199, 2), (2.0**450, 1), (3e-9, 3)])
def test_floats_that_spread_far_are_counted_in_whole_numbers(t: float, m: int) -> None:
    rows = [[1 / t] * 9 * m + [t] * 8 * m] * 11 * m
    rows += [[t] * 9 * m + [1.0] * 8 * m] * 2 * m + [[1 / t] * 9 * m + [1.0] * 8 * m] * 4 * m
    graph = am.Graph.from_biadjacency(np.array(rows))
    truth = am.count(graph, exact=True).log
    count, probabilities = am.count(graph, method="classes"), am.posterior(graph, method="classes")

    assert count.low <= truth <= count.high
    assert count.log == pytest.approx(truth, rel=1e-13)
    sums = np.add.reduceat(probabilities.probabilities, graph.indptr[:-1])
    assert sums == pytest.approx(1.0, abs=1e-12)


def test_a_count_in_whole_numbers_is_the_one_of_floats() -> None:
    rows = np.array([[0.3, 0.3, 2.5, 1.0]] * 2 + [[1.5, 1.5, 0.0, 0.7]])
    plan = plan_classes(block_of(rows))
    assert plan is not None
    floats, whole = plan.solve(), plan.in_whole_numbers()

    assert whole.total == pytest.approx(floats.total, rel=1e-14)
    assert whole.log == pytest.approx(floats.log, rel=1e-14)
    assert whole.minors() == pytest.approx(floats.minors(), rel=1e-14)
    assert whole.posteriors() == pytest.approx(floats.posteriors(), rel=1e-14)


def test_without_twins_there_is_nothing_to_gain() -> None:
    assert plan_classes(block_of([[1, 1, 0], [0, 1, 1], [1, 0, 1]])) is None
    assert plan_classes(block_of([[1], [1]])) is None


def test_no_order_is_looked_for_where_one_user_meets_too_many_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = np.kron(1 - np.eye(70, dtype=int), np.ones((2, 2), dtype=int))
    monkeypatch.setattr(classes, "_greedy", None)

    assert plan_classes(block_of(kinds)) is None


def test_too_many_live_classes_are_refused() -> None:
    n = 140
    rng = np.random.default_rng(16)
    half = (rng.random((n // 2, n // 2)) < 0.5).astype(int)

    assert plan_classes(block_of(np.kron(half, np.ones((2, 2), dtype=int)))) is None
