"""Which method for which block: the cheapest by predicted seconds, within the memory allowed.

Recognised forms come first, because they cost nothing. What is left is offered to every method that
applies; each names its price before anything runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Objects, Probabilities, Solution
from anonymatch.counting.bounds.bregman import block_bits
from anonymatch.counting.exact import frontier, glynn, ryser, subset
from anonymatch.counting.exact.band import BandPlan, Found, banded, find_band
from anonymatch.counting.exact.band_stretches import LongBand, StretchCost
from anonymatch.counting.exact.classes import plan_classes
from anonymatch.counting.exact.closed_form import Solved, complete, nested
from anonymatch.counting.exact.contract import Contracted, contract
from anonymatch.counting.exact.near_complete import near_complete
from anonymatch.counting.exact.rank_one import RankOne, rank_one
from anonymatch.running import CHUNK_SECONDS, Budget, Execution

__all__ = ["METHODS", "Option", "choose"]

# Below this many predicted seconds the first method that applies is taken: looking for a better one
# would cost more than it could save.
_NOT_WORTH_A_SEARCH = 0.002
_QUICK = 0.02  # predicted seconds up to which a rook polynomial is taken without looking further
_BEYOND_A_MOMENT = 24  # users up to which sums over signs are quicker than such a polynomial
_SHARPEN_FROM = 16  # words from which a first run over doubles pays by proving that fewer do
_CLASSES_RATE = 4e6  # operations a second
_NEAR_COMPLETE_RATE = 1e9  # operations a second, for its limit
_ROOK_PLANNING, _SHORT_PLANNING = 7e-5, 0.5  # seconds: a missing edge; for which nobody waits
_FEW_MISSING = 4  # edges a behaviour; with more the missing edges are as hard as the others
_BAND_SERVES = 10.0  # predicted seconds up to which no other way is looked for
_GIANT = 10_000  # users from which one look at the width comes before any search
_CONTRACTION = 2e-5  # seconds a user that contracting takes, in Python


Checkpoint = partial[Found] | partial[Found | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A way to solve a block, and its price."""

    method: str
    why: str
    seconds: float
    memory: float
    solve: Callable[[], Solution]
    longest: float | None = None  # seconds on any number of cores, if it is cut into chunks
    run: Checkpoint | None = None  # the long part, a chunk
    take: Callable[[Found | None], Solution] | None = None  # what becomes of its result
    rounded: Option | None = None  # for counts: the same over doubles with a proven error


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What all options of one call share."""

    edges: bool  # posteriors are wanted, not only the count
    budget: Budget
    effort: Execution


def choose(block: Block, context: Context, method: str = "auto") -> Option:
    """The way for ``block``: the cheapest, or the one that was asked for."""
    if method != "auto":
        option = _FORCED[method](block, context, math.inf)
        if option is None:
            users, edges = several(block.n_users, "user"), several(block.n_edges, "edge")
            raise InputError(
                Argument("method", method),
                f" does not apply to a block of {users} and {edges}; 'auto' takes one that does",
            )
        return option
    recognised = _recognised(block)
    if recognised is None and block.n_behaviours > _BEYOND_A_MOMENT:
        recognised = _near_complete(block, context, _QUICK)
    if recognised is not None and recognised.seconds <= _QUICK:
        return recognised
    scaled = rank_one(block)
    if scaled is not None:
        return _without_weights(block, scaled, context)
    by_signs = _signs(block, context, math.inf)
    found = [by_signs] if by_signs is not None and block.exact else []
    if found and found[0].seconds <= _NOT_WORTH_A_SEARCH:
        return found[0]
    offers: tuple[Offer, ...] = (_subset, _classes, _frontier, _contracted, _near_complete, _ryser)
    band = _band(block, context, math.inf)
    if band is not None:  # what else works in some order of users is dearer
        found.append(band)
        dear = (band.rounded or band).seconds > _BAND_SERVES
        offers = (_subset, _classes) if dear else (_subset,)
        if block.exact and block.optional:  # spare behaviours make the sums of digits dear
            offers = (*offers, _frontier)
    elif block.n_users > _GIANT and frontier.far_from_narrow(block):
        offers = (_near_complete, _classes)  # the others cannot reach it, and searching is dear
    for offer in offers:
        affordable = [o.seconds for o in found if o.memory <= context.budget.memory]
        best = min(affordable, default=math.inf)
        if best > _NOT_WORTH_A_SEARCH:
            option = offer(block, context, best)
            found += [option] if option is not None else []
    if (
        by_signs is not None
        and not block.exact
        and not any(_within(context.budget, o) for o in found)
    ):
        found.append(by_signs)  # over doubles the last resort: terms of both signs cancel
    chosen = _cheapest(found, block, context.budget)
    if band is not None and chosen.method == "frontier":
        return replace(chosen, rounded=band.rounded)
    return chosen


def _within(budget: Budget, option: Option) -> bool:
    return budget.allows(option.seconds, option.memory)


def _cheapest(found: list[Option], block: Block, budget: Budget) -> Option:
    if not found:
        return Option(
            method="none",
            why="no exact method reaches it",
            seconds=math.inf,
            memory=math.inf,
            solve=lambda: Solution(block),
        )
    return min(found, key=lambda o: (o.memory > budget.memory, o.seconds))


# ---- recognised forms


def _recognised(block: Block) -> Option | None:
    solved: Solved | None = complete(block)
    if solved is not None:
        return _closed(block, solved, "everybody may have done everything", memory=0.0)
    solved = nested(block)
    if solved is not None:
        memory = 8.0 * block.n_edges  # of the probabilities themselves
        return _closed(block, solved, "neighbourhoods contain each other", memory=memory)
    return None


def _closed(
    block: Block, solved: Solved, why: str, *, memory: float, seconds: float = 0.0
) -> Option:
    solution = Solution(
        block,
        total=lambda: solved.total,
        log=lambda: solved.log,
        minors=solved.minors,
        posteriors=lambda: (solved.posteriors(), 1e-12),
    )
    return Option(
        method="closed form",
        why=why,
        seconds=seconds,
        memory=memory,
        solve=lambda: solution,
    )


def _without_weights(block: Block, scaled: RankOne, context: Context) -> Option:
    """Weights of rank one are the same for all matchings: solve the block without them."""
    inner = choose(scaled.block, context)
    if not block.exact and inner.rounded is not None:
        inner = inner.rounded
    take = inner.take
    return replace(
        inner,
        why=f"{inner.why}; weights of rank one",
        solve=lambda: _with_scale(block, scaled, inner.solve()),
        take=None if take is None else lambda found: _with_scale(block, scaled, take(found)),
        rounded=None,
    )


def _with_scale(block: Block, scaled: RankOne, inner: Solution) -> Solution:
    if block.exact:
        assert scaled.scale is not None
        assert block.weights is not None
        scale, weights = scaled.scale, block.weights

        def minors() -> Objects:
            values = [scale * m / w for m, w in zip(inner.minors, weights, strict=True)]
            return np.array([int(value) for value in values], dtype=object)

        return Solution(
            block,
            total=lambda: int(scale * inner.total),
            minors=minors,
            posteriors=lambda: inner.posteriors,
        )

    def real() -> tuple[float, float]:
        log, error = inner.log_and_error
        return log + scaled.log, error + scaled.log_error + 2.0**-52 * abs(log)

    def posteriors() -> Probabilities:
        probabilities, error = inner.posteriors
        return probabilities, error + 4 * block.n_users * scaled.deviation

    return Solution(block, real=real, posteriors=posteriors)


def _near_complete(block: Block, context: Context, best: float) -> Option | None:
    missing = block.n_users * block.n_behaviours - block.n_edges
    if block.weights is not None or missing > _FEW_MISSING * block.n_behaviours:
        return None
    affordable = min(best, context.budget.seconds)
    if missing * _ROOK_PLANNING > max(affordable, _SHORT_PLANNING):
        return None
    limit = affordable * _NEAR_COMPLETE_RATE
    solved = near_complete(block, limit=limit)
    if solved is None:
        return None
    seconds = solved.minor_operations / _NEAR_COMPLETE_RATE if context.edges else 0.0
    lacks = f"only {several(missing, 'edge')} {'is' if missing == 1 else 'are'} missing"
    memory = 64.0 * block.n_edges
    return _closed(block, solved, f"{lacks}: rook polynomial", memory=memory, seconds=seconds)


# ---- programmes


def _band(block: Block, context: Context, best: float) -> Option | None:
    memory = context.budget.memory
    way = find_band(block, memory)
    if way is None:
        return None
    long = LongBand(way, memory, context.effort)
    solve = partial(
        banded, way, block, memory=memory, otherwise=partial(_otherwise, block, context)
    )

    def option(seconds: float, needed: float, run: Checkpoint, *, rounded: bool = False) -> Option:
        take = partial(solve, runs=way, rounded=rounded)
        return Option(
            method="band in doubles" if rounded else "band",
            why=f"intervals by time, at most {several(way.width, 'open behaviour')} at once",
            seconds=seconds,
            memory=needed,
            solve=partial(take, None),
            run=run,
            take=take,
        )

    def cut(whole: Option, price: StretchCost | None, *, rounded: bool = False) -> Option:
        if price is None:
            return whole
        return replace(
            whole,
            why=f"{whole.why}, in stretches",
            seconds=price.seconds,
            memory=price.memory,
            longest=price.longest,
            solve=partial(solve, None, runs=long, rounded=rounded),
            run=None,
            take=None,
        )

    if context.edges:
        probabilities = partial(BandPlan.probabilities, way, memory)
        return cut(
            option(way.edges_seconds, way.edges_memory, probabilities),
            long.price_of_probabilities(),
        )
    real = partial(BandPlan.real, way)
    doubles = option(way.seconds, way.memory, real, rounded=block.exact)
    doubles = cut(doubles, long.price_of_real(), rounded=block.exact)
    if not block.exact:
        return doubles
    exact = option(way.words_seconds, way.words_memory, partial(BandPlan.count, way))
    return replace(cut(exact, long.price_of_count()), rounded=doubles)


def _otherwise(block: Block, context: Context) -> Solution:
    """A band by the general programme."""
    option = _frontier(block, context, math.inf)
    assert option is not None  # it serves wider windows than bands may have
    return option.solve()


def _signs(block: Block, context: Context, best: float) -> Option | None:
    bits = block_bits(block) if block.exact else 0.0
    if not glynn.applies(block, bits):
        return None
    return Option(
        method="signs",
        why=f"{block.n_behaviours} * 2^{block.n_behaviours - 1} row products",
        seconds=glynn.seconds(block, edges=context.edges),
        memory=2.0**20,
        solve=lambda: glynn.solve(block, bits=bits, effort=context.effort),
        longest=CHUNK_SECONDS,
    )


def _frontier(block: Block, context: Context, best: float) -> Option | None:
    way = frontier.find_way(block, min(best, context.budget.seconds))
    if not way.feasible:
        return None
    bits = block_bits(block) if block.exact else 64.0
    return _along(way, block, bits, context, best)


def _subset(block: Block, context: Context, best: float) -> Option | None:
    if not subset.applies(block) or subset.seconds(block, edges=context.edges) > best:
        return None
    return Option(
        method="subsets",
        why=f"{block.n_users} * 2^{block.n_users - 1} sums of positive terms",
        seconds=subset.seconds(block, edges=context.edges),
        memory=subset.memory(block, edges=context.edges),
        solve=lambda: subset.solve(block, context.effort),
    )


def _classes(block: Block, context: Context, best: float) -> Option | None:
    plan = plan_classes(block)
    if plan is None or plan.operations / _CLASSES_RATE > best:
        return None

    def solve() -> Solution:
        solved = plan.solve()
        rounding = 1.01 * solved.roundings * 2.0**-53
        if block.exact:
            return Solution(
                block,
                total=lambda: solved.total,
                minors=solved.minors,
                posteriors=lambda: (solved.posteriors(), 2.0**-50),
            )
        return Solution(
            block,
            real=lambda: (solved.log, rounding + 2.0**-50 * abs(solved.log)),
            posteriors=lambda: (solved.posteriors(), 2 * rounding + 2.0**-50),
        )

    return Option(
        method="classes",
        why="users or behaviours that are alike are counted together",
        seconds=plan.operations / _CLASSES_RATE * (2.0 if context.edges else 1.0),
        memory=plan.memory,
        solve=solve,
    )


def _ryser(block: Block, context: Context, best: float) -> Option | None:
    """For counts only: posteriors by cut-off sums would cost one count an edge."""
    bits = block_bits(block) if block.exact else 0.0
    if context.edges or not ryser.applies(block, bits):
        return None
    way = ryser.find_way(block)
    if way.seconds > best:
        return None
    return Option(
        method="ryser",
        why=f"about {way.prefixes:.2g} partial sums survive",
        seconds=way.seconds,
        memory=2.0**20,
        solve=lambda: Solution(
            block, total=lambda: ryser.total(way, bits=bits, effort=context.effort)
        ),
        longest=CHUNK_SECONDS,
    )


def _along(
    way: frontier.FrontierPlan, block: Block, bits: float, context: Context, best: float
) -> Option:
    exact_words = frontier.words_for(bits)
    words = 1 if context.edges and block.weights is None else exact_words
    if way.seconds(words, edges=context.edges) <= best:
        way = way.within(context.budget, words, edges=context.edges)
    seconds = way.seconds(words, edges=context.edges)
    in_parts = f", in {len(way.parts.kept)} parts" if way.parts else ""
    sharpen = exact_words > _SHARPEN_FROM
    if sharpen and words > 1:
        seconds += way.seconds(1, edges=False)

    def solve() -> Solution:
        proven = bits
        if sharpen and words > 1:
            proven = min(bits, frontier.proven_bits(way, context.effort))
        return frontier.solve(
            way, block, bits=proven, memory=context.budget.memory, effort=context.effort
        )

    return Option(
        method="frontier",
        why=f"at most {several(way.plan.width, 'open behaviour')} at once{in_parts}",
        seconds=seconds,
        memory=way.memory(words, edges=context.edges, limit=_layers_limit(way, context.budget)),
        solve=solve,
        longest=way.longest(words, edges=context.edges),
    )


def _layers_limit(way: frontier.FrontierPlan, budget: Budget) -> float:
    """Bytes up to which a run keeps layers; parts share them, and one is told for all."""
    return budget.memory if way.parts is None else 0.0


# ---- contraction first, then a programme


def _contracted(block: Block, context: Context, best: float) -> Option | None:
    """Contract users and behaviours with two edges, if what is left is cheaper."""
    if block.optional or not block.even or best < _CONTRACTION * block.n_users:
        return None
    bits = block_bits(block) if block.exact else 0.0
    offers = []
    for degree_limit in (4, block.n_users):
        small = contract(block, degree_limit=degree_limit)
        if small is None:
            return None
        offers += _after_contraction(block, small, bits, context, best)
    return min(offers, key=lambda o: o.seconds, default=None)


def _after_contraction(
    block: Block, small: Contracted, bits: float, context: Context, best: float
) -> list[Option]:
    inner: list[Option] = []
    way = frontier.find_way(small.block, min(best, context.budget.seconds))
    if glynn.applies(small.block, bits) and (small.block.exact or not way.feasible):
        inner.append(
            Option(
                method="signs",
                why="",
                seconds=glynn.seconds(small.block, edges=context.edges),
                memory=2.0**20,
                solve=lambda: glynn.solve(small.block, bits=bits, effort=context.effort),
                longest=CHUNK_SECONDS,
            )
        )
    if way.feasible:
        inner.append(_along(way, small.block, max(bits, 1.0), context, best))
    return [
        replace(
            option,
            why=(
                f"{several(small.contractions, 'contraction')} "
                f"leave{'s' if small.contractions == 1 else ''} "
                f"{several(small.block.n_users, 'user')}"
            ),
            solve=partial(_solve_contracted, block, small, option.solve),
        )
        for option in inner
    ]


def _solve_contracted(block: Block, small: Contracted, solve: Callable[[], Solution]) -> Solution:
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


# ---- methods by name

Offer = Callable[[Block, Context, float], Option | None]
"""An option for a block, or None; the last argument is what the best so far costs, in seconds."""


def _closed_only(block: Block, context: Context, best: float) -> Option | None:
    return _recognised(block) or _near_complete(block, context, best)


_FORCED: dict[str, Offer] = {
    "band": _band,
    "classes": _classes,
    "closed": _closed_only,
    "contract": _contracted,
    "frontier": _frontier,
    "ryser": _ryser,
    "signs": _signs,
    "subsets": _subset,
}
METHODS = ("auto", *_FORCED)
