"""What the constructors of Graph accept, turned into names and canonical edges."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import elements, whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import several
from anonymatch.graph.edges import AnyArray, Edges, canonical
from anonymatch.graph.names import Names, plain

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import networkx

Parts = tuple[Names, Names, Edges]

_SHAPE = "(user, behaviour) or (user, behaviour, weight)"
_NO_EDGE = (str, bytes, set, frozenset, dict)  # they have a length, and no first and second


def rows(given: Iterable[str | Iterable[int]], n_behaviours: int | None) -> Parts:
    """Bit strings or iterables of behaviour indices, one a user."""
    if isinstance(given, str) or getattr(given, "ndim", 1) != 1:
        raise InputError("from_rows takes one row a user; for a matrix use from_biadjacency")
    lengths: list[int] = []
    columns: list[npt.NDArray[np.int64]] = []
    if n_behaviours is not None:
        n_behaviours = whole(n_behaviours, "n_behaviours")
    width = n_behaviours
    for user, row in enumerate(elements(given, "rows must be one row a user")):
        if isinstance(row, str):
            width = len(row) if width is None else width
            columns.append(_bits(row, user, width))
        else:
            columns.append(_positions(row, user, n_behaviours))
        lengths.append(len(columns[-1]))
    joined = np.concatenate(columns) if columns else np.empty(0, dtype=np.int64)
    largest = int(joined.max()) if len(joined) else -1
    if width is None:
        width = largest + 1
    if largest >= width:
        raise InputError(
            f"behaviour {largest} is outside the {several(width, 'behaviour')}; widen the rows"
        )
    users = np.repeat(np.arange(len(lengths)), lengths)
    edges = canonical(users, joined, None, (len(lengths), width), str)
    if edges.duplicates:
        doubled = int(np.flatnonzero(np.diff(edges.indptr) != np.array(lengths))[0])
        raise InputError(
            f"row {doubled} names a behaviour twice; rows hold behaviour indices "
            "(for a 0/1 matrix use from_biadjacency)"
        )
    return Names(range(len(lengths)), "user"), Names(range(width), "behaviour"), edges


def _bits(row: str, user: int, width: int) -> npt.NDArray[np.int64]:
    if len(row) != width:
        raise InputError(
            f"row {user} has {several(len(row), 'bit')}, expected {width}; give all rows alike"
        )
    try:
        bits = np.frombuffer(row.encode("ascii"), dtype=np.uint8) - ord("0")
        valid = bool((bits <= 1).all())
    except UnicodeEncodeError:
        valid = False
    if not valid:
        raise InputError(f"row {user} is {row[:40]!r}; a bit string holds only 0 and 1")
    return np.flatnonzero(bits)


def _positions(row: Iterable[int], user: int, limit: int | None) -> npt.NDArray[np.int64]:
    wrong = f"row {user} must hold behaviour indices (whole numbers) or be bits"
    if isinstance(row, bytes):
        raise InputError(f"{wrong}, not {row[:40]!r}")
    known = isinstance(row, (list, range, np.ndarray))
    positions = np.array(row if known else list(elements(row, wrong)))
    if positions.size == 0:
        return np.empty(0, dtype=np.int64)
    if positions.dtype.kind not in "iu" or positions.ndim != 1:
        raise InputError(wrong)
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or (limit is not None and high >= limit):
        raise InputError(
            f"row {user} names behaviour {low if low < 0 else high}, outside 0 to "
            f"{'...' if limit is None else limit - 1}"
        )
    return positions.astype(np.int64)


def edge_list(
    edges: Iterable[Sequence[Any]],
    users: Iterable[Hashable] | None,
    behaviours: Iterable[Hashable] | None,
) -> Parts:
    """Pairs or triples of names (and a weight)."""
    sides = tuple(
        None if names is None else Names.given(names, None, noun)
        for names, noun in ((users, "user"), (behaviours, "behaviour"))
    )
    indices: list[dict[Hashable, int]] = [{}, {}]
    ends = (array("q"), array("q"))
    weights: list[object] = []
    weighted = False
    for position, edge in enumerate(elements(edges, f"edges must be pairs {_SHAPE}")):
        if isinstance(edge, _NO_EDGE) or not hasattr(edge, "__len__") or not 2 <= len(edge) <= 3:
            raise InputError(f"edge {position} is {edge!r}; give {_SHAPE}")
        if len(edge) == 3 and not weighted:
            weighted, weights = True, [1] * position
        if weighted:
            weights.append(edge[2] if len(edge) == 3 else 1)
        for side, fixed in enumerate(sides):
            if fixed is not None:
                ends[side].append(fixed.find(edge[side]))
                continue
            index = indices[side]
            try:
                end = index.get(edge[side])
            except TypeError:
                end = None  # not hashable: ``plain`` says so
            if end is None:
                end = index.setdefault(plain(edge[side], ("user", "behaviour")[side]), len(index))
            ends[side].append(end)
    names = tuple(
        fixed if fixed is not None else Names(tuple(index), noun)
        for fixed, index, noun in zip(sides, indices, ("user", "behaviour"), strict=True)
    )
    row, column = (np.array(end, dtype=np.int64) for end in ends)
    return join(names[0], names[1], row, column, weights if weighted else None)


def matrix(
    given: Any, users: Iterable[Hashable] | None, behaviours: Iterable[Hashable] | None
) -> Parts:
    """A dense or sparse biadjacency matrix."""
    values: AnyArray
    if hasattr(given, "tocsr"):
        sparse = given.tocsr()
        if not sparse.has_canonical_format:
            sparse = sparse.copy()
            sparse.sum_duplicates()
        shape: tuple[int, ...] = sparse.shape
        coordinates = sparse.tocoo()
        row, column, values = coordinates.row, coordinates.col, coordinates.data
    else:
        if isinstance(given, np.ma.MaskedArray):
            given = given.filled(0)
        try:
            dense = np.asarray(given)
            rounded = dense.dtype.kind == "f" and not isinstance(given, np.ndarray)
            if rounded and (dense >= 2.0**53).any():  # whole numbers among floats in a list
                dense = np.array(given, dtype=object)
        except ValueError:
            raise InputError("the rows of the matrix differ in length") from None
        if dense.shape == (0,):
            dense = dense.reshape(0, 0)
        shape = dense.shape
        if len(shape) != 2:
            number = several(len(shape), "dimension")
            raise InputError(f"the matrix has {number}; give users x behaviours")
        # Among objects, what is neither 0 nor a number (None, text) must not pass for no edge.
        row, column = np.nonzero(dense != 0 if dense.dtype == object else dense)
        values = dense[row, column]
    names = (Names.given(users, shape[0], "user"), Names.given(behaviours, shape[1], "behaviour"))
    return join(*names, row, column, values)


def network(graph: networkx.Graph[Any], users: Iterable[Hashable] | None) -> Parts:
    """A bipartite networkx graph."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "edges")):
        kind = type(graph)
        raise InputError(f"need a networkx.Graph, not {kind.__module__}.{kind.__qualname__}")
    if users is None:
        sides = dict(graph.nodes(data="bipartite"))
        if any(side not in (0, 1) for side in sides.values()):
            raise InputError("tell which nodes are users: from_networkx(graph, users=[...])")
        users = [node for node, side in sides.items() if side == 0]
    named = Names.given(users, None, "user")
    for name in named.values:
        if name not in graph:
            raise InputError(f"user {name!r} is no node of the graph")
    behaviours = [node for node in graph if node not in named.index]
    edges: list[tuple[Any, ...]] = []
    for one, other, weight in graph.edges(data="weight", default=1):
        if (one in named.index) == (other in named.index):
            side = "users" if one in named.index else "behaviours"
            raise InputError(
                f"{one!r} and {other!r} are both {side} but share an edge; "
                "the graph must be bipartite between users and the rest"
            )
        pair = (one, other) if one in named.index else (other, one)
        edges.append((*pair, weight))
    return edge_list(edges, named.values, behaviours)


def join(users: Names, behaviours: Names, row: AnyArray, column: AnyArray, weights: Any) -> Parts:
    """Canonical edges under their names; messages name user and behaviour."""

    def describe(position: int) -> str:
        user, behaviour = users[int(row[position])], behaviours[int(column[position])]
        return f"user {user!r}, behaviour {behaviour!r}"

    shape = (len(users), len(behaviours))
    return users, behaviours, canonical(row, column, weights, shape, describe)
