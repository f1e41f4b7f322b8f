"""Section 1.1: whether the result extends to the metric with rescaled feasibility values."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from anonymatch.counting import count
from anonymatch.graph import Graph, complete, partition
from anonymatch.measures import log_rescaled
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import table
from anonymatch.paper.foundations import degrees_of
from anonymatch.paper.named_graphs import PartitionGraph, beside, two_hexagons_less
from anonymatch.paper.question import Finding, judge, question, trial
from anonymatch.paper.small_graphs import Survey

__all__ = ["QUESTIONS"]

_LAST = 5000  # degree up to which concavity is computed


def rescaled_log(graph: Graph) -> float:
    """Natural log of the permanent of p abs(ln p), with p one over the degree."""
    return log_rescaled(graph, count(graph, exact=True)).value


def user_bound(d: int) -> float:
    """The most that a user of degree d adds to the log: ln ln d - ln d + ln(d!)/d."""
    return math.log(math.log(d)) - math.log(d) + math.lgamma(d + 1) / d


def best_rescaled(survey: Survey, m: int) -> float:
    """The largest log of the metric over all graphs with m edges."""
    here = (survey.edges == m) & (survey.matchings > 0)
    degrees = degrees_of(survey)[:, here]
    with np.errstate(divide="ignore"):
        users = np.log(np.log(np.maximum(degrees, 1))) - np.log(degrees)
    return float((np.log(survey.matchings[here]) + users.sum(axis=0)).max())


@question(
    "rescaled-metric",
    41,
    section="Section 1.1, last paragraph",
    title="The result extends to the rescaled metric",
    kind="text",
    statement="The result extends trivially to the metric in which feasibility values are rescaled "
    "by the absolute values of their logarithms.",
    seconds=0.05,
    needs="survey",
)
def rescaled_metric(run: ClaimContext) -> Finding:
    """Concavity of what a user adds; small graphs with nk edges; one larger graph."""
    values = [user_bound(d) for d in range(2, _LAST + 1)]
    gains = [later - earlier for earlier, later in pairwise(values)]
    concave = trial(pairwise(gains), lambda earlier, later: later < earlier)

    def h_is_best(n: int, k: int) -> bool:
        own = rescaled_log(PartitionGraph(n, n * k).graph)
        return own > best_rescaled(run.survey(n), n * k) - 1e-9

    cases = [
        (n, k)
        for n in range(2, run.largest + 1)
        for k in range(2, n + 1)
        if PartitionGraph(n, n * k).defined
    ]
    divided = trial((case for case in cases if case[0] % case[1] == 0), h_is_best)
    other = trial((case for case in cases if case[0] % case[1]), h_is_best)
    rival = beside(complete(4), two_hexagons_less())
    h = PartitionGraph(rival.n_users, rival.n_edges)
    beaten = rescaled_log(rival) > rescaled_log(h.graph) + 1e-9
    exposed = partition([4, 1, 1, 1])
    return Finding(
        verdict=judge(
            divided.holds and other.holds and not beaten,
            conditional=divided.holds and concave.holds,
        ),
        corrected=r"For $k \mid n$, with $p = 1/d$ for a user of degree $d$: the factor of a "
        "user is "
        r"$\ln(d)/d$, and $\ln \ln d - \ln d + \ln(d!)/d$ is concave. The metric itself was not at "
        "hand: this is the paper's reading of it.",
        brief="if $k$ divides $n$, for the metric as the paper words it",
        finding=f"What a user adds is concave at {concave} degrees. H is best for {divided} small "
        f"pairs with k | n and for {other} others; at ({h.n}, {h.m}) it has "
        f"{math.exp(rescaled_log(h.graph)):.6g} and another graph "
        f"{math.exp(rescaled_log(rival)):.6g}. One exposed user makes it "
        f"{math.exp(rescaled_log(exposed)):g}.",
        searched=f"{run.scope} with nk edges; degrees from 2 to {_LAST}, in doubles",
        counterexample=tuple(rival.to_rows()) if beaten else None,
        evidence=(
            table(
                "The metric",
                ["graph", "value"],
                [
                    ["2 + 2 + 3", math.exp(rescaled_log(partition([2, 2, 3])))],
                    ["4 + 1 + 1 + 1", math.exp(rescaled_log(exposed))],
                    [f"H({h.n}, {h.m})", math.exp(rescaled_log(h.graph))],
                    ["K44 + X6 (K66 less two hexagons)", math.exp(rescaled_log(rival))],
                ],
            ),
        ),
    )


QUESTIONS = (rescaled_metric,)
