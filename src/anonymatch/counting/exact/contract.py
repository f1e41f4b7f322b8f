"""Contraction of users and behaviours of degree two (and removal of those of degree one).

A user with weights p and q on behaviours a and b takes one of them and leaves the other to someone
else, so the two columns can be replaced by the one column p col_b + q col_a, without changing the
count; likewise for a behaviour with two users. Only square blocks allow it: where behaviours
may stay unused, both a and b may be left over by the others, which happens in p + q ways instead of
one, and a matrix has no entry for that.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Objects, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.counting.exact import frontier, glynn
from anonymatch.counting.integers import product


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Contract users and behaviours with two edges, if what is left is cheaper."""
    if block.optional or not block.even or best < tuning().contraction * block.n_users:
        return None
    bits = block_bits(block) if block.exact else 0.0
    options = []
    for degree_limit in (LIMITS.contraction_degree, block.n_users):
        small = contract(block, degree_limit=degree_limit)
        if small is None:
            return None
        options += _options(block, small, bits, context, best)
    return min(options, key=lambda o: o.seconds, default=None)


def _options(
    block: Block, small: Contracted, bits: float, context: Context, best: float
) -> list[Option]:
    """How what is left may be solved."""
    inner: list[Option] = []
    ordering = frontier.find_ordering(small.block, min(best, context.budget.seconds))
    by_signs = glynn.offer_below(bits, small.block, context)
    if by_signs is not None and (small.block.exact or not ordering.feasible):
        inner.append(by_signs)
    if ordering.feasible:
        inner.append(frontier.offer_along(ordering, small.block, max(bits, 1.0), context, best))
    return [
        replace(
            option,
            why=(
                f"{several(small.contractions, 'contraction')} "
                f"leave{'s' if small.contractions == 1 else ''} "
                f"{several(small.block.n_users, 'user')}"
            ),
            solve=partial(_solution, block, small, option.solve),
        )
        for option in inner
    ]


def _solution(block: Block, small: Contracted, solve: Callable[[], Solution]) -> Solution:
    inner = solve()
    if block.exact:

        def minors() -> Objects:
            return small.pull_back(inner.minors)

        return Solution(block, total=lambda: small.factor * inner.total, minors=minors)

    rounding = 2.0**-53 * 1.01 * small.roundings

    def real() -> tuple[float, float]:
        log, error = inner.log_and_error
        return log + small.log_factor, error + rounding

    def posteriors() -> Probabilities:
        probabilities, error = inner.posteriors
        return small.pull_back_posteriors(probabilities), error * len(probabilities) + 2 * rounding

    return Solution(block, real=real, posteriors=posteriors)


Line = dict[int, int]  # of a row, column -> entry; of a column, row -> entry


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contracted:
    """A smaller block with weights, and the way back.

    count of the original = ``factor`` * count of ``block``; ``log_factor`` is there when the factor
    is beyond the range of floats.

    Float weights are rounded. Every matching passes each contraction once, through at most two
    roundings on the way to the count and four more on the way back, and all terms are positive:
    the count and each posterior are off by a factor of at most (1 + 2^-53)^``roundings``
    from what an exact treatment of ``block`` would give.
    """

    block: Block
    log_factor: float
    contractions: int
    n_edges: int  # of the original
    entries_left: list[int]  # entry behind each edge of the block
    forced: list[int]  # entries that are in every matching
    values: list[Any]  # of all entries: those of the original, then those made
    tape: list[tuple[int, int, int]]  # entry (first) gained the product of two others
    shares: list[float]  # floats only: how much of it

    @property
    def roundings(self) -> int:
        return 0 if self.block.exact else 6 * self.contractions + len(self.forced) + 3

    @property
    def factor(self) -> Any:
        if not self.block.exact:
            return math.exp(self.log_factor)
        return product([self.values[entry] for entry in self.forced])

    def pull_back(self, minors: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Minors of the original edges from those of the block's edges.

        Minors are derivatives of the count by the weights, so this is the chain rule, backwards.
        Float minors overflow where :meth:`pull_back_posteriors` does not.
        """
        if not self.block.exact:
            through = minors * self.block.weights
            total = float(through[: self.block.indptr[1]].sum())
            probabilities = self.pull_back_posteriors(through / total)
            weights = np.array(self.values[: self.n_edges], dtype=np.float64)
            scaled: Floats = probabilities / weights * (total * self.factor)
            return scaled
        values, inner, factor = self.values, minors.tolist(), self.factor
        first_row = range(int(self.block.indptr[1]))
        whole = factor * sum(values[self.entries_left[k]] * inner[k] for k in first_row)
        slopes: list[int] = [0] * len(values)
        for entry, minor in zip(self.entries_left, inner, strict=True):
            slopes[entry] = factor * minor
        for entry in self.forced:
            slopes[entry] = whole // values[entry]
        for made, left, right in reversed(self.tape):
            slope = slopes[made]
            slopes[left] += values[right] * slope
            slopes[right] += values[left] * slope
        return np.array(slopes[: self.n_edges], dtype=object)

    def pull_back_posteriors(self, posteriors: Floats) -> Floats:
        """Posteriors of the original edges from those of the block's edges; float weights only.

        A matching that uses a merged entry uses both edges of one of the products in it, each in
        proportion to its share: no number leaves the range from 0 to 1.
        """
        assert not self.block.exact
        probabilities = [0.0] * len(self.values)
        for entry, probability in zip(self.entries_left, posteriors.tolist(), strict=True):
            probabilities[entry] = probability
        for entry in self.forced:
            probabilities[entry] = 1.0
        for (made, left, right), share in zip(
            reversed(self.tape), reversed(self.shares), strict=True
        ):
            part = probabilities[made] * share
            probabilities[left] += part
            probabilities[right] += part
        return np.array(probabilities[: self.n_edges])


def contract(block: Block, *, degree_limit: int = LIMITS.contraction_degree) -> Contracted | None:
    """Contract as long as it does not make the block denser; None if there is nothing to do.

    A contraction that makes a line of higher degree than ``degree_limit``, and than both lines that
    it merges, is left out.
    """
    degrees = np.diff(block.indptr), np.bincount(block.indices, minlength=block.n_behaviours)
    few = block.n_users < 2 or min(map(min, degrees)) > 2
    if block.optional or few:
        return None
    work = _Contraction(block)
    work.run(degree_limit)
    if not work.contractions and not work.forced:
        return None
    return Contracted(
        block=work.rest(block.exact),
        log_factor=work.log_factor(),
        contractions=work.contractions,
        n_edges=block.n_edges,
        entries_left=[entry for row in work.lines[0].values() for _, entry in sorted(row.items())],
        forced=work.forced,
        values=work.values,
        tape=work.tape,
        shares=work.shares,
    )


class _Contraction:
    """Rows and columns as dictionaries, shrinking; entries are numbered and never change value."""

    def __init__(self, block: Block) -> None:
        rows: dict[int, Line] = {}
        columns: dict[int, Line] = {j: {} for j in range(block.n_behaviours)}
        ends, indices = block.indptr.tolist(), block.indices.tolist()
        for i in range(block.n_users):
            span = range(ends[i], ends[i + 1])
            rows[i] = {indices[entry]: entry for entry in span}
            for entry in span:
                columns[indices[entry]][i] = entry
        self.lines = rows, columns
        self.values: list[Any] = [1] * block.n_edges
        if block.weights is not None:
            self.values = block.weights.tolist()
        self.tape: list[tuple[int, int, int]] = []
        self.shares: list[float] = []
        self.forced: list[int] = []
        self.contractions = 0
        self.exact = block.exact
        self.exponent = 0  # of the power of two taken out of float columns and rows

    def run(self, degree_limit: int) -> None:
        waiting = deque(
            (side, v) for side in (0, 1) for v, line in self.lines[side].items() if len(line) <= 2
        )
        refused: list[tuple[int, int]] = []
        progress = False
        while waiting:
            side, v = waiting.popleft()
            line = self.lines[side].get(v)
            if line is None or len(line) > 2 or len(self.lines[0]) == 1:
                continue
            if len(line) < 2:
                waiting.extend(self._force(side, v))
                progress = True
            elif self._grows(side, v) <= degree_limit and (self.exact or self._in_range(side, v)):
                waiting.extend(self._merge(side, v))
                progress = True
            else:
                refused.append((side, v))
            if not waiting and progress:
                waiting.extend(refused)
                refused, progress = [], False

    def _grows(self, side: int, v: int) -> int:
        """Degree of the line that contracting v makes; 0 if no larger than one that it merges."""
        a, b = (self.lines[1 - side][u] for u in self.lines[side][v])
        degree = len(a.keys() | b.keys()) - 1
        return degree if degree > max(len(a), len(b)) else 0

    def _merge(self, side: int, v: int) -> list[tuple[int, int]]:
        """Contract v; returns the lines that may have become contractible."""
        along, across = self.lines[side], self.lines[1 - side]
        values, tape = self.values, self.tape
        (a, to_a), (b, to_b) = along.pop(v).items()
        from_a, into = across.pop(a), across[b]
        del from_a[v], into[v]
        weight_a, weight_b = values[to_a], values[to_b]
        begin = len(tape)
        for u, entry in into.items():
            made = len(values)
            tape.append((made, entry, to_a))
            values.append(values[entry] * weight_a)
            into[u] = along[u][b] = made
        touched = [(1 - side, b)]
        for u, entry in from_a.items():
            line = along[u]
            del line[a]
            made = into.get(u, -1)
            if made < 0:
                made = into[u] = line[b] = len(values)
                values.append(values[entry] * weight_b)
            else:
                values[made] += values[entry] * weight_b
                touched.append((side, u))
            tape.append((made, entry, to_b))
        self.contractions += 1
        if not self.exact:
            self._share(begin, into)
        return touched

    def _in_range(self, side: int, v: int) -> bool:
        """Whether no product of floats in this contraction can overflow or lose digits."""
        (a, to_a), (b, to_b) = self.lines[side][v].items()
        values, across = self.values, self.lines[1 - side]
        for line, weight in ((across[a], values[to_b]), (across[b], values[to_a])):
            entries = [values[entry] for entry in line.values()]
            if (
                min(entries) * weight < LIMITS.contraction_smallest
                or max(entries) * weight > LIMITS.contraction_largest
            ):
                return False
        return True

    def _share(self, begin: int, line: Line) -> None:
        """Shares of the products just made; then the line is scaled to entries of about 1.

        Scaling a line by a power of two is exact, and so is what it does to the count.
        """
        values = self.values
        for made, left, right in self.tape[begin:]:
            self.shares.append(values[left] * values[right] / values[made])
        shift = math.frexp(max(values[entry] for entry in line.values()))[1]
        if abs(shift) > 32:
            for entry in line.values():
                values[entry] = math.ldexp(values[entry], -shift)
            self.exponent += shift

    def _force(self, side: int, v: int) -> list[tuple[int, int]]:
        """Match a line of degree one; the other edges of its only neighbour are in no matching."""
        along, across = self.lines[side], self.lines[1 - side]
        assert along[v], "every edge of a block is in some matching"
        ((u, entry),) = along.pop(v).items()
        line = across.pop(u)
        del line[v]
        self.forced.append(entry)
        for other in line:
            del along[other][u]
        return [(side, other) for other in line]

    def log_factor(self) -> float:
        logs = [math.log(self.values[entry]) for entry in self.forced]
        return math.fsum([*logs, self.exponent * math.log(2)])

    def rest(self, exact: bool) -> Block:
        rows, columns = self.lines
        number = {j: k for k, j in enumerate(sorted(columns))}
        lists = [sorted(row.items()) for row in rows.values()]
        indptr = np.cumsum([0, *map(len, lists)]).astype(np.int32)
        indices = np.array([number[j] for row in lists for j, _ in row], dtype=np.int32)
        weights = np.empty(len(indices), dtype=object if exact else np.float64)
        weights[:] = [self.values[entry] for row in lists for _, entry in row]
        return Block(len(rows), len(columns), indptr, indices, weights)
