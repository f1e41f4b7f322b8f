"""A mix whose delays are sums of exponential hops, of which only the ends are seen.

Messages in the same hop are exchangeable, so that only *how many* are in each hop is hidden. A
filter over those counts gives the evidence of a log exactly, and the probabilities of a message
follow from the filter without it; beyond the budget they follow from paths of counts drawn from
their posterior, with intervals.

References
----------
.. [1] Kendall. Stochastic processes and population growth. J. R. Stat. Soc. B, 1949.
.. [2] Frühwirth-Schnatter. Data augmentation and dynamic linear models. J. Time Ser. Anal., 1994.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anonymatch._native import PHASE_CHAIN_LARGEST, PhaseChain, PhaseRows, stage_survival
from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import Argument, several
from anonymatch.measures.interval import Interval
from anonymatch.measures.passages.links import (
    Channel,
    LinkFigures,
    ReceiverFigures,
    around,
    check_start,
    early_shares,
    early_weights,
    entropy_slack,
    guesses_within,
    taken_as_mean,
    two_outcomes,
    with_tilt,
)
from anonymatch.measures.passages.phase_outline import outline, outline_seconds
from anonymatch.measures.users import Range
from anonymatch.running import CHUNK_SECONDS, Budget, Execution, Progress, byte_of_work

__all__ = ["FASTEST_HOP", "MOST_HOPS", "check_hops", "phase_figures", "phase_pairs"]

MOST_HOPS = PHASE_CHAIN_LARGEST
"""Hops up to which counts by hop are available."""
FASTEST_HOP = 100.0
"""How much faster a hop may be than the slowest."""


_LN2 = math.log(2.0)
_CUTS = (1e-16, 1e-40, 1e-120, 0.0)  # shares of the weight that are left out, smaller on demand
_CUT_ERROR = 1e-9  # what may be missing of any probability
_DRAWN_CUTS = (1e-10, *_CUTS)  # the same where figures are drawn, which are known less well
_ROUGHEST_CUT = 1e-8  # if that alone fits the budget
_DRAWN_ERROR = 1e-4
_OUTLINE_CUTS = 20.0  # times what is cut off at an event, that may be missing after it
_TOLERANCE = 1e-12  # of a message, that is not followed any more
_WORK_SECONDS = 0.27e-9  # a pass over a cell, measured
_STRETCH = CHUNK_SECONDS / _WORK_SECONDS / 2  # work of a call of the kernel
_BACKWARD = 2.5  # passes over the log backwards, in forward ones
_DRAWING = 3.0  # the same of drawing, beside the paths themselves
_FINER = 1.5  # work where nothing to speak of is cut off, in that of drawn figures
_PATH_SECONDS = 0.7e-9  # an event, a path and a departure to come
_ROW_SECONDS = 9e-8  # a message and a departure to come, for all batches
_FAR = 36.0  # means of the slowest hop after which a message has left
# Student's t with 9 degrees of freedom: 99 % of means, and 97 % of what the jackknife gives.
_BATCHES, _QUANTILE, _CONFIDENCE = 10, 3.25, 0.95
_SAMPLES = (400, 200, 100, 40, 20)
_ENOUGH_SAMPLES = 200
_MORE_SAMPLES = 10.0  # seconds that may go into more samples than that
_COUNTED = {"cover": 1, "lost": 2}
_MOST_TILTS = 12


def phase_figures(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    means: Sequence[float],
    channel: Channel,
    budget: Budget,
    receivers: npt.ArrayLike | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    effort: Execution | None = None,
    strict: bool = False,
) -> LinkFigures:
    """What a log of a mix with several exponential hops says of each message.

    Exact where that is predicted to fit the budget. Else the evidence, what was lost and what is
    cover are exact, and the rest is estimated from drawn paths, with intervals.

    Parameters
    ----------
    arrivals, departures : arrays of times, sorted
    means : sequence of float
        Seconds that a message spends in each exponential stage of its delay, on average; up to
        `MOST_HOPS` of them, whose order does not matter.
    channel : Channel
        Rates of loss and cover, or their numbers; see
        :func:`anonymatch.measures.passages.hidden_chain.hidden_figures`. Messages inside at the
        beginning are as likely in one hop as in another, as in a mix that has run for long.
    budget : Budget
    receivers : array of int, optional
        Groups of departures whose probabilities are added up.
    seed : int
        Of what is drawn, if anything is.
    progress : callable, optional
        Told the work done and the work in all.
    effort : Effort, optional
        Work under way that this is a part of; then it is told instead.
    strict : bool
        Whether the seconds were asked for: where drawn paths are beyond them, an outline will do.

    Raises
    ------
    InputError
        If nothing explains the log, or there are more hops.
    BudgetError
        If even estimates are beyond the budget.

    Examples
    --------
    >>> channel = Channel(begin=0.0, end=12.0, drained=True)
    >>> figures = phase_figures(
    ...     [0, 1, 2, 3, 4, 5.5],
    ...     [2.5, 4, 6, 7, 9.5, 12],
    ...     means=[1 / 0.6] * 3,
    ...     channel=channel,
    ...     budget=Budget(),
    ... )
    >>> round(figures.log_evidence, 6), round(figures.joint_bits.value, 6)
    (-8.590393, 6.645944)
    """
    log = _PhaseLog.of(arrivals, departures, means, channel, receivers)
    work = _PhaseWork(budget, effort or Execution(progress=progress), strict=strict)
    return _figures(log, work, seed, pairs=False)


def phase_pairs(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    means: Sequence[float],
    channel: Channel,
    budget: Budget,
    progress: Progress | None = None,
) -> LinkFigures:
    """The same with the probability of every pair, exact or refused.

    Examples
    --------
    >>> channel = Channel(begin=0.0, end=9.0, drained=True)
    >>> figures = phase_pairs(
    ...     [0, 1], [2, 9], means=[1.0, 1.0], channel=channel, budget=Budget()
    ... )
    >>> figures.pairs.round(4).tolist()
    [[0.64, 0.36], [0.36, 0.64]]
    """
    log = _PhaseLog.of(arrivals, departures, means, channel)
    return _figures(log, _PhaseWork(budget, Execution(progress=progress)), 0, pairs=True)


def check_hops(means: Sequence[float]) -> None:
    """Refuse hops that cannot be followed: too many, or too different."""
    if not 1 <= len(means) <= MOST_HOPS:
        raise InputError(
            f"delays of {len(means)} hops: counts by hop are available for 1 to {MOST_HOPS} hops"
        )
    for one in means:
        if not real(one, "mean") > 0.0:
            raise InputError(f"mean must be above 0 seconds, not {one:g}")
    if max(means) > FASTEST_HOP * min(means):
        raise InputError(
            f"means of hops from {min(means):g} to {max(means):g} s: they may differ by a factor "
            f"of {FASTEST_HOP:g}; take the fast ones as a time on links, as in 0.02+exponential:3"
        )


# ---- what is asked


@dataclass(frozen=True, slots=True, eq=False)
class _PhaseLog:
    """A log in means of the slowest hop, and what the chain is told of it."""

    arrivals: Floats
    departures: Floats
    rates: Floats  # of the hops, in that of the slowest, which is the last
    mean: float  # of the slowest, in seconds
    channel: Channel
    loss: float  # of the chain, whatever number is told: it cancels
    cover: float  # the same, in one mean hop
    begin: float = 0.0  # in seconds; what mean hops are counted from
    receivers: Ints | None = None  # groups of departures
    early: Floats | None = None  # weights of departures to have been inside at the beginning

    @classmethod
    def of(
        cls,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        means: Sequence[float],
        channel: Channel,
        receivers: npt.ArrayLike | None = None,
    ) -> _PhaseLog:
        check_hops(means)
        mean = float(max(means))
        came, left = (
            _times(times, name, channel)
            for times, name in ((arrivals, "arrivals"), (departures, "departures"))
        )
        channel = check_start(channel)
        _check_channel(channel, len(came), len(left))
        loss, cover = _rates(channel, len(came))
        begin = channel.begin
        groups = None
        if receivers is not None and len(left):
            groups = np.asarray(receivers, dtype=np.int64)
            if groups.shape != left.shape:
                raise InputError(f"{len(groups)} receivers of {len(left)} departures")
        return cls(
            (came - begin) / mean,
            (left - begin) / mean,
            mean / np.sort(np.asarray(means, dtype=np.float64)),
            mean,
            channel,
            loss,
            cover * mean,
            begin,
            groups,
            _early(channel.inside_at_start, (left - begin) / mean, means),
        )

    @property
    def hops(self) -> int:
        return len(self.rates)

    @property
    def end(self) -> float:
        return (self.channel.end - self.begin) / self.mean

    @property
    def lost(self) -> int | None:
        """How many were lost, if that is known."""
        if self.channel.lost is not None:
            return self.channel.lost
        return 0 if self.channel.loss == 0.0 else None

    @property
    def covers(self) -> int | None:
        """How many departures are cover, if that is known."""
        if self.channel.cover is not None:
            return self.channel.cover
        return 0 if self.channel.cover_rate == 0.0 else None

    @property
    def numbers_known(self) -> bool:
        """Whether it is known how many departures are of messages in the log."""
        return self.lost is not None and self.covers is not None and self.early is None

    @property
    def clean(self) -> bool:
        """Whether all that came in left, and nothing else did."""
        return self.numbers_known and not self.lost and not self.covers and not self.total_end

    @property
    def nobodys(self) -> Floats:
        """Weights of departures to be of no message in the log: cover, or inside before."""
        cover = np.full(len(self.departures), self.cover)
        return cover if self.early is None else cover + self.early

    @property
    def total_end(self) -> int:
        """Messages inside at the end, or -1 if that is not known."""
        if self.numbers_known:
            assert self.lost is not None
            assert self.covers is not None
            return len(self.arrivals) - self.lost - len(self.departures) + self.covers
        return 0 if self.channel.drained else -1

    def counted(self) -> tuple[str, int] | None:
        """What has to be counted along the log: what is inside at the end does not tell it."""
        lost, cover = self.channel.lost, self.channel.cover
        both = {"lost": lost, "cover": cover}
        if not self.loss or (not self.cover and self.early is None):
            return None
        given = [(number, name) for name, number in both.items() if number is not None]
        if not given:
            return None
        number, name = min(given)
        return name, number

    def log_prior(self) -> float:
        """Natural log of the probability of the numbers that are told, under the chain's rates."""
        log, n = 0.0, len(self.arrivals)
        lost, cover = self.channel.lost, self.channel.cover
        if lost:
            log += math.lgamma(n + 1) - math.lgamma(lost + 1) - math.lgamma(n - lost + 1)
            log += lost * math.log(self.loss) + (n - lost) * math.log1p(-self.loss)
        if cover:
            expected = self.cover * self.end
            log += cover * math.log(expected) - expected - math.lgamma(cover + 1)
        return log

    def constant(self) -> float:
        """Natural log of what all weights have in common beside the chain's."""
        log = -len(self.departures) * math.log(self.mean) - self.cover * self.end
        return log - self.channel.inside_at_start * self._early_out()

    def _early_out(self) -> float:
        """Share of those inside at the beginning that has left by the end, as far as it counts."""
        if self.channel.drained:
            return 1.0
        # Each of them is in any hop for as long as it takes there, with those after it to come.
        shares = (1.0 / self.rates) / (1.0 / self.rates).sum()
        stays: float = sum(
            share * math.exp(stage_survival(self.rates[first:], np.array([self.end]))[0])
            for first, share in enumerate(shares.tolist())
        )
        return max(1.0 - stays, 0.0)

    def stays(self) -> Floats:
        """Natural log of the probability that a message is not out by the end."""
        return stage_survival(self.rates, self.end - self.arrivals)

    def chain(self, epsilon: float, *, count: bool) -> PhaseChain:
        counted = self.counted() if count else None
        name, number = counted or ("", 0)
        return PhaseChain(
            self.arrivals,
            self.departures,
            self.end,
            rates=self.rates,
            loss=self.loss,
            cover=self.cover,
            counted=_COUNTED.get(name, 0),
            count_end=number,
            total_end=self.total_end,
            epsilon=epsilon,
            early=self.early,
            groups=self.receivers,
        )


def _early(inside: float, since: Floats, means: Sequence[float]) -> Floats | None:
    """Weights, in means of the slowest hop, of departures to be one of so many inside before.

    In a mix that has run for long, one of them leaves with the density of what is left of a delay:
    the probability that a new message would still be inside, over the mean delay.
    """
    if not inside:
        return None
    slowest = max(means)
    rates = slowest / np.sort(np.asarray(means, dtype=np.float64))
    return early_weights(
        inside, np.exp(stage_survival(rates, since)) * (slowest / math.fsum(means))
    )


def _times(times: npt.ArrayLike, name: str, channel: Channel) -> Floats:
    array = np.asarray(times, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"{name} must be a list of times in seconds")
    if len(array) and (np.diff(array) < 0.0).any():
        raise InputError(f"{name} must be sorted")
    if len(array) and not channel.begin <= array[0] <= array[-1] <= channel.end:
        raise InputError(
            f"{name} from {array[0]:g} to {array[-1]:g} s do not lie within the log, "
            f"which is from {channel.begin:g} to {channel.end:g} s"
        )
    return array


def _check_channel(channel: Channel, came: int, left: int) -> None:
    if not real(channel.loss, "loss", high=1.0) < 1.0:
        raise InputError(Argument("loss"), f" must be below 1, not {channel.loss:g}")
    real(channel.cover_rate, "cover_rate")
    for number, name, noun, most in (
        (channel.lost, "lost", "came in", came),
        (channel.cover, "cover", "left", left),
    ):
        if number is not None and whole(number, name) > most:
            raise InputError(
                Argument(name), f" is {number}, but only {several(most, 'message')} {noun}"
            )
    if channel.cover and not channel.end > channel.begin:
        raise InputError(Argument("cover"), " needs a log that lasts longer than 0 seconds")
    if not (math.isfinite(channel.begin) and math.isfinite(channel.end)):
        raise InputError("begin and end of a log must be finite")


def _rates(channel: Channel, came: int) -> tuple[float, float]:
    """Rates for the chain. Numbers that are told cancel them; those near keep its tables small."""
    loss, cover = channel.loss, channel.cover_rate
    if channel.lost is not None:
        loss = (channel.lost + 0.5) / (came + 1.0) if channel.lost else 0.0
    if channel.cover is not None:
        cover = channel.cover / (channel.end - channel.begin) if channel.cover else 0.0
    return loss, cover


# ---- passes over the log


class _PhaseWork:
    """What is spent and what is left of a budget."""

    def __init__(self, budget: Budget, effort: Execution, *, strict: bool = False) -> None:
        self.budget, self.effort, self.spent, self.strict = budget, effort, 0.0, strict

    @property
    def left(self) -> float:
        return max(self.budget.seconds - self.spent, 0.0)

    def done(self, seconds: float) -> None:
        self.spent += seconds
        self.effort.stop.check()
        self.effort.advance(seconds)

    def check(self, seconds: float, memory: float) -> None:
        """Refuse what is predicted to need more than is left."""
        if seconds > self.left or memory > self.budget.memory:
            raise self.budget.refusal(
                "counts by hop", self.spent + seconds, memory, "take a shorter part of the log"
            )


def _figures(log: _PhaseLog, work: _PhaseWork, seed: int, *, pairs: bool) -> LinkFigures:
    _check_explained(log)
    if log.counted() is None:
        return _solved(log, work, seed, pairs=pairs, count=False)
    try:
        return _solved(log, work, seed, pairs=pairs, count=True)
    except BudgetError:
        if pairs:
            raise
        return _tilted(log, work, seed)


def _check_explained(log: _PhaseLog) -> None:
    """Name what no explanation can account for, where counting heads is enough to see it."""
    if log.cover == 0.0 and log.early is None:
        # Several hops take time: who comes in with a departure is not it.
        before = np.searchsorted(
            log.arrivals, log.departures, side="right" if log.hops == 1 else "left"
        )
        wrong = np.flatnonzero(before < np.arange(1, len(log.departures) + 1))
        if len(wrong):
            raise _nobody(log, int(wrong[0]))
    inside = log.total_end
    known = log.numbers_known
    if inside < 0 and known:
        raise InputError(
            f"{len(log.arrivals)} messages came in, {log.lost} of them are lost, and "
            f"{len(log.departures)} left, {log.covers} of them cover: {-inside} too many; "
            "tell other numbers, or rates (",
            Argument("loss"),
            ", ",
            Argument("cover_rate"),
            ")",
        )
    if known and log.channel.drained and inside > 0:
        raise InputError(
            f"{several(inside, 'message')} must still be inside at the end, which is told to be "
            "empty; leave out ",
            Argument("drained"),
            ", or allow for losses (",
            Argument("loss"),
            ", ",
            Argument("lost"),
            ")",
        )


def _nobody(log: _PhaseLog, at: int) -> InputError:
    time = log.departures[at] * log.mean + log.begin
    return InputError(
        f"departure {at + 1} at {time:g} s: nobody is inside who can have sent it; "
        "allow for cover traffic: give ",
        Argument("cover_rate"),
        " or ",
        Argument("cover"),
        ", or for messages inside when the log begins: ",
        Argument("inside_at_start"),
    )


def _unexplained(log: _PhaseLog) -> InputError:
    return InputError(
        f"nothing explains {several(len(log.arrivals), 'arrival')} and "
        f"{several(len(log.departures), 'departure')}: with what is told of losses, cover and the "
        "end some message cannot have left, or some departure is nobody's; give ",
        Argument("cover_rate"),
        " or ",
        Argument("loss"),
    )


def _solved(
    log: _PhaseLog, work: _PhaseWork, seed: int, *, pairs: bool, count: bool
) -> LinkFigures:
    """Exact figures if they are predicted to fit, else estimates."""
    if pairs:
        exact = _exact(log, work, pairs=True, count=count)
        if exact is None:
            raise _unexplained(log)
        return exact
    try:
        chain = log.chain(_DRAWN_CUTS[0], count=count)
        possible = _forward(chain, log, work)
    except BudgetError as refusal:  # which names what is enough, unlike one after a second attempt
        chain = log.chain(_ROUGHEST_CUT, count=count)
        try:
            possible = _forward(chain, log, work)
        except BudgetError:
            if not _outline_pays(log, work):
                raise refusal from None
            return _outlined(log, work)
    if not possible or _exact_predicted(chain, log, work):
        exact = _exact(log, work, pairs=False, count=count)
        if exact is not None:
            return exact
    return _estimated(log, chain if possible else None, work, seed, count=count)


def _outline_pays(log: _PhaseLog, work: _PhaseWork) -> bool:
    """Whether seconds were asked for that buy an outline of a log without losses and cover."""
    return log.clean and work.strict and outline_seconds(len(log.arrivals)) <= work.left


def _outlined(log: _PhaseLog, work: _PhaseWork) -> LinkFigures:
    """What the evidence says of the whole log, if that fits, and delays of each message."""
    seconds = outline_seconds(len(log.arrivals))
    evidence, told = None, None
    chain = log.chain(_ROUGHEST_CUT, count=False)
    try:
        possible = _forward(chain, log, work, alone=True, besides=seconds)
    except BudgetError:
        possible = False
    if possible:
        # Only a way back tells what was cut off; several times the shares of all events is more.
        events = len(log.arrivals) + len(log.departures)
        missing = _OUTLINE_CUTS * _ROUGHEST_CUT * events
        evidence = float(chain.kernel.log_evidence), missing
        told = _log_evidence(log, chain)
    work.effort.expect(seconds)
    figures = outline(log.arrivals, log.departures, log.rates, evidence, told)
    work.done(seconds)
    return figures


def _exact(log: _PhaseLog, work: _PhaseWork, *, pairs: bool, count: bool) -> LinkFigures | None:
    """Exact figures with as much cut off as can be told not to matter; None if that is too dear."""
    for epsilon in _CUTS:
        chain = log.chain(epsilon, count=count)
        if not _forward(chain, log, work):
            continue
        if not _exact_predicted(chain, log, work):
            if not pairs:
                return None
            _refuse_pairs(chain, log, work)
        _backward(chain, work, store=True)
        cut_off = chain.kernel.cut_off
        missing = cut_off if cut_off <= 1.0 else 1.0  # not a number where weights ran out of range
        if missing > _CUT_ERROR and epsilon > 0.0:
            continue
        if not pairs and not _exact_fits(chain, work):
            return None
        rows, dense = _followed(chain, log, work, pairs=pairs)
        worst = missing + rows.error
        if worst > _CUT_ERROR and epsilon > 0.0:
            continue
        if worst > _CUT_ERROR and not pairs:
            return None
        solved = _chain_figures(log, chain, rows, worst, worst, samples=0)
        return replace(solved, pairs=dense) if pairs else solved
    return None


def _estimated(
    log: _PhaseLog, begun: PhaseChain | None, work: _PhaseWork, seed: int, *, count: bool
) -> LinkFigures:
    """Figures from drawn paths."""
    for epsilon in _DRAWN_CUTS:
        if begun is None:
            begun = log.chain(epsilon, count=count)
            if not _forward(begun, log, work):
                begun = None
                continue
        chain, begun = begun, None
        samples = _number_of_paths(chain, log, work)
        rows = _drawn(chain, log, work, samples, seed)
        near = chain.kernel.cut_off_near
        if not near <= _DRAWN_ERROR and epsilon > 0.0 and _fits_again(chain, log, work):
            continue
        near, missing = (
            min(share, 1.0) if share >= 0.0 else 1.0 for share in (near, chain.kernel.cut_off)
        )
        solved = _chain_figures(log, chain, rows, near, missing, samples=samples)
        return replace(solved, seed=seed, log_evidence=_finer_evidence(log, chain, work, solved))
    raise _unexplained(log)


def _fits_again(chain: PhaseChain, log: _PhaseLog, work: _PhaseWork) -> bool:
    """Whether all can be done once more, with less cut off."""
    again = (1.0 + _DRAWING) * _FINER * chain.kernel.work * _WORK_SECONDS
    return again + _path_cost(log, _SAMPLES[-1], _to_come(log)) <= work.left


def _finer_evidence(
    log: _PhaseLog, chain: PhaseChain, work: _PhaseWork, solved: LinkFigures
) -> float | None:
    """The evidence by a filter that cuts off nothing to speak of, where that takes little."""
    one_number = not log.loss and not log.nobodys.any()
    if not one_number or _FINER * chain.kernel.work * _WORK_SECONDS > work.left:
        return solved.log_evidence
    finer = log.chain(_CUTS[0], count=False)
    try:
        possible = _forward(finer, log, work, alone=True)
    except BudgetError:  # dearer than it seemed: there is an answer already
        return solved.log_evidence
    return _log_evidence(log, finer) if possible else solved.log_evidence


def _forward(
    chain: PhaseChain,
    log: _PhaseLog,
    work: _PhaseWork,
    *,
    alone: bool = False,
    besides: float = 0.0,
) -> bool:
    """The filter to its end; whether something is possible.

    ``alone``: with nothing to follow but what takes so many seconds ``besides``. Else paths are
    drawn, few of them at least.
    """
    kernel = chain.kernel
    if not alone and log.clean and work.strict:
        besides = _path_cost(log, _SAMPLES[-1], _to_come(log))
    before = share = 0.0
    going = True
    while going:
        going = kernel.forward(_STRETCH)
        seconds = (kernel.work - before) * _WORK_SECONDS
        # A mix fills up, so that events to come cost as much as the last ones, not as the first.
        gained = max(kernel.share_done - share, 1e-9)
        ahead = max(seconds / gained, kernel.work * _WORK_SECONDS / kernel.share_done)
        ahead *= 1.0 - kernel.share_done
        rest = 0.0 if alone else (kernel.work * _WORK_SECONDS + ahead) * _DRAWING
        before, share = kernel.work, kernel.share_done
        work.effort.expect(seconds)
        if kernel.share_done >= 0.02 or kernel.work * _WORK_SECONDS > 0.1 * work.left:
            work.check(ahead + rest + besides, _memory(chain, log))
        work.done(seconds)
        whole = work.spent + ahead + rest + besides
        work.effort.foresee(min(whole, work.budget.seconds))  # what is more is refused
    return bool(kernel.possible)


def _memory(chain: PhaseChain, log: _PhaseLog) -> float:
    """Bytes that a pass takes: tables of a stretch, and one for every stretch."""
    kernel = chain.kernel
    share = max(kernel.share_done, 1e-9)
    a_stretch = 16.0 * kernel.cells / max(kernel.stretches, 1)
    events = (len(log.arrivals) + len(log.departures)) * share
    return a_stretch + 16.0 * kernel.stretches / share * kernel.cells / max(events, 1.0)


def _to_come(log: _PhaseLog) -> Floats:
    """Departures that a message may be, more or less."""
    first, last = (np.searchsorted(log.departures, log.arrivals + after) for after in (0.0, _FAR))
    return (last - first).astype(np.float64)


def _exact_predicted(chain: PhaseChain, log: _PhaseLog, work: _PhaseWork) -> bool:
    """Whether all messages can be followed one by one, by what the filter took."""
    seconds, memory = _exact_cost(chain, log)
    return seconds <= work.left and memory <= work.budget.memory


def _exact_cost(chain: PhaseChain, log: _PhaseLog) -> tuple[float, float]:
    kernel = chain.kernel
    events = len(log.arrivals) + len(log.departures)
    each = kernel.work / max(events, 1)
    # Less is cut off than here; many messages are not followed to their last departure.
    seconds = _FINER * (1.5 / 4.0 * each * float(_to_come(log).sum()) + _BACKWARD * kernel.work)
    return seconds * _WORK_SECONDS, 8.0 * kernel.cells + _memory(chain, log)


def _refuse_pairs(chain: PhaseChain, log: _PhaseLog, work: _PhaseWork) -> None:
    work.check(*_exact_cost(chain, log))


def _path_cost(log: _PhaseLog, samples: int, width: Floats) -> float:
    """Seconds of so many paths, beside the way back itself."""
    events = len(log.arrivals) + len(log.departures)
    mean = float(width.mean()) if len(width) else 0.0
    cost = events * samples * _PATH_SECONDS + len(log.arrivals) * _ROW_SECONDS
    return cost * (mean + 4.0)


def _number_of_paths(chain: PhaseChain, log: _PhaseLog, work: _PhaseWork) -> int:
    width = _to_come(log)
    left = work.left - _DRAWING * chain.kernel.work * _WORK_SECONDS
    for samples in _SAMPLES:
        room = 32.0 * samples * log.hops * (float(width.max(initial=0.0)) + 64.0)
        most = left if samples <= _ENOUGH_SAMPLES else min(left, _MORE_SAMPLES)
        fits = room + _memory(chain, log) <= work.budget.memory
        if fits and _path_cost(log, samples, width) <= most:
            break
    return samples


def _exact_fits(chain: PhaseChain, work: _PhaseWork) -> bool:
    """Whether all messages can be followed, one by one, with what is left."""
    return float(chain.kernel.row_work().sum()) * _WORK_SECONDS <= work.left


def _backward(chain: PhaseChain, work: _PhaseWork, *, store: bool) -> None:
    kernel = chain.kernel
    each = _BACKWARD * kernel.work * _WORK_SECONDS / max(kernel.stretches, 1)
    work.effort.expect(each * kernel.stretches)
    going = kernel.stretches > 0
    while going:
        going = kernel.backward(store)
        work.done(each)


def _weights(log: _PhaseLog) -> tuple[Floats, Floats]:
    """Natural log of the weights of a message still inside, and of one that was not seen."""
    stays = log.stays()
    inside = np.log1p(-log.loss) + stays
    if log.channel.drained:
        return np.zeros_like(stays), np.full_like(stays, math.log(log.loss) if log.loss else 0.0)
    unseen = np.logaddexp(inside, math.log(log.loss)) if log.loss else inside
    return inside, unseen


def _followed(
    chain: PhaseChain, log: _PhaseLog, work: _PhaseWork, *, pairs: bool
) -> tuple[PhaseRows, Floats | None]:
    """Exact figures of all messages, some in each call."""
    inside, unseen = _weights(log)
    seconds = chain.kernel.row_work() * _WORK_SECONDS
    size = len(seconds)
    steps = np.floor(np.cumsum(seconds) / CHUNK_SECONDS)
    cuts = [0, *(np.flatnonzero(np.diff(steps) > 0) + 1).tolist(), size] if size else [0]
    costs = [float(seconds[first:last].sum()) for first, last in pairwise(cuts)]
    tolerance = max(_TOLERANCE, 4.0 * chain.kernel.cut_off)
    calls: Iterator[Callable[[], tuple[PhaseRows, Floats]]] = (
        partial(_rows, chain, first, last, tolerance, inside, unseen, pairs)
        for first, last in pairwise(cuts)
    )
    work.effort.expect(sum(costs))
    threads = Execution()  # the chain is in this process, wherever other work may go
    threads.stop = work.effort.stop
    parts: list[tuple[PhaseRows, Floats]] = []
    for part in threads.chunks(calls, each=costs, number=len(costs)):
        work.done(costs[len(parts)])
        parts.append(part)
    rows = _joined([rows for rows, _ in parts])
    if not pairs:
        return rows, None
    shape = (size, len(log.departures))
    return rows, np.concatenate([dense for _, dense in parts]) if parts else np.zeros(shape)


def _rows(
    chain: PhaseChain,
    first: int,
    last: int,
    tolerance: float,
    inside: Floats,
    unseen: Floats,
    pairs: bool,
) -> tuple[PhaseRows, Floats]:
    return chain.rows(
        first,
        last,
        tolerance=tolerance,
        inside_logs=inside,
        unseen_logs=unseen,
        pairs=pairs,
        cancel=byte_of_work(),
    )


def _joined(parts: list[PhaseRows]) -> PhaseRows:
    """Messages one after another; sums over them added up."""
    sums = {"pair_logs", "inside_logs", "unseen_logs"}
    joined = {
        name: (
            np.sum([getattr(part, name) for part in parts], axis=0, initial=0.0).reshape(-1)
            if name in sums
            else np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
        )
        for name in PhaseRows._fields
        if name != "error"
    }
    for name in sums:
        joined[name] = joined[name] if len(joined[name]) else np.zeros(1)
    return PhaseRows(**joined, error=max((part.error for part in parts), default=0.0))


def _drawn(
    chain: PhaseChain, log: _PhaseLog, work: _PhaseWork, samples: int, seed: int
) -> PhaseRows:
    """Figures from so many paths."""
    inside, unseen = _weights(log)
    sampler = chain.sampler(
        _BATCHES, samples // _BATCHES, seed, inside_logs=inside, unseen_logs=unseen
    )
    cost = _path_cost(log, samples, _to_come(log))
    cost += _DRAWING * chain.kernel.work * _WORK_SECONDS
    each = cost / max(chain.kernel.stretches, 1)
    work.effort.expect(each * chain.kernel.stretches)
    going = chain.kernel.stretches > 0
    while going:
        going = sampler.back()
        work.done(each)
    rows = PhaseRows(*sampler.rows())
    shape = (-1, _BATCHES)
    return rows._replace(
        shannon_batches=rows.shannon_batches.reshape(shape),
        largest_batches=rows.largest_batches.reshape(shape),
        guessing_batches=rows.guessing_batches.reshape(shape),
    )


# ---- from rows to figures


def _chain_figures(
    log: _PhaseLog,
    chain: PhaseChain,
    rows: PhaseRows,
    near: float,
    missing: float,
    *,
    samples: int,
) -> LinkFigures:
    """Figures of messages. ``near`` of each may be missing, and ``missing`` of the evidence."""
    lost, departing = chain.kernel.lost(), chain.kernel.real()
    error = near + _TOLERANCE + 1e-13
    factor = _QUANTILE if samples else 0.0
    departed, inside = rows.departed, rows.inside
    joint, link = _entropies(log, chain, rows, lost, departing, error, missing)
    most = np.log2(np.maximum(rows.allowed, 1))
    estimated = factor * float(rows.largest_error.max(initial=0.0))
    notes = (
        f"The evidence is exact; figures of messages are estimated from {samples} drawn paths.",
    )
    return LinkFigures(
        log_evidence=_log_evidence(log, chain),
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
        confidence=_CONFIDENCE if samples else 1.0,
        method="counts by hop, drawn" if samples else "counts by hop",
        guessing=_guesses(rows, error)
        if samples
        else guesses_within(rows.guessing, error, rows.allowed),
        receivers=None if log.receivers is None else _receivers(rows),
        early=None if log.early is None else early_shares(1 - departing, log.early, log.nobodys),
        notes=notes if samples else (),
    )


def _log_evidence(log: _PhaseLog, chain: PhaseChain) -> float:
    return float(chain.kernel.log_evidence) + log.constant() - log.log_prior()


def _guesses(rows: PhaseRows, error: float) -> Range:
    """Guesses from drawn paths: their own order is a little too good, that of others too bad."""
    spread = rows.guessing_batches.std(axis=1, ddof=1) / math.sqrt(_BATCHES)
    slack = _QUANTILE * spread + error * rows.allowed.astype(np.float64)
    low = np.maximum(rows.guessing - slack, 1.0)
    return Range(rows.guessing, low, rows.guessing_apart + slack)


def _receivers(rows: PhaseRows) -> ReceiverFigures:
    return ReceiverFigures(
        shannon=rows.group_shannon,
        probability=rows.group_largest,
        guess=rows.group_guess.astype(np.int64),
    )


def _entropies(
    log: _PhaseLog,
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
        apart = float((unseen * two_outcomes(lost / np.maximum(unseen, 1e-300))).sum())
        return whole_joint, Interval.between(max(whole_joint.low - apart, 0.0), most)
    return whole_joint, _mean(link, size, slack).clipped(0.0, most)


def _mean(values: Floats, size: float, slack: float) -> Interval:
    """The mean of batches with its interval; of one batch, what rounding leaves open."""
    value = float(values.mean())
    if len(values) > 1:
        slack += _QUANTILE * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval.rounded(value, value - slack, value + slack, size=size).clipped(0.0, math.inf)


# ---- a number that is too dear to be counted along the log


def _tilted(log: _PhaseLog, work: _PhaseWork, seed: int) -> LinkFigures:
    """Figures for rates at which the number that is told is the expected one."""
    losses = log.channel.lost is not None
    goal = log.channel.lost if losses else log.channel.cover
    assert goal is not None
    tilt, variance = _tilt(log, work, goal)
    solved = _solved(_with_tilt(log, tilt), work, seed, pairs=False, count=False)
    return taken_as_mean(solved, log.channel, goal, variance)


def _with_tilt(log: _PhaseLog, tilt: float) -> _PhaseLog:
    """The odds of a loss, or the rate of cover, times the exponential of ``tilt``."""
    loss, cover = with_tilt(log.loss, log.cover, tilt, losses=log.channel.lost is not None)
    return replace(log, loss=loss, cover=cover)


def _tilt(log: _PhaseLog, work: _PhaseWork, goal: int) -> tuple[float, float]:
    """Where the expected number is the one told, and its variance there.

    The expected number grows with the tilt as fast as its variance: Newton's steps, kept short.
    """

    def expected(tilt: float) -> float:
        chain = _with_tilt(log, tilt).chain(_CUTS[0], count=False)
        if not _forward(chain, log, work):
            raise _unexplained(log)
        _backward(chain, work, store=False)
        lost, departing = chain.kernel.lost(), chain.kernel.real()
        return float(lost.sum() if log.channel.lost is not None else (1.0 - departing).sum())

    tilt, step = 0.0, 0.1
    number = expected(tilt)
    variance = max(goal, 1.0)
    for _ in range(_MOST_TILTS):
        if abs(number - goal) <= 0.01 * math.sqrt(max(variance, 1e-3)):
            break
        step = min(max((goal - number) / variance, -2.0), 2.0)
        after = expected(tilt + step)
        variance = max((after - number) / step, 1e-3)
        tilt, number = tilt + step, after
    return tilt, variance
