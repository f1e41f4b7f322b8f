"""A flush mix without losses and cover: how many are inside is known, so all follows from numbers.

Of n inside s leave, drawn uniformly: whatever made them s (a batch, a clock, coins that nobody
sees). So a message leaves now with probability s/n, and is then one of s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonymatch._native import FlushStay, flush_stay
from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.solvers.flushes.flush_rule import BY_COVER, BY_MESSAGE
from anonymatch.mixes.solvers.flushes.flush_states import (
    Backward,
    FlushModel,
    ImpossibleFlushError,
    Lanes,
    Row,
    log_factorials,
)
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES


@dataclass(frozen=True, slots=True, eq=False)
class KnownNumbers:
    """What follows from numbers; evidence and entropy in nats, an entry a flush and the end."""

    inside: Ints
    left: Ints
    stay: FlushStay
    log_evidence: Floats
    entropy: Floats

    def allowed(self, least: float) -> Ints:
        """Departures that a message of each flush is with more than this probability."""
        n, s = self.inside.astype(np.float64), self.left
        with np.errstate(divide="ignore"):
            stays = np.log(np.maximum(n - s, 0.0)) - np.log(np.maximum(n, 1.0))
            each = -np.log(np.maximum(n, 1.0))
        stays[s == 0] = 0.0
        # Sums start anew where a mix is left empty: nobody stays beyond that.
        empty = np.flatnonzero(np.isneginf(stays))
        before = np.concatenate(([0.0], np.cumsum(np.where(np.isneginf(stays), 0.0, stays))[:-1]))
        key = np.minimum.accumulate(before + each) if len(n) else before
        limit = before + np.log(least)
        reach = np.searchsorted(-key, -limit, side="left")  # flushes before it are likely enough
        last = np.concatenate((empty, [len(n) - 1])) + 1
        until = last[np.searchsorted(empty, np.arange(len(n)), side="left")]
        totals = np.concatenate(([0], np.cumsum(s)))
        numbers = totals[np.minimum(reach, until)] - totals[: len(n)]
        return np.append(np.maximum(numbers, 0), 0)

    @property
    def longest(self) -> int:
        """Flushes that a message may stay for; more only round."""
        empty = np.flatnonzero(self.inside == self.left)
        borders = np.concatenate(([-1], empty, [len(self.inside)]))
        return int(np.diff(borders).max())


def known_numbers(model: FlushModel) -> KnownNumbers | None:
    """The numbers of a log in which nothing is hidden; None if something is, or nothing fits."""
    rounds, rule = model.rounds, model.rule
    hidden = model.loss > 0 or model.totals or model.counted or bool(model.means.any())
    if hidden or not rounds.number:
        return None
    came = np.cumsum(rounds.entered[:-1])
    left = rounds.left.astype(np.int64)
    inside = came - np.concatenate(([0], np.cumsum(left)[:-1]))
    evidence = np.zeros(rounds.number + 1)
    if (left > inside).any() or (model.drained and inside[-1] - left[-1] + rounds.entered[-1]):
        return None
    if rule.batch is not None:
        full = inside - left == rule.kept
        waits = (left == 0) & (inside < rule.batch + rule.kept)
        if not (full | waits).all() or not _whole_batches(model, left).all():
            return None
        if inside[-1] - left[-1] + rounds.entered[-1] >= rule.batch + rule.kept:
            return None
    elif rule.share is None:
        if (rule.stays(inside) != inside - left).any():
            return None
    else:
        evidence[:-1] = _coins(rule.leave(inside), inside, left)
        if np.isneginf(evidence).any():
            return None
    from scipy.special import gammaln

    entropy = np.zeros(rounds.number + 1)
    entropy[:-1] = gammaln(inside + 1.0) - gammaln(inside - left + 1.0)
    return KnownNumbers(inside, left, flush_stay(inside, left), evidence, entropy)


def _whole_batches(model: FlushModel, left: Ints) -> Ints:
    batch = model.rule.batch or 1
    return np.asarray((left % batch == 0) & (left <= batch * model.rounds.batches))


def _coins(leave: Floats, inside: Ints, left: Ints) -> Floats:
    """Log probability that so many of those inside leave, each by its coin."""
    from scipy.special import gammaln, xlog1py, xlogy

    n, s = inside.astype(np.float64), left.astype(np.float64)
    ways = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
    return np.asarray(ways + xlogy(s, leave) + xlog1py(n - s, -leave))


# ---- flush mixes with cover traffic in the pool, where what leaves tells how many were inside


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """Rounds up to one at whose flush the number inside is known; or to the end of the log."""

    # Rounds whose flush sent on nobody: no more than ``kept`` were inside at the last of them.
    waiting: range
    last: int  # the round after them
    start: int  # inside at the beginning
    total: int | None  # inside at the flush of the last round; None at the end of the log


@dataclass(frozen=True, slots=True, eq=False)
class _Entered:
    """The posterior of how many messages were not lost: of waiting rounds, and of the last one."""

    early: Ints
    late: Ints
    probability: Floats
    log_evidence: float


def known_totals(model: FlushModel, row: Row) -> tuple[Floats, Backward]:
    """Log evidence of each round, and entropies; calls ``row`` as the chain does."""
    rounds = model.rounds
    evidence = np.zeros(rounds.number + 1)
    result = Backward(np.zeros(rounds.number + 1))
    lost = np.zeros(rounds.number + 1)
    inside = np.zeros(rounds.number, dtype=np.int64)
    cover: Floats = np.ones(1)  # of each number of cover messages inside
    table = log_factorials(int(rounds.left.max(initial=0)) + model.rule.kept + 1)
    for stretch in _stretches(model):
        entered = _entered(model, stretch)
        evidence[stretch.last] = entered.log_evidence
        result.entropy[stretch.last] = _choices(model, stretch, entered)
        _set_lost(model, stretch, entered, lost)
        if stretch.total is None:
            continue
        inside[stretch.last] = stretch.total
        more = stretch.total - stretch.start - entered.early[:, None] - entered.late[None, :]
        new = np.bincount(np.maximum(more, 0).ravel(), entered.probability.ravel())
        cover = np.convolve(cover, new)[: stretch.total + 1]
        leaves = int(rounds.left[stretch.last])
        entropy, cover = _leave(cover, stretch.total, leaves, table)
        result.entropy[stretch.last] += entropy
    _pass_back(model, inside, lost, row)
    sure = np.zeros(rounds.number + 1)
    sure[:-1] = rounds.trigger == BY_MESSAGE
    result.lost = float((lost * (rounds.entered - sure)).sum())
    return evidence, result


def _stretches(model: FlushModel) -> list[_Stretch]:
    rounds, rule = model.rounds, model.rule
    stretches = []
    begin, start = 0, 0
    for at in range(rounds.number):
        left = int(rounds.left[at])
        if left == 0:
            continue
        if rule.batch is not None and not _full(left, rule.batch, int(rounds.batches[at])):
            raise ImpossibleFlushError(at, rule.batch + rule.kept, rule.batch + rule.kept)
        total = left + rule.kept
        stretches.append(_Stretch(waiting=range(begin, at), last=at, start=start, total=total))
        begin, start = at + 1, rule.kept
    end = rounds.number
    stretches.append(_Stretch(waiting=range(begin, end), last=end, start=start, total=None))
    return stretches


def _full(left: int, batch: int, most: int) -> bool:
    return left % batch == 0 and left <= batch * most


def _entered(model: FlushModel, stretch: _Stretch) -> _Entered:
    rounds, rule = model.rounds, model.rule
    waiting, last = stretch.waiting, stretch.last
    trigger = int(rounds.trigger[last]) if stretch.total is not None else 0
    sure = int(trigger == BY_MESSAGE)
    early, early_logs = _survivors(int(rounds.entered[_part(waiting)].sum()), model.loss, 0)
    late, late_logs = _survivors(int(rounds.entered[last]), model.loss, sure)
    logs = early_logs[:, None] + late_logs[None, :]
    before, then = float(model.means[_part(waiting)].sum()), float(model.means[last])
    if stretch.total is None:
        logs = logs + _at_the_end(model, stretch, early, late)
    else:
        cover = stretch.total - stretch.start - early[:, None] - late[None, :]
        logs = logs + _poisson(cover - int(trigger == BY_COVER), before + then)
        if trigger == BY_COVER:
            span = float(rounds.spans[last])
            logs = logs + (math.log(then / span) if then > 0 and span > 0 else -math.inf)
        if len(waiting):
            room = np.minimum(rule.kept - stretch.start - early[:, None], cover)
            logs = logs + _log_binomial(room, cover, before / (before + then))
    size = float(logs.max())
    if size == -math.inf:
        raise ImpossibleFlushError(
            last, stretch.start, stretch.start + int(late[-1]) + int(early[-1])
        )
    weights = np.exp(logs - size)
    total = float(weights.sum())
    return _Entered(early, late, weights / total, size + math.log(total))


def _survivors(number: int, loss: float, sure: int) -> tuple[Ints, Floats]:
    """How many messages may not be lost, ``sure`` of them certainly not, and log probabilities."""
    if number < sure:
        return np.zeros(1, dtype=np.int64), np.full(1, -math.inf)
    if loss == 0:
        return np.array([number]), np.zeros(1)
    table = log_factorials(number)
    some = np.arange(number - sure + 1)
    chosen = table[number - sure] - table[some] - table[number - sure - some]
    logs = chosen + (some + sure) * math.log1p(-loss) + (number - sure - some) * math.log(loss)
    return some + sure, np.asarray(logs)


def _at_the_end(model: FlushModel, stretch: _Stretch, early: Ints, late: Ints) -> Floats:
    """Log probability that cover traffic left room for these messages until the log ends."""
    rule, waiting = model.rule, stretch.waiting
    before, then = float(model.means[_part(waiting)].sum()), float(model.means[stretch.last])
    most = 0 if model.drained else rule.kept
    logs = np.zeros((len(early), len(late)))
    with np.errstate(divide="ignore"):
        if len(waiting):
            logs += np.log(_at_most(most - stretch.start - early, before))[:, None]
        if rule.batch is not None:
            most = 0 if model.drained else rule.batch + rule.kept - 1
            logs += np.log(_at_most(most - stretch.start - late, then))[None, :]
    if model.drained:
        inside = stretch.start + early[:, None] + late[None, :]
        logs[inside > 0] = -math.inf
    return logs


def _part(of: range) -> slice:
    return slice(of.start, of.stop)


def _at_most(numbers: Ints, mean: float) -> Floats:
    """Probability of at most so many, by Poisson's law."""
    from scipy.special import pdtr

    return np.where(numbers < 0, 0.0, pdtr(np.maximum(numbers, 0), mean))


def _poisson(numbers: Ints, mean: float) -> Floats:
    from scipy.special import xlogy

    table = log_factorials(int(numbers.max(initial=0)))
    some = np.maximum(numbers, 0)
    return np.where(numbers < 0, -math.inf, xlogy(some, mean) - mean - table[some])


def _log_binomial(most: Ints, number: Ints, share: float) -> Floats:
    """Log probability that at most so many of a number are early, each with this probability."""
    from scipy.special import bdtr

    fits = bdtr(np.maximum(most, 0), np.maximum(number, 0), share)
    with np.errstate(divide="ignore"):
        return np.where(most < 0, -math.inf, np.log(fits))


def _choices(model: FlushModel, stretch: _Stretch, entered: _Entered) -> float:
    """Entropy in nats of which messages of the stretch were lost."""
    rounds = model.rounds
    sure = 0
    if stretch.total is not None:
        sure = int(rounds.trigger[stretch.last] == BY_MESSAGE)
    table = log_factorials(
        int(rounds.entered[_part(stretch.waiting)].sum() + rounds.entered[stretch.last])
    )
    some = entered.probability[entered.probability > 0]
    entropy = -float((some * np.log(some)).sum())
    early, late = entered.probability.sum(axis=1), entered.probability.sum(axis=0)
    for number, stay, weights in (
        (int(rounds.entered[_part(stretch.waiting)].sum()), entered.early, early),
        (int(rounds.entered[stretch.last]) - sure, entered.late - sure, late),
    ):
        chosen = table[number] - table[stay] - table[number - stay]
        entropy += float((weights * chosen).sum())
    return entropy


def _set_lost(model: FlushModel, stretch: _Stretch, entered: _Entered, lost: Floats) -> None:
    """Probability to be lost, of messages other than those that set off a flush."""
    rounds = model.rounds
    sure = int(stretch.total is not None and rounds.trigger[stretch.last] == BY_MESSAGE)
    early, late = entered.probability.sum(axis=1), entered.probability.sum(axis=0)
    number = int(rounds.entered[_part(stretch.waiting)].sum())
    if number:
        lost[_part(stretch.waiting)] = float((early * (number - entered.early)).sum()) / number
    free = int(rounds.entered[stretch.last]) - sure
    if free > 0:
        lost[stretch.last] = float((late * (free + sure - entered.late)).sum()) / free


def _leave(cover: Floats, total: int, left: int, table: Floats) -> tuple[float, Floats]:
    """Entropy in nats of who leaves as which message out, and of cover the law of what stays."""
    some = np.flatnonzero(cover > FLUSHES.known_cut * cover.max())
    goes = np.arange(min(left, int(some[-1])) + 1)[None, :]
    inside = some[:, None]
    stays, others = inside - goes, left - goes
    fits = (stays >= 0) & (total - inside >= others)
    stays, rest = np.maximum(stays, 0), np.maximum(total - inside - others, 0)
    logs = table[inside] - table[goes] - table[stays]
    logs = logs + table[total - inside] - table[others] - table[rest]
    logs = logs - table[total] + table[left] + table[total - left]
    weights = np.where(fits, np.exp(logs), 0.0) * cover[some][:, None]
    alike = float((weights * (table[inside] - table[stays])).sum())
    entropy = float(cover.sum()) * (table[total] - table[total - left]) - alike
    staying = np.bincount(stays[fits], weights[fits], minlength=1)
    return float(entropy), staying.astype(np.float64)


def _pass_back(model: FlushModel, inside: Ints, lost: Floats, row: Row) -> None:
    rounds = model.rounds
    lanes = Lanes(1)
    for at in range(rounds.number, -1, -1):
        set_off = False
        if at < rounds.number:
            share = rounds.left[at] / inside[at] if rounds.left[at] else 0.0
            lanes.move(np.array([[1.0 - share]]))
            lanes.add(np.array([share]))
            set_off = bool(rounds.trigger[at] == BY_MESSAGE)
        for kind, number in ((0, int(rounds.entered[at]) - set_off), (1, int(set_off))):
            if number > 0:
                gone = float(lost[at]) if kind == 0 else 0.0
                states = np.array([1.0 - gone])
                row(at, kind, lanes.row(states), float(states @ lanes.inside), gone)
        lanes.reduce(np.ones(1))
