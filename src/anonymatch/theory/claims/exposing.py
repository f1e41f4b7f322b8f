"""Section 4: what de-anonymising one user leaves, and attackers who expose one after another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymatch.counting import posterior
from anonymatch.graph import Graph, partition
from anonymatch.theory.attacks import adaptive, exposures
from anonymatch.theory.claims.claim import Evidence
from anonymatch.theory.claims.named_graphs import (
    PartitionGraph,
    balanced,
    bound_power,
    compare,
    matchings,
)
from anonymatch.theory.claims.question import (
    ClaimContext,
    Finding,
    curves,
    drawn,
    judge,
    question,
    table,
    trial,
)
from anonymatch.theory.claims.small_graphs import Survey


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
    degrees = survey.degrees[:, some].T
    squares = (through**2).sum(axis=2)
    under = degrees * squares < total**2
    equal = degrees * squares == total**2
    # All edges of a user have the same number when the largest times the degree is the total.
    even = through.max(axis=2) * degrees == total
    return int(squares.size), int(under.sum()), int((equal != even).sum())


@question("expected-remaining")
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
        judge(formula.holds and not under and not misplaced),
        drawn(
            "Many edges do not make the best target",
            example,
            **{"remain on average, by user": left},
        ),
        finding=f"The formula is right for {formula} users exposed behaviour by behaviour. Of "
        f"{users} users {under} leave less than M/d(x), and equality goes with equal M_i for all "
        f"but {misplaced}. That the attacker picks a user with many edges is only a rule of thumb: "
        f"in {'/'.join(example.to_rows())} the user with {example.degrees.max()} edges leaves "
        f"{left[0]}, one with {example.degrees[2]} leaves {left[2]}.",
    )


@question("remaining-edges")
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
        judge(paper.holds, corrected=corrected.holds),
        finding=f"2k + 1 edges disappear in {paper} exposures, 2k - 1 in {corrected}: the revealed "
        "edge is counted once.",
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


@question("remaining-optimal")
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
        judge(divided.holds and not beaten, conditional=divided.holds),
        drawn("What remains of H(8, 24)", rest, matchings=matchings(rest)),
        drawn("As many users and edges", rival, matchings=matchings(rival)),
        table(
            "k | n",
            ["n", "k", "matchings that remain"],
            [[n, k, matchings(rests(n, k)[0])] for n, k in ((4, 2), (6, 2), (6, 3), (8, 4))],
        ),
        finding=f"For {divided} pairs with k | n what remains attains the bound. Of H(8, 24) "
        f"remain {matchings(rest)} matchings with {rest.n_users} users and {rest.n_edges} edges, "
        f"where K33 + K33 + K11 has {matchings(rival)}.",
        counterexample=tuple(rest.to_rows()) if beaten else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beaten:
    """A graph of which more is left than of H after some exposures."""

    n: int
    k: int
    steps: int
    attacker: str  # "optimal" or "greedy"
    of_partition: Fraction
    of_graph: Fraction
    rows: tuple[str, ...]


def beaten(run: ClaimContext, n: int, k: int) -> list[Beaten]:
    """For each number of exposures and attacker, the graph with nk edges of which most is left.

    Only those of which more is left than of H(n, nk).
    """
    survey, played = run.survey(n), run.play(n)
    both = adaptive(PartitionGraph(n, n * k).graph)
    here = np.flatnonzero(played.edges == n * k)
    totals = played.matchings[here]
    result = []
    for attacker, values, own in (
        ("optimal", played.optimal, both.optimal),
        ("greedy", played.greedy, both.greedy),
    ):
        for t in range(1, n):
            numbers = values[t, here]
            # numbers / totals > own[t], in whole numbers
            more = np.flatnonzero(numbers * own[t].denominator > totals * own[t].numerator)
            if len(more):
                best = max(more.tolist(), key=lambda p: Fraction(int(numbers[p]), int(totals[p])))
                result.append(
                    Beaten(
                        n=n,
                        k=k,
                        steps=t,
                        attacker=attacker,
                        of_partition=own[t],
                        of_graph=Fraction(int(numbers[best]), int(totals[best])),
                        rows=survey.rows(int(played.graphs[here[best]])),
                    )
                )
    return result


def defined(run: ClaimContext, divides: bool) -> list[tuple[int, int]]:
    """Pairs (n, k) of the search for which H(n, nk) is defined, with or without k | n."""
    return [
        (n, k)
        for n in range(1, run.largest + 1)
        for k in range(1, n + 1)
        if PartitionGraph(n, n * k).defined and (n % k == 0) == divides
    ]


def beaten_table(text: str, cases: list[Beaten]) -> Evidence:
    """What is left of both after each number of exposures."""
    return table(
        text,
        ["n", "m", "users", "attacker", "left of H", "left of the graph", "graph"],
        [
            [c.n, c.n * c.k, c.steps, c.attacker, c.of_partition, c.of_graph, "/".join(c.rows)]
            for c in cases
        ],
    )


def course(name: str, graph: Graph) -> list[list[object]]:
    """What is left after 0, 1, ... exposures, by both attackers."""
    both = adaptive(graph)
    return [[name, "optimal", *both.optimal], [name, "greedy", *both.greedy]]


_EXAMPLES = {
    4: ["1011 1011 0111 0111"],
    5: ["10111 10111 10111 01111 01111", "11011 11011 10111 10111 01111"],
    6: ["110111 110111 101111 101111 011111 011111"],
}


@question("many-steps")
def many_steps(run: ClaimContext) -> Finding:
    """All small graphs with nk edges where H is defined and made of crowns too."""
    pairs = defined(run, divides=False)
    cases = [case for n, k in pairs for case in beaten(run, n, k)]
    later = sorted(cases, key=lambda case: (case.n, case.steps, case.attacker != "greedy"))
    first = later[0] if later else None
    tables = []
    for n, examples in _EXAMPLES.items():
        rows = course("H", PartitionGraph(n, n * (n - 1)).graph)
        for bits in examples:
            rows += course(bits.replace(" ", "/"), Graph.from_rows(bits.split()))
        tables.append(
            table(
                f"Matchings that remain after 0, 1, ... de-anonymised users, n = {n}, "
                f"m = {n * (n - 1)}",
                ["graph", "attacker", *map(str, range(n))],
                rows,
            )
        )
    return Finding(
        judge(not cases),
        *tables,
        beaten_table("The graph of which most is left", later),
        brief=f"with {first.n} users and {first.n * first.k} edges, after {first.steps} "
        f"de-anonymised users, {first.of_partition} is left of $H$ on average and "
        f"{first.of_graph} of another graph"
        if first
        else None,
        finding=f"Of {len(pairs)} pairs (n, k) in which H has components G_k, "
        f"{len({(c.n, c.k) for c in cases})} have graphs that beat H later on. "
        + (
            f"The smallest: at ({first.n}, {first.n * first.k}) after {first.steps} de-anonymised "
            f"users {first.of_partition} is left of H and {first.of_graph} of "
            f"{'/'.join(first.rows)}."
            if first
            else "There is none."
        ),
        counterexample=first.rows if first else None,
        partition=PartitionGraph(first.n, first.n * first.k).rows if first else None,
    )


@question("many-steps-partitions")
def many_steps_partitions(run: ClaimContext) -> Finding:
    """All small graphs with nk edges, k | n."""
    pairs = defined(run, divides=True)
    cases = [case for n, k in pairs for case in beaten(run, n, k)]
    courses = {
        f"n = {n}, k = {k}": [float(x) for x in adaptive(PartitionGraph(n, n * k).graph).optimal]
        for n, k in ((4, 2), (6, 2), (6, 3), (8, 4))
    }
    return Finding(
        judge(not cases),
        curves(
            "Matchings that remain of complete components, best attacker",
            "de-anonymised users",
            "matchings that remain",
            range(8),
            courses,
        ),
        beaten_table("Where it fails", cases),
        finding=f"For {len(pairs)} pairs (n, k) with k | n, {len(cases)} numbers of de-anonymised "
        "users and attackers leave more of another graph than of complete components.",
        counterexample=cases[0].rows if cases else None,
    )
