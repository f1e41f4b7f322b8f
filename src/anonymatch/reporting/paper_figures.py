"""The nine figures of the paper, drawn from graphs, with the counts that these graphs have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from anonymatch.base.numbers import plural, shown, subscript
from anonymatch.counting import count, matchings, posterior
from anonymatch.graph import Graph, crown, partition
from anonymatch.mixes import relay_graph, relay_weights
from anonymatch.reporting.drawings.curves import network, sets
from anonymatch.reporting.drawings.graphs import bipartite, exposure
from anonymatch.reporting.drawings.matrices import matrix, permutations
from anonymatch.reporting.html.document import Panel
from anonymatch.theory.attacks import exposures
from anonymatch.theory.claims import PRINTED, Ellipse, Point, inside, permutation, picture

_PEOPLE = ("Alice", "Bob", "Charlie", "David", "Eve", "Frank", "Grace")
_RELAYS = {"top": "a", "bottom": "b", "middle": "m", "exit 1": "1", "exit 2": "2"}
_RELAY_PLACES = {"a": (0, 0.5), "b": (0, 2.5), "m": (1.7, 1.5), "1": (3, 0), "2": (3, 3)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """A figure of the paper, drawn again.

    Attributes
    ----------
    number : int
    subject : str
        What it is about.
    panels : tuple of Panel
    right, corrected : str
        What holds as printed, and what does not ("" if all does).
    meaning : str
        What it tells somebody who designs a system.
    """

    number: int
    subject: str
    panels: tuple[Panel, ...]
    right: str
    corrected: str = ""
    meaning: str


def paper_figure(number: int) -> PaperFigure:
    """Figure ``number`` of the paper, 1 to 9.

    Examples
    --------
    >>> figure = paper_figure(2)
    >>> figure.subject, [panel.caption for panel in figure.panels]
    ('Overlapping sets against groups', ['Overlapping: 20 matchings from 18 edges', 'Two groups: 36
    matchings from 18 edges'])
    """
    return paper_figures()[number - 1]


@cache
def paper_figures() -> tuple[PaperFigure, ...]:
    """All figures of the paper in order.

    Examples
    --------
    >>> [figure.number for figure in paper_figures() if figure.corrected]
    [1, 3, 4, 5, 9]
    """
    first = _sets(), _neighbourhoods(), _relays(), _exposed_users(), _two_regular()
    return *first, _picks(), _biadjacency(), _crowns(), _step()


def _sets() -> PaperFigure:
    swapped = {**PRINTED.points, "C": PRINTED.points["D"], "D": PRINTED.points["C"]}
    overlapping = _members(PRINTED.overlapping, PRINTED.points)
    panels = tuple(
        Panel(
            sets(
                members,
                positions={point: (0.85 * x, -0.85 * y) for point, (x, y) in positions.items()},
                title=f"Figure 1: {name}",
            ),
            f"{name}: {_counted_in_words(graph)}; {_without_own(members)}",
            graph,
        )
        for name, ellipses, positions in (
            ("A partition", PRINTED.separate, PRINTED.points),
            ("Overlapping, as printed", PRINTED.overlapping, PRINTED.points),
            ("Overlapping, as meant", PRINTED.overlapping, swapped),
        )
        for members in [_members(ellipses, positions)]
        for graph in [_graph_of_sets(members)]
    )
    return PaperFigure(
        number=1,
        subject="Two ways to give four users sets of two",
        panels=panels,
        right=f"The counts, {_value(panels[0])} and {_value(panels[1])}.",
        corrected="In the right picture the labels C and D are swapped: as printed, "
        f"{_without_own(overlapping)}, although each set is said to hold its user. With the "
        f"labels exchanged all do, and the count is {_value(panels[2])} as before.",
        meaning="At the same cost, separate groups leave twice as many explanations as a chain of "
        "overlapping sets, and one exposed user does not expose everybody.",
    )


def _members(
    ellipses: Mapping[str, Ellipse], positions: Mapping[str, Point]
) -> dict[str, list[str]]:
    return {user: sorted(inside(ellipse, positions)) for user, ellipse in ellipses.items()}


def _counted(number: int, name: str, graph: Graph, **standing_out: Any) -> Panel:
    """A graph under its name, with its matchings and edges below it."""
    drawn = bipartite(graph, title=f"Figure {number}: {name}", **standing_out)
    return Panel(drawn, f"{name}: {_counted_in_words(graph)}", graph)


def _neighbourhoods() -> PaperFigure:
    around, groups = (
        named(picture(lines), _PEOPLE)
        for lines in (PRINTED.neighbourhood_ring, PRINTED.neighbourhood_groups)
    )
    panels = tuple(
        _counted(
            2,
            name,
            graph,
            users=["Alice"],
            edges=[edge for edge in graph.to_edges() if edge[0] == "Alice"],
        )
        for name, graph in (("Overlapping", around), ("Two groups", groups))
    )
    return PaperFigure(
        number=2,
        subject="Overlapping sets against groups",
        panels=panels,
        right=f"The counts, {_value(panels[0])} and {_value(panels[1])}, at equal cost.",
        meaning="Every user has three behaviours in both. After the best attack on one user "
        f"{shown(attacked(groups))} explanations are expected to be left in groups, and "
        f"{shown(attacked(around))} in the overlapping design.",
    )


def _relays() -> PaperFigure:
    links = [(_RELAYS[sender], _RELAYS[receiver]) for sender, receiver in PRINTED.relays]
    entries = [_RELAYS[entry] for entry in PRINTED.relay_entries.values()]
    users = dict(zip(_PEOPLE, entries, strict=False))
    exits = {_RELAYS[relay]: number for relay, number in PRINTED.relay_exits.items()}
    prior = relay_weights(links, entry=users["Alice"], exits=exits)
    graph = relay_graph(links, users=users, exits=exits)
    total = count(graph, exact=True).value
    through = posterior(graph, exact=True).counts["Alice"].values()
    after = [Fraction(value) / Fraction(total) for value in through]
    paths = [path for path in paths_from(links, users["Alice"], 3) if path[-1] in exits]
    observed = {relay: prior[2 * number : 2 * number + 2] for number, relay in enumerate(exits)}
    numbers = [sum(path[-1] == relay for path in paths) for relay in exits]
    drawn = network(
        links,
        users=users,
        exits=observed,
        paths=paths,
        positions=_RELAY_PLACES,
        title="Figure 3: the relays",
    )
    renamed = Graph.from_edges(
        [
            (user, f"exit {relay}, {nth + 1}", weight)
            for user, (relay, nth), weight in graph.to_edges()
        ]
    )
    return PaperFigure(
        number=3,
        subject="Probabilities by paths through relays",
        panels=(
            Panel(
                drawn,
                f"{plural(numbers[0], 'path')} of three relays to exit 1, {numbers[1]} to exit 2; "
                f"before matching, each behaviour is Alice's with probability {shown(prior)}",
            ),
            Panel(
                bipartite(renamed, title="Figure 3: weights of all users"),
                "The same as a graph, lines as thick as their weights: the weight of all matchings "
                f"is {shown(total)}",
                graph,
            ),
        ),
        right="The numbers of paths, and the probabilities that follow from Alice's paths alone.",
        corrected="These are probabilities before anything else is known. Since the other three "
        f"users did something too, matching all four makes Alice's {shown(after)}.",
        meaning="Weights by paths understate what an attacker knows who also has to explain "
        "everybody else: exit 1 becomes more likely still.",
    )


def _exposed_users() -> PaperFigure:
    graphs = picture(PRINTED.groups_equal), picture(PRINTED.groups_unequal), partition([3, 3, 1])
    even, uneven, same = (named(graph, _PEOPLE) for graph in graphs)
    panels = tuple(
        Panel(
            bipartite(graph, title=f"Figure 4: {name}", groups="blocks", users=_alone(graph)),
            f"{name}: {_counted_in_words(graph)}, {_exposed(graph)}",
            graph,
        )
        for name, graph in (
            ("Three groups", even),
            ("One group and three alone", uneven),
            ("Not in the paper", same),
        )
    )
    return PaperFigure(
        number=4,
        subject="Equal counts, unequal users",
        panels=panels,
        right=f"Both printed graphs have {_value(panels[0])} matchings, and the second has "
        f"{_exposed(uneven)}.",
        corrected=f"They do not cost the same, {even.n_edges} edges and {uneven.n_edges}, so they "
        f"are no fair pair: {uneven.n_edges} edges can give {_value(panels[2])} matchings, with "
        "one user alone. And groups of 3, 2 and 2 do not give all users equal anonymity.",
        meaning="The number of matchings is a figure of the whole system: look at each user as "
        "well before trusting it.",
    )


def _two_regular() -> PaperFigure:
    drawn, cycle = graph_of(picture(PRINTED.two_regular).to_rows()), graph_of(["110", "101", "011"])
    (extra,) = set(drawn.to_edges()) - set(cycle.to_edges())
    panels = tuple(
        Panel(
            bipartite(
                graph,
                title=f"Figure 5, {name}: matching {nth + 1}",
                edges=edges,
                headings=("X", "Y"),
            ),
            f"{name}, matching {nth + 1} of {value_of(graph)}",
            graph,
        )
        for name, graph in (("As printed", drawn), ("As meant", cycle))
        for nth, matching in enumerate(matchings(graph))
        for edges in [[(graph.users[i], graph.behaviours[j]) for i, j in enumerate(matching)]]
    )
    return PaperFigure(
        number=5,
        subject="Connected graphs of degree two",
        panels=panels,
        right=f"The statement: a connected graph of degree 2 has {value_of(cycle)} matchings.",
        corrected=f"The graph printed has an edge too many, {extra[0]} with {extra[1]}: its "
        f"degrees are {shown(drawn.degrees.tolist())}, and it has {value_of(drawn)} matchings, of "
        f"which two are shown. Without that edge it is a cycle of {cycle.n_edges} edges.",
        meaning="A ring of overlapping pairs has two explanations however many users join it: one "
        "exposed user tells all.",
    )


def _picks() -> PaperFigure:
    orders = [tuple(map(int, permutation(cells))) for cells in PRINTED.permutations]
    labels = [tuple(map(int, name)) for name in PRINTED.permutation_labels]
    agreeing = sum(order == name for order, name in zip(orders, labels, strict=True))
    every = Graph.from_rows(["1111"] * 4)
    return PaperFigure(
        number=6,
        subject="Permutations are ways to pick one cell a row and column",
        panels=(
            Panel(
                permutations(orders, title="Figure 6: eight permutations"),
                f"{len(orders)} of the {value_of(every)} ways for four rows, and below each the "
                "matching that it is",
                every,
            ),
        ),
        right=f"{agreeing} of {len(orders)} pictures agree with their labels.",
        meaning="Each permutation that only uses edges is one explanation of what was seen.",
    )


def _biadjacency() -> PaperFigure:
    graph = graph_of(PRINTED.matrix_rows)
    through = {
        value for row in posterior(graph, exact=True).counts.values() for value in row.values()
    }
    return PaperFigure(
        number=7,
        subject="A graph and its matrix",
        panels=(
            Panel(bipartite(graph, title="Figure 7: the graph"), _counted_in_words(graph), graph),
            Panel(
                matrix(graph, title="Figure 7: its matrix"),
                f"Its matrix, with permanent {value_of(graph)}",
                graph,
            ),
        ),
        right=f"The matrix is that of the graph, and its permanent is {value_of(graph)}; every "
        f"edge is in {shown(sorted(through))} matchings.",
        meaning="Counting explanations is computing the permanent of the matrix.",
    )


def _crowns() -> PaperFigure:
    panels = tuple(
        _counted(8, f"G{subscript(k)}", graph_of(crown(k + 1).to_rows())) for k in (2, 3, 4)
    )
    return PaperFigure(
        number=8,
        subject="Everybody but one: the graphs G of degree k",
        panels=panels,
        right="Each user has all behaviours but one, and the matchings are the permutations "
        f"without a fixed point: {shown([_value(panel) for panel in panels])} for k = 2, 3, 4.",
        meaning="The paper uses it where groups of k do not divide the users: one more user, at "
        "the same cost a user. Groups of several sizes can do better.",
    )


def _step() -> PaperFigure:
    graph = graph_of(picture(PRINTED.exposed_before).to_rows())
    row, column = (3 - height for height in PRINTED.exposed_edge)
    user, behaviour = graph.users[row], graph.behaviours[column]
    left = graph.expose(user, behaviour)
    outcomes = exposures(graph, exact=True)
    expected = dict(zip(graph.users, outcomes.expected_left, strict=True))
    best = outcomes.best[0]
    return PaperFigure(
        number=9,
        subject="What one exposed user takes away",
        panels=(
            Panel(
                exposure(graph, user, behaviour, title="Figure 9: before and after"),
                f"{_counted_in_words(graph)} before; {_counted_in_words(left)} after",
                graph,
            ),
        ),
        right=f"The counts, {value_of(graph)} before and {value_of(left)} after.",
        corrected=f"{user} is not whom an attacker would choose: exposing {user} leaves "
        f"{shown(expected[user])} matchings on average, exposing {best} leaves "
        f"{shown(expected[best])}.",
        meaning="Exposing a user removes all edges of that user and of the behaviour; dashed "
        "lines are the anonymity that others lose with it.",
    )


# ---- graphs and words of figures


def graph_of(rows: Sequence[str]) -> Graph:
    """Users x₁, x₂, ... and behaviours y₁, y₂, ... from rows of bits.

    Examples
    --------
    >>> graph_of(["10", "11"]).to_edges()
    [('x₁', 'y₁'), ('x₂', 'y₁'), ('x₂', 'y₂')]
    """
    users, behaviours = (
        [name + subscript(number + 1) for number in range(size)]
        for name, size in (("x", len(rows)), ("y", len(rows[0])))
    )
    return Graph.from_biadjacency([[int(bit) for bit in row] for row in rows], users, behaviours)


def named(graph: Graph, users: Sequence[str]) -> Graph:
    """The same edges between these users and behaviours 1, 2, ...

    Examples
    --------
    >>> named(Graph.from_rows(["11", "01"]), ["ann", "bob", "cem"]).to_edges()
    [('ann', 1), ('ann', 2), ('bob', 2)]
    """
    behaviours = range(1, graph.n_behaviours + 1)
    return Graph.from_biadjacency(graph.to_scipy(), users[: graph.n_users], behaviours)


def value_of(graph: Graph) -> int:
    """The number of matchings.

    Examples
    --------
    >>> value_of(graph_of(["110", "111", "011"]))
    3
    """
    return int(count(graph, exact=True).value)


def attacked(graph: Graph) -> Fraction | float:
    """Matchings expected to be left after the best attack on one user.

    Examples
    --------
    >>> attacked(graph_of(["110", "111", "011"]))
    Fraction(1, 1)
    """
    return min(exposures(graph, exact=True).expected_left)


def paths_from(links: Sequence[tuple[str, str]], entry: str, relays: int) -> list[tuple[str, ...]]:
    """Return the paths of so many different relays from the entry."""
    paths: list[tuple[str, ...]] = [(entry,)]
    for _ in range(relays - 1):
        paths = [
            (*path, after)
            for path in paths
            for sender, after in links
            if sender == path[-1] and after not in path
        ]
    return paths


def _graph_of_sets(members: Mapping[str, Sequence[str]]) -> Graph:
    behaviours = sorted({each for chosen in members.values() for each in chosen})
    edges = [(user, each) for user, chosen in members.items() for each in chosen]
    return Graph.from_edges(edges, behaviours=behaviours)


def _without_own(members: Mapping[str, Sequence[str]]) -> str:
    """Name the users whose set lacks them; in sets users go by their first letter."""
    lacking = [user for user, chosen in members.items() if user[0] not in chosen]
    named_ones = " and ".join(f"{user}'s set lacks {user}" for user in lacking)
    return named_ones or "every set holds its user"


def _value(panel: Panel) -> str:
    """Return the number of matchings of a panel's graph, as it is written."""
    return shown(value_of(panel.graph)) if panel.graph is not None else ""


def _counted_in_words(graph: Graph) -> str:
    return f"{plural(value_of(graph), 'matching')} from {plural(graph.n_edges, 'edge')}"


def _alone(graph: Graph) -> list[Hashable]:
    """Return the users with a single edge."""
    return [user for user, degree in zip(graph.users, graph.degrees, strict=True) if degree == 1]


def _exposed(graph: Graph) -> str:
    number = len(_alone(graph))
    return plural(number, "exposed user") if number else "no exposed user"
