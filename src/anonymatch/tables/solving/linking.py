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
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.errors import InputError, NoMatchingError
from anonymatch.base.numbers import plural
from anonymatch.base.text import names
from anonymatch.running import Budget
from anonymatch.tables.reading.release import Release, link_bytes, link_seconds
from anonymatch.tables.solving.block_solutions import LinkBlock, solve_blocks
from anonymatch.tables.solving.flows import flow_entries, largest_flow

__all__ = ["Links", "PossibleLinks", "link", "possible_links"]

_NAMED = 4  # people of a sentence
_LEAST, _ABOUT = 1.0, 1.3  # seconds that every budget allows, and how far a prediction may be off


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
    known : array of bool
        Kinds whose probabilities are more than a guess: the budget was enough to draw them.
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
    known: Bools = field(repr=False)
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
    pairs = len(release.indices)
    seconds, memory = link_seconds(pairs), link_bytes(pairs)
    if seconds > _ABOUT * max(budget.seconds, _LEAST) or memory > budget.memory:
        raise budget.refusal("matching people and rows", seconds, memory)
    found = possible_links(release)
    share, low, high = (np.zeros(len(found.kinds)) for _ in range(3))
    known = np.ones(len(found.kind_sizes), dtype=np.bool_)
    groups = _by_block(found.block)
    # Most blocks of large tables are one pair: as many people as rows.
    alone = np.array([own[0] for own in groups if len(own) == 1], dtype=np.int64)
    groups = [own for own in groups if len(own) > 1]
    share[alone] = low[alone] = high[alone] = 1.0
    left = replace(budget, seconds=max(budget.seconds - seconds, 0.0))
    solved = solve_blocks([_block(found, own) for own in groups], left, seed)
    for own, one in zip(groups, solved, strict=True):
        share[own], low[own], high[own] = one.share, one.low, one.high
        known[found.kinds[own]] &= one.known
    alike = math.lgamma(release.lost + 1) + math.lgamma(release.spare + 1)
    sizes = found.flow[alone]
    single = _log_factorials(sizes)
    logs = [
        sum(getattr(one, name) for one in solved) + single - alike
        for name in ("log", "least", "most")
    ]
    methods = list(dict.fromkeys(one.method for one in solved))
    drawn = any(one.drawn for one in solved)
    return Links(
        **{one.name: getattr(found, one.name) for one in fields(found)},
        share=share,
        low=low,
        high=high,
        known=known,
        log=logs[0],
        log_low=logs[1],
        log_high=logs[2],
        total=_total(release, [one.total for one in solved], sizes),
        exact=all(one.exact for one in solved),
        confidence=0.95 if drawn else 1.0,
        method=" + ".join(methods) or "closed form",
        seed=seed if drawn else None,
    )


def _log_factorials(numbers: Ints) -> float:
    from scipy.special import gammaln

    return float(gammaln(numbers + 1.0).sum())


def _total(
    release: Release, totals: list[Callable[[], int] | None], sizes: Ints
) -> Callable[[], int] | None:
    """The product over blocks and the sizes of others; those outside are not told apart."""
    known = [one for one in totals if one is not None]
    if len(known) < len(totals):
        return None
    alike = (release.lost, release.spare)
    single = [size for size in sizes.tolist() if size > 1]
    return lambda: (
        math.prod(one() for one in known)
        * math.prod(map(math.factorial, single))
        // math.prod(map(math.factorial, alike))
    )


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
    value, flow, found = largest_flow(kinds, classes, kind_sizes, class_sizes)
    if value < int(kind_sizes.sum()):
        raise _impossible(release, found, kind_sizes, class_sizes, kinds, classes)
    return flow


def _impossible(
    release: Release, flow: Any, kind_sizes: Ints, class_sizes: Ints, kinds: Ints, classes: Ints
) -> NoMatchingError:
    """Kinds of people who fit too few rows together: those that the flow cannot leave."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import breadth_first_order

    left, right = len(kind_sizes), len(class_sizes)
    used = flow_entries(flow, kinds, left + classes)
    out = flow_entries(flow, np.full(left, left + right), np.arange(left))
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


def _block(found: PossibleLinks, pairs: Ints) -> LinkBlock:
    own_kinds, kind_numbers = np.unique(found.kinds[pairs], return_inverse=True)
    own_classes, class_numbers = np.unique(found.classes[pairs], return_inverse=True)
    return LinkBlock(
        kinds=kind_numbers,
        classes=class_numbers,
        people=found.kind_sizes[own_kinds],
        rows=found.class_sizes[own_classes],
        flow=found.flow[pairs],
    )
