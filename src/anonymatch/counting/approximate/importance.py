"""Draws from one square block: guided by belief propagation, and along worm chains.

How many are made follows from predicted seconds alone, never from a clock, and every draw is a
function of the seed and its number: answers are the same on every machine and number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.tuning import GUIDE
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import (
    CHUNK_SECONDS,
    Cancelled,
    CancelToken,
    Execution,
    Shared,
    byte_of_work,
)

Matchings = npt.NDArray[np.int32]


def messages(block: Block, effort: Execution, seconds: float = math.inf) -> Floats:
    """Probabilities of the edges by belief propagation, as far as it comes in predicted seconds."""
    far = 1.0 + tuning().belief_far * max(0.0, math.log2(block.n_edges / tuning().belief_cached))
    work = min(1e9, seconds / (tuning().belief_sweep_slow * far))
    sweeps = int(np.clip(work / block.n_edges, GUIDE.fewest_sweeps, 1000))
    call = partial(_native.propagate_beliefs, block, sweeps=sweeps, cancel=effort.stop.byte)
    return effort.apart(call, seconds=tuning().belief_sweep * block.n_edges * sweeps).marginals


class TreeDraws(NamedTuple):
    """Weights of trees, and sums over W = exp(log weight - scale) with their marginals m."""

    log_weights: Floats
    scale: float
    first: Floats  # sum of W m, one an edge; empty unless asked for
    square: Floats  # sum of W^2 m
    second: Floats  # sum of W^2 m^2


class _Draws:
    """What draws of a block have in common: its messages, made once a process."""

    def __init__(self, block: Block, kappa: float) -> None:
        self._block, self._kappa = block, kappa

    @cached_property
    def trees(self) -> _native.Importance:
        return self._guided(children=2)

    @cached_property
    def paths(self) -> _native.Importance:
        return self._guided(children=1)

    def _guided(self, *, children: int) -> _native.Importance:
        stop = byte_of_work()
        guided = _native.Importance(self._block, kappa=self._kappa, children=children, cancel=stop)
        if stop is not None and stop[0]:
            raise Cancelled  # its messages may be unfinished
        return guided


class ImportanceSampler:
    """Guided draws of one square block; it travels to other processes without its messages."""

    def __init__(self, block: Block, kappa: float, seed: tuple[int, ...]) -> None:
        self.block, self.kappa, self.seed = block, kappa, seed
        self._shared = Shared(_Draws, block, kappa)

    @classmethod
    def of(cls, block: Block, believed: Floats, seed: tuple[int, ...]) -> ImportanceSampler:
        """The guide whose messages suit the block: flatter ones where plain ones freeze.

        ``believed``: its :func:`messages`.
        """
        frozen = bool((believed > GUIDE.frozen).any())
        kappa = 0.9 if block.n_users <= GUIDE.small_users or frozen else 1.0
        return cls(block, kappa, seed)

    def __reduce__(self) -> tuple[type[ImportanceSampler], tuple[Block, float, tuple[int, ...]]]:
        return ImportanceSampler, (self.block, self.kappa, self.seed)

    @staticmethod
    def path_seconds(block: Block) -> float:
        """Of a plain draw, and of following a matching."""
        slower = 1.0 + 0.5 * max(0.0, math.log2(block.n_edges / tuning().draw_cache_edges))
        return tuning().draw_edge * block.n_edges * slower + tuning().draw_leaf

    @staticmethod
    def tree_seconds(block: Block) -> float:
        return tuning().draw_tree_paths * ImportanceSampler.path_seconds(block)

    def trees(
        self, first: int, last: int, effort: Execution, *, marginals: bool = False
    ) -> TreeDraws:
        """Trees [first, last): the mean of their weights is unbiased for the count.

        Those that there are when the work shall end.
        """
        seed = mixed(self.seed, 1)
        draw = partial(_tree_draws, self._shared, seed, marginals)
        parts: list[_native.ImportanceDraws] = []
        try:
            for part in in_chunks(draw, first, last, self.tree_seconds(self.block), effort):
                parts.append(_native.ImportanceDraws(*part))  # noqa: PERF401  (they stay if it is left)
        except Cancelled:
            if not parts:
                raise
        return _joined(parts)

    def paths(self, first: int, last: int, effort: Execution) -> tuple[Floats, Matchings]:
        """Log weights of plain draws [first, last), and the matchings they are of; -1 if dead."""
        draw = partial(_path_draws, self._shared, mixed(self.seed, 2))
        seconds = self.path_seconds(self.block)
        parts = list(in_chunks(draw, first, last, seconds, effort))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def follow(self, matchings: Matchings, effort: Execution) -> Floats:
        """The log weights that plain draws would have had if they had chosen these matchings."""
        path = self.path_seconds(self.block)
        each = _per_chunk(path)
        starts = range(0, len(matchings), each)
        calls = (partial(_followed, self._shared, matchings[k : k + each]) for k in starts)
        return np.concatenate(list(effort.chunks(calls, each=path * each, number=len(starts))))


def _tree_draws(
    shared: Shared[_Draws], seed: int, marginals: bool, first: int, last: int
) -> _native.ImportanceDraws:
    trees = shared.get().trees
    return trees.draws(seed, first, last, marginals=marginals, cancel=byte_of_work())


def _path_draws(
    shared: Shared[_Draws], seed: int, first: int, last: int
) -> tuple[Floats, Matchings]:
    paths = shared.get().paths
    drawn = paths.draws(seed, first, last, matchings=True, cancel=byte_of_work())
    return drawn.log_weights, drawn.matchings


def _followed(shared: Shared[_Draws], matchings: Matchings) -> Floats:
    return shared.get().paths.log_weights_of(matchings, cancel=byte_of_work())


def _joined(parts: list[_native.ImportanceDraws]) -> TreeDraws:
    logs = np.concatenate([part.log_weights for part in parts])
    scale = max((p.scale for p in parts if np.isfinite(p.log_weights).any()), default=0.0)
    sums = []
    for name, power in (("first", 1), ("square", 2), ("second", 2)):
        factors = [math.exp(min(0.0, power * (part.scale - scale))) for part in parts]
        sums.append(sum(f * getattr(p, name) for f, p in zip(factors, parts, strict=True)))
    return TreeDraws(logs, scale, *(np.asarray(total) for total in sums))


class TooSlowError(Exception):
    """Chains of a block do not come round in any time that would be worth it."""


class WormChain:
    """Worm chains of one square block from several matchings, and how far they have come."""

    def __init__(
        self,
        block: Block,
        starts: Matchings,
        seed: tuple[int, ...],
        stop: CancelToken | None = None,
        *,
        few: int = 0,
    ) -> None:
        """``few``: 0 for as many chains as there are as a rule, 2 for as few as there can be."""
        self.block, self._few = block, few
        self.number = self.number_of(block, few=few)
        self._seed = mixed(seed, 3)
        self._ends = [starts[k % len(starts)] for k in range(self.number)]
        self._runs = 0
        self.worms = max(1, math.ceil(GUIDE.steps * block.n_users / self._pace(starts[0], stop)))

    def _pace(self, start: Matchings, stop: CancelToken | None) -> float:
        """Mean steps of a worm. Some are far longer than most: a few short ones say nothing."""
        block = self.block
        together = self._pacing(block, few=self._few)
        steps = worms = 0
        while worms < GUIDE.pacing and (not worms or steps < GUIDE.paced_steps * block.n_users):
            pace = self._worm.run(
                start,
                self._seed,
                2**40 + worms,
                samples=1,
                worms=together,
                cancel=None if stop is None else stop.byte,
                most_steps=tuning().worm_slowest * together * block.n_users + 2**16,
            )
            if not pace.counts.any():
                raise Cancelled if stop is not None and stop.cancelled else TooSlowError
            steps, worms, start = steps + pace.steps, worms + together, pace.last
        return max(steps, 1) / worms

    @cached_property
    def _balanced(self) -> Block:
        """The block with weights by which every user and every behaviour is as heavy.

        Factors of users and behaviours change no probability of a matching, but how long worms are:
        where a log's early messages have few places, nearly all ways to leave one out are far away.
        """
        block = self.block
        if block.weights is not None or block.n_users > tuning().worm_giant_users:
            return block
        _, _, logs = _native.sinkhorn_scaling(
            block.indptr,
            block.indices,
            np.ones(block.n_edges),
            np.ones(block.n_users),
            block.n_behaviours,
            sweeps=GUIDE.balancing,
            tolerance=0.01,
        )
        weights = np.exp(logs - logs.max())[block.indices]
        sums = np.add.reduceat(weights, block.indptr[:-1])
        weights /= np.repeat(sums, np.diff(block.indptr))
        degrees = np.bincount(block.indices, minlength=block.n_behaviours)
        uneven = (weights * degrees[block.indices]).min() < tuning().worm_uneven
        return replace(block, weights=weights) if uneven else block

    @cached_property
    def _worm(self) -> _native.Worm:
        return _native.Worm(self._balanced)

    @cached_property
    def _shared(self) -> Shared[_native.Worm]:
        return Shared(_native.Worm, self._balanced, value=self._worm)

    @property
    def sample_seconds(self) -> float:
        return self.seconds_of(self.block)

    @staticmethod
    def seconds_of(block: Block) -> float:
        """Predicted seconds of a sample."""
        of_users = 3.0 * math.log2(block.n_users / 2e4)
        of_edges = 0.7 * math.log2(block.n_edges / 5e4)
        slower = 1.0 + max(0.0, of_users, of_edges)  # memory
        return tuning().worm_step * slower * GUIDE.steps * block.n_users + 1e-6

    def warm(self, effort: Execution) -> None:
        """Forget where the chains began."""
        self._run(self.warming_of(self.block, few=self._few), effort, matchings=False)

    def matchings(self, each: int, effort: Execution) -> Matchings:
        """Samples of every chain: chains by samples by users."""
        return np.stack([run.matchings for run in self._run(each, effort, matchings=True)])

    def counts(self, each: int, effort: Execution) -> npt.NDArray[np.uint32]:
        """How many samples of every chain use each edge: chains by edges."""
        return np.stack([run.counts for run in self._run(each, effort, matchings=False)])

    def _run(self, each: int, effort: Execution, *, matchings: bool) -> list[_native.WormSamples]:
        most_steps = tuning().worm_latest * GUIDE.steps * self.block.n_users * each + 2**16
        # Two cores are busy at least, unless time is short: then waits must overlap.
        together = min(GUIDE.together, self.number if self._few else self.number // 2)
        calls = [
            partial(
                _stretch,
                self._shared,
                np.stack(self._ends[k : k + together]),
                self._seed,
                self._runs * self.number + k,
                each,
                self.worms,
                matchings,
                most_steps,
            )
            for k in range(0, self.number, together)
        ]
        seconds = self.sample_seconds * each * together
        stretches = effort.chunks(calls, each=seconds, number=len(calls))
        runs = [_native.WormSamples(*run) for stretch in stretches for run in stretch]
        if any(run.steps >= most_steps for run in runs):
            raise TooSlowError
        self._ends = [run.last for run in runs]
        self._runs += 1
        return runs

    @staticmethod
    def number_of(block: Block, *, few: int = 0) -> int:
        """Chains; ``few`` as in giant blocks, where many edges tell what they differ by."""
        return GUIDE.chains[max(few, block.n_users > tuning().worm_giant_users)]

    @staticmethod
    def warming_of(block: Block, *, few: int = 0) -> int:
        """Samples that a chain throws away."""
        return GUIDE.warming[max(few, block.n_users > tuning().worm_giant_users)]

    @staticmethod
    def starting_seconds(block: Block, *, few: int = 0) -> float:
        """Predicted seconds until chains may go: weights are balanced, and worms are measured.

        A worm has about as many steps as there are users, or fewer.
        """
        balancing = GUIDE.balancing if block.n_users <= tuning().worm_giant_users else 0
        balancing = 0 if block.weights is not None else balancing
        paced = max(GUIDE.paced_steps, WormChain._pacing(block, few=few)) + 1
        worms = paced / GUIDE.steps * WormChain.seconds_of(block)
        return tuning().balance_sweep * balancing * block.n_edges + worms

    @staticmethod
    def _pacing(block: Block, *, few: int) -> int:
        giant = few or block.n_users > tuning().worm_giant_users
        return GUIDE.giant_pacing if giant else GUIDE.pacing


def _stretch(
    worm: Shared[_native.Worm],
    starts: Matchings,
    seed: int,
    index: int,
    samples: int,
    worms: int,
    matchings: bool,
    most_steps: int,
) -> list[_native.WormSamples]:
    return worm.get().run_together(
        starts,
        seed,
        index,
        samples=samples,
        worms=worms,
        matchings=matchings,
        cancel=byte_of_work(),
        most_steps=most_steps,
    )


def spread_of(log_weights: Floats) -> tuple[float, float, float, float]:
    """Log of the mean weight, its relative standard error, effective sample size, skewness."""
    top = float(log_weights.max(initial=-math.inf))
    if top == -math.inf:
        return -math.inf, math.inf, 0.0, 0.0
    weights = np.exp(log_weights - top)
    mean = float(weights.mean())
    number = len(weights)
    relative = weights / mean - 1.0
    deviation = float(np.sqrt(np.sum(relative**2) / max(number - 1, 1)))
    effective = number / (1.0 + float(np.mean(relative**2)))
    skewness = float(np.mean(relative**3)) / deviation**3 if deviation > 0 else 0.0
    return top + math.log(mean), deviation / math.sqrt(number), effective, skewness


def in_chunks(call: Any, first: int, last: int, seconds: float, effort: Execution) -> Iterator[Any]:
    """What ``call(begin, end)`` gives for all of [first, last), if each takes so many seconds."""
    each = _per_chunk(seconds)
    starts = range(first, last, each)
    calls = (partial(call, begin, min(begin + each, last)) for begin in starts)
    return effort.chunks(calls, each=seconds * each, number=len(starts))


def _per_chunk(seconds: float) -> int:
    return max(1, int(CHUNK_SECONDS / seconds))


def mixed(seed: tuple[int, ...], use: int) -> int:
    """A seed of 64 bits for one use of the caller's seed."""
    words = np.random.SeedSequence((*seed, use)).generate_state(1, np.uint64)
    return int(words[0])
