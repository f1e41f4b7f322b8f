"""Figures of messages through a flush mix of which only the ends are seen, with cover and losses.

A flush mix holds messages back and sends on several of them together: at every tick of a clock, or
as soon as it has a number of them. The module ``flush_rule`` describes the
rules. On entry each message may be lost. Cover traffic comes in one of two kinds.

- ``"exit"``: it joins what leaves. For a mix with a clock, a Poisson number with the mean
  ``cover_rate`` times the interval leaves with each flush; for one that waits for a number, with
  the mean ``cover_rate`` times the seconds since the flush before (or since the log began). Mail
  alone is counted by the mix.
- ``"pool"``: it comes into the mix, and is counted, held back and sent on like mail. With a clock
  it comes in just before each flush, a Poisson number with the same mean; without, at any time, at
  ``cover_rate`` a second, and may set off a flush. The mix is empty when the log begins.

What comes in at the very moment of a flush is there for it. A mix that waits for a number is
followed by counting what comes in, if all of it counts. If not, its flushes are the moments at
which messages leave, and the last message in at such a moment set it off: that one was not lost.
Cover at the exit may also leave between its flushes: what leaves before the first one, or where
flushes are moments fewer than a batch, is cover alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, several
from anonymatch.counting.measures import Range
from anonymatch.mixes.solvers.flushes.flush_rule import (
    BY_MESSAGE,
    FlushRule,
    flush_rounds,
)
from anonymatch.mixes.solvers.flushes.flush_states import (
    Backward,
    FlushModel,
    ImpossibleFlushError,
    Row,
    backward,
    forward,
)
from anonymatch.mixes.solvers.flushes.flush_table import AskedFlushes, FlushTable, entropy_of
from anonymatch.mixes.solvers.flushes.known_numbers import known_numbers, known_totals
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES
from anonymatch.mixes.solvers.links import Channel, Dummies, LinkFigures, guesses_within
from anonymatch.running import Budget

_LN2 = math.log(2.0)


class HasFlush(Protocol):
    """The law of a mix that sends on several messages together."""

    @property
    def flush(self) -> FlushRule: ...


class FlushPairs(NamedTuple):
    """Probabilities of everything that may have become of each message.

    ``pairs[i, j]`` is that of message i to be departure j; ``lost`` and ``inside`` are of messages,
    ``cover`` is of departures. Rows with lost and inside, and columns with cover, add up to 1.
    """

    pairs: Floats
    lost: Floats
    inside: Floats
    cover: Floats
    log_evidence: float


def flush_figures(
    law: HasFlush | FlushRule,
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    channel: Channel,
    dummies: Dummies = "exit",
    budget: Budget | float | None = None,
    asked: npt.ArrayLike | None = None,
) -> LinkFigures:
    """What a log says about which message out each message in is.

    Times may be in any order, which figures keep. ``dummies`` says where cover traffic comes in.
    Work that is predicted to need more than the budget is refused. ``asked`` has a departure by
    message whose probability is wanted; -1 for none.

    Notes
    -----
    Exact for these rates. Numbers told (``lost``, ``cover``) condition the model with rates on
    them, whatever the rates. They are followed by one more counter, which is for short logs; with
    cover traffic in the pool they are refused, except for even coins.

    ``link_bits`` and ``joint_bits`` are intervals where no closed form is known.

    References
    ----------
    .. [1] Serjantov, Danezis. Towards an information theoretic metric for anonymity. PET 2002.
    .. [2] Díaz, Preneel. Taxonomy of mixes and dummy traffic. I-NetSec 2004.

    Examples
    --------
    >>> from anonymatch.mixes import Timed
    >>> channel = Channel(loss=0.1, cover_rate=0.04, begin=0, end=10)
    >>> figures = flush_figures(Timed(10), [1, 2, 3], [10, 10], channel=channel)
    >>> figures.lost.round(3).tolist(), figures.shannon.value.tolist()
    ([0.348, 0.348, 0.348], [1.0, 1.0, 1.0])
    """
    problem = _Problem.of(law, arrivals, departures, channel, dummies, Budget.of(budget))
    wanted = None
    if asked is not None:
        orders = problem.in_order, problem.out_order
        given = np.asarray(asked, dtype=np.int64)
        wanted = AskedFlushes.of(*problem.classes(), problem.model.rounds, orders, given)
    return _figures(problem, *problem.solve(wanted))


def flush_pairs(
    law: HasFlush | FlushRule,
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    channel: Channel,
    dummies: Dummies = "exit",
    budget: Budget | float | None = None,
) -> FlushPairs:
    """Probabilities of all pairs of messages, for logs that are small enough to hold them.

    Parameters are those of :func:`flush_figures`.

    Examples
    --------
    >>> from anonymatch.mixes import Pool
    >>> pairs = flush_pairs(Pool(1, 1), [0, 1, 2], [1, 2], channel=Channel(begin=0, end=2))
    >>> pairs.pairs.tolist(), pairs.inside.tolist()
    ([[0.5, 0.25], [0.5, 0.25], [0.0, 0.5]], [0.25, 0.25, 0.5])
    """
    problem = _Problem.of(law, arrivals, departures, channel, dummies, Budget.of(budget))
    n_in, n_out = len(problem.in_order), len(problem.out_order)
    if n_in * n_out > FLUSHES.most_pairs:
        raise InputError(
            f"{n_in} messages in and {n_out} out make {n_in * n_out} pairs, and at most "
            f"{FLUSHES.most_pairs} are put into a matrix; take flush_figures"
        )
    rounds = problem.model.rounds
    table = FlushTable(rounds)
    by_round = np.zeros((2, rounds.number + 1, rounds.number))

    def take(at: int, kind: int, leaves: Floats, inside: float, lost: float) -> None:
        table.take(at, kind, leaves, inside, lost)
        by_round[kind, at, at : at + len(leaves)] = leaves

    solved = problem.rows(take)
    number, kind = problem.classes()
    each = by_round[:, :, rounds.departures] / np.maximum(rounds.left, 1)[rounds.departures]
    pairs = np.empty((n_in, n_out))
    pairs[np.ix_(problem.in_order, problem.out_order)] = each[kind, number]
    lost, inside = (
        _in_order(part[kind, number], problem.in_order) for part in (table.lost, table.inside)
    )
    cover = np.maximum(0.0, 1.0 - pairs.sum(axis=0))
    return FlushPairs(pairs, lost, inside, cover, solved.log_evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Solved:
    """Log evidence, entropy of explanations in nats (None: not known), and errors."""

    log_evidence: float
    entropy: float | None
    cut: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Problem:
    """A log that is to be solved, in order of time, and how to get back to the order given."""

    model: FlushModel
    budget: Budget
    in_order: Ints
    out_order: Ints
    departures: Floats
    known: bool  # cover in the pool, where what leaves tells the total
    constant: float  # what the model's numbers add to the log evidence

    @classmethod
    def of(
        cls,
        law: HasFlush | FlushRule,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        channel: Channel,
        dummies: Dummies,
        budget: Budget,
    ) -> _Problem:
        from scipy.special import xlogy

        rule = law if isinstance(law, FlushRule) else law.flush
        came, in_order = _sorted(arrivals, "arrivals")
        left, out_order = _sorted(departures, "departures")
        _check_channel(channel, came, left)
        if dummies not in ("exit", "pool"):
            raise InputError(f"dummies must be exit or pool, not {dummies!r}")
        some_cover = channel.cover_rate > 0 if channel.cover is None else channel.cover > 0
        pooled = dummies == "pool" and some_cover
        loss = _loss(channel, len(came))
        rounds = flush_rounds(
            rule,
            came,
            left,
            channel=channel,
            hidden=loss > 0 or pooled,
            cover_at_exit=some_cover and not pooled,
            budget=budget,
        )
        exact_totals = pooled and not rule.even_coins
        if exact_totals and (channel.lost is not None or channel.cover is not None):
            raise InputError(
                "numbers of lost messages and of cover messages cannot be told of a mix with cover "
                "traffic in the pool; tell rates (",
                Argument("loss"),
                ", ",
                Argument("cover_rate"),
                ")",
            )
        if not pooled and rule.interval is None and loss > 0:
            # Mail alone sets it off, whenever messages are then seen to leave.
            rounds = replace(rounds, trigger=np.where(rounds.batches > 0, BY_MESSAGE, 0))
        shape = rounds.spans.copy()
        if pooled and rule.even_coins:
            stay = 1.0 - float(rule.leave(1))
            shape[:-1] *= -np.expm1(xlogy(np.arange(1, len(shape)), stay))
        if not exact_totals:
            shape[-1] = 0.0
        rate = _rate(channel, float(shape.sum()) + rounds.empty * (rule.interval or 0.0))
        model = FlushModel(
            rule=rule,
            rounds=rounds,
            loss=loss,
            means=rate * shape,
            totals=exact_totals,
            lost=channel.lost or None,  # of none, the rates 0 are enough
            cover=channel.cover or None,
            drained=channel.drained,
        )
        return cls(
            model=model,
            budget=budget,
            in_order=in_order,
            out_order=out_order,
            departures=left,
            known=exact_totals and rule.share is None and rule.portion is None,
            constant=_constant(model, rate, len(came)),
        )

    def classes(self) -> tuple[Ints, Ints]:
        """The round and the kind of each message in, in order of time."""
        rounds = self.model.rounds
        kind = np.zeros(len(rounds.arrivals), dtype=np.int64)
        by_message = np.append(rounds.trigger == BY_MESSAGE, False)
        last = np.flatnonzero(np.append(np.diff(rounds.arrivals), 1)[: len(kind)])
        kind[last] = by_message[rounds.arrivals[last]]
        return rounds.arrivals, kind

    def solve(self, asked: AskedFlushes | None = None) -> tuple[FlushTable, _Solved]:
        """Figures of all messages; in a mix that empties itself, equal rounds are solved once."""
        model, rounds = self.model, self.model.rounds
        table = FlushTable(rounds, asked)
        plain = known_numbers(model)
        if plain is not None:
            table.fill(plain)
            result = plain.log_evidence, Backward(plain.entropy)
            return table, self._sum(result, 1.0, "closed_form")
        if not model.rule.all_leave or model.rule.interval is None or model.counted:
            return table, self.rows(table.take)
        numbers = np.stack((rounds.entered[:-1], rounds.left))
        kinds, first, which = np.unique(numbers, axis=1, return_index=True, return_inverse=True)
        few = replace(
            rounds,
            moments=rounds.moments[first],
            entered=np.append(kinds[0], rounds.entered[-1]),
            left=kinds[1],
            spans=rounds.spans[: len(first) + 1],
            trigger=rounds.trigger[first],
            batches=rounds.batches[first],
        )
        small = FlushTable(few)
        try:
            result = _chain(
                replace(model, rounds=few, means=np.append(model.means[first], 0.0)),
                small.take,
                self.budget,
            )
        except ImpossibleFlushError:
            return table, self.rows(table.take)  # says which flush is the first
        which = np.append(which.ravel(), len(first))
        times = np.bincount(which, minlength=len(first) + 1).astype(np.float64)
        table.repeat(small, which)
        return table, self._sum(result, times, "closed_form")

    def rows(self, row: Row) -> _Solved:
        """Calls ``row`` for the messages of every round."""
        try:
            if self.known:
                return self._sum(known_totals(self.model, row), 1.0, "closed_form")
            return self._sum(_chain(self.model, row, self.budget), 1.0, "chain")
        except ImpossibleFlushError as error:
            raise self._impossible(error) from None

    def _sum(self, result: tuple[Floats, Backward], times: Floats | float, method: str) -> _Solved:
        evidence, back = result
        known = self.known or not self.model.totals
        return _Solved(
            log_evidence=float((evidence * times).sum()) + self.constant,
            entropy=float((back.entropy * times).sum()) if known else None,
            cut=back.cut,
            method=method,
        )

    def _impossible(self, error: ImpossibleFlushError) -> InputError:
        model, rounds, rule = self.model, self.model.rounds, self.model.rule
        if error.flush == rounds.number:
            return self._impossible_end(error)
        left = int(rounds.left[error.flush])
        leave = "leaves" if left == 1 else "leave"
        text = f"flush at {rounds.moments[error.flush]:g} s: {several(left, 'message')} {leave}"
        if left:
            at = int(rounds.first_departures()[error.flush])
            text += f" (the first is number {int(self.out_order[at]) + 1} of those out)"
        if rule.batch is not None and left % rule.batch and (left < rule.batch or model.totals):
            return InputError(
                f"{text}, and this mix lets {rule.batch} leave together; check times and law, or "
                "tell that messages get lost (",
                Argument("loss"),
                ") or that cover traffic leaves too (",
                Argument("cover_rate"),
                ")",
            )
        inside = several(max(error.most, 0), "message")
        fixed = rule.share is None and rule.portion is None
        too_many = left + rule.kept if fixed else left
        if error.most < too_many:
            staying = f", {rule.kept} of which stay" if rule.kept else ""
            return InputError(
                f"{text}, but at most {inside} can be inside{staying}; check times and law, or "
                "allow for cover traffic (",
                Argument("cover_rate"),
                ")",
            )
        return InputError(
            f"{text}, but at least {several(error.least, 'message')} would be inside; check times "
            "and law, or allow for losses (",
            Argument("loss"),
            ")",
        )

    def _impossible_end(self, error: ImpossibleFlushError) -> InputError:
        model, rule = self.model, self.model.rule
        least = several(error.least, "message")
        if model.lost is not None or model.cover is not None:
            given = " and ".join(
                f"{several(number, name)}"
                for number, name in ((model.lost, "lost message"), (model.cover, "cover message"))
                if number is not None
            )
            return InputError(f"no explanation of this log has {given}; tell rates instead")
        if model.drained:
            return InputError(
                f"at least {least} are inside when the log ends, so it was not drained; check "
                "times and law, or allow for losses (",
                Argument("loss"),
                ")",
            )
        return InputError(
            f"at least {least} are inside when the log ends, and this mix would have sent on "
            f"{rule.batch} of them; check times and law, or allow for losses (",
            Argument("loss"),
            ")",
        )


def _chain(model: FlushModel, row: Row, budget: Budget) -> tuple[Floats, Backward]:
    passed = forward(model)
    seconds = (
        passed.cells * FLUSHES.chain_columns * FLUSHES.seconds_a_cell
        + model.rounds.number * FLUSHES.seconds_a_round
    )
    memory = 8.0 * max((len(b) * len(f) for b, f in zip(passed.before, passed.filled, strict=True)))
    if not budget.allows(seconds, memory * 8):
        flushes = several(model.rounds.number, "flush", "flushes")
        instead = "tell rates (loss, cover_rate) instead of numbers" if model.counted else ""
        what = f"following how many are inside over {flushes}"
        raise budget.refusal(what, seconds, memory * 8, instead)
    return passed.log_evidence, backward(model, passed, row)


def _figures(problem: _Problem, table: FlushTable, solved: _Solved) -> LinkFigures:
    rounds = problem.model.rounds
    number, kind = problem.classes()
    error = solved.cut + FLUSHES.chain_rounding * (table.longest + 8)

    def of_messages(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return _in_order(part[kind, number], problem.in_order)

    allowed, inside, lost = map(of_messages, (table.allowed, table.inside, table.lost))
    departed, later = of_messages(table.departed), of_messages(table.later)
    # An entropy moves by less than this if each of its terms moves by the error.
    slack = (allowed + 2.0) * error * (2.0 - math.log2(error))
    open_to_all = np.log2(allowed + 2.0)
    shannon_all = _range(of_messages(table.shannon_all), slack, open_to_all)
    given = slack / np.maximum(departed, error)
    joint, link = _bits(problem, solved, lost, inside, shannon_all)
    guess = np.full(len(kind), -1, dtype=np.int64)
    some = allowed > 0
    flush = (_in_order(number, problem.in_order) + later)[some]
    guess[some] = problem.out_order[rounds.first_departures()[flush]]
    real = np.minimum(1.0, table.real / np.maximum(rounds.left, 1))
    return LinkFigures(
        log_evidence=solved.log_evidence,
        joint_bits=joint,
        link_bits=link,
        departed=departed,
        lost=lost,
        inside=inside,
        real=_in_order(real[rounds.departures], problem.out_order),
        shannon=_range(of_messages(table.shannon), given, np.log2(np.maximum(allowed, 1))),
        shannon_all=shannon_all,
        collision=of_messages(table.collision),
        probability=_range(of_messages(table.largest), np.full(len(kind), error), 1.0),
        guess=guess,
        allowed=allowed,
        error=error,
        method=solved.method,
        guessing=guesses_within(of_messages(table.guessing), error, allowed),
        asked=None if table.asked is None else _in_order(table.asked.probability, problem.in_order),
        notes=_notes(solved),
    )


def _bits(
    problem: _Problem, solved: _Solved, lost: Floats, inside: Floats, each: Range
) -> tuple[Interval, Interval]:
    """Entropy of the explanation, and of the same where lost and inside are one."""
    if solved.entropy is None:  # no less than that of one message, no more than that of all
        joint = Interval.between(float(each.low.max(initial=0.0)), float(each.high.sum()))
    else:
        bits = max(0.0, solved.entropy / _LN2)
        size = abs(solved.log_evidence) + bits + len(lost)
        slack = size * (1e-13 + solved.cut)
        joint = Interval(bits, max(0.0, bits - slack), bits + slack)
    unseen = lost + inside
    told_apart = float((entropy_of(lost) + entropy_of(inside) - entropy_of(unseen)).sum())
    least = max(0.0, joint.low - told_apart)
    model = problem.model
    if solved.entropy is not None and model.rule.even_coins and not model.counted:
        # Given which are unseen, each is lost or inside whatever the others are.
        value = max(0.0, joint.value - told_apart)
        return joint, Interval(value, least, max(value, joint.high - told_apart))
    if told_apart <= 0:
        return joint, joint
    return joint, Interval.between(least, joint.high)


def _notes(solved: _Solved) -> tuple[str, ...]:
    if solved.entropy is not None:
        return ()
    note = (
        "joint bits are only bounded: with cover traffic in the pool, with what probability "
        "messages leave depends on a number that no explanation tells"
    )
    return (note,)


def _range(values: Floats, slack: Floats, most: Floats | float) -> Range:
    low, high = np.maximum(0.0, values - slack), np.minimum(values + slack, most)
    return Range(values, np.minimum(low, values), np.maximum(high, values))


def _in_order(values: npt.NDArray[Any], order: Ints) -> npt.NDArray[Any]:
    given = np.empty_like(values)
    given[order] = values
    return given


def _sorted(times: npt.ArrayLike, what: str) -> tuple[Floats, Ints]:
    array = np.asarray(times, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"{what} must be a list of finite times")
    order = np.argsort(array, kind="stable")
    return array[order], order


def _check_channel(channel: Channel, arrivals: Floats, departures: Floats) -> None:
    real(channel.begin, "begin", low=-math.inf)
    real(channel.end, "end", low=-math.inf)
    if not 0.0 <= real(channel.loss, "loss", high=1.0) < 1.0:
        raise InputError(
            Argument("loss"), " must be below 1: a mix that loses all lets nothing leave"
        )
    if real(channel.cover_rate, "cover_rate") == math.inf:
        raise InputError(Argument("cover_rate"), " must be finite")
    for number, share, name in (
        (channel.lost, channel.loss, "lost or loss"),
        (channel.cover, channel.cover_rate, "cover or cover_rate"),
    ):
        if number is not None:
            whole(number, name.split()[0])
            if share:
                raise InputError(f"give {name}, not both")
    for times, name in ((arrivals, "in"), (departures, "out")):
        if len(times) and (times[0] < channel.begin or times[-1] > channel.end):
            outside = times[0] if times[0] < channel.begin else times[-1]
            raise InputError(
                f"a message {name} at {outside:g} s is not between begin, {channel.begin:g} s, and "
                f"end, {channel.end:g} s, of the log"
            )
    if channel.lost is not None and channel.lost > len(arrivals):
        raise InputError(Argument("lost"), f" is {channel.lost}, but only {len(arrivals)} came in")
    if channel.cover is not None and channel.cover > len(departures):
        raise InputError(Argument("cover"), f" is {channel.cover}, but only {len(departures)} left")


def _loss(channel: Channel, number: int) -> float:
    """The share lost; with a number told, one under which it is likely, as the share cancels."""
    if channel.lost is None:
        return channel.loss
    return min(channel.lost / max(number, 1), number / (number + 1))


def _rate(channel: Channel, span: float) -> float:
    if channel.cover is None:
        return channel.cover_rate
    if channel.cover and not span > 0:
        raise InputError(
            Argument("cover"),
            f" is {channel.cover}, but no flush was seen with which it can leave",
        )
    return channel.cover / span if channel.cover else 0.0


def _constant(model: FlushModel, rate: float, number: int) -> float:
    """What the flushes left out and the numbers told add to the log evidence."""
    from scipy.special import gammaln, xlogy

    idle = model.rounds.empty * rate * (model.rule.interval or 0.0)
    constant = -idle
    if model.lost:
        lost = float(model.lost)
        choices = gammaln(number + 1) - gammaln(lost + 1) - gammaln(number - lost + 1)
        constant -= choices + xlogy(lost, model.loss) + xlogy(number - lost, 1.0 - model.loss)
    if model.cover:
        mean = float(model.means.sum()) + idle
        constant -= model.cover * math.log(mean) - mean - float(gammaln(model.cover + 1))
    return float(constant)
