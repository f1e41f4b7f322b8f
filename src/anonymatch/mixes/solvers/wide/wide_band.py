"""Wide bands: graphs of message logs in which a message fits too many others for exact counts.

In order of time the candidates of each message are a run of departures whose ends never go back.
So first in, first out is one of the matchings, and any two of them are joined by swaps. Three
things are put together [1]_ [2]_:

- *Sinkhorn's scaling* of the weights to a doubly stochastic matrix Q. It is close to the posterior,
  and gives proven bounds on the count.
- *A chain of swaps*, in replicas that know nothing of each other. It has no bias where it is asked
  for means: the mean entropy of a message is the cross entropy of Q, a mean over samples,
  less the divergence of the posterior from Q, estimated without bias from two halves of replicas.
- *Thermodynamic integration* for the count: weights times exp(tilt i j) are frozen at first in,
  first out for large tilts, and the log of their sum grows from there by the integral of a mean.

Intervals are Student's, by replicas: 95 %.

References
----------
.. [1] Sinkhorn, Knopp. Concerning nonnegative matrices and doubly stochastic matrices. 1967.
.. [2] Gelman, Meng. Simulating normalizing constants: from importance sampling to bridge sampling
   to path sampling. Statistical Science, 1998.
.. [3] Soules. New permanental upper bounds for nonnegative matrices. 2003.
.. [4] Gurvits. Unleashing the power of Schrijver's permanental inequality. 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from anonymatch._native import SWAP_CHAIN_LANES, SWAP_CHAIN_SAMPLES, SwapChain, SwapRows
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import LOST, Range, UserFigures, in_order, shrunk
from anonymatch.graph import Graph
from anonymatch.running import GROUPS, REPLICA_CONFIDENCE, T_GROUPS, Budget, Execution, replica_mean

_LN2 = math.log(2.0)

# Seconds of a row's entry in a step of the scaling, and of a proposal in one replica, measured:
# without weights and with.
_ENTRY_SECONDS = (0.8e-9, 1.0e-9)
_PROPOSAL_SECONDS = (0.95e-9, 3.0e-9)
_FARTHER_SECONDS = 9e-12  # the same with weights, for each entry of a row: they come from farther
_RECORD_SECONDS = 3e-9  # of a row in one replica
_ROW_SECONDS = 45e-9  # of an entry, for figures of its row
_SETUP_SECONDS = 8e-9  # of an entry
_BYTES = 24.0  # of an entry, and of a row in one replica

_HIGHEST = 12.0  # tilt at which nothing is left to swap: exp(-12) a message
_LOWEST = 0.02  # tilt at which it does not matter any more, over the square of the reach
_APART, _FAR_APART = 0.45, 0.7  # of logs of tilts, and where the budget is small
_THIN = 4
_LOOKED_AT = 300  # rows whose entropies say how far swaps reach
_BURN, _NODE_SWEEPS, _SAMPLES = 100, 45, 500
_MOST_EFFORT = 16.0
_SMALL = 0.12  # effort below which tilts are farther apart
_SHARE = 0.4  # of the budget, for the chain
_MOST_SHARE = 0.8  # the same at most: what takes more is left out
_FEWEST_STEPS, _FEWEST_SAMPLES = 12, 8
_UNASKED, _UNASKED_EACH = 8.0, 4e-4  # seconds of the chain, and a row, if nobody told a budget
_STEPS = 400  # of the scaling
_RELAXATION = 1.98
_CLOSE = 1e-6  # of columns' sums to 1, where the scaling may stop
_INTEGRAL_OFF, _FAR_OFF = 1e-4, 1e-3  # bits a message that the integral may leave out then
_LAG_LEFT = 0.25  # of the difference between both ways, that their mean may be off
_DIVERGENCE_OFF = 2e-5  # bits of the divergence, which is taken to its second order
_HOPELESS = 1e3  # budgets beyond which no plan can be wrong
_STATE_SECONDS = 2e-9  # of a state in an exact programme, for a look ahead


_VALLEY = math.log(10.0)  # how much lower than what is on both sides of it
_FEW_ROWS = 0.05
_PEAKS = 2000  # rows that are enough to tell that


def one_peak(weights: Floats, lengths: npt.NDArray[np.int32]) -> bool:
    """Whether nearly all rows rise and then fall: swaps do not get across deep valleys.

    Examples
    --------
    >>> lengths = np.array([4, 3], dtype=np.int32)
    >>> one_peak(np.array([1.0, 3, 2, 1, 1, 2, 3]), lengths)
    True
    >>> one_peak(np.array([1.0, 3, 0.1, 2, 3, 0.1, 2]), lengths)
    False
    """
    starts = np.concatenate(([0], np.cumsum(lengths)))
    some = range(0, len(lengths), max(1, len(lengths) // _PEAKS))
    logs = np.log(np.concatenate([weights[starts[k] : starts[k + 1]] for k in some]))
    lengths = lengths[list(some)]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    # The largest so far in each row: rows are put one above another.
    step = float(np.ptp(logs)) + 1.0
    before = np.maximum.accumulate(logs + step * rows) - step * rows
    behind = np.maximum.accumulate((logs - step * rows)[::-1])[::-1] + step * rows
    deep = np.minimum(before, behind) - logs > _VALLEY
    return float(np.unique(rows[deep]).size) <= _FEW_ROWS * len(lengths)


def shares_at(
    first: npt.NDArray[np.integer],
    last: npt.NDArray[np.integer],
    weights: Floats | None,
    scaling: tuple[Floats, Floats] | None,
    asked: Ints,
) -> Floats:
    """Return each row's share of the column that is asked for; 0 if the row cannot have it.

    ``scaling`` has the factors of rows and of columns that make shares out of weights; None if
    weights are shares.

    Examples
    --------
    >>> first, last = np.array([0, 0]), np.array([2, 2])
    >>> shares_at(first, last, None, (np.full(2, 0.5), np.ones(2)), np.array([1, -1])).tolist()
    [0.5, 0.0]
    """
    there = np.flatnonzero((asked >= first) & (asked < last))
    columns = asked[there]
    shares = np.zeros(len(first))
    shares[there] = 1.0 if scaling is None else scaling[0][there] * scaling[1][columns]
    if weights is not None:
        starts = np.concatenate(([0], np.cumsum(last - first, dtype=np.int64)))[:-1]
        shares[there] *= weights[starts[there] + columns - first[there]]
    return np.minimum(shares, 1.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WideBand:
    """A square band around the diagonal, without what is in no perfect matching.

    Attributes
    ----------
    first, last : array of int
        Row ``i`` is positive in columns ``first[i]`` to ``last[i] - 1``.
    weights : array or None
        Of all rows, one after another.
    alike : int
        So many of the last columns are places for messages that did not come out.
    """

    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    weights: Floats | None
    alike: int

    @classmethod
    def of(cls, graph: Graph, alike: int = 0) -> WideBand | None:
        """That of a graph with a perfect matching; None if it is no such band.

        Examples
        --------
        >>> band = WideBand.of(Graph.from_rows(["1100", "1110", "0111", "0011"]))
        >>> band.first.tolist(), band.last.tolist()
        ([0, 0, 1, 2], [2, 3, 4, 4])
        >>> WideBand.of(Graph.from_rows(["011", "101", "110"])) is None
        True
        """
        size = graph.n_users
        if size < 2 or graph.n_behaviours != size or (graph.degrees == 0).any():
            return None
        first = graph.indices[graph.indptr[:-1]]
        last = graph.indices[graph.indptr[1:] - 1] + 1
        rows = np.arange(size, dtype=np.int32)
        runs = bool((last - first == graph.degrees).all())
        rising = bool((np.diff(first) >= 0).all() and (np.diff(last) >= 0).all())
        if not (runs and rising and (first <= rows).all() and (rows < last).all()):
            return None
        # A block ends where nothing goes on, or nothing comes back.
        ends = ~((last[:-1] - 1 > rows[:-1]) & (first[1:] <= rows[:-1]))
        begins = np.concatenate(([0], np.flatnonzero(ends) + 1))
        block = np.concatenate(([0], np.cumsum(ends)))
        low = np.maximum(first, begins[block]).astype(np.int32)
        high = np.minimum(last, np.append(begins[1:], size)[block]).astype(np.int32)
        weights = None
        if graph.weights is not None:
            weights = np.asarray(graph.weights, dtype=np.float64)
            if int((high - low).sum()) < len(weights):
                inside = (graph.indices >= np.repeat(low, graph.degrees)) & (
                    graph.indices < np.repeat(high, graph.degrees)
                )
                weights = weights[inside]
            if not one_peak(weights, high - low):
                return None
        return cls(first=low, last=high, weights=weights, alike=alike)

    @property
    def rows(self) -> int:
        return len(self.first)

    @property
    def entries(self) -> int:
        return int((self.last - self.first).sum())

    def states(self) -> float:
        """Natural log of about how many states an exact programme has, all rows together.

        Of the columns that earlier and later rows share, those that the earlier ones must have are
        any; columns, or rows, that are alike are not told apart. One pass over the rows.
        """
        from scipy.special import gammaln, logsumexp

        size = self.rows
        shared = (self.last[:-1] - self.first[1:]).astype(np.float64)
        taken = np.arange(1, size) - self.first[1:].astype(np.float64)
        some = (shared > 0) & (taken > 0) & (taken < shared)
        shared, taken = np.where(some, shared, 0.0), np.where(some, taken, 0.0)
        any_of = gammaln(shared + 1) - gammaln(taken + 1) - gammaln(shared - taken + 1)
        return float(logsumexp(np.minimum(any_of, self._twins())))

    def _twins(self) -> Floats:
        """The same where columns that all rows treat alike are one class: only numbers count."""
        size = self.rows
        if self.weights is not None:
            return np.full(size - 1, math.inf)
        # Columns are alike unless a row begins or ends between them.
        cut = np.zeros(size + 1, dtype=np.bool_)
        cut[self.first] = True
        cut[self.last] = True
        cut[0] = cut[size] = True
        edges = np.flatnonzero(cut)
        logs = np.concatenate(([0.0], np.cumsum(np.log1p(np.diff(edges)))))
        begin = np.searchsorted(edges, self.first[1:], side="left")
        end = np.searchsorted(edges, self.last[:-1], side="right") - 1
        return np.asarray(np.maximum(logs[np.maximum(end, begin)] - logs[begin], 0.0))

    def hopeless(self, seconds: float) -> bool:
        """Whether exact work would take far longer than this, as one look shows."""
        return self.states() + math.log(_STATE_SECONDS) > math.log(_HOPELESS * max(seconds, 1e-3))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BandEstimate:
    """What is estimated of a wide band; entropies and logs of the whole in nats.

    Attributes
    ----------
    log_weight : Interval
        Natural log of the sum over matchings of their weights.
    proven : tuple of float
        Ends between which it lies for sure.
    entropy : Interval
        Of the matching that happened.
    users : UserFigures
        Of all rows, with an interval of their mean entropy.
    confidence : float
    replicas : int
        Of the chain.
    proposals, visits : int
        Work done: swaps that were looked at, and entries of the band.
    divergence : float
        Bits by which the mean of -log2 of the scaling's shares exceeds the mean entropy.
    asked : array or None
        Probability of each row to have the column that was asked for: the scaling's share times
        2 to the mean divergence, so that the mean of -log2 has no bias.
    """

    log_weight: Interval
    proven: tuple[float, float]
    entropy: Interval
    users: UserFigures
    confidence: float
    replicas: int
    proposals: int
    visits: int
    divergence: float
    asked: Floats | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """How much is done: steps of the scaling, tilts, sweeps at each, and samples."""

    steps: int
    tilts: int
    lowest: float  # tilt
    burn: int
    sweeps: int
    settle: int  # sweeps before the first sample
    samples: int
    off: float  # bits a message that the integral may leave out
    ways: int = 2  # tilts fall and rise, or where time is short only fall

    def proposals(self, rows: int) -> int:
        each = self.ways * self.tilts * (self.burn + self.sweeps)
        return rows * SWAP_CHAIN_LANES * (each + self.settle + _THIN * self.samples)

    def visits(self, entries: int) -> int:
        return entries * self.steps

    def seconds(self, band: WideBand) -> float:
        weighted = band.weights is not None
        rows, entries = band.rows, band.entries
        return (
            _proposal_seconds(band) * self.proposals(rows)
            + _RECORD_SECONDS * SWAP_CHAIN_LANES * rows * self.samples
            + _ENTRY_SECONDS[weighted] * self.visits(entries)
            + (_ROW_SECONDS + _SETUP_SECONDS) * entries
        )


def _proposal_seconds(band: WideBand) -> float:
    if band.weights is None:
        return _PROPOSAL_SECONDS[False]
    return _PROPOSAL_SECONDS[True] + _FARTHER_SECONDS * band.entries / band.rows


def _planned(band: WideBand, budget: Budget) -> _Plan:
    """As much as the budget allows, up to where more would hardly be seen."""
    allowed = _SHARE * budget.seconds
    if not budget.chosen:
        allowed = min(allowed, max(_UNASKED, _UNASKED_EACH * band.rows))
    weighted = band.weights is not None
    steps = allowed / 4 / (_ENTRY_SECONDS[weighted] * max(band.entries, 1))
    lowest = _lowest_tilt(band)

    def plan(effort: float) -> _Plan:
        sweeps = max(round(_NODE_SWEEPS * effort), 3)
        apart, off = (_APART, _INTEGRAL_OFF) if effort >= _SMALL else (_FAR_APART, _FAR_OFF)
        return _Plan(
            steps=int(np.clip(steps, 20, _STEPS)),
            tilts=1 + math.ceil((math.log(_HIGHEST) - math.log(lowest)) / apart),
            lowest=lowest,
            burn=max(sweeps // 3, min(6, sweeps)),
            sweeps=sweeps,
            settle=int(np.clip(_BURN * effort, 20, _BURN)),
            samples=int(np.clip(_SAMPLES * effort, 20, SWAP_CHAIN_SAMPLES)),
            off=off,
        )

    chosen = plan(float(np.clip(allowed / plan(1.0).seconds(band), 0.0, _MOST_EFFORT)))
    most = _MOST_SHARE * budget.seconds
    if not budget.chosen or chosen.seconds(band) <= most:
        return chosen
    few = replace(plan(0.0), ways=1, steps=_FEWEST_STEPS)
    few = replace(few, settle=_FEWEST_SAMPLES, samples=_FEWEST_SAMPLES)
    shorter = (replace(few, burn=some, sweeps=some) for some in (3, 2, 1))
    return next(
        (one for one in shorter if one.seconds(band) <= most), replace(few, burn=1, sweeps=1)
    )


def _lowest_tilt(band: WideBand) -> float:
    """The tilt that rows which are as far apart as can be do not feel any more."""
    reach = (band.last - band.first) / 2
    if band.weights is not None:
        starts = np.concatenate(([0], np.cumsum(band.last - band.first)))[:-1]
        squares = np.add.reduceat(band.weights**2, starts)
        reach = np.minimum(reach, np.add.reduceat(band.weights, starts) ** 2 / squares / 1.5)
    return _LOWEST / max(float(reach.max()), 1.0) ** 2


def estimate_band(
    band: WideBand,
    graph: Graph,
    *,
    budget: Budget,
    edge: Bools | None = None,
    seed: int = 0,
    effort: Execution | None = None,
    asked: Ints | None = None,
) -> BandEstimate:
    """Count, entropy and figures of each row of a wide band, with 95 % intervals.

    Parameters
    ----------
    band : WideBand
    graph : Graph
        Whose band it is.
    budget : Budget
        Fewer sweeps are made where it is small, and intervals are wider; some are made always.
    edge : array of bool, optional
        Rows that the mean entropy is not about.
    seed : int
    effort : Execution, optional
        Told how far the work is.
    asked : array of int, optional
        A column by row whose probability is wanted; -1 for none.
    """
    counted = np.ones(band.rows, dtype=np.bool_) if edge is None else ~edge
    if not counted.any():
        counted[:] = True
    job = _Job(band, _planned(band, budget), seed, effort or Execution(), counted)
    job.scale()
    job.pair()
    down = job.integrate(falling=True)
    weights, shares = job.sample()
    up = job.integrate(falling=False) if job.plan.ways == 2 else None
    job.steps.finish()
    found = _estimate(job, graph, job.figures(), (down, up), (weights, shares), counted, edge)
    if asked is None:
        return found
    scaling = job.chain.scaling.rows(), job.chain.scaling.columns()
    own = shares_at(band.first, band.last, band.weights, scaling, asked)
    return replace(found, asked=np.minimum(own * 2.0**found.divergence, 1.0))


class _Job:
    """The work on one band, in calls short enough to be cancelled."""

    def __init__(
        self, band: WideBand, plan: _Plan, seed: int, effort: Execution, counted: Bools
    ) -> None:
        self.band, self.plan, self.effort, self.counted = band, plan, effort, counted
        self.chain = SwapChain(band.first, band.last, band.weights, seed)
        self._weighted = band.weights is not None
        self.proposals = self.visits = 0
        seconds = plan.seconds(band)
        effort.expect(seconds)
        what = ("swaps of a wide log", band, plan, seed, counted)
        self.steps = effort.steps(what, self.chain, seconds=seconds, number=self._calls())

    def _calls(self) -> int:
        """How many steps are recorded."""
        plan, swept = self.plan, self._sweeps_together()
        nodes = math.ceil(plan.burn / swept) + math.ceil(plan.sweeps / swept)
        others = math.ceil(plan.settle / swept) + math.ceil(plan.samples / self._samples_together())
        return plan.ways * plan.tilts * nodes + others

    def _sweep_seconds(self) -> float:
        return _proposal_seconds(self.band) * SWAP_CHAIN_LANES * self.band.rows

    def _sweeps_together(self) -> int:
        return max(1, round(0.1 / self._sweep_seconds()))

    def _sample_seconds(self) -> float:
        each = _THIN * _proposal_seconds(self.band) + _RECORD_SECONDS
        return each * SWAP_CHAIN_LANES * self.band.rows

    def _samples_together(self) -> int:
        return max(1, round(0.1 / self._sample_seconds()))

    def _done(self, seconds: float) -> None:
        self.effort.stop.check()
        self.effort.advance(seconds)

    def scale(self) -> None:
        chain, stop = self.chain, self.effort.stop.byte
        each = _ENTRY_SECONDS[self._weighted] * self.band.entries
        together = max(1, round(0.1 / max(each, 1e-9)))
        plain = min(10, self.plan.steps)
        chain.scale(plain, 1.0, stop)
        done, error = plain, math.inf
        while done < self.plan.steps - 3 and error > _CLOSE:
            some = min(together, self.plan.steps - 3 - done, 50)
            error = chain.scale(some, _RELAXATION, stop)
            done += some
            self._done(each * some)
        chain.scale(3, 1.0, stop)
        chain.scaling.finish()
        self.visits += (done + 3) * self.band.entries

    def figures(self) -> SwapRows:
        """Of all rows, some in each call."""
        size = self.band.rows
        each = _ROW_SECONDS * self.band.entries / size
        together = max(1, round(0.1 / each))
        real = size - self.band.alike
        parts = []
        for begin in range(0, size, together):
            end = min(begin + together, size)
            parts.append(self.chain.rows(begin, end, real))
            self._done(each * (end - begin))
        self.visits += self.band.entries
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in SwapRows._fields
            if name not in ("lower", "size", "positive")
        }
        return SwapRows(
            **arrays,
            lower=math.fsum(part.lower for part in parts),
            size=math.fsum(part.size for part in parts),
            positive=all(part.positive for part in parts),
        )

    def pair(self) -> None:
        """Rows are swapped with those inside at the same time: half of their candidates.

        How many of a row's entries matter is asked of some rows, and is much the same for all.
        """
        size = self.band.rows
        some = range(0, size, max(1, size // _LOOKED_AT))
        asked = [float(self.chain.rows(k, k + 1, size).shannon[0]) for k in some]
        degrees = self.band.last - self.band.first
        share = float((np.exp2(asked) / degrees[list(some)]).mean())
        reach = np.maximum(np.round(share * degrees / 2), 1.0)
        self.chain.reach(reach.astype(np.int32))

    def _sweep(self, tilt: float, most: float, sweeps: int) -> Floats:
        """Sums over sweeps, in calls that can be cancelled."""
        each, together = self._sweep_seconds(), self._sweeps_together()
        sums = np.zeros(SWAP_CHAIN_LANES)
        for begin in range(0, sweeps, together):
            some = min(together, sweeps - begin)
            sweep = partial(self.chain.sweep, tilt, most, some, self.effort.stop.byte)
            sums += self.steps.step(sweep, each * some)
            self._done(each * some)
        self.proposals += sweeps * SWAP_CHAIN_LANES * self.band.rows
        return sums

    def integrate(self, *, falling: bool) -> Floats:
        """Log of the sum of weights over that of first in, first out, in each replica.

        Replicas lag behind a tilt that falls or rises: both ways they are off by as much, in
        opposite directions.
        """
        plan = self.plan
        logs = np.linspace(math.log(_HIGHEST), math.log(plan.lowest), plan.tilts)
        heights = np.empty((plan.tilts, SWAP_CHAIN_LANES))
        for k in range(plan.tilts) if falling else reversed(range(plan.tilts)):
            tilt = math.exp(logs[k])
            most = round(2.0 / math.sqrt(tilt))  # rows are so far from the diagonal
            self._sweep(tilt, most, plan.burn)
            heights[k] = tilt * self._sweep(tilt, most, plan.sweeps) / plan.sweeps
        inner = heights.sum(axis=0) - (heights[0] + heights[-1]) / 2
        # Beyond the ends the mean falls as exp(-tilt), and does not change.
        return np.asarray(
            inner * (logs[0] - logs[1]) + heights[-1] + heights[0] / _HIGHEST, dtype=np.float64
        )

    def sample(self) -> tuple[Floats, Floats]:
        """Means of log weights, and of logs of shares of the counted rows, in each replica."""
        rows, columns = (
            np.log(factors) for factors in (self.chain.scaling.rows(), self.chain.scaling.columns())
        )
        if self.band.alike:
            slots = columns[-self.band.alike :]
            top = slots.max()
            columns[-self.band.alike :] = top + math.log(np.exp(slots - top).sum())
        rows[~self.counted] = math.nan
        self.chain.set_guesses(self.chain.likeliest(self.band.rows - self.band.alike))
        self._sweep(0.0, math.inf, self.plan.settle)
        each, together = self._sample_seconds(), self._samples_together()
        weights, shares = np.zeros(SWAP_CHAIN_LANES), np.zeros(SWAP_CHAIN_LANES)
        samples = self.plan.samples
        for begin in range(0, samples, together):
            some = min(together, samples - begin)
            record = partial(self.chain.record, some, _THIN, rows, columns, self.effort.stop.byte)
            more = self.steps.step(record, each * some)
            weights += more[0]
            shares += more[1]
            self._done(each * some)
        self.proposals += samples * _THIN * SWAP_CHAIN_LANES * self.band.rows
        return weights / samples, shares / samples


def _estimate(
    job: _Job,
    graph: Graph,
    rows: SwapRows,
    integrals: tuple[Floats, Floats | None],
    means: tuple[Floats, Floats],
    counted: Bools,
    edge: Bools | None,
) -> BandEstimate:
    weights, shares = means
    proven = _proven(job, rows)
    log_weight, entropy = _whole(job, integrals, weights, proven)
    number = int(counted.sum())
    divergence = rows.distance[counted] / (2.0 * _LN2)
    groups = np.array([part.mean() for part in np.array_split(divergence, min(GROUPS, number))])
    spread = T_GROUPS * float(groups.std(ddof=1)) / math.sqrt(len(groups)) if number > 1 else 0.0
    mean = max(float(divergence.mean()), 0.0)
    cross = replica_mean(-shares / number / _LN2, 0.0)
    error = math.hypot(cross.high - cross.value, spread) + 0.25 * mean + _DIVERGENCE_OFF
    value = cross.value - mean
    own = Interval(value, value - error, value + error)
    return BandEstimate(
        log_weight=log_weight,
        proven=proven,
        entropy=entropy,
        users=_users(job, graph, rows, own, mean + spread, counted, edge),
        confidence=REPLICA_CONFIDENCE,
        replicas=SWAP_CHAIN_LANES,
        proposals=job.proposals,
        visits=job.visits,
        divergence=mean,
    )


def _whole(
    job: _Job,
    integrals: tuple[Floats, Floats | None],
    weights: Floats,
    proven: tuple[float, float],
) -> tuple[Interval, Interval]:
    """Log of the sum of weights, and the entropy of the matching: the same without weights.

    Replicas that lag behind a falling tilt are too near first in, first out: the integral is too
    small, and a lower end. The upper one is then what is proven.
    """
    band = job.band
    down, up = integrals
    off = job.plan.off * _LN2 * band.rows
    if up is None:
        low = max(replica_mean(_diagonal(band) + down, off).low, proven[0])
        mean = replica_mean(weights, 0.0)
        log_weight = Interval.between(min(low, proven[1]), proven[1])
        entropy = Interval.between(
            min(low - mean.high, proven[1] - mean.low), proven[1] - mean.low
        ).clipped(0.0, math.inf)
    else:
        integral = (down + up) / 2
        off += _LAG_LEFT * abs(float(up.mean() - down.mean()))
        log_weight = replica_mean(_diagonal(band) + integral, off).clipped(*proven)
        most = proven[1] - replica_mean(weights, 0.0).low
        entropy = replica_mean(_diagonal(band) + integral - weights, off).clipped(
            0.0, max(most, 0.0)
        )
    return log_weight, log_weight if band.weights is None else entropy


def _diagonal(band: WideBand) -> float:
    """Log weight of first in, first out."""
    if band.weights is None:
        return 0.0
    starts = np.concatenate(([0], np.cumsum(band.last - band.first)))[:-1]
    return float(np.log(band.weights[starts + np.arange(band.rows) - band.first]).sum())


def _proven(job: _Job, rows: SwapRows) -> tuple[float, float]:
    """Bounds on the log of the sum of weights."""
    scaling = job.chain.scaling
    logs = np.log(scaling.rows()), np.log(scaling.columns())
    size = float(sum(np.abs(part).sum() for part in logs)) + float(np.abs(rows.upper).sum())
    upper = float(rows.upper.sum()) - float(logs[0].sum()) - float(logs[1].sum())
    upper += 2.0**-44 * size
    shifts = float(np.abs(scaling.shifts()).max(initial=0.0))
    if not rows.positive or shifts > 0.45 or scaling.stray > 1e-9:
        return -math.inf, upper
    # Sums of shares are right up to rounding, which an entry of the bound may lose.
    slack = 2.0**-50 * 2 * job.band.rows * rows.size + scaling.stray * rows.size
    return rows.lower - slack - 1e-12 * abs(rows.lower), upper


def _users(
    job: _Job,
    graph: Graph,
    rows: SwapRows,
    own: Interval,
    divergence: float,
    counted: Bools,
    edge: Bools | None,
) -> UserFigures:
    """Figures of rows by their shares, shifted by what the shares' mean entropy is too large."""
    band = job.band
    narrow = np.exp2(-rows.shannon)  # posteriors of messages with few candidates are off by more
    offset = max(float(rows.shannon[counted].mean()) - own.value, 0.0)
    scale = offset / max(float(narrow[counted].mean()), 1e-300)
    shift = np.minimum(scale * narrow, rows.shannon / 2)
    real = np.minimum(band.last, band.rows - band.alike).astype(np.int64) - band.first
    real = np.maximum(real, 0)
    most = np.log2(np.maximum(real, 1))
    sure = real <= 1
    # To first order an entropy is off by the root mean square of relative errors times that of the
    # logs of shares, which is about the gap between Shannon's and Rényi's entropy.
    renyi = np.minimum(0.0 - np.log2(np.clip(rows.collision, 1e-300, 1.0)), most)
    uneven = np.sqrt(np.maximum(rows.shannon - renyi, 0.0) * 2.0 / _LN2)
    relative = math.sqrt(2.0 * _LN2 * divergence)
    slack = shift + (own.high - own.value) + 3.0 * divergence + 2.0 * relative * uneven
    slack = np.where(sure, 0.0, slack)
    shannon = np.clip(rows.shannon - shift, 0.0, most)
    return _figures(graph, job, rows, real, shannon, slack, most, own, divergence, edge)


def _over(batches: npt.NDArray[np.float32], shares: Floats) -> npt.NDArray[np.float32]:
    return np.asarray(batches / shares[:, None], dtype=np.float32)


def _figures(
    graph: Graph,
    job: _Job,
    rows: SwapRows,
    real: Ints,
    shannon: Floats,
    slack: Floats,
    most: Floats,
    own: Interval,
    divergence: float,
    edge: Bools | None,
) -> UserFigures:
    entropy = Range(shannon, np.maximum(shannon - slack, 0.0), np.minimum(shannon + slack, most))
    band = job.band
    sure = slack == 0.0
    # A share is off by a few times the root mean square of all, relatively.
    off = np.where(sure, 0.0, np.minimum(5.0 * math.sqrt(2.0 * _LN2 * divergence), 0.9))
    least = 1.0 / np.maximum(real, 1)
    left = np.where(real > 0, 1.0 - rows.gone, 1.0)
    counted = shrunk(
        rows.largest * left,
        job.chain.guessed(),
        np.full(SWAP_CHAIN_LANES, float(job.plan.samples)),
        ~sure,
        rows.largest * left,
        largest=True,
    )
    best = Range(
        *(np.clip(part / left, least, 1.0) for part in counted.parts),
        batches=None if counted.batches is None else _over(counted.batches, left),
    )
    renyi = np.minimum(0.0 - np.log2(np.clip(rows.collision, 1e-300, 1.0)), most)
    guesses = np.maximum(rows.guessing, 1.0)
    departed = np.where(real > 0, 1.0 - rows.gone, 0.0)  # without a rounding's rest
    some = band.alike > 0
    shannons, renyis, smallest = in_order(
        entropy,
        Range(renyi, np.maximum(renyi - slack, 0.0), np.minimum(renyi + slack, most)),
        best.minus_log2(),
        most,
    )
    return UserFigures(
        users=graph.users,
        behaviours=graph.behaviours,
        degree=graph.degrees.astype(np.int64),
        allowed=real + (rows.gone > 0.0) * 1,
        shannon=shannons,
        renyi2=renyis,
        min_entropy=smallest,
        effective=shannons.map(np.exp2),
        probability=Range(*(part * departed for part in best.parts), batches=counted.batches)
        if some
        else best,
        guess=np.where(rows.guess >= 0, rows.guess, LOST).astype(np.int64),
        departed=departed if some else None,
        edge=edge,
        guesses=Range(
            guesses,
            np.maximum(guesses * (1.0 - off), 1.0),
            np.maximum(np.minimum(guesses * (1.0 + off), (real + 1) / 2), guesses),
        ),
        mean_shannon=None if some else own,
    )
