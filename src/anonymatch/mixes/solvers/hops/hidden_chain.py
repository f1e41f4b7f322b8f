"""One exponential mix of which only the ends are seen: exact with losses, cover and a log's end.

Delays have no memory, so that only *how many* real messages are inside is hidden: a chain over that
number gives the evidence of a log and the probability of every pair, exactly for the rates told.
Numbers of losses or of cover messages condition those rates away; see :func:`hidden_figures`.

References
----------
.. [1] Danezis. The traffic analysis of continuous-time mixes. PET 2004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch._native import Counted, HiddenFigures
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import (
    Channel,
    LinkFigures,
    ReceiverFigures,
    around,
    check_start,
    early_shares,
    early_weights,
    entropy_slack,
    guesses_within,
    log_binomial,
    nobody_inside,
    taken_as_mean,
    unseen_bits,
    with_tilt,
)
from anonymatch.running import Execution

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """Both sides of a log in one order of time; arrivals come first at equal times."""

    arrival: npt.NDArray[np.bool_]
    gap: Floats  # in mean delays: before each event, and until the end

    @classmethod
    def of(cls, arrivals: Floats, departures: Floats, mean: float, channel: Channel) -> _Events:
        times = np.concatenate((arrivals, departures))
        order = np.argsort(times, kind="stable")
        ends = np.concatenate(([channel.begin], times[order], [channel.end]))
        gap = np.maximum(np.diff(ends), 0.0) / mean
        return cls(order < len(arrivals), np.minimum(gap, 1e300))

    def spread(self, of_arrivals: Floats, of_departures: Floats) -> Floats:
        """One number an event."""
        both = np.empty(len(self.arrival))
        both[self.arrival], both[~self.arrival] = of_arrivals, of_departures
        return both


NOTHING_COUNTED = (Counted.nothing, 0)


@dataclass(frozen=True, slots=True, eq=False)
class EventWeights:
    """Weights of the two things that an event may be, by arrival and by departure."""

    delivered: float
    lost: float
    real: Floats
    cover: Floats  # of being nobody's in the log: cover, or inside at its beginning
    early: Floats  # the second part of it


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLog:
    """A log with what is told of losses, cover and ends, and what the chain is told of it."""

    arrivals: Floats
    departures: Floats
    mean: float
    channel: Channel
    events: _Events
    known: Floats | None  # by departure: 1 a message, 0 cover, NaN unknown

    @classmethod
    def of(
        cls,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        mean: float,
        channel: Channel,
        real: npt.ArrayLike | None,
    ) -> HiddenLog:
        channel = check_start(channel)
        came, left = (np.asarray(times, dtype=np.float64) for times in (arrivals, departures))
        known = None if real is None else np.asarray(real, dtype=np.float64)
        return cls(came, left, mean, channel, _Events.of(came, left, mean, channel), known)

    @property
    def end_inside(self) -> int:
        """How many are inside at the end, if that is known; else -1."""
        channel = self.channel
        if channel.lost is not None and channel.cover is not None:
            left = len(self.departures) - self._given_cover()
            return len(self.arrivals) - channel.lost - left + channel.cover
        return 0 if channel.drained else -1

    @property
    def loss(self) -> float:
        """The probability told, or where a number is, one under which it is likely: it cancels.

        What is then likely along the log is what the number asks for, and is not cut off.
        """
        channel = self.channel
        if channel.lost is None:
            return channel.loss
        return (channel.lost / (len(self.arrivals) + 1.0)) if channel.lost else 0.0

    @property
    def cover_rate(self) -> float:
        """The same of cover."""
        channel = self.channel
        if channel.cover is None:
            return channel.cover_rate
        return channel.cover / (channel.end - channel.begin) if channel.cover else 0.0

    def _given_cover(self) -> int:
        return 0 if self.known is None else int(np.count_nonzero(self.known == 0.0))

    def weights(self) -> EventWeights:
        """In mean delays, so that a message inside leaves at the rate 1."""
        delivered, lost = (1.0 - self.loss, self.loss)
        size = len(self.departures)
        real, cover = np.ones(size), np.full(size, self.cover_rate * self.mean)
        early = np.zeros(size)
        if self.channel.inside_at_start:
            since = (self.departures - self.channel.begin) / self.mean
            early = early_weights(self.channel.inside_at_start, np.exp(-since))
        if self.known is not None:
            real[self.known == 0.0] = early[self.known == 0.0] = 0.0
            cover[self.known == 1.0] = 0.0
            cover[self.known == 0.0] = self.mean  # told, and so of weight 1
        return EventWeights(delivered, lost, real, cover + early, early)

    def counted(self) -> tuple[Counted, int]:
        """What has to be counted along the log, and up to which number."""
        lost, cover = self.channel.lost, self.channel.cover
        if lost is not None and cover is not None:
            # What is inside at the end is known, so that either of them tells the other.
            if not lost or not cover:
                return Counted.nothing, 0
            cover = 0 if lost < cover else cover
        if cover:  # those that are told count along the way too
            return Counted.cover, cover + self._given_cover()
        return (Counted.losses, lost) if lost else (Counted.nothing, 0)

    def constant(self) -> float:
        """Natural log of what all explanations have in common beside the chain's weights."""
        channel = self.channel
        lasted = channel.end - channel.begin
        log = -len(self.departures) * math.log(self.mean)
        if channel.cover is None:
            log -= channel.cover_rate * lasted
        elif channel.cover:  # the rate that stands for it divided out, and its places
            log += math.lgamma(channel.cover + 1) - channel.cover * math.log(channel.cover)
        if channel.lost:
            size = len(self.arrivals)
            log -= log_binomial(size, channel.lost)
            log -= channel.lost * math.log(self.loss) + (size - channel.lost) * math.log1p(
                -self.loss
            )
        return log - channel.inside_at_start * self.early_out

    @property
    def early_out(self) -> float:
        """Share of those inside at the beginning that has left by the end, as far as it counts.

        Where nothing is inside at the end all of them have.
        """
        channel = self.channel
        lasted = (channel.end - channel.begin) / self.mean
        return 1.0 if channel.drained else -math.expm1(-lasted)


def check_numbers(log: HiddenLog) -> None:
    """Both numbers told say what is inside at the end; cover takes time to come."""
    channel = log.channel
    if channel.cover and not channel.end > channel.begin:
        raise InputError(Argument("cover"), " needs a log that lasts longer than 0 seconds")
    both = channel.lost is not None and channel.cover is not None
    if both and (log.end_inside < 0 or (channel.drained and log.end_inside != 0)):
        raise unexplained(log, log.weights())


def unexplained(log: HiddenLog, weights: EventWeights) -> InputError:
    """Why nothing explains a log: the first departure that can be nobody's, if there is one."""
    inside = np.searchsorted(log.arrivals, log.departures, side="right")
    spare = weights.cover > 0.0
    inside -= np.cumsum(~spare) - 1
    wrong = np.flatnonzero((inside < 1) & ~spare)
    if len(wrong):
        return nobody_inside(int(wrong[0]), len(log.departures))
    return InputError(
        f"nothing explains {len(log.arrivals)} arrivals and {len(log.departures)} departures with "
        "these numbers of losses and cover; give rates (",
        Argument("loss"),
        ", ",
        Argument("cover_rate"),
        ") or other numbers",
    )


_LN2 = math.log(2.0)


def hidden_figures(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    mean: float,
    channel: Channel,
    real: npt.ArrayLike | None = None,
    receivers: npt.ArrayLike | None = None,
    pairs: bool = False,
    guessing_every: int = 0,
    effort: Execution | None = None,
    seconds: float = math.inf,
    together: int = 32,
    asked: npt.ArrayLike | None = None,
) -> LinkFigures:
    """What a log of one exponential mix says of each message.

    ``mean`` is in seconds, and times are sorted. Numbers of the channel condition the model of
    rates: every set of lost messages and every place of cover is alike beforehand, and the delays
    decide. Messages inside at the beginning leave as all others do.

    ``real`` is for attackers who can tell messages (1) from cover (0), NaN if unknown.
    ``receivers`` are groups of departures whose probabilities are added up, and ``asked`` has a
    departure by message whose probability is wanted, -1 for none. ``guessing_every`` so many
    messages one has its guessing entropy. Beyond ``seconds`` that are predicted, a number is taken
    as a mean. ``together`` departures lie between two compressions of the chain.

    Raises
    ------
    InputError
        If nothing explains the log.

    Examples
    --------
    >>> channel = Channel(loss=0.25, cover_rate=0.5, begin=0.0, end=2.0)
    >>> figures = hidden_figures([0.0], [], mean=1.0, channel=channel)
    >>> figures.lost.round(6).tolist(), figures.inside.round(6).tolist()
    ([0.711235], [0.288765])
    """
    log = HiddenLog.of(arrivals, departures, mean, channel, real)
    check_numbers(log)
    chosen = None
    if receivers is not None and len(log.departures):
        chosen = np.asarray(receivers, dtype=np.int64)
    run = effort or Execution()
    wanted = None if asked is None else np.asarray(asked, dtype=np.int64)
    rows = _ChainRows(together, guessing_every, pairs, chosen, wanted)
    if _dear(log, seconds, run):
        return _tilted(log, run, rows)
    figures, cut_error = _solved(log, log.weights(), run, rows, log.counted())
    links = _figures(log, figures, cut_error, log.weights(), rows)
    return replace(links, notes=_mean_notes(log, figures, run))


class HiddenPairs(NamedTuple):
    """Probabilities of pairs of arrivals and departures, of losses, and of being inside at the end.

    ``error`` is the most that a row may miss of 1.
    """

    matrix: csr_array
    lost: Floats
    inside: Floats
    error: float


def hidden_pairs(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    mean: float,
    channel: Channel,
    effort: Execution | None = None,
) -> HiddenPairs:
    """Return the probability of every pair that is not negligible; see :func:`hidden_figures`.

    Examples
    --------
    >>> channel = Channel(loss=0.25, cover_rate=0.5, begin=0.0, end=2.0)
    >>> pairs = hidden_pairs([0.0], [1.0], mean=1.0, channel=channel)
    >>> round(float(pairs.matrix[0, 0] + pairs.lost[0] + pairs.inside[0]), 9)
    1.0
    """
    from scipy.sparse import csr_array

    log = HiddenLog.of(arrivals, departures, mean, channel, None)
    check_numbers(log)
    weights, size = log.weights(), len(log.arrivals)
    figures, _ = run_chain(
        log,
        weights,
        effort or Execution(),
        counted=log.counted(),
        cut=HOPS.hidden_cuts[1],
        sparse=True,
    )
    if figures is None:
        raise unexplained(log, weights)
    rows = np.repeat(np.arange(size)[::-1], figures.entries[::-1])
    matrix = csr_array(
        (np.array(figures.entry_value), (rows, np.array(figures.entry_column))),
        shape=(size, len(log.departures)),
    )
    return HiddenPairs(matrix, figures.lost, figures.inside, float(figures.miss))


class _ChainRows(NamedTuple):
    """What is wanted of each message."""

    together: int
    guessing_every: int
    pairs: bool
    groups: Ints | None
    asked: Ints | None = None


def run_chain(
    log: HiddenLog,
    weights: EventWeights,
    effort: Execution,
    *,
    counted: tuple[Counted, int] = NOTHING_COUNTED,
    cut: float = HOPS.hidden_cuts[0],
    rows: _ChainRows | None = None,
    sparse: bool = False,
    evidence_only: bool = False,
) -> tuple[HiddenFigures | None, float]:
    """The chain to its end, and the natural log of its evidence; None if nothing explains it."""
    events = log.events
    size = len(log.arrivals)
    wanted, followed = rows or _ChainRows(32, 0, False, None), rows is not None or sparse
    chain = _native.hidden_chain_job(
        events.arrival,
        events.spread(np.full(size, weights.delivered), weights.real),
        events.spread(np.full(size, weights.lost), weights.cover),
        events.gap,
        end_inside=log.end_inside,
        counted=counted[0],
        number=counted[1],
        cut=cut,
        together=wanted.together,
        guessing_every=wanted.guessing_every,
        rows=followed,
        sparse=sparse,
        pairs=wanted.pairs,
        groups=wanted.groups,
        asked=wanted.asked,
    )
    last = len(events.arrival) * (1 if evidence_only else 2)
    step, each = (
        (HOPS.hidden_step, HOPS.hidden_row_seconds)
        if followed
        else (HOPS.long_step, HOPS.event_seconds)
    )
    effort.expect(last * each)
    done = 0
    while chain.advance(step) and chain.done() < last:
        effort.stop.check()
        effort.advance((chain.done() - done) * each)
        done = chain.done()
    effort.advance((last - done) * each)
    evidence = chain.log_evidence()
    if chain.stuck() >= 0 or evidence == -math.inf:
        return None, -math.inf
    return chain.figures(), evidence


def _solved(
    log: HiddenLog,
    weights: EventWeights,
    effort: Execution,
    rows: _ChainRows,
    counted: tuple[Counted, int],
) -> tuple[HiddenFigures, float]:
    """Figures, and the share of the evidence that was left out with numbers inside too unlikely.

    Every explanation weighs something, so that a smaller cut only adds: what it adds, relatively,
    bounds the change of any probability.
    """
    for cut, finer in pairwise(HOPS.hidden_cuts):
        figures, evidence = run_chain(log, weights, effort, counted=counted, cut=cut, rows=rows)
        _, reference = run_chain(
            log, weights, effort, counted=counted, cut=finer, evidence_only=True
        )
        if reference == -math.inf:
            continue  # what explains it may be less likely still
        left_out = -math.expm1(min(evidence - reference, 0.0))
        if figures is not None and (
            left_out <= HOPS.hidden_cut_error or finer == HOPS.hidden_cuts[-1]
        ):
            return figures, left_out
    raise unexplained(log, weights)


def _mean_notes(log: HiddenLog, figures: HiddenFigures, effort: Execution) -> tuple[str, ...]:
    """A note if the log fits another mean delay far better, as with times in other units.

    The mean that fits better lies where the expected time inside over departures says.
    """
    real = float(figures.real.sum())
    if log.counted() != NOTHING_COUNTED or real < HOPS.few_real or not figures.busy > 0.0:
        return ()
    given = best = figures.log_evidence + log.constant()
    mean = log.mean
    factor = HOPS.mean_step if figures.busy > real else 1.0 / HOPS.mean_step
    for _ in range(HOPS.mean_rounds):
        tried = HiddenLog.of(log.arrivals, log.departures, mean * factor, log.channel, log.known)
        _, evidence = run_chain(tried, tried.weights(), effort, evidence_only=True)
        evidence += tried.constant()
        if not evidence > best:
            break
        best, mean = evidence, tried.mean
    gain = best - given
    if gain < HOPS.mean_gain:
        return ()
    note = (
        f"A mean of {log.mean:.3g} s is told, but this log fits about {mean:.2g} s better by "
        f"{gain:.3g} nats: check the law and the unit of times"
    )
    return (note,)


# ---- from the kernel's figures


def _figures(
    log: HiddenLog,
    figures: HiddenFigures,
    left_out: float,
    weights: EventWeights,
    rows: _ChainRows,
) -> LinkFigures:
    error = figures.miss + left_out + 1e-13
    departed = figures.departed
    shannon_slack = entropy_slack(error, departed, figures.allowed)
    all_slack = entropy_slack(error, np.ones_like(departed), figures.allowed + 2)
    joint = Interval.rounded(
        figures.joint_bits,
        figures.joint_bits,
        figures.joint_bits,
        size=len(departed) + figures.joint_bits,
    )
    return LinkFigures(
        log_evidence=figures.log_evidence + log.constant(),
        joint_bits=joint,
        link_bits=_link_bits(log, figures, joint, weights),
        departed=departed,
        lost=figures.lost,
        inside=figures.inside,
        real=figures.real,
        shannon=around(figures.shannon, shannon_slack, np.log2(np.maximum(figures.allowed, 1))),
        shannon_all=around(
            figures.shannon_all, all_slack, np.log2(np.maximum(figures.allowed, 0) + 2)
        ),
        collision=figures.collision,
        probability=around(figures.probability, np.full(len(departed), error), 1.0),
        guess=figures.guess.astype(np.int64),
        allowed=figures.allowed.astype(np.int64),
        error=error,
        confidence=1.0 if error <= HOPS.hidden_exact else 0.95,
        method="hidden chain",
        guessing=guesses_within(figures.guessing, error, figures.allowed)
        if len(figures.guessing)
        else None,
        receivers=None
        if rows.groups is None
        else ReceiverFigures(
            shannon=figures.group_shannon,
            probability=figures.group_probability,
            guess=figures.group_guess.astype(np.int64),
        ),
        pairs=figures.pairs.reshape(len(departed), -1) if len(figures.pairs) else None,
        asked=None if rows.asked is None else figures.asked,
        early=early_probabilities(figures, weights) if log.channel.inside_at_start else None,
    )


def early_probabilities(figures: HiddenFigures, weights: EventWeights) -> Floats:
    """Of each departure, to have been inside when the log began."""
    return early_shares(1.0 - figures.real, weights.early, weights.cover)


def _link_bits(
    log: HiddenLog, figures: HiddenFigures, joint: Interval, weights: EventWeights
) -> Interval:
    """Entropy of the explanation where lost and inside are one.

    The log of an explanation's weight is then a sum over pairs, so that its mean needs marginals
    only. With numbers told there is no such form, but an interval.
    """
    channel = log.channel
    if channel.drained or log.end_inside == 0:
        return joint
    unseen = figures.lost + figures.inside
    if channel.lost is not None or channel.cover is not None:
        apart = unseen_bits(figures.inside, unseen)
        return Interval.between(max(joint.low - apart, 0.0), joint.high)
    departed = 1.0 - unseen
    delays = float((figures.real * log.departures).sum() - (departed * log.arrivals).sum())
    paired = math.log(weights.delivered) * float(departed.sum()) - delays / log.mean
    stays = np.exp(-(channel.end - log.arrivals) / log.mean)
    gone = weights.lost + weights.delivered * stays
    some = (unseen > 0.0) & (gone > 0.0)
    paired += float((unseen[some] * np.log(gone[some])).sum())
    cover = 1.0 - figures.real
    some = (cover > 0.0) & (weights.cover > 0.0)
    paired += float((cover[some] * np.log(weights.cover[some])).sum())
    # The sum cancels most of the evidence: what rounding leaves grows with the log.
    size = abs(figures.log_evidence) + abs(delays / log.mean) + len(departed)
    bits = (figures.log_evidence - paired) / _LN2
    link = Interval.rounded(bits, bits, bits, size=size)
    return link.clipped(0.0, joint.high)


# ---- a number that is too dear to be counted along the log


def _dear(log: HiddenLog, seconds: float, effort: Execution) -> bool:
    """Whether counting a number along the log would take more than so many seconds."""
    number = log.counted()[1]
    if not number or seconds == math.inf:
        return False
    rates, _ = _rates(log, 0.0)
    free = replace(log, channel=replace(log.channel, lost=None, cover=None, drained=False))
    plain, _ = run_chain(free, rates, effort)
    width = 1 if plain is None else plain.widest
    states = 2.0 * len(log.events.arrival) * width * (number + 1)
    return states * HOPS.hidden_columns * HOPS.state_seconds > seconds


def _rates(log: HiddenLog, tilt: float) -> tuple[EventWeights, bool]:
    """Rates that stand for the numbers, the odds of the one that is tilted by so many nats.

    Losses are tilted where their number is told, else cover is; whether it is losses.
    """
    channel = log.channel
    size = max(len(log.arrivals), 1)
    lost = channel.loss if channel.lost is None else (channel.lost + 0.5) / (size + 1)
    lasted = max(channel.end - channel.begin, 1e-300)
    rate = channel.cover_rate if channel.cover is None else (channel.cover + 0.5) / lasted
    lost, rate = with_tilt(lost, rate, tilt, losses=channel.lost is not None)
    fitted = replace(channel, loss=lost, lost=None, cover_rate=rate, cover=None)
    return replace(log, channel=fitted).weights(), channel.lost is not None


def _tilted(log: HiddenLog, effort: Execution, rows: _ChainRows) -> LinkFigures:
    """Figures for rates at which the number that is told is the expected one."""
    from scipy.optimize import brentq

    goal = log.channel.lost if log.channel.lost is not None else log.channel.cover
    assert goal is not None

    def excess(tilt: float) -> float:
        weights, losses = _rates(log, tilt)
        figures, _ = run_chain(log, weights, effort)
        if figures is None:
            raise unexplained(log, weights)
        expected = figures.lost.sum() if losses else (1.0 - figures.real).sum()
        return float(expected) - goal

    if excess(-HOPS.most_tilt) > 0.0 or excess(HOPS.most_tilt) < 0.0:
        raise unexplained(log, log.weights())
    tilt = float(brentq(excess, -HOPS.most_tilt, HOPS.most_tilt, xtol=1e-6, rtol=1e-9))
    variance = (excess(tilt + 0.01) - excess(tilt - 0.01)) / 0.02
    weights, _ = _rates(log, tilt)
    figures, left_out = _solved(log, weights, effort, rows, NOTHING_COUNTED)
    links = _figures(log, figures, left_out, weights, rows)
    return taken_as_mean(links, log.channel, goal, variance)
