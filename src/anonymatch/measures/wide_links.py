"""Wide logs with losses, cover and an end: a message fits too many others for exact counts.

An explanation says of each message in which message out it is, or that it is none of them; messages
out that are left over are nobody's. It weighs the product of the densities of its pairs, of ``u``
for each message in without a pair (lost, or still inside) and of ``c`` for each message out without
one. Three things are put together [1]_ [2]_:

- *A scaling* of all these weights in which each row and each column adds up to 1 with what is left
  over. It is the posterior of large logs.
- *A chain* in replicas that know nothing of each other: messages swap what they have, move to a
  message out that is nobody's, or make or give up a pair. It has no bias where it is asked for
  means, and corrects the scaling as in :mod:`anonymatch.measures.wide_band`.
- *Thermodynamic integration* for the evidence: what is added to ``u`` and ``c`` falls from where
  nothing is paired, whose weight is known, to nothing.

Intervals are Student's, by replicas: 95 %.

References
----------
.. [1] Heilmann, Lieb. Theory of monomer-dimer systems. Comm. Math. Phys., 1972.
.. [2] Gelman, Meng. Simulating normalizing constants: from importance sampling to bridge sampling
   to path sampling. Statistical Science, 1998.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from anonymatch._native import (
    LINK_CHAIN_LANES,
    LINK_CHAIN_SAMPLES,
    LinkChain,
    LinkRecord,
    LinkRows,
    LinkSums,
)
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.measures.interval import Interval
from anonymatch.measures.replicas import GROUPS, REPLICA_CONFIDENCE, T_GROUPS, T_LANES, replica_mean
from anonymatch.measures.shrinking import shrunk
from anonymatch.measures.users import Range
from anonymatch.measures.wide_band import one_peak
from anonymatch.running import Budget, Execution

__all__ = ["LINKS_CONFIDENCE", "LinkBand", "LinksEstimate", "estimate_links"]

T = TypeVar("T")

_LN2 = math.log(2.0)
LINKS_CONFIDENCE = REPLICA_CONFIDENCE

# Seconds, measured: of an entry in a step of the scaling, of a row in a sweep of all replicas,
# without weights and with, and of a row in a sample.
_ENTRY_SECONDS = 1e-9
_SWEEP_SECONDS = (100e-9, 170e-9)
_FARTHER_SECONDS = 2e-10  # the same with weights, for each entry of a row: they come from farther
_RECORD_SECONDS = 150e-9
_ROW_SECONDS = 60e-9  # of an entry, for figures of its row
_SETUP_SECONDS = 15e-9  # of an entry
BYTES_AN_ENTRY = 40.0

# What is added falls as exp(-x): from about where nothing is paired to where nothing is added.
_FIRST, _LAST, _FARTHEST = -4.0, 9.0, 60.0
_APART, _FAR_APART = 0.65, 1.0  # and where the budget is small
_NOTHING = 2e-4  # of all rows and columns
_THIN = 4
_NODE_SWEEPS, _SAMPLES = 50, 500
_LEAST_SETTLED = 0.3  # of the sweeps before the first sample that are made always
_SETTLED = 150  # sweeps after the weights have risen
_BURN = 400  # sweeps: replicas that begin first in, first out tell too little for tens of them
_MOST_EFFORT = 60.0
_SHARE = 0.8  # of the budget, for the chain: the rest is for the log and its band
_UNASKED, _UNASKED_EACH = 8.0, 4e-4  # seconds of the chain, and a row, if nobody told a budget
_STEPS, _LEAST_STEPS = 400, 50  # of the scaling
_PLAIN_STEPS = 16
_CLOSE = 1e-7  # of rows' sums to 1, where the scaling may stop
# Of both ways, the share of that up, and of their difference, by which that may be off. Measured
# on windows, log-normal and Erlang logs with losses, cover or both, 4 to 27 sweeps a node: the
# share was 0.30 to 0.43.
_UPWARD, _LAG_LEFT = 0.37, 0.08
_FARTHER, _PARTING = 8.0, 12  # before the first node, and sweeps there: all pairs are given up
_INTEGRAL_OFF, _FAR_OFF = 1e-4, 5e-4  # bits a message that the integral may leave out
_DIVERGENCE_OFF = 2e-5  # bits of the divergence, which is taken to its second order
_NOISE = 0.5  # bits of the same, over the root of samples and rows: of counts themselves
_ROUNDS = 4  # of short runs that make the told number of pairs the expected one
_HOPELESS = 1e3  # budgets beyond which no plan can be wrong
_STATE_SECONDS = 2e-9  # of a state in an exact programme, for a look ahead
_TUNING = 3  # times the sweeps to settle, that this takes as a rule
_SCALINGS = 40  # that make them so by the scaling, before
_MOST_STATES = 50_000_000  # of a programme over who is lost
_FAR_FROM_MEAN = 5.0  # standard deviations that are as good as never passed
_NORMAL = 4.0  # variance from which on numbers of pairs are nearly normal


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkBand:
    """Messages in (rows), the runs of messages out (columns) that they may be, and all weights.

    Attributes
    ----------
    first, last : array of int
        Row ``i`` may be columns ``first[i]`` to ``last[i] - 1``; both never fall.
    weights : array or None
        Of all rows, one after another; None if all are 1.
    columns : int
    unpaired : array
        Weight of each row to be no column; 0 where it must be one.
    cover : float
        Weight of a column to be nobody's; 0 if all are somebody's.
    pairs : int or None
        How many rows have a column, if that is told.
    staying : array or None
        The part of ``unpaired`` that is the weight to be still inside; the rest is to be lost.
    lost : int or None
        How many rows are lost, if that is told.
    """

    first: Ints
    last: Ints
    weights: Floats | None
    columns: int
    unpaired: Floats
    cover: float
    pairs: int | None = None
    staying: Floats | None = None
    lost: int | None = None

    @classmethod
    def of(cls, graph: Graph, lost: int) -> LinkBand | None:
        """That of a graph of a log; None if messages in are not runs of messages out.

        The last ``lost`` behaviours are places for messages that did not come out, all alike.
        Behaviours that are left, if any, are nobody's, each as likely as another.

        Examples
        --------
        >>> graph = Graph.from_rows(["1100", "1110", "0110"])
        >>> band = LinkBand.of(graph, 1)
        >>> band.last.tolist(), band.columns, band.cover, band.pairs
        ([2, 3, 3], 3, 1.0, 2)
        """
        columns = graph.n_behaviours - lost
        size = graph.n_users
        if not size or not columns:
            return None
        rows = np.repeat(np.arange(size), graph.degrees)
        among = graph.indices < columns
        lengths = np.bincount(rows[among], minlength=size)
        places = graph.degrees - lengths
        if not np.isin(places, (0, lost)).all():
            return None
        starts = graph.indptr[:-1]
        some = lengths > 0
        last = np.where(some, graph.indices[np.maximum(starts + lengths - 1, 0)] + 1, 0)
        # A row without a run lies after those of the rows before it.
        last = np.where(some, last, np.maximum.accumulate(last)).astype(np.int64)
        begins = graph.indices[np.minimum(starts, len(graph.indices) - 1)]
        first = np.where(some, begins, last).astype(np.int64)
        if (last - first != lengths).any() or (np.diff(last) < 0).any():
            return None
        if (np.diff(first) < 0).any():
            return None
        weights, unpaired = None, (places > 0).astype(np.float64)
        if graph.weights is not None:
            every = np.asarray(graph.weights, dtype=np.float64)
            weights = every[among]
            at = np.flatnonzero(places)
            unpaired[at] = every[graph.indptr[1:][at] - 1]
            if not one_peak(weights, lengths.astype(np.int32)):
                return None
        return cls(
            first=first,
            last=last,
            weights=weights,
            columns=columns,
            unpaired=unpaired,
            cover=float(columns > size - lost),
            pairs=size - lost,
        )

    def hopeless(self, seconds: float) -> bool:
        """Whether exact work would take far longer than this, as one look at the runs shows.

        About half of the columns that earlier and later rows share may be taken, any of them.
        """
        shared = np.maximum(self.last[:-1] - self.first[1:], 0)
        if not len(shared):
            return False
        logs = np.maximum(_LN2 * shared - 0.5 * np.log(2.0 * shared + 1.0), 0.0)
        top = float(logs.max())
        states = top + math.log(float(np.exp(logs - top).sum()))
        return states + math.log(_STATE_SECONDS) > math.log(_HOPELESS * max(seconds, 1e-3))

    @property
    def rows(self) -> int:
        return len(self.first)

    @property
    def entries(self) -> int:
        return int((self.last - self.first).sum())

    @property
    def counted(self) -> int | None:
        """The number of pairs, where weights alone do not make it what is told."""
        free = self.cover > 0.0 and bool((self.unpaired > 0.0).any())
        return self.pairs if free else None

    @property
    def told(self) -> tuple[str, ...]:
        """What is counted: "alone" (rows without a column), or apart "lost" and "inside"."""
        if self.lost is None:
            return () if self.counted is None else ("alone",)
        return ("lost",) if self.counted is None else ("lost", "inside")

    @property
    def goals(self) -> Floats:
        """The numbers of what is `told`."""
        alone = self.rows - (self.pairs or 0)
        numbers = {"alone": alone, "lost": self.lost or 0, "inside": alone - (self.lost or 0)}
        return np.array([numbers[name] for name in self.told], dtype=np.float64)

    def tilted(self, tilts: Floats) -> tuple[Floats, Floats]:
        """Weights to have no column times exponentials of tilts of what is `told`; shares lost."""
        by = dict(zip(self.told, np.exp(tilts).tolist(), strict=True))
        staying = np.zeros(self.rows) if self.staying is None else self.staying
        lost = (self.unpaired - staying) * by.get("alone", by.get("lost", 1.0))
        inside = staying * by.get("alone", by.get("inside", 1.0))
        unpaired = lost + inside
        return unpaired, np.divide(lost, unpaired, out=np.ones(self.rows), where=unpaired > 0.0)


class _Effort(NamedTuple):
    """How much is done: steps of the scaling, nodes, sweeps at each, both ways, and samples."""

    steps: int
    nodes: int
    burn: int
    sweeps: int
    settle: int  # sweeps before the first sample
    rounds: int  # in which that is done
    samples: int
    apart: float  # of nodes
    off: float  # bits a message that the integral may leave out

    def sweeps_in_all(self) -> int:
        nodes = 2 * self.nodes * (self.burn + self.sweeps) + _PARTING
        return nodes + self.rounds * self.settle + _THIN * self.samples

    def seconds(self, band: LinkBand) -> float:
        each = _sweep_seconds(band)
        return band.rows * (
            each * self.sweeps_in_all() + _record_seconds(band) * self.samples
        ) + band.entries * (_ENTRY_SECONDS * self.steps + _ROW_SECONDS + _SETUP_SECONDS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinksEstimate:
    """What is estimated of a wide log; logs and entropies of the whole in nats.

    Attributes
    ----------
    log_weight : Interval
        Natural log of the sum over explanations of their weights.
    entropy : Interval
        Of the explanation that happened; what has no column is one outcome, unless the number of
        lost ones is told: then lost and inside are two.
    alone, real : Range
        Probability of each row to have no column, and of each column to be somebody's.
    lost : Range or None
        Probability of each row to be lost, where their number is told.
    shannon : Range
        Entropy in bits of which column a row has, given that it has one.
    mean_shannon : Interval
        Its mean over the counted rows, each as much as it is likely to have a column.
    collision : array
        Sum of squared probabilities of its columns, given that it has one.
    probability : Range
        Of the likeliest column, not given anything.
    surest : Range
        The same, given that the row has a column.
    guess : array
        That column; -1 if there is none.
    guessing : Range
        Guesses until the right one, given that it has a column.
    allowed : array
        Columns with a probability above 1e-12.
    group_shannon, group_largest, group_guess : array
        The same with columns of a group taken together; empty without groups.
    variance : float
        Of what is told, of the first if it is two numbers.
    replicas : int
    """

    log_weight: Interval
    entropy: Interval
    alone: Range
    real: Range
    shannon: Range
    mean_shannon: Interval
    collision: Floats
    probability: Range
    surest: Range
    guess: Ints
    guessing: Range
    allowed: Ints
    group_shannon: Floats
    group_largest: Floats
    group_guess: Ints
    variance: float
    lost: Range | None = None
    replicas: int = LINK_CHAIN_LANES


def _sweep_seconds(band: LinkBand) -> float:
    """Of a row."""
    if band.weights is None:
        return _SWEEP_SECONDS[False]
    return _SWEEP_SECONDS[True] + _FARTHER_SECONDS * band.entries / max(band.rows, 1)


def _near(goal: float) -> float:
    """How far an expected number may be from what is told, before the chain corrects it."""
    return max(0.01, 0.03 * math.sqrt(goal))


def _record_seconds(band: LinkBand) -> float:
    """Of a row in a sample: counts come from as far as weights."""
    return _RECORD_SECONDS + 2.0 * _FARTHER_SECONDS * band.entries / max(band.rows, 1)


def _planned(band: LinkBand, budget: Budget) -> _Effort:
    """As much as the budget allows, up to where more would hardly be seen."""
    allowed = _SHARE * budget.seconds
    if not budget.chosen:
        allowed = min(allowed, max(_UNASKED, _UNASKED_EACH * band.rows))
    steps = allowed / 8 / (_ENTRY_SECONDS * max(band.entries, 1))

    def plan(effort: float) -> _Effort:
        apart, off = (_APART, _INTEGRAL_OFF) if effort >= 1.0 else (_FAR_APART, _FAR_OFF)
        sweeps = max(round(_NODE_SWEEPS * effort * apart / _APART), 3)
        most = _BURN if band.told else _SETTLED
        return _Effort(
            steps=int(np.clip(steps, _LEAST_STEPS, _STEPS)),
            nodes=1 + math.ceil((_LAST - _FIRST) / apart),
            burn=max(sweeps // 3, min(6, sweeps)),
            sweeps=sweeps,
            rounds=_TUNING if band.told else 1,
            settle=int(np.clip(most * effort * 4, _LEAST_SETTLED * most, most)),
            samples=int(np.clip(_SAMPLES * effort, 20, LINK_CHAIN_SAMPLES)),
            apart=apart,
            off=off,
        )

    low, high = 0.0, _MOST_EFFORT
    if plan(high).seconds(band) <= allowed:
        return plan(high)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if plan(middle).seconds(band) <= allowed else (low, middle)
    return plan(low)


def estimate_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
) -> LinksEstimate:
    """Evidence, entropy and figures of each message of a wide log, with 95 % intervals.

    Parameters
    ----------
    band : LinkBand
    budget : Budget
        Fewer sweeps are made where it is small, and intervals are wider; some are made always.
    edge : array of bool, optional
        Rows that the mean entropy is not about.
    groups : array of int, optional
        Columns that are taken together, such as those of one receiver.
    seed : int
    effort : Execution, optional
        Told how far the work is.

    Raises
    ------
    InputError
        If no explanation has a positive weight.

    Examples
    --------
    Two messages in, each lost with probability 1/2 or one of two out, which may be cover.

    >>> band = LinkBand(
    ...     first=np.array([0, 0]), last=np.array([2, 2]), weights=None, columns=2,
    ...     unpaired=np.array([1.0, 1.0]), cover=1.0,
    ... )
    >>> estimate = estimate_links(band, budget=Budget(seconds=1))
    >>> bool(estimate.log_weight.low < np.log(7) < estimate.log_weight.high)
    True
    """
    if not band.entries:
        return _nothing_paired(band, groups is not None)
    job = _LinkJob(band, _planned(band, budget), seed, effort or Execution())
    job.scale()
    job.begin()
    counted = np.ones(band.rows, dtype=np.bool_) if edge is None else ~edge
    if not counted.any():
        counted[:] = True
    number = _Number(0.0, 0.0, 0.0)
    if band.told:  # weights are known only when their numbers are the expected ones
        number = job.tune()
        record = job.sample(counted)
        job.release()
        risen = job.rise()
    else:  # replicas that come from nothing paired know nothing of each other
        risen = job.rise()
        job.settle()
        record = job.sample(counted)
    integral = job.integral(risen, job.fall(risen))
    return _estimate(job, record, integral, number, counted, job.figures(groups))


def _unexplained() -> InputError:
    return InputError(
        "nothing explains the log: some message in can be no message out, or some message out is "
        "nobody's"
    )


def _nothing_paired(band: LinkBand, grouped: bool) -> LinksEstimate:
    """The one explanation of a log in which no message in can be a message out."""
    none = np.zeros(band.rows)
    if band.pairs or (band.unpaired == 0.0).any() or (band.columns and band.cover == 0.0):
        raise _unexplained()
    log, entropy, lost = _fates(band)
    log += band.columns * math.log(band.cover) if band.columns else 0.0
    nobody = np.full(band.rows, -1, dtype=np.int64)
    sure, real = none + 1.0, np.zeros(band.columns)
    return LinksEstimate(
        log_weight=Interval(log, log, log),
        entropy=Interval(entropy, entropy, entropy),
        lost=None if lost is None else Range(lost, lost, lost),
        alone=Range(sure, sure, sure),
        real=Range(real, real, real),
        shannon=Range(none, none, none),
        mean_shannon=Interval(0.0, 0.0, 0.0),
        collision=sure,
        probability=Range(none, none, none),
        surest=Range(sure, sure, sure),
        guess=nobody,
        guessing=Range(sure, sure, sure),
        allowed=np.zeros(band.rows, dtype=np.int64),
        group_shannon=none if grouped else np.zeros(0),
        group_largest=none if grouped else np.zeros(0),
        group_guess=nobody if grouped else np.zeros(0, dtype=np.int64),
        variance=0.0,
    )


def _fates(band: LinkBand) -> tuple[float, float, Floats | None]:
    """Log weight and entropy where no row has a column, and who is lost if the number is told.

    By a programme over rows and the number that are lost so far, there and back.
    """
    if band.lost is None or band.staying is None:
        return float(np.log(band.unpaired).sum()), 0.0, None
    size, number = band.rows, band.lost
    if size * (number + 1) > _MOST_STATES:
        raise _unexplained()
    lost = (band.unpaired - band.staying) / band.unpaired
    before = np.zeros((size + 1, number + 1))
    after = np.zeros((size + 1, number + 1))
    before[0, 0] = after[size, number] = 1.0
    for i in range(size):
        before[i + 1] = before[i] * (1.0 - lost[i])
        before[i + 1, 1:] += before[i, :-1] * lost[i]
    for i in range(size - 1, -1, -1):
        after[i] = after[i + 1] * (1.0 - lost[i])
        after[i, :-1] += after[i + 1, 1:] * lost[i]
    total = float(before[size, number])
    if not total > 0.0:
        raise _unexplained()
    losses = lost * (before[:-1, :-1] * after[1:, 1:]).sum(axis=1) / total
    logs = losses * np.log(np.where(lost > 0.0, lost, 1.0))
    logs += (1.0 - losses) * np.log(np.where(lost < 1.0, 1.0 - lost, 1.0))
    entropy = max(math.log(total) - float(logs.sum()), 0.0)
    return float(np.log(band.unpaired).sum()) + math.log(total), entropy, losses


class _Number(NamedTuple):
    """Of what is told: the variance, and the log of the probability that it is what is told."""

    variance: float
    log_probability: float
    slack: float


def _probability_of(means: Floats, covariance: Floats, off: Floats, hits: Floats) -> _Number:
    """How likely told numbers are that are off their means by so much; ``hits``: shares of sweeps.

    ``means`` are by number and replica.
    """
    variances = np.diag(covariance)
    share = float(hits.mean())
    if float(np.linalg.eigvalsh(covariance)[0]) >= _NORMAL or share == 0.0:
        log = -0.5 * float(np.linalg.slogdet(2.0 * math.pi * covariance)[1])
        log -= 0.5 * float(off @ np.linalg.solve(covariance, off))
        errors = T_LANES * means.std(axis=1, ddof=1) / 4 / np.sqrt(variances)
        slack = float((0.5 / variances + errors).sum())
    else:
        log = math.log(share)
        slack = T_LANES * float(hits.std(ddof=1)) / 4 / share
    return _Number(float(variances[0]), log, slack)


class _Node(NamedTuple):
    """Means in each replica where something is added to the weights of what is not paired.

    ``heights``: of the share of the weights that is added; ``pairs``: of their number; ``alone``:
    log weight of nothing being paired.
    """

    heights: Floats
    pairs: Floats
    alone: float


class _Integral(NamedTuple):
    """Log of the sum of weights in each replica, and what all of them may be off by."""

    logs: Floats
    slack: float


class _LinkJob:
    """The work on one log, in calls short enough to be cancelled."""

    def __init__(self, band: LinkBand, plan: _Effort, seed: int, effort: Execution) -> None:
        self.band, self.plan, self.effort, self.seed = band, plan, effort, seed
        self.tilts = np.zeros(len(band.told))
        self.unpaired, self.losses = band.tilted(self.tilts)
        first, last = (ends.astype(np.int32) for ends in (band.first, band.last))
        self.chain = LinkChain(first, last, band.weights, band.columns, band.unpaired, band.cover)
        effort.expect(plan.seconds(band))

    def _done(self, seconds: float) -> None:
        self.effort.stop.check()
        self.effort.advance(seconds)

    def _call(self, call: Callable[[], T]) -> T:
        return self.effort.stop.run([call])[0]

    # ---- scaling

    def scale(self) -> None:
        """Factors of rows and columns; where pairs are counted, for rates that mean as many."""
        self._balance(self.plan.steps)
        goals = self.band.goals
        slopes = np.ones(len(goals))
        for _ in range(_SCALINGS):
            near = np.array(
                [abs(self._expected(name) - goal) < _near(goal) for name, goal in self._told]
            )
            if near.all():
                break
            for at in np.flatnonzero(~near).tolist():
                slopes[at] = self._nearer(at, float(goals[at]), float(slopes[at]))

    @property
    def _told(self) -> list[tuple[str, float]]:
        return list(zip(self.band.told, self.band.goals.tolist(), strict=True))

    def _expected(self, name: str) -> float:
        """How many rows have no column, are lost or inside, by the scaling."""
        alone = np.clip(self.chain.scaling.alone(), 0.0, 1.0)
        if name == "alone":
            return float(alone.sum())
        return float(alone @ (self.losses if name == "lost" else 1.0 - self.losses))

    def _nearer(self, at: int, goal: float, slope: float) -> float:
        """Tilt one number to what is told, by how its log answered to the last tilt."""
        name = self.band.told[at]
        before = math.log(max(self._expected(name), 1e-9))
        step = float(np.clip((math.log(max(goal, 1e-3)) - before) / slope, -3.0, 3.0))
        tilts = self.tilts.copy()
        tilts[at] = np.clip(tilts[at] + step, -60.0, 60.0)
        self._tilt(tilts)
        self._balance(max(self.plan.steps // 8, 10))
        moved = math.log(max(self._expected(name), 1e-9)) - before
        return float(np.clip(moved / step, 0.1, 1.0)) if abs(step) > 1e-6 else slope

    def _tilt(self, tilts: Floats) -> None:
        self.tilts = tilts
        self.unpaired, self.losses = self.band.tilted(tilts)
        self.chain.set_scaling(self.unpaired, self.band.cover)

    def _balance(self, most: int) -> None:
        """Plain steps, and then over-relaxed ones as fast as the plain ones were slow."""
        chain, stop = self.chain, self.effort.stop.byte
        plain = min(_PLAIN_STEPS, most)
        before = chain.scale(plain // 2, 1.0, stop)
        error = chain.scale(plain - plain // 2, 1.0, stop)
        rate = (error / before) ** (1 / (plain - plain // 2)) if 0 < error < before else 0.5
        relaxation = min(2.0 / (1.0 + math.sqrt(1.0 - min(rate, 0.9999))), 1.97)
        each = _ENTRY_SECONDS * self.band.entries
        together = max(1, min(round(0.1 / max(each, 1e-9)), 20))
        done = plain
        while done < most - 4 and error > _CLOSE:
            some = min(together, most - 4 - done)
            error = chain.scale(some, relaxation, stop)
            done += some
            self._done(each * some)
        chain.scale(4, 1.0, stop)

    # ---- the chain

    def begin(self) -> None:
        """Let replicas begin first in, first out, without pairs that are too many."""
        band = self.band
        start = self.chain.first_in_first_out()
        paired = np.flatnonzero(start >= 0)
        if band.pairs is not None and len(paired) > band.pairs:
            may = paired[self.unpaired[paired] > 0.0]
            surplus = len(paired) - band.pairs
            if len(may) >= surplus:
                start[may[np.linspace(0, len(may) - 1, surplus).round().astype(np.int64)]] = -1
        alone = start < 0
        left = band.columns - int((~alone).sum())
        short = band.pairs is not None and int((~alone).sum()) != band.pairs
        if short or (band.unpaired[alone] == 0.0).any() or (left and band.cover == 0.0):
            raise _unexplained()
        looked = range(0, band.rows, max(1, band.rows // 300))
        self.chain.begin(np.zeros(band.rows, dtype=np.int32), start, self.seed)
        asked = [float(self.chain.rows(k, k + 1).shannon[0]) for k in looked]
        degrees = np.maximum(band.last - band.first, 1)
        share = float((np.exp2(asked) / degrees[list(looked)]).mean())
        share *= min(band.rows / max(band.columns, 1), 1.0)
        reach = np.maximum(np.round(share * degrees / 2), 1.0).astype(np.int32)
        self.chain.begin(reach, start, self.seed)
        self._weigh(math.inf)

    def _weigh(self, added: float) -> tuple[Floats, float]:
        """Add exp(-added) in the units of the scaling; the shares that this is of both weights."""
        little = math.exp(-added)
        rows = little / self.chain.scaling.rows()
        column = little / float(np.exp(np.log(self.chain.scaling.columns()).mean()))
        with np.errstate(divide="ignore"):
            unpaired = np.log(self.unpaired + rows)
            cover = float(np.log(self.band.cover + column))
        self.chain.set_weights(unpaired, cover)
        return rows / np.maximum(self.unpaired + rows, 1e-300), (
            column / (self.band.cover + column) if column else 0.0
        )

    def _swept(self, sweeps: int, shares: Floats, cover: float) -> LinkSums:
        """Means over sweeps, in calls to be cancelled."""
        each = _sweep_seconds(self.band) * self.band.rows
        together = max(1, round(0.1 / each))
        sums = np.zeros((len(LinkSums._fields), LINK_CHAIN_LANES))
        for begin in range(0, sweeps, together):
            some = min(together, sweeps - begin)
            sums += self.chain.sweep(
                some, shares, cover, **self._exactly, cancel=self.effort.stop.byte
            )
            self._done(each * some)
        return LinkSums(*(sums / max(sweeps, 1)))

    @property
    def _exactly(self) -> dict[str, int]:
        """Numbers that are told, for the chain."""
        numbers = {"pairs": self.band.counted, "lost": self.band.lost}
        return {name: -1 if number is None else number for name, number in numbers.items()}

    def _numbers(self, sums: LinkSums) -> tuple[Floats, Floats]:
        """Means of what is told, by replica, and the covariances of it."""
        # Rows that are lost and that are inside, from pairs and lost ones.
        moments = np.array([sums.lost, self.band.rows - sums.pairs - sums.lost])
        lost, pairs = sums.lost.mean(), sums.pairs.mean()
        own = sums.lost_squares.mean() - lost**2
        both = sums.products.mean() - lost * pairs
        paired = sums.squares.mean() - pairs**2
        covariance = np.array([[own, -own - both], [-own - both, own + 2 * both + paired]])
        parts = {"lost": [1.0, 0.0], "inside": [0.0, 1.0], "alone": [1.0, 1.0]}
        picked = np.array([parts[name] for name in self.band.told])
        return picked @ moments, picked @ covariance @ picked.T

    def settle(self) -> None:
        """Sweeps until replicas have followed the weights."""
        self._swept(self.plan.settle, np.zeros(0), 0.0)

    def tune(self) -> _Number:
        """Make numbers that are told the expected ones, and tell how likely they are then."""
        nothing = np.zeros(0)
        if self.band.lost is not None:
            self.chain.set_losses(self.losses)
        sweeps = max(self.plan.settle, 40)
        for attempt in range(_ROUNDS):
            self._swept(sweeps // 4, nothing, 0.0)
            sums = self._swept(sweeps, nothing, 0.0)
            means, covariance = self._numbers(sums)
            covariance += 1e-3 * np.eye(len(means))
            off = self.band.goals - means.mean(axis=1)
            near = bool((np.abs(off) < 0.3 * np.sqrt(np.diag(covariance))).all())
            if attempt == _ROUNDS - 1 or near:
                break
            self._tilt(self.tilts + np.clip(np.linalg.solve(covariance, off), -1.0, 1.0))
            self._balance(max(self.plan.steps // 8, 10))
            self._weigh(math.inf)
            if self.band.lost is not None:
                self.chain.set_losses(self.losses)
        self._limit(sums)
        self._swept(sweeps // 2, nothing, 0.0)
        return _probability_of(means, covariance, off, sums.hits)

    def _limit(self, sums: LinkSums) -> None:
        """Let replicas stay near to the told numbers: others do not count."""
        goal = self.band.counted
        if goal is not None:
            self.chain.set_limits(max(goal - 1, 0), goal + 1)
            return
        rows, pairs, lost = self.band.rows, sums.pairs.mean(), sums.lost.mean()
        variance = (
            sums.squares.mean()
            + sums.lost_squares.mean()
            + 2.0 * sums.products.mean()
            - (pairs + lost) ** 2
        )
        # So many lost, and as many inside as there may be.
        reach = _FAR_FROM_MEAN * math.sqrt(max(variance, 0.0)) + 2.0
        middle = pairs + lost - (self.band.lost or 0)
        self.chain.set_limits(
            max(math.floor(middle - reach), 0), min(math.ceil(middle + reach), rows)
        )

    def release(self) -> None:
        self.chain.set_limits()
        self.chain.set_losses(np.zeros(0))

    def sample(self, counted: Bools) -> LinkRecord:
        """Sums over samples of log weights and of logs of shares of the counted rows."""
        alone = self.chain.scaling.alone()
        rows = np.log(self.chain.scaling.rows()) - np.log(np.maximum(1.0 - alone, 1e-300))
        columns = np.log(self.chain.scaling.columns())
        rows[~counted] = math.nan
        self.chain.set_guesses(self.chain.likeliest())
        each = _THIN * _sweep_seconds(self.band) + _record_seconds(self.band)
        each *= self.band.rows
        together = max(1, round(0.1 / each))
        sums = np.zeros((4, LINK_CHAIN_LANES))
        for begin in range(0, self.plan.samples, together):
            some = min(together, self.plan.samples - begin)
            sums += self.chain.record(
                some, _THIN, rows, columns, **self._exactly, cancel=self.effort.stop.byte
            )
            self._done(each * some)
        return LinkRecord(*sums)

    def rise(self) -> list[tuple[float, _Node]]:
        """Nodes from where hardly anything is paired to the weights themselves."""
        step = self.plan.apart
        self._weigh(_FIRST - _FARTHER)
        self._swept(_PARTING, np.zeros(0), 0.0)
        added = _FIRST
        node = self._node(added)
        while node.pairs.mean() > _NOTHING * self._size + 0.005 and added > -_FARTHEST:
            added -= step
            node = self._node(added)
        nodes = [(added, node)]
        while True:  # up to where what is added does not matter any more
            added += step
            node = self._node(added)
            nodes.append((added, node))
            little = node.heights.mean() <= _NOTHING * self._size + 0.02
            if (added >= _LAST - step and little) or added >= _FARTHEST:
                break
        self._weigh(math.inf)
        return nodes

    def fall(self, risen: list[tuple[float, _Node]]) -> list[tuple[float, _Node]]:
        """The same nodes on the way back."""
        nodes = [(added, self._node(added)) for added, _ in reversed(risen)]
        self._weigh(math.inf)
        return nodes[::-1]

    def integral(
        self, risen: list[tuple[float, _Node]], fallen: list[tuple[float, _Node]]
    ) -> _Integral:
        """Log of the sum of weights in each replica, both ways, and what may be left out.

        Replicas lag behind what is added, in opposite directions both ways. They make pairs more
        slowly than they give them up: over logs of all laws, the truth is where the way up, on
        which they are made, counts for a little more than a third.
        """
        up, down = (self._summed([node for _, node in reversed(way)]) for way in (risen, fallen))
        last, first = float(risen[-1][1].heights.mean()), float(risen[0][1].pairs.mean())
        lag = abs(float(up.mean() - down.mean()))
        slack = 0.5 * last + first**2 + _LAG_LEFT * lag
        return _Integral(_UPWARD * up + (1.0 - _UPWARD) * down, slack)

    @property
    def _size(self) -> int:
        return self.band.rows + self.band.columns

    def _node(self, added: float) -> _Node:
        shares, cover = self._weigh(added)
        self._swept(self.plan.burn, np.zeros(0), 0.0)
        sums = self._swept(self.plan.sweeps, shares, cover)
        little = math.exp(-added)
        columns = float(np.exp(np.log(self.chain.scaling.columns()).mean()))
        alone = float(np.log(self.unpaired + little / self.chain.scaling.rows()).sum())
        alone += self.band.columns * math.log(self.band.cover + little / columns)
        return _Node(sums.shares, sums.pairs, alone)

    def _summed(self, nodes: list[_Node]) -> Floats:
        """By trapezoids, from the node at which least is added to that at which most is."""
        heights = np.array([node.heights for node in nodes])
        step = self.plan.apart
        inner = (heights.sum(axis=0) - (heights[0] + heights[-1]) / 2) * step
        # Beyond the last node it falls exponentially; the end of the trapezoids knows its slope.
        tail = heights[0] * (1.0 - step**2 / 12.0)
        return np.asarray(nodes[-1].alone + nodes[-1].pairs - inner - tail, dtype=np.float64)

    def figures(self, groups: Ints | None) -> LinkRows:
        """Of all rows, some in each call."""
        size = self.band.rows
        each = _ROW_SECONDS * max(self.band.entries, 1) / size
        together = max(1, round(0.1 / each))
        numbers = None if groups is None else groups.astype(np.int32)
        parts = []
        for begin in range(0, size, together):
            end = min(begin + together, size)
            parts.append(self.chain.rows(begin, end, numbers))
            self._done(each * (end - begin))
        return LinkRows(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in LinkRows._fields)
        )


def _estimate(
    job: _LinkJob,
    record: LinkRecord,
    integral: _Integral,
    number: _Number,
    counted: Bools,
    rows: LinkRows,
) -> LinksEstimate:
    band = job.band
    some = record.samples > 0
    off = job.plan.off * _LN2 * band.rows + number.slack + integral.slack
    logs = integral.logs + number.log_probability
    weights = record.weights[some] / record.samples[some]
    tilt = float(job.tilts @ band.goals)
    # Where hardly a replica had the told number of pairs, what they had is known less well.
    wider = math.sqrt(LINK_CHAIN_LANES / max(int(some.sum()), 2))
    entropy = replica_mean(logs, off) if wider == 1.0 else replica_mean(logs, 4 * off)
    mean = float(weights.mean())
    half = math.hypot(
        entropy.high - entropy.value,
        T_LANES * wider * float(weights.std(ddof=1)) / math.sqrt(len(weights)),
    )
    if wider == 1.0:  # one replica's error of both is less than two errors
        half = min(half, _half(replica_mean(logs - weights, off)))
    value = entropy.value - mean
    own, divergence = _mean_entropy(job, record, rows, counted)
    alone = _alone(job, record.samples)
    figures = _row_figures(job, rows, record.samples, alone, own, divergence, counted)
    return LinksEstimate(
        log_weight=_shifted(entropy, -tilt),
        entropy=Interval(value, value - half, value + half).clipped(0.0, math.inf),
        alone=alone,
        real=_real(job, record.samples),
        mean_shannon=own,
        collision=rows.collision,
        guess=rows.guess.astype(np.int64),
        allowed=rows.allowed.astype(np.int64),
        group_shannon=rows.group_shannon,
        group_largest=rows.group_largest * (1.0 - alone.value)
        if len(rows.group_largest)
        else rows.group_largest,
        group_guess=rows.group_guess.astype(np.int64),
        variance=number.variance,
        shannon=figures.shannon,
        probability=figures.probability,
        surest=figures.surest,
        lost=_lost(job, record.samples, alone),
        guessing=figures.guessing,
    )


def _half(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def _shifted(interval: Interval, by: float) -> Interval:
    return Interval(interval.value + by, interval.low + by, interval.high + by)


def _mean_entropy(
    job: _LinkJob, record: LinkRecord, rows: LinkRows, counted: Bools
) -> tuple[Interval, float]:
    """The mean entropy of rows given that they have a column; and the divergence of a row."""
    some = record.paired > 0
    departed = float(record.paired.sum() / max(record.samples.sum(), 1.0))
    if not some.any() or not departed > 0.0:
        return Interval(0.0, 0.0, 0.0), 0.0
    cross = -record.shares[some] / record.paired[some] / _LN2
    wider = math.sqrt(LINK_CHAIN_LANES / len(cross))
    error = T_LANES * wider * float(cross.std(ddof=1)) / math.sqrt(len(cross))
    apart = rows.distance[counted] / (2.0 * _LN2)
    groups = [part.sum() for part in np.array_split(apart, min(GROUPS, len(apart)))]
    scale = math.sqrt(len(groups)) / departed
    spread = T_GROUPS * float(np.std(groups, ddof=1)) * scale if len(groups) > 1 else 0.0
    mean = max(float(apart.sum()) / departed, 0.0)
    drawn = _NOISE / math.sqrt(float(record.samples.sum()) * len(apart))
    half = math.hypot(error, spread) + 0.25 * mean + _DIVERGENCE_OFF + drawn
    value = float(cross.mean()) - mean
    return Interval(value, value - half, value + half).clipped(0.0, math.inf), mean + spread


def _alone(job: _LinkJob, samples: Floats) -> Range:
    """Probability to have no column, where both are possible."""
    some = job.band.last > job.band.first
    return shrunk(
        np.clip(job.chain.scaling.alone(), 0.0, 1.0),
        job.chain.alone(),
        samples,
        some & (job.band.unpaired > 0.0),
        np.where(some, 0.0, 1.0),
    )


def _lost(job: _LinkJob, samples: Floats, alone: Range) -> Range | None:
    """Probability to be lost, where their number is told: given that, no row's is its own."""
    band = job.band
    if band.lost is None or band.staying is None:
        return None
    both = (band.staying > 0.0) & (band.unpaired > band.staying)
    never = band.unpaired <= band.staying
    # Who came long before the end is hardly inside: that is known far better than who is lost.
    inside = shrunk(
        np.clip(job.chain.scaling.alone(), 0.0, 1.0) * (1.0 - job.losses),
        job.chain.alone() - job.chain.lost(),
        samples,
        both,
        np.where(never, alone.value, 0.0),
    )
    value = np.clip(alone.value - inside.value, 0.0, 1.0)
    low, high = alone.low - inside.value, alone.high - inside.value
    half = np.maximum(inside.high - inside.low, alone.high - alone.low) / 2
    return Range(
        value,
        np.where(never, 0.0, np.clip(np.where(both, value - half, low), 0.0, 1.0)),
        np.where(never, 0.0, np.clip(np.where(both, value + half, high), 0.0, 1.0)),
    )


def _real(job: _LinkJob, samples: Floats) -> Range:
    covered = job.chain.scaling.columns() * job.band.cover
    reached = _reached(job.band)
    return shrunk(
        np.clip(1.0 - covered, 0.0, 1.0),
        job.chain.real(),
        samples,
        reached & (job.band.cover > 0.0),
        np.where(reached, 1.0, 0.0),
    )


def _reached(band: LinkBand) -> Bools:
    """Columns that some row may have."""
    change = np.zeros(band.columns + 1, dtype=np.int64)
    np.add.at(change, band.first, 1)
    np.add.at(change, band.last, -1)
    return np.cumsum(change)[:-1] > 0


class _RowFigures(NamedTuple):
    """Of rows: what is in a `LinksEstimate` under the same names."""

    shannon: Range
    probability: Range
    surest: Range
    guessing: Range


def _row_figures(
    job: _LinkJob,
    rows: LinkRows,
    samples: Floats,
    alone: Range,
    own: Interval,
    divergence: float,
    counted: Bools,
) -> _RowFigures:
    """Figures of rows by their shares, corrected by what the chain counted."""
    degrees = np.asarray(job.band.last - job.band.first, dtype=np.int64)
    departed = 1.0 - alone.value
    some = degrees > 0
    sure = degrees <= 1
    narrow = np.exp2(-rows.shannon)
    weights = np.where(counted, departed, 0.0)
    total = max(float(weights.sum()), 1e-300)
    offset = max(float(weights @ rows.shannon) / total - own.value, 0.0)
    scale = offset / max(float(weights @ narrow) / total, 1e-300)
    shift = np.minimum(scale * narrow, rows.shannon / 2)
    most = np.log2(np.maximum(degrees, 1))
    renyi = np.minimum(0.0 - np.log2(np.clip(rows.collision, 1e-300, 1.0)), most)
    uneven = np.sqrt(np.maximum(rows.shannon - renyi, 0.0) * 2.0 / _LN2)
    relative = math.sqrt(2.0 * _LN2 * divergence)
    slack = shift + _half(own) + 3.0 * divergence + 2.0 * relative * uneven
    slack = np.where(sure, 0.0, slack)
    shannon = np.clip(rows.shannon - shift, 0.0, most)
    share = rows.largest * (1.0 - np.clip(job.chain.scaling.alone(), 0.0, 1.0))
    best = shrunk(
        share,
        job.chain.guessed(),
        samples,
        some & ~(sure & (job.band.unpaired == 0.0)),
        np.where(some, departed, 0.0),
        largest=True,
    )
    # Both from the same samples: a quotient of two estimates would have the noise of both.
    paired = samples - job.chain.alone().astype(np.float64)
    given = shrunk(
        np.where(some, rows.largest, 1.0),
        job.chain.guessed(),
        paired,
        ~sure,
        np.ones(len(sure)),
        largest=True,
    )
    least = 1.0 / np.maximum(degrees, 1)
    given = Range(*(np.clip(part, least, 1.0) for part in given.parts), batches=given.batches)
    off = np.where(sure, 0.0, np.minimum(5.0 * relative, 0.9))
    guesses = np.maximum(rows.guessing, 1.0)
    return _RowFigures(
        shannon=Range(shannon, np.maximum(shannon - slack, 0.0), np.minimum(shannon + slack, most)),
        probability=Range(
            np.minimum(best.value, departed),
            best.low,
            np.minimum(best.high, 1.0 - alone.low),
            batches=best.batches,
        ),
        surest=given,
        guessing=Range(
            guesses,
            np.maximum(guesses * (1.0 - off), 1.0),
            np.maximum(np.minimum(guesses * (1.0 + off), (degrees + 1) / 2), guesses),
        ),
    )
