"""Particle filters of one block: guided draws that are cheap where a block is dense or narrow.

They work user after user and need no added users for spare behaviours. Draws along belief
propagation (importance.py) choose their order as they go: far dearer, and closer where a block is
sparse and wide.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.importance import Matchings, TreeDraws, in_chunks, mixed
from anonymatch.counting.approximate.tuning import PARTICLES
from anonymatch.counting.blocks.block import Block, first_look, look_pays
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import Cancelled, Execution, Shared, byte_of_work, check_work


class ParticleFilter:
    """Filters with so many particles each; it travels to other processes without its plan."""

    def __init__(
        self, block: Block, order: npt.NDArray[np.int32], seed: tuple[int, ...], particles: int
    ) -> None:
        self.block, self.order, self.seed, self.particles = block, order, seed, particles
        self._shared = Shared(_plan, block, order)

    def __reduce__(self) -> tuple[type[ParticleFilter], tuple[object, ...]]:
        return ParticleFilter, (self.block, self.order, self.seed, self.particles)

    @property
    def plan(self) -> _native.Particles:
        return self._shared.get()

    def with_particles(self, particles: int) -> ParticleFilter:
        """The same with other runs: as many particles, a multiple of 16."""
        other = ParticleFilter(self.block, self.order, self.seed, particles)
        other._shared = self._shared
        return other

    @property
    def path_seconds(self) -> float:
        """Of a run."""
        edges, users = self.block.n_edges, self.block.n_users
        each = tuning().particle_edge * edges + tuning().particle_pick * users
        copied = (
            tuning().particle_copy * self._resamplings * PARTICLES.state_bytes * self.plan.width
        )
        return (each + copied) * self.particles + tuning().particle_user * users

    @property
    def _resamplings(self) -> float:
        """About how many a run has: more where few edges leave little choice."""
        block = self.block
        often = tuning().particle_resampling * block.n_users**2 / block.n_edges
        return often * (block.n_users / block.n_behaviours) ** 2

    def paths(self, first: int, last: int, effort: Execution) -> tuple[Floats, Matchings]:
        """Log weights of the runs [first, last), and a matching of each; -1 where all died."""
        draw = partial(_runs, self._shared, mixed(self.seed, 11), self.particles, True)
        parts = list(in_chunks(draw, first, last, self.path_seconds, effort))
        logs = _check([part[0] for part in parts], last - first)
        return logs, np.concatenate([part[1] for part in parts]).reshape(len(logs), -1)

    def trees(self, first: int, last: int, effort: Execution) -> TreeDraws:
        """Other runs [first, last): the mean of their weights is unbiased for the count.

        Those that there are when the work shall end.
        """
        draw = partial(_runs, self._shared, mixed(self.seed, 12), self.particles, False)
        parts: list[Floats] = []
        try:
            for logs, _ in in_chunks(draw, first, last, self.path_seconds, effort):
                parts.append(logs)  # they stay if it is left
        except Cancelled:
            if not parts:
                raise
        else:
            _check(parts, last - first)
        return TreeDraws(np.concatenate(parts), 0.0, *(np.empty(0) for _ in range(3)))

    def follow(self, matchings: Matchings, effort: Execution) -> Floats:
        """Log weights of runs along these matchings."""
        flat = np.ascontiguousarray(matchings[:, : self.block.n_users])
        draw = partial(_along, self._shared, mixed(self.seed, 13), self.particles, flat)
        return _check(list(in_chunks(draw, 0, len(flat), self.path_seconds, effort)), len(flat))


def _check(parts: list[Floats], number: int) -> Floats:
    """All log weights; refuses records in which some are missing."""
    logs = np.concatenate(parts)
    if len(logs) != number:
        raise ValueError(f"{len(logs)} log weights of {number} runs")
    return logs


def promising_filter(
    block: Block, seed: tuple[int, ...], seconds: float, effort: Execution
) -> tuple[ParticleFilter, float] | None:
    """A filter for the block whose runs agree, and the relative variance of one particle.

    None where a first look within so many predicted seconds tells that runs die or differ too much.
    """
    if block.weights is not None and block.weights.dtype == object:
        return None
    preparing = tuning().particle_balance * PARTICLES.sweeps * block.n_edges
    if preparing > seconds:
        return None
    pilot = ParticleFilter(block, _order(block, seconds), seed, PARTICLES.fewest)
    if not pilot.plan.balanced or preparing + PARTICLES.pilot * pilot.path_seconds > seconds:
        return None
    variance = _pilot_variance(pilot, effort)
    while not math.isfinite(variance):  # some runs died: with more particles fewer do
        pilot = pilot.with_particles(4 * pilot.particles)
        if pilot.particles > PARTICLES.pilot_most or PARTICLES.pilot * pilot.path_seconds > seconds:
            return None
        variance = _pilot_variance(pilot, effort)
    one = variance * pilot.particles
    # Few runs tell little of their own error: rather more of them with fewer particles.
    several = seconds / (PARTICLES.runs_share * pilot.path_seconds) * pilot.particles
    wanted = max(
        min(one / PARTICLES.spread**2, max(several, one / PARTICLES.widest**2)), pilot.particles
    )
    if wanted > PARTICLES.most:
        if block.n_users < PARTICLES.normal_users or one > PARTICLES.roughest**2 * PARTICLES.most:
            return None
        wanted = max(min(several, PARTICLES.most), one / PARTICLES.roughest**2)
    return pilot.with_particles(PARTICLES.fewest * math.ceil(wanted / PARTICLES.fewest)), one


def _pilot_variance(pilot: ParticleFilter, effort: Execution) -> float:
    """Of the log weights of some runs; infinite if any died."""
    effort.expect(PARTICLES.pilot * pilot.path_seconds)
    logs = pilot.trees(0, PARTICLES.pilot, effort).log_weights
    effort.stop.check()
    alive = len(logs) == PARTICLES.pilot and bool(np.isfinite(logs).all())
    return float(logs.var(ddof=1)) if alive else math.inf


def _order(block: Block, seconds: float) -> npt.NDArray[np.int32]:
    """Users in an order in which few behaviours are open at once, if there is one.

    Where that would take too much of the seconds, they stay as they are: those of a log are in
    order of time.

    Where nearly all are open, and users have many, those with few come first: the last users are
    the hard ones, and should have a choice.
    """
    if not look_pays(block, seconds):
        return np.arange(block.n_users, dtype=np.int32)
    plan = first_look(block)
    wide = plan.width > PARTICLES.dense * block.n_behaviours
    if wide and block.n_edges > tuning().particle_many * block.n_users:
        return np.argsort(np.diff(block.indptr), kind="stable").astype(np.int32)
    return np.asarray(plan.order, dtype=np.int32)


def _plan(block: Block, order: npt.NDArray[np.int32]) -> _native.Particles:
    return _native.Particles(block, order, sweeps=PARTICLES.sweeps, tolerance=PARTICLES.tolerance)


def _runs(
    shared: Shared[_native.Particles],
    seed: int,
    particles: int,
    matchings: bool,
    first: int,
    last: int,
) -> tuple[Floats, Matchings]:
    runs = shared.get().run(
        seed, first, last, particles=particles, matchings=matchings, cancel=byte_of_work()
    )
    check_work()
    return runs.log_weights, runs.matchings


def _along(
    shared: Shared[_native.Particles],
    seed: int,
    particles: int,
    matchings: Matchings,
    first: int,
    last: int,
) -> Floats:
    logs = shared.get().along(
        matchings[first:last], seed, first, particles=particles, cancel=byte_of_work()
    )
    check_work()
    return logs
