"""What can be said before counting: a matching or Hall's witness, blocks, allowed and forced edges.

Every perfect matching of a graph is a choice of one matching in each of its blocks, so the count is
a product over blocks. All of this takes time linear in the edges, in practice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Ints
from anonymatch.base.errors import NoMatchingError
from anonymatch.base.text import several
from anonymatch.graph.edges import Edges, Indices, Weights, pointers, settle
from anonymatch.graph.graph import Graph, check_graph


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure:
    """A maximum matching of a graph, and its blocks if the matching covers all users.

    All arrays are read-only and hold indices. An edge is in some matching that covers all users if
    and only if both ends are in the same block. Blocks are numbered by their smallest user. If no
    matching covers all users there are no blocks, but a witness: users who together have only the
    witness' behaviours, one fewer than they are. Without any one of them the rest could be matched.
    """

    n_matched: int  # users that a matching can cover
    behaviour_of_user: Indices  # one maximum matching; -1 for who is left out
    user_of_behaviour: Indices
    n_blocks: int
    block_of_user: Indices
    block_of_behaviour: Indices  # -1 for behaviours without an edge
    witness_users: Indices
    witness_behaviours: Indices
    kernel: _native.Structure = field(repr=False)  # what the kernel needs to go on

    @property
    def matched(self) -> bool:
        """Whether some matching covers all users."""
        return self.n_matched == len(self.behaviour_of_user)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockTable:
    """The allowed edges of a graph, block after block, in local numbers.

    Block ``k`` has the users ``users[user_offsets[k]:user_offsets[k + 1]]`` and its behaviours
    likewise; places in these lists are the local numbers. The user at place ``p`` of ``users`` has
    the edges ``row_offsets[p]`` to ``row_offsets[p + 1]``: ``local_indices`` are local numbers of
    behaviours, increasing in each row, and ``edges`` the places of the same edges in the graph.

    Blocks of one class have identical local rows and identical weights (checked, not guessed), so
    one count serves all of them. ``class_first`` is the first block of each class.
    """

    user_offsets: Indices
    users: Indices
    behaviour_offsets: Indices
    behaviours: Indices
    edge_offsets: Indices
    row_offsets: Indices
    local_indices: Indices
    edges: Indices
    class_of_block: Indices
    class_first: Indices

    @property
    def n_blocks(self) -> int:
        return len(self.class_of_block)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Why there is no perfect matching: ``users`` together fit only ``behaviours``, too few.

    Without any one of these users the others could be matched.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> why = witness(Graph.from_edges([("ann", "x"), ("bob", "x"), ("cem", "y")]))
    >>> why.users, why.behaviours
    (('ann', 'bob'), ('x',))
    """

    users: tuple[Hashable, ...]
    behaviours: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockView:
    """One irreducible block of a graph, in the names and the order of the graph.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> block = blocks(Graph.from_rows(["110", "110", "111"]))[0]
    >>> block, block.users, block.behaviours
    (BlockView(2 users, 2 behaviours, 4 edges), (0, 1), (0, 1))
    """

    whole: Graph
    index: int

    @property
    def _users(self) -> Indices:
        return self._part("users", "user_offsets")

    @property
    def _behaviours(self) -> Indices:
        return self._part("behaviours", "behaviour_offsets")

    def _part(self, values: str, offsets: str) -> Indices:
        table = block_table(self.whole)
        bounds: Indices = getattr(table, offsets)[self.index : self.index + 2]
        part: Indices = np.sort(getattr(table, values)[bounds[0] : bounds[1]])
        return part

    @property
    def users(self) -> tuple[Hashable, ...]:
        names = self.whole.users
        return tuple(names[i] for i in self._users.tolist())

    @property
    def behaviours(self) -> tuple[Hashable, ...]:
        names = self.whole.behaviours
        return tuple(names[i] for i in self._behaviours.tolist())

    @property
    def n_users(self) -> int:
        return len(self._users)

    @property
    def n_behaviours(self) -> int:
        return len(self._behaviours)

    @property
    def n_edges(self) -> int:
        begin, end = block_table(self.whole).edge_offsets[self.index : self.index + 2].tolist()
        return int(end - begin)

    def graph(self) -> Graph:
        """The block as a graph of its own: its users, behaviours and allowed edges."""
        whole, users, behaviours = self.whole, self._users, self._behaviours
        chosen = self._part("edges", "edge_offsets")
        rows = np.searchsorted(users, np.searchsorted(whole.indptr, chosen, side="right") - 1)
        weights, exact = whole._edges.weights, whole._edges.exact
        weights, exact = settle(
            None if weights is None else weights[chosen], None if exact is None else exact[chosen]
        )
        edges = Edges(
            indptr=pointers(rows, len(users)),
            indices=np.searchsorted(behaviours, whole.indices[chosen]).astype(np.int32),
            weights=weights,
            exact=exact,
        )
        return Graph(whole._users.take(users), whole._behaviours.take(behaviours), edges)

    def __repr__(self) -> str:
        sizes = (self.n_users, "user"), (self.n_behaviours, "behaviour"), (self.n_edges, "edge")
        text = ", ".join(several(*size) for size in sizes)
        return f"BlockView({text})"


class Blocks(Sequence[BlockView]):
    """The irreducible blocks of a graph, by smallest user; each is made when it is asked for.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> parts = blocks(Graph.from_rows(["110", "110", "111"]))
    >>> len(parts), [part.n_users for part in parts]
    (2, [2, 1])
    """

    __slots__ = ("_graph", "_indices")

    def __init__(self, graph: Graph, indices: range) -> None:
        self._graph, self._indices = graph, indices

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, key: int) -> BlockView: ...
    @overload
    def __getitem__(self, key: slice) -> Blocks: ...
    def __getitem__(self, key: int | slice) -> BlockView | Blocks:
        if isinstance(key, slice):
            return Blocks(self._graph, self._indices[key])
        return BlockView(self._graph, self._indices[key])

    def __repr__(self) -> str:
        return f"Blocks({len(self)} of {self._graph!r})"


# A graph never changes, so what was found about it holds as long as it lives.
_CHUNK = 1 << 14  # users: fresh memory for all edges at once costs more than the work in it

_structures: WeakKeyDictionary[Graph, Structure] = WeakKeyDictionary()
_tables: WeakKeyDictionary[Graph, BlockTable] = WeakKeyDictionary()


def structure(graph: Graph) -> Structure:
    """A maximum matching, and the blocks or Hall's witness, in indices.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> parts = structure(Graph.from_rows(["110", "110", "111"]))
    >>> parts.n_matched, parts.block_of_user.tolist(), parts.block_of_behaviour.tolist()
    (3, [0, 0, 1], [0, 0, 1])
    """
    check_graph(graph)
    known = _structures.get(graph)
    if known is None:
        kernel = _native.find_structure(graph)
        known = _structures[graph] = _read(Structure, kernel, kernel=kernel)
    return known


def block_table(graph: Graph) -> BlockTable:
    """All blocks at once, as arrays, with equal blocks recognised.

    Raises
    ------
    NoMatchingError
        If no matching covers all users.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> table = block_table(Graph.from_rows(["1100", "1111", "0011", "1100"]))
    >>> table.users.tolist(), table.user_offsets.tolist()
    ([0, 3, 1, 2], [0, 2, 4])
    >>> table.class_of_block.tolist()
    [0, 0]
    """
    check_graph(graph)
    known = _tables.get(graph)
    if known is None:
        kernel = require_matching(graph).kernel
        known = _read(BlockTable, _native.block_table(graph, kernel, _weight_keys(graph)))
        _tables[graph] = known
    return known


def blocks(graph: Graph) -> Blocks:
    """The irreducible blocks: pieces whose matchings are chosen independently.

    Every edge of a block is in some perfect matching; edges between blocks are in none. If there
    are more behaviours than users, blocks may have spare behaviours.

    Parameters
    ----------
    graph : Graph

    Raises
    ------
    NoMatchingError
        If no matching covers all users; it carries Hall's witness.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    >>> parts = blocks(Graph.from_edges(pairs))
    >>> [(part.users, part.behaviours) for part in parts]
    [(('ann', 'bob'), ('x', 'y')), (('cem',), ('z',))]
    >>> parts[0].graph()
    Graph(2 users, 2 behaviours, 4 edges)
    """
    return Blocks(graph, range(require_matching(graph).n_blocks))


def allowed(graph: Graph) -> Graph:
    """The graph of the edges that are in some perfect matching; all users and behaviours stay.

    Parameters
    ----------
    graph : Graph

    Raises
    ------
    NoMatchingError
        If no matching covers all users; it carries Hall's witness.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> allowed(Graph.from_rows(["110", "110", "111"])).to_rows()
    ['110', '110', '001']
    """
    parts = require_matching(graph)
    small = np.min_scalar_type(
        parts.n_blocks
    )  # the fewer bytes, the more of them stay in the cache
    of_user, of_behaviour = (
        blocks.astype(small) for blocks in (parts.block_of_user, parts.block_of_behaviour)
    )
    mask = np.empty(graph.n_edges, dtype=np.bool_)
    for first in range(0, graph.n_users, _CHUNK):
        users = slice(first, first + _CHUNK)
        starts = graph.indptr[first : first + _CHUNK + 1]
        edges = slice(int(starts[0]), int(starts[-1]))
        own = np.repeat(of_user[users], np.diff(starts))
        np.equal(own, of_behaviour.take(graph.indices[edges]), out=mask[edges])
    return graph if mask.all() else graph.keep_edges(mask)


def forced(graph: Graph) -> list[tuple[Hashable, Hashable]]:
    """The pairs (user, behaviour) that are in every perfect matching: these users are identified.

    Parameters
    ----------
    graph : Graph

    Raises
    ------
    NoMatchingError
        If no matching covers all users; it carries Hall's witness.

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> forced(Graph.from_rows(["110", "110", "111"]))
    [(2, 2)]
    """
    parts = require_matching(graph)
    used = parts.block_of_behaviour[parts.block_of_behaviour >= 0]
    sizes = (np.bincount(side, minlength=parts.n_blocks) for side in (parts.block_of_user, used))
    single = np.logical_and.reduce([size == 1 for size in sizes])
    users = np.flatnonzero(single[parts.block_of_user])
    names = zip(users.tolist(), parts.behaviour_of_user[users].tolist(), strict=True)
    return [(graph.users[user], graph.behaviours[behaviour]) for user, behaviour in names]


def witness(graph: Graph) -> Witness | None:
    """Why no perfect matching exists, or None if one does.

    Parameters
    ----------
    graph : Graph

    Examples
    --------
    >>> from anonymatch.graph import Graph
    >>> witness(Graph.from_rows(["100", "100", "111"]))
    Witness(users=(0, 1), behaviours=(0,))
    """
    parts = structure(graph)
    if parts.matched:
        return None
    return Witness(
        users=tuple(graph.users[i] for i in parts.witness_users.tolist()),
        behaviours=tuple(graph.behaviours[i] for i in parts.witness_behaviours.tolist()),
    )


def require_matching(graph: Graph) -> Structure:
    """The structure of a graph, if it has a perfect matching; else its witness as an error."""
    parts = structure(graph)
    if not parts.matched:
        why = witness(graph)
        assert why is not None
        if graph.nouns == ("user", "behaviour"):
            raise NoMatchingError(why.users, why.behaviours)
        if graph.nouns == ("input", "output"):
            advice = "no output is spent twice: check the members of these rings"
            what = "not every ring can spend an output"
            raise NoMatchingError(why.users, why.behaviours, graph.nouns, advice, what)
        advice = f"each needs one of its own: check what fits these {graph.nouns[0]}s"
        raise NoMatchingError(why.users, why.behaviours, graph.nouns, advice)
    return parts


def _weight_keys(graph: Graph) -> Weights | None:
    """Floats that differ wherever weights differ, also those that no float64 can hold."""
    exact: npt.NDArray[np.object_] | None = graph._edges.exact
    if exact is None:
        return graph.weights
    number: dict[Any, int] = {}
    keys = [number.setdefault(weight, len(number)) for weight in exact.tolist()]
    return np.array(keys, dtype=np.float64)


_Result = TypeVar("_Result", Structure, BlockTable)


_FIELDS = {kind: [entry.name for entry in fields(kind)] for kind in (Structure, BlockTable)}


def _read(kind: type[_Result], kernel_result: Any, **more: Any) -> _Result:
    names = (name for name in _FIELDS[kind] if name not in more)
    return kind(**{name: getattr(kernel_result, name) for name in names}, **more)


def chain_reaction(graph: Graph) -> tuple[Ints, Ints]:
    """The behaviour of each user that follows from single candidates, -1 if none; and the steps.

    Whoever has one candidate left has it; then nobody else has, and others may have one left: the
    chain reaction (zero-mixin elimination) of ring signatures. It misses closed sets: two users
    with the same two candidates take both, and whoever has a third has that one. Raises
    NoMatchingError if no matching covers all users.

    Examples
    --------
    >>> rings = Graph.from_rows(["10000", "11000", "00110", "00110", "01111"])
    >>> told, steps = chain_reaction(rings)
    >>> told.tolist(), steps.tolist()
    ([0, 1, -1, -1, -1], [1, 2, 0, 0, 0])
    """
    require_matching(graph)
    left = np.diff(graph.indptr).astype(np.int64)
    # The sum of a row's remaining behaviours is the behaviour itself once there is one.
    sums = np.add.reduceat(graph.indices.astype(np.int64), graph.indptr[:-1]) if len(left) else left
    order = np.argsort(graph.indices, kind="stable")
    rows = np.repeat(np.arange(graph.n_users), left)[order]
    begins = np.concatenate(([0], np.cumsum(graph.behaviour_degrees)))
    told, steps = np.full(graph.n_users, -1), np.zeros(graph.n_users, dtype=np.int64)
    waiting = np.flatnonzero(left == 1)
    step = 1
    while len(waiting):
        behaviours = sums[waiting]
        told[waiting], steps[waiting] = behaviours, step
        candidates: set[int] = set()
        for behaviour in behaviours.tolist():
            others = rows[begins[behaviour] : begins[behaviour + 1]]
            others = others[told[others] < 0]
            left[others] -= 1
            sums[others] -= behaviour
            candidates.update(others[left[others] == 1].tolist())
        waiting = np.array(sorted(candidates), dtype=np.int64)
        step += 1
    return told, steps
