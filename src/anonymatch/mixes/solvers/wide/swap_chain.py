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

from anonymatch._native import SWAP_CHAIN_LANES, SWAP_CHAIN_SAMPLES, SwapChain, SwapRows
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import LOST, Range, UserFigures, in_order, shrunk
from anonymatch.graph import Graph
from anonymatch.mixes.solvers.wide.bands import (
    ChainWork,
    WideBand,
    corrected_entropy,
    in_one_call,
    shares_at,
)
from anonymatch.mixes.solvers.wide.tuning import WIDE
from anonymatch.running import GROUPS, REPLICA_CONFIDENCE, T_GROUPS, Budget, Execution, replica_mean

_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BandEstimate:
    """What is estimated of a wide band; entropies and logs of the whole in nats."""

    log_weight: Interval  # natural log of the sum over matchings of their weights
    proven: tuple[float, float]  # ends between which it lies for sure
    entropy: Interval  # of the matching that happened
    users: UserFigures  # of all rows, with an interval of their mean entropy
    confidence: float
    replicas: int  # of the chain
    # Work done: swaps that were looked at, and entries of the band.
    proposals: int
    visits: int
    # Bits by which the mean of -log2 of the scaling's shares exceeds the mean entropy.
    divergence: float
    # Probability of each row to have the column that was asked for: the scaling's share times 2 to
    # the mean divergence, so that the mean of -log2 has no bias.
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
        return rows * SWAP_CHAIN_LANES * (each + self.settle + WIDE.swap_thin * self.samples)

    def visits(self, entries: int) -> int:
        return entries * self.steps

    def seconds(self, band: WideBand) -> float:
        weighted = band.weights is not None
        rows, entries = band.rows, band.entries
        return (
            _proposal_seconds(band) * self.proposals(rows)
            + WIDE.swap_record_seconds * SWAP_CHAIN_LANES * rows * self.samples
            + WIDE.swap_entry_seconds[weighted] * self.visits(entries)
            + (WIDE.swap_row_seconds + WIDE.swap_setup_seconds) * entries
        )


def _proposal_seconds(band: WideBand) -> float:
    if band.weights is None:
        return WIDE.proposal_seconds[False]
    return WIDE.proposal_seconds[True] + WIDE.swap_farther_seconds * band.entries / band.rows


def _planned(band: WideBand, budget: Budget) -> _Plan:
    """As much as the budget allows, up to where more would hardly be seen."""
    allowed = WIDE.swap_share * budget.seconds
    if not budget.chosen:
        allowed = min(allowed, max(WIDE.swap_unasked, WIDE.swap_unasked_each * band.rows))
    weighted = band.weights is not None
    steps = allowed / 4 / (WIDE.swap_entry_seconds[weighted] * max(band.entries, 1))
    lowest = _lowest_tilt(band)

    def plan(effort: float) -> _Plan:
        sweeps = max(round(WIDE.swap_node_sweeps * effort), 3)
        apart, off = (
            (WIDE.swap_apart, WIDE.swap_integral_off)
            if effort >= WIDE.swap_small
            else (WIDE.swap_far_apart, WIDE.swap_far_off)
        )
        return _Plan(
            steps=int(np.clip(steps, 20, WIDE.swap_steps)),
            tilts=1 + math.ceil((math.log(WIDE.swap_highest) - math.log(lowest)) / apart),
            lowest=lowest,
            burn=max(sweeps // 3, min(6, sweeps)),
            sweeps=sweeps,
            settle=int(np.clip(WIDE.swap_burn * effort, 20, WIDE.swap_burn)),
            samples=int(np.clip(WIDE.swap_samples * effort, 20, SWAP_CHAIN_SAMPLES)),
            off=off,
        )

    chosen = plan(float(np.clip(allowed / plan(1.0).seconds(band), 0.0, WIDE.swap_most_effort)))
    most = WIDE.most_share * budget.seconds
    if not budget.chosen or chosen.seconds(band) <= most:
        return chosen
    few = replace(plan(0.0), ways=1, steps=WIDE.fewest_steps)
    few = replace(few, settle=WIDE.fewest_samples, samples=WIDE.fewest_samples)
    shorter = (replace(few, burn=some, sweeps=some) for some in (3, 2, 1))
    return next(
        (one for one in shorter if one.seconds(band) <= most), replace(few, burn=1, sweeps=1)
    )


def band_seconds(band: WideBand, budget: Budget) -> float:
    """Predicted seconds of `estimate_band`."""
    return _planned(band, budget).seconds(band)


def _lowest_tilt(band: WideBand) -> float:
    """The tilt that rows which are as far apart as can be do not feel any more."""
    reach = (band.last - band.first) / 2
    if band.weights is not None:
        starts = np.concatenate(([0], np.cumsum(band.last - band.first)))[:-1]
        squares = np.add.reduceat(band.weights**2, starts)
        reach = np.minimum(reach, np.add.reduceat(band.weights, starts) ** 2 / squares / 1.5)
    return WIDE.swap_lowest / max(float(reach.max()), 1.0) ** 2


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

    If the budget is small, fewer sweeps are made and intervals are wider. The mean entropy is not
    about rows of ``edge``. ``asked`` has a column by row whose probability is wanted; -1 for none.
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


class _Job(ChainWork):
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
        plan, swept = self.plan, in_one_call(self._sweep_seconds())
        nodes = math.ceil(plan.burn / swept) + math.ceil(plan.sweeps / swept)
        others = math.ceil(plan.settle / swept) + math.ceil(
            plan.samples / in_one_call(self._sample_seconds())
        )
        return plan.ways * plan.tilts * nodes + others

    def _sweep_seconds(self) -> float:
        return _proposal_seconds(self.band) * SWAP_CHAIN_LANES * self.band.rows

    def _sample_seconds(self) -> float:
        each = WIDE.swap_thin * _proposal_seconds(self.band) + WIDE.swap_record_seconds
        return each * SWAP_CHAIN_LANES * self.band.rows

    def scale(self) -> None:
        chain, stop = self.chain, self.effort.stop.byte
        each = WIDE.swap_entry_seconds[self._weighted] * self.band.entries
        together = max(1, round(0.1 / max(each, 1e-9)))
        plain = min(10, self.plan.steps)
        chain.scale(plain, 1.0, stop)
        done, error = plain, math.inf
        while done < self.plan.steps - 3 and error > WIDE.swap_close:
            some = min(together, self.plan.steps - 3 - done, 50)
            error = chain.scale(some, WIDE.swap_relaxation, stop)
            done += some
            self.done(each * some)
        chain.scale(3, 1.0, stop)
        chain.scaling.finish()
        self.visits += (done + 3) * self.band.entries

    def figures(self) -> SwapRows:
        """Of all rows, some in each call."""
        size = self.band.rows
        each = WIDE.swap_row_seconds * self.band.entries / size
        real = size - self.band.alike
        parts = [self.chain.rows(begin, end, real) for begin, end in self.calls(size, each)]
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
        some = range(0, size, max(1, size // WIDE.looked_at))
        asked = [float(self.chain.rows(k, k + 1, size).shannon[0]) for k in some]
        degrees = self.band.last - self.band.first
        share = float((np.exp2(asked) / degrees[list(some)]).mean())
        reach = np.maximum(np.round(share * degrees / 2), 1.0)
        self.chain.reach(reach.astype(np.int32))

    def _sweep(self, tilt: float, most: float, sweeps: int) -> Floats:
        """Sums over sweeps, in calls that can be cancelled."""
        each = self._sweep_seconds()
        sums = np.zeros(SWAP_CHAIN_LANES)
        for begin, end in self.calls(sweeps, each):
            sweep = partial(self.chain.sweep, tilt, most, end - begin, self.effort.stop.byte)
            sums += self.steps.step(sweep, each * (end - begin))
        self.proposals += sweeps * SWAP_CHAIN_LANES * self.band.rows
        return sums

    def integrate(self, *, falling: bool) -> Floats:
        """Log of the sum of weights over that of first in, first out, in each replica.

        Replicas lag behind a tilt that falls or rises: both ways they are off by as much, in
        opposite directions.
        """
        plan = self.plan
        logs = np.linspace(math.log(WIDE.swap_highest), math.log(plan.lowest), plan.tilts)
        heights = np.empty((plan.tilts, SWAP_CHAIN_LANES))
        for k in range(plan.tilts) if falling else reversed(range(plan.tilts)):
            tilt = math.exp(logs[k])
            most = round(2.0 / math.sqrt(tilt))  # rows are so far from the diagonal
            self._sweep(tilt, most, plan.burn)
            heights[k] = tilt * self._sweep(tilt, most, plan.sweeps) / plan.sweeps
        inner = heights.sum(axis=0) - (heights[0] + heights[-1]) / 2
        # Beyond the ends the mean falls as exp(-tilt), and does not change.
        return np.asarray(
            inner * (logs[0] - logs[1]) + heights[-1] + heights[0] / WIDE.swap_highest,
            dtype=np.float64,
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
        each, byte = self._sample_seconds(), self.effort.stop.byte
        weights, shares = np.zeros(SWAP_CHAIN_LANES), np.zeros(SWAP_CHAIN_LANES)
        samples = self.plan.samples
        for begin, end in self.calls(samples, each):
            record = partial(self.chain.record, end - begin, WIDE.swap_thin, rows, columns, byte)
            more = self.steps.step(record, each * (end - begin))
            weights += more[0]
            shares += more[1]
        self.proposals += samples * WIDE.swap_thin * SWAP_CHAIN_LANES * self.band.rows
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
    error = math.hypot(cross.high - cross.value, spread) + 0.25 * mean + WIDE.swap_divergence_off
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
        off += WIDE.swap_lag_left * abs(float(up.mean() - down.mean()))
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
    real = np.minimum(band.last, band.rows - band.alike).astype(np.int64) - band.first
    real = np.maximum(real, 0)
    shannon, slack, most = corrected_entropy(
        rows.shannon,
        rows.collision,
        real,
        lambda values: float(values[counted].mean()),
        own=own.value,
        half=own.high - own.value,
        divergence=divergence,
    )
    entropy = Range(shannon, np.maximum(shannon - slack, 0.0), np.minimum(shannon + slack, most))
    sure = slack == 0.0
    # A share is off by a few times the root mean square of all, relatively.
    off = np.where(sure, 0.0, np.minimum(5.0 * math.sqrt(2.0 * _LN2 * divergence), 0.9))
    least = 1.0 / np.maximum(real, 1)
    left = np.where(real > 0, 1.0 - rows.gone, 1.0)
    best_counted = shrunk(
        rows.largest * left,
        job.chain.guessed(),
        np.full(SWAP_CHAIN_LANES, float(job.plan.samples)),
        ~sure,
        rows.largest * left,
        largest=True,
    )
    best = Range(
        *(np.clip(part / left, least, 1.0) for part in best_counted.parts),
        batches=None
        if best_counted.batches is None
        else np.asarray(best_counted.batches / left[:, None], dtype=np.float32),
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
        probability=Range(*(part * departed for part in best.parts), batches=best_counted.batches)
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
