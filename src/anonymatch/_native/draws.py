"""Scaling, beliefs and random draws: estimates of blocks that no exact method reaches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from anonymatch._native.arrays import (
    Floats,
    Ints,
    Rows,
    cancel_byte,
    floats,
    floats_or_empty,
    ints,
    square,
    weights_of,
)
from anonymatch._native.extension import kernels


def sinkhorn_scaling(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    row_targets: Floats,
    n_columns: int,
    *,
    sweeps: int,
    tolerance: float,
) -> tuple[bool, Floats, Floats]:
    """Whether it is balanced, one share an edge, and the log of each column's factor."""
    return kernels.sinkhorn_scaling(
        ints(indptr),
        ints(indices),
        floats(weights),
        floats(row_targets),
        n_columns,
        sweeps,
        tolerance,
    )


class BeliefPropagation(NamedTuple):
    """What belief propagation found on a square block."""

    log: float  # of the Bethe permanent, or of its fractional kin
    marginals: Floats  # one an edge; rows sum to one
    residual: float  # the largest difference between the two messages of an edge
    sweeps: int


def propagate_beliefs(
    block: Rows,
    *,
    kappa: float = 1.0,
    tolerance: float = 1e-9,
    sweeps: int = 1000,
    damping: float = 0.0,
    cancel: bytearray | None = None,
) -> BeliefPropagation:
    """Belief propagation on an irreducible square block; fewer sweeps once it is cancelled."""
    check_messages(block, kappa)
    if not 0 <= damping < 1:
        raise ValueError(f"damping {damping} is not in [0, 1)")
    return BeliefPropagation(
        *kernels.propagate_beliefs(
            *square(block), kappa, tolerance, sweeps, damping, cancel_byte(cancel)
        )
    )


def check_messages(block: Rows, kappa: float) -> None:
    """Raise ValueError for what messages cannot be sent on."""
    if not 0 <= kappa <= 1:
        raise ValueError(f"kappa {kappa} is not in [0, 1]")
    if block.weights is not None and len(block.weights) != len(block.indices):
        raise ValueError(f"{len(block.weights)} weights for {len(block.indices)} edges")


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


PARTICLE_LANES = 16  # particles come in multiples of this


class ParticleRuns(NamedTuple):
    """Runs of a filter."""

    log_weights: Floats  # their mean, out of logs, is unbiased; -inf where no particle lived
    matchings: Ints  # runs by users, -1 where none lived (empty unless asked for)


class Particles:
    """Filters over matchings of a block that may have more behaviours than users."""

    def __init__(
        self,
        block: Rows,
        order: npt.NDArray[Any],
        *,
        sweeps: int,
        tolerance: float,
    ) -> None:
        self._users = block.n_users
        self._job = kernels.Particles(
            block.n_behaviours,
            ints(block.indptr),
            ints(block.indices),
            weights_of(block),
            ints(order),
            sweeps,
            tolerance,
        )

    @property
    def balanced(self) -> bool:
        """Whether weights stayed within the range of doubles; else nothing may be run."""
        return bool(self._job.balanced)

    @property
    def width(self) -> int:
        """Behaviours that are open at the same time at most."""
        return int(self._job.width)

    def run(
        self,
        seed: int,
        first: int,
        last: int,
        *,
        particles: int,
        matchings: bool = False,
        cancel: bytearray | None = None,
    ) -> ParticleRuns:
        """The runs [first, last), in any order, on any thread; the first of them if cancelled."""
        self._check(particles)
        runs = ParticleRuns(
            *self._job.run(seed, first, last, particles, matchings, cancel_byte(cancel))
        )
        return runs._replace(matchings=runs.matchings.reshape(-1, self._users))

    def along(
        self,
        matchings: npt.NDArray[Any],
        seed: int,
        first: int,
        *,
        particles: int,
        cancel: bytearray | None = None,
    ) -> Floats:
        """The log weight of a run along each matching, with the numbers from ``first`` on."""
        self._check(particles)
        flat = ints(matchings).reshape(-1)
        logs: Floats = self._job.along(flat, seed, first, particles, cancel_byte(cancel))
        return logs

    def _check(self, particles: int) -> None:
        if not self.balanced:
            raise ValueError("weights so far apart cannot be balanced")
        if particles < PARTICLE_LANES or particles % PARTICLE_LANES:
            raise ValueError(f"{particles} particles are no multiple of {PARTICLE_LANES}")


NestedBound = kernels.NestedBound
NESTED_BOUND_GROUP: int = kernels.nested_bound_group


def nested_bound_job(block: Rows, log_weights: Floats | None) -> NestedBound:
    """A nested bound on the count of a square block, and the draws that it holds."""
    if block.n_users != block.n_behaviours:
        raise ValueError("nested bounds take square blocks")
    logs = floats_or_empty(log_weights)
    return NestedBound(block.n_users, ints(block.indptr), ints(block.indices), logs)
