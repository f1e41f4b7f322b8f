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
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anonymatch._native import PhaseChain, PhaseRows
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import BudgetError
from anonymatch.mixes.solvers.hops.phase_figures import (
    Stretch,
    chain_figures,
    log_evidence,
    outline,
    outline_seconds,
    round_seconds,
    stretch_means,
)
from anonymatch.mixes.solvers.hops.phase_log import (
    PhaseLog,
    PhaseWork,
    check_explained,
    departures_to_come,
    exact_fits,
    exact_predicted,
    fewest_paths_cost,
    fits_again,
    number_of_paths,
    pass_memory,
    path_cost,
    refuse_pairs,
    unexplained,
)
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import Channel, LinkFigures, taken_as_mean, with_tilt
from anonymatch.running import CHUNK_SECONDS, Budget, Execution, Progress, byte_of_work

_STRETCH = CHUNK_SECONDS / HOPS.work_seconds / 2  # work of a call of the kernel


def forward_pass(
    chain: PhaseChain,
    log: PhaseLog,
    work: PhaseWork,
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
        besides = fewest_paths_cost(log)
    before = share = 0.0
    going = True
    while going:
        going = kernel.forward(_STRETCH)
        seconds = (kernel.work - before) * HOPS.work_seconds
        # A mix fills up, so that events to come cost as much as the last ones, not as the first.
        gained = max(kernel.share_done - share, 1e-9)
        ahead = max(seconds / gained, kernel.work * HOPS.work_seconds / kernel.share_done)
        ahead *= 1.0 - kernel.share_done
        rest = 0.0 if alone else (kernel.work * HOPS.work_seconds + ahead) * HOPS.phase_drawing
        before, share = kernel.work, kernel.share_done
        work.effort.expect(seconds)
        if kernel.share_done >= 0.02 or kernel.work * HOPS.work_seconds > 0.1 * work.left:
            work.check(ahead + rest + besides, pass_memory(chain, log))
        work.done(seconds)
        whole = work.spent + ahead + rest + besides
        work.effort.foresee(min(whole, work.budget.seconds))  # what is more is refused
    return bool(kernel.possible)


def backward_pass(chain: PhaseChain, work: PhaseWork, *, store: bool) -> None:
    """The way back after the filter; ``store`` what exact figures of messages need."""
    kernel = chain.kernel
    each = HOPS.phase_backward * kernel.work * HOPS.work_seconds / max(kernel.stretches, 1)
    work.effort.expect(each * kernel.stretches)
    going = kernel.stretches > 0
    while going:
        going = kernel.backward(store)
        work.done(each)


def _weights(log: PhaseLog) -> tuple[Floats, Floats]:
    """Natural log of the weights of a message still inside, and of one that was not seen."""
    stays = log.stays()
    inside = np.log1p(-log.loss) + stays
    if log.channel.drained:
        return np.zeros_like(stays), np.full_like(stays, math.log(log.loss) if log.loss else 0.0)
    unseen = np.logaddexp(inside, math.log(log.loss)) if log.loss else inside
    return inside, unseen


def followed_rows(
    chain: PhaseChain, log: PhaseLog, work: PhaseWork, *, pairs: bool
) -> tuple[PhaseRows, Floats | None]:
    """Exact figures of all messages, some in each call."""
    inside, unseen = _weights(log)
    seconds = chain.kernel.row_work() * HOPS.work_seconds
    size = len(seconds)
    steps = np.floor(np.cumsum(seconds) / CHUNK_SECONDS)
    cuts = [0, *(np.flatnonzero(np.diff(steps) > 0) + 1).tolist(), size] if size else [0]
    costs = [float(seconds[first:last].sum()) for first, last in pairwise(cuts)]
    tolerance = max(HOPS.phase_tolerance, 4.0 * chain.kernel.cut_off)
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


def drawn_rows(
    chain: PhaseChain, log: PhaseLog, work: PhaseWork, samples: int, seed: int
) -> PhaseRows:
    """Figures from so many paths."""
    inside, unseen = _weights(log)
    sampler = chain.sampler(
        HOPS.phase_batches,
        samples // HOPS.phase_batches,
        seed,
        inside_logs=inside,
        unseen_logs=unseen,
    )
    cost = path_cost(log, samples, departures_to_come(log))
    cost += HOPS.phase_drawing * chain.kernel.work * HOPS.work_seconds
    each = cost / max(chain.kernel.stretches, 1)
    work.effort.expect(each * chain.kernel.stretches)
    going = chain.kernel.stretches > 0
    while going:
        going = sampler.back()
        work.done(each)
    rows = PhaseRows(*sampler.rows())
    shape = (-1, HOPS.phase_batches)
    return rows._replace(
        shannon_batches=rows.shannon_batches.reshape(shape),
        largest_batches=rows.largest_batches.reshape(shape),
        guessing_batches=rows.guessing_batches.reshape(shape),
    )


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
    asked: npt.ArrayLike | None = None,
    edge: npt.ArrayLike | None = None,
) -> LinkFigures:
    """What a log of a mix with several exponential hops says of each message.

    Exact where that is predicted to fit the budget. Else the evidence, what was lost and what is
    cover are exact, and the rest is estimated from drawn paths, with intervals.

    Times are sorted, and ``means`` are seconds in each hop. Channel, ``receivers`` and ``asked``
    are those of ``hidden_figures``. Messages inside at the beginning are as likely in one hop as in
    another, as in a mix that has run for long. If ``strict``, the seconds were asked for: where
    drawn paths are beyond them, an outline will do. Only with ``edge``, the messages near an end of
    the log that means are not about, an outline has figures from stretches of the log.

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
    log = PhaseLog.of(arrivals, departures, means, channel, receivers, asked, edge)
    work = PhaseWork(budget, effort or Execution(progress=progress), strict=strict)
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
    log = PhaseLog.of(arrivals, departures, means, channel)
    return _figures(log, PhaseWork(budget, Execution(progress=progress)), 0, pairs=True)


def _figures(log: PhaseLog, work: PhaseWork, seed: int, *, pairs: bool) -> LinkFigures:
    check_explained(log)
    if log.counted() is None:
        return _solved(log, work, seed, pairs=pairs, count=False)
    try:
        return _solved(log, work, seed, pairs=pairs, count=True)
    except BudgetError:
        if pairs:
            raise
        return _tilted(log, work, seed)


def _solved(log: PhaseLog, work: PhaseWork, seed: int, *, pairs: bool, count: bool) -> LinkFigures:
    """Exact figures if they are predicted to fit, else estimates."""
    if pairs:
        exact = _exact(log, work, pairs=True, count=count)
        if exact is None:
            raise unexplained(log)
        return exact
    try:
        chain = log.chain(HOPS.drawn_cuts[0], count=count)
        possible = forward_pass(chain, log, work)
    except BudgetError as refusal:  # which names what is enough, unlike one after a second attempt
        chain = log.chain(HOPS.roughest_cut, count=count)
        try:
            possible = forward_pass(chain, log, work)
        except BudgetError:
            if not _outline_pays(log, work):
                raise refusal from None
            return _outlined(log, work, seed)
    if not possible or exact_predicted(chain, log, work):
        exact = _exact(log, work, pairs=False, count=count)
        if exact is not None:
            return exact
    return _estimated(log, chain if possible else None, work, seed, count=count)


def _outline_pays(log: PhaseLog, work: PhaseWork) -> bool:
    """Whether seconds were asked for that buy an outline of a log without losses and cover."""
    return log.clean and work.strict and outline_seconds(len(log.arrivals)) <= work.left


def _outlined(log: PhaseLog, work: PhaseWork, seed: int) -> LinkFigures:
    """What stretches and the evidence say of the whole log, if they fit, and delays of messages."""
    times = log.arrivals, log.departures
    seconds, rounds = outline_seconds(len(log.arrivals)), 0
    each = round_seconds(*times, log.rates)
    most = int(min(max(HOPS.scaling_share * work.left / each, 1.0), HOPS.count_most_rounds))
    stretches = _stretches(log, work, seed, seconds + most * each)
    if stretches:
        rounds, seconds = most, seconds + most * each
    evidence, told = None, None
    chain = log.chain(HOPS.roughest_cut, count=False)
    try:
        possible = forward_pass(chain, log, work, alone=True, besides=seconds)
    except BudgetError:
        possible = False
    if possible:
        # Only a way back tells what was cut off; several times the shares of all events is more.
        events = len(log.arrivals) + len(log.departures)
        missing = HOPS.outline_cuts * HOPS.roughest_cut * events
        evidence = float(chain.kernel.log_evidence), missing
        told = log_evidence(log, chain)
    work.effort.expect(seconds)
    figures = outline(
        *times, log.rates, evidence, told, stretches=stretches, rounds=rounds, edge=log.edge
    )
    work.done(seconds)
    return replace(figures, seed=seed) if stretches else figures


def _stretches(log: PhaseLog, work: PhaseWork, seed: int, besides: float) -> list[Stretch]:
    """Figures of messages in stretches of a log, drawn at random; none if too few fit the budget.

    A stretch has messages before its own and after them, so that it matters little that it begins
    and ends with an empty mix. What one costs is known from the filter of the first.
    """
    if log.edge is None or log.edge.all():
        return []
    size, lasted = len(log.arrivals), float(log.arrivals[-1] - log.arrivals[0])
    before, within, after = stretch_means(log.rates)
    inner = np.flatnonzero(~log.edge)
    first, last = int(inner[0]), int(inner[-1]) + 1
    core = max(math.ceil(within * size / lasted), HOPS.count_least_core) if lasted > 0.0 else size
    blocks = (last - first) // core
    if blocks < HOPS.fewest_stretches:
        return []
    borders = np.linspace(first, last, blocks + 1).astype(np.int64)
    order = np.random.default_rng(seed).permutation(blocks)
    solved: list[Stretch] = []
    number = 1
    while len(solved) < number:
        at = int(order[len(solved)])
        own = slice(int(borders[at]), int(borders[at + 1]))
        begin, end = log.arrivals[own.start] - before, log.arrivals[own.stop - 1] + after
        whole = slice(*np.searchsorted(log.arrivals, (begin, end)).tolist())
        part = log.part(whole.start, whole.stop)
        chain = part.chain(HOPS.roughest_cut, count=False)
        try:
            possible = forward_pass(chain, part, work, alone=True, besides=besides)
        except BudgetError:
            possible = False
        if not possible:
            return []
        if not solved:
            number = min(_number_of_stretches(log, part, chain, work, besides), blocks)
        if number < HOPS.fewest_stretches:
            return []
        rows = drawn_rows(chain, part, work, HOPS.fewest_paths, seed + len(solved))
        mine = slice(own.start - whole.start, own.stop - whole.start)
        solved.append(Stretch(own, rows.shannon[mine], rows.largest[mine], rows.collision[mine]))
    return solved


def _number_of_stretches(
    log: PhaseLog, part: PhaseLog, chain: PhaseChain, work: PhaseWork, besides: float
) -> int:
    """As many as the budget pays for, beside the evidence of the whole log if that leaves enough.

    ``part``: the first of them, whose filter is done.
    """
    filtered = chain.kernel.work * HOPS.work_seconds
    rest = HOPS.phase_drawing * filtered + fewest_paths_cost(part)
    evidence = HOPS.count_fuller * filtered * len(log.arrivals) / len(part.arrivals)
    left = work.left - besides + filtered
    number = int((left - evidence) / (HOPS.count_fuller * (filtered + rest)))
    if number < HOPS.fewest_stretches:
        number = int(left / (HOPS.count_fuller * (filtered + rest)))
    return number


def _exact(log: PhaseLog, work: PhaseWork, *, pairs: bool, count: bool) -> LinkFigures | None:
    """Exact figures with as much cut off as can be told not to matter; None if that is too dear."""
    for epsilon in HOPS.count_cuts:
        chain = log.chain(epsilon, count=count)
        if not forward_pass(chain, log, work):
            continue
        if not exact_predicted(chain, log, work):
            if not pairs:
                return None
            refuse_pairs(chain, log, work)
        backward_pass(chain, work, store=True)
        cut_off = chain.kernel.cut_off
        missing = cut_off if cut_off <= 1.0 else 1.0  # not a number where weights ran out of range
        if missing > HOPS.count_cut_error and epsilon > 0.0:
            continue
        if not pairs and not exact_fits(chain, work):
            return None
        rows, dense = followed_rows(chain, log, work, pairs=pairs)
        worst = missing + rows.error
        if worst > HOPS.count_cut_error and epsilon > 0.0:
            continue
        if worst > HOPS.count_cut_error and not pairs:
            return None
        solved = chain_figures(log, chain, rows, worst, worst, samples=0)
        return replace(solved, pairs=dense) if pairs else solved
    return None


def _estimated(
    log: PhaseLog, begun: PhaseChain | None, work: PhaseWork, seed: int, *, count: bool
) -> LinkFigures:
    """Figures from drawn paths."""
    for epsilon in HOPS.drawn_cuts:
        if begun is None:
            begun = log.chain(epsilon, count=count)
            if not forward_pass(begun, log, work):
                begun = None
                continue
        chain, begun = begun, None
        samples = number_of_paths(chain, log, work)
        rows = drawn_rows(chain, log, work, samples, seed)
        near = chain.kernel.cut_off_near
        if not near <= HOPS.drawn_error and epsilon > 0.0 and fits_again(chain, log, work):
            continue
        near, missing = (
            min(share, 1.0) if share >= 0.0 else 1.0 for share in (near, chain.kernel.cut_off)
        )
        solved = chain_figures(log, chain, rows, near, missing, samples=samples)
        return replace(solved, seed=seed, log_evidence=_finer_evidence(log, chain, work, solved))
    raise unexplained(log)


def _finer_evidence(
    log: PhaseLog, chain: PhaseChain, work: PhaseWork, solved: LinkFigures
) -> float | None:
    """The evidence by a filter that cuts off nothing to speak of, where that takes little."""
    one_number = not log.loss and not log.nobodys.any()
    if not one_number or HOPS.phase_finer * chain.kernel.work * HOPS.work_seconds > work.left:
        return solved.log_evidence
    finer = log.chain(HOPS.count_cuts[0], count=False)
    try:
        possible = forward_pass(finer, log, work, alone=True)
    except BudgetError:  # dearer than it seemed: there is an answer already
        return solved.log_evidence
    return log_evidence(log, finer) if possible else solved.log_evidence


def _tilted(log: PhaseLog, work: PhaseWork, seed: int) -> LinkFigures:
    """Figures for rates at which the number that is told is the expected one."""
    losses = log.channel.lost is not None
    goal = log.channel.lost if losses else log.channel.cover
    assert goal is not None
    tilt, variance = _tilt(log, work, goal)
    solved = _solved(_with_tilt(log, tilt), work, seed, pairs=False, count=False)
    return taken_as_mean(solved, log.channel, goal, variance)


def _with_tilt(log: PhaseLog, tilt: float) -> PhaseLog:
    """The odds of a loss, or the rate of cover, times the exponential of ``tilt``."""
    loss, cover = with_tilt(log.loss, log.cover, tilt, losses=log.channel.lost is not None)
    return replace(log, loss=loss, cover=cover)


def _tilt(log: PhaseLog, work: PhaseWork, goal: int) -> tuple[float, float]:
    """Where the expected number is the one told, and its variance there.

    The expected number grows with the tilt as fast as its variance: Newton's steps, kept short.
    """

    def expected(tilt: float) -> float:
        chain = _with_tilt(log, tilt).chain(HOPS.count_cuts[0], count=False)
        if not forward_pass(chain, log, work):
            raise unexplained(log)
        backward_pass(chain, work, store=False)
        lost, departing = chain.kernel.lost(), chain.kernel.real()
        return float(lost.sum() if log.channel.lost is not None else (1.0 - departing).sum())

    tilt, step = 0.0, 0.1
    number = expected(tilt)
    variance = max(goal, 1.0)
    for _ in range(HOPS.most_tilts):
        if abs(number - goal) <= 0.01 * math.sqrt(max(variance, 1e-3)):
            break
        step = min(max((goal - number) / variance, -2.0), 2.0)
        after = expected(tilt + step)
        variance = max((after - number) / step, 1e-3)
        tilt, number = tilt + step, after
    return tilt, variance
