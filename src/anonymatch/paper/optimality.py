"""Section 3: whether H has the most matchings, against all small graphs and some larger ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from anonymatch.base.logarithms import log_factorial, phi_difference
from anonymatch.designs import equity, max_bound, restricted_permutations_log
from anonymatch.graph import Graph, forced, partition
from anonymatch.paper.asymptotics import tends_to
from anonymatch.paper.claim import Evidence
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.duels import CASES, Duel, duels_table, regular_duels
from anonymatch.paper.evidence import curves, table
from anonymatch.paper.exact_comparisons import balanced, bound_power, compare
from anonymatch.paper.named_graphs import PartitionGraph
from anonymatch.paper.question import Finding, judge, question, trial
from anonymatch.paper.small_graphs import Best

__all__ = ["QUESTIONS", "pairs"]


def pairs(run: ClaimContext) -> Iterator[tuple[PartitionGraph, Best]]:
    """H(n, m) and the best graphs for all n and m that are searched."""
    for survey in run.surveys():
        for m, best in survey.best.items():
            yield PartitionGraph(survey.n, m), best


def searched_table(cases: Sequence[tuple[PartitionGraph, Best]]) -> Evidence:
    """H against the best of all graphs."""
    return table(
        f"H among all graphs searched: its matchings, and the most that any graph has. {CASES}",
        ["n", "m", "case", "matchings of H", "most", "graphs that have it"],
        [[h.n, h.m, h.case, h.matchings, best.matchings, best.number] for h, best in cases],
    )


def _is_best(h: PartitionGraph, best: Best) -> bool:
    return h.matchings == best.matchings


def bound_is_attained(n: int, m: int, number: int) -> bool:
    """Whether the count is the largest bound for n users and m edges, in whole numbers."""
    return compare((number, 1), bound_power(balanced(n, m))) == 0


@question(
    "removing-edges",
    14,
    section="Section 3, third paragraph",
    title="Removing edges one at a time keeps the bound attained",
    kind="text",
    statement="For an arbitrary number of edges, removing edges one at a time from complete "
    "components "
    "of sizes $k$ and $k+1$ achieves the Brègman bound.",
    seconds=0.05,
    needs="survey",
)
def removing_edges(run: ClaimContext) -> Finding:
    """For every n and m: whether H, or any graph, attains the bound; and when."""
    cases = list(pairs(run))
    by_h = trial(
        ((h.n, h.m, h.matchings) for h, _ in cases),
        bound_is_attained,
    )
    divisible = trial(
        ((h.n, h.m, best.matchings) for h, best in cases),
        lambda n, m, most: bound_is_attained(n, m, most) == equity(n, m).attained,
    )
    first = next((best for h, best in cases if (h.n, h.m, h.matchings) in by_h.failed), None)
    some = sum(bound_is_attained(h.n, h.m, best.matchings) for h, best in cases)
    return Finding(
        verdict=judge(by_h.holds),
        corrected="The bound is attained if and only if $k+1$ divides $m - kn$ and $k$ divides "
        "$(k+1)n - m$: by complete components of sizes $k$ and $k+1$."
        if divisible.holds
        else None,
        brief=f"$H$ attains the bound for only {by_h} pairs $(n, m)$ of the sizes searched",
        finding=f"H attains the bound for {by_h} pairs (n, m), and any graph for {some}. That "
        f"these "
        f"are the pairs with the two divisibilities is right for {divisible} pairs.",
        searched=f"{run.scope}: settled for these; the rule for all sizes is Theorem 1.8 of Wu, "
        "Dong and Lu (arXiv 2502.12787)",
        counterexample=None if first is None else first.witness,
        evidence=(
            table(
                "The largest bound, the most matchings of any graph, and those of H",
                ["n", "m", "bound", "most", "of H", "some graph attains the bound"],
                [
                    [
                        *(h.n, h.m, math.exp(max_bound(h.n, h.m)), best.matchings, h.matchings),
                        bound_is_attained(h.n, h.m, best.matchings),
                    ]
                    for h, best in cases
                    if h.n == min(run.largest, 4)
                ],
            ),
        ),
    )


def one_part_smaller(k: int) -> float:
    """Log of the count of k - 1 parts of k users and one of k - 1, over H of n = k^2 - 1, m = nk.

    The first leaves k - 1 edges unused; H has k - 1 crowns of k + 1 users.
    """
    parts = (k - 1) * log_factorial(k) + log_factorial(k - 1)
    return parts - (k - 1) * restricted_permutations_log(k + 1, k + 1)


@question(
    "highest-order",
    24,
    section="Section 3.2, proof of Theorem 3",
    title="The matchings of $H$ are of the highest order",
    kind="text",
    statement="For $m = nk$, the number of matchings of $H$ is of the highest order possible.",
    seconds=0.05,
    needs="survey",
)
def highest_order(run: ClaimContext) -> Finding:
    """All small graphs where H is defined; larger graphs with more matchings."""
    cases = [(h, best) for h, best in pairs(run) if h.m % h.n == 0 and h.defined]
    small = trial(cases, _is_best)
    duels = regular_duels()
    better = [
        duel
        for duel in duels
        if duel.partition.defined and duel.matchings > duel.partition.matchings
    ]
    sizes = [5, 6, 7, 8, 9, 10, 15, 30, 100, 300, 1000]
    ratios = [math.exp(one_part_smaller(k)) for k in sizes]
    grows = ratios == sorted(ratios) and ratios[-1] > 10
    return Finding(
        verdict=judge(small.holds and not better and not grows),
        corrected="$H$ is the best for the sizes searched, but not in general; for large $b$ even "
        "the order is not the highest.",
        brief=f"{better[0].sizes} {better[0].typeset} has {better[0].matchings} "
        "matchings, "
        f"$H$ has {better[0].partition.matchings}"
        if better
        else None,
        finding=f"H is best for {small} small pairs (n, nk) for which it is defined, but "
        f"{len(better)} of {len(duels)} larger graphs beat it: "
        + ", ".join(
            f"{duel.matchings} > {duel.partition.matchings} at {duel.at}" for duel in better
        )
        + f". At n = k^2 - 1, k - 1 complete components of k users and one of k - 1 have "
        f"{ratios[5]:.3f} times "
        f"as many at k = 10 and {ratios[-1]:.1f} times at k = 1000.",
        searched=f"{run.scope}; beyond that only the graphs shown, which are enough to refute it",
        counterexample=tuple(better[0].graph.to_rows()) if better else None,
        partition=better[0].partition.rows if better else None,
        evidence=(
            duels_table(duels),
            searched_table(cases),
            curves(
                "At n = k^2 - 1, m = nk: matchings of (k-1) K_k + K_{k-1}, with k - 1 edges "
                "unused, over those of H",
                "k",
                "ratio",
                {"n = k^2 - 1": (sizes, ratios)},
            ),
        ),
    )


@question(
    "spare-order",
    30,
    section="Section 3.2, last paragraph",
    title="Leaving these edges unused loses little",
    kind="text",
    statement=r"For $k \mid n$ and $r < k$ more edges, leaving these edges unused loses little: "
    "the "
    r"order of the bound is still $k!^a$, so that $H$ approaches it.",
    needs="survey",
)
def spare_order(run: ClaimContext) -> Finding:
    """The bound over H for growing k; and whether other uses of the edges are better."""
    sizes = [5, 10, 50, 100, 500, 5000, 50_000]
    ratios = [math.exp((k - 1) * phi_difference(k, k + 1)) for k in sizes]
    approaches = tends_to(ratios, 1.0)
    limit = tends_to(ratios, math.e)
    cases = [(h, best) for h, best in pairs(run) if h.case == "D"]
    optimal = trial(cases, _is_best)
    duel = Duel("K44 + K22", partition([4, 2]))
    h = duel.partition
    beaten = h.case == "D" and duel.matchings > h.matchings
    return Finding(
        verdict=judge(approaches and optimal.holds and not beaten),
        corrected="The bound over $H$ tends to $e^{r/k}$, so to $e$ for $r$ near $k$"
        + (" (up to $e^a$ for $r$ near $ak$)" if limit else "")
        + "; and components of sizes $k+1$ and $k-1$ make better use of two edges, by a factor "
        "$(k+1)/k$.",
        brief=f"{duel.sizes} {duel.typeset} has {duel.matchings} matchings, $H$ "
        "has "
        f"{h.matchings}; the bound over $H$ tends to $e^{{r/k}}$, not to 1"
        if beaten
        else None,
        finding=f"With r = k - 1 the bound is {ratios[4]:.3f} times H at k = 500 and "
        f"{ratios[-1]:.4f} times at k = 50000. Where H leaves edges unused it is best for "
        f"{optimal} of the small pairs; at ({h.n}, {h.m}) it has {h.matchings} and "
        f"{duel.name} has {duel.matchings}.",
        searched=f"{run.scope}; the ratio by formula",
        counterexample=tuple(duel.graph.to_rows()) if beaten else None,
        partition=h.rows if beaten else None,
        evidence=(
            curves(
                "The bound over H, with r = k - 1", "k", "ratio", {"r = k - 1": (sizes, ratios)}
            ),
            duels_table([duel]),
            searched_table(cases),
        ),
    )


@question(
    "equal-sets",
    31,
    section="Abstract and Section 1.1",
    title="Sets as equal as possible have the most matchings",
    kind="text",
    statement="Partitioning the users into sets that are equal, or as equal as possible, achieves "
    "the highest number of matchings.",
    seconds=0.05,
    needs="survey",
)
def equal_sets(run: ClaimContext) -> Finding:
    """The best numbers of equal parts against all small graphs."""
    cases = list(pairs(run))
    equal = trial(cases, _is_best)
    whole = trial((pair for pair in cases if pair[0].case == "A"), _is_best)
    # With fewer than two edges a user somebody is always exposed.
    exposing = [
        best
        for _, best in cases
        if best.number == 1 and best.m >= 2 * best.n and forced(Graph.from_rows(best.witness))
    ]
    worst = min(cases, key=lambda pair: pair[0].matchings / pair[1].matchings)
    listed = ", ".join(f"({best.n}, {best.m})" for best in exposing)
    return Finding(
        verdict=judge(equal.holds),
        corrected=r"It does where complete components of one size take all edges: $k \mid n$ and "
        "$m = nk$."
        if whole.holds
        else None,
        brief=f"with {worst[0].n} users and {worst[0].m} edges they have {worst[0].matchings} "
        "matchings, "
        f"another graph has {worst[1].matchings}",
        finding=f"Sets as equal as possible are best for {equal} pairs (n, m); at worst they have "
        f"{worst[0].matchings} of {worst[1].matchings} matchings, at ({worst[0].n}, {worst[0].m}). "
        f"The only best graph even exposes a user completely at {listed}.",
        searched=f"{run.scope}: complete for these sizes, and enough to refute it for all",
        counterexample=worst[1].witness if equal.failed else None,
        partition=worst[0].rows if equal.failed else None,
        evidence=(
            table(
                "Where sets as equal as possible are not best",
                ["n", "m", "equal sets", "most", "ratio", "the best graph"],
                [
                    [
                        *(h.n, h.m, h.matchings, best.matchings, h.matchings / best.matchings),
                        "/".join(best.witness),
                    ]
                    for h, best in equal.failed
                ],
            ),
            table(
                "The only best graph, which exposes a user",
                ["n", "m", "matchings", "graph"],
                [[best.n, best.m, best.matchings, "/".join(best.witness)] for best in exposing],
            ),
        ),
    )


QUESTIONS = (removing_edges, highest_order, spare_order, equal_sets)
