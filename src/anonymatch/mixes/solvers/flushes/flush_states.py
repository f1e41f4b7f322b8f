"""The chain behind a log of a flush mix: how many are inside is all that is hidden.

From flush to flush, messages come in and may be lost, some of those inside leave, and cover traffic
leaves with them. Given how many are inside, all of them are alike. So probabilities follow from a
chain over that number: forward over the log, and backward, where each flush adds the probability of
a message inside to leave with it. Those are of low rank, and are kept so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.solvers.flushes.flush_rule import BY_MESSAGE, FlushRounds, FlushRule
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES

CUT = 1e-18  # of the probability so far, below which a number inside is not followed

Row: TypeAlias = Callable[[int, int, Floats, float, float], None]
"""Takes round, kind (1 for the message that set off its flush), probabilities to leave with each
flush from the round on, to be inside at the end, and to be lost."""


class ImpossibleFlushError(Exception):
    """No explanation reaches this flush; ``least`` to ``most`` may be inside before it."""

    def __init__(self, flush: int, least: int, most: int) -> None:
        super().__init__(flush, least, most)
        self.flush, self.least, self.most = flush, least, most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlushModel:
    """A log by its flushes, and what may have happened."""

    rule: FlushRule
    rounds: FlushRounds
    loss: float
    # Cover messages on average: that leave with each flush, or that come in before it and, the last
    # entry, after the last one.
    means: Floats
    # Whether the number that is followed has cover traffic in it, which is held back like mail.
    totals: bool = False
    # So many in all, where that is known.
    lost: int | None = None
    cover: int | None = None
    drained: bool = False

    @property
    def counted(self) -> bool:
        return self.lost is not None or self.cover is not None


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Numbers inside; and, where numbers are told, how many were lost so far."""

    inside: Ints
    lost: Ints | None

    def __len__(self) -> int:
        return len(self.inside)

    def only(self, which: npt.NDArray[np.bool_]) -> States:
        return States(self.inside[which], None if self.lost is None else self.lost[which])


@dataclass(slots=True, eq=False)
class Pass:
    """The forward pass: states before messages come in and before each flush, with log weights.

    ``log_evidence`` is that of each round, given those before; the last is of the end of the log.
    """

    before: list[States] = field(default_factory=list)
    filled: list[States] = field(default_factory=list)
    logs: list[Floats] = field(default_factory=list)
    near_cut: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    log_evidence: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def cells(self) -> int:
        """Entries of all transitions."""
        after = [*map(len, self.before[1:]), 1]
        return sum(
            len(b) * len(f) + len(f) * a
            for b, f, a in zip(self.before, self.filled, after, strict=True)
        )


def log_factorials(number: int) -> Floats:
    """Natural logs of the factorials from 0 to a number."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(number + 1) + 1.0))


class Transitions:
    """Weights of what happens between two numbers inside, as natural logs."""

    def __init__(self, model: FlushModel) -> None:
        self.model = model
        rounds = model.rounds
        self._wide = _widest_cover(model) if model.totals else 0
        size = int(rounds.entered.sum()) + (rounds.number + 1) * self._wide
        size = max(size, int(rounds.left.max(initial=0))) + 2
        self.factorials = log_factorials(size)
        self._log_loss = math.log(model.loss) if model.loss > 0 else FLUSHES.state_never
        self._log_kept = math.log1p(-model.loss)

    def entering(self, at: int) -> tuple[Floats, Floats]:
        """Log weight of so many more inside, from 0 on; and the share of the messages that stay.

        The share is that of messages other than the one that set off the flush.
        """
        model, rounds = self.model, self.model.rounds
        number = int(rounds.entered[at])
        sure = int(at < rounds.number and rounds.trigger[at] == BY_MESSAGE and number > 0)
        survivors = np.arange(number + 1)
        logs = np.full(number + 1, -math.inf)
        free = number - sure
        logs[sure:] = self.choose(free, survivors[: free + 1])
        logs += survivors * self._log_kept + (number - survivors) * self._log_loss
        logs[logs < FLUSHES.state_never / 2] = -math.inf
        share = np.maximum(survivors - sure, 0) / max(free, 1)
        if not model.totals:
            return logs, share
        cover = self._poisson(self._wide, float(model.means[at]))
        weights, pois = np.exp(logs), np.exp(cover)
        both = np.convolve(weights, pois)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.convolve(weights * share, pois) / both
            return np.log(both), np.where(both > 0, mean, 0.0)

    def enter(self, states: States, at: int, logs: Floats) -> States:
        """States after messages came in, those of positive weight."""
        more = np.flatnonzero(logs > -math.inf)
        if states.lost is None:
            low, high = int(states.inside.min()), int(states.inside.max())
            return States(np.arange(low + int(more[0]), high + int(more[-1]) + 1), None)
        gone = int(self.model.rounds.entered[at]) - more
        return _distinct(states.inside[:, None] + more, states.lost[:, None] + gone)

    def enter_logs(self, states: States, after: States, at: int, logs: Floats) -> Floats:
        more = after.inside[None, :] - states.inside[:, None]
        weights = _gather(logs, more)
        if states.lost is not None and after.lost is not None:
            gone = after.lost[None, :] - states.lost[:, None]
            weights[gone != int(self.model.rounds.entered[at]) - more] = -math.inf
        return weights

    def flush(self, states: States, at: int) -> States:
        """States after a flush that has some weight from one of these states."""
        model, left = self.model, int(self.model.rounds.left[at])
        inside, rule = states.inside, model.rule
        if rule.share is None and not model.totals:
            stay = inside if model.rounds.batches[at] == 0 else rule.stays(inside)
            return _distinct(stay, states.lost)
        fixed = model.totals or model.means[at] == 0
        leaving = np.arange(left if fixed else 0, left + 1)
        if states.lost is None:
            low, high = int(inside.min()) - left, int(inside.max()) - int(leaving[0])
            return States(np.arange(max(0, low), max(0, high) + 1), None)
        after = inside[:, None] - leaving
        gone = np.broadcast_to(states.lost[:, None], after.shape)
        return _distinct(after[after >= 0], gone[after >= 0])

    def flush_logs(self, states: States, after: States, at: int) -> Floats:
        model, left = self.model, int(self.model.rounds.left[at])
        inside, stay = states.inside, after.inside
        leaving = inside[:, None] - stay[None, :]
        if model.totals:
            visible = np.full(left + 1, -math.inf)
            visible[left] = 0.0
        else:
            visible = self._poisson(left, float(model.means[at]))[::-1]
        if model.rule.share is None:
            weights = _gather(visible, leaving)
            weights[stay[None, :] != self._kept(inside, at)[:, None]] = -math.inf
        else:
            probability = model.rule.leave(inside)
            with np.errstate(divide="ignore"):
                go = np.maximum(np.log(probability), FLUSHES.state_never)
                wait = np.maximum(np.log1p(-probability), FLUSHES.state_never)
            weights = _gather(visible - self.factorials[: left + 1], leaving)
            weights += leaving * go[:, None] + stay[None, :] * wait[:, None]
            weights += self.factorials[inside][:, None] - self.factorials[stay][None, :]
            weights[weights < FLUSHES.state_never / 2] = -math.inf
        if states.lost is not None and after.lost is not None:
            weights[states.lost[:, None] != after.lost[None, :]] = -math.inf
        return weights

    def ends(self, states: States) -> Floats:
        """Log weight of the end of the log in each state."""
        model, rule = self.model, self.model.rule
        inside = states.inside
        logs = np.zeros(len(states))
        if rule.batch is not None:
            logs[inside >= rule.batch + rule.kept] = -math.inf  # one more flush would have come
        if model.drained:
            logs[inside > 0] = -math.inf
        if states.lost is not None:
            entered, left = int(model.rounds.entered.sum()), int(model.rounds.left.sum())
            if model.lost is not None:
                logs[states.lost != model.lost] = -math.inf
            if model.cover is not None:
                logs[left - (entered - states.lost - inside) != model.cover] = -math.inf
        return logs

    def choices(self, at: int, leaving: Ints, inside: Ints) -> Floats:
        """Log of in how many ways so many of those inside leave: who, as which message out."""
        left = int(self.model.rounds.left[at])
        table = self.factorials
        leaving = np.clip(leaving, 0, np.minimum(left, inside))
        logs = table[left] - table[leaving] - table[left - leaving]
        return np.asarray(logs + table[inside] - table[inside - leaving])

    def _kept(self, inside: Ints, at: int) -> Ints:
        """How many stay; -1 where a mix that waits for a number has not so many at a flush."""
        rule = self.model.rule
        if rule.batch is None:
            return rule.stays(inside)
        over = inside - rule.kept
        if self.model.rounds.batches[at] == 0:
            return np.where(over < rule.batch, inside, -1)
        most = rule.batch * int(self.model.rounds.batches[at])
        full = (over >= rule.batch) & (over <= most) & (over % rule.batch == 0)
        return np.where(full, rule.kept, -1)

    def choose(self, number: int, some: Ints) -> Floats:
        table = self.factorials
        return np.asarray(table[number] - table[some] - table[number - some])

    def _poisson(self, most: int, mean: float) -> Floats:
        numbers = np.arange(most + 1)
        log = math.log(mean) if mean > 0 else FLUSHES.state_never
        logs = numbers * log - mean - self.factorials[: most + 1]
        logs[logs < FLUSHES.state_never / 2] = -math.inf
        return np.asarray(logs)


def forward(model: FlushModel, cut: float = CUT) -> Pass:
    """Over the log: states that stay possible, and the evidence; an error if none does."""
    try:
        return _forward(model, cut)
    except ImpossibleFlushError:
        if cut == 0.0:
            raise
    return _forward(model, 0.0)  # what was cut may be what came


def _forward(model: FlushModel, cut: float) -> Pass:
    steps = Transitions(model)
    rounds = model.rounds
    start = np.zeros(1, dtype=np.int64)
    states, logs = States(start, start if model.counted else None), np.zeros(1)
    result = Pass(log_evidence=np.zeros(rounds.number + 1))
    least = math.log(cut) if cut > 0 else -math.inf
    for at in range(rounds.number + 1):
        weights, _ = steps.entering(at)
        filled = steps.enter(states, at, weights)
        reached = _log_sum(logs[:, None] + steps.enter_logs(states, filled, at, weights), 0)
        result.before.append(states)
        result.logs.append(logs)
        if at == rounds.number:
            ended = reached + steps.ends(filled)
            size = ended.max(initial=-math.inf)
            if size == -math.inf:
                raise ImpossibleFlushError(at, *_ends_of(filled, reached))
            retained = ended > size + least
            result.filled.append(filled.only(retained))
            result.near_cut.append(ended[retained] < size + least + math.log(FLUSHES.state_edge))
            result.log_evidence[at] = float(_log_sum(ended, 0))
            break
        after = steps.flush(filled, at)
        moves = reached[:, None] + steps.flush_logs(filled, after, at)
        size = moves.max(initial=-math.inf)
        if size == -math.inf:
            raise ImpossibleFlushError(at, *_ends_of(filled, reached))
        rows, columns = _both_sums(moves, float(size), precise=cut == 0.0)
        retained, stay = rows > rows.max() + least, columns > columns.max() + least
        result.filled.append(filled.only(retained))
        result.near_cut.append(rows[retained] < rows.max() + least + math.log(FLUSHES.state_edge))
        total = float(_log_sum(columns, 0))
        result.log_evidence[at] = total
        states, logs = after.only(stay), columns[stay] - total
    return result


class Lanes:
    """Probabilities of a message inside to leave with each flush to come, by number inside.

    Columns of fresh flushes are kept as they are. Those of others are ``basis @ weights``, of low
    rank; rows of ``weights`` are orthonormal.
    """

    def __init__(self, states: int) -> None:
        self.inside = np.ones(states)
        self.fresh = np.empty((states, 0))
        self.basis = np.empty((states, 0))
        self.weights = np.empty((0, 0))
        self.reductions = 0

    def move(self, matrix: Floats) -> None:
        """To states before a step, of which each row gives the probabilities to stay inside."""
        self.inside = matrix @ self.inside
        self.fresh = matrix @ self.fresh
        if self.basis.shape[1]:
            self.basis = matrix @ self.basis
        else:
            self.basis = np.empty((len(matrix), 0))

    def add(self, column: Floats) -> None:
        """The probabilities to leave with the flush that comes first."""
        self.fresh = np.concatenate((column[:, None], self.fresh), axis=1)

    def reduce(self, posterior: Floats) -> None:
        """Fewer columns, within a small error in the mean square over the states."""
        if self.fresh.shape[1] < FLUSHES.state_fresh:
            return
        number = self.fresh.shape[1]
        columns = np.concatenate((self.fresh, self.basis), axis=1)
        _, sizes, turned = np.linalg.svd(np.sqrt(posterior)[:, None] * columns, full_matrices=False)
        rank = max(1, int(np.count_nonzero(sizes > FLUSHES.state_rank)))
        turned = turned[:rank]
        self.basis = columns @ turned.T
        self.weights = np.concatenate((turned[:, :number], turned[:, number:] @ self.weights), 1)
        sizes_left = np.sqrt(((sizes[:rank, None] * self.weights) ** 2).sum(axis=0))
        far = np.flatnonzero(sizes_left > FLUSHES.state_far)
        self.weights = self.weights[:, : int(far[-1]) + 1 if len(far) else 0]
        self.fresh = np.empty((len(columns), 0))
        self.reductions += 1

    def row(self, states: Floats) -> Floats:
        """Probabilities to leave with each flush, from those of the states."""
        near = states @ self.fresh
        if not self.basis.shape[1]:
            return np.asarray(near)
        return np.concatenate((near, np.maximum((states @ self.basis) @ self.weights, 0.0)))


@dataclass(slots=True, eq=False)
class Backward:
    """What the backward pass finds beside rows."""

    entropy: Floats  # of explanations, round by round, in nats
    # Expected numbers of messages lost, and of cover messages.
    lost: float = 0.0
    cover: float = 0.0
    cut: float = 0.0  # how much of any probability was not followed


def backward(model: FlushModel, passed: Pass, row: Row) -> Backward:
    """Back over the log: calls ``row`` for the messages of each round, the last round first."""
    steps, rounds = Transitions(model), model.rounds
    result = Backward(np.zeros(rounds.number + 1))
    filled = passed.filled[-1]
    to_come = steps.ends(filled)
    lanes = Lanes(len(filled))
    for at in range(rounds.number, -1, -1):
        filled, before = passed.filled[at], passed.before[at]
        moved = None
        if at < rounds.number:
            after = passed.before[at + 1]
            weights = steps.flush_logs(filled, after, at) + to_come[None, :]
            to_come, moved = _conditional(weights)
            leaving = filled.inside[:, None] - after.inside[None, :]
            shares = np.clip(leaving, 0, None) / np.maximum(filled.inside, 1)[:, None]
            lanes.move(moved * (1.0 - shares))
            lanes.add((moved * shares).sum(axis=1))
        entering, share = steps.entering(at)
        weights = steps.enter_logs(before, filled, at, entering) + to_come[None, :]
        to_come, came = _conditional(weights)
        logs = passed.logs[at] + to_come
        posterior = np.exp(logs - logs.max())
        posterior /= posterior.sum()
        both = posterior[:, None] * came
        here = both.sum(axis=0)
        result.cut += float(here[passed.near_cut[at]].sum())
        more = filled.inside[None, :] - before.inside[:, None]
        stays = both * _gather(share, more, 0.0)
        _rows(model, lanes, at, stays.sum(axis=0), here, row)
        result.lost += rounds.entered[at] * float(both.sum() - stays.sum())
        if not model.totals:
            result.entropy[at] += _entropy(both, came)
            sure = int(at < rounds.number and rounds.trigger[at] == BY_MESSAGE)
            free = int(rounds.entered[at]) - sure
            if free > 0:
                chosen = np.clip(more - sure, 0, free)
                result.entropy[at] += float((both * steps.choose(free, chosen)).sum())
            if moved is not None:
                left = here[:, None] * moved
                result.entropy[at] += _entropy(left, moved)
                inside = np.broadcast_to(filled.inside[:, None], left.shape)
                result.entropy[at] += float((left * steps.choices(at, leaving, inside)).sum())
                result.cover += rounds.left[at] - float((left * leaving).sum())
        lanes.move(came)
        lanes.reduce(posterior)
    result.cut += lanes.reductions * FLUSHES.state_rank
    return result


def _rows(model: FlushModel, lanes: Lanes, at: int, stays: Floats, here: Floats, row: Row) -> None:
    number = int(model.rounds.entered[at])
    set_off = at < model.rounds.number and model.rounds.trigger[at] == BY_MESSAGE
    if number > int(set_off):
        lost = max(0.0, float(here.sum() - stays.sum()))
        row(at, 0, lanes.row(stays), float(stays @ lanes.inside), lost)
    if number and set_off:
        row(at, 1, lanes.row(here), float(here @ lanes.inside), 0.0)


def _conditional(weights: Floats) -> tuple[Floats, Floats]:
    """Log sums of rows, and rows divided by their sums; 0 where nothing is possible."""
    size = weights.max(axis=1)
    fine = np.where(size == -math.inf, 0.0, size)
    scaled = np.exp(weights - fine[:, None])
    sums = scaled.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(sums) + fine
    return logs, scaled / np.where(sums > 0, sums, 1.0)[:, None]


def _entropy(joint: Floats, conditional: Floats) -> float:
    """Of a step given where it starts, on average, in nats."""
    some = conditional > 0
    return -float((joint[some] * np.log(conditional[some])).sum())


def _log_sum(logs: Floats, axis: int) -> Floats:
    size = logs.max(axis=axis, keepdims=True)
    size = np.where(size == -math.inf, 0.0, size)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - size).sum(axis=axis)) + size.squeeze(axis))


def _both_sums(logs: Floats, size: float, *, precise: bool) -> tuple[Floats, Floats]:
    """Log sums of rows and of columns; those far below ``size``, the largest, need precision."""
    if precise:
        return _log_sum(logs, 1), _log_sum(logs, 0)
    weights = np.exp(logs - size)
    with np.errstate(divide="ignore"):
        return np.log(weights.sum(axis=1)) + size, np.log(weights.sum(axis=0)) + size


def _gather(values: Floats, at: Ints, otherwise: float = -math.inf) -> Floats:
    """Values at these places, and another where there is none."""
    padded = np.concatenate((values, [otherwise]))
    return padded[np.where((at >= 0) & (at < len(values)), at, len(values))]


def _distinct(inside: Ints, lost: Ints | None) -> States:
    if lost is None:
        return States(np.unique(inside), None)
    pairs = np.unique(np.stack((inside.ravel(), lost.ravel())), axis=1)
    return States(pairs[0], pairs[1])


def _ends_of(states: States, logs: Floats) -> tuple[int, int]:
    possible = states.inside[logs > -math.inf]
    return int(possible.min(initial=2**62)), int(possible.max(initial=-1))


def _widest_cover(model: FlushModel) -> int:
    """So many cover messages may come in between two flushes, but for a negligible probability."""
    mean = float(model.means.max())
    likely = mean + 12 * math.sqrt(mean) + 60
    return math.ceil(likely) + int(model.rounds.left.max(initial=0))
