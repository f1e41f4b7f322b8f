"""Families of graphs, many with a known number of matchings: for tests, benchmarks and demos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native import LARGEST
from anonymatch.base.arguments import real, whole, wholes
from anonymatch.base.arrays import Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import several
from anonymatch.graph.graph import Graph
from anonymatch.graph.inputs import join
from anonymatch.graph.names import Names
from anonymatch.tabular import check_memory

_BYTES_AN_EDGE = 40  # two ends as int64, what they are made from, and the sorted rows
_DRAWN = 1 << 24  # random numbers that are held at once
_PAIRS = 1 << 30  # pairs from which a number for each takes too long if few of them are edges
_SPARSE = 0.05


def complete(n: int) -> Graph:
    """Every user may have done everything: n! matchings.

    Examples
    --------
    >>> complete(3)
    Graph(3 users, 3 behaviours, 9 edges)
    """
    return partition([_side(n)])


def ring(n: int, k: int) -> Graph:
    """User i may have done i, i + 1, ..., i + k - 1 modulo n: the circulant I + P + ... + P^(k-1).

    For k = 2 there are 2 matchings (n > 1), for k = 3 the Lucas number L_n plus 2 (n > 2).

    Examples
    --------
    >>> ring(4, 2).to_rows()
    ['1100', '0110', '0011', '1001']
    """
    n = _side(n)
    return circulant(n, range(whole(k, "k", most=n)))


def circulant(n: int, shifts: Sequence[int]) -> Graph:
    """User i may have done i + s modulo n for each shift s.

    Examples
    --------
    >>> circulant(4, [0, 2]).to_rows()
    ['1010', '0101', '1010', '0101']
    """
    n = _side(n)
    moves = wholes(shifts, "shifts", least=None) % max(n, 1)
    if len(np.unique(moves)) < len(moves):
        raise InputError(f"two of the shifts are equal modulo {n}; give different ones")
    _check_size(n * len(moves), n)
    users = np.arange(n)
    return _graph(np.repeat(users, len(moves)), (users[:, None] + moves).ravel() % max(n, 1), n, n)


def crown(n: int) -> Graph:
    """Every user may have done everything but one behaviour: the derangements.

    Examples
    --------
    >>> crown(3).to_rows()
    ['011', '101', '110']
    """
    n = _side(n)
    _check_size(n * (n - 1))
    return Graph.from_biadjacency(~np.eye(n, dtype=np.bool_))


def partition(sizes: Sequence[int]) -> Graph:
    """Separate complete groups of these sizes: the product of their factorials.

    Examples
    --------
    >>> partition([2, 1]).to_rows()
    ['110', '110', '001']
    """
    group = wholes(sizes, "sizes")
    _check_size(int(np.square(group, dtype=np.float64).sum()), int(group.sum(dtype=np.float64)))
    begin = np.repeat(np.cumsum(group) - group, group)
    return _spans(begin, begin + np.repeat(group, group), int(group.sum()))


def random_density(n: int, density: float, seed: int) -> Graph:
    """Each of the n x n edges is there with this probability, independently.

    Examples
    --------
    >>> random_density(100, 0.5, seed=1).n_edges
    4953
    """
    n, density = _side(n), real(density, "density", high=1.0)
    draws = np.random.default_rng(whole(seed, "seed"))
    pairs = n * n
    _check_size(math.ceil(pairs * density), n)
    if pairs > _PAIRS and density < _SPARSE:
        edges = _distinct(pairs, int(draws.binomial(pairs, density)), draws)
    else:
        edges = _pair_by_pair(n, density, draws)
    return _graph(edges // max(n, 1), edges % max(n, 1), n, n)


def random_regular(n: int, k: int, seed: int) -> Graph:
    """Every user has k behaviours and every behaviour k users, at random.

    Stubs are paired at random; then each repeated edge is switched with a random other edge until
    none is left. Each switch keeps all degrees. The law is close to uniform for k much smaller
    than n; for 2 k > n the complement is drawn.

    Examples
    --------
    >>> graph = random_regular(1000, 3, seed=1)
    >>> set(graph.degrees.tolist()), set(graph.behaviour_degrees.tolist())
    ({3}, {3})
    """
    n, seed = _side(n), whole(seed, "seed")
    k = whole(k, "k", most=n)
    _check_size(n * k, n)
    if 2 * k > n:
        cells = np.ones((n, n), dtype=np.bool_)
        sparse = random_regular(n, n - k, seed)
        cells[sparse.rows(), sparse.indices] = False
        return Graph.from_biadjacency(cells)
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n), k)
    behaviours = rng.permutation(users)
    keys = users * max(n, 1) + behaviours
    while True:
        order = np.argsort(keys, kind="stable")
        repeated = order[1:][keys[order[1:]] == keys[order[:-1]]]
        if not len(repeated):
            return _graph(users, behaviours, n, n)
        for edge in repeated.tolist():
            other = int(rng.integers(len(users)))
            pair = [edge, other]
            behaviours[pair] = behaviours[pair[::-1]]
            keys[pair] = users[pair] * n + behaviours[pair]


def band(n: int, below: int, above: int) -> Graph:
    """User i may have done i - below to i + above, as far as they exist.

    With below = above = 1 the matchings are the Fibonacci numbers.

    Examples
    --------
    >>> band(4, 1, 1).to_rows()
    ['1100', '1110', '0111', '0011']
    """
    n = _side(n)
    below, above = (
        min(max(whole(side, name, least=None), -n), n)
        for side, name in ((below, "below"), (above, "above"))
    )
    users = np.arange(n)
    begins = np.clip(users - below, 0, n)
    return _spans(begins, np.clip(users + above + 1, begins, n), n)


def hessenberg(n: int) -> Graph:
    """The full lower Hessenberg graph: user i may have done 0 to i + 1; 2^(n-1) matchings.

    Examples
    --------
    >>> hessenberg(3).to_rows()
    ['110', '111', '111']
    """
    return band(n, n, 1)


def ferrers(degrees: Sequence[int]) -> Graph:
    """Nested rows: user i may have done 0 to d_i - 1; sorted, the product of d_i - i matchings.

    Examples
    --------
    >>> ferrers([1, 3, 3]).to_rows()
    ['100', '111', '111']
    """
    ends = wholes(degrees, "degrees")
    return _spans(np.zeros_like(ends), ends, max(len(ends), int(ends.max(initial=0))))


def hypercube(dimension: int) -> Graph:
    """Corners of a cube with an even and an odd number of ones, joined along its sides.

    2, 9, 272, 589185 matchings for dimensions 2 to 5.

    Examples
    --------
    >>> hypercube(3)
    Graph(4 users, 4 behaviours, 12 edges)
    """
    dimension = whole(dimension, "dimension")
    _check_size(dimension * 2 ** min(dimension, 100) // 2)
    corners = np.arange(2**dimension)
    neighbours = corners[:, None] ^ (1 << np.arange(dimension))
    odd = np.bitwise_count(corners) % 2 == 1
    return _coloured(np.repeat(corners, dimension), neighbours.ravel(), odd)


def grid(rows: int, columns: int) -> Graph:
    """Black and white squares of a board that share a side: domino tilings.

    The 8 x 8 board has 12988816.

    Examples
    --------
    >>> grid(2, 3)
    Graph(3 users, 3 behaviours, 7 edges)
    """
    rows, columns = whole(rows, "rows"), whole(columns, "columns")
    _check_size(max(2 * rows * columns - rows - columns, 0))
    return _board(np.ones((rows, columns), dtype=np.bool_))


def aztec(n: int) -> Graph:
    """The Aztec diamond of order n: 2^(n (n + 1) / 2) domino tilings.

    Examples
    --------
    >>> aztec(2)
    Graph(6 users, 6 behaviours, 16 edges)
    """
    n = _side(n)
    _check_size(4 * n * n)
    centre = np.abs(np.arange(2 * n) - n + 0.5)
    return _board(centre[:, None] + centre <= n)


def hexagon(a: int, b: int, c: int) -> Graph:
    """Triangles of a hexagon with sides a, b, c, a, b, c: lozenge tilings.

    They are the plane partitions in a box: the product of (i + j + k - 1) / (i + j + k - 2) over
    i to a, j to b, k to c.

    Examples
    --------
    >>> hexagon(1, 1, 1)
    Graph(3 users, 3 behaviours, 6 edges)
    """
    a, b, c = whole(a, "a"), whole(b, "b"), whole(c, "c")
    _check_size(3 * (a * b + b * c + c * a) - a - b - c)
    # Cells (i, j) of a parallelogram lattice; each is cut into an up triangle (i, j) with corners
    # (i, j), (i + 1, j), (i, j + 1) and a down triangle with corners (i + 1, j), (i, j + 1),
    # (i + 1, j + 1). With x = i, y = j the hexagon is 0 <= x <= a + c, 0 <= y <= b + c,
    # c <= x + y <= a + b + c: its sides are a, b, c in turn.
    i, j = (side.ravel() for side in np.indices((a + c, b + c)))
    up = (i + j >= c) & (i + j + 1 <= a + b + c)
    down = (i + j + 1 >= c) & (i + j + 2 <= a + b + c)
    width = b + c
    ups, downs = np.cumsum(up) - 1, np.cumsum(down) - 1
    users, behaviours = [], []
    for di, dj in ((0, 0), (-1, 0), (0, -1)):  # the down triangles that share a side
        near = (i + di) * width + j + dj
        inside = up & (i + di >= 0) & (j + dj >= 0)
        inside[inside] = down[near[inside]]
        users.append(ups[inside])
        behaviours.append(downs[near[inside]])
    n_users, n_behaviours = int(up.sum()), int(down.sum())
    return _graph(np.concatenate(users), np.concatenate(behaviours), n_users, n_behaviours)


def _side(n: int) -> int:
    n = whole(n, "n", most=LARGEST)
    _check_size(0, n)
    return n


def _check_size(edges: int, n: int = 0) -> None:
    """Refuse a graph of so many edges, and so many users, before memory is filled."""
    if edges > LARGEST:
        number = f"{edges}" if edges < 10**18 else "more than 10^18"
        raise InputError(f"it would have {number} edges; a graph holds at most {LARGEST}")
    size = f"a graph of {several(edges, 'edge') if edges else several(n, 'user')}"
    check_memory(_BYTES_AN_EDGE * (edges + n), size, "make it smaller")


def _pair_by_pair(n: int, density: float, draws: np.random.Generator) -> Ints:
    """The pairs that are edges, from one number a pair, some rows at a time."""
    rows = max(1, _DRAWN // max(n, 1))
    chosen = [np.empty(0, dtype=np.int64)]
    for first in range(0, n, rows):
        there = draws.random((min(rows, n - first), n)) < density
        chosen.append(first * n + np.flatnonzero(there))
    return np.concatenate(chosen)


def _distinct(pairs: int, size: int, draws: np.random.Generator) -> Ints:
    """So many different pairs, all sets equally likely: drawn until enough of them differ."""
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < size:
        drawn = np.sort(np.append(drawn, draws.integers(pairs, size=size - len(drawn))))
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
    return drawn


def _board(squares: npt.NDArray[np.bool_]) -> Graph:
    """Black and white squares that share a side, of those that are there."""
    rows, columns = squares.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    across = squares[:, :-1] & squares[:, 1:]
    along = squares[:-1] & squares[1:]
    one = np.concatenate((number[:, :-1][across], number[:-1][along]))
    other = np.concatenate((number[:, 1:][across], number[1:][along]))
    white = np.indices(squares.shape).sum(axis=0).ravel() % 2 == 1
    both = np.concatenate((one, other)), np.concatenate((other, one))
    return _coloured(*both, white, squares.ravel())


def _coloured(one: Any, other: Any, white: Any, there: Any = True) -> Graph:
    """Users are the vertices that are not white; edges are given in both directions."""
    users, behaviours = np.cumsum(~white & there) - 1, np.cumsum(white & there) - 1
    black = ~white[one]
    sizes = int((~white & there).sum()), int((white & there).sum())
    return _graph(users[one[black]], behaviours[other[black]], *sizes)


def _spans(begins: Ints, ends: Ints, n_behaviours: int) -> Graph:
    """User i may have done begins[i] to ends[i] - 1."""
    lengths = ends - begins
    _check_size(int(lengths.sum(dtype=np.float64)), n_behaviours)
    users = np.repeat(np.arange(len(begins)), lengths)
    offset = np.arange(len(users)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return _graph(users, begins[users] + offset, len(begins), n_behaviours)


def _graph(users: Ints, behaviours: Ints, n_users: int, n_behaviours: int) -> Graph:
    names = Names(range(n_users), "user"), Names(range(n_behaviours), "behaviour")
    return Graph(*join(*names, users, behaviours, None))
