"""Blocks with spare behaviours beyond exact reach: rings, of which each spends one output.

Chains of moves (``cpp/kernels/spare_chain``) give the probability of every edge from the law of
each user given all others, which varies far less than who has what. Several chains run in batches:
errors come from how batches differ, and are raised to how chains differ, should that be more.

The count follows from users who may rest. Let Z(u) be the sum over all partial matchings of the
product of their weights, times u for every user who rests. Then d log Z / d log u is the number of
users who rest on average; log Z is known where u is large; and what is wanted is log Z(0). Z has
negative roots alone (Heilmann and Lieb 1972), so that the integrand is a sum of logistic functions
of log u: a Gauss rule of a few dozen points has no error to speak of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.approximate.bridge import t_quantile
from anonymatch.counting.approximate.importance import TooSlowError, mixed
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, byte_of_work

__all__ = ["SPARE_CHAINS", "SPARE_METHOD", "SpareChains", "log_count_at_rest"]

SPARE_METHOD = "moves and swaps"

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

SPARE_CHAINS = 8
_WARMING = 30  # samples that a chain throws away
_FIRST = 8  # samples of the first batches
_ROUNDS = 2  # of batches at least
_BATCH = 8  # samples of a batch at least
_PACED = 4.0  # times as many picks as users, to measure moves
_SLOWEST = 2000.0  # picks a move beyond which chains are given up
_LATEST = 20.0  # times the expected picks of a stretch, likewise
_MOST_SAMPLES = 2_000_000

# ---- the count
_POINTS = 28  # of the Gauss rule over logs
_NEAR = 0.002  # weight of a rest below which the integrand is a polynomial, but for nothing
_NEAR_POINTS = 2
_SMOOTH = 0.05  # share by which it may fall there
_FAR = 2000.0  # times the heaviest row and column, where log Z is a short series
_SETTLING = 6  # samples thrown away at every point
_LEAST = 4  # samples kept there, of every chain,
_PILOT, _PILOT_SHARE = 256, 0.2  # and of a first look, at most
_ROUNDING = 1e-9  # of the rule and the series, a user
_NOMINAL = 0.97


@dataclass(frozen=True, slots=True, eq=False)
class EdgeMeans:
    """Probabilities of a block's edges, and their standard errors."""

    probabilities: Floats
    errors: Floats
    samples: int
    ratio: float  # variance between chains over what batches tell: 1 if chains agree


class SpareChains:
    """Chains over the matchings of one block with spare behaviours, from one of them."""

    def __init__(self, block: Block, seed: tuple[int, ...], effort: Execution) -> None:
        self.block, self._effort = block, effort
        self._seed = mixed(seed, 11)
        self._chain = _native.SpareChain(block)
        self._shared = Shared(_native.SpareChain, block, value=self._chain)
        start = np.asarray(_native.find_structure(block).behaviour_of_user, dtype=np.int32)
        self._ends: list[Ints] = [start] * SPARE_CHAINS
        self._runs = 1

    @cached_property
    def picks(self) -> float:
        """Picks a move, on average."""
        picks, moves, start = 0, 0, self._ends[0]
        while picks < _PACED * self.block.n_users:
            number = self.block.n_users if moves else max(self.block.n_users // 16, 1)
            pace = self._chain.run(
                start,
                self._seed,
                moves,
                samples=1,
                moves=number,
                cancel=self._effort.stop.byte,
                most_picks=int(_SLOWEST * number),
            )
            if not pace.samples:
                self._effort.stop.check()
                raise TooSlowError
            picks, moves, start = picks + pace.picks, moves + number, pace.last
        return picks / moves

    @property
    def moves(self) -> int:
        """Moves from one sample to the next: about every user picks once."""
        return math.ceil(self.block.n_users / max(self.picks - 0.5, 1.0))

    @property
    def _moves_seconds(self) -> float:
        """Of the moves from one sample to the next: what memory cannot hold near is slower."""
        far = 1.0 + tuning().spare_far * max(0.0, math.log10(self.block.n_edges / 2e5))
        weighted = 2.0 if self.block.weights is not None else 1.0
        return tuning().spare_pick * weighted * self.moves * (1.0 + far * (self.picks - 1.0))

    @property
    def sample_seconds(self) -> float:
        return self._moves_seconds + tuning().spare_edge * self.block.n_edges + 1e-6

    # ---- probabilities

    def edge_means(self, seconds: float, half_width: float) -> EdgeMeans | None:
        """Probabilities to so much, or as close as the predicted seconds bring them; None if those
        are too few.
        """
        sample = self.sample_seconds
        warming = _WARMING * SPARE_CHAINS * self._moves_seconds
        affordable = (seconds - warming) / (SPARE_CHAINS * sample)
        if affordable < _FIRST * _ROUNDS:
            return None
        self._warm(_WARMING)
        batches = _Batches(self.block.n_edges)
        for _ in range(_ROUNDS):
            batches.add(self._stretches(_FIRST, edges=True), _FIRST)
        done = _FIRST * _ROUNDS
        wanted = done * (2.0 * float(batches.means().errors.max()) / half_width) ** 2
        while done < min(wanted, affordable, _MOST_SAMPLES):
            # What was learned is used at most three times over: errors of few batches are rough.
            goal = int(min(1.2 * wanted, affordable, 4 * done, _MOST_SAMPLES))
            each = self._batch(goal - done)
            if goal - done < min(each, _BATCH):
                break
            number = max(1, (goal - done) // each)
            if batches.number == _ROUNDS * SPARE_CHAINS and goal > 10 * done:
                batches, done = _Batches(self.block.n_edges), 0  # the first were for a look
            for _ in range(number):
                batches.add(self._stretches(each, edges=True), each)
            done += number * each
            wanted = done * (2.0 * float(batches.means().errors.max()) / half_width) ** 2
        return batches.means()

    def matchings(self, each: int, apart: int, seconds: float) -> Ints | None:
        """So many of every chain, each ``apart`` samples after the one before: chains by samples
        by users; None if those are too many.
        """
        if (_WARMING + each * apart) * SPARE_CHAINS * self.sample_seconds > seconds:
            return None
        self._warm(_WARMING)
        runs = self._stretches(each, moves=self.moves * apart, matchings=True)
        return np.stack([run.matchings for run in runs])

    def _batch(self, samples: int) -> int:
        """Samples of a batch: of a chunk's length, and not fewer than tell something."""
        most = max(samples // (2 * _ROUNDS), _BATCH)
        return int(np.clip(CHUNK_SECONDS / self.sample_seconds, _BATCH, most))

    def _warm(self, samples: int) -> None:
        list(self._stretches(samples))

    def _stretches(
        self,
        samples: int,
        *,
        moves: int | None = None,
        rest: float = 0.0,
        edges: bool = False,
        resting: bool = False,
        matchings: bool = False,
    ) -> list[_native.SpareSamples]:
        """Every chain goes on."""
        apart = self.moves if moves is None else moves
        most_picks = int(_LATEST * self.picks * apart * samples) + 2**16
        calls = [
            partial(
                _stretch,
                self._shared,
                self._ends[k],
                self._seed,
                self._runs * SPARE_CHAINS + k + 2**40,
                samples,
                apart,
                rest,
                (edges, resting, matchings),
                most_picks,
            )
            for k in range(SPARE_CHAINS)
        ]
        recorded = edges or resting or matchings
        each = (self.sample_seconds if recorded else self._moves_seconds) * samples
        each *= apart / self.moves
        self._effort.expect(each * SPARE_CHAINS)
        runs = [
            _native.SpareSamples(*run)
            for run in self._effort.chunks(calls, each=each, number=len(calls))
        ]
        if any(run.samples < samples for run in runs):
            raise TooSlowError
        self._ends = [run.last for run in runs]
        self._runs += 1
        return runs

    # ---- the count

    def log_count(self, seconds: float, half_width: float) -> tuple[float, float, float] | None:
        """Log of the sum over matchings of their weights, and its interval; None if too dear."""
        rule = _Rule.of(self.block)
        each = seconds / (len(rule.rests) * SPARE_CHAINS * self._resting_seconds) - _SETTLING
        if each < _LEAST:
            return None
        pilot = int(np.clip(_PILOT_SHARE * each, _LEAST, _PILOT))
        integrals = self._integrals(rule, pilot)
        if integrals is None:
            return None
        quantile = t_quantile(_NOMINAL, SPARE_CHAINS - 1) / math.sqrt(SPARE_CHAINS)
        half = quantile * float(integrals.std(ddof=1))
        more = int(min(2.0 * pilot * (half / half_width) ** 2, each - pilot - _SETTLING))
        if half > half_width and more > 2 * pilot:
            longer = self._integrals(rule, more)
            integrals = integrals if longer is None else longer
            half = quantile * float(integrals.std(ddof=1))
        value = rule.far - float(integrals.mean())
        half += _ROUNDING * self.block.n_users
        return value, value - half, value + half

    @property
    def _resting_seconds(self) -> float:
        moves = tuning().spare_pick * 2.0 * self.block.n_users
        return moves + tuning().spare_edge * self.block.n_edges + 1e-6

    def _integrals(self, rule: _Rule, each: int) -> Floats | None:
        """Of every chain, the integral; None if it is not smooth where nearly nobody rests."""
        before = self._ends
        totals = np.zeros(SPARE_CHAINS)
        near: list[Floats] = []
        moves = self.block.n_users
        for rest, weight in zip(rule.rests, rule.weights, strict=True):
            self._stretches(_SETTLING, rest=rest, moves=moves)
            runs = self._stretches(each, rest=rest, moves=moves, resting=True)
            means = np.array([float(run.resting.mean()) for run in runs])
            totals += weight * means
            if rest < _NEAR:
                near.append(means)
        self._ends = before  # users who rest have no place in other chains
        rise = near[-1] - near[0]
        least = float(rise.mean()) - 3.0 * float(rise.std(ddof=1)) / math.sqrt(SPARE_CHAINS)
        return totals if least <= _SMOOTH * float(near[0].mean()) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    """Weights of a rest, from large to small, at which the integrand is wanted, and what each is to
    be multiplied with; and log Z where the integral ends.
    """

    rests: list[float]
    weights: list[float]
    far: float

    @classmethod
    def of(cls, block: Block) -> _Rule:
        weights, scale = np.ones(block.n_edges), 0.0
        if block.weights is not None:
            weights = np.asarray(block.weights, dtype=np.float64)
            largest = np.maximum.reduceat(weights, block.indptr[:-1])
            weights = weights / np.repeat(largest, np.diff(block.indptr))
            scale = float(np.log(largest).sum())
        rows = np.add.reduceat(weights, block.indptr[:-1])
        columns = np.bincount(block.indices, weights, block.n_behaviours)
        end = _FAR * float(rows.max() + columns.max())
        nodes, shares = np.polynomial.legendre.leggauss(_POINTS)
        half = math.log(end / _NEAR) / 2
        far = np.exp(math.log(_NEAR) + half * (nodes + 1.0))
        near_nodes, near_shares = np.polynomial.legendre.leggauss(_NEAR_POINTS)
        near = _NEAR / 2 * (near_nodes + 1.0)
        rests = np.concatenate((near, far))[::-1]
        factors = np.concatenate((_NEAR / 2 * near_shares, half * shares * far))[::-1]
        pairs = float(np.sum(rows**2) + np.sum(columns**2) - np.sum(weights**2))
        series = float(weights.sum()) / end - pairs / (2.0 * end**2)
        log = block.n_users * math.log(end) + series + scale
        return cls(rests.tolist(), factors.tolist(), log)


def log_count_at_rest(
    block: Block, *, seed: tuple[int, ...], seconds: float, half_width: float, effort: Execution
) -> tuple[float, float, float] | None:
    """Log of the count of a block with spare behaviours and its interval; None if out of reach."""
    try:
        return SpareChains(block, seed, effort).log_count(seconds, half_width)
    except TooSlowError:
        return None


class _Batches:
    """Sums over batches of several chains, from which means and errors follow."""

    def __init__(self, n_edges: int) -> None:
        self.number = self.samples = 0
        self._sum, self._square = np.zeros(n_edges), np.zeros(n_edges)
        self._chains: list[Floats] = [np.zeros(n_edges) for _ in range(SPARE_CHAINS)]

    def add(self, runs: list[_native.SpareSamples], samples: int) -> None:
        """A batch of every chain. Those of other lengths count by their samples."""
        for chain, run in zip(self._chains, runs, strict=True):
            self._sum += run.sums
            self._square += run.sums**2 / samples
            chain += run.sums
        self.number += len(runs)
        self.samples += samples * len(runs)

    def means(self) -> EdgeMeans:
        """The variance of a sample is that of batch means times their length."""
        means = self._sum / self.samples
        of_sample = np.maximum(self._square - self.samples * means**2, 0.0) / (self.number - 1)
        own = of_sample / self.samples
        each = self.samples / SPARE_CHAINS
        between = np.zeros(len(means))
        for chain in self._chains:
            between += (chain / each - means) ** 2
        between /= (SPARE_CHAINS - 1) * SPARE_CHAINS
        total = float(own.sum())
        ratio = float(between.sum()) / total if total > 0.0 else 1.0
        variance = own * max(1.0, ratio) + (1.0 / self.samples) ** 2
        return EdgeMeans(means, np.sqrt(variance), self.samples, ratio)


def _stretch(
    chain: Shared[_native.SpareChain],
    start: Ints,
    seed: int,
    index: int,
    samples: int,
    moves: int,
    rest: float,
    record: tuple[bool, bool, bool],
    most_picks: int,
) -> _native.SpareSamples:
    edges, resting, matchings = record
    return chain.get().run(
        start,
        seed,
        index,
        samples=samples,
        moves=moves,
        rest=rest,
        edges=edges,
        resting=resting,
        matchings=matchings,
        cancel=byte_of_work(),
        most_picks=most_picks,
    )
