"""If only one file of tests is run, run this: kernels, library and command line work."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.cli import main


@pytest.mark.parametrize("n", [1, 5, 12, 17, 21])
def test_complete_graphs_have_n_factorial_matchings(n: int) -> None:
    assert am.count(am.Graph.from_rows([range(n)] * n)).value == math.factorial(n)


def test_every_method_counts_a_ring_alike() -> None:
    """A ring of threes with 14 users has L(14) + 2 matchings, L the Lucas numbers."""
    ring = am.ring(14, 3)

    assert {am.count(ring, method=method).value for method in ("auto", "frontier", "glynn")} == {
        845
    }


def test_probabilities_of_a_user_add_up_to_one() -> None:
    posterior = am.posterior(am.ring(14, 3))

    assert sum(posterior[0].values()) == pytest.approx(1.0)
    assert sum(posterior.counts[0].values()) == 845


def test_weights_multiply_and_add() -> None:
    graph = am.Graph.from_biadjacency([[2, 3], [5, 7]])

    assert am.count(graph, exact=True).value == 2 * 7 + 3 * 5


def test_a_file_is_counted_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seen.csv"
    am.write(am.Graph.from_rows(["110", "110", "111"]), path)

    assert main(["count", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == "2"
