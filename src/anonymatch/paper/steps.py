"""Section 4: attackers who expose one user after another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymatch.attacks import adaptive
from anonymatch.graph import Graph
from anonymatch.paper.claim import Evidence
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.evidence import curves, table
from anonymatch.paper.named_graphs import PartitionGraph
from anonymatch.paper.question import Finding, judge, question

__all__ = ["QUESTIONS", "Beaten", "beaten"]


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


@question(
    "many-steps",
    40,
    section="Section 4, after Lemma 4",
    title="The same for many users, one by one",
    kind="text",
    statement="Perhaps the lemma extends to an attacker who chooses any number of users one by "
    "one, the optimal user at each step.",
    seconds=0.1,
    needs="play",
)
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
        verdict=judge(not cases),
        corrected="Not where $H$ has components $G_k$, that is where $k$ does not divide $n$.",
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
        searched=f"{run.scope} with nk edges, every number of exposures, the best attacker and the "
        "greedy one",
        counterexample=first.rows if first else None,
        partition=PartitionGraph(first.n, first.n * first.k).rows if first else None,
        evidence=(*tables, beaten_table("The graph of which most is left", later)),
    )


@question(
    "many-steps-partitions",
    48,
    section="Section 4, many steps",
    title="Complete components, many users one by one",
    kind="text",
    added=True,
    statement="What remains of that: where $k$ divides $n$ and $m = nk$, no graph has more "
    "matchings "
    "left than complete components of $k$ users, after any number of users have been "
    "de-anonymised.",
    seconds=0.05,
    needs="play",
)
def many_steps_partitions(run: ClaimContext) -> Finding:
    """All small graphs with nk edges, k | n."""
    pairs = defined(run, divides=True)
    cases = [case for n, k in pairs for case in beaten(run, n, k)]
    courses = {
        f"n = {n}, k = {k}": adaptive(PartitionGraph(n, n * k).graph).optimal
        for n, k in ((4, 2), (6, 2), (6, 3), (8, 4))
    }
    return Finding(
        verdict=judge(not cases),
        corrected="it fails for some pairs",
        finding=f"For {len(pairs)} pairs (n, k) with k | n, {len(cases)} numbers of "
        "de-anonymised users and attackers leave more of another graph than of complete "
        "components.",
        searched=f"{run.scope} with nk edges, every number of exposures, the best attacker and the "
        "greedy one; nothing is proved for larger sizes",
        evidence=(
            curves(
                "Matchings that remain of complete components, best attacker",
                "de-anonymised users",
                "matchings that remain",
                {
                    name: (range(len(values)), [float(value) for value in values])
                    for name, values in courses.items()
                },
            ),
            beaten_table("Where it fails", cases),
        ),
        counterexample=cases[0].rows if cases else None,
    )


QUESTIONS = (many_steps, many_steps_partitions)
