"""Weights of every kind on one graph, for methods that are held against the frontier programme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from tests.strategies import holds, worst_error

import anonymatch as am

__all__ = ["assert_weights_are_kept", "weighted"]


def weighted(graph: am.Graph, weights: Sequence[object]) -> am.Graph:
    ends = graph.indptr.tolist()
    users = [i for i in range(graph.n_users) for _ in range(ends[i], ends[i + 1])]
    return am.Graph.from_edges(list(zip(users, graph.indices.tolist(), weights, strict=True)))


def assert_weights_are_kept(method: str, graph: am.Graph, kind: str) -> None:
    """The method gives the count and posteriors of the graph with drawn weights of this kind."""
    rng = np.random.default_rng(6)
    draws: dict[str, Callable[[], object]] = {
        "integers": lambda: int(rng.integers(1, 1000)),
        "fractions": lambda: Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50))),
        "floats": lambda: float(rng.random()) + 1e-3,
        "wild": lambda: float(2.0 ** rng.uniform(-300, 300)),
        "large": lambda: int(rng.integers(1, 2**62)) ** 5,
    }
    graph = weighted(graph, [draws[kind]() for _ in range(graph.n_edges)])
    truth = Fraction(am.count(graph, method="frontier", exact=True).value)
    through = am.posterior(graph, method="frontier", exact=True).counts.to_dense()

    assert am.count(graph, method=method, exact=True).value == truth
    assert holds(am.count(graph, method=method), truth)
    posterior = am.posterior(graph, method=method)
    assert posterior.error <= 1e-12
    assert worst_error(posterior, through.tolist()) <= Fraction(posterior.error)
    exact = am.posterior(graph, method=method, exact=True)
    assert (exact.counts.to_dense() == through).all()
