"""Figures of each user: how unsure an attacker is about what this user did."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures.tuning import MEASURES

if TYPE_CHECKING:
    import polars as pl


LOST = -2
"""In place of a behaviour's index: the message never came out."""


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

    Where a log leaves open what became of a message, `shannon` and what follows from it are given
    that the message departed. In a released table with fewer rows than people, all figures include
    that a person may be absent, which is one more outcome of entropies and guesses.
    """

    users: Sequence[Hashable]  # names
    behaviours: Sequence[Hashable]
    degree: Ints  # candidate set: behaviours that the user may have done, taken alone
    allowed: Ints  # those that some perfect matching gives the user
    shannon: Range  # entropies of the user's posterior
    renyi2: Range
    min_entropy: Range
    effective: Range  # effective set size: 2 to the Shannon entropy
    probability: Range  # that the best guess is right; `surest` is given that it departed
    guess: Ints  # index of the best guess; -1: not known, `LOST`: nothing that came out can be it
    departed: Floats | None = None  # probabilities of what became of each message, if open
    lost: Floats | None = None
    inside: Floats | None = None
    shannon_all: Range | None = None  # entropy over departures, lost and inside, if open
    edge: Bools | None = None  # messages so near to an end of the log that figures say little
    # Guessing entropy: guesses on average, the likeliest first, until the right one is named. NaN,
    # ends too, where only some were computed.
    guesses: Range | None = None
    mean_shannon: Interval | None = None  # over counted users, where known more closely than each
    mean_min_entropy: Interval | None = None
    given_departed: Range | None = None  # `surest`, if known better than as a quotient of estimates
    present: Floats | None = None  # probability to be in the release; 1.0 only if that is certain
    # For how many users each stands, where not all were looked at: 1 for those that were taken on
    # purpose, more for those that were drawn.
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
        """Return a table with one row per user; null if only the interval is known, or nothing."""
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
        least = threshold * (1 - MEASURES.reached)
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
    slack = MEASURES.errors * stands / total * math.sqrt(spread * unseen / number)
    return Interval(value, value - slack, value + slack)


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
