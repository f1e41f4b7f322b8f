"""The count of one block beyond exact reach: an estimate, an interval, and how far to trust them.

Draws are runs of particle filters where those agree, else trees guided by belief propagation. Both
are unbiased; but they may miss rare heavy matchings without any sign of it. So plain draws are held
against matchings of a worm chain, which knows nothing of the guide. If both agree, draws give the
interval; if not, the bridge between the two; and if they hardly meet, only what remains certain.

Where behaviours are left over and nothing of this is sound, chains in which users may rest give the
count instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.approximate.bridge import (
    Bracket,
    Bridge,
    bracket_of,
    bridge_of,
    hidden_variance,
    rare_variance,
    t_quantile,
)
from anonymatch.counting.approximate.importance import (
    ImportanceSampler,
    TooSlowError,
    WormChain,
    messages,
    spread_of,
)
from anonymatch.counting.approximate.particles import (
    NORMAL_USERS,
    ParticleFilter,
    promising_filter,
)
from anonymatch.counting.approximate.spare_chain import (
    SPARE_CHAINS,
    SPARE_METHOD,
    log_count_at_rest,
)
from anonymatch.counting.blocks.block import Block, padded_edges, squared
from anonymatch.counting.bounds.bregman import block_bounds
from anonymatch.running import Cancelled, Execution

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
# Skewed weights make nominal intervals hold less often than they say.
_NOMINAL = 0.97
_PILOT = 64  # draws
_FEWEST = 4
_CHEAP_DRAWS = 1000  # made in any case if they take no longer than this: rare weights show up late
_CHEAP_SECONDS = 0.5
_FEW = 30  # draws below which the logs of weights are taken for normal
_MANY = 50_000  # users from which on logs of weights are sums of so many parts that they are normal
_CHECKS = 160  # draws, and samples of chains, that are held against each other
_CHEAP_CHECKS = 1600  # the same if they take no longer than draws that are made in any case
_FEWEST_CHECKS = 16
_CHECK_SHARE = 0.3  # of the seconds
_TREE_SHARE = 0.6  # the same, for trees
_BELIEF_SHARE = 0.25  # of the seconds, for belief propagation
_NARROW = 1.0  # width of a bracket, in logs, below which trees are trusted
_HIDDEN = 0.1  # relative variance that draws may not show and still be trusted
_RARE = 0.1  # relative variance that may be of rare matchings alone
_BELIEVED = 20.0  # draws that must count, or must reach the other side
_BRIDGED = 4000  # draws a side at most between two looks
_ROUGH = 0.5  # variance of the logs of weights from which their mean hangs on the largest
_UNCHECKED = 1.15  # times as wide where no chain was asked
_PILOT_SHARE = 0.15  # of the seconds, for a first look at particle filters
_TREE_VARIANCE = 0.02  # relative, of a tree as a rule: what a particle filter has to beat
_TREES_EDGES = 2_000_000  # of a square block from which trees are no rival
_REST_SHARE = 0.6  # of the seconds, for chains in which users rest
_CHAIN_EDGES = 2_000_000  # with those of added users, that chains go over


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateBudget:
    """What an estimate may cost, in predicted seconds of one core, and how close is enough."""

    seconds: float
    half_width: float  # in natural logs
    strict: bool = True  # whether the seconds were asked for: else a few draws are made anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The log of one block's count.

    Attributes
    ----------
    log, low, high : float
        The value and its interval: 95 % for sampling, certain for "proven bounds".
    proven : tuple of float
        What holds without any luck.
    method : str
        "guided sampling", "bridge sampling", "moves and swaps", "bracket" or "proven bounds".
    effective : float
        Independent draws that would tell as much; 0 without any.
    """

    log: float
    low: float
    high: float
    proven: tuple[float, float]
    method: str
    effective: float = 0.0

    @property
    def statistical(self) -> bool:
        """Whether the interval comes from errors that are independent of other blocks'."""
        return self.method in ("guided sampling", "bridge sampling", SPARE_METHOD)


def estimate(
    block: Block,
    *,
    seed: tuple[int, ...],
    allowed: EstimateBudget,
    effort: Execution,
    proven: tuple[float, float] | None = None,
) -> Estimate:
    """The best interval for ``block`` that the allowance buys, or until the effort shall end.

    ``proven`` are its bounds, if they are known.
    """
    proven = block_bounds(block) if proven is None else proven
    if allowed.seconds <= 0 or effort.stop.cancelled:
        return _proven_only(proven)
    sampled = _by_filter(block, seed=seed, allowed=allowed, effort=effort)
    square = squared(block) if sampled is None and not effort.stop.cancelled else None
    if square is not None:
        padded, divisor = square
        sampled = _finished(Sampling(padded, seed=seed, allowed=allowed, effort=effort))
        sampled = None if sampled is None else _divided(sampled, divisor)
    if sampled is None and block.optional and not effort.stop.cancelled:
        sampled = _by_rests(block, seed=seed, allowed=allowed, effort=effort)
    return _proven_only(proven) if sampled is None else _within(sampled, proven)


def _by_rests(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Estimate | None:
    """From chains in which users may rest: many behaviours are left over."""
    share = _REST_SHARE * allowed.seconds
    try:
        log = log_count_at_rest(
            block, seed=seed, seconds=share, half_width=allowed.half_width, effort=effort
        )
    except Cancelled:
        return None
    return None if log is None else _sampled(*log, SPARE_METHOD, SPARE_CHAINS)


def _by_filter(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Estimate | None:
    """By runs of a particle filter; None where those differ too much, or trees are closer."""
    try:
        promising = promising_filter(block, seed, _PILOT_SHARE * allowed.seconds, effort)
    except Cancelled:
        return None
    if promising is None:
        return None
    by_particles, variance = promising
    tree = ImportanceSampler.tree_seconds(block)
    affordable = not allowed.strict or _PILOT * tree <= allowed.seconds
    if affordable and padded_edges(block) <= _TREES_EDGES:
        wanted = (t_quantile(_NOMINAL, 1e3) / allowed.half_width) ** 2
        one_run = by_particles.path_seconds / by_particles.particles
        if wanted * variance * one_run > max(_CHEAP_SECONDS, wanted * tree * _TREE_VARIANCE):
            return None
    chains = not block.optional or padded_edges(block) <= _CHAIN_EDGES
    square = squared(block) if chains else None
    sampled = _finished(
        FilterSampling(
            by_particles,
            None if square is None else square[0],
            seed=seed,
            allowed=allowed,
            effort=effort,
        )
    )
    if sampled is None and square is not None and block.optional and not effort.stop.cancelled:
        # Chains over many added users may be too slow: then as where they are not asked.
        half = replace(allowed, seconds=allowed.seconds / 2)
        unchecked = FilterSampling(by_particles, None, seed=seed, allowed=half, effort=effort)
        sampled = _finished(unchecked)
    return sampled


def _finished(sampling: Sampling) -> Estimate | None:
    """What the sampling gives; None if too little."""
    try:
        return sampling.estimate()
    except Cancelled:
        return sampling.so_far()
    except TooSlowError:  # without the check no draws are believed
        return None


def _divided(sampled: Estimate, divisor: float) -> Estimate:
    return replace(
        sampled,
        log=sampled.log - divisor,
        low=sampled.low - divisor,
        high=sampled.high - divisor,
    )


def _proven_only(proven: tuple[float, float]) -> Estimate:
    low, high = proven
    return Estimate(log=(low + high) / 2, low=low, high=high, proven=proven, method="proven bounds")


def _within(sampled: Estimate, proven: tuple[float, float]) -> Estimate:
    """No farther than what is proven; if all of it lies outside, only that is believed."""
    low, high = max(sampled.low, proven[0]), min(sampled.high, proven[1])
    if low > high:
        return _proven_only(proven)
    return replace(sampled, log=min(max(sampled.log, low), high), low=low, high=high, proven=proven)


class Sampling:
    """Draws from one square block under way: what they say is decided here."""

    def __init__(
        self,
        block: Block,
        *,
        seed: tuple[int, ...],
        allowed: EstimateBudget,
        effort: Execution,
        few_chains: int = 0,
        starts: npt.NDArray[np.int32] | None = None,
    ) -> None:
        """``few_chains`` where time is short: 1 or 2; ``starts``: matchings to begin with."""
        self.block, self._seed, self._allowed, self._effort = block, seed, allowed, effort
        self.path_seconds, self.tree_seconds = (
            ImportanceSampler.path_seconds(block),
            ImportanceSampler.tree_seconds(block),
        )
        self.few_chains, self._starts = few_chains, starts
        self._number = WormChain.number_of(block, few=few_chains)
        self._together = 1  # draws that a weight is the mean of
        self._drawn = np.empty(0)  # log weights of the trees so far

    def estimate(self) -> Estimate | None:
        """An interval from trees, from the bridge, or from the bracket; None if none is sound."""
        if self._allowed.strict and _FEWEST * self.tree_seconds > self._allowed.seconds:
            return None
        if self.trusted:
            return self._by_trees()
        return self._by_bridge() or self._by_bracket()

    def so_far(self) -> Estimate | None:
        """What there is when the work shall end; None if too little."""
        if self._checks and "_backward" not in self.__dict__:
            return None
        self.__dict__.setdefault("_pilot", self._drawn)
        if len(self._drawn) >= _FEWEST and self.trusted:
            return self._of_trees(self._drawn)
        if not self._checks:
            return None
        return self._of_bridge(self._forward[0], self._backward) or self._by_bracket()

    @cached_property
    def believed(self) -> Floats:
        """Probabilities of the edges by belief propagation."""
        return messages(self.block, self._effort, self._believing)

    @property
    def _believing(self) -> float:
        return _BELIEF_SHARE * self._allowed.seconds if self._allowed.strict else math.inf

    @cached_property
    def guide(self) -> ImportanceSampler | ParticleFilter:
        return ImportanceSampler.of(self.block, self.believed, self._seed)

    # ---- the check

    @cached_property
    def _checks(self) -> int:
        """Draws a side that the check makes; 0 if it is too dear."""
        sample = WormChain.seconds_of(self.block)
        seconds = 2.0 * self.path_seconds + sample
        most = np.clip(_CHEAP_SECONDS / seconds, _CHECKS, _CHEAP_CHECKS)
        warming = WormChain.warming_of(self.block) * self._number * sample
        number = int(min(most, (_CHECK_SHARE * self._allowed.seconds - warming) / seconds))
        number -= number % self._number
        return number if number >= _FEWEST_CHECKS else 0

    @cached_property
    def _forward(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Plain draws: their log weights and matchings."""
        self._expect(self.path_seconds * self._checks)
        return self.guide.paths(0, self._checks, self._effort)

    @cached_property
    def chains(self) -> WormChain:
        """Warm worm chains, from matchings that plain draws found."""
        if self._starts is not None:
            drawn = self._starts
        else:
            drawn = self._forward[1] if self._checks else self.guide.paths(0, 1, self._effort)[1]
        starts = drawn[(drawn >= 0).all(axis=1)]
        starts = _completed(starts, self.block) if len(starts) else any_matching(self.block)
        few = self.few_chains
        chains = WormChain(self.block, starts, self._seed, self._effort.stop, few=few)
        warming = WormChain.warming_of(self.block, few=few)
        self._expect(chains.sample_seconds * warming * self._number)
        chains.warm(self._effort)
        return chains

    @cached_property
    def _backward(self) -> Floats:
        """Log weights that plain draws of the chains' matchings have: chains by samples."""
        return self._followed(self._checks // self._number)

    def _followed(self, each: int) -> Floats:
        chains = self.chains
        number = each * self._number
        self._expect((chains.sample_seconds + self.path_seconds) * number)
        drawn = chains.matchings(each, self._effort)
        logs = self.guide.follow(drawn.reshape(number, -1), self._effort)
        return logs.reshape(self._number, each)

    @cached_property
    def bracket(self) -> Bracket | None:
        """Between draws and chains; None if the check is too dear."""
        return bracket_of(self._forward[0], self._backward) if self._checks else None

    @cached_property
    def _hidden(self) -> float:
        """Relative variance of the weights that chains show and draws do not."""
        return hidden_variance(self._forward[0], self._backward) if self._checks else 0.0

    @cached_property
    def _rare(self) -> float:
        """Relative variance of the weights that is of rare matchings."""
        return rare_variance(self._forward[0], self._backward) if self._checks else 0.0

    @cached_property
    def trusted(self) -> bool:
        """Whether trees may be believed: both sides agree, and enough draws count."""
        if self.bracket is not None and not self.bracket.width < _NARROW:
            return False
        if self._hidden > _HIDDEN or self._rare > _RARE:
            return False
        if self.block.n_users > _MANY and len(self._pilot) < _FEW:
            return bool(np.isfinite(self._pilot).all())
        _, _, effective, _ = spread_of(self._pilot)
        return effective >= min(_BELIEVED, 0.3 * len(self._pilot))

    def chains_price(self, each: int) -> float:
        """Predicted seconds of so many samples of every chain, with all that goes before."""
        block = self.block
        samples = (each + WormChain.warming_of(block, few=self.few_chains)) * self._number
        beginning = WormChain.starting_seconds(block, few=self.few_chains)
        beginning += 2.0 * self.path_seconds if self._starts is None else 0.0
        return samples * WormChain.seconds_of(block) + beginning

    # ---- trees

    @cached_property
    def _pilot(self) -> Floats:
        number = self._affordable(0.2, self.tree_seconds, _PILOT)
        return self._trees(0, max(number, _FEWEST))

    def _trees(self, first: int, last: int) -> Floats:
        self._expect(self.tree_seconds * (last - first))
        logs = self.guide.trees(first, last, self._effort).log_weights
        self._drawn = np.concatenate((self._drawn, logs))
        return logs

    @cached_property
    def draws(self) -> int:
        """Trees that the half-width needs, as far as the seconds reach."""
        drawn = max(len(self._pilot), len(self._drawn))  # the pilot is among them
        _, error, _, _ = spread_of(self._drawn)
        needed = drawn * (t_quantile(_NOMINAL, 1e3) * error / self._allowed.half_width) ** 2
        cheap = min(_CHEAP_DRAWS, _CHEAP_SECONDS / self.tree_seconds)
        number = self._affordable(_TREE_SHARE, self.tree_seconds, max(1.2 * needed, cheap))
        return max(number, drawn)

    def _by_trees(self) -> Estimate:
        if self.draws > len(self._drawn):
            self._trees(len(self._drawn), self.draws)
        return self._of_trees(self._drawn)

    def _of_trees(self, logs: Floats) -> Estimate:
        log, _, effective, _ = spread_of(logs)
        unmet = 1.0 / self._checks if self._checks else 0.0
        low, high = _interval(logs, self._hidden, unmet, self._together)
        return _sampled(log, low, high, "guided sampling", effective)

    # ---- the bridge

    def _by_bridge(self) -> Estimate | None:
        if not self._checks:
            return None
        forward, backward = self._forward[0], self._backward
        bridge = bridge_of(forward, backward)
        each = self._more_for(bridge)
        if each:
            more, size = each * self._number, len(forward)
            self._expect(self.path_seconds * more)
            drawn, _ = self.guide.paths(size, size + more, self._effort)
            forward = np.concatenate((forward, drawn))
            backward = np.concatenate((backward, self._followed(each)), axis=1)
        return self._of_bridge(forward, backward)

    def _of_bridge(self, forward: Floats, backward: Floats) -> Estimate | None:
        self._bracket_at_last = bracket_of(forward, backward)
        bridge = bridge_of(forward, backward)
        if bridge is None or bridge.overlap < _BELIEVED:
            return None
        half = t_quantile(_NOMINAL, bridge.freedom) * bridge.error
        effective = min(len(forward), 1.0 / max(bridge.error, 1e-150) ** 2)
        return _sampled(
            bridge.log, bridge.log - half, bridge.log + half, "bridge sampling", effective
        )

    def _more_for(self, bridge: Bridge | None) -> int:
        """Samples that each chain shall add, and draws in proportion."""
        seconds = 2.0 * self.path_seconds + self.chains.sample_seconds
        most = self._affordable(0.6, seconds, _BRIDGED)
        if bridge is not None:
            ratio = t_quantile(_NOMINAL, bridge.freedom) * bridge.error / self._allowed.half_width
            most = min(most, int(1.2 * self._checks * max(ratio**2 - 1.0, 0.0)))
        return most // self._number

    def _by_bracket(self) -> Estimate | None:
        if not self._checks:
            return None
        low, high = self._bracket_at_last.widened(3.0)
        if not math.isfinite(low):
            return None
        return _sampled((low + high) / 2, low, high, "bracket", 0.0)

    # ---- what it costs

    def _affordable(self, share: float, seconds: float, most: float) -> int:
        return int(min(most, share * self._allowed.seconds / seconds))

    def _expect(self, seconds: float) -> None:
        self._effort.expect(seconds)


class FilterSampling(Sampling):
    """Runs of a particle filter in the place of guided draws, and of trees."""

    def __init__(
        self,
        by_particles: ParticleFilter,
        square: Block | None,
        *,
        seed: tuple[int, ...],
        allowed: EstimateBudget,
        effort: Execution,
    ) -> None:
        """``square``: the block, with users added if it needs some; None if chains are too dear."""
        block = by_particles.block if square is None else square
        super().__init__(block, seed=seed, allowed=allowed, effort=effort)
        self.path_seconds = self.tree_seconds = by_particles.path_seconds
        self._together = by_particles.particles
        self.__dict__["guide"] = by_particles
        if square is None:
            self.__dict__["_checks"] = 0
        self._normal = by_particles.block.n_users >= NORMAL_USERS

    @cached_property
    def _pilot(self) -> Floats:
        """The first runs. Those of the check are runs as any others, and count."""
        if not self._checks:
            return super()._pilot
        self._drawn = self._forward[0]
        return self._drawn[:_PILOT]

    @cached_property
    def trusted(self) -> bool:
        """Without a check, also runs that differ much where the logs of weights are normal."""
        if self._normal and not self._checks:
            return bool(np.isfinite(self._pilot).all())
        return super().trusted

    def _of_trees(self, logs: Floats) -> Estimate:
        sampled = self._of_runs(logs)
        if self._checks:
            return sampled
        low, high = (
            sampled.log + _UNCHECKED * (end - sampled.log) for end in (sampled.low, sampled.high)
        )
        return replace(sampled, low=low, high=high, proven=(low, high))

    def _of_runs(self, logs: Floats) -> Estimate:
        spread = float(logs.var(ddof=1)) if np.isfinite(logs).all() else math.inf
        if not self._normal or not _ROUGH < spread < math.inf:
            return super()._of_trees(logs)
        # The mean of such weights hangs on the largest: that of normal logs does not.
        low, high = _normal_interval(logs)
        return _sampled((low + high) / 2, low, high, "guided sampling", len(logs))


def _sampled(log: float, low: float, high: float, method: str, effective: float) -> Estimate:
    return Estimate(
        log=log, low=low, high=high, proven=(low, high), method=method, effective=effective
    )


def _interval(
    log_weights: Floats, hidden: float, unmet: float, together: int = 1
) -> tuple[float, float]:
    """Natural-log interval for the mean of weights.

    ``hidden`` is relative variance that the draws do not show; ``unmet`` the share of all weight
    that chains, too, may have missed; each weight is the mean of so many ``together``.
    """
    number = len(log_weights)
    unseen = 1.0 / (
        number * together
    )  # one more draw may have weighed as much as all together do on average
    alive = log_weights[np.isfinite(log_weights)]
    quantile = t_quantile(_NOMINAL, number - 1)
    if number < _FEW and len(alive) == number:
        return _normal_interval(alive)
    log, error, _, skewness = spread_of(log_weights)
    if not math.isfinite(error):
        return -math.inf, math.inf
    error = math.hypot(error, unseen, math.sqrt(hidden / number))
    # The mean of skewed weights is more often too small than too large (Johnson 1978).
    lean = max(skewness, 0.0) * (1.0 + 2.0 * quantile**2) / (6.0 * math.sqrt(number))
    below = quantile * error
    low = log + math.log1p(-below) if below < 1.0 else -math.inf
    return low, log + math.log1p((quantile + lean) * math.hypot(error, unmet))


def _normal_interval(logs: Floats) -> tuple[float, float]:
    """For the log of the mean of weights whose logs are normal."""
    number, variance = len(logs), float(logs.var(ddof=1))
    middle = float(logs.mean()) + variance / 2
    half = t_quantile(_NOMINAL, number - 1) * math.sqrt(
        variance / number + variance**2 / (2 * (number - 1))
    )
    return middle - half, middle + half


def _completed(matchings: npt.NDArray[np.int32], square: Block) -> npt.NDArray[np.int32]:
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
