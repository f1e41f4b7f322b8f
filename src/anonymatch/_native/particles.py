"""Particle filters over matchings: unbiased estimates of a count, user after user."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, Rows, cancel_byte, ints, weights_of
from anonymatch._native.extension import kernels

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
