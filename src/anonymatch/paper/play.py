"""Attacks of several exposures on every small graph at once, exactly.

For a set of users S and a set of behaviours T that are left, let M be their matchings and V(t) the
matchings that the best attacker expects to be left after t more exposures. The products M V(t) are
integers: the one for S and T is the least, over users x of S, of the sum over behaviours y of x in
T of those without x and y for t - 1. The attacker who thinks one exposure ahead takes the user who
is best for t = 1; where several are, the one that serves best later on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from anonymatch.paper.enumeration import Keys, unpack
from anonymatch.paper.small_graphs import Survey
from anonymatch.running import Execution

__all__ = ["Play", "play", "play_seconds"]

Ints = npt.NDArray[np.int64]
Layer = dict[tuple[int, int], Ints]
"""By users and behaviours that are left, as bits: M V(t) for every t and graph."""

_CHUNK = 1 << 11
_SECONDS = {1: 2e-4, 2: 4e-4, 3: 1e-3, 4: 3e-3, 5: 0.05, 6: 6.0}  # measured


@dataclass(frozen=True, kw_only=True, eq=False)
class Play:
    """Best and greedy attacks on some graphs with n users.

    Attributes
    ----------
    n : int
    graphs : array
        Their places in the survey.
    edges, matchings : array
    optimal, greedy : array, shape (n, graphs)
        For t = 0 to n - 1 exposures: matchings times the expected number of matchings left.
    """

    n: int
    graphs: Ints
    edges: Ints
    matchings: Ints
    optimal: Ints
    greedy: Ints

    def left(self, graph: int) -> tuple[list[Fraction], list[Fraction]]:
        """Matchings left after 0, 1, ... exposures of one graph, by the best and by the greedy."""
        total = int(self.matchings[graph])
        best, greedy = (
            [Fraction(int(value), total) for value in values[:, graph]]
            for values in (self.optimal, self.greedy)
        )
        return best, greedy


def play_seconds(n: int) -> float:
    """What :func:`play` takes for all graphs with a multiple of n edges, predicted."""
    return _SECONDS[n]


def play(survey: Survey, graphs: Ints, effort: Execution) -> Play:
    """Attacks on those graphs of a survey that are given by their places in it.

    The effort expects :func:`play_seconds`.

    Examples
    --------
    >>> from anonymatch.paper.small_graphs import survey
    >>> finding = survey(4)
    >>> crown = [k for k in range(len(finding.keys)) if finding.matchings[k] == 9][0]
    >>> [str(left) for left in play(finding, np.array([crown]), Execution()).left(0)[0]]
    ['9', '3', '1', '1']
    """
    n, keys = survey.n, survey.keys[graphs]
    starts = range(0, len(keys), _CHUNK)
    calls = (partial(_attacks, keys[start : start + _CHUNK], n) for start in starts)
    each = play_seconds(n) / max(len(starts), 1)
    parts = list(effort.chunks(calls, each=each, number=len(starts)))
    none = np.empty((n, 0), dtype=np.int64)
    optimal, greedy = (np.hstack([none, *(part[k] for part in parts)]) for k in (0, 1))
    return Play(
        n=n,
        graphs=graphs,
        edges=survey.edges[graphs],
        matchings=survey.matchings[graphs],
        optimal=optimal,
        greedy=greedy,
    )


def _attacks(keys: Keys, n: int) -> tuple[Ints, Ints]:
    """M V(t) of each graph for t = 0 to n - 1, by the best attacker and by the greedy one."""
    lines = unpack(keys, n, n)
    has = [[(line >> (n - 1 - j) & 1).astype(np.int64) for j in range(n)] for line in lines]
    nobody: Layer = {(0, 0): np.ones((1, len(keys)), dtype=np.int64)}
    matchings, best, greedy = nobody, nobody, nobody
    for size in range(1, n + 1):
        fewer = matchings
        matchings = {pair: _matchings(pair, fewer, has) for pair in _pairs(n, size)}
        best, greedy = (
            {
                pair: _position(pair, size, matchings[pair], before, has, ahead)
                for pair in _pairs(n, size)
            }
            for before, ahead in ((best, False), (greedy, True))
        )
    everybody = ((1 << n) - 1,) * 2
    return best[everybody], greedy[everybody]


def _matchings(pair: tuple[int, int], fewer: Layer, has: list[list[Ints]]) -> Ints:
    users, behaviours = pair
    user = users.bit_length() - 1
    total = np.zeros_like(fewer[next(iter(fewer))])
    for j in _members(behaviours):
        total += has[user][j] * fewer[users ^ 1 << user, behaviours ^ 1 << j]
    return total


def _position(
    pair: tuple[int, int],
    size: int,
    matchings: Ints,
    before: Layer,
    has: list[list[Ints]],
    ahead: bool,
) -> Ints:
    """M V(t) for t = 0 to size - 1; ``ahead``: only for users who are best for t = 1."""
    users, behaviours = pair
    now = matchings**2
    if size == 1:
        return now
    # With s users left nothing changes after s - 1 exposures: one matching is left.
    choices = np.stack(
        [
            sum(
                has[x][y] * before[users ^ 1 << x, behaviours ^ 1 << y]
                for y in _members(behaviours)
            )
            for x in _members(users)
        ]
    )
    if ahead:
        best_next = choices[:, :1] == choices[:, :1].min(axis=0)
        choices = np.where(best_next, choices, np.iinfo(np.int64).max)
    return np.vstack([now, choices.min(axis=0)])


def _pairs(n: int, size: int) -> Iterator[tuple[int, int]]:
    sets = [sum(1 << i for i in chosen) for chosen in combinations(range(n), size)]
    return product(sets, sets)


def _members(bits: int) -> list[int]:
    return [i for i in range(bits.bit_length()) if bits >> i & 1]
