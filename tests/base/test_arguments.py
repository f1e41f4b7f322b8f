"""Bad arguments of public functions: each is refused in one line that says what to give instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am

anonymatch: Any = am  # so that wrong types can be passed
GRAPH = am.complete(3)
TAKES_A_GRAPH = (
    "allowed", "blocks", "bounds", "count", "forced", "gains", "minors", "posterior", "sample",
    "witness",
)  # fmt: skip


def refusal(call: Callable[[], object]) -> str:
    """The one line with which a call is refused."""
    with pytest.raises(am.InputError) as caught:
        call()
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line


@pytest.mark.parametrize("name", TAKES_A_GRAPH)
@pytest.mark.parametrize("given", ["seen.csv", None, 3, [(0, 1)], np.eye(3)], ids=repr)
def test_what_is_no_graph_is_refused_alike(name: str, given: object) -> None:
    line = refusal(lambda: getattr(anonymatch, name)(given))

    assert line.startswith(f"need an anonymatch.Graph, not {type(given).__name__}; make one with ")


def test_what_is_no_graph_is_not_written(tmp_path: Path) -> None:
    assert "need an anonymatch.Graph" in refusal(lambda: anonymatch.write("x", tmp_path / "g.csv"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [3, None, b"seen.csv", ["seen.csv"]])
def test_paths_are_text_or_paths(path: object) -> None:
    assert refusal(lambda: anonymatch.read(path)) == f"path must be text or a Path, not {path!r}"
    assert "path must be text" in refusal(lambda: anonymatch.write(GRAPH, path))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: anonymatch.complete(-1), "n must be a whole number from 0 to 2147483647, not -1"),
        (lambda: anonymatch.complete(2.5), "n must be a whole number"),
        (lambda: anonymatch.complete("3"), "n must be a whole number"),
        (lambda: anonymatch.complete(True), "n must be a whole number"),
        (lambda: anonymatch.crown(-1), "n must be a whole number"),
        (lambda: anonymatch.grid(-1, 2), "rows must be a whole number from 0, not -1"),
        (lambda: anonymatch.grid(2, 2.0), "columns must be a whole number from 0, not 2.0"),
        (lambda: anonymatch.hypercube(-1), "dimension must be a whole number"),
        (lambda: anonymatch.aztec(-1), "n must be a whole number"),
        (lambda: anonymatch.hexagon(1, -1, 1), "b must be a whole number"),
        (lambda: anonymatch.ring(3, -1), "k must be a whole number from 0 to 3, not -1"),
        (lambda: anonymatch.ring(3, 4), "k must be a whole number from 0 to 3, not 4"),
        (lambda: anonymatch.circulant(3, "ab"), "shifts must be a list of whole numbers"),
        (lambda: anonymatch.circulant(3, [0, 1.5]), "shifts must be a list of whole numbers"),
        (lambda: anonymatch.circulant(3, None), "shifts must be a list of whole numbers"),
        (lambda: anonymatch.partition([-1, 2]), "sizes must be whole numbers from 0; one is -1"),
        (lambda: anonymatch.partition(3), "sizes must be a list of whole numbers, not 3"),
        (lambda: anonymatch.ferrers([1.5]), "degrees must be a list of whole numbers"),
        (lambda: anonymatch.ferrers([2**64]), "degrees must be a list of whole numbers"),
        (lambda: anonymatch.band(3, 1.5, 1), "below must be a whole number, not 1.5"),
        (lambda: anonymatch.hessenberg(-1), "n must be a whole number"),
        (lambda: anonymatch.random_density(3, 2, seed=1), "density must be a number from 0 to 1"),
        (lambda: anonymatch.random_density(3, math.nan, seed=1), "density must be a number"),
        (lambda: anonymatch.random_density(3, "x", seed=1), "density must be a number"),
        (lambda: anonymatch.random_density(3, 0.5, seed=-1), "seed must be a whole number from 0"),
        (lambda: anonymatch.random_regular(3, 1.5, seed=1), "k must be a whole number"),
        (lambda: anonymatch.random_regular(3, 1, seed=None), "seed must be a whole number"),
        (lambda: anonymatch.bregman([1, -2]), "degrees must be whole numbers from 0; one is -2"),
        (lambda: anonymatch.bregman([1.5]), "degrees must be a list of whole numbers"),
        (lambda: anonymatch.bregman([math.nan]), "degrees must be a list of whole numbers"),
        (lambda: anonymatch.bregman("x"), "degrees must be a list of whole numbers, not 'x'"),
    ],
)
def test_families_refuse_sizes_that_are_none(call: Callable[[], object], expected: str) -> None:
    assert refusal(call).startswith(expected)


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize(
    ("call", "edges"),
    [
        (lambda: am.complete(10**6), "1000000000000"),
        (lambda: am.crown(10**6), "999999000000"),
        (lambda: am.ring(10**6, 10**6), "1000000000000"),
        (lambda: am.partition([10**5, 10**6]), "1010000000000"),
        (lambda: am.ferrers([10**12]), "1000000000000"),
        (lambda: am.band(10**6, 10**6, 1), "500001499999"),
        (lambda: am.hypercube(40), "21990232555520"),
        (lambda: am.hypercube(60), "more than 10^18"),
        (lambda: am.hypercube(10**9), "more than 10^18"),
        (lambda: am.grid(10**5, 10**5), "19999800000"),
        (lambda: am.grid(10**3000, 10**3000), "more than 10^18"),
        (lambda: am.aztec(10**6), "4000000000000"),
        (lambda: am.hexagon(10**6, 10**6, 1), "3000003999999"),
        (lambda: am.random_density(10**6, 0.5, seed=1), "500000000000"),
        (lambda: am.random_regular(10**6, 10**6, seed=1), "1000000000000"),
    ],
)
def test_families_too_large_are_refused_before_memory_is_filled(
    call: Callable[[], object], edges: str
) -> None:
    assert refusal(call) == f"it would have {edges} edges; a graph holds at most 2147483647"


def test_graphs_beyond_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.tabular.limits.free_memory", lambda: 10**9)

    assert refusal(lambda: am.complete(40_000)).startswith(
        "a graph of 1600000000 edges would need about 59.6 GiB of memory and 0.9 GiB are free;"
    )
    assert "a graph of 2000000000 users would need" in refusal(lambda: am.ring(2 * 10**9, 0))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: anonymatch.Graph.from_edges(None), "edges must be pairs (user, behaviour) or"),
        (lambda: anonymatch.Graph.from_edges([3]), "edge 0 is 3; give (user, behaviour)"),
        (lambda: anonymatch.Graph.from_edges([("a", "x"), None]), "edge 1 is None; give"),
        (lambda: anonymatch.Graph.from_edges([{1, 2}]), "edge 0 is {1, 2}; give"),
        (lambda: anonymatch.Graph.from_edges([{"a": 1, "b": 2}]), "edge 0 is {'a': 1, 'b': 2}"),
        (lambda: anonymatch.Graph.from_edges([(0, 1)], users=3), "users must be a list of names"),
        (lambda: anonymatch.Graph.from_rows(None), "rows must be one row a user, not None"),
        (lambda: anonymatch.Graph.from_rows([3]), "row 0 must hold behaviour indices"),
        (lambda: anonymatch.Graph.from_rows([b"110"]), "row 0 must hold behaviour indices"),
        (lambda: anonymatch.Graph.from_rows([[0]], n_behaviours=1.5), "n_behaviours must be a"),
        (lambda: anonymatch.Graph.from_rows([], n_behaviours=-1), "n_behaviours must be a whole"),
        (lambda: anonymatch.Graph.from_biadjacency([[None]]), "the weight of user 0, behaviour 0"),
        (lambda: anonymatch.Graph.from_biadjacency([[1]], users=3), "users must be a list of"),
        (lambda: anonymatch.Graph.from_networkx(None), "need a networkx.Graph, not builtins.None"),
        (lambda: anonymatch.Graph.from_networkx(GRAPH), "need a networkx.Graph, not anonymatch."),
        (lambda: anonymatch.Graph.from_frame(None), "a NoneType is no table"),
    ],
)
def test_what_makes_no_graph_is_refused(call: Callable[[], object], expected: str) -> None:
    assert refusal(call).startswith(expected)


@pytest.mark.parametrize("given", ["ab", [0.5], [[0]], 3, [True, False, True], {0: 1}, None])
def test_indices_are_lists_of_whole_numbers(given: Any) -> None:
    assert refusal(lambda: GRAPH.take(given, [0])).startswith("users must be a list of whole")
    assert refusal(lambda: GRAPH.take([0], given)).startswith("behaviours must be a list of whole")


@pytest.mark.parametrize(
    ("given", "expected"),
    [([-1], "users must be whole numbers from 0; one is -1"), ([3], "a user index is outside 0")],
)
def test_indices_outside_the_graph_are_refused(given: list[int], expected: str) -> None:
    assert refusal(lambda: GRAPH.take(given, [0])).startswith(expected)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda x: np.array(x, dtype=np.uint8)])
def test_indices_may_come_in_any_sequence(kind: Callable[[list[int]], Any]) -> None:
    graph = am.Graph.from_rows(["110", "011", "101"])

    assert graph.take(kind([2, 0]), kind([1, 2])) == graph.select([2, 0], [1, 2])
    assert graph.take(kind([]), range(3)).n_users == 0


@pytest.mark.parametrize("mask", ["x", None, [1] * 9, [True] * 8, np.ones((3, 3), dtype=bool)])
def test_masks_are_one_bool_an_edge(mask: Any) -> None:
    assert refusal(lambda: GRAPH.keep_edges(mask)) == "mask must be 9 bools, one an edge"


@pytest.mark.parametrize("call", [am.count, am.posterior, am.sample, am.minors, am.gains])
@pytest.mark.parametrize("executor", [3, "threads", ThreadPoolExecutor])
def test_executors_run_things(call: Callable[..., object], executor: object) -> None:
    if executor is ThreadPoolExecutor:
        with ThreadPoolExecutor(1) as real:
            call(GRAPH, executor=real)
        return
    assert "executor must be a concurrent.futures.Executor" in refusal(
        lambda: call(GRAPH, executor=executor)
    )
    assert "progress must be a function of two numbers" in refusal(
        lambda: call(GRAPH, progress=executor)
    )


@pytest.mark.parametrize("call", [am.count, am.posterior])
@pytest.mark.parametrize(
    ("keyword", "value", "expected"),
    [
        ("exact", "x", "exact must be True, False or None, not 'x'"),
        ("method", 3, "method must be one of auto"),
        ("budget", "x", "budget (seconds, or a Budget) must be a number of 0 or more, not 'x'"),
        ("budget", -1, "budget (seconds, or a Budget) must be a number of 0 or more, not -1"),
        ("budget", math.nan, "budget (seconds, or a Budget) must be a number of 0 or more"),
        ("epsilon", True, "epsilon must be a number from 0 to 1, not True"),
        ("epsilon", "x", "epsilon must be a number from 0 to 1, not 'x'"),
        ("epsilon", 0, "epsilon must lie between 0 and 1, not 0"),
        ("delta", 1.0, "delta must lie between 0 and 1, not 1.0"),
        ("seed", -1, "seed must be a whole number from 0, not -1"),
        ("seed", 1.0, "seed must be a whole number from 0, not 1.0"),
    ],
)
def test_keywords_are_checked(
    call: Callable[..., object], keyword: str, value: object, expected: str
) -> None:
    assert refusal(lambda: call(GRAPH, **{keyword: value})).startswith(expected)


@pytest.mark.parametrize("value", ["x", None, True, -1, math.nan])
def test_budgets_are_numbers(value: Any) -> None:
    assert refusal(lambda: am.Budget(seconds=value)).startswith("budget: seconds must be a number")
    assert refusal(lambda: am.Budget(memory=value)).startswith("budget: memory must be a number")


def test_numbers_of_numpy_are_numbers() -> None:
    drawn = am.sample(GRAPH, np.int64(2), seed=np.uint8(3))  # type: ignore[arg-type]

    assert (drawn == am.sample(GRAPH, 2, seed=3)).all()
    assert am.complete(np.int32(3)) == GRAPH  # type: ignore[arg-type]
    budget = np.int64(5)
    assert am.count(GRAPH, budget=budget, epsilon=np.float32(0.5), seed=np.int8(1)).value == 6  # type: ignore[arg-type]
    assert am.Budget(seconds=Fraction(1, 2)).seconds == 0.5  # type: ignore[arg-type]
    assert am.Budget(seconds=10**400).seconds == math.inf
    assert am.count(GRAPH, exact=np.bool_(True)).exact  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [-1, 2.0, "x", None, True])
def test_sizes_of_samples_are_whole_numbers(size: Any) -> None:
    assert refusal(lambda: am.sample(GRAPH, size)).startswith("size must be a whole number from 0")


def test_samples_beyond_the_memory_are_refused() -> None:
    assert "1000000000000000 matchings would need about" in refusal(
        lambda: am.sample(GRAPH, 10**15)
    )


def test_counts_of_probabilities_that_are_not_exact_are_refused() -> None:
    probabilities = am.posterior(am.Graph.from_biadjacency([[2.0, 0.5], [1.0, 1.0]]))

    assert "use posterior(graph, exact=True)" in refusal(lambda: probabilities.counts)
