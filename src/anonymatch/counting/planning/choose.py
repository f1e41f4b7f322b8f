"""Which method for which block: the cheapest by predicted seconds, within the memory allowed.

Recognised forms come first, because they cost nothing. What is left is offered to every method that
applies; each names its cost before anything runs. What a method is and costs stands in its module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.counting.blocks.block import Block, look_pays
from anonymatch.counting.blocks.solution import Context, Offer, Option, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact import (
    EXACT,
    FORMER_NAMES,
    band,
    classes,
    closed_form,
    contract,
    frontier,
    glynn,
    low_rank,
    near_complete,
    residues,
    ryser,
    subset,
)
from anonymatch.counting.exact.rank_one import rank_one
from anonymatch.running import Budget

AUTO, ESTIMATE, NONE = "auto", "estimate", "none"

# The order in which methods are asked. Others are asked last, and only where the best so far costs
# more than ``search_from`` of the tuning: looking for a better one would cost more than it saves.
_POLICY = (
    "band",
    "classes",
    "closed_form",
    "contract",
    "frontier",
    "glynn",
    "low_rank",
    "planar",
    "ryser",
    "subset",
    "tree",
)


class _Names(Sequence[str]):
    """What ``method`` may be: "auto", the exact methods that are registered, and "estimate"."""

    def _now(self) -> tuple[str, ...]:
        return (AUTO, *EXACT.names, ESTIMATE)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._now()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def __repr__(self) -> str:
        return repr(self._now())


METHODS: Sequence[str] = _Names()


def method_named(name: object) -> str | None:
    """The method of that name, or of a name that it had before; None if there is none.

    Examples
    --------
    >>> method_named("glynn"), method_named("signs"), method_named("sings")
    ('glynn', 'glynn', None)
    """
    known = FORMER_NAMES.get(name, name) if isinstance(name, str) else None
    return known if known in METHODS else None


def exact_words(method: str) -> tuple[str, str] | None:
    """What an exact method is, and what it means, for those who do not know its name."""
    return (EXACT[method].title, EXACT[method].meaning) if method in EXACT else None


def choose(block: Block, context: Context, method: str = AUTO) -> Option:
    """The option for ``block``: the cheapest, or by the method that is wanted."""
    if method == ESTIMATE:
        if block.n_users > tuning().trivial_users:
            return _to_estimate(block, context)
        method = AUTO
    if method != AUTO:
        return _forced(block, context, method)
    recognised = closed_form.offer(block)
    at_once = max(tuning().recognised_seconds, tuning().recognised_edge * block.n_edges)
    if recognised is None and block.n_behaviours > tuning().moment_users:
        recognised = near_complete.offer(block, context, at_once)
    if recognised is not None and recognised.seconds <= at_once:
        return recognised
    scaled = rank_one(block)
    if scaled is not None:
        return scaled.option(block, choose(scaled.block, context))
    by_signs = glynn.offer(block, context)
    options = [by_signs] if by_signs is not None and block.exact else []
    if options and options[0].seconds <= tuning().search_from:
        return options[0]
    along_band = band.offer(block, context)
    options += [along_band] if along_band is not None else []
    for offer in _offers(block, along_band, context.budget.seconds):
        affordable = [o.seconds for o in options if o.memory <= context.budget.memory]
        best = min(affordable, default=math.inf)
        if best > tuning().search_from:
            option = offer(block, context, best)
            options += [option] if option is not None else []
    if (
        by_signs is not None
        and not block.exact
        and not any(context.budget.allows(o.seconds, o.memory) for o in options)
    ):
        options.append(by_signs)  # over doubles the last resort: terms of both signs cancel
    chosen = _cheapest(options, block, context.budget)
    if along_band is not None and chosen.method == "frontier":
        return replace(chosen, rounded=along_band.rounded)
    return chosen


def minors_at_once(users: int, behaviours: int, *, weighted: bool) -> bool:
    """Whether the minors of all pairs of a graph, edges or not, are taken in one sum over signs.

    Others take a count for every user.
    """
    return users == behaviours and 0 < users <= tuning().all_minors_users and not weighted


def _offers(block: Block, along_band: Option | None, seconds: float) -> tuple[Offer, ...]:
    """Whom to ask besides, in order; methods that this policy does not know come last."""
    others = tuple(method.offer for method in EXACT if method.name not in _POLICY)
    if along_band is not None:  # what else works in some order of users is dearer
        dear = (along_band.rounded or along_band).seconds > tuning().band_serves
        offers: tuple[Offer, ...] = (low_rank.offer, subset.offer, residues.offer_planar)
        offers += (classes.offer,) if dear else ()
        if block.exact and block.optional:  # spare behaviours make the sums of digits dear
            offers = (*offers, frontier.offer)
        return (*offers, *others)
    giant = block.n_users > tuning().giant_users
    if giant and (not look_pays(block, seconds) or frontier.far_from_narrow(block)):
        # the others cannot reach it, or not within the seconds, and searching is dear
        return (
            residues.offer_planar,
            residues.glance_tree,
            near_complete.offer,
            classes.offer,
            *others,
        )
    # What takes long to plan is asked when it is known what there is to save.
    quick = classes.planning_seconds(block) <= tuning().planning_short
    return (
        low_rank.offer,
        subset.offer,
        residues.offer_planar,
        residues.glance_tree,
        *((classes.offer,) if quick else ()),
        frontier.offer,
        residues.offer_tree,
        contract.offer,
        near_complete.offer,
        *(() if quick else (classes.offer,)),
        ryser.offer,
        *others,
    )


def _forced(block: Block, context: Context, method: str) -> Option:
    option = EXACT[method].offer(block, context, math.inf)
    if option is None:
        users, edges = several(block.n_users, "user"), several(block.n_edges, "edge")
        raise InputError(
            Argument("method", method),
            f" does not apply to a block of {users} and {edges}; 'auto' takes one that does",
        )
    return option


def _to_estimate(block: Block, context: Context) -> Option:
    budget = context.budget
    return Option(
        method=ESTIMATE,
        why="estimated because that is wanted",
        seconds=budget.seconds if budget.chosen else tuning().estimate_seconds,
        memory=tuning().estimate_bytes * block.n_edges,
        solve=lambda: Solution(block),
    )


def _cheapest(options: list[Option], block: Block, budget: Budget) -> Option:
    if not options:
        return Option(
            method=NONE,
            why="no exact method reaches it",
            seconds=math.inf,
            memory=math.inf,
            solve=lambda: Solution(block),
        )
    return min(options, key=lambda o: (o.memory > budget.memory, o.seconds))
