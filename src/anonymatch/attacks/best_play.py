"""adaptive() and reveals_needed(): the best attackers, exactly, over all that can be revealed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from anonymatch.arguments import whole
from anonymatch.attacks.shapes import Shapes
from anonymatch.attacks.tree import Nodes, Tree, whole_shapes
from anonymatch.effort import Budget
from anonymatch.errors import InputError
from anonymatch.graph.bipartite import Graph
from anonymatch.wording import several

__all__ = ["Adaptive", "adaptive", "reveals_needed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """Expected matchings left after 0, 1, 2, ... exposures, exactly.

    Attributes
    ----------
    optimal : tuple of Fraction
        The least that any attacker can reach who thinks again after every exposure; each number
        of exposures for itself, so that no one way of play need reach all of them.
    greedy : tuple of Fraction
        The attacker who takes the best next step. Where several are best, the one that serves the
        attacker best later on.

    Examples
    --------
    >>> import anonymatch as am
    >>> both = am.adaptive(am.Graph.from_rows(["11011", "11011", "10111", "10111", "01111"]))
    >>> str(both.optimal[2]), str(both.greedy[2])
    ('61/20', '18/5')
    """

    optimal: tuple[Fraction, ...]
    greedy: tuple[Fraction, ...]


def adaptive(
    graph: Graph, *, steps: int | None = None, budget: Budget | float | None = None
) -> Adaptive:
    """Expected matchings left for the best attacker and for the greedy one, exactly.

    All outcomes of all exposures are looked at, with equal blocks as one: for small graphs, or
    symmetric ones.

    Parameters
    ----------
    graph : Graph
        Weights are taken as the exact rationals that they are.
    steps : int, optional
        Exposures to go to. Default: as many as could matter, so the number of users less one
        (all users if there are more behaviours than users).
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching.
    BudgetError
        If there could be too many positions, and there are more than a beginning reaches.

    Examples
    --------
    >>> import anonymatch as am
    >>> [str(left) for left in am.adaptive(am.crown(4)).optimal]
    ['9', '3', '1', '1']
    """
    if steps is not None and whole(steps, "steps") > graph.n_users:
        users = several(graph.n_users, "user")
        raise InputError(f"{several(steps, 'step')}, but the graph has only {users}")
    tree, nodes = _tree(graph, budget)
    square = graph.n_users == graph.n_behaviours
    most = graph.n_users - int(square and graph.n_users > 0) if steps is None else steps
    total = tree.total(nodes)
    scale = _settled(graph) if graph.weighted else 1
    values = (
        tuple(Fraction(value(nodes, t)) / total * scale for t in range(most + 1))
        for value in (tree.best, tree.greedy)
    )
    return Adaptive(optimal=next(values), greedy=next(values))


def reveals_needed(graph: Graph, *, budget: Budget | float | None = None) -> Fraction:
    """Least expected number of exposures until one matching is left: everybody is identified.

    Blocks add up, because each has to be finished on its own.

    Parameters
    ----------
    graph : Graph
    budget : float or Budget, optional
        As for :func:`adaptive`.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching.
    BudgetError
        If there could be too many positions, and there are more than a beginning reaches.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.reveals_needed(am.complete(5)), am.reveals_needed(am.crown(5))
    (Fraction(4, 1), Fraction(3, 1))
    >>> am.reveals_needed(am.Graph.from_rows(["0111", "1111", "1111", "1111"]))
    Fraction(8, 3)
    """
    tree, nodes = _tree(graph, budget, together=False)
    return sum((tree.reveals(number) for number in nodes), Fraction(0))


def _tree(
    graph: Graph, budget: Budget | float | None, *, together: bool = True
) -> tuple[Tree, Nodes]:
    """The tree of a graph, and its position; ``together``: blocks are played at the same time."""
    shapes = Shapes(budget=budget)
    found = whole_shapes(shapes.whole(graph))
    tree = Tree(shapes, Budget.of(budget))
    tree.allow(found, together=together)
    blocks = [shape for shape, copies in found for _ in range(copies)]
    return tree, tree.position(blocks)


def _settled(graph: Graph) -> int | Fraction:
    """Product of the weights of the pairs that are forced from the start."""
    from anonymatch.graph.structure import forced

    weights = graph.exact_weights
    assert weights is not None
    product: int | Fraction = 1
    for user, behaviour in forced(graph):
        row = graph.user_index(user)
        begin, end = graph.indptr[row : row + 2].tolist()
        columns = graph.indices[begin:end].tolist()
        product *= weights[begin + columns.index(graph.behaviour_index(behaviour))]
    return product
