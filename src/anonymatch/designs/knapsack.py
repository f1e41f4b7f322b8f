"""The search over compositions: the best parts for every number of users and edges up to a limit.

best[i][e] = max over items (size, edges, log) of best[i - size][e - edges] + log, and 0 without
users, so that edges may be left over. Work: items x users x edges additions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.designs.items import Item

__all__ = ["Table", "seconds"]

_CLOSE = 1e-12  # logs that differ by less are taken for equal
_CALL, _CELL = 2e-6, 1.2e-9  # seconds for one vector operation and for each of its entries


def seconds(n_items: int, users: int, edges: int) -> float:
    """Predicted time to fill a table."""
    return n_items * users * (_CALL + _CELL * edges)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The log of the best count for every number of users and edges, and the items that matter.

    Examples
    --------
    >>> from anonymatch.designs.items import items
    >>> table = Table.fill((item for size in range(2, 9) for item in items(size)), 8, 24)
    >>> [(item.size, item.edges) for item in table.trace(8, 24)]
    [(2, 4), (2, 4), (4, 16)]
    """

    best: npt.NDArray[np.float64]
    useful: tuple[Item, ...]

    @classmethod
    def fill(cls, items: Iterable[Item], users: int, edges: int) -> Table:
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
        best, found = self.best, []
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
            found.append(item)
            users, edges = users - item.size, edges - item.edges
        return found
