"""ClassSolution: the count of a block and the matchings through each edge, a class of equal blocks
each.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block_classes import BlockClass
from anonymatch.counting.blocks.solution import Option, shares
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.counting.integers import words_for
from anonymatch.counting.planning.choose import AUTO
from anonymatch.counting.planning.execute import Computation, Settings
from anonymatch.counting.results import log_of
from anonymatch.graph import Graph
from anonymatch.running import Budget

_HALVE = ("glynn", "subset")  # methods whose cost halves with each user that leaves
_DIVIDED = 2.0**-50  # error of probabilities that are quotients of integers
_SMALL_ERROR = 2.0**-44  # of the small kernel's probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassSolution:
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

    def reordered(self, positions: npt.NDArray[Any]) -> ClassSolution:
        """The same with the edge at each place moved to ``positions``."""
        back = np.empty(len(positions), dtype=np.int64)
        back[positions] = np.arange(len(positions))
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
        of_users = [0] * n_users
        for cell, number in zip(cells.tolist(), copies.tolist(), strict=True):
            user, which = divmod(cell, len(squares))
            of_users[user] += number * squares[which]
        return of_users


@dataclass(frozen=True, slots=True)
class SolutionCost:
    """Predicted seconds: of all blocks, of the dearest one, and whether that halves with a user."""

    seconds: float = 0.0
    dearest: float = 0.0
    halves: bool = False

    def plus(self, seconds: float, method: str) -> SolutionCost:
        """With one more block."""
        if seconds <= self.dearest:
            return replace(self, seconds=self.seconds + seconds)
        return SolutionCost(self.seconds + seconds, seconds, method in _HALVE)


def solve_classes(
    graph: Graph,
    *,
    exact: bool,
    budget: Budget,
    executor: Executor | None,
    runs: int,
    exactly: bool | None,
) -> tuple[list[ClassSolution], SolutionCost]:
    """A solution for each class of equal blocks of a graph, and what they cost.

    Edges are in the order of the block table. With ``exact`` weights are whole numbers.
    ``exactly``: whether integers are wanted; None: where so many ``runs`` would be affordable.
    """
    settings = Settings(method=AUTO, exact=exact, budget=budget, executor=executor, progress=None)
    job = Computation(graph, settings, edges=True)
    if job.beyond_budget():
        raise job.refusal("exact posteriors")
    solutions: list[ClassSolution | None] = [None] * job.reduced.n_kinds
    _put_small(job, solutions)
    price = SolutionCost()
    for kind, option in zip(job.kinds, job.options, strict=True):
        more, memory = _exact_price(kind, option)
        integers = exactly
        if integers is None:
            total = price.seconds + (option.seconds + more) * runs
            integers = not graph.weighted and budget.allows(total, memory)
        integers = settings.exact or (integers and not graph.weighted)
        solutions[kind.number] = _answer(job, kind, option, exactly=integers)
        price = price.plus(option.seconds + (more if integers else 0.0), option.method)
    return [answer for answer in solutions if answer is not None], price


def _put_small(job: Computation, solutions: list[ClassSolution | None]) -> None:
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
        solutions[number] = ClassSolution(
            log=float(logs[k]),
            log_error=float(errors[k]),
            probabilities=probabilities[edges],
            error=_SMALL_ERROR,
            total=totals[k],
            through=None if through is None else through[edges],
        )


def _answer(job: Computation, kind: BlockClass, option: Option, *, exactly: bool) -> ClassSolution:
    solution = option.solve()
    shift = job.log_scale(kind)
    if not exactly:
        probabilities, error = solution.posteriors
        log, log_error = solution.rough_log
        return ClassSolution(
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
    if option.method == "closed_form":
        probabilities, error = solution.posteriors
    else:  # a second run for the probabilities would cost more than dividing
        probabilities, error = shares(kind.block, solution.minors), _DIVIDED
    return ClassSolution(
        log=log_of(total) + shift,
        log_error=0.0,
        probabilities=probabilities,
        error=error,
        total=total,
        through=through,
    )


def _exact_price(kind: BlockClass, option: Option) -> tuple[float, float]:
    """Predicted seconds and bytes of exact integers for all edges, beside probabilities."""
    bits = block_bits(kind.block)
    if not math.isfinite(bits):  # weights whose sums leave doubles
        return math.inf, math.inf
    words = words_for(bits)
    run = option.seconds * tuning().exact_edges * (1 + tuning().exact_word * (words - 1))
    if option.method == "band":
        run *= tuning().exact_band
    if option.method in ("planar", "tree"):  # probabilities come from all words
        run = option.seconds
    each = tuning().integer * (1 + words / 16)
    if option.method in ("frontier", "planar", "tree"):
        each += tuning().residue * words
    size = 32.0 + 8 * words
    if option.method == "closed_form":  # equal integers are one object
        size = 8.0
    memory = max(option.memory * words, size * kind.block.n_edges)
    return run + each * kind.block.n_edges, float(memory)
