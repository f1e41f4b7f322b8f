"""A log of a mix with several exponential hops, as the chain over counts by hop takes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from anonymatch._native import PHASE_CHAIN_LARGEST, PhaseChain, stage_survival
from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes.laws import HopLaw
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import (
    Channel,
    LinkProblem,
    check_start,
    early_weights,
    log_binomial,
    nobody_inside,
)
from anonymatch.running import Budget, Execution

MOST_HOPS = PHASE_CHAIN_LARGEST
"""Hops up to which counts by hop are available."""
FASTEST_HOP = 100.0
"""How much faster a hop may be than the slowest."""
_COUNTED = {"cover": 1, "lost": 2}


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


@dataclass(frozen=True, slots=True, eq=False)
class PhaseLog:
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
    asked: Ints | None = None  # by message, the departure whose probability is wanted
    edge: Bools | None = None  # messages near an end of the log, that means are not about

    @classmethod
    def of(
        cls,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        means: Sequence[float],
        channel: Channel,
        receivers: npt.ArrayLike | None = None,
        asked: npt.ArrayLike | None = None,
        edge: npt.ArrayLike | None = None,
    ) -> PhaseLog:
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
            None if asked is None else np.asarray(asked, dtype=np.int64),
            None if edge is None else np.asarray(edge, dtype=np.bool_),
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

    def part(self, first: int, last: int) -> PhaseLog:
        """Messages and departures of a clean log by their numbers in order of time.

        First in, first out, each of these messages is one of these departures: so the part is a
        clean log, too.
        """
        return replace(
            self,
            arrivals=self.arrivals[first:last],
            departures=self.departures[first:last],
            receivers=None,
            asked=None,
            edge=None,
        )

    def log_prior(self) -> float:
        """Natural log of the probability of the numbers that are told, under the chain's rates."""
        log, n = 0.0, len(self.arrivals)
        lost, cover = self.channel.lost, self.channel.cover
        if lost:
            log += log_binomial(n, lost)
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
            asked=self.asked,
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


def check_explained(log: PhaseLog) -> None:
    """Name what no explanation can account for, where counting heads is enough to see it."""
    if log.cover == 0.0 and log.early is None:
        # Several hops take time: who comes in with a departure is not it.
        before = np.searchsorted(
            log.arrivals, log.departures, side="right" if log.hops == 1 else "left"
        )
        wrong = np.flatnonzero(before < np.arange(1, len(log.departures) + 1))
        if len(wrong):
            raise nobody_inside(int(wrong[0]), len(log.departures))
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


def unexplained(log: PhaseLog) -> InputError:
    """What to say of a log that no counts by hop explain."""
    return InputError(
        f"nothing explains {several(len(log.arrivals), 'arrival')} and "
        f"{several(len(log.departures), 'departure')}: with what is told of losses, cover and the "
        "end some message cannot have left, or some departure is nobody's; give ",
        Argument("cover_rate"),
        " or ",
        Argument("loss"),
    )


# ---- what counts by hop cost: seconds and bytes of passes over a log, of paths, of exact figures


def phase_seconds(problem: LinkProblem) -> float:
    """Predicted seconds of exact figures by counts by hop, from the mean number in each hop.

    A cell is a likely set of counts: some standard deviations in each hop. One count is known if
    all that came in left, and nothing else did. Predictions are within about a factor of ten.
    """
    law, channel = problem.law, problem.channel
    assert isinstance(law, HopLaw)
    size, lasted = len(problem.arrivals), max(channel.end - channel.begin, 1e-300)
    inside = [min(size * mean / lasted, float(size)) for mean in law.means]
    widths = [HOPS.phase_width * math.sqrt(number + 1.0) for number in inside]
    numbers = channel.loss, channel.lost, channel.cover_rate, channel.cover
    hidden = any(numbers) or channel.inside_at_start > 0.0
    work = HOPS.event_work + HOPS.cell_work[hidden] * math.prod(widths if hidden else widths[:-1])
    passes = HOPS.phase_backward + 0.375 * min(HOPS.phase_far * max(inside), float(size))
    events = size + len(problem.departures)
    return HOPS.phase_finer * HOPS.work_seconds * work * events * passes


class PhaseWork:
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


def fits_again(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> bool:
    """Whether all can be done once more, with less cut off."""
    again = (1.0 + HOPS.phase_drawing) * HOPS.phase_finer * chain.kernel.work * HOPS.work_seconds
    return again + fewest_paths_cost(log) <= work.left


def pass_memory(chain: PhaseChain, log: PhaseLog) -> float:
    """Bytes that a pass takes: tables of a stretch, and one for every stretch."""
    kernel = chain.kernel
    share = max(kernel.share_done, 1e-9)
    a_stretch = 16.0 * kernel.cells / max(kernel.stretches, 1)
    events = (len(log.arrivals) + len(log.departures)) * share
    return a_stretch + 16.0 * kernel.stretches / share * kernel.cells / max(events, 1.0)


def departures_to_come(log: PhaseLog) -> Floats:
    """Departures that a message may be, more or less."""
    first, last = (
        np.searchsorted(log.departures, log.arrivals + after) for after in (0.0, HOPS.phase_far)
    )
    return (last - first).astype(np.float64)


def exact_predicted(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> bool:
    """Whether all messages can be followed one by one, by what the filter took."""
    seconds, memory = _exact_cost(chain, log)
    return seconds <= work.left and memory <= work.budget.memory


def _exact_cost(chain: PhaseChain, log: PhaseLog) -> tuple[float, float]:
    kernel = chain.kernel
    events = len(log.arrivals) + len(log.departures)
    each = kernel.work / max(events, 1)
    # Less is cut off than here; many messages are not followed to their last departure.
    seconds = HOPS.phase_finer * (
        1.5 / 4.0 * each * float(departures_to_come(log).sum()) + HOPS.phase_backward * kernel.work
    )
    return seconds * HOPS.work_seconds, 8.0 * kernel.cells + pass_memory(chain, log)


def refuse_pairs(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> None:
    """Refuse exact figures with what they cost."""
    work.check(*_exact_cost(chain, log))


def path_cost(log: PhaseLog, samples: int, width: Floats) -> float:
    """Seconds of so many paths, beside the way back itself."""
    events = len(log.arrivals) + len(log.departures)
    mean = float(width.mean()) if len(width) else 0.0
    cost = events * samples * HOPS.path_seconds + len(log.arrivals) * HOPS.phase_row_seconds
    return cost * (mean + 4.0)


def fewest_paths_cost(log: PhaseLog) -> float:
    """Seconds of the fewest paths that are ever drawn."""
    return path_cost(log, HOPS.fewest_paths, departures_to_come(log))


def number_of_paths(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> int:
    """As many drawn paths as the budget pays for, but some at least."""
    width = departures_to_come(log)
    left = work.left - HOPS.phase_drawing * chain.kernel.work * HOPS.work_seconds
    for samples in HOPS.phase_samples:
        room = 32.0 * samples * log.hops * (float(width.max(initial=0.0)) + 64.0)
        most = left if samples <= HOPS.enough_samples else min(left, HOPS.more_samples)
        fits = room + pass_memory(chain, log) <= work.budget.memory
        if fits and path_cost(log, samples, width) <= most:
            break
    return samples


def exact_fits(chain: PhaseChain, work: PhaseWork) -> bool:
    """Whether all messages can be followed, one by one, with what is left."""
    return float(chain.kernel.row_work().sum()) * HOPS.work_seconds <= work.left
