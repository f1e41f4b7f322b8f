"""What little seconds buy of a log whose delays are sums of exponential hops.

The entropy of the matching is the log of the evidence, which one pass of the filter gives, less the
mean log weight of the matching that happened. If delays follow the law, that mean over all logs is
known, and given a log it differs from it by no more than a sum of as many independent logs of
densities does: so its interval needs no second pass. Without the evidence, the log of the number of
matchings is a bound.

Figures of messages follow from the density of their own delays, times a scale of each departure so
that the probabilities of a departure add up to one, as Sinkhorn scaling makes them. They are off by
little, and nearly by the same everywhere: by how much is known from messages in stretches of the
log whose figures were drawn. Without stretches intervals claim nothing.

References
----------
.. [1] Sinkhorn. A relationship between arbitrary positive matrices and doubly stochastic matrices.
   Ann. Math. Stat., 1964.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch._native import PhaseChain, PhaseRows, stage_log_density, stage_survival
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range, drawn_quantile, error_of_batches
from anonymatch.mixes.solvers.hops.phase_log import (
    PhaseLog,
)
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import (
    LinkFigures,
    ReceiverFigures,
    around,
    early_shares,
    entropy_slack,
    guesses_within,
    unseen_bits,
)

_LN2 = math.log(2.0)


def chain_figures(
    log: PhaseLog,
    chain: PhaseChain,
    rows: PhaseRows,
    near: float,
    missing: float,
    *,
    samples: int,
) -> LinkFigures:
    """Figures of messages. ``near`` of each may be missing, and ``missing`` of the evidence."""
    lost, departing = chain.kernel.lost(), chain.kernel.real()
    error = near + HOPS.phase_tolerance + 1e-13
    factor = HOPS.phase_quantile if samples else 0.0
    departed, inside = rows.departed, rows.inside
    joint, link = _entropies(log, chain, rows, lost, departing, error, missing)
    most = np.log2(np.maximum(rows.allowed, 1))
    estimated = factor * float(rows.largest_error.max(initial=0.0))
    notes = (
        f"The evidence is exact; figures of messages are estimated from {samples} drawn paths.",
    )
    return LinkFigures(
        log_evidence=log_evidence(log, chain),
        joint_bits=joint,
        link_bits=link,
        departed=departed,
        lost=lost,
        inside=inside,
        real=departing,
        shannon=around(
            rows.shannon,
            factor * rows.shannon_error + entropy_slack(error, departed, rows.allowed),
            most,
            rows.shannon_batches if samples else None,
        ),
        shannon_all=around(
            rows.shannon_all,
            factor * rows.shannon_all_error
            + entropy_slack(error, np.ones_like(departed), rows.allowed + 2),
            np.log2(rows.allowed + 2.0),
        ),
        collision=rows.collision,
        probability=around(
            rows.largest,
            factor * rows.largest_error + error,
            np.ones_like(departed),
            rows.largest_batches if samples else None,
        ),
        guess=rows.guess.astype(np.int64),
        allowed=rows.allowed.astype(np.int64),
        error=max(error, estimated),
        confidence=HOPS.phase_confidence if samples else 1.0,
        method="counts by hop, drawn" if samples else "counts by hop",
        guessing=_guesses(rows, error)
        if samples
        else guesses_within(rows.guessing, error, rows.allowed),
        receivers=None
        if log.receivers is None
        else ReceiverFigures(
            shannon=rows.group_shannon,
            probability=rows.group_largest,
            guess=rows.group_guess.astype(np.int64),
        ),
        asked=None if log.asked is None else rows.asked,
        early=None if log.early is None else early_shares(1 - departing, log.early, log.nobodys),
        notes=notes if samples else (),
    )


def log_evidence(log: PhaseLog, chain: PhaseChain) -> float:
    """Natural log of the probability density of the log."""
    return float(chain.kernel.log_evidence) + log.constant() - log.log_prior()


def _guesses(rows: PhaseRows, error: float) -> Range:
    """Guesses from drawn paths: their own order is a little too good, that of others too bad."""
    spread = rows.guessing_batches.std(axis=1, ddof=1) / math.sqrt(HOPS.phase_batches)
    slack = HOPS.phase_quantile * spread + error * rows.allowed.astype(np.float64)
    low = np.maximum(rows.guessing - slack, 1.0)
    return Range(rows.guessing, low, rows.guessing_apart + slack)


def _entropies(
    log: PhaseLog,
    chain: PhaseChain,
    rows: PhaseRows,
    lost: Floats,
    departing: Floats,
    error: float,
    missing: float,
) -> tuple[Interval, Interval]:
    """Entropy of the explanation, and of it with lost and inside as one.

    It is the log of all weights less the mean log weight, which needs marginals only.
    """
    evidence = chain.kernel.log_evidence
    some = log.nobodys > 0.0
    common = float(((1.0 - departing[some]) * np.log(log.nobodys[some])).sum())
    departed = float(rows.departed.sum())
    pairs = rows.pair_logs + departed * math.log1p(-log.loss)
    gone = float(lost.sum()) * math.log(log.loss) if log.loss else 0.0
    joint = (evidence - common - gone - pairs - rows.inside_logs) / _LN2
    link = (evidence - common - pairs - rows.unseen_logs) / _LN2
    size = abs(evidence) + float(np.abs(pairs).max(initial=0.0)) + len(lost)
    # Pairs' probabilities may each be off; the evidence is too small by what is missing of it.
    slack = error * 64.0 * len(lost) + missing / _LN2
    whole_joint = _mean(joint, size, slack)
    most = whole_joint.high
    if log.channel.drained or log.total_end == 0:
        return whole_joint, whole_joint
    if log.channel.lost:
        unseen = lost + rows.inside
        apart = unseen_bits(lost, unseen)
        return whole_joint, Interval.between(max(whole_joint.low - apart, 0.0), most)
    return whole_joint, _mean(link, size, slack).clipped(0.0, most)


def _mean(values: Floats, size: float, slack: float) -> Interval:
    """The mean of batches with its interval; of one batch, what rounding leaves open."""
    value = float(values.mean())
    if len(values) > 1:
        slack += HOPS.phase_quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval.rounded(value, value - slack, value + slack, size=size).clipped(0.0, math.inf)


# ---- what little seconds buy of a log whose delays are sums of exponential hops


Waves = npt.NDArray[np.complex128]


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Figures of the messages in a stretch of a log."""

    which: slice  # of all messages
    # Entropy, largest probability and sum of squared probabilities of each.
    shannon: Floats
    largest: Floats
    collision: Floats


def stretch_means(rates: Floats) -> tuple[float, float, float]:
    """Time before a stretch, of it and after it, in the unit of the log."""
    mean = float((1.0 / rates).sum())
    return (
        HOPS.outline_before * mean,
        HOPS.outline_within * mean,
        _Law(rates).reach(HOPS.outline_after),
    )


def outline_seconds(messages: int) -> float:
    """Predicted seconds of an outline, without the evidence."""
    return HOPS.pair_seconds * HOPS.outline_pairs + HOPS.message_seconds * messages


def round_seconds(arrivals: Floats, departures: Floats, rates: Floats) -> float:
    """Predicted seconds of one round of scaling."""
    _, steps = _grid(arrivals, departures, rates)
    return HOPS.round_seconds * len(arrivals) + HOPS.step_seconds * steps


def outline(
    arrivals: Floats,
    departures: Floats,
    rates: Floats,
    evidence: tuple[float, float] | None,
    log_evidence: float | None,
    *,
    stretches: Sequence[Stretch] = (),
    rounds: int = 0,
    edge: Bools | None = None,
) -> LinkFigures:
    """Figures of a log of which all that came in left, and nothing else did.

    Times are in means of the slowest hop. ``evidence`` is the natural log of the density of the log
    in this unit and what may be missing of it, None if it was too expensive; ``log_evidence`` is
    the same in seconds. ``stretches`` correct the figures of all messages but those near an
    ``edge``. The more ``rounds`` of scaling, the smaller these corrections.
    """
    size = len(arrivals)
    law = _Law(rates)
    joint = _joint(arrivals, departures, law, evidence)
    later = size - np.searchsorted(departures, arrivals, side="left")
    most = np.log2(np.maximum(later, 1))
    scales = _log_scales(arrivals, departures, rates, rounds)
    shannon, collision, largest = _by_density(arrivals, departures, law, scales)
    ones, zeros = np.ones(size), np.zeros(size)
    inner = ones > 0.0 if edge is None else ~edge
    entropy, mean_shannon = _corrected(
        shannon, [one.shannon for one in stretches], stretches, inner, most
    )
    smallest, mean_min_entropy = _corrected(
        0.0 - np.log2(largest),
        [0.0 - np.log2(one.largest) for one in stretches],
        stretches,
        inner,
        most,
    )
    best = Range(*(np.exp2(-bits) for bits in (smallest.value, smallest.high, smallest.low)))
    together, _ = _corrected(
        0.0 - np.log2(collision),
        [0.0 - np.log2(one.collision) for one in stretches],
        stretches,
        inner,
        most,
    )
    sure = evidence is None and not stretches
    return LinkFigures(
        log_evidence=log_evidence,
        joint_bits=joint,
        link_bits=joint,
        departed=ones,
        lost=zeros,
        inside=zeros,
        real=np.ones(len(departures)),
        shannon=entropy,
        shannon_all=entropy,
        collision=np.exp2(-together.value),
        probability=best,
        guess=_likeliest(arrivals, departures, law),
        allowed=later.astype(np.int64),
        error=1.0,
        confidence=1.0 if sure else HOPS.outline_confidence,
        method=_method(evidence, stretches),
        mean_shannon=mean_shannon,
        mean_min_entropy=mean_min_entropy,
        notes=(_note(evidence, stretches),),
    )


def _method(evidence: tuple[float, float] | None, stretches: Sequence[Stretch]) -> str:
    if stretches:
        return "counts by hop, in stretches"
    return "bounds" if evidence is None else "evidence"


def _note(evidence: tuple[float, float] | None, stretches: Sequence[Stretch]) -> str:
    if stretches:
        number = sum(len(one.shannon) for one in stretches)
        joint = (
            "joint bits are between bounds"
            if evidence is None
            else "joint bits are estimated from the evidence, if delays follow the law"
        )
        return (
            "The budget is too small for paths through the whole log: figures of messages are "
            f"estimated from {number:,} messages in {len(stretches)} stretches of the log, drawn "
            f"at random, and from Sinkhorn scaling between them; {joint}"
        )
    if evidence is None:
        return (
            "The budget is too small for the evidence: joint bits are between bounds, and figures "
            "of messages are by their own delays alone, without a claim"
        )
    return (
        "The budget is enough for the evidence alone: joint bits are estimated from it, if delays "
        "follow the law, and figures of messages are by their own delays alone, without a claim"
    )


def _corrected(
    figures: Floats,
    known: Sequence[Floats],
    stretches: Sequence[Stretch],
    inner: Bools,
    most: Floats,
) -> tuple[Range, Interval | None]:
    """Figures in bits, each with its interval, and the mean of the inner ones with its own.

    ``known``: those of the messages in stretches. What they differ by is added to all. Stretches
    are independent of each other, so that the interval of the mean is Student's.
    """
    if not stretches:
        return Range(np.minimum(figures, most), np.zeros(len(figures)), most), None
    off = [bits - figures[one.which] for bits, one in zip(known, stretches, strict=True)]
    means = np.array([part.mean() for part in off])
    number, more = len(means), float(means.mean())
    variance = float(np.mean([((part - more) ** 2).mean() for part in off])) * number / (number - 1)
    reach = (
        drawn_quantile(number, HOPS.outline_each) * math.sqrt(variance * (1.0 + 1.0 / number))
        + HOPS.outline_margins
    )
    value, low, high = (np.clip(figures + more + by, 0.0, most) for by in (0.0, -reach, reach))
    half = error_of_batches(means) + HOPS.outline_margins
    mean = float(figures[inner].mean()) + more
    return (
        Range(value, np.where(inner, low, 0.0), np.where(inner, high, most)),
        Interval(mean, mean - half, mean + half).clipped(0.0, float(most.max())),
    )


def _grid(arrivals: Floats, departures: Floats, rates: Floats) -> tuple[float, int]:
    """Length of a step of time, and their number."""
    lasted = float(departures[-1] - arrivals[0])
    steps = min(
        HOPS.outline_steps * lasted / float((1.0 / rates).sum()), HOPS.most_steps * len(arrivals)
    )
    return lasted / max(steps, 1.0), math.ceil(steps) + 2


def _log_scales(arrivals: Floats, departures: Floats, rates: Floats, rounds: int) -> Floats:
    """Natural logs of scales of departures that make matrices of densities doubly stochastic.

    Sums over messages are convolutions with the density, on a grid of time.
    """
    if not rounds:
        return np.zeros(len(departures))
    step, steps = _grid(arrivals, departures, rates)
    reach = _Law(rates).reach(math.log(HOPS.outline_short))
    delays: Floats = step * np.arange(max(math.ceil(reach / step), 1), dtype=np.float64)
    delays[0] = step / 4.0  # whose density is not that of 0, which may be 0
    density = np.exp(stage_log_density(rates, delays))
    size = 1 << (steps + len(density)).bit_length()
    ahead = np.fft.rfft(density, size)

    def placed(times: Floats) -> tuple[Ints, Floats]:
        """The step before each time, and how far the time is on the way to the next."""
        exact = (times - arrivals[0]) / step
        at = np.minimum(exact.astype(np.int64), steps - 2)
        return at, exact - at

    came, left = placed(arrivals), placed(departures)

    def inverse(
        of: tuple[Ints, Floats], weights: Floats, where: tuple[Ints, Floats], wave: Waves
    ) -> Floats:
        """One over the sum of weighted densities from all of these times to each of those."""
        (at, share), (to, way) = of, where
        spread = np.bincount(at, weights * (1.0 - share), steps)
        spread += np.bincount(at + 1, weights * share, steps)
        sums = np.fft.irfft(np.fft.rfft(spread, size) * wave, size)
        found = sums[to] * (1.0 - way) + sums[to + 1] * way
        return np.asarray(1.0 / np.maximum(found, HOPS.outline_short * found.max()))

    rows, columns = np.ones(len(arrivals)), np.ones(len(departures))
    for _ in range(rounds):
        columns = inverse(came, rows, left, ahead)
        rows = inverse(left, columns, came, ahead.conj())
    return np.log(columns)


class _Law:
    """The density of a delay, and the mean and spread of its log."""

    def __init__(self, rates: Floats) -> None:
        self._rates = rates
        end = self.reach(HOPS.outline_gone)
        # Quadratic steps: densities of few hops change most near 0.
        edges = end * np.linspace(0.0, 1.0, HOPS.outline_grid + 1) ** 2
        self.delays = (edges[1:] + edges[:-1]) / 2
        shares = -np.diff(np.exp(stage_survival(rates, edges)))
        self.logs = stage_log_density(rates, self.delays)
        self.mean = float(shares @ self.logs)
        self.variance = float(shares @ (self.logs - self.mean) ** 2)
        self.mode = float(self.delays[np.argmax(self.logs)])

    def reach(self, tail: float) -> float:
        """A delay that is exceeded with a probability whose log is ``tail``, or less."""
        end = 1.0
        while stage_survival(self._rates, np.array([end]))[0] > tail:
            end *= 1.1
        return end


def _joint(
    arrivals: Floats, departures: Floats, law: _Law, evidence: tuple[float, float] | None
) -> Interval:
    """Entropy of the matching in bits; never more than that of all matchings alike."""
    size = len(arrivals)
    inside = np.searchsorted(arrivals, departures, side="right") - np.arange(size)
    most = float(np.log2(np.maximum(inside, 1)).sum())
    if evidence is None:
        return Interval.between(0.0, most)
    log, missing = evidence
    value = (log - size * law.mean) / _LN2
    slack = (HOPS.outline_normal * math.sqrt(size * law.variance) + missing) / _LN2
    return Interval.rounded(
        value, value - slack, value + slack, size=abs(log) + size * abs(law.mean)
    ).clipped(0.0, most)


def _by_density(
    arrivals: Floats, departures: Floats, law: _Law, scales: Floats
) -> tuple[Floats, Floats, Floats]:
    """Entropy, sum of squares and largest of the shares by density; between some messages, as by
    those before and after them.
    """
    reach = law.reach(HOPS.outline_tail)
    first = np.searchsorted(departures, arrivals, side="left")
    widths = np.searchsorted(departures, arrivals + reach, side="right") - first
    step = max(1, math.ceil(float(widths.sum()) / HOPS.outline_pairs))
    chosen = np.arange(0, len(arrivals), step)
    chosen = chosen[widths[chosen] > 0]
    if not len(chosen):
        return np.zeros(len(arrivals)), np.ones(len(arrivals)), np.ones(len(arrivals))
    counts = widths[chosen]
    starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    candidates = np.arange(int(counts.sum())) - np.repeat(starts - first[chosen], counts)
    delays = departures[candidates] - np.repeat(arrivals[chosen], counts)
    logs = np.interp(delays, law.delays, law.logs) + scales[candidates]
    logs -= np.repeat(np.maximum.reduceat(logs, starts), counts)
    shares = np.exp(logs)
    sums = np.add.reduceat(shares, starts)
    entropy = np.log2(sums) - np.add.reduceat(shares * logs, starts) / sums / _LN2
    collision = np.add.reduceat(shares**2, starts) / sums**2
    everybody = np.arange(len(arrivals))
    figures = (np.interp(everybody, chosen, part) for part in (entropy, collision, 1.0 / sums))
    shannon, together, largest = figures
    return shannon, together, largest


def _likeliest(arrivals: Floats, departures: Floats, law: _Law) -> Ints:
    """The departure whose delay is nearest to the likeliest one, of those that came later."""
    first = np.searchsorted(departures, arrivals, side="left")
    after = np.searchsorted(departures, arrivals + law.mode)
    after = np.minimum(after, len(departures) - 1)
    before = np.maximum(after - 1, np.minimum(first, len(departures) - 1))
    wanted = arrivals + law.mode
    nearer = np.abs(departures[before] - wanted) < np.abs(departures[after] - wanted)
    return np.where(nearer, before, after).astype(np.int64)
