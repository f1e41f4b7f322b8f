"""Graph: who may have done what, as an immutable bipartite graph with names."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import elements, wholes
from anonymatch.base.errors import InputError
from anonymatch.base.summaries import summary_html
from anonymatch.base.text import several
from anonymatch.graph import inputs
from anonymatch.graph.edges import (
    Edges,
    Indices,
    Objects,
    Weights,
    canonical,
    exact_weight,
    inverse,
    pointers_where,
    settle,
)
from anonymatch.graph.thumbnails import thumbnail

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import networkx
    import scipy.sparse

    from anonymatch.graph.names import Names


def check_graph(graph: object) -> None:
    """Refuse what is no Graph where one is wanted."""
    if not isinstance(graph, Graph):
        raise InputError(
            f"need an anonymatch.Graph, not {type(graph).__name__}; "
            "make one with Graph.from_edges or read a file with anonymatch.read"
        )


class Graph:
    """Users, behaviours, and the edges between them: which user may have done which behaviour.

    A graph never changes. Its edges are kept by user as sorted rows (CSR), each edge once. Make one
    with :meth:`from_rows`, :meth:`from_edges`, :meth:`from_biadjacency`, :meth:`from_networkx` or
    :meth:`from_frame`, or read a file with :func:`anonymatch.read`. Users and behaviours without an
    edge are kept.

    Attributes
    ----------
    n_users, n_behaviours, n_edges : int
    weighted : bool
        Whether some weight is not 1. Edges of weight 0 are no edges.
    users, behaviours : sequence
        Names in index order: a ``range`` when they are 0, 1, 2, ..., else a tuple.
    indptr, indices : read-only int32 array
        Behaviours of user ``i``: ``indices[indptr[i]:indptr[i + 1]]``, increasing.
    weights : read-only float64 array or None
        Aligned with ``indices``; None when every weight is 1.
    exact_weights : read-only object array or None
        The same weights as Python ints and Fractions: what was given, or the exact binary value
        of a float; whole numbers are ints.

    Examples
    --------
    >>> from anonymatch.graph.graph import Graph
    >>> graph = Graph.from_rows(["1100", "1100", "0011", "0011"])
    >>> graph
    Graph(4 users, 4 behaviours, 8 edges)
    >>> graph.degrees.tolist()
    [2, 2, 2, 2]
    >>> graph.expose(0, 1).to_edges()
    [(1, 0), (2, 2), (2, 3), (3, 2), (3, 3)]
    """

    __slots__ = ("__weakref__", "_behaviours", "_edges", "_exact", "_hash", "_users")

    _users: Names
    _behaviours: Names
    _edges: Edges
    _exact: Objects | None
    _hash: int | None

    def __init__(self, users: Names, behaviours: Names, edges: Edges) -> None:
        """For this package: canonical edges under their names. Use a ``from_`` method."""
        for array in (edges.indptr, edges.indices, edges.weights, edges.exact):
            if array is not None:
                array.setflags(write=False)
        put = object.__setattr__
        put(self, "_users", users)
        put(self, "_behaviours", behaviours)
        put(self, "_edges", edges)
        put(self, "_exact", edges.exact)
        put(self, "_hash", None)

    # ---- making graphs

    @classmethod
    def from_rows(
        cls, rows: Iterable[str | Iterable[int]], *, n_behaviours: int | None = None
    ) -> Graph:
        """A graph with users 0, 1, ... from one row a user.

        Parameters
        ----------
        rows : iterable
            Each a string of bits (all of one length) or an iterable of behaviour indices.
        n_behaviours : int, optional
            Default: the length of the bit strings, or one more than the largest index.

        Examples
        --------
        >>> Graph.from_rows(["110", "011", "101"]) == Graph.from_rows([[0, 1], [1, 2], [0, 2]])
        True
        """
        return cls(*inputs.rows(rows, n_behaviours))

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        *,
        users: Iterable[Hashable] | None = None,
        behaviours: Iterable[Hashable] | None = None,
    ) -> Graph:
        """A graph from pairs (user, behaviour) or triples (user, behaviour, weight).

        Parameters
        ----------
        edges : iterable
            Names are any hashable values. An edge may come twice if its weight is the same.
        users, behaviours : iterable, optional
            All names in the order wanted; keeps those without an edge. Default: order of first
            appearance.

        Examples
        --------
        >>> graph = Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])
        >>> graph.users, graph.behaviours
        (('ann', 'bob'), ('x', 'y'))
        >>> Graph.from_edges([("ann", "x", 0.5)], users=["ann", "bob"])
        Graph(2 users, 1 behaviour, 1 edge, weighted)
        """
        return cls(*inputs.edge_list(edges, users, behaviours))

    @classmethod
    def from_biadjacency(
        cls,
        matrix: Any,
        users: Iterable[Hashable] | None = None,
        behaviours: Iterable[Hashable] | None = None,
    ) -> Graph:
        """A graph from a matrix with a row a user and a column a behaviour.

        Parameters
        ----------
        matrix : 2-D array, scipy.sparse matrix or array, or list of lists
            0/1, bool, or weights that are not negative (Fractions in an object array or list).
            Repeated entries of a sparse matrix add up, as everywhere in scipy.
        users, behaviours : iterable, optional
            Names; default 0, 1, 2, ...

        Examples
        --------
        >>> Graph.from_biadjacency([[1, 1], [0, 1]]).to_rows()
        ['11', '01']
        """
        return cls(*inputs.matrix(matrix, users, behaviours))

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph[Any], users: Iterable[Hashable] | None = None
    ) -> Graph:
        """A graph from a bipartite networkx graph.

        Parameters
        ----------
        graph : networkx.Graph
            Edges may carry the attribute ``weight``. Directions are ignored.
        users : iterable of nodes, optional
            Every other node is a behaviour. Default: nodes whose attribute ``bipartite`` is 0.

        Examples
        --------
        >>> import networkx as nx
        >>> Graph.from_networkx(nx.Graph([("ann", "x"), ("ann", "y")]), users=["ann"])
        Graph(1 user, 2 behaviours, 2 edges)
        """
        return cls(*inputs.network(graph, users))

    @classmethod
    def from_frame(cls, frame: Any) -> Graph:
        """A graph from a table with the columns user, behaviour and, if weighted, weight.

        Parameters
        ----------
        frame : polars or pandas DataFrame, Arrow table, or anything with an Arrow stream
            Other columns are ignored. A row without a behaviour keeps its user, and a row without a
            user keeps its behaviour. Names are text or whole numbers.

        Examples
        --------
        >>> import polars as pl
        >>> Graph.from_frame(pl.DataFrame({"user": ["ann", "bob"], "behaviour": ["x", None]}))
        Graph(2 users, 1 behaviour, 1 edge)
        """
        from anonymatch.graph.io import tables  # imports polars

        return cls(*tables.from_frame(frame))

    # ---- what it holds

    @property
    def nouns(self) -> tuple[str, str]:
        """What users and behaviours are called where this graph comes from."""
        return self._users.noun, self._behaviours.noun

    @property
    def n_users(self) -> int:
        return len(self._users)

    @property
    def n_behaviours(self) -> int:
        return len(self._behaviours)

    @property
    def n_edges(self) -> int:
        return len(self._edges.indices)

    @property
    def weighted(self) -> bool:
        return self._edges.weights is not None

    @property
    def users(self) -> Sequence[Hashable]:
        return self._users.values

    @property
    def behaviours(self) -> Sequence[Hashable]:
        return self._behaviours.values

    @property
    def indptr(self) -> Indices:
        return self._edges.indptr

    @property
    def indices(self) -> Indices:
        return self._edges.indices

    @property
    def weights(self) -> Weights | None:
        return self._edges.weights

    @property
    def exact_weights(self) -> Objects | None:
        if self._exact is None and self._edges.weights is not None:
            exact = np.empty(self.n_edges, dtype=object)
            exact[:] = [exact_weight(value) for value in self._edges.weights.tolist()]
            exact.setflags(write=False)
            object.__setattr__(self, "_exact", exact)
        return self._exact

    @property
    def rounded(self) -> bool:
        """Whether float64 cannot hold some weight, so that ``weights`` differs from the exact."""
        return self._edges.exact is not None

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of edges of each user."""
        return np.diff(self._edges.indptr).astype(np.int64)

    @property
    def behaviour_degrees(self) -> npt.NDArray[np.int64]:
        """Number of edges of each behaviour."""
        return np.bincount(self._edges.indices, minlength=self.n_behaviours).astype(np.int64)

    def rows(self) -> Indices:
        """User index of each edge, aligned with ``indices``."""
        return self._edges.rows()

    def user_index(self, name: Hashable) -> int:
        """Index of a user by name; an InputError suggests close names."""
        return self._users.find(name)

    def behaviour_index(self, name: Hashable) -> int:
        """Index of a behaviour by name; an InputError suggests close names."""
        return self._behaviours.find(name)

    # ---- graphs made from this one

    def expose(self, user: Hashable, behaviour: Hashable) -> Graph:
        """The graph that is left once an attacker knows that ``user`` did ``behaviour``.

        Both leave the graph with all their edges; it is an InputError if they share none.

        Examples
        --------
        >>> Graph.from_rows(["110", "111", "011"]).expose(1, 1).to_rows()
        ['10', '01']
        """
        row, column = self.user_index(user), self.behaviour_index(behaviour)
        begin, end = self.indptr[row], self.indptr[row + 1]
        if column not in self.indices[begin:end]:
            raise InputError(
                f"user {user!r} cannot be exposed as {behaviour!r}: that is not an edge"
            )
        return self.take(
            np.delete(np.arange(self.n_users), row),
            np.delete(np.arange(self.n_behaviours), column),
        )

    def select(self, users: Iterable[Hashable], behaviours: Iterable[Hashable]) -> Graph:
        """The graph of these users and behaviours only, in the order given, by name.

        Examples
        --------
        >>> Graph.from_edges([("ann", "x"), ("bob", "y")]).select(["bob"], ["x", "y"]).to_rows()
        ['01']
        """
        chosen = elements(users, "users must be a list of names")
        others = elements(behaviours, "behaviours must be a list of names")
        return self.take(
            [self.user_index(name) for name in chosen],
            [self.behaviour_index(name) for name in others],
        )

    def take(
        self,
        users: npt.NDArray[np.integer[Any]] | Sequence[int],
        behaviours: npt.NDArray[np.integer[Any]] | Sequence[int],
    ) -> Graph:
        """As :meth:`select`, by index: each index at most once.

        Examples
        --------
        >>> Graph.from_rows(["110", "011"]).take([1], [2, 1])
        Graph(1 user, 2 behaviours, 2 edges)
        """
        rows_taken, columns_taken = wholes(users, "users"), wholes(behaviours, "behaviours")
        new_row = inverse(rows_taken, self.n_users, "user")
        new_column = inverse(columns_taken, self.n_behaviours, "behaviour")
        edges = self._edges
        rows, columns = new_row[edges.rows()], new_column[edges.indices]
        retained = np.flatnonzero((rows >= 0) & (columns >= 0))
        values = edges.weights if edges.exact is None else edges.exact
        chosen = canonical(
            rows[retained],
            columns[retained],
            None if values is None else values[retained],
            (len(rows_taken), len(columns_taken)),
            str,
        )
        names = self._users.take(rows_taken), self._behaviours.take(columns_taken)
        return Graph(*names, chosen)

    def keep_edges(self, mask: npt.NDArray[np.bool_] | Sequence[bool]) -> Graph:
        """The graph with all users and behaviours but only the edges where ``mask`` is true.

        Examples
        --------
        >>> Graph.from_rows(["11", "01"]).keep_edges([True, False, True]).to_rows()
        ['10', '01']
        """
        mask = np.asarray(mask)
        if mask.shape != (self.n_edges,) or (mask.dtype != np.bool_ and self.n_edges):
            raise InputError(f"mask must be {self.n_edges} bools, one an edge")
        mask = mask.astype(np.bool_)
        edges = self._edges
        weights, exact = settle(
            None if edges.weights is None else edges.weights[mask],
            None if edges.exact is None else edges.exact[mask],
        )
        retained = Edges(
            indptr=pointers_where(edges.indptr, mask),
            indices=edges.indices[mask],
            weights=weights,
            exact=exact,
        )
        return Graph(self._users, self._behaviours, retained)

    # ---- exports

    def to_edges(self) -> list[tuple[Any, ...]]:
        """Pairs (user, behaviour), or triples with the exact weight, by user then behaviour.

        Examples
        --------
        >>> Graph.from_rows(["11", "01"]).to_edges()
        [(0, 0), (0, 1), (1, 1)]
        """
        users, behaviours = self.users, self.behaviours
        rows = (users[row] for row in self.rows().tolist())
        columns = (behaviours[column] for column in self.indices.tolist())
        if self.exact_weights is None:
            return list(zip(rows, columns, strict=True))
        return list(zip(rows, columns, self.exact_weights.tolist(), strict=True))

    def to_rows(self) -> list[str]:
        """One string of bits a user; only for graphs without weights.

        Examples
        --------
        >>> Graph.from_edges([("ann", "x"), ("bob", "x"), ("bob", "y")]).to_rows()
        ['10', '11']
        """
        if self.weighted:
            raise InputError("bits hold no weights; use to_edges() or to_scipy()")
        strings = []
        for begin, end in pairwise(self.indptr.tolist()):
            bits = np.full(self.n_behaviours, ord("0"), dtype=np.uint8)
            bits[self.indices[begin:end]] = ord("1")
            strings.append(bits.tobytes().decode("ascii"))
        return strings

    def to_scipy(self) -> scipy.sparse.csr_array[Any, Any]:
        """A new CSR array: int64 ones, or the float64 weights.

        Examples
        --------
        >>> Graph.from_rows(["11", "01"]).to_scipy().toarray().tolist()
        [[1, 1], [0, 1]]
        """
        from scipy.sparse import csr_array

        data = np.ones(self.n_edges, dtype=np.int64) if self.weights is None else self.weights
        parts = (data.copy(), self.indices.copy(), self.indptr.copy())
        return csr_array(parts, shape=(self.n_users, self.n_behaviours))

    def to_networkx(self) -> networkx.Graph[Any]:
        """A networkx graph: nodes carry ``bipartite`` 0 (user) or 1, weighted edges ``weight``.

        Nodes are the names; if a user and a behaviour share a name, all nodes become pairs
        ``("user", name)`` and ``("behaviour", name)``.

        Examples
        --------
        >>> sorted(Graph.from_edges([("ann", "x"), ("ann", "y")]).to_networkx().edges)
        [('ann', 'x'), ('ann', 'y')]
        """
        import networkx

        users, behaviours = list(self.users), list(self.behaviours)
        if not set(users).isdisjoint(behaviours):
            users = [("user", name) for name in users]
            behaviours = [("behaviour", name) for name in behaviours]
        made: networkx.Graph[Any] = networkx.Graph()
        made.add_nodes_from(users, bipartite=0)
        made.add_nodes_from(behaviours, bipartite=1)
        weights = [1] * self.n_edges if self.exact_weights is None else self.exact_weights.tolist()
        ends = zip(self.rows().tolist(), self.indices.tolist(), weights, strict=True)
        edges = [(users[row], behaviours[column], weight) for row, column, weight in ends]
        if self.weighted:
            made.add_weighted_edges_from(edges)
        else:
            made.add_edges_from(edge[:2] for edge in edges)
        return made

    # ---- as a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (
            self._edges == other._edges
            and self._users == other._users
            and self._behaviours == other._behaviours
        )

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.n_behaviours, self._edges)))
        return self._hash or 0

    def __reduce__(self) -> tuple[type[Graph], tuple[Names, Names, Edges]]:
        return Graph, (self._users, self._behaviours, self._edges)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Graph never changes; cannot set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph never changes; cannot delete {name}")

    def __repr__(self) -> str:
        parts = ((self.n_users, "user"), (self.n_behaviours, "behaviour"), (self.n_edges, "edge"))
        size = ", ".join(several(*part) for part in parts)
        return f"Graph({size}{', weighted' if self.weighted else ''})"

    def _repr_html_(self) -> str:
        degrees = self.degrees
        fit = f"{degrees.mean():.4g} ({degrees.min()} to {degrees.max()})" if len(degrees) else "–"
        figures = [
            ("users", f"{self.n_users:,}", ""),
            ("behaviours", f"{self.n_behaviours:,}", ""),
            ("edges", f"{self.n_edges:,}", "pairs that an attacker cannot rule out"),
            ("candidates", fit, "behaviours that fit a user, on average (fewest to most)"),
        ]
        return summary_html(repr(self), figures, picture=thumbnail(self))
