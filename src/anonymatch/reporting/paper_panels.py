"""Figures of the paper as values, and the graphs and words that they are made of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from anonymatch.base.numbers import plural, shown, subscript
from anonymatch.counting import count, matchings
from anonymatch.graph import Graph
from anonymatch.reporting.html.document import Panel
from anonymatch.theory.attacks import exposures


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


def from_sets(members: Mapping[str, Sequence[str]]) -> Graph:
    """Users with the behaviours that are in their sets.

    Examples
    --------
    >>> from_sets({"Alice": "AB", "Bob": "B"}).to_rows()
    ['11', '01']
    """
    behaviours = sorted({each for chosen in members.values() for each in chosen})
    edges = [(user, each) for user, chosen in members.items() for each in chosen]
    return Graph.from_edges(edges, behaviours=behaviours)


def without_own(members: Mapping[str, Sequence[str]]) -> str:
    """Whose set lacks that user; in sets users go by their first letter.

    Examples
    --------
    >>> without_own({"Alice": "AB", "Bob": "A"})
    "Bob's set lacks Bob"
    """
    lacking = [user for user, chosen in members.items() if user[0] not in chosen]
    named_ones = " and ".join(f"{user}'s set lacks {user}" for user in lacking)
    return named_ones or "every set holds its user"


def value_of(graph: Graph) -> int:
    """The number of matchings.

    Examples
    --------
    >>> value_of(graph_of(["110", "111", "011"]))
    3
    """
    return int(count(graph, exact=True).value)


def value(panel: Panel) -> str:
    """The number of matchings of a panel's graph, as it is written."""
    return shown(value_of(panel.graph)) if panel.graph is not None else ""


def counted(graph: Graph) -> str:
    """Matchings and edges.

    Examples
    --------
    >>> counted(graph_of(["11", "11"]))
    '2 matchings from 4 edges'
    """
    return f"{plural(value_of(graph), 'matching')} from {plural(graph.n_edges, 'edge')}"


def attacked(graph: Graph) -> Fraction | float:
    """Matchings expected to be left after the best attack on one user.

    Examples
    --------
    >>> attacked(graph_of(["110", "111", "011"]))
    Fraction(1, 1)
    """
    return min(exposures(graph, exact=True).expected_left)


def alone(graph: Graph) -> list[Hashable]:
    """Users with a single edge.

    Examples
    --------
    >>> alone(graph_of(["10", "11"]))
    ['x₁']
    """
    return [user for user, degree in zip(graph.users, graph.degrees, strict=True) if degree == 1]


def exposed(graph: Graph) -> str:
    """How many users have a single edge.

    Examples
    --------
    >>> exposed(graph_of(["10", "11"])), exposed(graph_of(["11", "11"]))
    ('1 exposed user', 'no exposed user')
    """
    number = len(alone(graph))
    return plural(number, "exposed user") if number else "no exposed user"


def matchings_of(graph: Graph) -> list[list[tuple[Hashable, Hashable]]]:
    """All matchings as pairs of names.

    Examples
    --------
    >>> matchings_of(graph_of(["10", "11"]))
    [[('x₁', 'y₁'), ('x₂', 'y₂')]]
    """
    return [
        [(graph.users[i], graph.behaviours[j]) for i, j in enumerate(matching)]
        for matching in matchings(graph)
    ]


def paths_from(links: Sequence[tuple[str, str]], entry: str, relays: int) -> list[tuple[str, ...]]:
    """Paths of so many different relays from the entry.

    Examples
    --------
    >>> paths_from([("a", "b"), ("b", "a"), ("b", "c")], "a", 3)
    [('a', 'b', 'c')]
    """
    paths: list[tuple[str, ...]] = [(entry,)]
    for _ in range(relays - 1):
        paths = [
            (*path, after)
            for path in paths
            for sender, after in links
            if sender == path[-1] and after not in path
        ]
    return paths
