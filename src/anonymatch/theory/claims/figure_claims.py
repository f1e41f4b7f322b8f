"""The figures: what is drawn, against what captions and text say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from anonymatch.counting import matchings as listed
from anonymatch.counting import posterior
from anonymatch.graph import Graph, crown, forced, partition, ring
from anonymatch.theory.attacks import exposures
from anonymatch.theory.claims.named_graphs import attack_value, matchings, without_edge
from anonymatch.theory.claims.pictures import PRINTED, Ellipse, Point, inside, permutation, picture
from anonymatch.theory.claims.question import (
    ClaimContext,
    Finding,
    drawn,
    judge,
    question,
    table,
    trial,
    values,
)

_REMAIN = "matchings that remain on average"
_AMONG = "users among whom each hides"


def sets_of(ellipses: Mapping[str, Ellipse], points: Mapping[str, Point]) -> Graph:
    """The graph of users by the initials that their drawn sets contain."""
    edges = [
        (user, initial)
        for user, ellipse in ellipses.items()
        for initial in sorted(inside(ellipse, points))
    ]
    return Graph.from_edges(edges, users=ellipses, behaviours=sorted(points))


def without_themselves(graph: Graph) -> list[str]:
    """Users whose set lacks their own initial."""
    edges = set(graph.to_edges())
    return [str(user) for user in graph.users if (user, str(user)[0]) not in edges]


def exposed_by_one(graph: Graph) -> set[int]:
    """How many other users exposing one identifies, over all users and their allowed behaviours."""
    counts = posterior(graph).counts
    return {
        len(forced(graph.expose(user, behaviour)))
        for user in graph.users
        for behaviour, through in counts[user].items()
        if through
    }


@question("figure-1")
def figure_1(run: ClaimContext) -> Finding:
    """Read the sets off the ellipses; then with the labels C and D exchanged."""
    points = PRINTED.points
    swapped = points | {"C": points["D"], "D": points["C"]}
    pairs = sets_of(PRINTED.separate, points)
    as_drawn, meant = (sets_of(PRINTED.overlapping, positions) for positions in (points, swapped))

    def right(graph: Graph) -> bool:
        counts = matchings(pairs) == 4 and matchings(graph) == 2
        own = not without_themselves(pairs) and not without_themselves(graph)
        return counts and own and exposed_by_one(pairs) == {1} and exposed_by_one(graph) == {3}

    lacking = without_themselves(as_drawn)
    return Finding(
        judge(right(as_drawn), corrected=right(meant)),
        drawn("Left, in pairs", pairs, matchings=matchings(pairs)),
        drawn("Right, as drawn", as_drawn, matchings=matchings(as_drawn)),
        drawn("Right, labels C and D exchanged", meant, matchings=matchings(meant)),
        values(
            "How many others are de-anonymised together with one user",
            **{
                "in pairs": sorted(exposed_by_one(pairs)),
                "with overlapping sets": sorted(exposed_by_one(meant)),
            },
        ),
        corrected="Exchange the labels C and D in the right picture: rows "
        + "/".join(meant.to_rows()),
        finding=f"{matchings(pairs)} matchings in pairs, {matchings(as_drawn)} in the right "
        f"picture. As drawn there, {len(lacking)} of 4 users lack their own behaviour "
        f"({', '.join(lacking) or 'nobody'}), so the true assignment is no matching; with C and D "
        f"exchanged {len(without_themselves(meant))} do, and there are {matchings(meant)}.",
    )


@question("figure-2")
def figure_2(run: ClaimContext) -> Finding:
    """Count both pictures."""
    left = picture(PRINTED.neighbourhood_ring)
    right = picture(PRINTED.neighbourhood_groups)
    counts = [matchings(left), matchings(right)]
    three = all(set(graph.degrees.tolist()) == {3} for graph in (left, right))
    return Finding(
        judge(three and counts == [20, 36]),
        drawn("Left", left, matchings=counts[0], **{_REMAIN: attack_value(left)}),
        drawn("Right", right, matchings=counts[1], **{_REMAIN: attack_value(right)}),
        corrected=f"{counts[0]} on the left and {counts[1]} on the right",
        finding=f"{counts[0]} and {counts[1]} matchings, both of {left.n_edges} edges with three "
        f"behaviours a user; after the best attack {attack_value(left)} and "
        f"{attack_value(right)} are left on average.",
    )


@question("figure-3")
def figure_3(run: ClaimContext) -> Finding:
    """Follow the arrows; then match all four users."""
    from anonymatch.mixes import path_counts, relay_graph

    paths = path_counts(PRINTED.relays, entry="top", relays=3)
    paths_to = {exit_name: paths.get(exit_name, 0) for exit_name in PRINTED.relay_exits}
    total = sum(paths_to.values())
    prior = [
        Fraction(paths_to[exit_name], total * number)
        for exit_name, number in PRINTED.relay_exits.items()
        for _ in range(number)
    ]
    graph = relay_graph(PRINTED.relays, users=PRINTED.relay_entries, exits=PRINTED.relay_exits)
    counts = posterior(graph, exact=True).counts["Alice"]
    weight = sum(counts.values(), Fraction(0))
    after = [Fraction(counts.get(behaviour, 0)) / weight for behaviour in graph.behaviours]
    sixth = Fraction(1, 6)
    holds = list(paths_to.values()) == [2, 1] and prior == [2 * sixth, 2 * sixth, sixth, sixth]
    shown = ", ".join(map(str, prior))
    return Finding(
        judge(holds),
        values("Paths of three relays by exit", **paths_to),
        table(
            "Alice's probabilities before and after all four users are matched",
            ["behaviour", "before", "after"],
            zip(map(str, graph.behaviours), prior, after, strict=True),
        ),
        corrected=f"{shown}",
        finding=f"{paths_to['exit 1']} and {paths_to['exit 2']} paths, so {shown}: probabilities "
        f"before users are matched. With all four users matched (weight {weight}) Alice's are "
        f"{', '.join(map(str, after))}.",
    )


def effective_sizes(graph: Graph) -> list[Fraction]:
    """For each user one over the probability that two independent guesses agree."""
    counts = posterior(graph).counts
    return [
        1 / sum((Fraction(value, sum(row.values())) ** 2 for value in row.values()), Fraction(0))
        for row in counts.values()
    ]


@question("figure-4")
def figure_4(run: ClaimContext) -> Finding:
    """Count both, and look at what every user has left."""
    left, right = picture(PRINTED.groups_equal), picture(PRINTED.groups_unequal)
    rival = partition([3, 3, 1])
    counts = [matchings(left), matchings(right)]
    sizes = effective_sizes(left)
    exposed = len(forced(right))
    as_captioned = counts == [24, 24] and exposed == 3
    by_group = sizes == [Fraction(degree) for degree in left.degrees.tolist()]
    return Finding(
        judge(as_captioned and len(set(sizes)) == 1, conditional=as_captioned and by_group),
        drawn("Left", left, matchings=counts[0], **{_AMONG: sizes}),
        drawn("Right", right, matchings=counts[1], **{_AMONG: effective_sizes(right)}),
        drawn("As many edges as the right one", rival, matchings=matchings(rival)),
        finding=f"{counts[0]} and {counts[1]} matchings, {exposed} users exposed on the right. On "
        f"the left users hide among {' or '.join(map(str, sorted(set(sizes))))}, and the costs "
        f"differ: {left.n_edges} and {right.n_edges} edges. With {rival.n_edges} edges there are "
        f"also {matchings(rival)} matchings (groups of 3, 3 and 1).",
    )


def two_regular_counts(run: ClaimContext) -> list[tuple[int, int]]:
    """(users, matchings) of every small connected graph in which all degrees are 2."""
    from scipy.sparse.csgraph import connected_components

    counts = []
    for all_graphs in run.surveys():
        n = all_graphs.n
        for index in np.flatnonzero(all_graphs.edges == 2 * n).tolist():
            graph = all_graphs.graph(index)
            if {*graph.degrees.tolist(), *graph.behaviour_degrees.tolist()} != {2}:
                continue
            cells = graph.to_scipy().toarray() != 0
            links = np.block([[np.zeros((n, n)), cells], [cells.T, np.zeros((n, n))]])
            if connected_components(links, directed=False)[0] == 1:
                counts.append((n, matchings(graph)))
    return counts


@question("figure-5")
def figure_5(run: ClaimContext) -> Finding:
    """The statement on cycles and all small graphs; the drawing as it is and less an edge."""
    counted = two_regular_counts(run) + [(n, matchings(ring(n, 2))) for n in range(2, 9)]
    statement = trial(counted, lambda _, number: number == 2)
    as_drawn = picture(PRINTED.two_regular)
    meant = without_edge(as_drawn, 1, 1)

    def right(graph: Graph) -> bool:
        degrees = {*graph.degrees.tolist(), *graph.behaviour_degrees.tolist()}
        return degrees == {2} and matchings(graph) == 2

    red = [{(2 - a, 2 - b) for a, b in lines} for lines in PRINTED.red_matchings]
    missing = sum(not edges <= set(meant.to_edges()) for edges in red)
    pairs = [
        " ".join(f"x{user + 1}y{behaviour + 1}" for user, behaviour in enumerate(matching))
        for matching in listed(meant)
    ]
    return Finding(
        judge(statement.holds and right(as_drawn), corrected=statement.holds and right(meant)),
        drawn("As drawn", as_drawn, matchings=matchings(as_drawn)),
        drawn("Without x2y2", meant, matchings=matchings(meant)),
        table("Connected 2-regular graphs", ["users", "matchings"], counted),
        corrected=f"The statement is right; in the picture remove the edge $x_2y_2$: the matchings "
        f"are {' and '.join(pairs)}.",
        finding=f"The statement held for {statement} graphs. The graph that is drawn has degrees "
        f"{', '.join(map(str, as_drawn.degrees.tolist()))} and {matchings(as_drawn)} matchings; "
        f"without x2y2 it has {matchings(meant)}, and {missing} of the 2 red ones is not among "
        "them.",
    )


@question("figure-6")
def figure_6(run: ClaimContext) -> Finding:
    """Read the permutations off the filled cells."""
    read = [permutation(cells) for cells in PRINTED.permutations]
    same = trial(
        zip(read, PRINTED.permutation_labels, strict=True), lambda drawn, label: drawn == label
    )
    proper = trial(((drawn,) for drawn in read), lambda drawn: sorted(drawn) == list("1234"))
    return Finding(
        judge(same.holds and proper.holds and len(set(read)) == 8),
        table(
            "Permutations as drawn and as labelled",
            ["drawn", "label"],
            zip(read, PRINTED.permutation_labels, strict=True),
        ),
        corrected=f"The cells read {', '.join(read)}.",
        finding=f"{same} pictures match their labels, all different, out of {math.factorial(4)} "
        "ways.",
    )


@question("figure-7")
def figure_7(run: ClaimContext) -> Finding:
    """Compare edges with matrix, and count."""
    edges = [(user - 1, behaviour - 1) for user, behaviour in PRINTED.matrix_edges]
    graph = Graph.from_edges(edges, users=range(4), behaviours=range(4))
    matrix = Graph.from_rows(PRINTED.matrix_rows)
    number = matchings(graph)
    through = sorted(set(posterior(graph).counts.by_edge.tolist()))
    return Finding(
        judge(graph == matrix and number == 9),
        drawn("The graph", graph, matchings=number, **{"matchings through an edge": through}),
        corrected=f"the permanent is {number}",
        finding=f"The edges {'are' if graph == matrix else 'are not'} those of the matrix; it has "
        f"{number} matchings, and every edge is in {' or '.join(map(str, through))} of them.",
    )


@question("figures-8-9")
def figures_8_9(run: ClaimContext) -> Finding:
    """Compare with the crown, and with what exposing leaves."""
    g_k = picture(PRINTED.g_k)
    before = picture(PRINTED.exposed_before)
    user, behaviour = 3 - PRINTED.exposed_edge[0], 3 - PRINTED.exposed_edge[1]
    left = before.expose(user, behaviour)
    after = picture(PRINTED.exposed_after)
    same = left.to_rows() == after.to_rows()
    expected = exposures(before).expected_left
    best = min(range(4), key=lambda x: expected[x])
    return Finding(
        judge(g_k == crown(6) and same and (user, behaviour) == (2, 0)),
        drawn("Figure 8 with k + 1 = 6", g_k, matchings=matchings(g_k)),
        drawn("Figure 9, before", before, matchings=matchings(before), **{_REMAIN: expected}),
        drawn("Figure 9, after", after, matchings=matchings(after)),
        finding=f"Figure 8 {'is' if g_k == crown(6) else 'is not'} the complete graph less a "
        f"perfect matching. In Figure 9 {matchings(before)} matchings become {matchings(left)}, "
        f"as drawn; x3 leaves {expected[2]} on average, while the best user x{best + 1} leaves "
        f"{expected[best]}.",
    )
