"""Work on a wide log with losses and cover: the scaling, the chain in replicas, the integral."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import (
    LINK_CHAIN_LANES,
    LINK_CHAIN_SAMPLES,
    LinkChain,
    LinkRecord,
    LinkRows,
    LinkSums,
    LinkTop,
)
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.counting.measures import deviations
from anonymatch.mixes.solvers.wide.bands import ChainWork, LinkBand, in_one_call, unexplained_links
from anonymatch.mixes.solvers.wide.tuning import WIDE
from anonymatch.running import T_LANES, Budget, Execution


class LinkPlan(NamedTuple):
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
        nodes = 2 * self.nodes * (self.burn + self.sweeps) + WIDE.link_parting
        return nodes + self.rounds * self.settle + WIDE.link_thin * self.samples

    def seconds(self, band: LinkBand) -> float:
        each = sweep_seconds(band)
        return band.rows * (
            each * self.sweeps_in_all() + record_seconds(band) * self.samples
        ) + band.entries * (
            WIDE.link_entry_seconds * self.steps
            + WIDE.link_row_seconds
            + 3 * WIDE.top_seconds
            + WIDE.link_setup_seconds
        )


def sweep_seconds(band: LinkBand) -> float:
    """Of a row."""
    if band.weights is None:
        return WIDE.sweep_seconds[False]
    return WIDE.sweep_seconds[True] + WIDE.link_farther_seconds * band.entries / max(band.rows, 1)


def record_seconds(band: LinkBand) -> float:
    """Of a row in a sample: counts come from as far as weights."""
    return WIDE.link_record_seconds + 2.0 * WIDE.link_farther_seconds * band.entries / max(
        band.rows, 1
    )


def planned_links(band: LinkBand, budget: Budget) -> LinkPlan:
    """As much as the budget allows, up to where more would hardly be seen."""
    allowed = WIDE.link_share * budget.seconds
    if not budget.chosen:
        allowed = min(allowed, max(WIDE.link_unasked, WIDE.link_unasked_each * band.rows))
    steps = allowed / 8 / (WIDE.link_entry_seconds * max(band.entries, 1))

    def plan(effort: float) -> LinkPlan:
        apart, off = (
            (WIDE.link_apart, WIDE.link_integral_off)
            if effort >= 1.0
            else (WIDE.link_far_apart, WIDE.link_far_off)
        )
        sweeps = max(round(WIDE.link_node_sweeps * effort * apart / WIDE.link_apart), 3)
        most = WIDE.link_burn if band.told else WIDE.link_settled
        return LinkPlan(
            steps=int(np.clip(steps, WIDE.least_steps, WIDE.link_steps)),
            nodes=1 + math.ceil((WIDE.last_added - WIDE.first_added) / apart),
            burn=max(sweeps // 3, min(6, sweeps)),
            sweeps=sweeps,
            rounds=WIDE.link_tuning if band.told else 1,
            settle=int(np.clip(most * effort * 4, WIDE.least_settled * most, most)),
            samples=int(np.clip(WIDE.link_samples * effort, 20, LINK_CHAIN_SAMPLES)),
            apart=apart,
            off=off,
        )

    low, high = 0.0, WIDE.link_most_effort
    if plan(high).seconds(band) <= allowed:
        return plan(high)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if plan(middle).seconds(band) <= allowed else (low, middle)
    return plan(low)


def _near(goal: float) -> float:
    """How far an expected number may be from what is told, before the chain corrects it."""
    return max(0.01, 0.03 * math.sqrt(goal))


class ToldNumber(NamedTuple):
    """Of what is told: the variance, and the log of the probability that it is what is told."""

    variance: float
    log_probability: float
    slack: float


def _probability_of(means: Floats, covariance: Floats, off: Floats, hits: Floats) -> ToldNumber:
    """How likely told numbers are that are off their means by so much; ``hits``: shares of sweeps.

    ``means`` are by number and replica.
    """
    variances = np.diag(covariance)
    share = float(hits.mean())
    if float(np.linalg.eigvalsh(covariance)[0]) >= WIDE.link_normal or share == 0.0:
        log = -0.5 * float(np.linalg.slogdet(2.0 * math.pi * covariance)[1])
        log -= 0.5 * float(off @ np.linalg.solve(covariance, off))
        errors = T_LANES * means.std(axis=1, ddof=1) / 4 / np.sqrt(variances)
        slack = float((0.5 / variances + errors).sum())
    else:
        log = math.log(share)
        slack = T_LANES * float(hits.std(ddof=1)) / 4 / share
    return ToldNumber(float(variances[0]), log, slack)


class _Node(NamedTuple):
    """Means in each replica where something is added to the weights of what is not paired.

    ``heights``: of the share of the weights that is added; ``pairs``: of their number; ``alone``:
    log weight of nothing being paired.
    """

    heights: Floats
    pairs: Floats
    alone: float


class LinkIntegral(NamedTuple):
    """Log of the sum of weights in each replica, and what all of them may be off by."""

    logs: Floats
    slack: float


class LinkComputation(ChainWork):
    """The work on one log, in calls short enough to be cancelled."""

    def __init__(
        self, band: LinkBand, plan: LinkPlan, seed: int, effort: Execution, counted: Bools
    ) -> None:
        self.band, self.plan, self.effort, self.seed = band, plan, effort, seed
        self.counted = counted  # rows that means of shares are about
        self.tilts = np.zeros(len(band.told))
        self.unpaired, self.losses = band.tilted(self.tilts)
        self.spread, self.noise = 0.0, 1.0  # of the scaling's shares, and of counts
        self.guesses: npt.NDArray[np.int32] = np.full(band.rows, -1, dtype=np.int32)
        self.tried = np.zeros(LINK_CHAIN_LANES)  # samples that count how often guesses are right
        self.tried_paired = np.zeros((band.rows, LINK_CHAIN_LANES))  # in which rows have a column
        first, last = (ends.astype(np.int32) for ends in (band.first, band.last))
        self.chain = LinkChain(first, last, band.weights, band.columns, band.unpaired, band.cover)
        seconds = plan.seconds(band)
        effort.expect(seconds)
        what = ("explanations of a wide log", band, plan, seed, counted)
        self.steps = effort.steps(what, self.chain, seconds=seconds, number=self._calls())

    def _calls(self) -> int:
        """About how many steps are recorded."""
        plan, swept = self.plan, in_one_call(self._sweep_seconds())
        nodes = math.ceil(plan.burn / swept) + math.ceil(plan.sweeps / swept)
        others = math.ceil(WIDE.link_parting / swept) + plan.rounds * math.ceil(plan.settle / swept)
        return (
            2 * plan.nodes * nodes
            + others
            + math.ceil(plan.samples / in_one_call(self._sample_seconds()))
        )

    def _sweep_seconds(self) -> float:
        return sweep_seconds(self.band) * self.band.rows

    def _sample_seconds(self) -> float:
        return (
            WIDE.link_thin * sweep_seconds(self.band) + record_seconds(self.band)
        ) * self.band.rows

    # ---- scaling

    def scale(self) -> None:
        """Factors of rows and columns; where pairs are counted, for rates that mean as many."""
        self._balance(self.plan.steps)
        goals = self.band.goals
        slopes = np.ones(len(goals))
        for _ in range(WIDE.link_scalings):
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
        plain = min(WIDE.plain_steps, most)
        before = chain.scale(plain // 2, 1.0, stop)
        error = chain.scale(plain - plain // 2, 1.0, stop)
        rate = (error / before) ** (1 / (plain - plain // 2)) if 0 < error < before else 0.5
        relaxation = min(2.0 / (1.0 + math.sqrt(1.0 - min(rate, 0.9999))), 1.97)
        each = WIDE.link_entry_seconds * self.band.entries
        together = max(1, min(round(0.1 / max(each, 1e-9)), 20))
        done = plain
        while done < most - 4 and error > WIDE.link_close:
            some = min(together, most - 4 - done)
            error = chain.scale(some, relaxation, stop)
            done += some
            self.done(each * some)
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
            raise unexplained_links()
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
        each, byte = self._sweep_seconds(), self.effort.stop.byte
        sums = np.zeros((len(LinkSums._fields), LINK_CHAIN_LANES))
        for begin, end in self.calls(sweeps, each):
            some = end - begin
            sweep = partial(self.chain.sweep, some, shares, cover, **self._exactly, cancel=byte)
            sums += self.steps.step(sweep, each * some)
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

    def tune(self) -> ToldNumber:
        """Make numbers that are told the expected ones, and tell how likely they are then."""
        nothing = np.zeros(0)
        if self.band.lost is not None:
            self.chain.set_losses(self.losses)
        sweeps = max(self.plan.settle, 40)
        for attempt in range(WIDE.link_rounds):
            self._swept(sweeps // 4, nothing, 0.0)
            sums = self._swept(sweeps, nothing, 0.0)
            means, covariance = self._numbers(sums)
            covariance += 1e-3 * np.eye(len(means))
            off = self.band.goals - means.mean(axis=1)
            near = bool((np.abs(off) < 0.3 * np.sqrt(np.diag(covariance))).all())
            if attempt == WIDE.link_rounds - 1 or near:
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
        reach = WIDE.far_from_mean * math.sqrt(max(variance, 0.0)) + 2.0
        middle = pairs + lost - (self.band.lost or 0)
        self.chain.set_limits(
            max(math.floor(middle - reach), 0), min(math.ceil(middle + reach), rows)
        )

    def release(self) -> None:
        self.chain.set_limits()
        self.chain.set_losses(np.zeros(0))

    def sample(self) -> LinkRecord:
        """Sums over samples of log weights and of logs of shares of the counted rows.

        Guesses are chosen by the first half of the samples. The second half counts how often each
        is right, which has no bias: the samples that chose a guess say too much for it.
        """
        alone = self.chain.scaling.alone()
        rows = np.log(self.chain.scaling.rows()) - np.log(np.maximum(1.0 - alone, 1e-300))
        columns = np.log(self.chain.scaling.columns())
        rows[~self.counted] = math.nan
        by_shares = self._top(0.0, 1.0)
        self.chain.set_guesses(by_shares.guess)
        first = self._recorded(self.plan.samples // 2, rows, columns)
        choose = partial(self._choose, by_shares.largest, first.samples)
        self.guesses, self.spread, self.noise, before = self.steps.step(choose, 0.0)
        self.chain.set_guesses(self.guesses)
        second = self._recorded(self.plan.samples - self.plan.samples // 2, rows, columns)
        after = self.steps.step(self.chain.alone, 0.0).astype(np.float64)
        self.tried = second.samples
        self.tried_paired = second.samples - (after - before)
        return LinkRecord(*(np.add(*parts) for parts in zip(first, second, strict=True)))

    def _choose(
        self, largest: Floats, samples: Floats
    ) -> tuple[npt.NDArray[np.int32], float, float, npt.NDArray[np.uint16]]:
        """Guesses by the samples so far, the deviations of both, and how often rows were alone."""
        alone = self.chain.alone()
        open_ = self.band.last - self.band.first > 1
        paired = samples - alone.astype(np.float64)
        spread, noise = deviations(largest, self.chain.guessed(), paired, open_)
        return self._top(spread, noise).guess, spread, noise, alone

    def top(self) -> LinkTop:
        """The likeliest columns by all samples, and how likely another one may be."""
        return self._top(self.spread, self.noise)

    def _top(self, spread: float, noise: float) -> LinkTop:
        size = self.band.rows
        each = WIDE.top_seconds * max(self.band.entries, 1) / size
        parts = [
            self.chain.top(begin, end, spread, noise, WIDE.top_errors)
            for begin, end in self.calls(size, each)
        ]
        return LinkTop(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _recorded(self, samples: int, rows: Floats, columns: Floats) -> LinkRecord:
        each, byte = self._sample_seconds(), self.effort.stop.byte
        sums = np.zeros((4, LINK_CHAIN_LANES))
        for begin, end in self.calls(samples, each):
            some = end - begin
            record = partial(
                self.chain.record, some, WIDE.link_thin, rows, columns, **self._exactly, cancel=byte
            )
            sums += self.steps.step(record, each * some)
        return LinkRecord(*sums)

    def rise(self) -> list[tuple[float, _Node]]:
        """Nodes from where hardly anything is paired to the weights themselves."""
        step = self.plan.apart
        self._weigh(WIDE.first_added - WIDE.link_farther)
        self._swept(WIDE.link_parting, np.zeros(0), 0.0)
        added = WIDE.first_added
        node = self._node(added)
        while (
            node.pairs.mean() > WIDE.link_nothing * self._size + 0.005
            and added > -WIDE.link_farthest
        ):
            added -= step
            node = self._node(added)
        nodes = [(added, node)]
        while True:  # up to where what is added does not matter any more
            added += step
            node = self._node(added)
            nodes.append((added, node))
            little = node.heights.mean() <= WIDE.link_nothing * self._size + 0.02
            if (added >= WIDE.last_added - step and little) or added >= WIDE.link_farthest:
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
    ) -> LinkIntegral:
        """Log of the sum of weights in each replica, both ways, and what may be left out.

        Replicas lag behind what is added, in opposite directions both ways. They make pairs more
        slowly than they give them up: over logs of all laws, the truth is where the way up, on
        which they are made, counts for a little more than a third.
        """
        up, down = (self._summed([node for _, node in reversed(way)]) for way in (risen, fallen))
        last, first = float(risen[-1][1].heights.mean()), float(risen[0][1].pairs.mean())
        lag = abs(float(up.mean() - down.mean()))
        slack = 0.5 * last + first**2 + WIDE.link_lag_left * lag
        return LinkIntegral(WIDE.link_upward * up + (1.0 - WIDE.link_upward) * down, slack)

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
        each = WIDE.link_row_seconds * max(self.band.entries, 1) / size
        numbers = None if groups is None else groups.astype(np.int32)
        parts = [self.chain.rows(begin, end, numbers) for begin, end in self.calls(size, each)]
        return LinkRows(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in LinkRows._fields)
        )
