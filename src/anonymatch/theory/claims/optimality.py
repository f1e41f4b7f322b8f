"""Sections 3 and 4: whether H has the most matchings, and the most after one exposure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from anonymatch.base.logarithms import log_factorial, phi_difference
from anonymatch.graph import Graph, complete, forced, partition
from anonymatch.theory.claims.asymptotics import tends_to
from anonymatch.theory.claims.claim import Evidence
from anonymatch.theory.claims.named_graphs import (
    CASES,
    Duel,
    PartitionGraph,
    Power,
    attack_value,
    balanced,
    beside,
    bound_power,
    compare,
    duels_table,
    lacking,
    regular_duels,
    two_hexagons_less,
    without_edge,
)
from anonymatch.theory.claims.question import (
    ClaimContext,
    Finding,
    Trial,
    curves,
    judge,
    question,
    table,
    trial,
    values,
)
from anonymatch.theory.claims.small_graphs import Best, Survey
from anonymatch.theory.designs import equity, max_bound, parameters, restricted_permutations_log


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


@question("removing-edges")
def removing_edges(run: ClaimContext) -> Finding:
    """For every n and m: whether H, or any graph, attains the bound; and when."""
    cases = list(pairs(run))
    by_h = trial(((h.n, h.m, h.matchings) for h, _ in cases), bound_is_attained)
    divisible = trial(
        ((h.n, h.m, best.matchings) for h, best in cases),
        lambda n, m, most: bound_is_attained(n, m, most) == equity(n, m).attained,
    )
    first = next((best for h, best in cases if (h.n, h.m, h.matchings) in by_h.failed), None)
    some = sum(bound_is_attained(h.n, h.m, best.matchings) for h, best in cases)
    return Finding(
        judge(by_h.holds),
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
        corrected="The bound is attained if and only if $k+1$ divides $m - kn$ and $k$ divides "
        "$(k+1)n - m$: by complete components of sizes $k$ and $k+1$."
        if divisible.holds
        else None,
        brief=f"$H$ attains the bound for only {by_h} pairs $(n, m)$ of the sizes searched",
        finding=f"H attains the bound for {by_h} pairs (n, m), and any graph for {some}. That "
        f"these are the pairs with the two divisibilities is right for {divisible} pairs.",
        counterexample=None if first is None else first.witness,
    )


def one_part_smaller(k: int) -> float:
    """Log of the count of k - 1 parts of k users and one of k - 1, over H of n = k^2 - 1, m = nk.

    The first leaves k - 1 edges unused; H has k - 1 crowns of k + 1 users.
    """
    parts = (k - 1) * log_factorial(k) + log_factorial(k - 1)
    return parts - (k - 1) * restricted_permutations_log(k + 1, k + 1)


@question("highest-order")
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
        judge(small.holds and not better and not grows),
        duels_table(duels),
        searched_table(cases),
        curves(
            "At n = k^2 - 1, m = nk: matchings of (k-1) K_k + K_{k-1}, with k - 1 edges "
            "unused, over those of H",
            "k",
            "ratio",
            sizes,
            {"n = k^2 - 1": ratios},
        ),
        brief=f"{better[0].sizes} {better[0].typeset} has {better[0].matchings} matchings, $H$ "
        f"has {better[0].partition.matchings}"
        if better
        else None,
        finding=f"H is best for {small} small pairs (n, nk) for which it is defined, but "
        f"{len(better)} of {len(duels)} larger graphs beat it: "
        + ", ".join(
            f"{duel.matchings} > {duel.partition.matchings} at {duel.at}" for duel in better
        )
        + ". At n = k^2 - 1, k - 1 complete components of k users and one of k - 1 have "
        f"{ratios[5]:.3f} times as many at k = 10 and {ratios[-1]:.1f} times at k = 1000.",
        counterexample=tuple(better[0].graph.to_rows()) if better else None,
        partition=better[0].partition.rows if better else None,
    )


@question("spare-order")
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
        judge(approaches and optimal.holds and not beaten),
        curves("The bound over H, with r = k - 1", "k", "ratio", sizes, {"r = k - 1": ratios}),
        duels_table([duel]),
        searched_table(cases),
        corrected="The bound over $H$ tends to $e^{r/k}$, so to $e$ for $r$ near $k$"
        + (" (up to $e^a$ for $r$ near $ak$)" if limit else "")
        + "; and components of sizes $k+1$ and $k-1$ make better use of two edges, by a factor "
        "$(k+1)/k$.",
        brief=f"{duel.sizes} {duel.typeset} has {duel.matchings} matchings, $H$ has "
        f"{h.matchings}; the bound over $H$ tends to $e^{{r/k}}$, not to 1"
        if beaten
        else None,
        finding=f"With r = k - 1 the bound is {ratios[4]:.3f} times H at k = 500 and "
        f"{ratios[-1]:.4f} times at k = 50000. Where H leaves edges unused it is best for "
        f"{optimal} of the small pairs; at ({h.n}, {h.m}) it has {h.matchings} and "
        f"{duel.name} has {duel.matchings}.",
        counterexample=tuple(duel.graph.to_rows()) if beaten else None,
        partition=h.rows if beaten else None,
    )


@question("equal-sets")
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
        judge(equal.holds),
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
        corrected=r"It does where complete components of one size take all edges: $k \mid n$ and "
        "$m = nk$."
        if whole.holds
        else None,
        brief=f"with {worst[0].n} users and {worst[0].m} edges they have {worst[0].matchings} "
        f"matchings, another graph has {worst[1].matchings}",
        finding=f"Sets as equal as possible are best for {equal} pairs (n, m); at worst they have "
        f"{worst[0].matchings} of {worst[1].matchings} matchings, at ({worst[0].n}, {worst[0].m}). "
        f"The only best graph even exposes a user completely at {listed}.",
        counterexample=worst[1].witness if equal.failed else None,
        partition=worst[0].rows if equal.failed else None,
    )


def not_beaten(h: PartitionGraph, best: Best) -> bool:
    """Whether no graph leaves more than H after the best attack."""
    return h.attack >= best.attack


def beats(duel: Duel) -> bool:
    """Whether the best attack leaves more of the graph than of H."""
    return duel.attack > duel.partition.attack


def curvature(n: int, most: int) -> tuple[Trial, Trial]:
    """Where the largest bound is convex in the number of edges, and where its log is."""
    starts = [(m,) for m in range(n + 1, most)]
    logs = {m: max_bound(n, m) for m in range(n, most + 1)}
    return (
        trial(
            starts, lambda m: math.exp(logs[m + 1]) + math.exp(logs[m - 1]) > 2 * math.exp(logs[m])
        ),
        trial(starts, lambda m: logs[m + 1] + logs[m - 1] > 2 * logs[m] + 1e-12),
    )


@question("lemma-deanonymisation")
def lemma_deanonymisation(run: ClaimContext) -> Finding:
    """All small graphs where H is defined; larger graphs that leave more."""
    small = trial(
        (pair for pair in pairs(run) if pair[0].m % pair[0].n == 0 and pair[0].defined), not_beaten
    )
    duels = regular_duels()
    won = [duel for duel in duels if duel.partition.defined and beats(duel)]
    first = won[0] if won else duels[0]
    h = first.partition
    bent = curvature(h.n - 1, h.m)
    return Finding(
        judge(small.holds and not won),
        duels_table(duels),
        values(
            "How often the bound for one user less curves upwards in the number of edges",
            **{"the bound itself": str(bent[0]), "its logarithm": str(bent[1])},
        ),
        brief=f"{first.sizes} {h.attack} matchings remain of $H$ on average, "
        f"{first.attack} of {first.typeset}"
        if won
        else None,
        finding=f"H leaves the most for {small} small pairs (n, nk) for which it is defined. At "
        f"{first.at} it leaves {h.attack}, and {first.name} leaves {first.attack}; {len(won)} of "
        f"{len(duels)} graphs shown beat H.",
        counterexample=tuple(won[0].graph.to_rows()) if won else None,
        partition=won[0].partition.rows if won else None,
    )


def best_without_an_edge(graph: Graph) -> Graph:
    """The graph less the edge whose absence leaves the most after the best attack."""
    cut = {without_edge(graph, user, behaviour) for user, behaviour in graph.to_edges()}
    return max(cut, key=attack_value)


def one_edge_less(n: int, m: int) -> bool:
    """Whether m = nk - 1 and k divides n.

    Examples
    --------
    >>> one_edge_less(6, 17), one_edge_less(6, 23)
    (True, False)
    """
    return (m + 1) % n == 0 and n % ((m + 1) // n) == 0


@question("conjecture")
def conjecture(run: ClaimContext) -> Finding:
    """All small graphs where H is defined; some of seven, ten and fourteen users."""
    small = trial((pair for pair in pairs(run) if pair[0].defined), not_beaten)
    seven = Graph.from_rows(
        ["1011000", "1010001", "1001001", "0100111", "0100110", "0100110", "0011001"]
    )
    poorer = best_without_an_edge(two_hexagons_less())
    duels = [
        Duel("K44 less a 2-star", lacking(4, 2)),
        Duel("K55 less a 2-star", lacking(5, 2)),
        Duel("K66 less a 3-star", lacking(6, 3)),
        Duel("H(7, 21) with a useless edge", seven),
        Duel("K33 + (K44 less a 2-star)", beside(complete(3), lacking(4, 2))),
        Duel("K44 + (X6 - e)", beside(complete(4), poorer)),
        Duel("2 K44 + (X6 - e)", beside(partition([4, 4]), poorer)),
    ]
    won = [duel for duel in duels if beats(duel)]
    one_less = trial(
        ((n, n * k - 1) for n in range(2, 31) for k in range(2, n + 1)),
        lambda n, m: parameters(n, m).case != "ext",
    )
    divided = trial(
        (pair for pair in pairs(run) if one_edge_less(pair[0].n, pair[0].m)), not_beaten
    )
    listed = ", ".join(f"({h.n}, {h.m})" for h, _ in small.failed)
    return Finding(
        judge(small.holds and not won),
        duels_table(duels),
        table(
            "Where H is beaten, of all pairs searched",
            ["n", "m", "left of H", "most left", "by"],
            [[h.n, h.m, h.attack, b.attack, "/".join(b.attack_witness)] for h, b in small.failed],
        ),
        corrected=r"What is left of it are $k \mid n$ and $r$ much smaller than $k$: with $r = 1$ "
        f"it holds for {divided} small pairs.",
        brief=f"{won[0].sizes} {won[0].partition.attack} matchings remain of $H$ on "
        f"average, {won[0].attack} of {won[0].typeset}"
        if won
        else None,
        finding=f"H leaves the most for {small} small pairs (n, m) for which it is defined; it "
        f"does not at {listed or 'none of them'}. {len(won)} of {len(duels)} graphs shown beat H, "
        "the smallest "
        + (
            f"at {won[0].at} with {won[0].attack} against {won[0].partition.attack}."
            if won
            else "at none."
        )
        + f" With r = 1 the paper defines H for {one_less} pairs (n, k) up to 30 users; beyond, "
        "the best equal parts are taken.",
        counterexample=tuple(won[0].graph.to_rows()) if won else None,
        partition=won[0].partition.rows if won else None,
    )


# ---- the expected logarithm


def log_bound(n: int, m: int) -> tuple[float, Power]:
    """The bound of n - 1 users and m - 2m/n + 1 edges: its log, and its power.

    Between two whole numbers of edges the log is continued on a straight line.
    """
    edges = Fraction(m) - Fraction(2 * m, n) + 1
    low = math.floor(edges)
    share = edges - low
    ends = [(low, 1 - share), (low + 1, share)]
    log, value, root = 0.0, 1, 1
    for number, weight in ends:
        if weight == 0:
            continue
        power, degree = bound_power(balanced(n - 1, number))
        log += float(weight) * max_bound(n - 1, number)
        # (value^(1/root)) (power^(weight/degree)) under one root
        under = degree * weight.denominator
        common = math.lcm(root, under)
        value = value ** (common // root) * power ** (weight.numerator * (common // under))
        root = common
    return log, (value, root)


def over_log_bound(survey: Survey) -> tuple[int, list[int], list[int]]:
    """How many graphs have a matching; those over the bound; those on it, decided exactly.

    A graph is over the bound if every user leaves a larger expected log.
    """
    over: list[int] = []
    tight: list[int] = []
    n = survey.n
    some = np.flatnonzero(survey.matchings > 0)
    through = survey.through[some].astype(np.float64)
    logs = np.log(through, out=np.zeros_like(through), where=through > 0)
    least = (through * logs).sum(axis=2).min(axis=1) / survey.matchings[some]
    for m in range(n, n * n + 1):
        log, power = log_bound(n, m)
        here = survey.edges[some] == m
        for index in some[here & (least > log - 1e-9)].tolist():
            sign = min(_against(row, power) for row in survey.through[index].tolist())
            over += [index] if sign > 0 else []
            tight += [index] if sign == 0 else []
    return len(some), over, tight


def _against(through: list[int], bound: Power) -> int:
    """-1, 0 or 1: the product of M_i^(M_i) against the bound to the power M, in whole numbers."""
    value, root = bound
    left: int = math.prod(number ** (number * root) for number in through if number)
    right: int = value ** sum(through)
    return (left > right) - (left < right)


@question("lemma-log")
def lemma_log(run: ClaimContext) -> Finding:
    """All small graphs with at least two users; which attain the bound."""
    rows = []
    tested, over, on = 0, 0, 0
    attained = []
    for survey in run.surveys():
        if survey.n == 1:
            continue
        number, beyond, tight = over_log_bound(survey)
        tested, over, on = tested + number, over + len(beyond), on + len(tight)
        rows.append([survey.n, number, len(beyond), len(tight)])
        degrees = {(int(survey.edges[index]), tuple(sorted(survey.rows(index)))) for index in tight}
        for k in (k for k in range(1, survey.n + 1) if survey.n % k == 0):
            own = tuple(sorted(PartitionGraph(survey.n, survey.n * k).graph.to_rows()))
            attained.append((survey.n, k, (survey.n * k, own) in degrees))
    equal = trial(attained, lambda n, k, hit: hit)
    return Finding(
        judge(over == 0 and equal.holds),
        table("By users", ["users", "graphs", "over the bound", "on it"], rows),
        finding=f"{over} of {tested} graphs with matchings are over the bound and {on} are on it; "
        f"where k | n the partition graph is one of these for {equal} pairs (n, k).",
    )
