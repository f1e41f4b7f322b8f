"""Tree-like blocks by tree decompositions: counts, edges, weights, spare behaviours, plans."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.counting.exact.weights import assert_weights_are_kept
from tests.strategies import dense

import anonymatch as am
from anonymatch import _native
from anonymatch.graph import families


def branching(users: int, *, children: int = 3, reach: int = 3, spare: int = 0) -> am.Graph:
    """Users at the nodes of a tree, who fit the behaviours of ancestors and descendants near by.

    Spare behaviours hang at the last users, two at each.
    """
    rows = [{i} for i in range(users)]
    for i in range(users):
        ancestor = i
        for _ in range(reach):
            if ancestor == 0:
                break
            ancestor = (ancestor - 1) // children
            rows[i].add(ancestor)
            rows[ancestor].add(i)
    for k in range(spare):
        rows[users - 1 - k // 2].add(users + k)
    order = np.random.default_rng(users).permutation(users)
    return am.Graph.from_rows([sorted(rows[i]) for i in order])


def test_a_branching_graph_is_counted_exactly_by_itself() -> None:
    """363 users on a tree of five levels: no order of users is narrow."""
    graph = branching(363)
    count = am.count(graph)

    assert count.exact
    assert [step.method for step in count.plan.steps] == ["tree"]
    with pytest.raises(am.InputError, match="'frontier' does not apply"):
        am.count(graph, method="frontier")


def test_all_probabilities_of_a_branching_graph_add_up_and_agree_with_counts() -> None:
    graph = branching(120)
    posterior = am.posterior(graph, method="tree")

    assert posterior.matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-13)
    assert posterior.matrix.sum(axis=0) == pytest.approx(1.0, abs=1e-13)
    total = am.count(graph).value
    for edge in (0, 100, 200):
        user = int(np.searchsorted(graph.indptr, edge, side="right")) - 1
        through = am.count(graph.expose(user, int(graph.indices[edge]))).value
        assert posterior.matrix.data[edge] == pytest.approx(through / total, abs=1e-14)


@pytest.mark.parametrize("spare", [0, 1, 5])
def test_counts_and_edges_agree_with_the_frontier_programme(spare: int) -> None:
    for users in (13, 20, 27):
        graph = branching(users, children=2, spare=spare)
        one, other = (am.posterior(graph, method=method) for method in ("tree", "frontier"))
        assert (one.counts.to_dense() == other.counts.to_dense()).all()
        assert dense(one) == pytest.approx(dense(other), abs=1e-13)
        total = am.count(graph, method="tree").value
        assert total == am.count(graph, method="frontier").value


@pytest.mark.parametrize("spare", [0, 3])
@pytest.mark.parametrize("kind", ["integers", "fractions", "floats", "wild"])
def test_weights_of_every_kind(kind: str, spare: int) -> None:
    assert_weights_are_kept("tree", branching(16, children=2, spare=spare), kind)


def test_a_tree_of_every_size_is_linear_work() -> None:
    plans = [_native.plan_tree(branching(users), 1e9) for users in (100, 200, 400, 800)]
    work = [plan.work for plan in plans if plan is not None]
    assert len(work) == 4
    assert all(1.3 < more / less < 3 for less, more in pairwise(work))


def test_blocks_without_small_parts_are_refused_by_name() -> None:
    with pytest.raises(am.InputError, match="'tree' does not apply"):
        am.count(families.random_regular(300, 3, seed=1), method="tree")
