"""Posterior: the chance of every edge, and the matchings through it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.counting.result import Plan
from anonymatch.errors import InputError
from anonymatch.graph.bipartite import Graph
from anonymatch.wording import several

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["EdgeCounts", "Posterior"]

Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]


class EdgeCounts(Mapping[Hashable, dict[Hashable, Any]]):
    """For each user, the number of matchings through each of the user's edges, exactly.

    ``by_edge`` has them all as Python ints (Fractions for weighted graphs), in the order of the
    graph's edges.

    Examples
    --------
    >>> import anonymatch as am
    >>> counts = am.posterior(am.Graph.from_rows(["110", "011", "111"])).counts
    >>> counts[0], counts.by_edge.tolist()
    ({0: 2, 1: 1}, [2, 1, 1, 2, 1, 1, 1])
    >>> counts.to_dense().tolist()
    [[2, 1, 0], [0, 1, 2], [1, 1, 1]]
    """

    def __init__(self, graph: Graph, values: Objects) -> None:
        values.setflags(write=False)
        self.by_edge = values
        self._graph = graph

    def __reduce__(self) -> tuple[type[EdgeCounts], tuple[Graph, Objects]]:
        return EdgeCounts, (self._graph, self.by_edge)

    def __getitem__(self, user: Hashable) -> dict[Hashable, Any]:
        return _row(self._graph, self.by_edge, user)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._graph.users)

    def __len__(self) -> int:
        return self._graph.n_users

    def to_dense(self) -> Objects:
        """A matrix of exact numbers, users by behaviours, 0 where there is no edge."""
        graph = self._graph
        dense = np.zeros((graph.n_users, graph.n_behaviours), dtype=object)
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        dense[rows, graph.indices] = self.by_edge
        return dense


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """The chance of every edge: that this user did this behaviour.

    Attributes
    ----------
    graph : Graph
    chances : array
        One an edge, in the order of the graph's edges; edges in no matching have 0.
    exact : bool
        Whether `counts` gives the exact numbers that the chances are rounded from.
    error : float
        Bound on the error of each chance; of estimates, twice the largest standard error, or the
        epsilon that was asked for.
    errors : array or None
        Standard errors of estimates, one an edge, 0 where exact; None if nothing was estimated.
    rounding : float
        Bound on the error of chances that were not estimated.
    confidence : float
        Chance that the bound holds for an edge (with an epsilon: for all); 1.0 means proven.
    method, seed, plan
        What ran, its seed (None: nothing random), and the way block by block.

    Examples
    --------
    >>> import anonymatch as am
    >>> p = am.posterior(am.Graph.from_rows(["110", "011", "111"]))
    >>> p[2], p.counts[2]
    ({0: 0.333, 1: 0.333, 2: 0.333}, {0: 1, 1: 1, 2: 1})
    """

    graph: Graph = field(repr=False)
    chances: Floats = field(repr=False)
    exact: bool
    error: float
    method: str
    errors: Floats | None = field(default=None, repr=False)
    rounding: float = 0.0
    confidence: float = 1.0
    seed: int | None = None
    plan: Plan = field(default_factory=Plan, repr=False)
    exact_counts: Callable[[], Objects] | None = field(default=None, repr=False)

    @property
    def margins(self) -> Floats:
        """How far each chance may be off, one an edge: proven, or two standard errors."""
        if self.errors is None:
            return np.full(len(self.chances), self.error)
        return np.where(self.errors > 0.0, 2.0 * self.errors, self.rounding)

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The chances as a scipy CSR array with the graph's pattern."""
        import scipy.sparse

        graph = self.graph
        return scipy.sparse.csr_array(
            (self.chances, graph.indices, graph.indptr), shape=(graph.n_users, graph.n_behaviours)
        )

    def __getitem__(self, user: Hashable) -> dict[Hashable, float]:
        return _row(self.graph, self.chances, user)

    @cached_property
    def counts(self) -> EdgeCounts:
        """Matchings through each edge, as Python ints (computed when first asked for).

        Raises
        ------
        InputError
            If the chances are not exact: ask for ``posterior(graph, exact=True)``. Or if they were
            pickled before their counts were computed.
        """
        if self.exact_counts is None and self.exact:
            raise InputError("counts do not travel unless computed; ask for them before pickling")
        if self.exact_counts is None:
            raise InputError("these chances are not exact; use posterior(graph, exact=True)")
        return EdgeCounts(self.graph, self.exact_counts())

    def __getstate__(self) -> dict[str, object]:
        """Pickled without the way to exact counts, unless they are computed already."""
        state = dict(self.__dict__)
        state["exact_counts"] = None
        state.pop("matrix", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["chances"].setflags(write=False)
        if state["errors"] is not None:
            state["errors"].setflags(write=False)
        self.__dict__.update(state)

    def __copy__(self) -> Posterior:
        return self

    def __deepcopy__(self, memo: object) -> Posterior:
        """Itself: it never changes, and a copy would lose the way to exact counts."""
        return self

    def __str__(self) -> str:
        trust = "exact" if self.exact else f"errors below {self.error:.2g}"
        if self.confidence < 1.0:
            trust += f" ({self.confidence:.0%} sure, seed {self.seed})"
        return f"chances of {several(self.graph.n_edges, 'edge')}, {trust}, by {self.method}"


def _row(graph: Graph, values: npt.NDArray[Any], user: Hashable) -> dict[Hashable, Any]:
    i = graph.user_index(user)
    edges = slice(int(graph.indptr[i]), int(graph.indptr[i + 1]))
    names = graph.behaviours
    behaviours = graph.indices[edges].tolist()
    return {names[j]: v for j, v in zip(behaviours, values[edges].tolist(), strict=True)}
