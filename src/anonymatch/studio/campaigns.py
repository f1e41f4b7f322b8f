"""A campaign step by step: the attacker's own choices along one truth, and the best ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from anonymatch.audits import Audit
from anonymatch.base.text import label
from anonymatch.counting import sample
from anonymatch.graph import Graph, crown, forced, partition, read, ring
from anonymatch.reporting import named
from anonymatch.theory.attacks import Attack, Exposures, attack, exposures
from anonymatch.theory.designs import design

__all__ = ["EXAMPLE", "GRAPHS", "Round", "Start", "attackable", "bits", "play", "start_of"]

EXAMPLE = Path(__file__).parent.parent / "examples" / "mix.csv"
_PEOPLE = (
    "Alice", "Bob", "Charlie", "David", "Eve", "Frank", "Grace", "Heidi", "Ivan", "Judy",
    "Ken", "Leo",
)  # fmt: skip
_SECONDS = 5.0
_LOOKED_AT = 200  # users of a graph that is followed step by step


@dataclass(frozen=True, slots=True)
class Start:
    """A graph to attack, and what it is."""

    name: str
    make: Callable[[], Graph]
    python: str


def _people(graph: Graph) -> Graph:
    return named(graph, _PEOPLE)


GRAPHS: Mapping[str, Start] = {
    "groups": Start(
        "Three groups of four",
        lambda: _people(partition([4, 4, 4])),
        "am.partition([4, 4, 4])",
    ),
    "ring": Start("A ring of twelve", lambda: _people(ring(12, 4)), "am.ring(12, 4)"),
    "best": Start(
        "The best design for 8 users and 24 edges",
        lambda: _people(design(8, 24).graph()),
        "am.design(users=8, edges=24).graph()",
    ),
    "crown": Start("Everybody but one, six users", lambda: _people(crown(6)), "am.crown(6)"),
    "mix": Start("The example: a mix in one round", lambda: read(EXAMPLE), "am.read('mix.csv')"),
}
"""Graphs by the name that they have in addresses."""


@lru_cache(maxsize=16)
def start_of(key: str) -> Graph:
    """The graph of that name."""
    return GRAPHS[key].make()


def attackable(audit: Audit) -> bool:
    """Whether an audited system can be attacked here: a graph that is small enough to look at."""
    graph = audit.observation.graph
    return graph is not None and 0 < graph.n_users <= _LOOKED_AT and not audit.observation.lost


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """Where a campaign stands.

    Attributes
    ----------
    graph : Graph
        Before anything was exposed.
    targets : sequence
        Who was exposed, in this order.
    before, left : Graph
        Before and after the last exposure; the same if there was none.
    truth : mapping
        What everybody did, by user; the attacker learns it one by one.
    own, best : Attack or None
        The attacker's choices so far, and the best ones for as many steps; None before the first.
    next : Exposures or None
        What each further exposure would leave; None if everybody is identified.
    fell, identified : mapping
        Users who were identified by the exposures of others, and all who are by now, with what
        they did; without those who were exposed themselves.
    """

    graph: Graph
    targets: Sequence[Hashable]
    before: Graph
    left: Graph
    truth: Mapping[Hashable, Hashable]
    own: Attack | None
    best: Attack | None
    next: Exposures | None
    fell: Mapping[Hashable, Hashable]
    identified: Mapping[Hashable, Hashable]

    @property
    def log(self) -> float:
        if self.own is not None:
            return self.own.logs[-1]
        return self.next.start.log if self.next is not None else 0.0

    def named(self, text: str) -> Hashable | None:
        """The user who is shown by that name and can still be exposed."""
        for user in self.left.users:
            if str(user) == text or label(user) == text:
                return user
        return None


def play(graph: Graph, names: Sequence[str], seed: int = 0) -> Round:
    """The campaign after these targets, by name, along the truth that ``seed`` draws.

    Names that are nobody's are left out.

    Examples
    --------
    >>> state = play(ring(4, 2), ["0"])
    >>> state.own.logs[-1], state.next, sorted(state.identified)
    (0.0, None, [1, 2, 3])
    >>> play(partition([2, 2]), ["0", "zoe"]).own.steps[0].left
    2
    """
    (drawn,) = sample(graph, 1, seed=seed, budget=_SECONDS).tolist()
    truth = {user: graph.behaviours[j] for user, j in zip(graph.users, drawn, strict=True)}
    known_names = {str(user): user for user in graph.users}
    targets = [known_names[name] for name in dict.fromkeys(names) if name in known_names]
    before = left = graph
    for target in targets:
        before, left = left, left.expose(target, truth[target])
    own = best = None
    fell: dict[Hashable, Hashable] = {}
    if targets:
        own = attack(graph, strategy=list(targets), truth=truth, budget=_SECONDS)
        best = attack(graph, steps=len(targets), truth=truth, budget=_SECONDS)
        for step in own.steps:
            fell |= step.newly_forced or {}
    remaining = exposures(left, budget=_SECONDS) if left.n_users else None
    if remaining is not None and remaining.start.log <= 1e-12:
        remaining = None
    return Round(
        graph=graph,
        targets=targets,
        before=before,
        left=left,
        truth=truth,
        own=own,
        best=best,
        next=remaining,
        fell={user: did for user, did in fell.items() if user not in targets},
        identified=dict(forced(left)),
    )


def bits(log: float) -> float:
    """A natural log in bits."""
    return log / math.log(2)
