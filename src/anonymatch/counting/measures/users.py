"""Figures of each user: how unsure an attacker is about what this user did."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.interval import ROUNDING, Interval
from anonymatch.graph import Graph, structure

if TYPE_CHECKING:
    import polars as pl

_TOGETHER = 100_000  # users whose edges are looked at together: a million would fill memory
_EDGES = 1 << 18  # and edges of several users: arrays of more come as fresh pages, again and again

_WIDE = 256  # edges a user on average, from which on a look for equal users is worth it
_CELLS = 2**22  # probabilities that are sorted together

LOST = -2
"""In place of a behaviour's index: the message never came out."""


_TIE = (
    1e-12  # probabilities closer than this, relatively, are equal: the first behaviour is the guess
)
_DRAWN = 2.576  # standard errors that hold with 99 %
_REACHED = 1e-9  # a threshold missed by less, relatively, is reached


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A figure of every user with its interval; the value is NaN where only the ends are known.

    ``batches``: where figures were drawn, estimates by user and batch. Their mean is the value, but
    for rounding, and batches are independent: so a mean over users is known far better than each.
    ``errors``: standard errors of figures that were drawn, two of which are part of the ends.
    """

    value: Floats
    low: Floats
    high: Floats
    batches: npt.NDArray[np.float32] | None = field(default=None, kw_only=True)
    errors: Floats | None = field(default=None, kw_only=True)

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        return self.value, self.low, self.high

    def map(self, function: np.ufunc) -> Range:
        """An increasing function of the figure."""
        return Range(*(function(part) for part in self.parts))

    def at(self, which: npt.NDArray[Any] | slice) -> Range:
        """That of some users."""
        batches = None if self.batches is None else self.batches[which]
        errors = None if self.errors is None else self.errors[which]
        return Range(*(part[which] for part in self.parts), batches=batches, errors=errors)

    def minus_log2(self) -> Range:
        """-log2 of the figure, which swaps the ends; 0.0 rather than -0.0."""
        with np.errstate(divide="ignore"):  # a probability that may be 0 has no upper end
            ends = (0.0 - np.log2(part) for part in (self.value, self.high, self.low))
            return Range(*ends, batches=self._logs_of_batches())

    def _logs_of_batches(self) -> npt.NDArray[np.float32] | None:
        """-log2 by batch: straight on from the value, which has no bias and no end."""
        if self.batches is None:
            return None
        value = np.maximum(self.value, 1e-300)[:, None]
        logs = -np.log2(value) - (self.batches / value - 1.0) / np.log(2.0)
        return np.asarray(logs, dtype=np.float32)


def in_order(
    shannon: Range, renyi2: Range, min_entropy: Range, most: Floats
) -> tuple[Range, Range, Range]:
    """Entropies that were estimated apart, as all of them must be: each at most the one before.

    ``most``: bits of as many candidates, all alike. Where two ends contradict each other both
    cannot hold, so that what the one leaves open the other may close. Values go where ends are.

    Examples
    --------
    >>> one, two, three = (Range(*np.array([[v], [v - 0.5], [v + 0.5]])) for v in (1.9, 2.1, 1.0))
    >>> [entropy.value.tolist() for entropy in in_order(one, two, three, np.array([2.0]))]
    [[1.9], [1.9], [1.0]]
    """
    ranges = []
    value, high = most, most
    for entropy in (shannon, renyi2, min_entropy):
        value, high = np.fmin(entropy.value, value), np.fmin(entropy.high, high)
        ranges.append([value, entropy.low, high])
    low = np.zeros(len(most))
    for part in reversed(ranges):
        low = np.fmax(part[1], low)
        part[1] = np.fmin(low, part[2])
        part[0] = np.where(np.isnan(part[0]), np.nan, np.clip(part[0], part[1], part[2]))
    first, second, third = (
        Range(*part, batches=_moved(entropy, part[0]))
        for part, entropy in zip(ranges, (shannon, renyi2, min_entropy), strict=True)
    )
    return first, second, third


def _moved(figures: Range, values: Floats) -> npt.NDArray[np.float32] | None:
    """Batches, whose mean is to be these values."""
    if figures.batches is None:
        return None
    moved = values - figures.value
    return np.asarray(figures.batches + moved[:, None], dtype=np.float32)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UserFigures:
    """Figures of all users, as arrays in their order. Entropies are in bits.

    Attributes
    ----------
    users, behaviours : sequence
        Names.
    degree : array
        Behaviours that the user may have done, taken alone: the candidate set.
    allowed : array
        Those that some perfect matching gives the user.
    shannon, renyi2, min_entropy : Range
        Entropies of the user's posterior.
    effective : Range
        Effective set size: 2 to the Shannon entropy.
    probability : Range
        Probability that the attacker's best guess is right; `surest` is given that it departed.
    guess : array
        Index of the behaviour that is the best guess; -1 where probabilities are not known, and
        `LOST` where nothing that came out can be the message.
    departed, lost, inside : array or None
        Probabilities of what became of each message, where a log leaves that open. `shannon` and
        what follows from it are then given that it departed.
    shannon_all : Range or None
        Entropy over departures, lost and inside, where those are open.
    edge : array of bool or None
        Messages so near to an end of the log that their figures say little about the system.
    guesses : Range or None
        Guessing entropy: how many guesses it takes on average, the likeliest first, until the right
        one is named. None where that is not known; NaN, ends too, where only some were computed.
    mean_shannon : Interval or None
        The mean of `shannon` over the counted users, where it is known more closely than each.
    mean_min_entropy : Interval or None
        The same of `min_entropy`.
    given_departed : Range or None
        `surest`, where it is known better than as the quotient of two estimates.
    present : array or None
        Of a released table with fewer rows than people: the probability of each person to be in the
        release, 1.0 only where that is certain. All other figures include that a person may be
        absent, which is one more outcome of entropies and guesses.
    weights : array or None
        For how many users each stands, where not all were looked at: 1 for those that were taken
        on purpose, more for those that were drawn.
    """

    users: Sequence[Hashable]
    behaviours: Sequence[Hashable]
    degree: Ints
    allowed: Ints
    shannon: Range
    renyi2: Range
    min_entropy: Range
    effective: Range
    probability: Range
    guess: Ints
    departed: Floats | None = None
    lost: Floats | None = None
    inside: Floats | None = None
    shannon_all: Range | None = None
    edge: Bools | None = None
    guesses: Range | None = None
    mean_shannon: Interval | None = None
    mean_min_entropy: Interval | None = None
    given_departed: Range | None = None
    present: Floats | None = None
    weights: Floats | None = None

    def __repr__(self) -> str:
        return f"UserFigures({len(self.users):,} users)"

    @property
    def known(self) -> bool:
        """Whether there is a value, not only an interval, for every user."""
        return not bool(np.isnan(self.probability.value).any())

    @cached_property
    def surest(self) -> Range:
        """Probability of the best guess, given that the message departed.

        That a message may be lost is no anonymity: where that is open, `probability` is divided by
        the probability to have departed.
        """
        if self.given_departed is not None:
            return self.given_departed
        if self.departed is None:
            return self.probability
        departed = np.where(self.departed > 0.0, self.departed, 1.0)
        return Range(*(np.minimum(part / departed, 1.0) for part in self.probability.parts))

    @property
    def _if_departed(self) -> Range:
        return self.surest if self.present is None else self.probability_if_present

    @cached_property
    def probability_if_present(self) -> Range:
        """Probability of the best guess, given that the person is in the release."""
        whole = self._some_presence
        return Range(*(np.minimum(part / whole, 1.0) for part in self.probability.parts))

    @cached_property
    def shannon_if_present(self) -> Range:
        """Entropy over rows, given that the person is in the release.

        The entropy over rows and absence is that of being absent, and this one as often as the
        person is present.
        """
        whole = self._some_presence
        between = entropy_terms(whole) + entropy_terms(1.0 - whole)
        return Range(*(np.maximum(part - between, 0.0) / whole for part in self.shannon.parts))

    @property
    def _some_presence(self) -> Floats:
        """The probability to be in the release; 1.0 of those who cannot be, whose figures are 0."""
        number = len(self.degree)
        present = np.ones(number) if self.present is None else self.present
        return np.where(present > 0.0, present, 1.0)

    @cached_property
    def censored(self) -> Bools:
        """Messages that cannot have departed: nothing is known of where they go."""
        gone: Bools = (self.guess == LOST) & (self.allowed <= 1)
        return gone if self.departed is None else gone | (self.departed <= 0.0)

    @cached_property
    def counted(self) -> Bools:
        """Users that means, quantiles, shares and lists of the worst are about.

        Not those near an end of the log, unless nobody would be left, and none that are censored.
        """
        open_: Bools = ~self.censored
        if self.edge is None:
            return open_
        inner: Bools = open_ & ~self.edge
        return inner if inner.any() else open_

    @cached_property
    def alone(self) -> Bools:
        """Users for whom only one behaviour is left; who has hardly departed is not identified.

        A person who may be absent from a released table is not identified.
        """
        one: Bools = self.allowed == 1
        if self.present is not None:
            return np.asarray(one & (self.present == 1.0), dtype=np.bool_)
        return one if self.departed is None else one & ~(self.departed < 0.5)

    def first(self, number: int) -> UserFigures:
        """Those of the first users only."""
        cut = slice(number)
        shorter: dict[str, Any] = {
            name: part.at(cut) if isinstance(part, Range) else part[cut]
            for name, part in ((one.name, getattr(self, one.name)) for one in fields(self))
            if name not in ("behaviours", "mean_shannon", "mean_min_entropy") and part is not None
        }
        return replace(self, **shorter)

    def frame(self) -> pl.DataFrame:
        """A table with a row a user; null where only the interval is known, or nothing is."""
        import polars as pl

        from anonymatch.base.frames import Frame

        number = len(self.degree)
        positions = pl.Series(self.guess)
        columns: dict[str, pl.Series] = {
            "user": name_column(self.users),
            "guess": name_column(self.behaviours).gather(positions.set(positions < 0, None)),
            **_columns("probability", self.probability),
            **_columns("probability_departed", self._if_departed),
            **_columns("shannon", self.shannon),
            **_columns(
                "shannon_all", self.shannon if self.shannon_all is None else self.shannon_all
            ),
        }
        if self.present is not None:
            columns |= _columns("shannon_departed", self.shannon_if_present)
        for name, sure in (("departed", 1.0), ("lost", 0.0), ("inside", 0.0)):
            part = getattr(self, name)
            if self.present is not None:
                part = {"departed": self.present, "lost": 1.0 - self.present}.get(name)
            if part is None:  # nothing else can be; or lost and inside are not told apart
                part = np.full(number, sure if self.departed is None else np.nan)
            columns[name] = pl.Series(part).fill_nan(None)
        for name in ("effective", "min_entropy", "renyi2"):
            columns |= _columns(name, getattr(self, name))
        unknown = np.full(number, np.nan)
        guesses = Range(unknown, unknown, unknown) if self.guesses is None else self.guesses
        columns |= _columns("guesses", guesses)
        columns["degree"] = pl.Series(self.degree)
        columns["allowed"] = pl.Series(self.allowed)
        columns["edge"] = pl.Series(np.zeros(number, bool) if self.edge is None else self.edge)
        columns["censored"] = pl.Series(self.censored)
        return Frame(columns)

    def below(self, threshold: float) -> Interval:
        """Share of the counted users whose effective set size is below a threshold.

        Examples
        --------
        >>> import anonymatch as am
        >>> am.metrics(am.partition([2, 3])).user_figures.below(3)
        Interval(value=0.4, low=0.4, high=0.4)
        """
        sizes = self.effective.at(self.counted)
        if not len(sizes.value):
            return Interval(0.0, 0.0, 0.0)
        least = threshold * (1 - _REACHED)
        surely, possibly = sizes.high < least, sizes.low < least
        known = ~np.isnan(sizes.value)
        middle = np.where(known, sizes.value < least, (surely * 1.0 + possibly) / 2)
        if self.weights is not None:
            share = drawn_mean(middle * 1.0, self.weights[self.counted], shares=True)
            return share.clipped(0.0, 1.0)
        return Interval(float(middle.mean()), float(surely.mean()), float(possibly.mean()))


def drawn_mean(values: Floats, weights: Floats, *, shares: bool = False) -> Interval:
    """The mean of figures of users who were drawn, by their weights, as an interval of 99 %.

    Those of weight 1 were taken on purpose, and leave no doubt. ``shares``: figures are 0 or 1, and
    what none of n has, 5 in n may have nevertheless.

    Examples
    --------
    >>> drawn_mean(np.array([3.0, 1.0, 1.0]), np.array([1.0, 2.0, 2.0])).value
    1.4
    """
    total = float(weights.sum())
    value = float(weights @ values) / total
    drawn = weights > 1.0
    number, stands = int(drawn.sum()), float(weights[drawn].sum())
    if not number:
        return Interval(value, value, value)
    spread = float(values[drawn].var(ddof=1)) if number > 1 else math.inf
    if shares:
        spread = max(spread, 4.0 / number)
    unseen = 1.0 - number / stands
    slack = _DRAWN * stands / total * math.sqrt(spread * unseen / number)
    return Interval(value, value - slack, value + slack)


def user_figures(
    graph: Graph,
    probabilities: Floats,
    error: float | Floats,
    *,
    alike: int = 0,
    entropy_errors: Floats | None = None,
) -> UserFigures:
    """Figures of all users from the probabilities of all edges.

    Parameters
    ----------
    graph : Graph
        With a perfect matching.
    probabilities : array
        One an edge, in the graph's order; NaN for all edges of a user if they are not known.
    error : float or array
        Bound on the error of each: one for all, or one an edge.
    alike : int
        So many of the last behaviours are places for lost messages, which nobody tells apart. All
        figures but `probability` and `shannon_all` are then given that a message departed.
    entropy_errors : array, optional
        Standard errors of the users' Shannon entropies in bits, to first order, where ``error`` is
        twice the standard error of each edge; NaN where they are not known.

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
        if len(self.columns) < _WIDE * len(new):
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
    >>> _borders(np.array([0, _EDGES, _EDGES + 1, 2 * _EDGES]))
    [0, 1, 3]
    """
    borders, n_users = [0], len(indptr) - 1
    while borders[-1] < n_users:
        begin = borders[-1]
        most = np.searchsorted(indptr, int(indptr[begin]) + _EDGES, side="right") - 1
        borders.append(min(max(int(most), begin + 1), begin + _TOGETHER, n_users))
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
            for some in np.array_split(alike, len(alike) * width // _CELLS + 1):
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
        ties = np.flatnonzero(self.probabilities >= best[self.rows] * (1 - _TIE))
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


def entropy_terms(probabilities: Floats) -> Floats:
    """-p log2 p of each, and 0 for 0: what outcomes add to an entropy, in bits."""
    terms: Floats = -probabilities * np.log2(np.where(probabilities > 0, probabilities, 1.0))
    return terms


def _columns(name: str, figures: Range) -> dict[str, pl.Series]:
    """The value and its ends; null where it is not known."""
    import polars as pl

    return {
        f"{name}{end}": pl.Series(part).fill_nan(None)
        for end, part in zip(("", "_low", "_high"), figures.parts, strict=True)
    }


def name_column(names: Sequence[Hashable]) -> pl.Series:
    """Names as a column: whole numbers if all are, else text."""
    import polars as pl

    if isinstance(names, range):
        return pl.Series(np.arange(len(names)))
    if all(type(name) is int for name in names):
        try:
            return pl.Series(names, dtype=pl.Int64)
        except (OverflowError, TypeError):
            pass
    # A name with half a surrogate pair is no text for polars; it is shown escaped.
    texts = [str(name).encode(errors="backslashreplace").decode() for name in names]
    return pl.Series(texts, dtype=pl.String)
