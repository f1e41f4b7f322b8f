"""The best design that a search finds: compositions of many kinds of parts.

Small problems are searched completely over the kinds of parts. Of large ones, copies of complete
parts of k and k + 1 users are split off first: they lose nothing against the bound. Closed forms
are compared in any case, the paper's construction among them. What decides is the loss against
the bound, in natural logs to about 12 digits after the point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.base.logarithms import Line
from anonymatch.designs.bound import equity
from anonymatch.designs.closed_designs import attaining, joined, necklaces, one_odd, regular
from anonymatch.designs.formulas import restricted_permutations_log
from anonymatch.designs.partition import paper
from anonymatch.designs.parts.items import Item, items, plain_items
from anonymatch.designs.parts.kinds import Near, Shape
from anonymatch.designs.parts.part import Composition

__all__ = ["KnapsackTable", "best", "proof", "seconds"]

_CLOSE = 1e-12  # logs that differ by less are taken for equal
_CALL, _CELL = 2e-6, 1.2e-9  # seconds for one vector operation and for each of its entries


def seconds(n_items: int, users: int, edges: int) -> float:
    """Predicted time to fill a table."""
    return n_items * users * (_CALL + _CELL * edges)


@dataclass(frozen=True, slots=True, eq=False)
class KnapsackTable:
    """The log of the best count for every number of users and edges, and the items that matter.

    Examples
    --------
    >>> from anonymatch.designs.parts.items import items
    >>> table = KnapsackTable.fill((item for size in range(2, 9) for item in items(size)), 8, 24)
    >>> [(item.size, item.edges) for item in table.trace(8, 24)]
    [(2, 4), (2, 4), (4, 16)]
    """

    best: npt.NDArray[np.float64]
    useful: tuple[Item, ...]

    @classmethod
    def fill(cls, items: Iterable[Item], users: int, edges: int) -> KnapsackTable:
        """The table up to so many users and edges; items that others beat are dropped at once."""
        by_size: dict[int, list[Item]] = {}
        for item in items:
            if item.edges <= edges:
                by_size.setdefault(item.size, []).append(item)
        best = np.full((users + 1, edges + 1), -np.inf)
        best[0] = 0.0
        useful: list[Item] = []
        for i in range(1, users + 1):
            row = best[i]
            for size, used, log, *_ in useful:
                reach = row[used:]
                np.maximum(reach, best[i - size, : edges + 1 - used] + log, out=reach)
            for item in sorted(by_size.get(i, ()), key=lambda item: item.edges):
                if item.log > row[item.edges] + _CLOSE:
                    useful.append(item)
                    reach = row[item.edges :]
                    np.maximum(reach, item.log, out=reach)
        return cls(best, tuple(useful))

    def trace(self, users: int, edges: int) -> list[Item] | None:
        """The items of a best composition; None if there is none."""
        best, chosen = self.best, []
        if best[users, edges] == -np.inf:
            return None
        while users:
            goal = best[users, edges]
            item = next(
                item
                for item in self.useful
                if item.size <= users
                and item.edges <= edges
                and best[users - item.size, edges - item.edges] + item.log >= goal - _CLOSE
            )
            chosen.append(item)
            users, edges = users - item.size, edges - item.edges
        return chosen


_SECONDS = 0.2  # predicted, for one table
_ROUNDS = 40  # tables of one search against attacks
_LARGER = 8  # than 2 k: the largest parts that are tried
_LARGEST = 200
_SHORT = 100.0  # natural log of a count that is compared digit by digit
_CLOSE = 1e-12
_ALL_KNOWN_UP_TO = 7  # users of whom every graph was counted
_ALSO_KNOWN = ((8, 24),)

_NOT_PROVEN = "best of the families searched; not proven"


def best(n: int, m: int, *, least: int, objective: str) -> Composition | None:
    """The best composition found whose closed groups have at least ``least`` users, if any."""
    line = Line(m // n)
    chosen: tuple[float, Composition] | None = None

    def consider(composition: Composition) -> None:
        nonlocal chosen
        if composition.fits and (least == 1 or composition.smallest >= least):
            value = composition.loss(line)
            if objective == "after_attack":
                value -= composition.attack_log
            if chosen is None or value + composition.doubt(line) < chosen[0] - _CLOSE:
                chosen = value, composition

    for attained in attaining(n, m):
        consider(attained)
        if chosen is not None and objective == "matchings":
            return attained  # nothing can be better
    candidates = list(_candidates(n, m, least, objective))
    for attained in candidates:  # plain ones first: of equally good ones the first is kept
        consider(attained)
    for attained in candidates:
        for better in joined(attained):
            consider(better)
    return None if chosen is None else chosen[1]


def proof(n: int, m: int, composition: Composition, *, objective: str) -> str:
    """What is known about how good it is: 'optimal: ...' with the reason, or that it is open."""
    log = math.fsum(part.number * part.log for part in composition.parts)

    def reaches(other: float) -> bool:
        return log >= other - _CLOSE * (1 + abs(other))

    if n <= _ALL_KNOWN_UP_TO or (n, m) in _ALSO_KNOWN:
        free = best(n, m, least=1, objective=objective)
        assert free is not None
        line = Line(m // n)
        gain = composition.loss(line) - free.loss(line)
        if objective == "after_attack":
            gain -= composition.attack_log - free.attack_log
        if gain <= _CLOSE:
            return "optimal: every graph of so many users and edges was counted"
    if objective == "after_attack":
        return _NOT_PROVEN
    if not all(part.exact for part in composition.parts):
        return "best of the families searched, by proven bounds; not proven"
    bound = equity(n, m)
    if bound.attained and composition.loss(Line(m // n)) <= _CLOSE:
        return "optimal: attains the bound"
    if m <= 2 * n and reaches((m - n) // 2 * math.log(2)):
        return "optimal: proven for at most two edges a user (Brualdi, Goldwasser, Michael 1988)"
    if n * n - m <= n and reaches(restricted_permutations_log(n, n * n - m)):
        return "optimal: proven for at most n missing edges (Brualdi, Goldwasser, Michael 1988)"
    if log < _SHORT and bound.floor == math.prod(
        part.shape.count() ** part.number for part in composition.parts
    ):
        return "optimal: no whole number lies between the count and the bound"
    return _NOT_PROVEN


def _candidates(n: int, m: int, least: int, objective: str) -> Iterator[Composition]:
    yield paper(n, m)[0]
    yield from regular(n, m)
    yield from one_odd(n, m)
    for search in _Search.plans(n, m, least):
        yield from search.results(against_attacks=objective == "after_attack")
    if least > m // n:
        yield from necklaces(n, m, least)


@dataclass(frozen=True, slots=True)
class _Search:
    """Complete parts of k and k + 1 users that are split off, and what the search may use else."""

    k: int
    copies: tuple[int, int]
    users: int
    edges: int
    items: tuple[Item, ...]
    partial: tuple[Item, ...]  # of which one part may be chosen besides

    @classmethod
    def plans(cls, n: int, m: int, least: int) -> Iterator[_Search]:
        """The largest rich search that is fast enough, and a plain one if it can be larger."""
        k = m // n
        sizes_of_rest = {n, 256, 128, 64, (k + 1) ** 2, 8 * k, 4 * k}
        searched = 0
        for rich in (True, False):
            for rest in sorted(sizes_of_rest, reverse=True):
                if rest > n or rest < min(n, 4 * k) or (rest < n and least > k):
                    continue
                copies = _split(n, m, rest) if rest < n else (0, 0)
                users = n - copies[0] * k - copies[1] * (k + 1)
                edges = m - copies[0] * k**2 - copies[1] * (k + 1) ** 2
                sizes = range(least, min(users, 2 * k + _LARGER, _LARGEST) + 1)
                number = sum(1 + 2 * size if rich else 2 for size in sizes)  # that stay in the end
                if users > searched and sizes and seconds(number, users, edges) <= _SECONDS:
                    every = tuple(item for size in sizes for item in items(size))
                    plain = () if rich else tuple(i for size in sizes for i in plain_items(size))
                    yield cls(k, copies, users, edges, plain or every, () if rich else every)
                    searched = users
                    break

    def results(self, *, against_attacks: bool) -> Iterator[Composition]:
        """The composition with the most matchings; against attacks, also those that lose less.

        The share that an attack leaves is that of the worst part. To beat the best result so far
        without more matchings than the last one had, every part must leave more than the quotient
        of the two: only such parts are allowed next.
        """
        fixed = [-math.log(self.k + i) for i, number in enumerate(self.copies) if number]
        threshold, best_value = -math.inf, -math.inf
        for _ in range(_ROUNDS if against_attacks else 1):
            allowed = [item for item in self.items if item.attack_log > threshold + _CLOSE]
            table = KnapsackTable.fill(allowed, self.users, self.edges)
            chosen = self._traced(table, threshold)
            if chosen is None:
                return
            numbers: list[tuple[Shape, int]] = [(item.shape, 1) for item in chosen]
            numbers += [(Near(self.k + i), number) for i, number in enumerate(self.copies)]
            yield Composition.of(numbers, self.edges - sum(item.edges for item in chosen))
            log = sum(item.log for item in chosen)
            best_value = max(best_value, log + min([item.attack_log for item in chosen] + fixed))
            threshold = best_value - log
            if any(share <= threshold + _CLOSE for share in fixed):
                return

    def _traced(self, table: KnapsackTable, threshold: float) -> list[Item] | None:
        """The best items, one of the partial kinds among them if that is better."""
        value, last = table.best[self.users, self.edges], None
        for item in self.partial:
            if item.attack_log > threshold + _CLOSE and item.edges <= self.edges:
                rest = table.best[self.users - item.size, self.edges - item.edges]
                if rest + item.log > value + _CLOSE:
                    value, last = rest + item.log, item
        if last is None:
            return table.trace(self.users, self.edges)
        rest_items = table.trace(self.users - last.size, self.edges - last.edges)
        return None if rest_items is None else [*rest_items, last]


def _split(n: int, m: int, remaining: int) -> tuple[int, int]:
    """Copies of complete parts of k and k + 1 users that may go, so that about ``keep`` stay."""
    k, r = divmod(m, n)
    small, large = (n - r) // k, r // (k + 1)
    left = remaining - (n - small * k - large * (k + 1))
    keep_large = min(large, max(0, left // 2) // (k + 1))
    keep_small = min(small, max(0, left - keep_large * (k + 1)) // k)
    keep_large = min(large, max(0, left - keep_small * k) // (k + 1))
    return small - keep_small, large - keep_large
