"""Long bands in stretches of rows, so that they run side by side and are recorded on the way.

A pass along the rows needs the layer before it, so two are under way at a time, one from each end.
Where they meet they give the count. If both go on, every border between two stretches has the ways
before and the ways after it, and the probabilities of each stretch need nothing but these two
layers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, partial
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.solution import Floats
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact.band_ordering import (
    BandOrdering,
    BandResult,
    layers_limit,
    run_to_the_end,
)
from anonymatch.running import Execution, Shared

__all__ = ["LongBand", "StretchCost"]

Words = npt.NDArray[np.uint64]

_LN2 = math.log(2.0)


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
    """A band whose stretches run as chunks of an effort; answers as :class:`BandOrdering` gives
    them.
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
            None if layers is None else BandResult(None, _log(layers[0][-1], layers[1][-1]), None)
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
        return BandResult(None, _log(before[1], after[0]), probabilities)

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


def _log(before: _Layer, after: _Layer) -> float:
    met = _native.meet_real(before.values, after.values)
    return math.log(met) + (before.exponent + after.exponent) * _LN2 if met else -math.inf


# Chunks: the band is shared, the layers travel.


def _digits(
    plan: Shared[BandOrdering], back: bool, first: int, last: int, layer: Words
) -> tuple[Words, int]:
    band, task = plan.get(), _native.BandTask
    job = _native.band_job(
        band.starts,
        band.stops,
        None,
        task.back_words if back else task.forward_words,
        rows=(first, last),
        digits=layer,
    )
    run_to_the_end(job, tuning().band_digit)
    return job.digits(), 0


def _doubles(
    plan: Shared[BandOrdering], back: bool, first: int, last: int, layer: Floats
) -> tuple[Floats, int] | None:
    band, task = plan.get(), _native.BandTask
    job = _native.band_job(
        band.starts,
        band.stops,
        band.weights,
        task.back_real if back else task.forward_real,
        rows=(first, last),
        before=None if back else layer,
        after=layer if back else None,
    )
    run_to_the_end(job, tuning().band_real)
    return None if job.failed else job.layer()


def _probabilities(
    plan: Shared[BandOrdering],
    first: int,
    last: int,
    retained: float,
    before: Floats,
    after: Floats,
) -> Floats | None:
    band = plan.get()
    job = _native.band_job(
        band.starts,
        band.stops,
        band.weights,
        _native.BandTask.edges,
        memory=retained,
        rows=(first, last),
        before=before,
        after=after,
    )
    run_to_the_end(job, tuning().band_real)
    return None if job.failed else job.posteriors()
