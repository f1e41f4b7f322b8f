"""Attacks on many graphs at once agree with the best play on each."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch.running.budget import Execution
from anonymatch.theory.attacks import adaptive
from anonymatch.theory.claims.question import play
from anonymatch.theory.claims.small_graphs import survey


@pytest.mark.parametrize("n", range(1, 6))
def test_it_is_the_best_and_the_greedy_play_of_each_graph(n: int) -> None:
    finding = survey(n)
    graphs = np.flatnonzero(finding.matchings > 0)
    played = play(finding, graphs, Execution())

    for section in range(0, len(graphs), 1 if n < 5 else 61):
        both = adaptive(finding.graph(int(graphs[section])))
        assert played.left(section) == (list(both.optimal), list(both.greedy))


def test_greedy_play_is_never_better_than_the_best() -> None:
    finding = survey(5)
    played = play(finding, np.flatnonzero(finding.matchings > 0), Execution())

    assert (played.greedy >= played.optimal).all()
    assert (played.greedy > played.optimal).any()
    assert (played.optimal[-1] == played.matchings).all()
    assert (played.optimal[0] == played.matchings**2).all()


def test_no_graphs_are_no_plays() -> None:
    assert play(survey(3), np.empty(0, dtype=np.int64), Execution()).optimal.shape == (3, 0)
