"""Messages in and out of a wide log, and all weights that explanations are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.mixes.solvers.wide.wide_band import one_peak

_LN2 = math.log(2.0)
_HOPELESS = 1e3  # budgets beyond which no plan can be wrong
_STATE_SECONDS = 2e-9  # of a state in an exact programme, for a look ahead


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinkBand:
    """Messages in (rows), the runs of messages out (columns) that they may be, and all weights.

    Attributes
    ----------
    first, last : array of int
        Row ``i`` may be columns ``first[i]`` to ``last[i] - 1``; both never fall.
    weights : array or None
        Of all rows, one after another; None if all are 1.
    columns : int
    unpaired : array
        Weight of each row to be no column; 0 where it must be one.
    cover : float
        Weight of a column to be nobody's; 0 if all are somebody's.
    pairs : int or None
        How many rows have a column, if that is told.
    staying : array or None
        The part of ``unpaired`` that is the weight to be still inside; the rest is to be lost.
    lost : int or None
        How many rows are lost, if that is told.
    """

    first: Ints
    last: Ints
    weights: Floats | None
    columns: int
    unpaired: Floats
    cover: float
    pairs: int | None = None
    staying: Floats | None = None
    lost: int | None = None

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
        return states + math.log(_STATE_SECONDS) > math.log(_HOPELESS * max(seconds, 1e-3))

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
