"""Every public result can be pickled and copied: for process pools, caches and notebooks."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import anonymatch as am

PAIRS = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
SEEN = am.Graph.from_edges(PAIRS)
WEIGHTED = am.Graph.from_edges([("ann", "x", Fraction(1, 3)), ("ann", "y", 2), ("bob", "x")])
NONE = am.Graph.from_rows(["100", "100", "111"])
HARD = am.random_regular(200, 3, seed=1)

Again = Callable[[Any], Any]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def error(call: Callable[[], object]) -> am.AnonymatchError:
    with pytest.raises(am.AnonymatchError) as caught:
        call()
    return caught.value


RESULTS: dict[str, Callable[[], object]] = {
    "graph": lambda: SEEN,
    "graph of a family": lambda: am.ring(5, 2),
    "graph of exact weights": lambda: WEIGHTED,
    "empty graph": lambda: am.complete(0),
    "count": lambda: am.count(SEEN),
    "large count": lambda: am.count(am.complete(1000)),
    "count of weights": lambda: am.count(WEIGHTED),
    "exact count of weights": lambda: am.count(WEIGHTED, exact=True),
    "count of 0": lambda: am.count(NONE),
    "bounded count": lambda: am.count(HARD, budget=0),
    "plan": lambda: am.count(am.crown(30)).plan,
    "step": lambda: am.count(am.crown(30)).plan.steps[0],
    "bounds": lambda: am.bounds(SEEN),
    "bounds of 0": lambda: am.bounds(NONE),
    "budget": lambda: am.Budget(seconds=2),
    "witness": lambda: am.witness(NONE),
    "forced": lambda: am.forced(SEEN),
}


@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("name", RESULTS)
def test_results_come_back_equal(name: str, again: Again) -> None:
    result = RESULTS[name]()

    assert again(result) == result
    assert str(again(result)) == str(result)


@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
def test_counts_keep_their_value(again: Again) -> None:
    for result in (am.count(am.complete(30)), am.count(WEIGHTED, exact=True), am.count(NONE)):
        assert again(result).value == result.value
        assert again(result).witness == result.witness


@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("graph", [SEEN, WEIGHTED], ids=repr)
def test_posteriors_come_back_with_their_counts(graph: am.Graph, again: Again) -> None:
    probabilities = am.posterior(graph, exact=True)
    counts = probabilities.counts
    back = again(probabilities)

    assert back.graph == graph
    assert (back.probabilities == probabilities.probabilities).all()
    assert not back.probabilities.flags.writeable
    assert dict(back.counts) == dict(counts) == dict(again(counts))
    assert not again(counts).by_edge.flags.writeable
    assert (back.matrix != probabilities.matrix).nnz == 0


def test_copies_of_posteriors_still_know_the_way_to_their_counts() -> None:
    assert copy.deepcopy(am.posterior(SEEN)).counts["ann"] == {"x": 1, "y": 1}
    with pytest.raises(am.InputError, match="ask for them before pickling"):
        _ = pickled(am.posterior(SEEN)).counts


@pytest.mark.parametrize("again", [pickled, copy.deepcopy, copy.copy])
def test_blocks_come_back(again: Again) -> None:
    blocks = am.blocks(SEEN)
    back = again(blocks)

    assert [part.graph() for part in back] == [part.graph() for part in blocks]
    assert again(blocks[0]).users == blocks[0].users


def test_restored_bounds_do_not_change_either() -> None:
    bounds = pickled(am.bounds(SEEN))

    assert hash(bounds) == hash(am.bounds(SEEN))
    with pytest.raises(TypeError):
        bounds.all["upper: mine"] = 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: am.posterior(NONE),
        lambda: am.posterior(HARD, budget=0),
        lambda: am.complete(-1),
        lambda: am.Graph.from_edges([("ann", "x", -1)]),
    ],
)
def test_errors_come_back_with_their_facts(call: Callable[[], object]) -> None:
    raised = error(call)
    back = pickled(raised)

    assert type(back) is type(raised)
    assert str(back) == str(raised)
    assert vars(back) == vars(raised)


def test_results_and_errors_cross_processes() -> None:
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(am.bounds, SEEN).result() == am.bounds(SEEN)
        probabilities = pool.submit(am.posterior, SEEN).result()
        assert np.array_equal(probabilities.probabilities, am.posterior(SEEN).probabilities)
        with pytest.raises(am.NoMatchingError) as caught:
            pool.submit(am.posterior, NONE).result()
    assert caught.value.users == (0, 1)
