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
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.logarithms import Line, log_factorial
from anonymatch.theory.designs.formulas import equity, restricted_permutations_log
from anonymatch.theory.designs.partition import Layered, equal_parts, paper
from anonymatch.theory.designs.parts import Composition, Linked, Near, Necklace, Searched, Shape
from anonymatch.theory.designs.small import LARGEST, Bits, tally
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["KnapsackTable", "best", "catalogue", "items", "proof"]


def _seconds(n_items: int, users: int, edges: int) -> float:
    """Predicted time to fill a table."""
    return n_items * users * (TUNING.vector_call + TUNING.vector_cell * edges)


@dataclass(frozen=True, slots=True, eq=False)
class KnapsackTable:
    """The log of the best count for every number of users and edges, and the items that matter.

    Examples
    --------
    >>> from anonymatch.theory.designs.search import items
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
                if item.log > row[item.edges] + TUNING.close:
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
                and best[users - item.size, edges - item.edges] + item.log >= goal - TUNING.close
            )
            chosen.append(item)
            users, edges = users - item.size, edges - item.edges
        return chosen


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
            if chosen is None or value + composition.doubt(line) < chosen[0] - TUNING.close:
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
        return log >= other - TUNING.close * (1 + abs(other))

    if n <= 7 or (n, m) == (8, 24):  # every graph was counted
        free = best(n, m, least=1, objective=objective)
        assert free is not None
        line = Line(m // n)
        gain = composition.loss(line) - free.loss(line)
        if objective == "after_attack":
            gain -= composition.attack_log - free.attack_log
        if gain <= TUNING.close:
            return "optimal: every graph of so many users and edges was counted"
    if objective == "after_attack":
        return _NOT_PROVEN
    if not all(part.exact for part in composition.parts):
        return "best of the families searched, by proven bounds; not proven"
    bound = equity(n, m)
    if bound.attained and composition.loss(Line(m // n)) <= TUNING.close:
        return "optimal: attains the bound"
    if m <= 2 * n and reaches((m - n) // 2 * math.log(2)):
        return "optimal: proven for at most two edges a user (Brualdi, Goldwasser, Michael 1988)"
    if n * n - m <= n and reaches(restricted_permutations_log(n, n * n - m)):
        return "optimal: proven for at most n missing edges (Brualdi, Goldwasser, Michael 1988)"
    if log < TUNING.short_log and bound.floor == math.prod(
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
                largest = min(users, 2 * k + TUNING.above_twice_k, TUNING.part_users)
                sizes = range(least, largest + 1)
                number = sum(1 + 2 * size if rich else 2 for size in sizes)  # that stay in the end
                quick = _seconds(number, users, edges) <= TUNING.table_seconds
                if users > searched and sizes and quick:
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
        for _ in range(TUNING.attack_tables if against_attacks else 1):
            allowed = [item for item in self.items if item.attack_log > threshold + TUNING.close]
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
            if any(share <= threshold + TUNING.close for share in fixed):
                return

    def _traced(self, table: KnapsackTable, threshold: float) -> list[Item] | None:
        """The best items, one of the partial kinds among them if that is better."""
        value, last = table.best[self.users, self.edges], None
        for item in self.partial:
            if item.attack_log > threshold + TUNING.close and item.edges <= self.edges:
                rest = table.best[self.users - item.size, self.edges - item.edges]
                if rest + item.log > value + TUNING.close:
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


# ---- the parts to choose from


@cache
def catalogue() -> dict[int, tuple[Searched, ...]]:
    """The parts by their number of users.

    Examples
    --------
    >>> max(part.count() for part in catalogue()[7] if part.edges == 34)
    470
    """
    by_size: dict[int, list[Searched]] = {}
    for line in files(__package__).joinpath("catalogue.txt").read_text("ascii").splitlines():
        part = Searched(tuple(int(row, 16) for row in line.split()))
        by_size.setdefault(part.size, []).append(part)
    return {size: tuple(parts) for size, parts in by_size.items()}


class Item(NamedTuple):
    """A shape, and the natural logs of its count and of the share that the best attack leaves."""

    size: int
    edges: int
    log: float
    attack_log: float
    shape: Shape


@lru_cache(maxsize=512)
def items(size: int) -> tuple[Item, ...]:
    """Every shape of this size of which the count is quickly known and that exposes nobody.

    Examples
    --------
    >>> [(item.edges, round(math.exp(item.log))) for item in items(3)]
    [(9, 6), (8, 4), (7, 3), (6, 2), (7, 3)]
    """
    if size == 1:
        return (Item(1, 1, 0.0, 0.0, Near(1)),)
    options = list(_near(size))
    if size <= LARGEST:
        options += _small(size)
    else:
        options += _two_missing(size)
    return tuple(options)


def plain_items(size: int) -> tuple[Item, ...]:
    """The complete part and the crown only."""
    near = items(1) if size == 1 else tuple(_near(size))
    return (near[0], near[-1]) if size > 2 else near[:1]


@lru_cache(maxsize=512)
def _near(size: int) -> tuple[Item, ...]:
    """Complete parts without up to ``size`` disjoint edges; two users stay complete."""
    forbidden = np.arange(size + 1 if size > 2 else 1)
    shares = np.log(_shares(size)[forbidden])
    attacks = _attack_logs(size)[forbidden]
    factorial = log_factorial(size)
    return tuple(
        Item(size, size * size - j, factorial + share, attack, Near(size, j))
        for j, share, attack in zip(
            forbidden.tolist(), shares.tolist(), attacks.tolist(), strict=True
        )
    )


@lru_cache(maxsize=512)
def _shares(size: int) -> npt.NDArray[np.float64]:
    """F(size, j) / size! for j = 0 to size: the sum over i of (-1)^i [j]_i / ([size]_i i!)."""
    forbidden = np.arange(size + 1, dtype=np.float64)
    term = np.ones(size + 1)
    total = np.ones(size + 1)
    for i in range(min(size, TUNING.share_terms)):
        term = -term * (forbidden - i) / ((size - i) * (i + 1))
        total += np.where(forbidden > i, term, 0.0)
    return total


def _attack_logs(size: int) -> npt.NDArray[np.float64]:
    """Logs of the share that the best attack leaves, on two kinds of user, for j = 0 to size."""
    j = np.arange(size + 1)
    # less[j + 2] belongs to F(size - 1, j)
    less = np.concatenate((np.zeros(2), _shares(size - 1) ** 2, np.zeros(1)))
    full = (size - j) * less[j + 2] + j * less[j + 1]
    constrained = (size - j) * less[j + 1] + (j - 1) * less[j]
    least = np.where(j == 0, full, np.where(j == size, constrained, np.minimum(full, constrained)))
    with np.errstate(divide="ignore"):
        logs: npt.NDArray[np.float64] = np.log(least) - 2 * np.log(size * _shares(size))
    return logs


def _small(size: int) -> Iterator[Item]:
    """The paper's layers with more than one edge missing a user, linked pairs, what was found."""
    shapes: list[Shape] = [Layered(size, edges) for edges in range(2 * size, size * size - size)]
    shapes += [
        Linked(size - q, q, u, v)
        for q in range(1, size // 2 + 1)
        for u in range(1, q + 1)
        for v in range(1, q + 1)
    ]
    shapes += catalogue().get(size, ())
    for shape, result in zip(shapes, tally([_bits(shape) for shape in shapes]), strict=True):
        attack = math.log(result.attack)
        yield Item(size, shape.edges, math.log(result.count), attack, shape)


def _bits(shape: Shape) -> Bits:
    rows = [0] * shape.size
    for row, column in zip(*(ends.tolist() for ends in shape.cells()), strict=True):
        rows[row] |= 1 << column
    return tuple(rows)


def _two_missing(size: int) -> Iterator[Item]:
    """The paper's layers with one to two edges missing a user; attacks by their lower bound."""
    for edges in range(size * (size - 2), size * (size - 1)):
        shape = Layered(size, edges)
        log = log_factorial(size) + shape.share_logs[0]
        yield Item(size, edges, log, -math.log(-(-edges // size)), shape)


# ---- designs in closed form


def attaining(n: int, m: int) -> Iterator[Composition]:
    """Complete parts of k and k + 1 users that attain the bound, if there are such."""
    partition = equity(n, m).partition
    if partition is not None:
        yield Composition.of(((Near(size), number) for size, number in partition), 0)


def regular(n: int, m: int) -> Iterator[Composition]:
    """Equal parts in the paper's layers, as many as the bound would have and one more or less."""
    middle = _parts_of_bound(n, m)
    for number in range(max(1, middle - 1), min(n, middle + 2) + 1):
        yield equal_parts(n, m, number)


def one_odd(n: int, m: int) -> Iterator[Composition]:
    """Complete parts and crowns of nearly equal size, and one part of any size.

    Edges that the parts have too many of are missing in the largest parts, one crown after
    another; edges that they cannot hold are spare.
    """
    k = m // n
    middle = _parts_of_bound(n, m)
    for number in range(max(1, middle - 1), min(n, middle + 2) + 1):
        for odd in _odd_sizes(n, m, k, number):
            sizes = _balanced(n - odd, number - 1)
            sizes[odd] = sizes.get(odd, 0) + 1
            parts = _without(sizes, m)
            if parts is not None:
                yield parts


def necklaces(n: int, m: int, least: int) -> Iterator[Composition]:
    """Parts of at least so many users where the edges do not suffice for complete ones.

    The paper's layers are there because spare edges need room: one part alone has none.
    """
    most = n // least
    for number in sorted({1, max(1, most // 2), most}):
        shapes: list[tuple[Shape, int]] = []
        classes = [pair for pair in _balanced(n, number).items() if pair[1]]
        groups = {size: _fewest_groups(size, m * size // n) for size, _ in classes}
        left = m - sum(copies * _ring(size, groups[size]).edges for size, copies in classes)
        for size, copies in classes:
            loose, tight = _ring(size, groups[size]), _ring(size, max(1, groups[size] - 1))
            more = tight.edges - loose.edges
            better = min(copies, left // more) if more else 0
            left -= better * more
            shapes += [(tight, better), (loose, copies - better)]
        yield Composition.of(shapes, left)
        yield equal_parts(n, m, number)


def joined(composition: Composition) -> Iterator[Composition]:
    """The same with spare edges put to use: they join complete parts both ways, in pairs."""
    numbers: dict[Shape, int] = {part.shape: part.number for part in composition.parts}
    spare = composition.spare
    for _ in range(TUNING.joined_pairs):
        sizes = sorted(
            shape.size
            for shape, number in numbers.items()
            if shape == Near(shape.size)
            for _ in range(min(number, 2))
        )
        if spare < 2 or len(sizes) < 2:
            return
        small, large = sizes[:2]
        each = min(spare // 2, small)
        for size in (small, large):
            numbers[Near(size)] -= 1
        link = Linked(large, small, each, each)
        numbers[link] = numbers.get(link, 0) + 1
        spare -= 2 * each
        yield Composition.of(numbers.items(), spare)


def _parts_of_bound(n: int, m: int) -> int:
    """How many parts of k and k + 1 users the bound would have, were fractions of parts allowed."""
    k, r = divmod(m, n)
    return max(1, ((n - r) * (k + 1) + r * k) // (k * (k + 1)))


def _balanced(users: int, number: int) -> dict[int, int]:
    """Sizes, as equal as possible, and how many parts have them."""
    if not number:
        return {}
    size, larger = divmod(users, number)
    return {size + 1: larger, size: number - larger}


def _odd_sizes(n: int, m: int, k: int, number: int) -> Iterable[int]:
    """Sizes of one part: near k, and where all parts together come closest to m pairs."""
    if number == 1:
        return (n,)
    most = n - number + 1
    chosen = set(range(max(1, k - TUNING.odd_sizes), min(most, k + TUNING.odd_sizes) + 1))

    def pairs(odd: int) -> int:
        return odd**2 + sum(
            times * size**2 for size, times in _balanced(n - odd, number - 1).items()
        )

    average = n // number
    for low, high in ((1, min(average, most)), (min(average + 1, most), most)):
        sign = 1 if pairs(high) >= pairs(low) else -1
        while low < high:  # pairs falls up to the average and rises from there
            middle = (low + high) // 2
            if sign * (pairs(middle) - m) < 0:
                low = middle + 1
            else:
                high = middle
        chosen.update(range(max(1, low - 3), min(most, low + 3) + 1))
    return sorted(chosen)


def _without(sizes: dict[int, int], m: int) -> Composition | None:
    """Parts of these sizes with m edges in all; None if more than one edge a user is missing."""
    missing = sum(size * size * number for size, number in sizes.items()) - m
    if missing <= 0:
        shapes: list[tuple[Shape, int]] = [(Near(size), number) for size, number in sizes.items()]
        return Composition.of(shapes, -missing)
    shapes = []
    for size in sorted(sizes, reverse=True):
        number = sizes[size]
        crowns = min(number, missing // size)
        missing -= crowns * size
        partly = missing if crowns < number else 0
        missing -= partly
        shapes += [
            (Near(size, size), crowns),
            (Near(size, partly), 1 if partly else 0),
            (Near(size), number - crowns - (1 if partly else 0)),
        ]
    if missing or any(number and shape == Near(1, 1) for shape, number in shapes):
        return None
    return Composition.of(shapes, 0)


def _fewest_groups(size: int, edges: int) -> int:
    """The smallest number of groups of a necklace (or 1: a complete part) with so many edges."""
    low, high = 1, size
    while low < high:
        middle = (low + high) // 2
        if _ring(size, middle).edges <= edges:
            high = middle
        else:
            low = middle + 1
    return low


def _ring(size: int, groups: int) -> Near | Necklace:
    return Near(size) if groups == 1 else Necklace(size, groups)
