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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.importance import TooSlowError, mixed
from anonymatch.counting.approximate.tuning import NOMINAL, SPARE
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, byte_of_work, student

SPARE_METHOD = "moves and swaps"

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class EdgeMeans:
    """Probabilities of a block's edges, and their standard errors."""

    probabilities: Floats
    errors: Floats
    entropy_errors: Floats  # a user: of the Shannon entropy in bits, to first order
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
        self._ends: list[Ints] = [start] * SPARE.chains
        self._runs = 1

    @cached_property
    def picks(self) -> float:
        """Picks a move, on average."""
        picks, moves, start = 0, 0, self._ends[0]
        while picks < SPARE.paced * self.block.n_users:
            number = self.block.n_users if moves else max(self.block.n_users // 16, 1)
            pace = self._chain.run(
                start,
                self._seed,
                moves,
                samples=1,
                moves=number,
                cancel=self._effort.stop.byte,
                most_picks=int(SPARE.slowest * number),
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
        tens = max(0.0, math.log10(self.block.n_edges / 2e5))
        far = 1.0 + tuning().spare_far * tens * (1.0 + tens / 2.0)  # caches of several levels
        weighted = 2.0 if self.block.weights is not None else 1.0
        return tuning().spare_pick * weighted * self.moves * (1.0 + far * (self.picks - 1.0))

    @property
    def sample_seconds(self) -> float:
        return self._moves_seconds + tuning().spare_edge * self.block.n_edges + 1e-6

    # ---- probabilities

    def edge_means(self, seconds: float, half_width: float) -> EdgeMeans | None:
        """Probabilities as close as the predicted seconds bring them; None if those are too few."""
        sample = self.sample_seconds
        warming = SPARE.warming * SPARE.chains * self._moves_seconds
        affordable = (seconds - warming) / (SPARE.chains * sample)
        if affordable < SPARE.first * SPARE.rounds:
            return None
        self._warm(SPARE.warming)
        batches = _Batches(self.block)
        for _ in range(SPARE.rounds):
            batches.add(self._stretches(SPARE.first, edges=True), SPARE.first)
            batches.learn_slopes()
        done = SPARE.first * SPARE.rounds
        wanted = done * (2.0 * float(batches.means().errors.max()) / half_width) ** 2
        while done < min(wanted, affordable, SPARE.most_samples):
            # What was learned is used at most three times over: errors of few batches are rough.
            goal = int(min(1.2 * wanted, affordable, 4 * done, SPARE.most_samples))
            each = self._batch(goal - done)
            if goal - done < min(each, SPARE.batch):
                break
            number = max(1, (goal - done) // each)
            if batches.number == SPARE.rounds * SPARE.chains and goal > 10 * done:
                batches, done = batches.begun_again(), 0  # the first were for a look
            for _ in range(number):
                batches.add(self._stretches(each, edges=True), each)
            batches.learn_slopes()
            done += number * each
            wanted = done * (2.0 * float(batches.means().errors.max()) / half_width) ** 2
        return batches.means()

    def matchings(self, each: int, apart: int, seconds: float) -> Ints | None:
        """So many of every chain, each ``apart`` samples after the one before: chains by samples
        by users; None if those are too many.
        """
        if (SPARE.warming + each * apart) * SPARE.chains * self.sample_seconds > seconds:
            return None
        self._warm(SPARE.warming)
        runs = self._stretches(each, moves=self.moves * apart, matchings=True)
        return np.stack([run.matchings for run in runs])

    def _batch(self, samples: int) -> int:
        """Samples of a batch: of a chunk's length, and not fewer than tell something."""
        most = max(samples // (2 * SPARE.rounds), SPARE.batch)
        return int(np.clip(CHUNK_SECONDS / self.sample_seconds, SPARE.batch, most))

    def _warm(self, samples: int) -> None:
        for _ in self._stretches(samples):
            pass

    def _stretches(
        self,
        samples: int,
        *,
        moves: int | None = None,
        rest: float = 0.0,
        edges: bool = False,
        resting: bool = False,
        matchings: bool = False,
    ) -> Iterator[_native.SpareSamples]:
        """Every chain goes on; sums of one are done with before the next comes, for memory."""
        apart = self.moves if moves is None else moves
        most_picks = int(SPARE.latest * self.picks * apart * samples) + 2**16
        calls = [
            partial(
                _stretch,
                self._shared,
                self._ends[k],
                self._seed,
                self._runs * SPARE.chains + k + 2**40,
                samples,
                apart,
                rest,
                (edges, resting, matchings),
                most_picks,
            )
            for k in range(SPARE.chains)
        ]
        recorded = edges or resting or matchings
        each = (self.sample_seconds if recorded else self._moves_seconds) * samples
        each *= apart / self.moves
        self._effort.expect(each * SPARE.chains)
        ends = []
        for values in self._effort.chunks(calls, each=each, number=len(calls)):
            run = _native.SpareSamples(*values)
            if run.samples < samples:
                raise TooSlowError
            ends.append(run.last)
            yield run
        self._ends = ends
        self._runs += 1

    # ---- the count

    def log_count(self, seconds: float, half_width: float) -> tuple[float, float, float] | None:
        """Log of the sum over matchings of their weights, and its interval; None if too dear."""
        rule = _Rule.of(self.block)
        each = seconds / (len(rule.rests) * SPARE.chains * self._resting_seconds) - SPARE.settling
        if each < SPARE.least:
            return None
        pilot = int(np.clip(SPARE.pilot_share * each, SPARE.least, SPARE.pilot))
        integrals = self._integrals(rule, pilot)
        if integrals is None:
            return None
        quantile = student(SPARE.chains - 1, NOMINAL) / math.sqrt(SPARE.chains)
        half = quantile * float(integrals.std(ddof=1))
        more = int(min(2.0 * pilot * (half / half_width) ** 2, each - pilot - SPARE.settling))
        if half > half_width and more > 2 * pilot:
            longer = self._integrals(rule, more)
            integrals = integrals if longer is None else longer
            half = quantile * float(integrals.std(ddof=1))
        value = rule.far - float(integrals.mean())
        half += SPARE.rounding * self.block.n_users
        return value, value - half, value + half

    @property
    def _resting_seconds(self) -> float:
        moves = tuning().spare_pick * 2.0 * self.block.n_users
        return moves + tuning().spare_edge * self.block.n_edges + 1e-6

    def _integrals(self, rule: _Rule, each: int) -> Floats | None:
        """Of every chain, the integral; None if it is not smooth where nearly nobody rests."""
        before = self._ends
        totals = np.zeros(SPARE.chains)
        near: list[Floats] = []
        moves = self.block.n_users
        for rest, weight in zip(rule.rests, rule.weights, strict=True):
            for _ in self._stretches(SPARE.settling, rest=rest, moves=moves):
                pass
            runs = self._stretches(each, rest=rest, moves=moves, resting=True)
            means = np.array([float(run.resting.mean()) for run in runs])
            totals += weight * means
            if rest < SPARE.near:
                near.append(means)
        self._ends = before  # users who rest have no place in other chains
        rise = near[-1] - near[0]
        least = float(rise.mean()) - 3.0 * float(rise.std(ddof=1)) / math.sqrt(SPARE.chains)
        return totals if least <= SPARE.smooth * float(near[0].mean()) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
    """Points of the integral (weights of a rest), their factors, and log Z where it ends."""

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
        end = SPARE.far * float(rows.max() + columns.max())
        nodes, shares = np.polynomial.legendre.leggauss(SPARE.points)
        half = math.log(end / SPARE.near) / 2
        far = np.exp(math.log(SPARE.near) + half * (nodes + 1.0))
        near_nodes, near_shares = np.polynomial.legendre.leggauss(SPARE.near_points)
        near = SPARE.near / 2 * (near_nodes + 1.0)
        rests = np.concatenate((near, far))[::-1]
        factors = np.concatenate((SPARE.near / 2 * near_shares, half * shares * far))[::-1]
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
    """Sums over batches of several chains, from which means and errors follow.

    Errors of a user's entropy are not those of its edges added up: these go together. To first
    order an entropy is a sum over edges with slopes, and batches tell how that varies. Slopes come
    from the batches before.
    """

    def __init__(self, block: Block, slopes: Floats | None = None) -> None:
        self._begins = np.asarray(block.indptr[:-1])
        self._sizes = np.diff(block.indptr)
        self.number = self.samples = 0
        self._sum, self._square = np.zeros(block.n_edges), np.zeros(block.n_edges)
        # Chains are held against each other by some of the edges: all are more than memory is for.
        self._some = slice(None, None, max(block.n_edges // SPARE.watched, 1))
        self._chains = np.zeros((SPARE.chains, len(self._sum[self._some])))
        self._slopes = slopes
        self._stage: tuple[Floats, Floats, int, int] | None = None
        self._spread, self._freedom = np.zeros(block.n_users), 0
        self._block = block

    def begun_again(self) -> _Batches:
        """Without what was added, but with the slopes that it told."""
        return _Batches(self._block, self._slopes)

    def add(self, runs: Iterable[_native.SpareSamples], samples: int) -> None:
        """A batch of every chain. Those of other lengths count by their samples."""
        for chain, run in enumerate(runs):
            sums = np.asarray(run.sums)
            self._sum += sums
            self._chains[chain] += sums[self._some]
            if self._slopes is not None:
                self._add_entropies(np.add.reduceat(self._slopes * sums, self._begins), samples)
            self._square += sums**2 / samples
            self.number += 1
            self.samples += samples

    def _add_entropies(self, sums: Floats, samples: int) -> None:
        before = self._stage or (np.zeros(len(sums)), np.zeros(len(sums)), 0, 0)
        total, squares, number, length = before
        total += sums
        squares += sums**2 / samples
        self._stage = total, squares, number + 1, length + samples

    def learn_slopes(self) -> None:
        """Slopes of entropies from all batches so far, for those that come."""
        if self._stage is not None:
            total, squares, number, length = self._stage
            self._spread += np.maximum(squares - total**2 / length, 0.0)
            self._freedom += number - 1
            self._stage = None
        means = self._sum / self.samples
        logs = np.log2(np.where(means > 0.0, means, 1.0))
        entropies = -np.add.reduceat(means * logs, self._begins)
        self._slopes = logs
        self._slopes += np.repeat(entropies, self._sizes)

    def means(self) -> EdgeMeans:
        """The variance of a sample is that of batch means times their length."""
        means = self._sum / self.samples
        own = np.maximum(self._square - self.samples * means**2, 0.0)
        own /= (self.number - 1) * self.samples
        ratio = self._ratio(means[self._some], own[self._some])
        wider = max(1.0, ratio)
        errors = np.sqrt(own * wider + (1.0 / self.samples) ** 2)
        # Few batches tell an error roughly, so that more of them are needed for the same trust.
        freedom = max(self._freedom, 1)
        factor = student(freedom, SPARE.trust) / student(1e9, SPARE.trust)
        of_entropies = factor * np.sqrt(wider * self._spread / (freedom * self.samples))
        return EdgeMeans(means, errors, of_entropies, self.samples, ratio)

    def _ratio(self, means: Floats, own: Floats) -> float:
        each = self.samples / SPARE.chains
        between = float(((self._chains / each - means) ** 2).sum())
        between /= (SPARE.chains - 1) * SPARE.chains
        total = float(own.sum())
        return between / total if total > 0.0 else 1.0


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
