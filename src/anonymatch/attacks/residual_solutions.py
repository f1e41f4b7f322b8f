"""Answers: the count of a block and the matchings through each of its edges, block by block."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.counting import (
    BlockClass,
    Computation,
    Option,
    Settings,
    block_bits,
    log_of,
    shares,
    words_for,
)
from anonymatch.graph import Graph
from anonymatch.running import Budget

__all__ = ["ResidualCost", "ResidualSolution", "answers"]

Floats = npt.NDArray[np.float64]

# Measured: what exact integers for all edges cost against probabilities in doubles.
_EXACT = 2.5  # times, for one word
_GENERAL = 8.0  # minors of bands come from the general programme for narrow blocks
_WORD = 0.1  # times, for each further word
_HALVE = ("signs", "subsets")  # methods whose cost halves with each user that leaves
_INTEGER = 2e-7  # seconds to make, square and add one integer of a few words
_RESIDUE = 1.2e-6  # seconds to bring in one more word of an integer known by its residues
_DIVIDED = 2.0**-50  # error of probabilities that are quotients of integers
_SMALL_ERROR = 2.0**-44  # of the small kernel's probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResidualSolution:
    """What is known about one block; ``total`` and ``through`` only where they are exact.

    For weighted graphs these two are whole numbers up to a common factor: only their ratios mean
    something, while ``log`` is of the count itself.
    """

    log: float
    log_error: float
    probabilities: Floats
    error: float  # of each probability
    total: int | None
    through: npt.NDArray[Any] | None  # matchings through each edge: int64, or Python ints

    def reordered(self, places: npt.NDArray[Any]) -> ResidualSolution:
        """The same with the edge at each place moved to ``places``."""
        back = np.empty(len(places), dtype=np.int64)
        back[places] = np.arange(len(places))
        through = None if self.through is None else self.through[back]
        return replace(self, probabilities=self.probabilities[back], through=through)

    def sums_of_squares(self, rows: npt.NDArray[np.int64], n_users: int) -> list[int]:
        """For each user, the sum over the user's edges of the square of the matchings through it.

        Large blocks have few different counts, so equal ones are squared once.
        """
        through = self.through
        assert through is not None
        if through.dtype == np.int64:  # of the small kernel: the sums are at most (12!)^2
            sums = np.zeros(n_users, dtype=np.int64)
            np.add.at(sums, rows, through * through)
            return [int(value) for value in sums]
        codes: dict[int, int] = {}
        code = np.array([codes.setdefault(value, len(codes)) for value in through.tolist()])
        squares = [value * value for value in codes]
        cells, copies = np.unique(rows * len(squares) + code, return_counts=True)
        found = [0] * n_users
        for cell, number in zip(cells.tolist(), copies.tolist(), strict=True):
            user, which = divmod(cell, len(squares))
            found[user] += number * squares[which]
        return found


@dataclass(frozen=True, slots=True)
class ResidualCost:
    """Predicted seconds: of all blocks, of the dearest one, and whether that halves with a user."""

    seconds: float = 0.0
    dearest: float = 0.0
    halves: bool = False

    def plus(self, seconds: float, method: str) -> ResidualCost:
        """With one more block."""
        if seconds <= self.dearest:
            return replace(self, seconds=self.seconds + seconds)
        return ResidualCost(self.seconds + seconds, seconds, method in _HALVE)


def answers(
    graph: Graph, settings: Settings, left: float, *, runs: int, exactly: bool | None
) -> tuple[list[ResidualSolution], ResidualCost]:
    """An answer for each class of equal blocks of a graph, and what they cost.

    Edges are in the order of the block table. ``left`` are the seconds that may be spent, and
    ``exactly`` whether integers are wanted; None: where so many ``runs`` would be affordable.
    """
    budget = Budget(seconds=max(left, 0.0), memory=settings.budget.memory)
    job = Computation(graph, replace(settings, budget=budget), edges=True)
    if job.beyond_budget():
        raise job.refusal("exact posteriors")
    found: list[ResidualSolution | None] = [None] * job.reduced.n_kinds
    _put_small(job, found)
    price = ResidualCost()
    for kind, option in zip(job.kinds, job.options, strict=True):
        more, memory = _exact_price(kind, option)
        integers = exactly
        if integers is None:
            total = price.seconds + (option.seconds + more) * runs
            integers = not graph.weighted and budget.allows(total, memory)
        integers = settings.exact or (integers and not graph.weighted)
        found[kind.number] = _answer(job, kind, option, exactly=integers)
        price = price.plus(option.seconds + (more if integers else 0.0), option.method)
    return [answer for answer in found if answer is not None], price


def _put_small(job: Computation, found: list[ResidualSolution | None]) -> None:
    small = job.small
    if not len(small.numbers):
        return
    logs, errors = job.small_logs()
    minors, probabilities = job.small_minors()
    exact = small.weights is None
    totals = job.small_exact if exact else [None] * len(logs)
    through = minors.astype(np.int64) if exact else None
    borders = small.row_offsets[small.user_offsets].tolist()
    for k, number in enumerate(small.numbers.tolist()):
        edges = slice(borders[k], borders[k + 1])
        found[number] = ResidualSolution(
            log=float(logs[k]),
            log_error=float(errors[k]),
            probabilities=probabilities[edges],
            error=_SMALL_ERROR,
            total=totals[k],
            through=None if through is None else through[edges],
        )


def _answer(
    job: Computation, kind: BlockClass, option: Option, *, exactly: bool
) -> ResidualSolution:
    solution = option.solve()
    shift = job.log_scale(kind)
    if not exactly:
        probabilities, error = solution.posteriors
        log, log_error = solution.log_and_error
        return ResidualSolution(
            log=log + shift,
            log_error=log_error,
            probabilities=probabilities,
            error=error,
            total=None,
            through=None,
        )
    weights = kind.block.weights
    through = solution.minors if weights is None else solution.minors * weights
    total = int(sum(through[: kind.block.indptr[1]].tolist()))
    if option.method == "closed form":
        probabilities, error = solution.posteriors
    else:  # a second run for the probabilities would cost more than dividing
        probabilities, error = shares(kind.block, solution.minors), _DIVIDED
    return ResidualSolution(
        log=log_of(total) + shift,
        log_error=0.0,
        probabilities=probabilities,
        error=error,
        total=total,
        through=through,
    )


def _exact_price(kind: BlockClass, option: Option) -> tuple[float, float]:
    """Predicted seconds and bytes of exact integers for all edges, on top of their
    probabilities.
    """
    bits = block_bits(kind.block)
    if not math.isfinite(bits):  # weights whose sums leave doubles
        return math.inf, math.inf
    words = words_for(bits)
    run = option.seconds * _EXACT * (1 + _WORD * (words - 1))
    if option.method == "band":
        run *= _GENERAL
    each = _INTEGER * (1 + words / 16)
    if option.method == "frontier":
        each += _RESIDUE * words
    size = 32.0 + 8 * words
    if option.method == "closed form":  # equal integers are one object
        size = 8.0
    memory = max(option.memory * words, size * kind.block.n_edges)
    return run + each * kind.block.n_edges, float(memory)
