"""Giant blocks: wide ones are called hopeless at once, narrow ones are still counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.exact import contract, frontier


def scattered(users: int, edges: int) -> am.Graph:
    """A matching and as many random edges as it takes."""
    draws = np.random.default_rng(1)
    pairs = {(i, int(j)) for i, j in enumerate(draws.permutation(users))}
    while len(pairs) < edges:
        pairs |= {(int(i), int(j)) for i, j in draws.integers(users, size=(edges - len(pairs), 2))}
    return am.Graph.from_edges(pairs, users=range(users), behaviours=range(users))


@pytest.mark.slow
def test_a_giant_wide_block_is_bounded_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object, **__: object) -> None:
        raise AssertionError("a search for a block that nothing reaches")

    monkeypatch.setattr(contract, "contract", search)
    monkeypatch.setattr(frontier, "find_ordering", search)
    graph = scattered(20_000, 60_000)
    result = am.count(graph)

    assert max(part.n_users for part in am.blocks(graph)) > 10_000
    assert not result.exact
    assert result.plan.steps[0].method == "none"
    assert 0 < result.low < result.high < math.inf
    with pytest.raises(am.BudgetError, match="more than a million years"):
        am.count(graph, exact=True)


def test_a_giant_narrow_block_is_still_counted() -> None:
    """A cycle of 24000 with ten chords, each free to be taken the one way round."""
    n = 12_000
    chords = [(1000 * k, 1000 * k + 3) for k in range(10)]
    pairs = [(i, (i + s) % n) for i in range(n) for s in (0, 1)]
    result = am.count(am.Graph.from_edges(pairs + chords, users=range(n), behaviours=range(n)))

    assert result.exact
    # Who steps by 0 needs all others to. Else the steps add up to n: a step of 3 and two of 0 stand
    # for three of 1, at every chord on its own.
    assert result.value == 1 + 2 ** len(chords)
