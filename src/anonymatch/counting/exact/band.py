"""Bands: users by time whose behaviours are intervals with rising ends, as in the log of a mix.

All sets of used behaviours of a window and of one size lie in one array, so a step adds whole
stretches; the general programme for narrow blocks (frontier.py) has to look for what joins what.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block, first_look, look_pays
from anonymatch.counting.blocks.solution import Context, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.exact import frontier
from anonymatch.counting.integers import LN2
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, check_work


def offer(block: Block, context: Context, best: float = math.inf) -> Option | None:
    """Along the band, in one run or in stretches; counts also over doubles."""
    memory = context.budget.memory
    ordering = find_band(block, memory, context.budget.seconds)
    if ordering is None:
        return None
    long = LongBand(ordering, memory, context.effort)
    solve = partial(
        banded, ordering, block, memory=memory, otherwise=partial(_otherwise, block, context)
    )

    def option(
        seconds: float, needed: float, run: partial[Any], *, rounded: bool = False
    ) -> Option:
        take = partial(solve, runs=ordering, rounded=rounded)
        return Option(
            method="band in doubles" if rounded else "band",
            why=f"intervals by time, at most {several(ordering.width, 'open behaviour')} at once",
            seconds=seconds,
            memory=needed,
            solve=partial(take, None),
            run=run,
            take=take,
        )

    def cut(whole: Option, cost: StretchCost | None, *, rounded: bool = False) -> Option:
        if cost is None:
            return whole
        return replace(
            whole,
            why=f"{whole.why}, in stretches",
            seconds=cost.seconds,
            memory=cost.memory,
            longest=cost.longest,
            solve=partial(solve, None, runs=long, rounded=rounded),
            run=None,
            take=None,
        )

    if context.edges:
        probabilities = partial(BandOrdering.probabilities, ordering, memory)
        return cut(
            option(ordering.edges_seconds, ordering.edges_memory, probabilities),
            long.price_of_probabilities(),
        )
    real = partial(BandOrdering.real, ordering)
    doubles = option(ordering.seconds, ordering.memory, real, rounded=block.exact)
    doubles = cut(doubles, long.price_of_real(), rounded=block.exact)
    if not block.exact:
        return doubles
    exact = option(
        ordering.words_seconds, ordering.words_memory, partial(BandOrdering.count, ordering)
    )
    return replace(cut(exact, long.price_of_count()), rounded=doubles)


def _otherwise(block: Block, context: Context) -> Solution:
    """A band by the general programme."""
    option = frontier.offer(block, context, math.inf)
    assert option is not None  # it serves wider windows than bands may have
    return option.solve()


def banded(
    ordering: BandOrdering,
    block: Block,
    chunk: Sequence[Any] | None,
    *,
    runs: BandOrdering | LongBand,
    memory: float,
    otherwise: Callable[[], Solution],
    rounded: bool = False,
) -> Solution:
    """The solution along ``ordering``, with what a ``chunk`` gave already; the rest when asked for.

    ``otherwise`` serves minors, and weights that spread too far for one scale a layer; with
    ``rounded`` also a count without weights is a double.
    """
    otherwise = cache(otherwise)
    result = None if chunk is None else BandResult(*chunk)

    def total() -> int:
        counted = result if result is not None and result.total is not None else runs.count()
        assert counted.total is not None
        return counted.total

    def real() -> tuple[float, float]:
        known = result if result is not None and result.total is None else runs.real()
        if known is None:
            return otherwise().log_and_error
        return known.log, ordering.log_error + 2.0**-51 * abs(known.log)

    def posteriors() -> Probabilities:
        known = result
        if known is None or known.probabilities is None:
            known = runs.probabilities(memory)
        if known is None or known.probabilities is None:
            return otherwise().posteriors
        return known.probabilities, ordering.probability_error

    if block.exact and not rounded:
        return Solution(
            block,
            total=total,
            minors=lambda: otherwise().minors,
            posteriors=posteriors,
            rough=real,
        )
    return Solution(block, real=real, posteriors=posteriors)


Ints = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]


class BandResult(NamedTuple):
    """What a run found: the count (whole, or a log), and probabilities by row of the band."""

    total: int | None
    log: float
    probabilities: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class BandOrdering:
    """A block as a band, and its price; plain values, so that it can run in another process."""

    starts: Ints
    stops: Ints
    order: Ints64 | None  # the edges of the block by row of the band; None: as is
    weights: Floats | None
    width: int
    seconds: float  # of the count over doubles
    words_seconds: float  # of the exact count
    edges_seconds: float  # of all probabilities
    memory: float
    words_memory: float
    edges_memory: float  # with as many layers kept as the memory allows
    retained: float  # bytes of layers that all probabilities keep at least
    roundings: float

    @property
    def log_error(self) -> float:
        """Proven error of the log of a count over doubles (cpp/kernels/band/band.hpp).

        With the roundings of a sum over a layer, where two passes meet.
        """
        return 1.02 * (self.roundings + 5200) * 2.0**-53

    @property
    def probability_error(self) -> float:
        return 2.1 * (self.roundings + 5200) * 2.0**-53

    def count(self) -> BandResult:
        """The exact count."""
        job = self.run(_native.BandTask.count_words, None, tuning().band_digit)
        words = job.count_words().astype("<u8")
        return BandResult(int.from_bytes(words.tobytes(), "little"), math.nan, None)

    def real(self) -> BandResult | None:
        """The log of the count over doubles; None where weights spread too far."""
        job = self.run(_native.BandTask.count_real, self.weights, tuning().band_real)
        return None if job.failed else BandResult(None, _log(job), None)

    def probabilities(self, memory: float) -> BandResult | None:
        """All probabilities, in the order of the block's edges, and the log of the count."""
        retained = layers_limit(self.retained, memory)
        each = tuning().band_probabilities
        job = self.run(_native.BandTask.edges, self.weights, each, memory=retained)
        return None if job.failed else BandResult(None, _log(job), self.by_edge(job.posteriors()))

    def by_edge(self, by_row: Floats) -> Floats:
        """Values of the edges by row of the band, in the order of the block's edges."""
        if self.order is None:
            return by_row
        values = np.empty_like(by_row)
        values[self.order] = by_row
        return values

    def run(
        self, task: _native.BandTask, weights: Floats | None, each: float, **limits: Any
    ) -> _native.Band:
        """Run a job whose unit of work takes so many seconds, unless the work is cancelled."""
        job = _native.band_job(self.starts, self.stops, weights, task, **limits)
        while not job.run(CHUNK_SECONDS / each):
            check_work()
        return job


def layers_limit(least: float, memory: float) -> float:
    """The limit of kept layers for all probabilities, in so much memory."""
    return max(least, min(memory / 2, tuning().band_layers))


def find_band(
    block: Block, memory: float = math.inf, seconds: float = math.inf
) -> BandOrdering | None:
    """The block as a band, if users and behaviours can be put in order so that it is one.

    Linear in edges when behaviours are in order already; else a search finds a first order.
    ``memory``: bytes that may be used; all probabilities keep more layers where there are more.
    ``seconds``: of the whole work; no order is searched where that alone would take much of it.
    """
    if block.exact and block.weights is not None:
        return None
    users, behaviours = np.repeat(np.arange(block.n_users), np.diff(block.indptr)), block.indices
    ends = _ends(users, behaviours, block.n_users)
    position: Ints64 = behaviours.astype(np.int64)
    if (ends[1] - ends[0] != np.diff(block.indptr)).any():
        ordered = _positions_by_time(block, users) if look_pays(block, seconds) else None
        if ordered is None:
            return None
        position = ordered
        ends = _ends(users, position, block.n_users)
    rows = np.lexsort(ends[::-1])
    starts, stops = ends[0][rows].astype(np.int32), ends[1][rows].astype(np.int32)
    if (np.diff(stops) < 0).any() or (starts[1:] > stops[:-1]).any():
        return None
    plan = _native.plan_band(starts, stops)
    if not plan.feasible:
        return None
    rank = np.empty(block.n_users, np.int64)
    rank[rows] = np.arange(block.n_users)
    order = np.lexsort((position, rank[users]))
    straight = bool((np.diff(order) == 1).all())
    return BandOrdering(
        starts=starts,
        stops=stops,
        order=None if straight else order,
        weights=block.weights if straight or block.weights is None else block.weights[order],
        width=plan.width,
        seconds=tuning().band_real * plan.work,
        words_seconds=tuning().band_digit * plan.words_work,
        edges_seconds=tuning().band_probabilities * plan.work,
        memory=plan.real_bytes,
        words_memory=plan.words_bytes,
        edges_memory=plan.edge_bytes(byte_limit=layers_limit(plan.kept_bytes(), memory)),
        retained=plan.kept_bytes(),
        roundings=plan.roundings,
    )


def _positions_by_time(block: Block, users: Ints64) -> Ints64 | None:
    """For every edge the place of its behaviour in an order that makes the block a band, or None.

    From a first order of the users, either side is sorted by the ends of its neighbours in turn;
    in a band, right neighbours are soon right everywhere.
    """
    plan = first_look(block)
    if plan.width > tuning().band_reordered:
        return None
    at = np.empty(block.n_users, np.int64)
    at[plan.order] = np.arange(block.n_users)
    degrees = np.diff(block.indptr)
    for _ in range(LIMITS.band_rounds):
        spans = _ends(block.indices, at[users], block.n_behaviours)
        behaviours = np.empty(block.n_behaviours, np.int64)
        behaviours[np.lexsort((spans[0], spans[0] + spans[1]))] = np.arange(block.n_behaviours)
        ends = _ends(users, behaviours[block.indices], block.n_users)
        if (ends[1] - ends[0] == degrees).all():
            return behaviours[block.indices]
        at[np.lexsort((ends[0], ends[0] + ends[1]))] = np.arange(block.n_users)
    return None


def _ends(labels: npt.NDArray[Any], values: npt.NDArray[Any], n: int) -> tuple[Ints64, Ints64]:
    """The least value of every label, and one beyond its largest."""
    first = np.full(n, np.iinfo(np.int64).max)
    last = np.full(n, -1)
    np.minimum.at(first, labels, values)
    np.maximum.at(last, labels, values)
    return first, last + 1


def _log(job: _native.Band) -> float:
    mantissa, exponent = job.count_real()
    return math.log(mantissa) + exponent * LN2 if mantissa else -math.inf


Words = npt.NDArray[np.uint64]


class StretchCost(NamedTuple):
    """Of a task in stretches: seconds in all, of chunks that wait for each other, and bytes."""

    seconds: float
    longest: float
    memory: float


class _BandRows(NamedTuple):
    """What decides where to cut."""

    plan: _native.BandPlan
    seconds: Floats  # of every row, over doubles
    states: Floats  # of the layers before each row and after the last
    bits: Floats  # at most, of counts up to these layers


class _BandStretch(NamedTuple):
    first: int
    last: int
    seconds: float  # of a pass


class _Layer(NamedTuple):
    """Values of the states of a layer, times 2^exponent; or their digits, an array a digit."""

    values: Any
    exponent: int = 0


class _Passes(NamedTuple):
    """Stretches from the first row on, and others from the last row back."""

    before: list[_BandStretch]
    after: list[_BandStretch]

    def seconds(self) -> list[list[float]]:
        """Of every round: a stretch from each side, as long as there are any."""
        rounds = zip_longest(self.before, self.after)
        return [[one.seconds for one in both if one is not None] for both in rounds]


class LongBand:
    """A band whose stretches run as chunks; answers as :class:`BandOrdering` gives them.

    A pass along the rows needs the layer before it, so two are under way at a time, one from each
    end. Where they meet they give the count. If both go on, every border between two stretches has
    the ways before and the ways after it, and the probabilities of each stretch need nothing but
    these two layers.
    """

    def __init__(self, plan: BandOrdering, memory: float, effort: Execution) -> None:
        self._plan, self._memory, self._effort = plan, memory, effort
        recipe = (getattr(plan, field.name) for field in fields(plan))
        self._shared = Shared(BandOrdering, *recipe, value=plan)
        self._edges_share = plan.edges_seconds / plan.seconds

    @cached_property
    def _rows(self) -> _BandRows:
        plan = _native.plan_band(self._plan.starts, self._plan.stops)
        bits = np.concatenate(([0.0], np.cumsum(plan.row_bits())))
        return _BandRows(plan, tuning().band_real * plan.row_work(), plan.layer_states(), bits)

    # ---- prices: None where one run is better

    def price_of_count(self) -> StretchCost | None:
        """Of the exact count."""
        plan = self._plan
        if plan.words_seconds < tuning().band_counts_from:
            return None
        return self._price(self._over_digits(), 7 * plan.words_memory)

    def price_of_real(self) -> StretchCost | None:
        """Of the count over doubles."""
        plan = self._plan
        if plan.seconds < tuning().band_counts_from:
            return None
        return self._price(self._over_doubles(), 3 * plan.memory)

    def price_of_probabilities(self) -> StretchCost | None:
        """Of all probabilities: passes over the rows from both ends come on top of one run."""
        plan = self._plan
        if plan.edges_seconds < tuning().band_probabilities_from:
            return None
        stretches = self._stretches()
        layers = 16.0 * float(sum(self._rows.states[one.last] for one in stretches))
        number = len(stretches)
        abreast, retained = self._retained(number)
        each = self._rows.plan.edge_bytes(number, retained)
        memory = max(3 * plan.memory, abreast * each) + layers
        passes = self._price(_between(stretches), memory)
        if passes is None:
            return None
        last = self._edges_share * max(one.seconds for one in stretches)
        return StretchCost(passes.seconds + plan.edges_seconds, passes.longest + last, memory)

    def _price(self, passes: _Passes, memory: float) -> StretchCost | None:
        """Of passes on both sides, each with its own layers and the one that travels."""
        rounds = passes.seconds()
        if sum(map(len, rounds)) < 2 or memory > self._memory:
            return None
        return StretchCost(sum(map(sum, rounds)), sum(map(max, rounds)), memory)

    # ---- answers

    def count(self) -> BandResult:
        """The exact count."""
        layers = self._layers(self._over_digits(), _digits, np.ones(1, np.uint64))
        assert layers is not None  # digits grow as they must
        before, after = (side[-1].values for side in layers)
        states = int(self._rows.states[self._rows.plan.meeting])
        total = _native.meet_words(before, after, states, self._rows.plan.digit_bits)
        return BandResult(total, math.nan, None)

    def real(self) -> BandResult | None:
        """The log of the count over doubles; None where weights spread too far."""
        layers = self._layers(self._over_doubles(), _doubles, np.ones(1))
        return (
            None
            if layers is None
            else BandResult(None, _log_met(layers[0][-1], layers[1][-1]), None)
        )

    def probabilities(self, memory: float) -> BandResult | None:
        """All probabilities, in the order of the block's edges, and the log of the count."""
        stretches = self._stretches()
        layers = self._layers(_between(stretches), _doubles, np.ones(1), all_of_them=True)
        if layers is None:
            return None
        before, after = layers[0], layers[1][::-1]
        number = len(stretches)
        abreast, retained = self._retained(number)
        results = self._effort.chunks(
            (
                partial(
                    _probabilities, self._shared, one.first, one.last, retained, a.values, b.values
                )
                for one, a, b in zip(stretches, before, after, strict=True)
            ),
            each=[self._edges_share * one.seconds for one in stretches],
            number=number,
            abreast=abreast,
        )
        parts = [part for part in results if part is not None]
        if len(parts) < number:
            return None
        probabilities = self._plan.by_edge(np.concatenate(parts))
        return BandResult(None, _log_met(before[1], after[0]), probabilities)

    def _retained(self, number: int) -> tuple[int, float]:
        """Of so many stretches, those under way on one machine at once, and bytes each keeps."""
        plan = self._rows.plan
        share = self._memory / 2 / plan.edge_bytes(number)
        abreast = int(min(tuning().band_abreast, max(1.0, share)))
        return abreast, layers_limit(plan.kept_bytes(number), self._memory / abreast)

    def _layers(
        self, passes: _Passes, call: Callable[..., Any], start: Any, *, all_of_them: bool = False
    ) -> tuple[list[_Layer], list[_Layer]] | None:
        """The layers at the borders from either end on, or the last; None if values spread far."""
        layers = [_Layer(start)], [_Layer(start)]

        def calls(number: int) -> list[partial[Any]]:
            return [
                partial(call, self._shared, back, one.first, one.last, side[-1].values)
                for back, side, stretches in zip((False, True), layers, passes, strict=True)
                for one in stretches[number : number + 1]
            ]

        for number, results in enumerate(self._effort.rounds(calls, each=passes.seconds())):
            under_way = [
                side
                for side, stretches in zip(layers, passes, strict=True)
                if number < len(stretches)
            ]
            for side, result in zip(under_way, results, strict=True):
                if result is None:
                    return None
                values, shift = result
                side.append(_Layer(values, side[-1].exponent + shift))
                if not all_of_them:
                    del side[0]
        return layers

    # ---- where to cut

    def _stretches(self) -> list[_BandStretch]:
        return _cut(self._rows.seconds, 8.0 * self._rows.states, 0)

    def _over_doubles(self) -> _Passes:
        seconds = self._rows.seconds
        done = np.cumsum(seconds)
        middle = 1 + int(np.searchsorted(done, done[-1] / 2))
        return _until(middle, seconds, seconds, 8.0 * self._rows.states)

    def _over_digits(self) -> _Passes:
        rows = self._rows
        before = 1 + rows.bits // rows.plan.digit_bits
        after = 1 + (rows.bits[-1] - rows.bits) // rows.plan.digit_bits
        digits = np.where(np.arange(len(before)) < rows.plan.meeting, before, after)
        seconds = tuning().band_digit / tuning().band_real * rows.seconds
        size = 8.0 * digits * rows.states
        return _until(rows.plan.meeting, before[1:] * seconds, after[:-1] * seconds, size)


def _until(layer: int, before: Floats, after: Floats, size: Floats) -> _Passes:
    """Passes that meet at a layer, by the seconds of every row on the way there."""
    return _Passes(
        _cut(before[:layer], size[: layer + 1], 0),
        _cut(after[layer:], size[layer:], layer)[::-1],
    )


def _cut(seconds: Floats, size: Floats, first: int) -> list[_BandStretch]:
    """Stretches of about equal length by the seconds of every row; cuts are where layers are small.

    ``size``: bytes of the layers before each row and after the last.
    """
    if not len(seconds):
        return []
    done = np.concatenate(([0.0], np.cumsum(seconds)))
    limits = tuning()
    most = min(limits.band_layer_bytes, limits.band_bytes_a_second * done[-1])
    room = most / 2 / float(np.mean(size))
    number = max(1, int(min(done[-1] / limits.band_stretch, room, limits.band_stretches_most)))
    cuts = [0]
    for k in range(1, number):
        times = done[-1] * np.array([k - 0.25, k + 0.25]) / number
        low, high = np.searchsorted(done, times)
        low = max(int(low), cuts[-1] + 1)
        high = min(int(high), len(seconds))
        if low < high:
            cuts.append(low + int(np.argmin(size[low:high])))
    cuts.append(len(seconds))
    return [_BandStretch(first + a, first + b, float(done[b] - done[a])) for a, b in pairwise(cuts)]


def _between(stretches: list[_BandStretch]) -> _Passes:
    """Passes that leave both layers at every border: the last stretch of either has none ahead."""
    return _Passes(stretches[:-1], stretches[:0:-1])


def _log_met(before: _Layer, after: _Layer) -> float:
    met = _native.meet_real(before.values, after.values)
    return math.log(met) + (before.exponent + after.exponent) * LN2 if met else -math.inf


# Chunks: the band is shared, the layers travel.


def _digits(
    plan: Shared[BandOrdering], back: bool, first: int, last: int, layer: Words
) -> tuple[Words, int]:
    task = _native.BandTask.back_words if back else _native.BandTask.forward_words
    job = plan.get().run(task, None, tuning().band_digit, rows=(first, last), digits=layer)
    return job.digits(), 0


def _doubles(
    plan: Shared[BandOrdering], back: bool, first: int, last: int, layer: Floats
) -> tuple[Floats, int] | None:
    band, task = plan.get(), _native.BandTask
    side = {"after" if back else "before": layer}
    task_of_side = task.back_real if back else task.forward_real
    job = band.run(task_of_side, band.weights, tuning().band_real, rows=(first, last), **side)
    return None if job.failed else job.layer()


def _probabilities(
    plan: Shared[BandOrdering],
    first: int,
    last: int,
    retained: float,
    before: Floats,
    after: Floats,
) -> Floats | None:
    band, task, each = plan.get(), _native.BandTask.edges, tuning().band_real
    layers = {"before": before, "after": after}
    job = band.run(task, band.weights, each, memory=retained, rows=(first, last), **layers)
    return None if job.failed else job.posteriors()
