"""Released tables: who has which row at any size, and what to change."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from anonymatch.running import Budget
from anonymatch.tables import ColumnCells, Links, Release, generalise, kinds_of_people, link
from anonymatch.tables.solving.chain import chain_shares
from benchmarks.report import Line, Size, faster, plain, under

__all__ = ["lines"]

_ROWS = {"tiny": (300,), "quick": (3_000, 100_000), "full": (3_000, 100_000, 1_000_000)}
_DRAWN = {"tiny": 200, "quick": 1_000, "full": 1_000}
_IMPROVED = {"tiny": 200, "quick": 3_000, "full": 20_000}


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    for number in _ROWS[size]:
        yield _solved(number, judged=judged)
    yield _beside_chains(_DRAWN[size], judged=judged)
    yield _improved(_IMPROVED[size], judged=judged)


def recoded(number: int, seed: int = 1) -> Release:
    """Ages and districts at four levels of detail, each within the next, in rows of their own."""
    rng = np.random.default_rng(seed)
    age, zip_ = rng.integers(18, 90, number), rng.integers(0, 1000, number)
    level = rng.choice(4, number, p=[0.3, 0.4, 0.2, 0.1])
    order = rng.permutation(number)
    return _release(
        (_column("age", age, (5, 10, 20, 100), level, order, 90),
         _column("zip", zip_, (10, 100, 1000, 1000), level, order, 1000)),
        number,
    )  # fmt: skip


def _column(
    name: str,
    values: np.ndarray,
    widths: tuple[int, ...],
    level: np.ndarray,
    order: np.ndarray,
    most: int,
) -> ColumnCells:
    width = np.array(widths)[level]
    begin = values // width * width
    pairs, cell_of = np.unique(np.column_stack((begin, width)), axis=0, return_inverse=True)
    every = np.arange(most)
    fits = (every[:, None] >= pairs[:, 0]) & (every[:, None] < pairs.sum(axis=1))
    cells = tuple(f"{low}-{low + wide - 1}" for low, wide in pairs.tolist())
    return ColumnCells(
        name=name,
        values=tuple(map(str, range(most))),
        cells=cells,
        value_of=values,
        cell_of=cell_of.ravel()[order],
        fits=fits,
    )


def _release(columns: tuple[ColumnCells, ...], number: int) -> Release:
    kind_of, class_of, indptr, indices = kinds_of_people(columns)
    return Release(
        columns=columns, kind_of=kind_of, class_of=class_of, indptr=indptr, indices=indices
    )


def _sums(links: Links) -> np.ndarray:
    """Of each class, its rows by probability: must be as many as there are."""
    people = links.share * links.kind_sizes[links.kinds]
    return np.bincount(links.classes, people, len(links.class_sizes))


def _solved(number: int, *, judged: bool) -> Line:
    begin = time.process_time()
    links = link(recoded(number), budget=Budget(seconds=60.0))
    seconds = time.process_time() - begin
    assert links.exact
    assert np.allclose(_sums(links), links.class_sizes, rtol=1e-9)
    return under(
        f"{number:,} rows, four levels of local recoding: classes and probabilities",
        seconds,
        60.0 if judged else None,
        f"{len(links.class_sizes):,} classes, exact",
    )


def _beside_chains(number: int, *, judged: bool) -> Line:
    """The largest block in closed form, and by chains that know nothing of its shape."""
    release = recoded(number, seed=2)
    begin = time.process_time()
    links = link(release, budget=Budget(seconds=60.0))
    exact = time.process_time() - begin
    block = np.bincount(links.block[links.block >= 0]).argmax()
    pairs = np.flatnonzero(links.block == block)
    own, kinds = np.unique(links.kinds[pairs], return_inverse=True)
    _, classes = np.unique(links.classes[pairs], return_inverse=True)
    people, flow = links.kind_sizes[own], links.flow[pairs]
    begin = time.process_time()
    drawn = chain_shares(kinds, classes, people, (flow, flow), seconds=30.0, seed=1)
    by_chains = time.process_time() - begin
    assert drawn is not None
    share, error = drawn
    assert (np.abs(share - links.share[pairs]) < 6 * error + 0.01).all()
    return faster(
        f"{number:,} rows: closed form of nested classes",
        exact,
        f"chains to +-{2 * float(error.max()):.2g}",
        by_chains,
        3.0 if judged else None,
    )


def _improved(number: int, *, judged: bool) -> Line:
    release = recoded(number, seed=3)
    begin = time.process_time()
    found = generalise(release, {"k-anonymity": 5}, budget=Budget(seconds=60.0))
    seconds = time.process_time() - begin
    assert found.reached
    assert found.release.class_sizes.min() >= 5
    return plain(
        f"improve to k-anonymity 5, {number:,} rows: seconds",
        seconds,
        goal="under 10 s of CPU" if judged else "",
        passed=seconds < 10.0 if judged else None,
        note=f"loss {found.loss_before:.3f} before, {found.loss:.3f} after",
    )
