"""Solvers of logs of which only the ends are seen: what each offers for a log, and the choice.

A solver says of a problem whether it applies, how long it is predicted to take, and whether its
figures are exact. The table has the solvers in order of preference: where two of them apply, the
first takes less time, or its figures are closer. :func:`solve` takes the first that fits the
budget. What counts by hop cost is known for sure only while they run: if they turn out to exceed
the budget, the next solver has what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymatch import counting, mixes
from anonymatch.base.arrays import Ints
from anonymatch.base.errors import BudgetError
from anonymatch.base.interval import Interval
from anonymatch.graph import Graph
from anonymatch.mixes.laws import DensityLaw, Exponential, FlushLaw, HopLaw
from anonymatch.mixes.solvers.hops import stretches
from anonymatch.mixes.solvers.links import LinkFigures, LinkProblem
from anonymatch.mixes.solvers.tuning import SOLVING
from anonymatch.running import Budget, Execution


class LogOffer(NamedTuple):
    """What a solver predicts for a log that it can solve."""

    seconds: float
    exact: bool
    why: str
    final: bool = True  # whether the next solver is not asked if the work exceeds the budget


class Refusal(NamedTuple):
    """Why a solver does not solve a log."""

    why: str


class Solved(NamedTuple):
    """Figures of a log, and the messages that they are about if those are not all."""

    links: LinkFigures
    chosen: Ints | None = None


@dataclass(frozen=True, slots=True)
class Solver:
    """A way to solve logs: its name, what it offers, and its work."""

    name: str
    offer: Callable[[LinkProblem, Budget], LogOffer | Refusal]
    run: Callable[[LinkProblem, Budget, Execution], Solved]


class SolverOffer(NamedTuple):
    """One line of an explanation: a solver, its answer, and whether it is the one chosen."""

    name: str
    offer: LogOffer | Refusal
    chosen: bool


def solve(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    """Figures by the first solver that fits the budget."""
    refused: BudgetError | None = None
    for solver in SOLVERS:
        offer = solver.offer(problem, budget)
        if isinstance(offer, Refusal):
            continue
        try:
            return solver.run(problem, budget, effort)
        except BudgetError as error:
            if offer.final:
                raise
            refused = error
            budget = replace(
                budget, seconds=SOLVING.offer_left * budget.seconds
            )  # the attempt took its part
    assert refused is not None
    raise refused


def explain_solvers(problem: LinkProblem, budget: Budget) -> tuple[SolverOffer, ...]:
    """What every solver offers for a log; the first that applies is the one chosen."""
    return _with_choice([(solver.name, solver.offer(problem, budget)) for solver in SOLVERS])


def explain_graph(graph: Graph, lost: int, budget: Budget) -> tuple[SolverOffer, ...]:
    """The same for a log that is solved by the graph of its candidates.

    The last ``lost`` behaviours are places for messages that did not come out.
    """
    swaps, links = mixes.WideBand.of(graph, lost), None
    if swaps is None and (lost or graph.n_behaviours > graph.n_users):
        links = mixes.LinkBand.of(graph, lost)
    counted = replace(budget, seconds=budget.seconds / 2)
    wide = swaps or links
    offers: dict[str, LogOffer | Refusal] = {
        "exact counting": Refusal("messages have far too many candidates at the same time"),
        "swap chain": Refusal("messages are lost or cover, or candidates are not runs in time"),
        "link chain": Refusal("nothing is lost or cover, or candidates are not runs in time"),
    }
    if wide is None or not wide.hopeless(budget.seconds):
        plan = counting.plan_posterior(graph, budget=counted)
        fits = plan.seconds <= counted.seconds and plan.memory <= counted.memory
        counts = LogOffer(plan.seconds, True, "counts of the blocks of the graph of candidates")
        beyond = Refusal(f"{plan.seconds:.2g} s are predicted, beyond half of the budget")
        offers["exact counting"] = counts if fits or wide is None else beyond
    if swaps is not None:
        why = "messages have too many candidates for exact counts"
        offers["swap chain"] = LogOffer(mixes.band_seconds(swaps, budget), False, why)
    if links is not None:
        why = "messages may be lost or cover: a chain over explanations"
        offers["link chain"] = LogOffer(*mixes.links_cost(links, budget), why)
    return _with_choice(list(offers.items()))


def _with_choice(offers: list[tuple[str, LogOffer | Refusal]]) -> tuple[SolverOffer, ...]:
    chosen = next((name for name, offer in offers if isinstance(offer, LogOffer)), None)
    return tuple(SolverOffer(name, offer, name == chosen) for name, offer in offers)


# ---- one exponential mix


def _closed_form(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    del budget
    if not isinstance(problem.law, Exponential):
        return Refusal("the law is not that of one exponential mix")
    came, left = problem.arrivals, problem.departures
    inside = np.searchsorted(came, left, side="right")
    matched = len(came) == len(left) and bool((inside > np.arange(len(inside))).all())
    if not problem.clean or not matched:
        return Refusal("there may be losses, cover traffic or messages inside at an end")
    seconds = SOLVING.closed_seconds * len(came)
    return LogOffer(seconds, True, "all that came in left, and the number inside is known")


def _by_closed_form(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    del budget, effort
    times = problem.arrivals, problem.departures
    users, count = mixes.passage_figures(*times), mixes.passage_count(*times)
    bits = count.log / math.log(2.0)
    joint = Interval.rounded(bits, bits, bits)
    size = len(problem.arrivals)
    return Solved(
        LinkFigures(
            log_evidence=None,
            joint_bits=joint,
            link_bits=joint,
            departed=np.ones(size),
            lost=np.zeros(size),
            inside=np.zeros(size),
            real=np.ones(size),
            shannon=users.shannon,
            shannon_all=users.shannon,
            collision=np.exp2(-users.renyi2.value),
            probability=users.probability,
            guess=users.guess,
            allowed=users.allowed,
            error=float((users.probability.high - users.probability.low).max(initial=0.0)) / 2,
            method=count.method,
            guessing=users.guesses,
            asked=None if problem.asked is None else mixes.passage_asked(*times, problem.asked),
        )
    )


def _hidden_chain(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    if not isinstance(problem.law, HopLaw) or len(problem.law.means) > 1:
        return Refusal("the law is not that of one exponential mix")
    seconds = stretches.whole_seconds(problem)
    if stretches.needs_stretches(problem, budget) and isinstance(problem.law, Exponential):
        return Refusal(f"{seconds:.2g} s are predicted, beyond the budget")
    return LogOffer(seconds, True, "delays have no memory: only the number inside is hidden")


def _by_hidden_chain(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    size, mean = len(problem.arrivals), problem.law.mean_delay
    assert mean is not None
    return Solved(
        mixes.hidden_figures(
            problem.arrivals,
            problem.departures,
            mean=mean,
            channel=problem.channel,
            receivers=problem.receivers,
            guessing_every=1 if size <= SOLVING.offer_few else size // SOLVING.offer_few,
            effort=effort,
            seconds=SOLVING.counting_share * budget.seconds,
            asked=problem.asked,
        )
    )


def _stretches(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    if not isinstance(problem.law, Exponential):
        return Refusal("the law is not that of one exponential mix")
    if not stretches.needs_stretches(problem, budget):
        return Refusal("all messages fit the budget, or their number inside is known")
    return LogOffer(budget.seconds, False, "the hidden chain of all messages exceeds the budget")


def _by_stretches(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    def one(part: LinkProblem) -> LinkFigures:
        return _by_hidden_chain(part, budget, effort).links

    return Solved(*stretches.stretched(problem, budget, one))


# ---- several hops, flushes, and any delays


def _phase_chain(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    law = problem.law
    if not isinstance(law, HopLaw) or not law.few_hops:
        return Refusal("the law is not that of up to four exponential hops")
    seconds = mixes.phase_seconds(problem)
    exact = seconds <= budget.seconds
    return LogOffer(
        seconds, exact, "only the number of messages in each hop is hidden", final=False
    )


def _by_phase_chain(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    """Soon, unless a budget is given or that is too little."""
    law = problem.law
    assert isinstance(law, HopLaw)

    def within(allowed: Budget, *, strict: bool) -> Solved:
        return Solved(
            mixes.phase_figures(
                problem.arrivals,
                problem.departures,
                means=law.means,
                channel=problem.channel,
                receivers=problem.receivers,
                budget=allowed,
                seed=problem.seed,
                effort=effort,
                strict=strict,
                asked=problem.asked,
                edge=problem.edge,
            )
        )

    if not budget.chosen:
        try:
            return within(replace(budget, seconds=SOLVING.offer_unasked), strict=False)
        except BudgetError:
            pass
    allowed = replace(budget, seconds=max(budget.seconds, SOLVING.at_least))
    return within(allowed, strict=budget.chosen)


def _flush_chain(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    del budget
    if not isinstance(problem.law, FlushLaw):
        return Refusal("the law is not that of a mix that flushes")
    rule, channel = problem.law.flush, problem.channel
    flushes = float(len(np.unique(problem.departures)))
    if rule.interval is not None:
        flushes = max(flushes, (channel.end - channel.begin) / rule.interval)
    return LogOffer(
        SOLVING.flush_seconds * flushes, True, "only the number inside at flushes is hidden"
    )


def _by_flush_chain(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    del effort
    assert isinstance(problem.law, FlushLaw)
    return Solved(
        mixes.flush_figures(
            problem.law,
            problem.arrivals,
            problem.departures,
            channel=problem.channel,
            dummies=problem.dummies,
            budget=budget,
            asked=problem.asked,
        )
    )


def _link_chain(problem: LinkProblem, budget: Budget) -> LogOffer | Refusal:
    law = problem.law
    if not isinstance(law, DensityLaw) or not law.spread_out:
        return Refusal("the law has no density of delays")
    if problem.silent and isinstance(law, HopLaw) and law.few_hops:
        return Refusal("nothing is given of losses and cover: the graph of candidates is solved")
    seconds, exact = mixes.delay_cost(problem, budget)
    return LogOffer(seconds, exact, "any delays with a density: a chain over explanations")


def _by_link_chain(problem: LinkProblem, budget: Budget, effort: Execution) -> Solved:
    return Solved(mixes.delay_figures(problem, budget, effort))


SOLVERS: tuple[Solver, ...] = (
    Solver("closed form", _closed_form, _by_closed_form),
    Solver("hidden chain", _hidden_chain, _by_hidden_chain),
    Solver("hidden chain in stretches", _stretches, _by_stretches),
    Solver("flush chain", _flush_chain, _by_flush_chain),
    Solver("phase chain", _phase_chain, _by_phase_chain),
    Solver("link chain", _link_chain, _by_link_chain),
)
"""All solvers, in order of preference."""
