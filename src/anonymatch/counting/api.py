"""count() and posterior(): reduce, plan, run, combine. The only door to counting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean
from anonymatch.counting.approximate.accuracy import Accuracy
from anonymatch.counting.approximate.records import CONFIDENCE, Basis, EdgeEstimate, Estimate
from anonymatch.counting.blocks.block_classes import concatenated_ranges
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.counting.planning.choose import AUTO, ESTIMATE, METHODS, method_named
from anonymatch.counting.planning.execute import Computation, Settings
from anonymatch.counting.results import Count, Factor, Objects, Plan, Posterior, power_product
from anonymatch.graph import Graph, check_graph, require_matching, witness
from anonymatch.running import Budget, Progress, check_executor, tells_misfits


@tells_misfits
def count(
    graph: Graph,
    *,
    method: str = "auto",
    exact: bool | None = None,
    budget: Budget | float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Count:
    """How many perfect matchings the graph has: the ways users can be matched to behaviours.

    Weighted graphs: the sum over matchings of the product of their weights.

    Parameters
    ----------
    graph : Graph
    method : str
        "auto" takes the cheapest for each block; or one of ``anonymatch.METHODS`` for every block.
        "estimate" estimates every block of more than two users, also where it could be counted,
        so that estimates can be held against exact answers.
    exact : bool, optional
        True: an exact answer or a refusal that names the predicted cost; for weighted graphs the
        exact rational. Default: exact where the budget allows, otherwise an estimate with a 95 %
        interval beside the proven one; weighted graphs in floating point with a proven error.
        False: doubles with a proven error also where an exact integer could be had, if quicker.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent, or a Budget with memory. Default: 300 for
        exact methods; what they do not reach is estimated to +-0.01 in the log, or for 30 seconds.
        More seconds make estimates closer; 0 leaves them out: only proven bounds remain.
    epsilon, delta : float, optional
        Ask for a promise: within a factor 1 +- epsilon with probability 1 - delta (default 0.1 and
        0.05 if one is given). Blocks that are quickly counted are exact; beyond the budget the
        call is refused with the predicted cost.
    seed, executor, progress : optional
        As in every call: see :mod:`anonymatch.counting`.

    Returns
    -------
    Count
        A graph without a perfect matching has count 0 and a `witness`.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.count(am.Graph.from_rows(["1100", "1100", "0011", "0011"])).value
    4
    >>> c = am.count(am.Graph.from_rows(["100", "100", "111"]))
    >>> c.value, c.witness
    (0, Witness(users=(0, 1), behaviours=(0,)))
    """
    check_graph(graph)
    settings = _settings(method, exact, budget, epsilon, delta, seed, executor, progress)
    why = witness(graph)
    if why is not None:
        none = -math.inf
        return Count(
            exact=True,
            log=none,
            low=none,
            high=none,
            method="no matching",
            witness=why,
            weighted=graph.weighted,
        )
    job = Computation(graph, settings, edges=False)
    promise = None if settings.exact else Accuracy.of(epsilon, delta)
    if promise is not None:
        return _combine(job, *job.approximate(promise), confidence=1.0 - promise.delta)
    over = job.beyond_budget()
    if over and settings.exact:
        raise job.refusal("an exact count")
    return _combine(job, over, job.estimate(over))


@tells_misfits
def posterior(
    graph: Graph,
    *,
    method: str = "auto",
    exact: bool | None = None,
    budget: Budget | float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Posterior:
    """The probability of every edge: that this user did this behaviour, all matchings equally
    likely.

    Weighted graphs: matchings in proportion to the product of their weights.

    Parameters
    ----------
    graph : Graph
    method : str
        "auto" takes the cheapest for each block; or one of ``anonymatch.METHODS`` for every block.
    exact : bool, optional
        True: exact numbers or a refusal that names the predicted cost; rational ones for weighted
        graphs. Default: exact where the budget allows, otherwise estimates, each with a standard
        error. False: doubles with a proven error also where exact numbers could be had.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
        Where it is too small for any draw, probabilities are "unchecked beliefs", of errors that
        say so.
    epsilon, delta : float, optional
        Ask for a promise: all probabilities together are within +-epsilon with probability
        1 - delta (default 0.1 and 0.05 if one is given), from matchings that are drawn exactly.
    seed, executor, progress : optional
        As in every call: see :mod:`anonymatch.counting`.

    Returns
    -------
    Posterior

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching; carries Hall's witness.
    BudgetError
        If the predicted cost exceeds the budget, and `exact` is True, a promise is asked for or
        the budget is 0.

    Examples
    --------
    >>> import anonymatch as am
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    >>> p = am.posterior(am.Graph.from_edges(pairs))
    >>> p["ann"], p["cem"]
    ({'x': 0.5, 'y': 0.5}, {'y': 0.0, 'z': 1.0})
    >>> p.counts["ann"]
    {'x': 1, 'y': 1}
    """
    settings = _settings(method, exact, budget, epsilon, delta, seed, executor, progress)
    return _posterior(graph, settings, Accuracy.of(epsilon, delta))


@tells_misfits
def known_posterior(
    graph: Graph,
    *,
    budget: Budget | float | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Posterior:
    """The same, where probabilities in blocks that the budget does not reach at all are NaN."""
    settings = _settings("auto", None, budget, None, None, seed, executor, progress)
    return _posterior(graph, settings, None, partial=True)


def plan_posterior(graph: Graph, *, budget: Budget) -> Plan:
    """What exact counts through all edges of a graph would take; nothing is run."""
    settings = Settings(method=AUTO, exact=True, budget=budget, executor=None, progress=None)
    return Computation(graph, settings, edges=True).plan


def _posterior(
    graph: Graph, settings: Settings, promise: Accuracy | None, *, partial: bool = False
) -> Posterior:
    check_graph(graph)
    require_matching(graph)
    job = Computation(graph, settings, edges=True)
    promise = None if settings.exact else promise
    estimates: dict[int, EdgeEstimate] | None
    if promise is None:
        over = job.beyond_budget()
        estimates = None if over and settings.exact else job.estimate_edges(over, partial=partial)
    else:
        estimates = job.approximate_edges(promise)
    if estimates is None:
        raise job.refusal("posteriors" if settings.method == ESTIMATE else "exact posteriors")
    job.run(frozenset(estimates))
    probabilities, errors = np.zeros(graph.n_edges), np.zeros(graph.n_edges)
    error = rounding = 2.0**-44  # of the small kernel: at most 12 users and 12 behaviours
    _put_small(job, probabilities, job.small_minors()[1])
    for k, kind in enumerate(job.kinds):
        edges = job.reduced.edges_of(kind.number)
        if k in estimates:
            probabilities[edges], errors[edges] = estimates[k].probabilities, estimates[k].errors
            likely = 2.0 * float(estimates[k].errors.max())
            error = max(error, likely if promise is None else promise.epsilon)
        else:
            probabilities[edges], of_error = job.solution(k).posteriors
            error, rounding = max(error, of_error), max(rounding, of_error)
    bases = {one.basis for one in estimates.values()}
    sampled = bases - {Basis.UNKNOWN, Basis.UNCHECKED}
    probabilities.setflags(write=False)
    errors.setflags(write=False)
    exactly = not estimates and (not graph.weighted or settings.exact)
    return Posterior(
        graph=graph,
        probabilities=probabilities,
        exact=exactly,
        error=error,
        errors=errors if bases - {Basis.UNKNOWN} else None,
        entropy_errors=_entropy_errors(job, estimates),
        by_moves=Basis.MOVES in bases and Basis.SAMPLED not in bases,
        rounding=rounding,
        confidence=1.0 if not sampled else 1.0 - promise.delta if promise else CONFIDENCE,
        seed=settings.seed if sampled else None,
        method=_methods(job, estimates),
        plan=job.plan,
        exact_counts=(lambda: _exact_counts(job)) if exactly else None,
    )


def _entropy_errors(job: Computation, estimates: dict[int, EdgeEstimate]) -> Floats | None:
    """Of all users, where chains tell those of some: NaN of those who were estimated otherwise."""
    if all(one.entropy_errors is None for one in estimates.values()):
        return None
    graph = job.graph
    errors = np.zeros(graph.n_users)
    for k, one in estimates.items():
        kind = job.kinds[k]
        first = job.reduced.edges_of(kind.number)[:, kind.block.indptr[:-1]]
        users = np.searchsorted(graph.indptr, first, side="right") - 1
        errors[users] = np.nan if one.entropy_errors is None else one.entropy_errors
    errors.setflags(write=False)
    return errors


def _settings(
    method: str,
    exact: bool | None,
    budget: Budget | float | None,
    epsilon: float | None,
    delta: float | None,
    seed: int | None,
    executor: Executor | None,
    progress: Progress | None,
) -> Settings:
    known = method_named(method)
    if known is None:
        near = did_you_mean(method, METHODS)
        raise InputError(
            Argument("method"), f" must be one of {', '.join(METHODS)}; not {method!r}{near}"
        )
    if not (exact is None or isinstance(exact, bool | np.bool_)):
        raise InputError(f"exact must be True, False or None, not {exact!r}")
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None and not 0 < real(value, name, high=1.0) < 1:
            raise InputError(f"{name} must lie between 0 and 1, not {value!r}")
    if known == ESTIMATE and exact:
        raise InputError(
            Argument("method", ESTIMATE),
            " gives no exact answer; leave it or ",
            Argument("exact"),
            " out",
        )
    if seed is not None:
        whole(seed, "seed")
    check_executor(executor, progress)
    return Settings(
        method=known,
        exact=bool(exact),
        doubles=exact is not None and not exact,
        budget=Budget.of(budget),
        executor=executor,
        progress=progress,
        seed=0 if seed is None else int(seed),
    )


def _combine(
    job: Computation,
    over: frozenset[int],
    estimates: dict[int, Estimate],
    confidence: float = CONFIDENCE,
) -> Count:
    """The product over blocks: exact, or an interval."""
    weighted = job.graph.weighted
    job.run(over)
    logs, errors = job.small_logs()
    copies = job.small.copies
    total = Total(float(copies @ logs), float(copies @ errors))
    total.size = float(copies @ np.abs(logs))
    exact = not over and not job.rounded and (not weighted or job.settings.exact)
    factors = [] if weighted else job.small_factors()
    for k, kind in enumerate(job.kinds):
        shift = job.log_scale(kind)
        if k in over:
            total.add_estimate(estimates[k], shift, kind.copies)
            continue
        solution = job.solution(k)
        middle, error = solution.log_and_error
        if math.isfinite(error):
            total.add_interval(middle, (middle - error, middle + error), shift, kind.copies)
        else:  # rounding has eaten all digits
            low, high = block_bounds(kind.block)
            total.add_interval((low + high) / 2, (low, high), shift, kind.copies)
        factors += [job.factor(kind, solution)] if exact else []
    (low, high), proven = total.interval(len(logs) + len(job.kinds) + 1)
    sampled = [estimate for estimate in estimates.values() if estimate.basis is not Basis.PROVEN]
    return Count(
        exact=exact,
        log=total.log,
        low=total.log if exact else low,
        high=total.log if exact else high,
        confidence=confidence if sampled else 1.0,
        proven=proven,
        effective=min((estimate.effective for estimate in sampled), default=None),
        seed=job.settings.seed if sampled else None,
        method=_methods(job, estimates),
        plan=job.plan,
        weighted=weighted,
        factors=tuple(factors),
    )


def _methods(job: Computation, estimated: Mapping[int, Estimate | EdgeEstimate]) -> str:
    """The methods in use: those of estimates first; if all are bounds, nothing else matters."""
    if not estimated:
        return job.plan.method
    names = [estimated[k].method for k in sorted(estimated)]
    if all(one.basis is Basis.PROVEN for one in estimated.values()):
        return names[0]
    names += [o.method for k, o in enumerate(job.options) if k not in estimated]
    names += ["subset"] if (job.small.behaviour_counts > 1).any() else []
    return " + ".join(dict.fromkeys(names))


def _put_small(job: Computation, target: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
    """Write values of the small kinds' edges to all edges of their copies."""
    table, small = job.reduced.table, job.small
    sizes = np.diff(table.edge_offsets)
    positions = np.full(len(table.class_first), -1, dtype=np.int64)
    firsts = table.class_first[small.numbers]
    positions[small.numbers] = np.concatenate(([0], np.cumsum(sizes[firsts])))[:-1]
    members = np.flatnonzero(positions[table.class_of_block] >= 0)
    starts = positions[table.class_of_block[members]]
    source = concatenated_ranges(starts, sizes[members])
    target[table.edges[concatenated_ranges(table.edge_offsets[members], sizes[members])]] = values[
        source
    ]


def _exact_counts(job: Computation) -> Objects:
    """Matchings of the whole graph through every edge."""
    counts: Objects = np.zeros(job.graph.n_edges, dtype=object)
    whole = power_product([(total(), copies) for total, copies in _factors(job)])
    if len(job.small.numbers):
        table = job.reduced.table
        sizes = np.diff(table.edge_offsets)[table.class_first[job.small.numbers]]
        others = np.array([whole // total for total in job.small_exact], dtype=object)
        through = job.small_minors()[0].astype(object)
        _put_small(job, counts, np.repeat(others, sizes) * through)
    for kind, solution in zip(job.kinds, job.solutions, strict=True):
        weights = kind.block.weights
        minors = solution.minors if weights is None else solution.minors * weights
        rest = Fraction(whole) / solution.total
        factor = int(rest) if rest.denominator == 1 else rest
        counts[job.reduced.edges_of(kind.number)] = minors * factor
    return counts


def _factors(job: Computation) -> list[Factor]:
    factors = [] if job.graph.weighted else job.small_factors()
    return factors + [job.factor(k, s) for k, s in zip(job.kinds, job.solutions, strict=True)]


_ROUNDING = 2.0**-50

Interval = tuple[float, float]


class Total:
    """A sum of logs that grows block by block."""

    def __init__(self, log: float, error: float) -> None:
        self.log = log
        self.size = abs(log)  # of all terms: large ones may cancel, their rounding stays
        self._low = self._high = error  # distances of the ends, as far as they add linearly
        self._low_squares = self._high_squares = 0.0
        self._proven_low, self._proven_high = log - error, log + error

    def add_interval(self, log: float, ends: Interval, shift: float, copies: int) -> None:
        """A block whose interval is certain, or not of independent draws."""
        self._add(log, ends, ends, shift, copies)
        self._low += copies * (log - ends[0])
        self._high += copies * (ends[1] - log)

    def add_estimate(self, estimate: Estimate, shift: float, copies: int) -> None:
        """A block that was estimated."""
        below, above = (
            copies * (estimate.log - estimate.low),
            copies * (estimate.high - estimate.log),
        )
        self._add(estimate.log, (estimate.low, estimate.high), estimate.proven, shift, copies)
        if estimate.statistical:
            self._low_squares += below**2
            self._high_squares += above**2
        else:
            self._low += below
            self._high += above

    def _add(self, log: float, ends: Interval, proven: Interval, shift: float, copies: int) -> None:
        self.log += copies * (log + shift)
        self._proven_low += copies * (proven[0] + shift)
        self._proven_high += copies * (proven[1] + shift)
        self.size += copies * sum(abs(x) for x in (*ends, shift) if math.isfinite(x))

    def interval(self, terms: int) -> tuple[Interval, Interval]:
        """The interval, and the proven one; sums of so many terms are rounded too."""
        slack = _ROUNDING * terms * (1.0 + self.size)
        proven = self._proven_low - slack, self._proven_high + slack
        low = self.log - self._low - math.sqrt(self._low_squares) - slack
        high = self.log + self._high + math.sqrt(self._high_squares) + slack
        return (max(low, proven[0]), min(high, proven[1])), proven
