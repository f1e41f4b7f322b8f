"""Bands: users by time whose behaviours are intervals with rising ends, as in the log of a mix.

All sets of used behaviours of a window and of one size lie in one array, so a step adds whole
stretches; the general programme for narrow blocks (frontier.py) has to look for what joins what.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.solution import Probabilities, Solution
from anonymatch.counting.exact import frontier
from anonymatch.counting.exact.band_ordering import BandOrdering, BandResult, Runs, find_band
from anonymatch.counting.exact.band_stretches import LongBand, StretchCost

__all__ = ["banded", "offer"]


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
    runs: Runs,
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
