"""The first order of a block's users, found once: several methods begin with it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning

__all__ = ["first_look", "look_pays"]

_PLANS: WeakKeyDictionary[Block, _native.FrontierPlan] = WeakKeyDictionary()


def first_look(block: Block) -> _native.FrontierPlan:
    """The best order without a search, and its price; remembered as long as the block lives."""
    plan = _PLANS.get(block)
    if plan is None:
        plan = _PLANS[block] = _native.plan_frontier(block, 0.0)
    return plan


def look_pays(block: Block, seconds: float) -> bool:
    """Whether a first look is a small part of so many seconds, or was taken already."""
    cost = tuning().frontier_look * block.n_edges
    return block in _PLANS or cost <= tuning().look_share * seconds
