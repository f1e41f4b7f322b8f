"""People and rows by classes against all ways to match them, one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import gammaln

import anonymatch as am
from anonymatch.running import Budget
from anonymatch.tables import Links, Release, link
from anonymatch.tables.solving import block_solutions, chain
from anonymatch.tables.solving.chain import chain_shares
from anonymatch.tables.solving.flows import largest_flow


def release(fits: npt.NDArray[np.bool_], people: list[int], rows: list[int]) -> Release:
    """Kinds of people and classes of rows of these sizes."""
    return Release(
        columns=(),
        kind_of=np.repeat(np.arange(len(people)), people),
        class_of=np.repeat(np.arange(len(rows)), rows),
        indptr=np.concatenate(([0], np.cumsum(fits.sum(axis=1)))),
        indices=np.nonzero(fits)[1],
    )


def one_by_one(
    fits: npt.NDArray[np.bool_], people: list[int], rows: list[int]
) -> tuple[int, npt.NDArray[np.float64]]:
    """Ways to match, and the share of people of each kind who have rows of each class."""
    kinds, classes = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (people, rows))
    size = max(len(kinds), len(classes))
    kinds = np.append(kinds, np.full(size - len(kinds), len(people)))
    classes = np.append(classes, np.full(size - len(classes), len(rows)))
    padded = np.ones((len(people) + 1, len(rows) + 1), dtype=bool)
    padded[:-1, :-1] = fits
    total, table = 0, np.zeros(padded.shape)
    for order in itertools.permutations(range(size)):
        if padded[kinds, classes[list(order)]].all():
            total += 1
            np.add.at(table, (kinds, classes[list(order)]), 1.0)
    sizes = np.append(people, max(size - sum(people), 1))
    return total, table / max(total, 1) / sizes[:, None]


def draw(rng: np.random.Generator) -> tuple[npt.NDArray[np.bool_], list[int], list[int]]:
    while True:
        kinds, classes = rng.integers(1, 5, 2)
        people, rows = rng.integers(1, 4, kinds).tolist(), rng.integers(1, 4, classes).tolist()
        if max(sum(people), sum(rows)) <= 6:
            return rng.random((kinds, classes)) < 0.65, people, rows


@pytest.mark.grid
@pytest.mark.parametrize("written_down", [True, False])
def test_counts_and_shares_are_those_of_all_ways_one_by_one(
    monkeypatch: pytest.MonkeyPatch, *, written_down: bool
) -> None:
    if not written_down:
        monkeypatch.setattr(block_solutions, "_SMALL", -1)
    rng = np.random.default_rng(5)
    solved = impossible = 0
    for _ in range(120):
        fits, people, rows = draw(rng)
        total, shares = one_by_one(fits, people, rows)
        if not total:
            impossible += 1
            with pytest.raises((am.NoMatchingError, am.InputError)):
                link(release(fits, people, rows), budget=Budget.of(1.0))
            continue
        check(link(release(fits, people, rows), budget=Budget.of(1.0), seed=1), total, shares)
        solved += 1

    assert solved > 30
    assert impossible > 10


def check(links: Links, total: int, shares: npt.NDArray[np.float64]) -> None:
    release = links.release
    log = math.log(total) - math.lgamma(release.lost + 1) - math.lgamma(release.spare + 1)
    true = shares[links.kinds, links.classes]

    assert (links.possible == (true > 0)).all()
    if links.total is not None:
        alike = math.factorial(release.lost) * math.factorial(release.spare)
        assert links.total() == total // alike
    if links.exact:
        assert links.log == pytest.approx(log, abs=1e-9)
        assert links.share == pytest.approx(true, abs=1e-9)
    else:
        assert links.log_low - 1e-9 <= log <= links.log_high + 1e-9
        assert (np.abs(links.share - true) < 0.02 + 3 * (links.high - links.low)).all()


def test_large_blocks_are_drawn_within_their_errors() -> None:
    """Three kinds on a ring of three classes: every table is a number that goes around."""
    fits = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    people, rows = [400, 300, 500], [450, 350, 400]
    links = link(release(fits, people, rows), budget=Budget.of(4.0), seed=2)
    numbers = np.arange(0, 401)  # of the first kind in the first class
    second, third = 400 - numbers, 450 - numbers
    tables = np.stack([numbers, second, 350 - second, 300 - (350 - second), third, 500 - third])
    valid = (tables >= 0).all(axis=0)
    weights = np.where(valid, -gammaln(np.maximum(tables, 0) + 1.0).sum(axis=0), -np.inf)
    chances = np.exp(weights - weights.max())
    mean = float((chances * numbers).sum() / chances.sum()) / 400
    log = float(weights.max() + np.log(chances.sum()))
    log += float(gammaln(np.array([*people, *rows]) + 1.0).sum())

    assert links.method == "table chain"
    assert abs(links.share[0] - mean) < 0.003
    assert links.low[0] - 0.002 < mean < links.high[0] + 0.002
    assert links.log_low <= log <= links.log_high
    assert links.log == pytest.approx(log, abs=0.01)


def test_who_fits_too_few_rows_is_named() -> None:
    fits = np.array([[1, 0], [1, 1]], dtype=bool)

    with pytest.raises(am.NoMatchingError, match=r"3 people .*fit only 2 rows"):
        link(release(fits, [3, 1], [2, 2]), budget=Budget.of(1.0))


def nested_release(rng: np.random.Generator) -> tuple[npt.NDArray[np.bool_], list[int], list[int]]:
    """Classes that lie within each other: halves of a line of kinds, halves of these, and so on."""
    kinds = 4
    fits = [np.arange(kinds) >= 0]
    for begin, end in ((0, 2), (2, 4), (0, 1), (3, 4)):
        if rng.random() < 0.7:
            fits.append((np.arange(kinds) >= begin) & (np.arange(kinds) < end))
    people = rng.integers(1, 3, kinds).tolist()
    rows = np.ones(len(fits), dtype=int)
    rows[0] = max(sum(people) - len(fits) + 1, 1)
    return np.array(fits).T, people, rows.tolist()


@pytest.mark.grid
@pytest.mark.parametrize("turned", [False, True])
def test_classes_within_each_other_are_in_closed_form(*, turned: bool) -> None:
    rng = np.random.default_rng(8)
    solved = 0
    for _ in range(60):
        fits, people, rows = nested_release(rng)
        if turned:
            fits, people, rows = fits.T, rows, people
        total, shares = one_by_one(fits, people, rows)
        if not total or sum(people) != sum(rows):
            continue
        links = link(release(fits, people, rows), budget=Budget.of(1.0))

        assert links.exact
        assert links.method == "closed form"
        assert links.total is not None
        assert links.total() == total
        assert links.share == pytest.approx(shares[links.kinds, links.classes], abs=1e-12)
        solved += 1

    assert solved > 20


def test_intervals_of_drawn_blocks_hold_as_often_as_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_solutions, "_SMALL", -1)
    monkeypatch.setattr(chain, "_NEAR", 0.02)  # a short run, so that errors are there to be seen
    rng = np.random.default_rng(9)
    inside = pairs = 0
    for seed in range(400):
        fits, people, rows = draw(rng)
        total, shares = one_by_one(fits, people, rows)
        if not total:
            continue
        links = link(release(fits, people, rows), budget=Budget.of(1.0), seed=seed)
        drawn = links.possible & (links.high - links.low > 1e-9)
        true = shares[links.kinds, links.classes][drawn]
        inside += int(((true >= links.low[drawn]) & (true <= links.high[drawn])).sum())
        pairs += int(drawn.sum())

    assert pairs > 100
    assert inside / pairs > 0.9


def test_every_block_has_its_share_of_the_time() -> None:
    """Many small blocks beside a large one: none of them goes without."""
    ring = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    fits = np.kron(np.eye(30, dtype=bool), ring)
    links = link(release(fits, [1, 2, 1] * 30, [1, 1, 2] * 30), budget=Budget.of(0.2))

    assert links.exact


def test_a_count_is_bounded_by_one_table_when_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from anonymatch.tables.solving import enclosure

    monkeypatch.setattr(enclosure, "_LEAST_ROUNDS", 0)
    kinds, classes = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])
    people, rows, flow = np.array([3, 3, 2]), np.array([2, 3, 3]), np.array([2, 1, 2, 1, 2])
    truth = math.log(3 * 2 * 3 * 2 * 2 * 2 * 3 * 2 * 3 * 2 // (2 * 2 * 2))  # one table alone

    _, log, low, high = enclosure.block_log(kinds, classes, people, rows, flow=flow, seconds=0.0)

    assert low == pytest.approx(truth)
    assert low <= log <= high


def overlapping(rng: np.random.Generator, kinds: int) -> tuple[npt.NDArray[np.bool_], list[int]]:
    """Classes whose kinds overlap like ranges of ages do, so that there is no closed form."""
    fits = np.abs(np.arange(kinds)[:, None] - np.arange(kinds)[None, :]) <= rng.integers(
        2, 5, kinds
    )
    return fits, rng.integers(20, 60, kinds).tolist()


@pytest.mark.grid
@pytest.mark.parametrize("tick", [0.0, 3.0])
def test_one_seed_has_one_answer_however_fast_the_clock_goes(
    monkeypatch: pytest.MonkeyPatch, tick: float
) -> None:
    import time

    fits, sizes = overlapping(np.random.default_rng(4), 40)
    hard = release(fits, sizes, sizes)
    first = link(hard, budget=Budget.of(1.0), seed=5)
    now = itertools.count()
    for name in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(time, name, lambda: tick * next(now))

    again = link(hard, budget=Budget.of(1.0), seed=5)

    assert first.method == "table chain"
    assert again.share.tolist() == first.share.tolist()
    assert (again.low.tolist(), again.high.tolist()) == (first.low.tolist(), first.high.tolist())
    assert (again.log, again.log_low, again.log_high) == (first.log, first.log_low, first.log_high)


def test_many_blocks_beyond_the_budget_are_drawn_by_one_chain() -> None:
    """Blocks of three kinds on a ring; each share has a closed form of its own."""
    ring = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    number = 60
    fits = np.kron(np.eye(number, dtype=bool), ring)
    people = np.random.default_rng(3).integers(1, 5, 3 * number).tolist()
    whole = release(fits, people, people)
    exact = link(whole, budget=Budget.of(60.0), seed=1)
    drawn = link(whole, budget=Budget.of(0.4), seed=1)

    assert exact.exact
    assert "table chain" in drawn.method
    assert drawn.log_low <= exact.log <= drawn.log_high
    assert (drawn.possible == exact.possible).all()
    outside = (exact.share < drawn.low - 1e-9) | (exact.share > drawn.high + 1e-9)
    assert outside.mean() < 0.15
    assert np.abs(drawn.share - exact.share).max() < 0.15


def test_work_beyond_the_budget_or_the_memory_is_refused() -> None:
    fits, sizes = overlapping(np.random.default_rng(4), 40)
    hard = release(fits, sizes, sizes)
    pairs = int(fits.sum())

    with pytest.raises(am.BudgetError, match="matching people and rows would take"):
        link(hard, budget=Budget(seconds=1.0, memory=100.0 * pairs))
    # Enough for all that is possible, too little for chains.
    less = link(hard, budget=Budget(seconds=1.0, memory=300.0 * pairs))
    assert less.method == "Sinkhorn scaling"
    assert less.low.max() == 0.0
    assert (less.high > 2 * less.share).mean() > 0.9


def test_chains_that_have_not_converged_give_no_probabilities() -> None:
    n, width = 1000, 100
    pairs = [
        (i, j) for i in range(n) for j in range(max(0, i - width), min(n, i + width + 1))
    ]  # each person fits about 200 rows, so that every probability is near 0.005
    kinds, classes = np.array(pairs).T
    one = np.ones(n, dtype=np.int64)
    starts = (
        largest_flow(kinds, classes, one, one)[1],
        largest_flow(n - 1 - kinds, n - 1 - classes, one, one)[1],
    )

    assert chain_shares(kinds, classes, one, starts, seconds=0.9, seed=1) is None
    drawn = chain_shares(kinds, classes, one, starts, seconds=6.0, seed=1)
    assert drawn is not None
    share, error = drawn
    assert np.all(share - 4 * error <= 0.02)
