"""Reading 10^7 edges from CSV against what polars alone needs to read the same file.

Run ``python benchmarks/read_csv.py [edges]``. CPU time, best of five, interleaved.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from anonymatch.graph.bipartite import Graph
from anonymatch.graph.files import read

GOAL = 3.0


def main(n_edges: int) -> None:
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
            polars, graph = 1e9, 1e9
            for _ in range(5):
                polars = min(polars, seconds_of_polars(path))
                begin = time.process_time()
                made = read(path)
                graph = min(graph, time.process_time() - begin)
            check(made, edges)
            print(
                f"{len(edges)} edges {order}: polars {polars:.2f} s, read {graph:.2f} s of CPU, "
                f"ratio {graph / polars:.2f} (goal {GOAL})"
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")


def seconds_of_polars(path: Path) -> float:
    begin = time.process_time()
    pl.read_csv(path, infer_schema=False)
    return time.process_time() - begin


def check(graph: Graph, edges: pl.DataFrame) -> None:
    """A fast wrong answer is no result."""
    assert graph.n_edges == len(edges)
    assert graph.n_users == edges["user"].n_unique()
    user, behaviour = edges.row(len(edges) // 2)
    row = graph.user_index(user)
    span = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
    assert graph.behaviour_index(behaviour) in span


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7)
