"""Designs in closed form that are worth comparing, for any number of users and edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymatch.designs.bound import equity
from anonymatch.designs.partition import equal_parts
from anonymatch.designs.parts.kinds import Near, Shape
from anonymatch.designs.parts.linked import Linked, Necklace
from anonymatch.designs.parts.part import Composition

__all__ = ["attaining", "joined", "necklaces", "one_odd", "regular"]

_NEAR = 40  # sizes of an odd part tried around k
_PAIRS = 4  # pairs of parts that spare edges may join


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
    for _ in range(_PAIRS):
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
    chosen = set(range(max(1, k - _NEAR), min(most, k + _NEAR) + 1))

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
