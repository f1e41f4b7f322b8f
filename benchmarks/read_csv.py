"""Reading edges from CSV beside what polars alone needs to read the same file.

CPU time of all threads, since polars decides how many it takes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import anonymatch as am
from benchmarks.report import Line, Size, within
from benchmarks.timing import race

__all__ = ["lines"]

_EDGES = {"tiny": 100, "quick": 10**6, "full": 10**7}
_GOAL = 3.0


def lines(size: Size) -> Iterator[Line]:
    n_edges = _EDGES[size]
    n_users = max(n_edges // 10, 1)
    drawn = np.random.default_rng(1).integers(0, n_users, n_edges)
    edges = pl.DataFrame({"user": np.arange(n_edges) // 10, "behaviour": drawn})
    edges = edges.unique(maintain_order=True).select(
        user=pl.format("u{}", "user"), behaviour=pl.format("b{}", "behaviour")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.csv")
        for order in ("by user", "shuffled"):
            if order == "shuffled":
                edges = edges.sample(fraction=1, shuffle=True, seed=1)
            edges.write_csv(path)
            timed = race(
                {"polars": partial(_rows, path), "ours": partial(_edges, path)},
                rounds=1 if size == "tiny" else 5,
            )
            assert timed["ours"].answer == timed["polars"].answer == len(edges)
            yield within(
                f"read CSV, {len(edges)} edges {order}",
                timed["ours"].seconds,
                "polars.read_csv",
                timed["polars"].seconds,
                _GOAL if size != "tiny" else None,
            )
            _check(am.read(path), edges)


def _rows(path: Path) -> int:
    return len(pl.read_csv(path, infer_schema=False))


def _edges(path: Path) -> int:
    return am.read(path).n_edges


def _check(graph: am.Graph, edges: pl.DataFrame) -> None:
    assert graph.n_users == edges["user"].n_unique()
    for user, behaviour in edges[:: max(len(edges) // 100, 1)].iter_rows():
        row = graph.user_index(user)
        span = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        assert graph.behaviour_index(behaviour) in span
