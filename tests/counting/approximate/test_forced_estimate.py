"""method="estimate": every block of more than two users is estimated, also where it is counted."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch import cli


def dense(n: int, density: float) -> am.Graph:
    cells = np.random.default_rng(n).random((n, n)) < density
    return am.Graph.from_biadjacency(cells | np.eye(n, dtype=bool))


KNOWN = [
    *(am.complete(n) for n in (3, 5, 8, 12, 20)),
    *(am.crown(n) for n in (4, 7, 13)),
    *(am.ring(n, 3) for n in (5, 9, 16, 40)),
    *(am.ring(n, 2) for n in (3, 30)),
    *(am.partition([k, k + 1, k]) for k in (3, 5)),
    *(am.random_regular(n, d, seed=n) for n, d in ((10, 3), (20, 4), (30, 3), (40, 3))),
    *(dense(n, 0.5) for n in (6, 9, 14, 18, 22)),
    *(dense(n, 0.3) for n in (12, 16, 20)),
    am.grid(5, 6),
    am.ferrers([1, 2, 4, 4, 6, 6]),
]


def test_estimates_of_known_counts_hold_the_truth() -> None:
    held = 0
    for seed, graph in enumerate(KNOWN):
        estimate = am.count(graph, method="estimate", budget=0.1, seed=seed)
        truth = am.count(graph, exact=True)
        nontrivial = any(block.n_users > 2 for block in am.blocks(graph))

        assert estimate.exact is not nontrivial
        assert estimate.proven[0] <= truth.log + 1e-9
        assert truth.log - 1e-9 <= estimate.proven[1]
        held += estimate.low - 1e-9 <= truth.log <= estimate.high + 1e-9

    assert len(KNOWN) >= 30
    assert held >= 0.95 * len(KNOWN)


@pytest.mark.parametrize("graph", [am.complete(9), dense(18, 0.5)])
def test_promises_are_kept_by_draws_and_not_by_counting(graph: am.Graph) -> None:
    estimate = am.count(graph, method="estimate", epsilon=0.1, delta=0.01)

    assert not estimate.exact
    assert estimate.confidence == 0.99
    assert abs(math.expm1(estimate.log - am.count(graph, exact=True).log)) <= 0.1


def test_probabilities_are_estimated_with_their_errors() -> None:
    graph = dense(14, 0.5)
    exact, estimate = (am.posterior(graph, method=method) for method in ("auto", "estimate"))
    promised = am.posterior(graph, method="estimate", epsilon=0.05)

    assert exact.exact
    assert exact.errors is None
    assert not estimate.exact
    assert estimate.errors is not None
    off = np.abs(estimate.probabilities - exact.probabilities)
    assert (off <= 3 * estimate.errors + 1e-9).mean() >= 0.95
    assert not promised.exact
    assert np.abs(promised.probabilities - exact.probabilities).max() <= 0.05


def test_the_same_seed_gives_the_same_estimate() -> None:
    graph = dense(14, 0.5)
    first, again, other = (
        am.count(graph, method="estimate", seed=seed, budget=0.1) for seed in (3, 3, 4)
    )

    assert (first.log, first.seed) == (again.log, 3)
    assert first.log != other.log


def test_blocks_of_two_users_are_never_estimated() -> None:
    pairs = am.count(am.ring(2, 2), method="estimate")
    wide = am.count(am.Graph.from_rows(["1" * 40, "1" * 40]), method="estimate")

    assert (pairs.value, pairs.exact) == (2, True)
    assert (wide.value, wide.exact) == (40 * 39, True)


def test_an_estimate_is_not_asked_for_exactly() -> None:
    with pytest.raises(am.InputError, match="method='estimate' gives no exact answer; leave it or"):
        am.count(am.complete(5), method="estimate", exact=True)


def test_the_command_line_estimates_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.csv"
    am.write(dense(14, 0.5), path)
    arguments = ["count", str(path), "--method", "estimate", "--json", "--explain"]
    code = cli.main(arguments)
    record = json.loads(capsys.readouterr().out)

    assert code == 0
    assert record["exact"] is False
    assert [step["method"] for step in record["plan"]["steps"]] == ["estimate"]
