"""The count of one block beyond exact reach: an estimate, an interval, and how far to trust them.

Draws are runs of particle filters where those agree, else trees guided by belief propagation. Both
are unbiased, but they may miss rare heavy matchings without any sign of it. So plain draws are
compared with matchings of a worm chain, which knows nothing of the guide. If both agree, draws give
the interval; if not, the bridge between the two; and if they hardly meet, only their bracket.

Where behaviours are left over and none of this is sound, chains in which users may rest give the
count instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.bridge import (
    Bracket,
    Bridge,
    bracket_of,
    bridge_of,
    hidden_variance,
    rare_variance,
)
from anonymatch.counting.approximate.importance import (
    ImportanceSampler,
    Matchings,
    TooSlowError,
    WormChain,
    messages,
    spread_of,
)
from anonymatch.counting.approximate.particles import ParticleFilter, promising_filter
from anonymatch.counting.approximate.records import Basis, Estimate, EstimateBudget, proven_only
from anonymatch.counting.approximate.spare_chain import SPARE_METHOD, log_count_at_rest
from anonymatch.counting.approximate.tuning import ESTIMATE, NOMINAL, PARTICLES, SPARE
from anonymatch.counting.blocks.block import Block, padded_edges, squared
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.running import Cancelled, Execution, student


@dataclass(frozen=True, slots=True)
class DrawTask:
    """A block to draw from, and what all its draws share."""

    block: Block
    seed: tuple[int, ...]
    allowed: EstimateBudget
    effort: Execution

    @property
    def stopped(self) -> bool:
        return self.effort.stop.cancelled


def _sampled(
    log: float,
    low: float,
    high: float,
    method: str,
    effective: float,
    basis: Basis = Basis.SAMPLED,
) -> Estimate:
    ends = low, high
    return Estimate(
        log=log, low=low, high=high, proven=ends, method=method, basis=basis, effective=effective
    )


def estimate(
    block: Block,
    *,
    seed: tuple[int, ...],
    allowed: EstimateBudget,
    effort: Execution,
    proven: tuple[float, float] | None = None,
) -> Estimate:
    """The best interval for ``block`` that the allowance buys, or until the work is cancelled.

    ``proven`` are its bounds, if they are known.
    """
    proven = block_bounds(block) if proven is None else proven
    task = DrawTask(block, seed, allowed, effort)
    if allowed.seconds <= 0 or task.stopped:
        return proven_only(proven)
    sampled = _by_filter(task)
    square = squared(block) if sampled is None and not task.stopped else None
    if square is not None:
        padded, divisor = square
        sampled = Sampling(replace(task, block=padded)).finished()
        sampled = None if sampled is None else sampled.divided(divisor)
    if sampled is None and block.optional and not task.stopped:
        sampled = _by_rests(task)
    return proven_only(proven) if sampled is None else sampled.within(proven)


def _by_rests(task: DrawTask) -> Estimate | None:
    """From chains in which users may rest: many behaviours are left over."""
    seconds, half_width = ESTIMATE.rest_share * task.allowed.seconds, task.allowed.half_width
    try:
        log = log_count_at_rest(
            task.block, seed=task.seed, seconds=seconds, half_width=half_width, effort=task.effort
        )
    except Cancelled:
        return None
    return None if log is None else _sampled(*log, SPARE_METHOD, SPARE.chains, Basis.MOVES)


def _by_filter(task: DrawTask) -> Estimate | None:
    """By runs of a particle filter; None where those differ too much, or trees are closer."""
    block, allowed = task.block, task.allowed
    try:
        promising = promising_filter(
            block, task.seed, ESTIMATE.filter_share * allowed.seconds, task.effort
        )
    except Cancelled:
        return None
    if promising is None:
        return None
    runs, variance = promising
    tree = ImportanceSampler.tree_seconds(block)
    affordable = not allowed.strict or ESTIMATE.pilot * tree <= allowed.seconds
    if affordable and padded_edges(block) <= ESTIMATE.trees_edges:
        wanted = (student(1e3, NOMINAL) / allowed.half_width) ** 2
        rival = max(ESTIMATE.cheap_seconds, wanted * tree * ESTIMATE.tree_variance)
        if wanted * variance * (runs.path_seconds / runs.particles) > rival:
            return None
    chains = not block.optional or padded_edges(block) <= ESTIMATE.chain_edges
    square = squared(block) if chains else None
    if square is not None:
        sampled = Sampling(replace(task, block=square[0]), runs=runs).finished()
        if sampled is not None or not block.optional or task.stopped:
            return sampled
        # Chains over many added users may be too slow: then as where they are not asked.
        task = replace(task, allowed=replace(allowed, seconds=allowed.seconds / 2))
    return Sampling(task, runs=runs, checked=False).finished()


@dataclass(frozen=True, eq=False)
class _Check:
    """Log weights of plain draws, and of matchings of chains (chains by samples)."""

    forward: Floats
    backward: Floats

    @cached_property
    def bracket(self) -> Bracket:
        return bracket_of(self.forward, self.backward)

    @cached_property
    def hidden(self) -> float:
        """Relative variance of the weights that chains show and draws do not."""
        return hidden_variance(self.forward, self.backward)

    @property
    def agrees(self) -> bool:
        """Whether both sides agree, and rare matchings do not make up much of the variance."""
        if not self.bracket.width < ESTIMATE.narrow or self.hidden > ESTIMATE.hidden:
            return False
        return not rare_variance(self.forward, self.backward) > ESTIMATE.rare

    def bridge(self) -> Bridge | None:
        return bridge_of(self.forward, self.backward)


class Sampling:
    """Draws from one block in stages: check, pilot, then trees, or the bridge.

    Each stage keeps its result, which is None until the stage is done. So there may be an answer
    when the work is cancelled in the middle. ``runs`` of a particle filter take the place of guided
    draws and of trees. ``checked``: whether chains are asked; the block must then be square.
    ``few_chains`` where time is short: 1 or 2. ``starts``: matchings to begin with.
    """

    def __init__(
        self,
        task: DrawTask,
        *,
        runs: ParticleFilter | None = None,
        checked: bool = True,
        few_chains: int = 0,
        starts: Matchings | None = None,
    ) -> None:
        self.block, self._task, self._runs = task.block, task, runs
        if runs is None:
            self.path_seconds = ImportanceSampler.path_seconds(task.block)
            self.tree_seconds = ImportanceSampler.tree_seconds(task.block)
        else:
            self.path_seconds = self.tree_seconds = runs.path_seconds
        self._normal = runs is not None and runs.block.n_users >= PARTICLES.normal_users
        self.few_chains, self._starts = few_chains, starts
        self._number = WormChain.number_of(task.block, few=few_chains)
        self._checks = self._affordable_checks() if checked else 0  # draws a side
        self._check: _Check | None = None
        self._pilot: Floats | None = None
        self._drawn = np.empty(0)  # log weights of the trees so far

    def finished(self) -> Estimate | None:
        """The estimate, as far as it comes before it is cancelled; None if too little."""
        try:
            return self.estimate()
        except Cancelled:
            return self._so_far()
        except TooSlowError:  # without the check no draws are believed
            return None

    def estimate(self) -> Estimate | None:
        """An interval from trees, from the bridge, or from the bracket; None if none is sound."""
        allowed = self._task.allowed
        if allowed.strict and ESTIMATE.fewest * self.tree_seconds > allowed.seconds:
            return None
        return self._by_trees() if self.trusted else self._by_bridge()

    def _so_far(self) -> Estimate | None:
        if self._checks and self._check is None:
            return None
        if self._pilot is None:
            self._pilot = self._drawn
        if len(self._drawn) >= ESTIMATE.fewest and self.trusted:
            return self._of_trees()
        return None if self._check is None else _of_bridge(self._check)

    @cached_property
    def believed(self) -> Floats:
        """Probabilities of the edges by belief propagation."""
        allowed = self._task.allowed
        seconds = ESTIMATE.belief_share * allowed.seconds if allowed.strict else math.inf
        return messages(self.block, self._task.effort, seconds)

    @cached_property
    def guide(self) -> ImportanceSampler | ParticleFilter:
        return self._runs or ImportanceSampler.of(self.block, self.believed, self._task.seed)

    # ---- the check

    def _affordable_checks(self) -> int:
        """Draws a side that the check makes; 0 if it is too expensive."""
        sample = WormChain.seconds_of(self.block)
        seconds = 2.0 * self.path_seconds + sample
        most = np.clip(ESTIMATE.cheap_seconds / seconds, ESTIMATE.checks, ESTIMATE.cheap_checks)
        warming = WormChain.warming_of(self.block) * self._number * sample
        share = ESTIMATE.check_share * self._task.allowed.seconds
        number = int(min(most, (share - warming) / seconds))
        number -= number % self._number
        return number if number >= ESTIMATE.fewest_checks else 0

    @cached_property
    def _forward(self) -> tuple[Floats, Matchings]:
        """Plain draws: their log weights and matchings."""
        return self._paths(0, self._checks)

    def _paths(self, first: int, last: int) -> tuple[Floats, Matchings]:
        self._task.effort.expect(self.path_seconds * (last - first))
        return self.guide.paths(first, last, self._task.effort)

    @cached_property
    def chains(self) -> WormChain:
        """Warm worm chains, from matchings that plain draws found."""
        block, effort, few = self.block, self._task.effort, self.few_chains
        if self._starts is not None:
            drawn = self._starts
        else:
            drawn = self._forward[1] if self._checks else self.guide.paths(0, 1, effort)[1]
        starts = drawn[(drawn >= 0).all(axis=1)]
        starts = _completed(starts, block) if len(starts) else any_matching(block)
        chains = WormChain(block, starts, self._task.seed, effort.stop, few=few)
        warming = WormChain.warming_of(block, few=few)
        effort.expect(chains.sample_seconds * warming * self._number)
        chains.warm(effort)
        return chains

    def _followed(self, each: int) -> Floats:
        """Log weights that plain draws of the chains' matchings have: chains by samples."""
        chains, effort = self.chains, self._task.effort
        number = each * self._number
        effort.expect((chains.sample_seconds + self.path_seconds) * number)
        drawn = chains.matchings(each, effort)
        logs = self.guide.follow(drawn.reshape(number, -1), effort)
        return logs.reshape(self._number, each)

    def _checked(self) -> _Check | None:
        """Plain draws compared with chains; None if that is too expensive."""
        if self._check is None and self._checks:
            forward = self._forward[0]
            self._check = _Check(forward, self._followed(self._checks // self._number))
        return self._check

    @cached_property
    def trusted(self) -> bool:
        """Whether trees may be believed: both sides agree, and enough draws count."""
        check = self._checked()
        if check is not None and not check.agrees:
            return False
        pilot = self._first_trees()
        few = self.block.n_users > ESTIMATE.many_users and len(pilot) < ESTIMATE.few
        if few or (self._normal and check is None):  # the logs of weights are normal
            return bool(np.isfinite(pilot).all())
        _, _, effective, _ = spread_of(pilot)
        return effective >= min(ESTIMATE.believed, 0.3 * len(pilot))

    def chains_price(self, each: int) -> float:
        """Predicted seconds of so many samples of every chain, with all that goes before."""
        block = self.block
        samples = (each + WormChain.warming_of(block, few=self.few_chains)) * self._number
        beginning = WormChain.starting_seconds(block, few=self.few_chains)
        beginning += 2.0 * self.path_seconds if self._starts is None else 0.0
        return samples * WormChain.seconds_of(block) + beginning

    # ---- trees

    def _first_trees(self) -> Floats:
        if self._pilot is None and self._runs is not None and self._checks:
            self._drawn = self._forward[0]  # runs of the check are runs as any others
            self._pilot = self._drawn[: ESTIMATE.pilot]
        elif self._pilot is None:
            number = self._affordable(0.2, self.tree_seconds, ESTIMATE.pilot)
            self._pilot = self._trees(max(number, ESTIMATE.fewest))
        return self._pilot

    def _trees(self, last: int) -> Floats:
        """Trees from the last one drawn up to so many."""
        first = len(self._drawn)
        self._task.effort.expect(self.tree_seconds * (last - first))
        logs = self.guide.trees(first, last, self._task.effort).log_weights
        self._drawn = np.concatenate((self._drawn, logs))
        return logs

    def _by_trees(self) -> Estimate:
        """As many trees as the half-width needs, as far as the seconds reach."""
        drawn = len(self._drawn)  # the pilot is among them
        _, error, _, _ = spread_of(self._drawn)
        half_width = self._task.allowed.half_width
        needed = drawn * (student(1e3, NOMINAL) * error / half_width) ** 2
        cheap = min(ESTIMATE.cheap_draws, ESTIMATE.cheap_seconds / self.tree_seconds)
        share, most = ESTIMATE.tree_share, max(1.2 * needed, cheap)
        draws = self._affordable(share, self.tree_seconds, most)
        if draws > drawn:
            self._trees(draws)
        return self._of_trees()

    def _of_trees(self) -> Estimate:
        logs = self._drawn
        alive = self._normal and bool(np.isfinite(logs).all())
        if alive and ESTIMATE.rough < float(logs.var(ddof=1)) < math.inf:
            # The mean of such weights hangs on the largest: that of normal logs does not.
            low, high = _normal_interval(logs)
            log, effective = (low + high) / 2, float(len(logs))
        else:
            log, _, effective, _ = spread_of(logs)
            low, high = self._interval()
        if self._runs is not None and not self._checks:
            low, high = (log + ESTIMATE.unchecked * (end - log) for end in (low, high))
        return _sampled(log, low, high, "guided sampling", effective)

    def _interval(self) -> tuple[float, float]:
        """Natural-log interval for the mean of the weights of all trees."""
        logs, number = self._drawn, len(self._drawn)
        if number < ESTIMATE.few and np.isfinite(logs).all():
            return _normal_interval(logs)
        log, error, _, skewness = spread_of(logs)
        if not math.isfinite(error):
            return -math.inf, math.inf
        quantile = student(number - 1, NOMINAL)
        together = 1 if self._runs is None else self._runs.particles  # a weight is their mean
        # One more draw may have weighed as much as all together do on average.
        unseen = 1.0 / (number * together)
        hidden = 0.0 if self._check is None else self._check.hidden
        error = math.hypot(error, unseen, math.sqrt(hidden / number))
        # The mean of skewed weights is more often too small than too large (Johnson 1978).
        lean = max(skewness, 0.0) * (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(number))
        below = quantile * error
        low = log + math.log1p(-below) if below < 1.0 else -math.inf
        unmet = 1.0 / self._checks if self._checks else 0.0  # share that chains may have missed
        return low, log + math.log1p((quantile + lean) * math.hypot(error, unmet))

    # ---- the bridge

    def _by_bridge(self) -> Estimate | None:
        check = self._checked()
        if check is None:
            return None
        each = self._more_for(check.bridge())
        if each:
            size = len(check.forward)
            drawn, _ = self._paths(size, size + each * self._number)
            forward = np.concatenate((check.forward, drawn))
            check = _Check(forward, np.concatenate((check.backward, self._followed(each)), axis=1))
        return _of_bridge(check)

    def _more_for(self, bridge: Bridge | None) -> int:
        """Samples that each chain must add, and draws in proportion."""
        seconds = 2.0 * self.path_seconds + self.chains.sample_seconds
        most = self._affordable(0.6, seconds, ESTIMATE.bridged)
        if bridge is not None:
            half = student(bridge.freedom, NOMINAL) * bridge.error
            ratio = half / self._task.allowed.half_width
            most = min(most, int(1.2 * self._checks * max(ratio**2 - 1.0, 0.0)))
        return most // self._number

    def _affordable(self, share: float, seconds: float, most: float) -> int:
        return int(min(most, share * self._task.allowed.seconds / seconds))


def _of_bridge(check: _Check) -> Estimate | None:
    """By the bridge; where both sides hardly meet by their bracket, if there is one."""
    bridge = check.bridge()
    if bridge is not None and bridge.overlap >= ESTIMATE.believed:
        half = student(bridge.freedom, NOMINAL) * bridge.error
        effective = min(len(check.forward), 1.0 / max(bridge.error, 1e-150) ** 2)
        ends = bridge.log - half, bridge.log + half
        return _sampled(bridge.log, *ends, "bridge sampling", effective)
    low, high = check.bracket.widened(3.0)
    if not math.isfinite(low):
        return None
    return _sampled((low + high) / 2, low, high, "bracket", 0.0, Basis.BRACKET)


def _normal_interval(logs: Floats) -> tuple[float, float]:
    """For the log of the mean of weights whose logs are normal."""
    number, variance = len(logs), float(logs.var(ddof=1))
    middle = float(logs.mean()) + variance / 2
    half = student(number - 1, NOMINAL) * math.sqrt(
        variance / number + variance**2 / (2 * (number - 1))
    )
    return middle - half, middle + half


def _completed(matchings: Matchings, square: Block) -> Matchings:
    """Matchings of users alone, with what they leave for those who were added."""
    if matchings.shape[1] == square.n_users:
        return matchings
    free = np.ones((len(matchings), square.n_behaviours), dtype=bool)
    np.put_along_axis(free, matchings.astype(np.int64), False, axis=1)
    left = np.nonzero(free)[1].reshape(len(matchings), -1)
    return np.concatenate((matchings, left.astype(np.int32)), axis=1)


def any_matching(block: Block) -> npt.NDArray[np.int32]:
    """One of the matchings of a square block, as a row."""
    structure = _native.find_structure(block)
    matching = np.empty(block.n_users, dtype=np.int32)
    users = np.asarray(structure.user_of_behaviour)
    matching[users] = np.arange(block.n_behaviours, dtype=np.int32)
    return matching[None, :]
