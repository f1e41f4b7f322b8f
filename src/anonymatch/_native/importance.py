"""Importance sampling guided by belief propagation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, Rows, cancel_byte, ints, square
from anonymatch._native.belief_propagation import check_messages
from anonymatch._native.extension import kernels


class ImportanceDraws(NamedTuple):
    """Draws [first, last): weights, and sums over W = exp(log weight - scale) with marginals m."""

    log_weights: Floats  # their mean, out of logs, is unbiased; -inf in dead ends
    scale: float
    first: Floats  # sum of W m, one an edge (empty unless asked for)
    square: Floats  # sum of W^2 m
    second: Floats  # sum of W^2 m^2
    matchings: Ints  # draws by users, -1 in dead ends (empty unless asked for)


class Importance:
    """Unbiased draws of an irreducible square block, each a function of seed and number alone."""

    def __init__(
        self,
        block: Rows,
        *,
        kappa: float = 1.0,
        children: int = 2,
        tolerance: float = 0.05,
        refreshes: int = 1000,
        cancel: bytearray | None = None,
    ) -> None:
        check_messages(block, kappa)
        if children < 1 or not tolerance >= 0:
            raise ValueError(f"{children} children or tolerance {tolerance} out of bounds")
        self._users = block.n_users
        self._job = kernels.Importance(
            *square(block), kappa, children, tolerance, refreshes, cancel_byte(cancel)
        )

    def draws(
        self,
        seed: int,
        first: int,
        last: int,
        *,
        marginals: bool = False,
        matchings: bool = False,
        cancel: bytearray | None = None,
    ) -> ImportanceDraws:
        """The draws [first, last), in any order, on any thread; the first of them if cancelled."""
        drawn = ImportanceDraws(
            *self._job.draws(seed, first, last, marginals, matchings, cancel_byte(cancel))
        )
        return drawn._replace(matchings=drawn.matchings.reshape(-1, self._users))

    def log_weights_of(
        self, matchings: npt.NDArray[Any], *, cancel: bytearray | None = None
    ) -> Floats:
        """The log weight of the plain draw (one child) that chooses each matching."""
        return self._job.log_weights_of(ints(matchings).reshape(-1), cancel_byte(cancel))
