"""Probabilities and counts of the blocks of a release: closed forms, exact methods, chains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from anonymatch import counting
from anonymatch.base.arrays import Floats, Ints, offsets
from anonymatch.graph import Edges, Graph, Names
from anonymatch.running import Budget
from anonymatch.tables.solving.chain import chain_shares, least_seconds
from anonymatch.tables.solving.enclosure import block_log
from anonymatch.tables.solving.flows import largest_flow
from anonymatch.tables.solving.nested import nested

__all__ = ["LinkBlock", "SolvedBlock", "solve_blocks"]

_SMALL = 60_000  # edges of a block that are written down, so that every exact method may be tried
_QUICK = 3.0  # predicted seconds of exact methods that are tried
_CHAINS = 0.8  # of the time is for probabilities, the rest for the count
_PLANNED = 0.01  # seconds to look for the exact methods of a block, about
_ALONE = 0.7  # of the time at most is for blocks one by one, if it is too short for all
_CHAIN_BYTES = 700.0  # of a pair
_FLOW = 7e-7  # seconds of a pair to find another table
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkBlock:
    """Kinds and classes by numbers of their own; pairs in the order in which they were given."""

    kinds: Ints
    classes: Ints
    people: Ints  # of each kind
    rows: Ints  # of each class
    flow: Ints

    @property
    def edges(self) -> int:
        return int(self.people[self.kinds] @ self.rows[self.classes])

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for blocks that have the same solution."""
        parts = (self.kinds, self.classes, self.people, self.rows)
        return tuple(part.tobytes() for part in parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class SolvedBlock:
    """Probabilities of pairs, and the natural log of the ways to match, each with its interval."""

    share: Floats
    low: Floats
    high: Floats
    log: float
    least: float
    most: float
    exact: bool
    drawn: bool
    known: bool = True  # whether shares are more than a guess
    method: str
    total: Callable[[], int] | None


def solve_blocks(blocks: list[LinkBlock], budget: Budget, seed: int) -> list[SolvedBlock]:
    """Each block; those that take time share what the budget leaves as they are large."""
    solved = {at: one for at, block in enumerate(blocks) if (one := _in_closed_form(block))}
    hard = [at for at in range(len(blocks)) if at not in solved]
    hard.sort(key=lambda at: blocks[at].edges)  # what small ones leave goes to the large ones
    equal: dict[tuple[bytes, ...], list[int]] = {}
    for at in hard:
        equal.setdefault(blocks[at].key, []).append(at)
    groups = list(equal.values())
    alone = min(len(groups), int(_ALONE * budget.seconds / _PLANNED))
    if alone == len(groups) - 1:
        alone += 1
    left, edges = budget.seconds, sum(blocks[group[0]].edges for group in groups)
    for group in groups[:alone]:
        block = blocks[group[0]]
        allowed = replace(budget, seconds=left * block.edges / edges)
        one, spent = _solve(block, allowed, seed)
        left, edges = max(left - spent, 0.0), edges - block.edges
        solved |= dict.fromkeys(group, one)
    if alone < len(groups):  # too many to look at one by one
        rest = [at for group in groups[alone:] for at in group]
        allowed = replace(budget, seconds=left)
        together = _drawn(
            _side_by_side([blocks[at] for at in rest]), allowed, seed, connected=False
        )
        solved |= dict(zip(rest, _parts(together, [blocks[at] for at in rest]), strict=True))
    return [solved[at] for at in range(len(blocks))]


def _side_by_side(blocks: list[LinkBlock]) -> LinkBlock:
    """Several blocks as one whose parts do not touch each other: one chain is for all of them."""
    kinds, classes = (
        offsets(np.array([len(getattr(block, side)) for block in blocks]))
        for side in ("people", "rows")
    )
    return LinkBlock(
        kinds=np.concatenate([block.kinds + kinds[k] for k, block in enumerate(blocks)]),
        classes=np.concatenate([block.classes + classes[k] for k, block in enumerate(blocks)]),
        people=np.concatenate([block.people for block in blocks]),
        rows=np.concatenate([block.rows for block in blocks]),
        flow=np.concatenate([block.flow for block in blocks]),
    )


def _parts(whole: SolvedBlock, blocks: list[LinkBlock]) -> list[SolvedBlock]:
    """The shares of each block; the first has the count of all of them."""
    ends = np.cumsum([len(block.kinds) for block in blocks])[:-1]
    share, low, high = (np.split(part, ends) for part in (whole.share, whole.low, whole.high))
    first = [replace(whole, share=share[0], low=low[0], high=high[0])]
    none = replace(whole, log=0.0, least=0.0, most=0.0)
    return first + [
        replace(none, share=share[k], low=low[k], high=high[k]) for k in range(1, len(blocks))
    ]


def _in_closed_form(block: LinkBlock) -> SolvedBlock | None:
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


def _closed(share: Floats, log: float, total: Callable[[], int]) -> SolvedBlock:
    slack = _ROUNDING * share
    near = _ROUNDING * abs(log)
    return SolvedBlock(
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


def _solve(block: LinkBlock, budget: Budget, seed: int) -> tuple[SolvedBlock, float]:
    """A block, and the predicted seconds that it took."""
    kind_groups = _groups(block.kinds, block.classes, len(block.people))
    class_groups = _groups(block.classes, block.kinds, len(block.rows))
    if int(kind_groups.max()) + 1 < len(block.people) or int(class_groups.max()) + 1 < len(
        block.rows
    ):
        return _merged(block, kind_groups, class_groups, budget, seed)
    if block.edges <= _SMALL:
        return _written_down(block, budget, seed)
    return _drawn(block, budget, seed), budget.seconds


def _merged(
    block: LinkBlock, kind_groups: Ints, class_groups: Ints, budget: Budget, seed: int
) -> tuple[SolvedBlock, float]:
    """Kinds that fit the same classes, and classes that the same kinds fit, taken as one."""
    n_classes = int(class_groups.max()) + 1
    keys = kind_groups[block.kinds] * n_classes + class_groups[block.classes]
    pairs, inverse = np.unique(keys, return_inverse=True)
    rows = np.bincount(class_groups, block.rows).astype(np.int64)
    whole = LinkBlock(
        kinds=pairs // n_classes,
        classes=pairs % n_classes,
        people=np.bincount(kind_groups, block.people).astype(np.int64),
        rows=rows,
        flow=np.bincount(inverse, block.flow).astype(np.int64),
    )
    closed = _in_closed_form(whole)
    one, spent = (closed, 0.0) if closed is not None else _solve(whole, budget, seed)
    part = block.rows[block.classes] / rows[class_groups[block.classes]]
    share, low, high = (each[inverse] * part for each in (one.share, one.low, one.high))
    return replace(one, share=share, low=low, high=high), spent


def _groups(own: Ints, other: Ints, number: int) -> Ints:
    """A number for each of ``own`` by which of ``other`` it is paired with."""
    rng = np.random.default_rng(12345)  # two hashes of 64 bits: equal by chance once in 10^38
    size = int(other.max()) + 1
    hashes = [np.zeros(number, dtype=np.uint64) for _ in range(2)]
    for one in hashes:
        np.add.at(one, own, rng.integers(0, 2**64, size, dtype=np.uint64)[other])
    _, numbers = np.unique(np.column_stack(hashes), axis=0, return_inverse=True)
    return np.asarray(numbers.ravel(), dtype=np.int64)


def _written_down(block: LinkBlock, budget: Budget, seed: int) -> tuple[SolvedBlock, float]:
    """As a graph of people and rows: counted, and exact where that is quick."""
    graph, edge_pairs = _graph(block)
    quick = replace(budget, seconds=min(budget.seconds / 2, _QUICK))
    counted = counting.count(graph, budget=quick, seed=seed)
    plan = counting.plan_posterior(graph, budget=quick)
    spent = _PLANNED + (min(plan.seconds, quick.seconds) if counted.exact else quick.seconds)
    if plan.seconds <= quick.seconds and plan.memory <= quick.memory:
        solved = _exactly(block, counting.posterior(graph, budget=quick, seed=seed), edge_pairs)
        spent += plan.seconds
    else:
        left = max(budget.seconds - spent, 0.0)
        solved, spent = _drawn(block, replace(budget, seconds=left), seed), budget.seconds
    one = replace(
        solved,
        log=counted.log,
        least=counted.low,
        most=counted.high,
        exact=solved.exact and counted.exact,
        drawn=solved.drawn or counted.confidence < 1.0,
        total=(lambda: int(counted.value)) if counted.exact else None,
    )
    return one, spent


def _graph(block: LinkBlock) -> tuple[Graph, Ints]:
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


def _exactly(block: LinkBlock, posterior: counting.Posterior, edge_pairs: Ints) -> SolvedBlock:
    """All edges between a kind and a class are alike: a person's share is their sum."""
    number, people = len(block.kinds), block.people[block.kinds]
    share = np.bincount(edge_pairs, posterior.probabilities, number) / people
    slack = np.bincount(edge_pairs, posterior.margins, number) / people
    return SolvedBlock(
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


def _drawn(block: LinkBlock, budget: Budget, seed: int, *, connected: bool = True) -> SolvedBlock:
    """By chains over tables; the count between bounds that are proven."""
    left = max(budget.seconds - _FLOW * len(block.kinds), 0.0)
    # Another table to begin at: the flow that is found in the opposite order.
    drawn = None
    if (
        _CHAINS * left >= least_seconds(len(block.kinds))
        and _CHAIN_BYTES * len(block.kinds) <= budget.memory
    ):
        last_kind, last_class = len(block.people) - 1, len(block.rows) - 1
        _, other, _ = largest_flow(
            last_kind - block.kinds, last_class - block.classes, block.people[::-1],
            block.rows[::-1],
        )  # fmt: skip
        drawn = chain_shares(
            block.kinds, block.classes, block.people, (block.flow, other),
            seconds=_CHAINS * left, seed=seed,
        )  # fmt: skip
    mean, log, least, most = block_log(
        block.kinds, block.classes, block.people, block.rows, flow=block.flow,
        seconds=(1.0 - _CHAINS) * left, connected=connected,
    )  # fmt: skip
    # Chains that never close tell nothing: anything is possible then.
    share, error = (mean / block.people[block.kinds], np.inf) if drawn is None else drawn
    return SolvedBlock(
        share=share,
        low=np.maximum(share - 2 * error, 0.0),
        high=np.minimum(share + 2 * error, 1.0),
        log=log,
        least=least,
        most=most,
        exact=False,
        drawn=drawn is not None,
        known=drawn is not None,
        method="Sinkhorn scaling" if drawn is None else "table chain",
        total=None,
    )
