"""Seconds that can be compared on a shared machine: CPU time, interleaved, the best of several.

Wall time doubles when somebody else works; the CPU time of the best round hardly moves. Rounds of
everyone who takes part alternate, so that a slow minute of the machine hits all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymatch.cli.options import Here
from anonymatch.graph import Graph

__all__ = ["HERE", "Timed", "fresh", "race"]

HERE = Here()  # count() uses all cores unless it is given this: one thread, the calling one
_SHORT = 0.1  # seconds: what takes less in all its rounds gets more of them
_MOST_ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """The best seconds of a call, and its answer."""

    seconds: float
    answer: Any


def race(
    calls: Mapping[str, Callable[[], Any]],
    *,
    rounds: int,
    patience: float = 30.0,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Timed]:
    """Time the calls in turns: ``rounds`` each, fewer for one that used up its ``patience``.

    All rounds of a call must give the same answer.
    """
    best: dict[str, Timed] = {}
    spent = dict.fromkeys(calls, 0.0)
    for done in range(max(rounds, _MOST_ROUNDS)):
        for name, call in calls.items():
            enough = spent[name] > (patience if done < rounds else _SHORT)
            if done and (rounds == 1 or enough):
                continue
            begin = clock()
            answer = call()
            seconds = clock() - begin
            spent[name] += seconds
            if name in best:
                assert answer == best[name].answer, f"{name}: two rounds, two answers"
                seconds = min(seconds, best[name].seconds)
            best[name] = Timed(seconds=seconds, answer=answer)
    return best


def fresh(graph: Graph) -> Graph:
    """The same graph as one not seen before: what is remembered about it would spoil the time."""
    return Graph(graph._users, graph._behaviours, graph._edges)
