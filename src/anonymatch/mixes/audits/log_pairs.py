"""Probabilities of all pairs of a log, message by message: log_posterior()."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymatch import counting, mixes
from anonymatch.audits import closes
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.mixes import Exponential, network_of, passage_of
from anonymatch.mixes.audits.passages import chosen_channel
from anonymatch.running import Execution

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from anonymatch.graph import Graph
    from anonymatch.mixes import Observation, Passage
    from anonymatch.running import Budget, Progress

__all__ = ["LogPosterior", "PosteriorRows", "log_posterior"]

SMALLEST = 1e-9
"""Probabilities below are left out."""
_TOGETHER = 5_000  # messages in one piece
_BYTES, _LANES = 40.0, 30.0  # bytes of an entry at the peak; departures by message inside

PosteriorRows = tuple[Ints, Ints, Floats]
"""Message, departure and probability of some pairs; -1 is a message that is not seen again."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogPosterior:
    """The posterior of a log.

    Attributes
    ----------
    messages, departures : tuple
        Names of messages in and out.
    exact : bool
    error : float
        Most that a probability may be off.
    method : str
    notes : tuple of str
    pieces : iterator
        Pairs of some thousand messages at a time, in order of the messages.
    """

    messages: tuple[object, ...]
    departures: tuple[object, ...]
    exact: bool
    error: float
    method: str
    notes: tuple[str, ...]
    pieces: Iterator[PosteriorRows]


def log_posterior(
    observation: Observation,
    *,
    budget: Budget,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LogPosterior:
    """Return the probability that each message in is each message out.

    Raises
    ------
    InputError
        If the law has no exact posterior of pairs with these losses and this cover traffic.
    BudgetError
        If the pairs do not fit the budget.

    Examples
    --------
    >>> import anonymatch as am
    >>> from anonymatch.running import Budget
    >>> log = am.mixes.Messages(
    ...     arrivals=[0, 1], departures=[2, 3], senders="ab", receivers="xy"
    ... )
    >>> found = log_posterior(am.mixes.observe(log, "exponential:1"), budget=Budget())
    >>> [piece[2].tolist() for piece in found.pieces]
    [[0.5, 0.5, 0.5, 0.5]]
    """
    passage, graph = passage_of(observation), observation.graph
    if network_of(observation) is not None:
        raise InputError("posterior is for logs of one mix; audit a network")
    if graph is not None:
        found = counting.posterior(graph, budget=budget, seed=seed, executor=executor)
        return LogPosterior(
            messages=tuple(graph.users),
            departures=tuple(graph.behaviours)[: graph.n_behaviours - observation.lost],
            exact=found.exact,
            error=float(found.error),
            method=found.method,
            notes=observation.notes,
            pieces=_of_graph(graph, found.probabilities, observation.lost),
        )
    if passage is None:
        raise InputError("posterior is for graphs and message logs")
    notes: tuple[str, ...] = ()
    if passage.conditions is None or closes(passage):
        pieces, error, method = _closed_form(passage), SMALLEST, "closed_form"
    else:
        effort = Execution(executor=executor, progress=progress)
        pieces, error, notes = _by_chain(passage, budget, effort)
        method = "hidden_chain"
    return LogPosterior(
        messages=passage.users,
        departures=passage.behaviours,
        exact=True,
        error=error,
        method=method,
        notes=(*observation.notes, *notes),
        pieces=pieces,
    )


def _of_graph(graph: Graph, probabilities: Floats, places: int) -> Iterator[PosteriorRows]:
    """Edges of a graph; places for lost messages are one outcome."""
    real = graph.n_behaviours - places
    starts = graph.indptr.astype(np.int64)
    for begin in range(0, graph.n_users, _TOGETHER):
        end = min(begin + _TOGETHER, graph.n_users)
        some = slice(int(starts[begin]), int(starts[end]))
        rows = np.repeat(np.arange(begin, end), np.diff(starts[begin : end + 1]))
        columns, values = graph.indices[some].astype(np.int64), probabilities[some]
        seen = columns < real
        unseen = np.zeros(end - begin)
        np.add.at(unseen, rows[~seen] - begin, values[~seen])
        yield _sorted(rows[seen], columns[seen], values[seen], begin, unseen)


def _sorted(rows: Ints, columns: Ints, values: Floats, begin: int, unseen: Floats) -> PosteriorRows:
    """Pairs in order of messages, each with what is not seen again at its end."""
    late = np.flatnonzero(unseen > SMALLEST)
    rows = np.concatenate((rows, begin + late))
    columns = np.concatenate((columns, np.full(len(late), -1)))
    values = np.concatenate((values, unseen[late]))
    kept = values > SMALLEST
    order = np.argsort(rows[kept], kind="stable")
    return rows[kept][order], columns[kept][order], values[kept][order]


def _closed_form(passage: Passage) -> Iterator[PosteriorRows]:
    """Of a mix in which everybody inside is equally likely to leave next."""
    times = np.argsort(passage.departures, kind="stable")
    left = passage.departures[times]
    inside = mixes.exponential_mix_inside(passage.arrivals, passage.departures).astype(np.float64)
    alone = inside <= 1.0
    stays = np.where(alone, 1.0, (inside - 1.0) / np.maximum(inside, 1.0))
    logs = np.concatenate(([0.0], np.cumsum(np.log(stays))))
    emptied = np.concatenate((np.flatnonzero(alone), [len(left)]))  # nobody stays beyond these
    first = np.searchsorted(left, passage.arrivals, side="left")
    last = np.minimum(emptied[np.searchsorted(emptied, first)] + 1, len(left))
    reach = np.searchsorted(-logs, -logs[first] - np.log(SMALLEST), side="right")
    last = np.minimum(last, np.maximum(reach, first))
    for begin in range(0, len(first), _TOGETHER):
        end = min(begin + _TOGETHER, len(first))
        sizes = np.maximum(last[begin:end] - first[begin:end], 0)
        rows = np.repeat(np.arange(begin, end), sizes)
        at = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first[rows]
        values = np.exp(logs[at] - logs[first[rows]]) / inside[at]
        full = last[begin:end] == len(left)
        gone = full & (emptied[np.searchsorted(emptied, first[begin:end])] == len(left))
        unseen = np.where(gone, np.exp(logs[-1] - logs[first[begin:end]]), 0.0)
        yield _sorted(rows, times[at], values, begin, unseen)


def _by_chain(
    passage: Passage, budget: Budget, effort: Execution
) -> tuple[Iterator[PosteriorRows], float, tuple[str, ...]]:
    """By how many are inside, with losses and cover."""
    law = passage.law
    if not isinstance(law, Exponential):
        raise InputError(
            f"posterior has no exact probabilities of pairs under the {law} with losses, cover "
            "traffic or messages inside at the ends; leave these out, or take ",
            Argument("law", "exponential:MEAN"),
        )
    channel, notes = chosen_channel(passage, effort)
    lasts = float(passage.arrivals[-1] - passage.arrivals[0])
    mean_inside = law.mean * len(passage.arrivals) / lasts if lasts > 0 else len(passage.arrivals)
    entries = len(passage.arrivals) * min(_LANES * (mean_inside + 1.0), len(passage.departures))
    if entries * _BYTES > budget.memory:
        raise budget.refusal(
            f"probabilities of {len(passage.arrivals)} messages with losses or cover traffic",
            entries * 1e-7,
            entries * _BYTES,
            "take a shorter part of the log",
        )
    pairs = mixes.hidden_pairs(
        passage.arrivals, passage.departures, mean=law.mean, channel=channel, effort=effort
    )

    def pieces() -> Iterator[PosteriorRows]:
        starts = pairs.matrix.indptr.astype(np.int64)
        for begin in range(0, len(passage.arrivals), _TOGETHER):
            end = min(begin + _TOGETHER, len(passage.arrivals))
            some = slice(int(starts[begin]), int(starts[end]))
            rows = np.repeat(np.arange(begin, end), np.diff(starts[begin : end + 1]))
            unseen = (pairs.lost + pairs.inside)[begin:end]
            columns, values = pairs.matrix.indices[some], pairs.matrix.data[some]
            yield _sorted(rows, columns.astype(np.int64), values, begin, unseen)

    return pieces(), pairs.error + SMALLEST, tuple(notes)
