"""Section 4: what de-anonymising one user leaves, on average and of the partition graph."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymatch.attacks import exposures
from anonymatch.counting import posterior
from anonymatch.graph import Graph, partition
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import drawn, table
from anonymatch.paper.exact_comparisons import balanced, bound_power, compare
from anonymatch.paper.foundations import degrees_of
from anonymatch.paper.named_graphs import PartitionGraph, matchings
from anonymatch.paper.question import Finding, judge, question, trial
from anonymatch.paper.small_graphs import Survey

__all__ = ["QUESTIONS"]


def average_left(graph: Graph, user: int) -> Fraction:
    """Matchings left on average once a user is exposed, behaviour by behaviour."""
    counts = posterior(graph).counts[user]
    total = sum(counts.values())
    return sum(
        (
            Fraction(through, total) * matchings(graph.expose(user, behaviour))
            for behaviour, through in counts.items()
            if through
        ),
        Fraction(0),
    )


def cauchy_schwarz(survey: Survey) -> tuple[int, int, int]:
    """Users of all graphs; those for whom M/d(x) is undercut; those where equality is misplaced.

    Equality is misplaced if the sum of squares is M^2/d(x) though edges differ, or the reverse.
    """
    some = survey.matchings > 0
    through = survey.through[some].astype(np.int64)
    total = survey.matchings[some][:, None]
    degrees = degrees_of(survey)[:, some].T
    squares = (through**2).sum(axis=2)
    under = degrees * squares < total**2
    equal = degrees * squares == total**2
    # All edges of a user have the same number when the largest times the degree is the total.
    even = through.max(axis=2) * degrees == total
    return int(squares.size), int(under.sum()), int((equal != even).sum())


@question(
    "expected-remaining",
    35,
    section="Section 4, after Figure 9",
    title="The expected number of matchings that remain",
    kind="formula",
    statement=r"If user $x$ is de-anonymised, the expected number of matchings that remain is "
    "the sum of "
    r"$M_i^2$ over $\M$; it is lowest if all $M_i$ are about $\M/d(x)$.",
    seconds=0.4,
    needs="survey",
)
def expected_remaining(run: ClaimContext) -> Finding:
    """The formula against exposing one by one; the minimum on all small graphs."""
    samples = [
        survey.graph(index)
        for survey in map(run.survey, (3, 4))
        for index in np.flatnonzero(survey.matchings > 0).tolist()[:: 1 if survey.n == 3 else 7]
    ]
    formula = trial(
        ((graph, user) for graph in samples for user in range(graph.n_users)),
        lambda graph, user: (
            average_left(graph, user)
            == Fraction(
                sum(value**2 for value in posterior(graph).counts[user].values()), matchings(graph)
            )
        ),
    )
    users, under, misplaced = (
        sum(part) for part in zip(*map(cauchy_schwarz, run.surveys()), strict=True)
    )
    example = Graph.from_rows(["11111", "01000", "00111", "00111", "00111"])
    left = exposures(example).expected_left
    return Finding(
        verdict=judge(formula.holds and not under and not misplaced),
        corrected="it fails for some users",
        finding=f"The formula is right for {formula} users exposed behaviour by behaviour. Of "
        f"{users} users {under} leave less than M/d(x), and equality goes with equal M_i for all "
        f"but {misplaced}. That the attacker picks a user with many edges is only a rule of thumb: "
        f"in {'/'.join(example.to_rows())} the user with {example.degrees.max()} edges leaves "
        f"{left[0]}, one with {example.degrees[2]} leaves {left[2]}.",
        searched=f"{run.scope}; the inequality of Cauchy and Schwarz proves the minimum for all",
        evidence=(
            drawn(
                "Many edges do not make the best target",
                example,
                **{"remain on average, by user": left},
            ),
        ),
    )


@question(
    "remaining-edges",
    36,
    section="Section 4, proof of Lemma 4",
    title="The edges that are deleted",
    kind="formula",
    statement="De-anonymising a user of $H(n, m)$ leaves a partition graph $H(n-1, m-2k-1)$; in "
    "any $G$ "
    "the expected number of deleted edges should be at least $2k+1$.",
    seconds=0.1,
)
def remaining_edges(run: ClaimContext) -> Finding:
    """Edges that really disappear, for each user and behaviour of H."""
    partitions = [PartitionGraph(n, n * k) for n in range(2, 8) for k in range(1, n + 1)]
    cases = [
        (h.n, h.m // h.n, h.m - h.graph.expose(user, behaviour).n_edges)
        for h in partitions
        if h.defined
        for user, behaviour in h.graph.to_edges()
    ]
    paper = trial(cases, lambda n, k, gone: gone == 2 * k + 1)
    corrected = trial(cases, lambda n, k, gone: gone == 2 * k - 1)
    return Finding(
        verdict=judge(paper.holds, corrected=corrected.holds),
        corrected="$H(n-1, m-2k+1)$, and at least $2k-1$ edges, as in the last line of the proof",
        finding=f"2k + 1 edges disappear in {paper} exposures, 2k - 1 in {corrected}: the revealed "
        "edge is counted once.",
        searched="every edge of H(n, nk) for n up to 7, where it is defined",
    )


def rests(n: int, k: int) -> list[Graph]:
    """What H(n, nk) can become when the user who is best to expose is exposed."""
    graph = PartitionGraph(n, n * k).graph
    left = exposures(graph).expected_left
    counts = posterior(graph).counts
    return [
        graph.expose(user, behaviour)
        for user in range(n)
        if left[user] == min(left)
        for behaviour, through in counts[user].items()
        if through
    ]


def attains_bound(graph: Graph) -> bool:
    """Whether the count is the largest bound for so many users and edges."""
    bound = bound_power(balanced(graph.n_users, graph.n_edges))
    return compare((matchings(graph), 1), bound) == 0


@question(
    "remaining-optimal",
    37,
    section="Section 4, proof of Lemma 4",
    title="What remains of $H$ is optimal",
    kind="text",
    statement="The graph that remains of $H(n, m)$ after an optimising attacker has "
    "de-anonymised one "
    "user is a partition graph, and optimal for its number of edges.",
    seconds=0.5,
)
def remaining_optimal(run: ClaimContext) -> Finding:
    """What remains where k divides n, and of H(8, 24)."""
    divided = trial(
        ((n, k) for n in range(2, 10) for k in range(2, n + 1) if n % k == 0),
        lambda n, k: all(attains_bound(rest) for rest in rests(n, k)),
    )
    rival = partition([3, 3, 1])
    rest = max(rests(8, 3), key=matchings)
    same = (rest.n_users, rest.n_edges) == (rival.n_users, rival.n_edges)
    beaten = same and matchings(rival) > matchings(rest)
    return Finding(
        verdict=judge(divided.holds and not beaten, conditional=divided.holds),
        corrected="$k$ must divide $n$; then $(a-1) K_{k,k} + K_{k-1,k-1}$ attains the bound of "
        "$n-1$ users and $m-2k+1$ edges.",
        brief="if $k$ divides $n$",
        finding=f"For {divided} pairs with k | n what remains attains the bound. Of H(8, 24) "
        f"remain "
        f"{matchings(rest)} matchings with {rest.n_users} users and {rest.n_edges} edges, where "
        f"K33 + K33 + K11 has {matchings(rival)}.",
        searched="k | n up to 9 users, every outcome of the best attack, in whole numbers; a proof "
        "for all n with k | n is that the bound is attained",
        counterexample=tuple(rest.to_rows()) if beaten else None,
        evidence=(
            drawn("What remains of H(8, 24)", rest, matchings=matchings(rest)),
            drawn("As many users and edges", rival, matchings=matchings(rival)),
            table(
                "k | n",
                ["n", "k", "matchings that remain"],
                [[n, k, matchings(rests(n, k)[0])] for n, k in ((4, 2), (6, 2), (6, 3), (8, 4))],
            ),
        ),
    )


QUESTIONS = (expected_remaining, remaining_edges, remaining_optimal)
