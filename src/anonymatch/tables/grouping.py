"""The grouping to aim for: complete groups, as nearly of one size as can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymatch.base.numbers import amount, percent
from anonymatch.theory.designs import equity

if TYPE_CHECKING:
    from anonymatch.tables import Release

__all__ = ["Grouping", "best_grouping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Groups of equal rows that have the most ways to match, for as many candidates.

    Attributes
    ----------
    sizes : tuple of int
        Of groups: one, or two next to each other.
    bits, released_bits : float
        log2 of the ways to match, at most and in the release.
    """

    sizes: tuple[int, ...]
    bits: float
    released_bits: float

    def in_words(self) -> str:
        """A sentence."""
        sizes = " or ".join(f"{size:,}" for size in self.sizes)
        share = percent(self.released_bits / self.bits) if self.bits else "all"
        return (
            f"A person fits {sizes} rows on average. To aim for: groups of {sizes} equal rows have "
            f"the most ways to match for as many candidates, {amount(self.bits)} bits; this "
            f"release has {share} of them."
        )


def best_grouping(release: Release, log: float) -> Grouping | None:
    """Of a release with this natural log of ways to match; None unless everybody is in it.

    Examples
    --------
    >>> import numpy as np
    >>> from anonymatch.tables import Release
    >>> pairs = Release(columns=(), kind_of=np.array([0, 0, 1, 1]), class_of=np.array([0, 0, 1, 1]),
    ...                 indptr=np.array([0, 1, 2]), indices=np.array([0, 1]))
    >>> best_grouping(pairs, math.log(4)).sizes
    (2,)
    """
    if release.lost or release.spare:
        return None
    best = equity(release.n_people, release.n_edges)
    return Grouping(
        sizes=tuple(degree for degree, _ in best.degrees),
        bits=best.log / math.log(2),
        released_bits=min(log, best.log) / math.log(2),
    )
