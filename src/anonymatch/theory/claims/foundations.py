"""Sections 1.1 and 2: definitions, the permanent, Brègman's theorem, the rescaled metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, pairwise, permutations, product

import numpy as np

from anonymatch.base.numbers import plural
from anonymatch.counting import count, permanent
from anonymatch.counting.measures import log_rescaled
from anonymatch.graph import Graph, complete, partition
from anonymatch.theory.claims.named_graphs import (
    PartitionGraph,
    beside,
    bound_power,
    compare,
    matchings,
    two_hexagons_less,
)
from anonymatch.theory.claims.question import (
    ClaimContext,
    Finding,
    judge,
    question,
    table,
    trial,
    values,
)
from anonymatch.theory.claims.small_graphs import Survey

Edges = Sequence[tuple[int, int]]


# ---- definitions


def covers(n: int, disjoint: bool) -> Iterable[tuple[set[int], set[int]]]:
    """Two different sets that together have all of n vertices; disjoint ones, or any."""
    positions = (
        ((True, False), (False, True)) if disjoint else ((True, False), (False, True), (True,) * 2)
    )
    for choice in product(positions, repeat=n):
        left = {v for v in range(n) if choice[v][0]}
        right = {v for v in range(n) if choice[v][1]}
        if left != right:
            yield left, right


def splits(edges: Edges, n: int, disjoint: bool) -> bool:
    """Whether every edge can have one end in X and one in Y, for two sets as the definition asks.

    Examples
    --------
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> splits(triangle, 3, disjoint=True), splits(triangle, 3, disjoint=False)
    (False, True)
    """
    return any(
        all((a in left and b in right) or (b in left and a in right) for a, b in edges)
        for left, right in covers(n, disjoint)
    )


def odd_cycle(edges: Edges, n: int) -> bool:
    """Whether a closed walk of odd length exists: what bipartite graphs must not have."""
    links = np.zeros((n, n), dtype=np.int64)
    for a, b in edges:
        links[a, b] = links[b, a] = 1
    walks = np.eye(n, dtype=np.int64)
    for length in range(1, n + 1):
        walks = np.minimum(walks @ links, 1)
        if length % 2 and walks.trace():
            return True
    return False


def terms(matrix: Sequence[Sequence[int]]) -> list[int]:
    """The products that the permanent adds up."""
    n = len(matrix)
    return [math.prod(matrix[i][p[i]] for i in range(n)) for p in permutations(range(n))]


@question("definition-bipartite")
def definition_bipartite(run: ClaimContext) -> Finding:
    """Both readings on all graphs of up to four vertices; signs on small matrices."""
    graphs = [
        (edges, n)
        for n in (2, 3, 4)
        for edges in chain.from_iterable(
            combinations(list(combinations(range(n), 2)), size)
            for size in range(n * (n - 1) // 2 + 1)
        )
    ]
    distinct, disjoint = (
        trial(graphs, lambda e, n, d=d: splits(e, n, d) == (not odd_cycle(e, n)))
        for d in (False, True)
    )
    signed = [(rows,) for rows in product(product((-1, 0, 1), repeat=2), repeat=2)]
    never_negative = trial(signed, lambda rows: min(terms(rows)) >= 0)
    on_counts = trial(
        ((rows,) for (rows,) in signed if min(map(min, rows)) >= 0),
        lambda rows: min(terms(rows)) >= 0,
    )
    triangle = ((0, 1), (0, 2), (1, 2))
    return Finding(
        judge(
            distinct.holds and never_negative.holds, corrected=disjoint.holds and on_counts.holds
        ),
        values(
            "Whether a triangle is bipartite: X = {0, 1, 2} and Y = {0, 1} are distinct and "
            "cover every edge",
            **{
                "with distinct subsets": splits(triangle, 3, False),
                "with disjoint subsets": splits(triangle, 3, True),
            },
        ),
        values("Terms of the permanent of (1, -1 / 1, 1)", terms=terms([[1, -1], [1, 1]])),
        finding=f"Sets that are only distinct fit the graphs without odd cycles in {distinct} "
        f"cases (even a triangle {'passes' if splits(triangle, 3, False) else 'does not pass'}), "
        f"disjoint ones in {disjoint}. Terms of the permanent are not negative for "
        f"{never_negative} matrices with entries -1, 0 and 1, and for {on_counts} with entries 0 "
        "and 1.",
    )


# ---- the permanent counts matchings


def edge_sets(graph: Graph) -> int:
    """Matchings by definition: sets of n edges that touch every vertex."""
    n = graph.n_users
    return sum(
        len({x for x, _ in chosen}) == len({y for _, y in chosen}) == n
        for chosen in combinations(graph.to_edges(), n)
    )


@question("theorem-permanent")
def theorem_permanent(run: ClaimContext) -> Finding:
    """Edge sets, permanents and the package's counts of small graphs."""
    graphs = [
        (survey, index)
        for survey in map(run.survey, range(1, 5))
        for index in range(len(survey.keys))
    ]

    def by_edges(survey: Survey, index: int) -> bool:
        graph = survey.graph(index)
        rows = [list(map(int, row)) for row in graph.to_rows()]
        return bool(edge_sets(graph) == permanent(rows) == matchings(graph))

    by_definition = trial((case for case in graphs if case[0].n <= 3), by_edges)
    by_counting = trial(
        graphs, lambda survey, index: matchings(survey.graph(index)) == survey.matchings[index]
    )
    return Finding(
        judge(by_definition.holds and by_counting.holds),
        finding=f"Sets of edges and permanents agree for {by_definition} graphs of up to 3 users, "
        f"permanents and two ways of counting for {by_counting} of up to 4. There must be as many "
        "behaviours as users.",
    )


# ---- Brègman


def against_bregman(survey: Survey) -> tuple[list[int], list[int]]:
    """Graphs with more matchings than Brègman's bound, and with as many, decided exactly.

    Examples
    --------
    >>> from anonymatch.theory.claims.small_graphs import survey
    >>> [len(graphs) for graphs in against_bregman(survey(3))]
    [0, 3]
    """
    degrees = survey.degrees
    some = np.flatnonzero((survey.matchings > 0) & (degrees > 0).all(axis=0))
    logs = np.array([math.lgamma(d + 1) / max(d, 1) for d in range(survey.n + 1)])
    bound = logs[degrees[:, some]].sum(axis=0)
    close = some[np.log(survey.matchings[some]) > bound - 1e-9].tolist()
    signs = [
        compare((int(survey.matchings[i]), 1), bound_power(degrees[:, i].tolist())) for i in close
    ]
    over, tight = ([i for i, s in zip(close, signs, strict=True) if s == sign] for sign in (1, 0))
    return over, tight


@question("theorem-bregman")
def theorem_bregman(run: ClaimContext) -> Finding:
    """Exactly, on every small graph; rows of zeros apart."""
    rows = []
    for survey in run.surveys():
        beyond, equal = against_bregman(survey)
        empty, positive = (survey.degrees == 0).any(axis=0).sum(), (survey.matchings > 0).sum()
        rows.append([survey.n, len(survey.keys), empty, positive, len(beyond), len(equal)])
    without, over, tight = (sum(row[k] for row in rows) for k in (2, 4, 5))
    return Finding(
        judge(without == 0 and over == 0, conditional=over == 0),
        table(
            "By number of users",
            ["users", "graphs", "with an empty row", "with matchings", "over the bound", "on it"],
            rows,
        ),
        finding=f"{over} graphs have more matchings than the bound and {tight} have exactly as "
        f"many; {without} have a user without an edge, for whom the bound is not defined.",
    )


# ---- partitions attain the bound


def complete_sizes(degrees: Sequence[int]) -> list[int] | None:
    """Sizes of complete parts whose users have these degrees, or None.

    Examples
    --------
    >>> complete_sizes([2, 2, 1]), complete_sizes([3, 2, 2])
    ([2, 1], None)
    """
    sizes: list[int] = []
    for degree in sorted(set(degrees), reverse=True):
        number, rest = divmod(list(degrees).count(degree), degree)
        if rest:
            return None
        sizes += [degree] * number
    return sizes


def best_by_degrees(survey: Survey) -> dict[tuple[int, ...], int]:
    """The most matchings of graphs whose users have these degrees, falling."""
    degrees = -np.sort(-survey.degrees, axis=0)
    best: dict[tuple[int, ...], int] = {}
    for key, number in zip(degrees.T.tolist(), survey.matchings.tolist(), strict=True):
        best[tuple(key)] = max(best.get(tuple(key), 0), number)
    return best


@question("lemma-partition")
def lemma_partition(run: ClaimContext) -> Finding:
    """Every small graph against the partition with the same degrees."""
    cases = [
        (key, number)
        for survey in run.surveys()
        for key, number in best_by_degrees(survey).items()
        if min(key) > 0 and complete_sizes(key) is not None
    ]

    def product_is_most(degrees: tuple[int, ...], most: int) -> bool:
        sizes = complete_sizes(degrees)
        return sizes is not None and matchings(partition(sizes)) == most

    multiset = trial(cases, product_is_most)
    regular = trial((case for case in cases if len(set(case[0])) == 1), product_is_most)
    by_set: dict[tuple[int, frozenset[int]], list[int]] = {}
    for key, number in cases:
        by_set.setdefault((len(key), frozenset(key)), []).append(number)
    ambiguous = [
        (n, sorted(s), survey) for (n, s), survey in by_set.items() if len(set(survey)) > 1
    ]
    return Finding(
        judge(multiset.holds and regular.holds),
        table(
            "Sets of degrees that do not tell how many users have each",
            ["users", "degrees", "matchings of their partitions"],
            ambiguous,
        ),
        finding=f"Complete components have the most matchings for {multiset} lists of degrees "
        f"that allow them, {regular} of them with equal degrees. Degrees must be taken with their "
        f"numbers: {plural(len(ambiguous), 'set')} of degrees "
        f"{'belongs' if len(ambiguous) == 1 else 'belong'} to partitions with different counts.",
    )


def rescaled_log(graph: Graph) -> float:
    """Natural log of the permanent of p abs(ln p), with p one over the degree."""
    return log_rescaled(graph, count(graph, exact=True)).value


def user_bound(d: int) -> float:
    """The most that a user of degree d adds to the log: ln ln d - ln d + ln(d!)/d."""
    return math.log(math.log(d)) - math.log(d) + math.lgamma(d + 1) / d


def best_rescaled(survey: Survey, m: int) -> float:
    """The largest log of the metric over all graphs with m edges."""
    here = (survey.edges == m) & (survey.matchings > 0)
    degrees = survey.degrees[:, here]
    with np.errstate(divide="ignore"):
        users = np.log(np.log(np.maximum(degrees, 1))) - np.log(degrees)
    return float((np.log(survey.matchings[here]) + users.sum(axis=0)).max())


@question("rescaled-metric")
def rescaled_metric(run: ClaimContext) -> Finding:
    """Concavity of what a user adds; small graphs with nk edges; one larger graph."""
    values = [user_bound(d) for d in range(2, 5001)]
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
        judge(
            divided.holds and other.holds and not beaten,
            conditional=divided.holds and concave.holds,
        ),
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
        finding=f"What a user adds is concave at {concave} degrees. H is best for {divided} small "
        f"pairs with k | n and for {other} others; at ({h.n}, {h.m}) it has "
        f"{math.exp(rescaled_log(h.graph)):.6g} and another graph "
        f"{math.exp(rescaled_log(rival)):.6g}. One exposed user makes it "
        f"{math.exp(rescaled_log(exposed)):g}.",
        counterexample=tuple(rival.to_rows()) if beaten else None,
    )
