"""What is said of rings beside their file: ages of decoys and spends, and merged outputs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from anonymatch.base.numbers import plural
from anonymatch.mixes import FirstLook
from anonymatch.rings import AGE_LAWS
from anonymatch.studio.address import number
from anonymatch.studio.address_options import AddressOptions
from anonymatch.studio.request import FIELDS
from anonymatch.studio.widgets import box, check_box, field, select, text

__all__ = ["RingChoice"]

_TIMES = 10.0  # that members weigh more which one transaction may spend together, unless told


class RingChoice:
    """Fields for laws of ages and for merging; ``changed`` is called when one is changed."""

    def __init__(self, options: AddressOptions, changed: Callable[[], Awaitable[None]]) -> None:
        self._options, self._changed = options, changed
        self._place = box("div")
        self._look: FirstLook | None = None

    def clear(self) -> None:
        self._look = None
        self._place.clear()

    def look(self, look: FirstLook) -> None:
        """Show the fields for a file of rings."""
        self._look = look
        self._draw()

    def _draw(self) -> None:
        look = self._look
        self._place.clear()
        if look is None or look.rings is None:
            return
        with self._place:
            text(_words(look), "p", "words")
            with box("div", "controls"):
                self._law("decoys", "Where only one of both is told, decoys are uniform.")
                self._law("spends", "Where only one of both is told, spends are gamma.")
                self._merging(len(look.rings.merges))

    def _law(self, name: str, hint: str) -> None:
        given = getattr(self._options, name)
        kind, _, numbers = given.partition(":")
        laws = {"": "as the file says"} | {
            law: f"{law}: {meaning}" for law, meaning in AGE_LAWS.items()
        }
        with box("div", "field"):
            select(FIELDS[name], laws, kind, partial(self._set_law, name), hint=hint)
            if kind == "gamma":
                field(
                    f"Shape and rate of {name}",
                    numbers,
                    partial(self._set_numbers, name),
                    placeholder="19.28,1.61",
                )

    def _merging(self, pairs: int) -> None:
        merging = self._options.merging
        with box("div", "field"):
            check_box(FIELDS["merging"], merging is not None, self._merge)
            if merging is not None:
                field(
                    "Times that they weigh more",
                    f"{merging:g}",
                    self._set_merging,
                    kind="number",
                )
            told = (
                f"{plural(pairs, 'member')} of rings may be spent together with others."
                if pairs
                else "The file names no transactions by which outputs would belong together."
            )
            text(told, "small", "soft")

    async def _set_law(self, name: str, given: Any) -> None:
        self._options.tell_ages(name, str(given))
        self._draw()
        await self._changed()

    async def _set_numbers(self, name: str, given: Any) -> None:
        numbers = str(given).strip()
        self._options.tell_ages(name, f"gamma:{numbers}" if numbers else "gamma")
        await self._changed()

    async def _merge(self, on: bool) -> None:
        self._options.merging = _TIMES if on else None
        self._draw()
        await self._changed()

    async def _set_merging(self, given: Any) -> None:
        self._options.merging = number({"m": str(given)}, "m", _TIMES, least=1, most=1e9)
        await self._changed()


def _words(look: FirstLook) -> str:
    """What the file itself says."""
    rings = look.rings
    assert rings is not None
    times = f"each ring has a {rings.unit}" if rings.when is not None else "rings have no times"
    weighed = (
        f"members weigh differently: {rings.weighted}"
        if rings.weighted
        else ("all members of a ring weigh alike")
    )
    return f"As the file says, {times}, and {weighed}."
