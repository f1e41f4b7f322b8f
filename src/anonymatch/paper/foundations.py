"""Section 2: definitions, the permanent, Brègman's theorem and what follows from it at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, permutations, product

import numpy as np

from anonymatch.base.numbers import plural
from anonymatch.counting import permanent
from anonymatch.graph import Graph, partition
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.enumeration import popcounts, unpack
from anonymatch.paper.evidence import table, values
from anonymatch.paper.exact_comparisons import bound_power, compare
from anonymatch.paper.named_graphs import matchings
from anonymatch.paper.question import Finding, judge, question, trial
from anonymatch.paper.small_graphs import Survey

__all__ = ["QUESTIONS"]

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


@question(
    "definition-bipartite",
    9,
    section="Section 2, Definitions 1 and 4",
    title="Bipartite graphs, and the signs of a permanent",
    kind="definition",
    statement="A graph is bipartite if its vertices can be partitioned into two distinct subsets "
    "$X$ "
    "and $Y$ such that any edge joins $X$ and $Y$. The permanent is like the determinant, "
    "except that all terms are positive.",
)
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
        verdict=judge(
            distinct.holds and never_negative.holds,
            corrected=disjoint.holds and on_counts.holds,
        ),
        corrected="Two disjoint subsets; and no term is negative if no entry is.",
        brief="two disjoint subsets",
        finding=f"Sets that are only distinct fit the graphs without odd cycles in {distinct} "
        f"cases (even a triangle {'passes' if splits(triangle, 3, False) else 'does not pass'}), "
        f"disjoint ones in {disjoint}. Terms of the permanent are not negative for "
        f"{never_negative} matrices with entries -1, 0 and 1, and for {on_counts} with entries 0 "
        "and 1.",
        searched="all graphs with 2 to 4 vertices; all 2 x 2 matrices with entries -1, 0 and 1",
        evidence=(
            values(
                "Whether a triangle is bipartite: X = {0, 1, 2} and Y = {0, 1} are distinct and "
                "cover every edge",
                **{
                    "with distinct subsets": splits(triangle, 3, False),
                    "with disjoint subsets": splits(triangle, 3, True),
                },
            ),
            values("Terms of the permanent of (1, -1 / 1, 1)", terms=terms([[1, -1], [1, 1]])),
        ),
    )


# ---- the permanent counts matchings


def edge_sets(graph: Graph) -> int:
    """Matchings by definition: sets of n edges that touch every vertex."""
    n = graph.n_users
    return sum(
        len({x for x, _ in chosen}) == len({y for _, y in chosen}) == n
        for chosen in combinations(graph.to_edges(), n)
    )


@question(
    "theorem-permanent",
    10,
    section="Section 2, Theorem 1",
    title="The permanent counts perfect matchings",
    kind="theorem",
    statement="The number of perfect matchings of a bipartite graph is the permanent of its "
    "bi-adjacency matrix.",
    seconds=0.2,
    needs="survey",
)
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
        verdict=judge(by_definition.holds and by_counting.holds),
        corrected="it differs for some graphs",
        finding=f"Sets of edges and permanents agree for {by_definition} graphs of up to 3 users, "
        f"permanents and two ways of counting for {by_counting} of up to 4. There must be as many "
        "behaviours as users.",
        searched="every graph of up to 4 users; the theorem has a proof for all",
    )


# ---- Brègman


def degrees_of(survey: Survey) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Degrees of all users of all graphs, a line a user."""
    return popcounts(survey.n)[unpack(survey.keys, survey.n, survey.n)].astype(np.int64)


@question(
    "theorem-bregman",
    11,
    section="Section 2, Theorem 2 (Brègman)",
    title="Brègman's bound on the permanent",
    kind="theorem",
    statement=r"The permanent of an $n \times n$ matrix of zeros and ones with row sums $r_i$ is "
    "at most "
    r"the product of $(r_i!)^{1/r_i}$.",
    needs="survey",
)
def theorem_bregman(run: ClaimContext) -> Finding:
    """Exactly, on every small graph; rows of zeros apart."""
    rows = []
    without, over, tight = 0, 0, 0
    for survey in run.surveys():
        degrees = degrees_of(survey)
        empty = int((degrees == 0).any(axis=0).sum())
        beyond = len(survey.over_bregman())
        positive = int((survey.matchings > 0).sum())
        equal = sum(
            compare((int(survey.matchings[k]), 1), bound_power(degrees[:, k].tolist())) == 0
            for k in np.flatnonzero(_near_bound(survey, degrees)).tolist()
        )
        rows.append([survey.n, len(survey.keys), empty, positive, beyond, equal])
        without, over, tight = without + empty, over + beyond, tight + equal
    return Finding(
        verdict=judge(without == 0 and over == 0, conditional=over == 0),
        corrected="Every row sum must be at least 1: $(0!)^{1/0}$ is no number. With a row of "
        "zeros the permanent is 0, and so the bound should be.",
        brief="if every row has an entry",
        finding=f"{over} graphs have more matchings than the bound and {tight} have exactly as "
        f"many; "
        f"{without} have a user without an edge, for whom the bound is not defined.",
        searched=f"{run.scope}, compared in whole numbers; the theorem has a proof for all sizes",
        evidence=(
            table(
                "By number of users",
                [
                    "users",
                    "graphs",
                    "with an empty row",
                    "with matchings",
                    "over the bound",
                    "on it",
                ],
                rows,
            ),
        ),
    )


def _near_bound(
    survey: Survey, degrees: np.ndarray[tuple[int, int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    logs = np.array([math.lgamma(d + 1) / max(d, 1) for d in range(survey.n + 1)])
    counts = np.log(np.maximum(survey.matchings, 1))
    close: np.ndarray[tuple[int], np.dtype[np.bool_]] = (survey.matchings > 0) & (
        counts > logs[degrees].sum(axis=0) - 1e-9
    )
    return close


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
    degrees = -np.sort(-degrees_of(survey), axis=0)
    best: dict[tuple[int, ...], int] = {}
    for key, number in zip(degrees.T.tolist(), survey.matchings.tolist(), strict=True):
        best[tuple(key)] = max(best.get(tuple(key), 0), number)
    return best


@question(
    "lemma-partition",
    12,
    section="Section 2, Lemmas 1 and 2",
    title="Complete components attain Brègman's bound",
    kind="lemma",
    statement="If every user has $k$ behaviours and $k$ divides $n$, $n/k$ complete components "
    "of $k$ "
    "users have the most matchings. Complete components of any sizes have the most among all "
    "graphs with the same set of user degrees.",
    seconds=0.05,
    needs="survey",
)
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
        verdict=judge(multiset.holds and regular.holds),
        corrected="it fails for some degrees",
        finding=f"Complete components have the most matchings for {multiset} lists of degrees that "
        f"allow "
        f"them, {regular} of them with equal degrees. Degrees must be taken with their numbers: "
        f"{plural(len(ambiguous), 'set')} of degrees "
        f"{'belongs' if len(ambiguous) == 1 else 'belong'} "
        "to partitions with different counts.",
        searched=f"{run.scope}; Brègman's theorem proves it for all sizes",
        evidence=(
            table(
                "Sets of degrees that do not tell how many users have each",
                ["users", "degrees", "matchings of their partitions"],
                ambiguous,
            ),
        ),
    )


QUESTIONS = (definition_bipartite, theorem_permanent, theorem_bregman, lemma_partition)
