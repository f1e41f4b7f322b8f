"""Exact methods: a module each, with an ``offer``; the table of all of them.

A method that stands in the table is known by its name everywhere: ``method=`` and METHODS in
Python, ``--method`` and its help on the command line, the plan, and the words of answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Offer, Option
from anonymatch.counting.exact import (
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

__all__ = ["EXACT", "FORMER_NAMES", "Method", "Registry"]


@dataclass(frozen=True, slots=True)
class Method:
    """An exact method: its name, what it offers (the first offer that applies), and its words."""

    name: str
    offers: tuple[Offer, ...]
    title: str  # what it is, for those who do not know its name
    meaning: str

    def offer(self, block: Block, context: Context, best: float) -> Option | None:
        for offer in self.offers:
            option = offer(block, context, best)
            if option is not None:
                return option
        return None


class Registry:
    """Methods by name, in alphabetical order.

    Examples
    --------
    >>> EXACT.names[:4], len(EXACT.names)
    (('band', 'classes', 'closed_form', 'contract'), 11)
    """

    def __init__(self, *methods: Method) -> None:
        self._methods = {method.name: method for method in methods}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._methods))

    def __iter__(self) -> Iterator[Method]:
        return iter([self._methods[name] for name in self.names])

    def __contains__(self, name: object) -> bool:
        return name in self._methods

    def __getitem__(self, name: str) -> Method:
        return self._methods[name]

    @contextmanager
    def registered(self, method: Method) -> Iterator[Method]:
        """One more method, for as long as the context lasts."""
        if method.name in self._methods:
            raise ValueError(f"there is a method {method.name!r} already")
        self._methods[method.name] = method
        try:
            yield method
        finally:
            del self._methods[method.name]


EXACT = Registry(
    Method(
        "band",
        (band.offer,),
        "adding up",
        "message after message, over the open behaviours of its time",
    ),
    Method("classes", (classes.offer,), "adding up", "those who are alike are counted together"),
    Method(
        "closed_form",
        (closed_form.offer, near_complete.offer),
        "a formula",
        "its blocks have forms that are known",
    ),
    Method(
        "contract",
        (contract.offer,),
        "adding up",
        "after users and behaviours of two edges were merged with others",
    ),
    Method(
        "frontier",
        (frontier.offer,),
        "adding up",
        "user after user, over the open behaviours that are taken",
    ),
    Method("glynn", (glynn.offer,), "signed sums", "over all choices of signs (Glynn)"),
    Method(
        "low_rank",
        (low_rank.offer,),
        "a formula",
        "its weights are sums of two or three products of factors",
    ),
    Method(
        "planar",
        (residues.offer_planar,),
        "a determinant",
        "of a graph that can be drawn in the plane without crossings",
    ),
    Method("ryser", (ryser.offer,), "signed sums", "over sets of behaviours"),
    Method(
        "subset",
        (subset.offer,),
        "adding up",
        "user after user, over the behaviours that are taken",
    ),
    Method(
        "tree",
        (residues.offer_tree,),
        "adding up",
        "branch after branch, over what parts of a tree-like graph share",
    ),
)

FORMER_NAMES = {"closed": "closed_form", "signs": "glynn", "subsets": "subset"}
"""Names that methods had before; they keep working, and the new ones are shown."""
