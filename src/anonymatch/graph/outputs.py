"""What a Graph is exported to: edge lists, bits, scipy, networkx (both imported when asked for)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.errors import InputError

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

    from anonymatch.graph.graph import Graph


def edge_list(graph: Graph) -> list[tuple[Any, ...]]:
    """Pairs, or triples with the exact weight."""
    users, behaviours = graph.users, graph.behaviours
    rows = (users[row] for row in graph.rows().tolist())
    columns = (behaviours[column] for column in graph.indices.tolist())
    if graph.exact_weights is None:
        return list(zip(rows, columns, strict=True))
    return list(zip(rows, columns, graph.exact_weights.tolist(), strict=True))


def rows(graph: Graph) -> list[str]:
    """One string of bits a user."""
    if graph.weighted:
        raise InputError("bits hold no weights; use to_edges() or to_scipy()")
    strings = []
    for begin, end in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
        bits = np.full(graph.n_behaviours, ord("0"), dtype=np.uint8)
        bits[graph.indices[begin:end]] = ord("1")
        strings.append(bits.tobytes().decode("ascii"))
    return strings


def sparse(graph: Graph) -> scipy.sparse.csr_array[Any, Any]:
    """A CSR array that shares nothing with the graph."""
    from scipy.sparse import csr_array

    data = np.ones(graph.n_edges, dtype=np.int64) if graph.weights is None else graph.weights
    parts = (data.copy(), graph.indices.copy(), graph.indptr.copy())
    return csr_array(parts, shape=(graph.n_users, graph.n_behaviours))


def network(graph: Graph) -> networkx.Graph[Any]:
    """A networkx graph, its nodes told apart if a user and a behaviour share a name."""
    import networkx

    users, behaviours = list(graph.users), list(graph.behaviours)
    if not set(users).isdisjoint(behaviours):
        users = [("user", name) for name in users]
        behaviours = [("behaviour", name) for name in behaviours]
    made: networkx.Graph[Any] = networkx.Graph()
    made.add_nodes_from(users, bipartite=0)
    made.add_nodes_from(behaviours, bipartite=1)
    pairs = zip(graph.rows().tolist(), graph.indices.tolist(), strict=True)
    ends = [(users[row], behaviours[column]) for row, column in pairs]
    if graph.exact_weights is None:
        made.add_edges_from(ends)
    else:
        weights = graph.exact_weights.tolist()
        made.add_weighted_edges_from(
            (*end, weight) for end, weight in zip(ends, weights, strict=True)
        )
    return made
