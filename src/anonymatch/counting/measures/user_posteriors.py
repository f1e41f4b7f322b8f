"""Figures of users from the probabilities of their edges, with bounds on their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.interval import ROUNDING
from anonymatch.counting.measures.tuning import MEASURES
from anonymatch.counting.measures.users import LOST, Range, UserFigures, entropy_terms
from anonymatch.graph import Graph, structure


def user_figures(
    graph: Graph,
    probabilities: Floats,
    error: float | Floats,
    *,
    alike: int = 0,
    entropy_errors: Floats | None = None,
) -> UserFigures:
    """Figures of all users from the probabilities of all edges.

    Probabilities are in the order of the graph's edges, NaN for all edges of a user if they are not
    known; ``error`` bounds the error of all, or of each. The last ``alike`` behaviours are places
    for lost messages, which nobody tells apart. All figures but `probability` and `shannon_all` are
    then given that a message departed. ``entropy_errors``: standard errors of the users' Shannon
    entropies in bits, to first order, where ``error`` is twice the standard error of each edge; NaN
    where they are not known.

    References
    ----------
    .. [1] Serjantov, Danezis. Towards an information theoretic metric for anonymity. PET 2002.
    .. [2] Clauß, Schiffner. Structuring anonymity metrics. DIM 2006.
    .. [3] Tóth, Hornák, Vajda. Measuring anonymity revisited. NordSec 2004.

    Examples
    --------
    >>> import anonymatch as am
    >>> g = am.Graph.from_rows(["110", "011", "111"])
    >>> figures = user_figures(g, am.posterior(g).probabilities, 1e-12)
    >>> figures.shannon.value.round(4).tolist(), figures.effective.value.round(4).tolist()
    ([0.9183, 0.9183, 1.585], [1.8899, 1.8899, 3.0])
    """
    shape = structure(graph)
    every = _UserRows(
        indptr=graph.indptr,
        columns=graph.indices,
        probabilities=probabilities,
        errors=np.broadcast_to(error, probabilities.shape),
        block_of_row=shape.block_of_user,
        block_of_column=shape.block_of_behaviour,
    )
    new = every.unlike_before()
    rows = every if new.all() else every.at(np.flatnonzero(new))
    last = graph.n_behaviours - alike
    cuts = [*pairwise(_borders(rows.indptr))] or [(0, 0)]
    parts = [_part(rows, begin, end, last) for begin, end in cuts]
    figures = {name: _joined([part[name] for part in parts]) for name in parts[0]}
    if rows is not every:
        which = np.cumsum(new) - 1
        figures = {
            name: part.at(which) if isinstance(part, Range) else part[which]
            for name, part in figures.items()
        }
    if entropy_errors is not None and not alike:
        shannon = _drawn_shannon(figures["shannon"], every, figures["allowed"], entropy_errors)
        figures |= {"shannon": shannon, "effective": _drawn_sizes(shannon)}
    return UserFigures(users=graph.users, behaviours=graph.behaviours, **figures)


def _drawn_shannon(entropy: Range, rows: _UserRows, allowed: Ints, errors: Floats) -> Range:
    """Entropies of probabilities that were drawn, closer than errors of each edge allow.

    Two standard errors to first order. Noise makes an entropy smaller, on average by the sum of
    variance over 2 p: that is added, and as much again, twice, is to either side.
    """
    known = np.where(np.isnan(errors), 0.0, errors)
    some = np.maximum(rows.probabilities, 1e-300)
    own = rows.errors / 2.0
    lost = np.minimum(own**2 / (2.0 * some), own) / math.log(2.0)
    missing = np.where(known > 0.0, np.add.reduceat(lost, rows.indptr[:-1]), 0.0)
    value = np.minimum(entropy.value + missing, np.log2(np.maximum(allowed, 1)))
    half = 2.0 * known + 2.0 * missing
    low, high = np.maximum(entropy.low, value - half), np.minimum(entropy.high, value + half)
    drawn = known > 0.0
    return Range(
        np.where(drawn, np.clip(value, low, high), entropy.value),
        np.where(drawn, low, entropy.low),
        np.where(drawn, high, entropy.high),
        errors=known,
    )


def _drawn_sizes(shannon: Range) -> Range:
    assert shannon.errors is not None
    sizes = shannon.map(np.exp2)
    return replace(sizes, errors=sizes.value * math.log(2.0) * shannon.errors)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _UserRows:
    """Users as rows of edges with their probabilities; blocks tell which edges are allowed."""

    indptr: npt.NDArray[np.integer]
    columns: npt.NDArray[np.integer]
    probabilities: Floats
    errors: Floats
    block_of_row: npt.NDArray[np.integer]
    block_of_column: npt.NDArray[np.integer]

    def unlike_before(self) -> Bools:
        """Which rows are not equal to the one before; where rows are short nobody looks."""
        new = np.ones(len(self.indptr) - 1, dtype=np.bool_)
        if len(self.columns) < MEASURES.wide * len(new):
            return new
        degrees = np.diff(self.indptr)
        alike = (np.diff(degrees) == 0) & (np.diff(self.block_of_row) == 0)
        for row in (np.flatnonzero(alike) + 1).tolist():
            before, begin, end = self.indptr[row - 1 : row + 2].tolist()
            new[row] = not all(
                np.array_equal(part[before:begin], part[begin:end])
                for part in (self.columns, self.probabilities, self.errors)
            )
        return new

    def at(self, rows: Ints) -> _UserRows:
        """Some of the rows."""
        begins, ends = self.indptr[rows], self.indptr[rows + 1]
        cuts = [slice(*cut) for cut in zip(begins.tolist(), ends.tolist(), strict=True)]
        columns, probabilities, errors = (
            np.concatenate([part[cut] for cut in cuts])
            for part in (self.columns, self.probabilities, self.errors)
        )
        return replace(
            self,
            indptr=offsets(ends - begins),
            columns=columns,
            probabilities=probabilities,
            errors=errors,
            block_of_row=self.block_of_row[rows],
        )


def _borders(indptr: npt.NDArray[np.integer]) -> list[int]:
    """Users at which to cut, so that few enough of them, and of their edges, are together.

    Examples
    --------
    >>> _borders(np.array([0, MEASURES.edges, MEASURES.edges + 1, 2 * MEASURES.edges]))
    [0, 1, 3]
    """
    borders, n_users = [0], len(indptr) - 1
    while borders[-1] < n_users:
        begin = borders[-1]
        most = np.searchsorted(indptr, int(indptr[begin]) + MEASURES.edges, side="right") - 1
        borders.append(min(max(int(most), begin + 1), begin + MEASURES.together, n_users))
    return borders


def _part(part: _UserRows, begin: int, end: int, last: int) -> dict[str, Any]:
    """Figures of the users from ``begin`` to ``end``; behaviours from ``last`` on are alike."""
    cut = slice(part.indptr[begin], part.indptr[end])
    columns = part.columns[cut].astype(np.int64)
    degree = np.diff(part.indptr[begin : end + 1]).astype(np.int64)
    rows = np.repeat(np.arange(end - begin), degree)
    possible = part.block_of_row[begin:end][rows] == part.block_of_column[columns]
    edges = _Edges(
        rows[possible],
        columns[possible],
        part.probabilities[cut][possible],
        part.errors[cut][possible],
        end - begin,
    )
    if last == len(part.block_of_column):
        return _of_edges(edges, last) | {"degree": degree}
    whole = edges.merged(last)
    edges, departed = whole.departed(last)
    return _of_edges(edges, last) | {
        "degree": degree - np.bincount(rows[columns >= last], minlength=end - begin),
        "probability": whole.likeliest(last),
        "departed": departed,
        "shannon_all": whole.shannon(),
    }


def _of_edges(edges: _Edges, last: int) -> dict[str, Any]:
    """Entropies and guesses."""
    shannon = edges.shannon()
    probability = edges.largest()
    return {
        "allowed": edges.sizes,
        "shannon": shannon,
        "renyi2": edges.renyi2(),
        "min_entropy": probability.minus_log2(),
        "effective": shannon.map(np.exp2),
        "probability": probability,
        "guess": edges.guesses(last),
        "guesses": edges.until_right(),
    }


def _joined(parts: list[Any]) -> Any:
    """Figures of parts of the users, as one."""
    if isinstance(parts[0], Range):
        ends = ("value", "low", "high")
        return Range(*(np.concatenate([getattr(part, end) for part in parts]) for end in ends))
    return np.concatenate(parts)


class _Edges:
    """Allowed edges of users who all have one, in order of the users, with probabilities."""

    def __init__(
        self, rows: Ints, columns: Ints, probabilities: Floats, error: Floats, n_users: int
    ) -> None:
        self.rows, self.columns, self._error = rows, columns, error
        self.sizes: Ints = np.bincount(rows, minlength=n_users).astype(np.int64)
        self.begins: Ints = offsets(self.sizes)[:-1]
        single = self.sizes[rows] == 1
        self.probabilities: Floats = np.where(single, 1.0, probabilities)
        margin = np.where(single, 0.0, error)
        known = ~np.isnan(self.probabilities)
        self.low: Floats = np.where(known, np.clip(self.probabilities - margin, 0.0, 1.0), 0.0)
        self.high: Floats = np.where(known, np.clip(self.probabilities + margin, 0.0, 1.0), 1.0)

    def merged(self, last: int) -> _Edges:
        """The same where all behaviours from ``last`` on are one."""
        columns = np.minimum(self.columns, last)
        same = (np.diff(self.rows) == 0) & (np.diff(columns) == 0)
        starts = np.flatnonzero(np.concatenate(([True], ~same)))
        probabilities, error = (
            np.add.reduceat(part, starts) for part in (self.probabilities, self._error)
        )
        return _Edges(self.rows[starts], columns[starts], probabilities, error, len(self.sizes))

    def departed(self, last: int) -> tuple[_Edges, Floats]:
        """The same given that the message departed, and the probability of that; NaN if unknown."""
        lost = self.columns == last
        ends = [
            self.sum(np.where(lost, part, 0.0))
            for part in (self.probabilities, self.high, self.low)
        ]
        shares = (np.clip(1.0 - end, 0.0, 1.0)[self.rows] for end in ends)
        value, low, high = (np.where(lost, 1.0, share) for share in shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            probabilities = self.probabilities / value
            most = np.where(low > 0.0, np.minimum(self.high / low, 1.0), 1.0)
            error = np.fmax(most - probabilities, probabilities - self.low / high)
        error = np.where(np.isfinite(error), error, 1.0)
        real = self._real(last)
        given = _Edges(
            self.rows[real], self.columns[real], probabilities[real], error[real], len(self.sizes)
        )
        return given, np.clip(1.0 - ends[0], 0.0, 1.0)

    def likeliest(self, last: int) -> Range:
        """Probability of the likeliest departure: such a guess is wrong if the message was lost."""
        real = self._real(last)
        parts = (np.where(real, part, 0.0) for part in (self.probabilities, self.low, self.high))
        largest = Range(*(np.maximum.reduceat(part, self.begins) for part in parts))
        return self._within(largest, 0.0, 1.0)

    def _real(self, last: int) -> Bools:
        """All but the behaviour ``last``, to be lost, of who can be something else."""
        real: Bools = (self.columns != last) | (self.sizes[self.rows] == 1)
        return real

    def sum(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self.rows, values, len(self.sizes)).astype(np.float64)
        return sums

    def shannon(self) -> Range:
        at_low, at_high = entropy_terms(self.low), entropy_terms(self.high)
        peak = 1 / math.e  # where -p log2 p is largest
        over = (self.low < peak) & (peak < self.high)
        top = np.where(over, math.log2(math.e) * peak, np.maximum(at_low, at_high))
        entropy = Range(
            self.sum(entropy_terms(self.probabilities)),
            self.sum(np.minimum(at_low, at_high)),
            self.sum(top),
        )
        return self._within(entropy, 0.0, np.log2(self.sizes))

    def renyi2(self) -> Range:
        squares = Range(*(self.sum(part**2) for part in (self.probabilities, self.low, self.high)))
        return self._within(squares, 1.0 / self.sizes, 1.0).minus_log2()

    def largest(self) -> Range:
        if not len(self.rows):
            return Range(self.probabilities, self.low, self.high)
        parts = (self.probabilities, self.low, self.high)
        largest = Range(*(np.maximum.reduceat(part, self.begins) for part in parts))
        return self._within(largest, 1.0 / self.sizes, 1.0)

    def until_right(self) -> Range:
        """How many guesses it takes on average, the likeliest first."""
        # No order has a smaller mean rank than that by falling probability. So errors e move it by
        # at most the sum of rank times e; taken from the middle rank where they add up to 0.
        value = self._mean_ranks()
        middle: Floats = (self.sizes.astype(np.float64) + 1.0) / 2.0
        apart = self.sum(np.fmax(self.high - self.probabilities, self.probabilities - self.low))
        reach = apart * (middle - 1.0) + np.abs(self.sum(self.probabilities) - 1.0) * middle
        reach = np.where(np.isnan(value), np.inf, reach)
        centre = np.where(np.isnan(value), 1.0, value)
        return self._within(Range(value, centre - reach, centre + reach), 1.0, middle)

    def _mean_ranks(self) -> Floats:
        """Sums of rank times probability, users with about as many edges together."""
        result = np.zeros(len(self.sizes))
        widths = np.exp2(np.ceil(np.log2(np.maximum(self.sizes, 1)))).astype(np.int64)
        for width in np.unique(widths).tolist():
            alike = np.flatnonzero(widths == width)
            ranks = np.arange(width, 0.0, -1.0)
            for some in np.array_split(alike, len(alike) * width // MEASURES.cells + 1):
                positions = self.begins[some][:, None] + np.arange(width)
                within = np.arange(width) < self.sizes[some][:, None]
                taken = self.probabilities[np.minimum(positions, len(self.probabilities) - 1)]
                # What is not there has probability 0 and comes last among the likeliest.
                result[some] = (np.sort(np.where(within, taken, 0.0), axis=1) * ranks).sum(axis=1)
        return result

    def guesses(self, last: int) -> Ints:
        """The first of the likeliest behaviours; those from ``last`` on are `LOST`."""
        guesses = np.full(len(self.sizes), -1, dtype=np.int64)
        best = self.largest().value
        ties = np.flatnonzero(self.probabilities >= best[self.rows] * (1 - MEASURES.tie))
        users, first = np.unique(self.rows[ties], return_index=True)
        columns = self.columns[ties[first]]
        guesses[users] = np.where(columns < last, columns, LOST)
        return guesses

    def _within(self, figures: Range, least: float | Floats, most: float | Floats) -> Range:
        """Ends moved apart by rounding, and no further than what holds for any probabilities."""
        slack = (1 + self.sizes) * ROUNDING * np.abs(figures.high)
        return Range(
            np.clip(figures.value, least, most),
            np.clip(figures.low - slack, least, most),
            np.clip(figures.high + slack, least, most),
        )
