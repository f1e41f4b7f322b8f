"""Small parts that beat every composition of the other kinds, kept in catalogue.txt.

Each line is a graph: a hexadecimal integer a user, bit j for behaviour j. They were found by
annealing (:mod:`anonymatch.designs.polish`) and by trying unions of small patterns of missing
edges. Together with the other kinds they reach the largest count, and the largest count after an
attack, of all graphs of up to 7 users.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from anonymatch.designs.kinds import Found

__all__ = ["catalogue"]


@cache
def catalogue() -> dict[int, tuple[Found, ...]]:
    """The parts by their number of users.

    Examples
    --------
    >>> max(part.count() for part in catalogue()[7] if part.edges == 34)
    470
    """
    by_size: dict[int, list[Found]] = {}
    for line in files(__package__).joinpath("catalogue.txt").read_text("ascii").splitlines():
        part = Found(tuple(int(row, 16) for row in line.split()))
        by_size.setdefault(part.size, []).append(part)
    return {size: tuple(parts) for size, parts in by_size.items()}
