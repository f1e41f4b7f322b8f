"""Who may really be behind which row, by classes: what is possible at all, and how likely it is.

A way to match people and rows says how many people of each kind have rows of each class: a table of
numbers n with the kinds' and the classes' sizes a and b as its margins. It stands for
prod a! prod b! / prod n! matchings, so probabilities are means over such tables, and edges between
people and rows need not be written down.

A flow finds one table. Pairs of classes that a closed way around it can give people are possible,
all others are not: what remains falls into blocks that do not touch each other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anonymatch import counting
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.errors import InputError, NoMatchingError
from anonymatch.base.numbers import plural
from anonymatch.base.text import names
from anonymatch.graph import Edges, Graph, Names
from anonymatch.running import Budget
from anonymatch.sources import Release
from anonymatch.tables.chain import chain_shares
from anonymatch.tables.enclosure import block_log
from anonymatch.tables.nested import nested

__all__ = ["Links", "PossibleLinks", "link", "possible_links"]

_SMALL = 60_000  # edges of a block that are written down, so that every exact method may be tried
_NAMED = 4  # people of a sentence
_QUICK = 3.0  # predicted seconds of exact methods that are tried
_CHAINS = 0.8  # of the time is for probabilities, the rest for the count
_LEAST = 0.05  # seconds of a block, however many there are
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class PossibleLinks:
    """What is possible, for each pair of a kind of people and a class of rows.

    The last kind and the last class may be those whom the tables do not hold: `nobody` (rows of
    people who are not in the original table) and `nowhere` (people who are not in the release).

    Attributes
    ----------
    kinds, classes : array
        Of each pair.
    flow : array
        One way to match: how many people of the kind have rows of the class.
    block : array
        Of each pair that is possible, a number for what hangs together; -1 of others.
    """

    release: Release = field(repr=False)
    kind_sizes: Ints = field(repr=False)
    class_sizes: Ints = field(repr=False)
    kinds: Ints = field(repr=False)
    classes: Ints = field(repr=False)
    flow: Ints = field(repr=False)
    block: Ints = field(repr=False)

    @property
    def possible(self) -> Bools:
        """Whether some way gives people of the kind rows of the class."""
        return self.block >= 0

    @property
    def nobody(self) -> int | None:
        return len(self.release.kind_sizes) if self.release.spare else None

    @property
    def nowhere(self) -> int | None:
        return len(self.release.class_sizes) if self.release.lost else None

    @cached_property
    def begins(self) -> Ints:
        """Where the pairs of each kind begin; pairs are sorted by kind."""
        return offsets(np.bincount(self.kinds, minlength=len(self.kind_sizes)))

    def of_kind(self, kind: int) -> slice:
        return slice(int(self.begins[kind]), int(self.begins[kind + 1]))

    def needed_by_others(self, kind: int) -> Needed:
        """Rows that fit people of a kind and that only others can have."""
        release, pairs = self.release, self.of_kind(kind)
        gone = self.classes[pairs][~self.possible[pairs]]
        gone = gone[gone < len(release.class_sizes)]
        # Not those alone who have them in the one flow that was found: others may in other ways.
        having = np.isin(self.classes, gone) & self.possible & (self.kinds != self.nobody)
        return Needed(
            release,
            np.flatnonzero(np.isin(release.class_of, gone)),
            np.flatnonzero(np.isin(release.kind_of, self.kinds[having])),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Links(PossibleLinks):
    """What is possible and how likely.

    Attributes
    ----------
    share, low, high : array
        Probability that a person of the kind has a row of the class.
    log, log_low, log_high : float
        Natural log of the number of ways to match; those outside the tables are not told apart.
    total : callable or None
        Makes that number itself; None where it is not known to the last digit.
    exact : bool
    confidence : float
        Probability that an interval holds; 1.0 means proven.
    """

    share: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    log: float
    log_low: float
    log_high: float
    total: Callable[[], int] | None = field(repr=False)
    exact: bool
    confidence: float
    method: str
    seed: int | None


class Needed(NamedTuple):
    """Rows, and the people who alone can have them."""

    release: Release
    rows: Ints
    people: Ints

    @property
    def who(self) -> str:
        """Some of the people by name."""
        named = [self.release.person_name(one) for one in self.people[:_NAMED].tolist()]
        return names(named, total=len(self.people))

    def in_words(self) -> str:
        return f"{plural(len(self.rows), 'row')} that would fit can only be of {self.who}"


def possible_links(release: Release) -> PossibleLinks:
    """What is possible; NoMatchingError if people and rows cannot be matched."""
    alone = release.rows_of_nobody
    if len(alone) > release.spare:
        row = int(alone[0])
        others = "" if len(alone) == 1 else f" (and {plural(len(alone) - 1, 'other row')} likewise)"
        raise InputError(
            f"it fits nobody: {release.misfit(row)}{others}; was the release made from this table, "
            "and do these columns identify?"
        ).at(row + 1, noun="row")
    kinds, classes, kind_sizes, class_sizes = _margins(release)
    flow = _flow(release, kinds, classes, kind_sizes, class_sizes)
    return PossibleLinks(
        release=release,
        kind_sizes=kind_sizes,
        class_sizes=class_sizes,
        kinds=kinds,
        classes=classes,
        flow=flow,
        block=_blocks(kinds, classes, flow, len(kind_sizes), len(class_sizes)),
    )


def link(release: Release, *, budget: Budget, seed: int = 0) -> Links:
    """Solve a release; NoMatchingError if people and rows cannot be matched."""
    found = possible_links(release)
    share, low, high = (np.zeros(len(found.kinds)) for _ in range(3))
    groups = _by_block(found.block)
    solved = _solve_all([_block(found, pairs) for pairs in groups], budget, seed)
    for pairs, one in zip(groups, solved, strict=True):
        share[pairs], low[pairs], high[pairs] = one.share, one.low, one.high
    alike = math.lgamma(release.lost + 1) + math.lgamma(release.spare + 1)
    logs = [sum(getattr(one, name) for one in solved) - alike for name in ("log", "least", "most")]
    methods = list(dict.fromkeys(one.method for one in solved))
    drawn = any(one.drawn for one in solved)
    return Links(
        **{one.name: getattr(found, one.name) for one in fields(found)},
        share=share,
        low=low,
        high=high,
        log=logs[0],
        log_low=logs[1],
        log_high=logs[2],
        total=_total(release, [one.total for one in solved]),
        exact=all(one.exact for one in solved),
        confidence=0.95 if drawn else 1.0,
        method=" + ".join(methods) or "closed form",
        seed=seed if drawn else None,
    )


def _total(release: Release, totals: list[Callable[[], int] | None]) -> Callable[[], int] | None:
    """The product over blocks; those outside the tables are not told apart."""
    known = [one for one in totals if one is not None]
    if len(known) < len(totals):
        return None
    alike = (release.lost, release.spare)
    return lambda: math.prod(one() for one in known) // math.prod(map(math.factorial, alike))


def _margins(release: Release) -> tuple[Ints, Ints, Ints, Ints]:
    """Pairs and sizes with those outside of the tables."""
    kinds, classes = release.pair_kinds, release.indices
    kind_sizes, class_sizes = release.kind_sizes, release.class_sizes
    if release.lost:
        own = np.arange(len(kind_sizes))
        kinds = np.concatenate((kinds, own))
        classes = np.concatenate((classes, np.full(len(own), len(class_sizes))))
        class_sizes = np.append(class_sizes, release.lost)
    if release.spare:
        every = np.arange(len(class_sizes))
        kinds = np.concatenate((kinds, np.full(len(every), len(kind_sizes))))
        classes = np.concatenate((classes, every))
        kind_sizes = np.append(kind_sizes, release.spare)
    order = np.lexsort((classes, kinds))
    return kinds[order], classes[order], kind_sizes, class_sizes


def _flow(
    release: Release, kinds: Ints, classes: Ints, kind_sizes: Ints, class_sizes: Ints
) -> Ints:
    """How many people of each kind have rows of each class, in some way to match all."""
    value, flow, found = _largest_flow(kinds, classes, kind_sizes, class_sizes)
    if value < int(kind_sizes.sum()):
        raise _impossible(release, found, kind_sizes, class_sizes, kinds, classes)
    return flow


def _largest_flow(
    kinds: Ints, classes: Ints, kind_sizes: Ints, class_sizes: Ints
) -> tuple[int, Ints, Any]:
    """As many people with rows as can be: their number, by pairs, and as a network."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import maximum_flow

    left, right = len(kind_sizes), len(class_sizes)
    source, sink = left + right, left + right + 1
    begin = np.concatenate((np.full(left, source), kinds, left + np.arange(right)))
    end = np.concatenate((np.arange(left), left + classes, np.full(right, sink)))
    most = np.minimum(kind_sizes[kinds], class_sizes[classes])
    capacity = np.concatenate((kind_sizes, most, class_sizes)).astype(np.int32)
    network = sparse.csr_array((capacity, (begin, end)), shape=(sink + 1, sink + 1))
    found = maximum_flow(network, source, sink)
    return int(found.flow_value), _entries(found.flow, kinds, left + classes), found.flow


def _entries(matrix: Any, rows: Ints, columns: Ints) -> Ints:
    """Those of a sparse matrix at these places; 0 where it has none."""
    entries = matrix.tocoo()
    keys = entries.row.astype(np.int64) * matrix.shape[1] + entries.col
    order = np.argsort(keys)
    wanted = rows * matrix.shape[1] + columns
    place = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    values = entries.data[order][place].astype(np.int64)
    return np.where(keys[order][place] == wanted, values, 0)


def _impossible(
    release: Release, flow: Any, kind_sizes: Ints, class_sizes: Ints, kinds: Ints, classes: Ints
) -> NoMatchingError:
    """Kinds of people who fit too few rows together: those that the flow cannot leave."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import breadth_first_order

    left, right = len(kind_sizes), len(class_sizes)
    used = _entries(flow, kinds, left + classes)
    out = _entries(flow, np.full(left, left + right), np.arange(left))
    start = int(np.argmax(kind_sizes - out > 0))
    back = used > 0
    begin = np.concatenate((kinds, left + classes[back]))
    end = np.concatenate((left + classes, kinds[back]))
    size = left + right
    ones = np.ones(len(begin), dtype=np.int8)
    residual = sparse.csr_array((ones, (begin, end)), shape=(size, size))
    reached = breadth_first_order(residual, start, return_predecessors=False)
    stuck = reached[reached < left]
    open_ = reached[reached >= left] - left
    people = np.flatnonzero(np.isin(release.kind_of, stuck))
    rows = np.flatnonzero(np.isin(release.class_of, open_))
    return NoMatchingError(
        [release.person_name(one) for one in people.tolist()],
        [f"row {one + 1}" for one in rows.tolist()],
        ("person", "row"),
        "was this release made from this table, and do these columns identify?",
        "people and rows cannot be matched",
    )


def _blocks(kinds: Ints, classes: Ints, flow: Ints, left: int, right: int) -> Ints:
    """A number for each pair by what hangs together; -1 where no way gives anybody this.

    A pair is possible if it has flow, or lies on a closed way along which flow can go around.
    """
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components

    back = flow > 0
    begin = np.concatenate((kinds, left + classes[back]))
    end = np.concatenate((left + classes, kinds[back]))
    size = left + right
    network = sparse.csr_array((np.ones(len(begin), np.int8), (begin, end)), shape=(size, size))
    _, part = connected_components(network, directed=True, connection="strong")
    inside = part[kinds] == part[left + classes]
    return np.where(inside | back, part[kinds], -1)


def _by_block(block: Ints) -> list[Ints]:
    """The pairs of each block."""
    order = np.argsort(block, kind="stable")
    order = order[np.searchsorted(block[order], 0) :]
    if not len(order):
        return []
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


# ---- one block


@dataclass(frozen=True, kw_only=True, eq=False)
class _Block:
    """Kinds and classes by numbers of their own; pairs in the order in which they were given."""

    kinds: Ints
    classes: Ints
    people: Ints  # of each kind
    rows: Ints  # of each class
    flow: Ints

    @property
    def edges(self) -> int:
        return int(self.people[self.kinds] @ self.rows[self.classes])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Solved:
    share: Floats
    low: Floats
    high: Floats
    log: float
    least: float
    most: float
    exact: bool
    drawn: bool
    method: str
    total: Callable[[], int] | None


def _block(found: PossibleLinks, pairs: Ints) -> _Block:
    own_kinds, kind_numbers = np.unique(found.kinds[pairs], return_inverse=True)
    own_classes, class_numbers = np.unique(found.classes[pairs], return_inverse=True)
    return _Block(
        kinds=kind_numbers,
        classes=class_numbers,
        people=found.kind_sizes[own_kinds],
        rows=found.class_sizes[own_classes],
        flow=found.flow[pairs],
    )


def _solve_all(blocks: list[_Block], budget: Budget, seed: int) -> list[_Solved]:
    """Each block; those that take time share what the budget leaves as they are large."""
    solved = {at: one for at, block in enumerate(blocks) if (one := _in_closed_form(block))}
    hard = [at for at in range(len(blocks)) if at not in solved]
    hard.sort(key=lambda at: blocks[at].edges)  # what small ones leave goes to the large ones
    left = sum(blocks[at].edges for at in hard)
    end = time.monotonic() + budget.seconds
    for at in hard:
        share = (end - time.monotonic()) * blocks[at].edges / left
        allowed = replace(budget, seconds=max(share, min(_LEAST, budget.seconds)))
        solved[at] = _solve(blocks[at], allowed, seed)
        left -= blocks[at].edges
    return [solved[at] for at in range(len(blocks))]


def _in_closed_form(block: _Block) -> _Solved | None:
    number = int(block.people.sum())
    if len(block.kinds) == len(block.people) * len(block.rows):
        share = block.rows[block.classes] / number
        return _closed(share, math.lgamma(number + 1), lambda: math.factorial(number))
    if len(block.kinds) == len(block.people) + len(block.rows) - 1:
        # Without a closed way there is one table alone.
        log = _log_factorials(block.people) + _log_factorials(block.rows)
        return _closed(
            block.flow / block.people[block.kinds],
            log - _log_factorials(block.flow),
            lambda: _factorials(block.people) * _factorials(block.rows) // _factorials(block.flow),
        )
    inwards = nested(block.kinds, block.classes, block.people, block.rows)
    if inwards is not None:
        return _closed(inwards.share, inwards.log, inwards.total)
    outwards = nested(block.classes, block.kinds, block.rows, block.people)
    if outwards is not None:  # shares of rows there
        share = outwards.share * block.rows[block.classes] / block.people[block.kinds]
        return _closed(share, outwards.log, outwards.total)
    return None


def _closed(share: Floats, log: float, total: Callable[[], int]) -> _Solved:
    slack = _ROUNDING * share
    near = _ROUNDING * abs(log)
    return _Solved(
        share=share,
        low=share - slack,
        high=np.minimum(share + slack, 1.0),
        log=log,
        least=log - near,
        most=log + near,
        exact=True,
        drawn=False,
        method="closed form",
        total=total,
    )


def _log_factorials(numbers: Ints) -> float:
    from scipy.special import gammaln

    return float(gammaln(numbers + 1.0).sum())


def _factorials(numbers: Ints) -> int:
    """Their product."""
    return math.prod(math.factorial(number) for number in numbers.tolist())


def _solve(block: _Block, budget: Budget, seed: int) -> _Solved:
    kind_groups = _groups(block.kinds, block.classes, len(block.people))
    class_groups = _groups(block.classes, block.kinds, len(block.rows))
    if int(kind_groups.max()) + 1 < len(block.people) or int(class_groups.max()) + 1 < len(
        block.rows
    ):
        return _merged(block, kind_groups, class_groups, budget, seed)
    if block.edges <= _SMALL:
        return _written_down(block, budget, seed)
    return _drawn(block, budget, seed)


def _merged(
    block: _Block, kind_groups: Ints, class_groups: Ints, budget: Budget, seed: int
) -> _Solved:
    """Kinds that fit the same classes, and classes that the same kinds fit, taken as one."""
    n_classes = int(class_groups.max()) + 1
    keys = kind_groups[block.kinds] * n_classes + class_groups[block.classes]
    pairs, inverse = np.unique(keys, return_inverse=True)
    rows = np.bincount(class_groups, block.rows).astype(np.int64)
    whole = _Block(
        kinds=pairs // n_classes,
        classes=pairs % n_classes,
        people=np.bincount(kind_groups, block.people).astype(np.int64),
        rows=rows,
        flow=np.bincount(inverse, block.flow).astype(np.int64),
    )
    one = _in_closed_form(whole) or _solve(whole, budget, seed)
    part = block.rows[block.classes] / rows[class_groups[block.classes]]
    share, low, high = (each[inverse] * part for each in (one.share, one.low, one.high))
    return replace(one, share=share, low=low, high=high)


def _groups(own: Ints, other: Ints, number: int) -> Ints:
    """A number for each of ``own`` by which of ``other`` it is paired with."""
    rng = np.random.default_rng(12345)  # two hashes of 64 bits: equal by chance once in 10^38
    size = int(other.max()) + 1
    hashes = [np.zeros(number, dtype=np.uint64) for _ in range(2)]
    for one in hashes:
        np.add.at(one, own, rng.integers(0, 2**64, size, dtype=np.uint64)[other])
    _, numbers = np.unique(np.column_stack(hashes), axis=0, return_inverse=True)
    return np.asarray(numbers.ravel(), dtype=np.int64)


def _written_down(block: _Block, budget: Budget, seed: int) -> _Solved:
    """As a graph of people and rows: counted, and exact where that is quick."""
    graph, edge_pairs = _graph(block)
    quick = replace(budget, seconds=min(budget.seconds / 2, _QUICK))
    counted = counting.count(graph, budget=quick, seed=seed)
    plan = counting.plan_posterior(graph, budget=quick)
    if plan.seconds <= quick.seconds and plan.memory <= quick.memory:
        solved = _exactly(block, counting.posterior(graph, budget=quick, seed=seed), edge_pairs)
    else:
        solved = _drawn(block, budget, seed)
    return replace(
        solved,
        log=counted.log,
        least=counted.low,
        most=counted.high,
        exact=solved.exact and counted.exact,
        drawn=solved.drawn or counted.confidence < 1.0,
        total=(lambda: int(counted.value)) if counted.exact else None,
    )


def _graph(block: _Block) -> tuple[Graph, Ints]:
    """People and rows one by one, and the pair of classes of each edge."""
    order = np.lexsort((block.classes, block.kinds))
    begins = offsets(block.rows)
    by_kind = np.split(order, np.flatnonzero(np.diff(block.kinds[order])) + 1)
    rows = [
        np.concatenate([np.arange(begins[k], begins[k + 1]) for k in block.classes[own].tolist()])
        for own in by_kind
    ]
    pairs = [np.repeat(own, block.rows[block.classes[own]]) for own in by_kind]
    everybody = np.repeat(np.arange(len(rows)), block.people).tolist()
    degrees = np.array([len(rows[kind]) for kind in everybody], dtype=np.int64)
    number = len(everybody)
    graph = Graph(
        Names.given(None, number, "user"),
        Names.given(None, number, "behaviour"),
        Edges(
            indptr=offsets(degrees).astype(np.int32),
            indices=np.concatenate([rows[kind] for kind in everybody]).astype(np.int32),
            weights=None,
            exact=None,
        ),
    )
    return graph, np.concatenate([pairs[kind] for kind in everybody])


def _exactly(block: _Block, posterior: counting.Posterior, edge_pairs: Ints) -> _Solved:
    """All edges between a kind and a class are alike: a person's share is their sum."""
    number, people = len(block.kinds), block.people[block.kinds]
    share = np.bincount(edge_pairs, posterior.probabilities, number) / people
    slack = np.bincount(edge_pairs, posterior.margins, number) / people
    return _Solved(
        share=share,
        low=np.maximum(share - slack, 0.0),
        high=np.minimum(share + slack, 1.0),
        log=0.0,
        least=0.0,
        most=0.0,
        exact=posterior.confidence == 1.0,
        drawn=posterior.confidence < 1.0,
        method=posterior.method,
        total=None,
    )


def _drawn(block: _Block, budget: Budget, seed: int) -> _Solved:
    """By chains over tables; the count between bounds that are proven."""
    deadline = time.monotonic() + budget.seconds
    # Another table to begin at: the flow that is found in the opposite order.
    last_kind, last_class = len(block.people) - 1, len(block.rows) - 1
    _, other, _ = _largest_flow(
        last_kind - block.kinds, last_class - block.classes, block.people[::-1], block.rows[::-1]
    )
    drawn = chain_shares(
        block.kinds, block.classes, block.people, (block.flow, other),
        seconds=_CHAINS * (deadline - time.monotonic()), seed=seed,
    )  # fmt: skip
    mean, log, least, most = block_log(
        block.kinds, block.classes, block.people, block.rows, flow=block.flow, deadline=deadline
    )
    # Chains that never close tell nothing: anything is possible then.
    share, error = (mean / block.people[block.kinds], np.inf) if drawn is None else drawn
    return _Solved(
        share=share,
        low=np.maximum(share - 2 * error, 0.0),
        high=np.minimum(share + 2 * error, 1.0),
        log=log,
        least=least,
        most=most,
        exact=False,
        drawn=drawn is not None,
        method="Sinkhorn scaling" if drawn is None else "table chain",
        total=None,
    )
