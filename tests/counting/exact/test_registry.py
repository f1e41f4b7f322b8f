"""The table of exact methods: one line makes a method known everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch import cli
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.exact import EXACT, FORMER_NAMES, Method


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(list(arguments))
    return code, *capsys.readouterr()


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Cycles without weights: two matchings, one through every edge."""
    if block.optional or block.weights is not None or set(np.diff(block.indptr)) != {2}:
        return None
    return Option(
        method="cycle",
        why="a cycle",
        seconds=0.0,
        memory=0.0,
        solve=lambda: Solution(
            block,
            total=lambda: 2,
            minors=lambda: np.array([1] * block.n_edges, dtype=object),
        ),
    )


@pytest.fixture
def cycle() -> Iterator[None]:
    with EXACT.registered(Method("cycle", (offer,), "a glance", "its blocks are cycles")):
        yield


@pytest.fixture
def ring(tmp_path: Path) -> str:
    am.write(am.ring(20, 2), tmp_path / "ring.csv")
    return str(tmp_path / "ring.csv")


@pytest.mark.usefixtures("cycle")
def test_a_registered_method_counts_and_gives_probabilities() -> None:
    count = am.count(am.ring(20, 2), method="cycle")
    posterior = am.posterior(am.ring(20, 2), method="cycle")

    assert "cycle" in am.METHODS
    assert (count.value, count.method) == (2, "cycle")
    assert set(posterior.probabilities.tolist()) == {0.5}
    with pytest.raises(am.InputError, match="'cycle' does not apply to a block of 5 users"):
        am.count(am.complete(5), method="cycle")


@pytest.mark.usefixtures("cycle")
def test_a_registered_method_is_known_on_the_command_line(
    ring: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "count", ring, "--method", "cycle")[1]
    record = json.loads(run(capsys, "count", ring, "--method", "cycle", "--explain", "--json")[1])
    page = run(capsys, "count", "--help")[1]

    assert "a glance" in shown
    assert "its blocks are cycles" in shown
    assert [step["method"] for step in record["plan"]["steps"]] == ["cycle"]
    assert "contract, cycle, frontier" in " ".join(page.split())


def test_a_method_that_is_not_registered_is_unknown(
    ring: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(am.InputError, match="method must be one of auto, band"):
        am.count(am.ring(20, 2), method="cycle")
    assert run(capsys, "count", ring, "--method", "cycle")[0] == 2
    assert "cycle" not in run(capsys, "count", "--help")[1]


def test_a_name_is_given_once() -> None:
    with (
        pytest.raises(ValueError, match="there is a method 'band' already"),
        EXACT.registered(Method("band", (offer,), "", "")),
    ):
        pass


def test_offers_of_all_methods_live_in_the_folder_of_exact_methods() -> None:
    modules = {offer.__module__ for method in EXACT for offer in method.offers}
    assert {module.rpartition(".")[0] for module in modules} == {"anonymatch.counting.exact"}


@pytest.mark.parametrize(("former", "name"), FORMER_NAMES.items())
def test_former_names_keep_working_and_the_new_ones_are_shown(
    former: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = np.random.default_rng(1).random((9, 9))
    graph = am.Graph.from_biadjacency(weights) if name == "subset" else am.complete(9)
    am.write(graph, tmp_path / "graph.csv")
    count = am.count(graph, method=former)
    code, shown, _ = run(capsys, "count", str(tmp_path / "graph.csv"), "--method", former, "--json")

    assert count.method == name
    assert count.log == pytest.approx(am.count(graph).log)
    assert code == 0
    assert json.loads(shown)["method"] == name
    assert former not in am.METHODS


def test_a_method_that_costs_nothing_is_taken_where_it_is_offered() -> None:
    """Also by itself: the policy asks methods that it does not know after those that it does."""
    wide = am.random_regular(60, 6, seed=1)

    def any_block(block: Block, context: Context, best: float) -> Option | None:
        return Option(
            method="guess",
            why="for a test",
            seconds=0.0,
            memory=0.0,
            solve=lambda: Solution(block, total=lambda: 1),
        )

    with EXACT.registered(Method("guess", (any_block,), "a guess", "wrong")):
        assert am.count(wide).plan.method == "guess"
