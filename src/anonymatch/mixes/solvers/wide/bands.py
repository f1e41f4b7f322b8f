"""Wide logs as bands: each message fits a run of departures, and both ends of runs never go back.

`WideBand` is for logs in which all that came in left; `LinkBand` has losses and cover.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.mixes.solvers.wide.tuning import WIDE
from anonymatch.running import Execution

_LN2 = math.log(2.0)


def one_peak(weights: Floats, lengths: npt.NDArray[np.int32]) -> bool:
    """Whether nearly all rows rise and then fall: swaps do not get across deep valleys.

    Examples
    --------
    >>> lengths = np.array([4, 3], dtype=np.int32)
    >>> one_peak(np.array([1.0, 3, 2, 1, 1, 2, 3]), lengths)
    True
    >>> one_peak(np.array([1.0, 3, 0.1, 2, 3, 0.1, 2]), lengths)
    False
    """
    starts = np.concatenate(([0], np.cumsum(lengths)))
    some = range(0, len(lengths), max(1, len(lengths) // WIDE.band_peaks))
    logs = np.log(np.concatenate([weights[starts[k] : starts[k + 1]] for k in some]))
    lengths = lengths[list(some)]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    # The largest so far in each row: rows are put one above another.
    step = float(np.ptp(logs)) + 1.0
    before = np.maximum.accumulate(logs + step * rows) - step * rows
    behind = np.maximum.accumulate((logs - step * rows)[::-1])[::-1] + step * rows
    deep = np.minimum(before, behind) - logs > WIDE.band_valley
    return float(np.unique(rows[deep]).size) <= WIDE.few_rows * len(lengths)


def shares_at(
    first: npt.NDArray[np.integer],
    last: npt.NDArray[np.integer],
    weights: Floats | None,
    scaling: tuple[Floats, Floats] | None,
    asked: Ints,
) -> Floats:
    """Return each row's share of the column that is asked for; 0 if the row cannot have it.

    ``scaling`` has the factors of rows and of columns that make shares out of weights; None if
    weights are shares.

    Examples
    --------
    >>> first, last = np.array([0, 0]), np.array([2, 2])
    >>> shares_at(first, last, None, (np.full(2, 0.5), np.ones(2)), np.array([1, -1])).tolist()
    [0.5, 0.0]
    """
    there = np.flatnonzero((asked >= first) & (asked < last))
    columns = asked[there]
    shares = np.zeros(len(first))
    shares[there] = 1.0 if scaling is None else scaling[0][there] * scaling[1][columns]
    if weights is not None:
        starts = np.concatenate(([0], np.cumsum(last - first, dtype=np.int64)))[:-1]
        shares[there] *= weights[starts[there] + columns - first[there]]
    return np.minimum(shares, 1.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WideBand:
    """A square band around the diagonal, without what is in no perfect matching."""

    # Row ``i`` is positive in columns ``first[i]`` to ``last[i] - 1``.
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    weights: Floats | None  # of all rows, one after another
    alike: int  # so many of the last columns are places for messages that did not come out

    @classmethod
    def of(cls, graph: Graph, alike: int = 0) -> WideBand | None:
        """That of a graph with a perfect matching; None if it is no such band.

        Examples
        --------
        >>> band = WideBand.of(Graph.from_rows(["1100", "1110", "0111", "0011"]))
        >>> band.first.tolist(), band.last.tolist()
        ([0, 0, 1, 2], [2, 3, 4, 4])
        >>> WideBand.of(Graph.from_rows(["011", "101", "110"])) is None
        True
        """
        size = graph.n_users
        if size < 2 or graph.n_behaviours != size or (graph.degrees == 0).any():
            return None
        first = graph.indices[graph.indptr[:-1]]
        last = graph.indices[graph.indptr[1:] - 1] + 1
        rows = np.arange(size, dtype=np.int32)
        runs = bool((last - first == graph.degrees).all())
        rising = bool((np.diff(first) >= 0).all() and (np.diff(last) >= 0).all())
        if not (runs and rising and (first <= rows).all() and (rows < last).all()):
            return None
        # A block ends where nothing goes on, or nothing comes back.
        ends = ~((last[:-1] - 1 > rows[:-1]) & (first[1:] <= rows[:-1]))
        begins = np.concatenate(([0], np.flatnonzero(ends) + 1))
        block = np.concatenate(([0], np.cumsum(ends)))
        low = np.maximum(first, begins[block]).astype(np.int32)
        high = np.minimum(last, np.append(begins[1:], size)[block]).astype(np.int32)
        weights = None
        if graph.weights is not None:
            weights = np.asarray(graph.weights, dtype=np.float64)
            if int((high - low).sum()) < len(weights):
                inside = (graph.indices >= np.repeat(low, graph.degrees)) & (
                    graph.indices < np.repeat(high, graph.degrees)
                )
                weights = weights[inside]
            if not one_peak(weights, high - low):
                return None
        return cls(first=low, last=high, weights=weights, alike=alike)

    @property
    def rows(self) -> int:
        return len(self.first)

    @property
    def entries(self) -> int:
        return int((self.last - self.first).sum())

    def states(self) -> float:
        """Natural log of about how many states an exact programme has, all rows together.

        Of the columns that earlier and later rows share, those that the earlier ones must have are
        any; columns, or rows, that are alike are not told apart. One pass over the rows.
        """
        from scipy.special import gammaln, logsumexp

        size = self.rows
        shared = (self.last[:-1] - self.first[1:]).astype(np.float64)
        taken = np.arange(1, size) - self.first[1:].astype(np.float64)
        some = (shared > 0) & (taken > 0) & (taken < shared)
        shared, taken = np.where(some, shared, 0.0), np.where(some, taken, 0.0)
        any_of = gammaln(shared + 1) - gammaln(taken + 1) - gammaln(shared - taken + 1)
        return float(logsumexp(np.minimum(any_of, self._twins())))

    def _twins(self) -> Floats:
        """The same where columns that all rows treat alike are one class: only numbers count."""
        size = self.rows
        if self.weights is not None:
            return np.full(size - 1, math.inf)
        # Columns are alike unless a row begins or ends between them.
        cut = np.zeros(size + 1, dtype=np.bool_)
        cut[self.first] = True
        cut[self.last] = True
        cut[0] = cut[size] = True
        edges = np.flatnonzero(cut)
        logs = np.concatenate(([0.0], np.cumsum(np.log1p(np.diff(edges)))))
        begin = np.searchsorted(edges, self.first[1:], side="left")
        end = np.searchsorted(edges, self.last[:-1], side="right") - 1
        return np.asarray(np.maximum(logs[np.maximum(end, begin)] - logs[begin], 0.0))

    def hopeless(self, seconds: float) -> bool:
        """Whether exact work would take far longer than this, as one look shows."""
        return self.states() + math.log(WIDE.state_seconds) > math.log(
            WIDE.band_hopeless * max(seconds, 1e-3)
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkBand:
    """Messages in (rows), the runs of messages out (columns) that they may be, and all weights."""

    # Row ``i`` may be columns ``first[i]`` to ``last[i] - 1``; both never fall.
    first: Ints
    last: Ints
    weights: Floats | None  # of all rows, one after another; None if all are 1
    columns: int
    unpaired: Floats  # weight of each row to be no column; 0 where it must be one
    cover: float  # weight of a column to be nobody's; 0 if all are somebody's
    pairs: int | None = None  # how many rows have a column, if that is told
    # The part of ``unpaired`` that is the weight to be still inside; the rest is to be lost.
    staying: Floats | None = None
    lost: int | None = None  # how many rows are lost, if that is told

    @classmethod
    def of(cls, graph: Graph, lost: int) -> LinkBand | None:
        """That of a graph of a log; None if messages in are not runs of messages out.

        The last ``lost`` behaviours are places for messages that did not come out, all alike.
        Behaviours that are left, if any, are nobody's, each as likely as another.

        Examples
        --------
        >>> graph = Graph.from_rows(["1100", "1110", "0110"])
        >>> band = LinkBand.of(graph, 1)
        >>> band.last.tolist(), band.columns, band.cover, band.pairs
        ([2, 3, 3], 3, 1.0, 2)
        """
        columns = graph.n_behaviours - lost
        size = graph.n_users
        if not size or not columns:
            return None
        rows = np.repeat(np.arange(size), graph.degrees)
        among = graph.indices < columns
        lengths = np.bincount(rows[among], minlength=size)
        places = graph.degrees - lengths
        if not np.isin(places, (0, lost)).all():
            return None
        starts = graph.indptr[:-1]
        some = lengths > 0
        last = np.where(some, graph.indices[np.maximum(starts + lengths - 1, 0)] + 1, 0)
        # A row without a run lies after those of the rows before it.
        last = np.where(some, last, np.maximum.accumulate(last)).astype(np.int64)
        begins = graph.indices[np.minimum(starts, len(graph.indices) - 1)]
        first = np.where(some, begins, last).astype(np.int64)
        if (last - first != lengths).any() or (np.diff(last) < 0).any():
            return None
        if (np.diff(first) < 0).any():
            return None
        weights, unpaired = None, (places > 0).astype(np.float64)
        if graph.weights is not None:
            every = np.asarray(graph.weights, dtype=np.float64)
            weights = every[among]
            at = np.flatnonzero(places)
            unpaired[at] = every[graph.indptr[1:][at] - 1]
            if not one_peak(weights, lengths.astype(np.int32)):
                return None
        return cls(
            first=first,
            last=last,
            weights=weights,
            columns=columns,
            unpaired=unpaired,
            cover=float(columns > size - lost),
            pairs=size - lost,
        )

    def hopeless(self, seconds: float) -> bool:
        """Whether exact work would take far longer than this, as one look at the runs shows.

        About half of the columns that earlier and later rows share may be taken, any of them.
        """
        shared = np.maximum(self.last[:-1] - self.first[1:], 0)
        if not len(shared):
            return False
        logs = np.maximum(_LN2 * shared - 0.5 * np.log(2.0 * shared + 1.0), 0.0)
        top = float(logs.max())
        states = top + math.log(float(np.exp(logs - top).sum()))
        return states + math.log(WIDE.state_seconds) > math.log(
            WIDE.band_hopeless * max(seconds, 1e-3)
        )

    @property
    def rows(self) -> int:
        return len(self.first)

    @property
    def entries(self) -> int:
        return int((self.last - self.first).sum())

    @property
    def counted(self) -> int | None:
        """The number of pairs, where weights alone do not make it what is told."""
        free = self.cover > 0.0 and bool((self.unpaired > 0.0).any())
        return self.pairs if free else None

    @property
    def told(self) -> tuple[str, ...]:
        """What is counted: "alone" (rows without a column), or apart "lost" and "inside"."""
        if self.lost is None:
            return () if self.counted is None else ("alone",)
        return ("lost",) if self.counted is None else ("lost", "inside")

    @property
    def goals(self) -> Floats:
        """The numbers of what is `told`."""
        alone = self.rows - (self.pairs or 0)
        numbers = {"alone": alone, "lost": self.lost or 0, "inside": alone - (self.lost or 0)}
        return np.array([numbers[name] for name in self.told], dtype=np.float64)

    def tilted(self, tilts: Floats) -> tuple[Floats, Floats]:
        """Weights to have no column times exponentials of tilts of what is `told`; shares lost."""
        by = dict(zip(self.told, np.exp(tilts).tolist(), strict=True))
        staying = np.zeros(self.rows) if self.staying is None else self.staying
        lost = (self.unpaired - staying) * by.get("alone", by.get("lost", 1.0))
        inside = staying * by.get("alone", by.get("inside", 1.0))
        unpaired = lost + inside
        return unpaired, np.divide(lost, unpaired, out=np.ones(self.rows), where=unpaired > 0.0)


def unexplained_links() -> InputError:
    """What to say of a log without an explanation."""
    return InputError(
        "nothing explains the log: some message in can be no message out, or some message out is "
        "nobody's"
    )


class CorrectedEntropy(NamedTuple):
    """Entropies of rows, how far they may be off, and the most that they may be."""

    shannon: Floats
    slack: Floats
    most: Floats


def corrected_entropy(
    shannon: Floats,
    collision: Floats,
    degrees: Ints,
    mean: Callable[[Floats], float],
    *,
    own: float,
    half: float,
    divergence: float,
) -> CorrectedEntropy:
    """Entropies of the scaling's shares, shifted so that their mean is the one of the chain.

    ``own`` and ``half``: that mean, and half of its interval.
    """
    narrow = np.exp2(-shannon)  # posteriors of messages with few candidates are off by more
    offset = max(mean(shannon) - own, 0.0)
    scale = offset / max(mean(narrow), 1e-300)
    shift = np.minimum(scale * narrow, shannon / 2)
    most = np.log2(np.maximum(degrees, 1))
    # To first order an entropy is off by the root mean square of relative errors times that of the
    # logs of shares, which is about the gap between Shannon's and Rényi's entropy.
    renyi = np.minimum(0.0 - np.log2(np.clip(collision, 1e-300, 1.0)), most)
    uneven = np.sqrt(np.maximum(shannon - renyi, 0.0) * 2.0 / _LN2)
    relative = math.sqrt(2.0 * _LN2 * divergence)
    slack = shift + half + 3.0 * divergence + 2.0 * relative * uneven
    slack = np.where(degrees <= 1, 0.0, slack)
    return CorrectedEntropy(np.clip(shannon - shift, 0.0, most), slack, most)


class ChainWork:
    """Work on a chain, in calls short enough to be cancelled."""

    effort: Execution

    def done(self, seconds: float) -> None:
        self.effort.stop.check()
        self.effort.advance(seconds)

    def calls(self, number: int, each: float) -> Iterator[tuple[int, int]]:
        """Parts of a number of things that take ``each`` seconds, each part a tenth of a second."""
        together = in_one_call(each)
        for begin in range(0, number, together):
            end = min(begin + together, number)
            yield begin, end
            self.done(each * (end - begin))


def in_one_call(each: float) -> int:
    """How many things that take so many seconds are done in one call of a kernel."""
    return max(1, round(0.1 / each))
