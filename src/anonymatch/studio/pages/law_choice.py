"""The law of a log: guessed from what the log tells, and changed by the reader."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from anonymatch.mixes import LAWS, DelayLaw, FirstLook, law_text, log_mean_delay
from anonymatch.studio.address_options import MEASURED, AddressOptions, law_choices, numbers_of
from anonymatch.studio.request import FIELDS
from anonymatch.studio.widgets import box, field, select, text

__all__ = ["LawChoice"]

_MEASURED = "This is the mean of the log; type that of the mix if you know it."
_FITTED = "Fitted to the delays that the log tells; type those of the mix if you know them."


class LawChoice:
    """The controls of the law; ``changed`` is called when the reader changes it.

    ``folded``: they unfold where a law is there already.
    """

    def __init__(
        self,
        options: AddressOptions,
        changed: Callable[[], Awaitable[None] | None],
        *,
        folded: bool = False,
    ) -> None:
        self._options, self._changed, self._folded = options, changed, folded
        self._place = box("div")
        self._look: FirstLook | None = None
        self._origin = ""  # where the numbers come from, if not from the reader
        self._said = ""
        self._untouched = True

    def clear(self) -> None:
        self._look = None
        self._place.clear()

    def look(self, look: FirstLook) -> None:
        """Show the controls for a log; a law that nobody chose is the one that it looks like."""
        self._look, self._origin = look, ""
        guess, chosen = look.guess, bool(self._options.law)
        self._said = "" if guess is None else f"Its {guess.reason}."
        if guess is None and look.needs_law and not chosen:
            self._said = (
                "The log does not tell how its messages were delayed: choose the law of its mix."
            )
        if guess is not None and look.needs_law and not chosen:
            self._options.take(guess.text)
            self._said = f"Its {guess.reason}: taken; change it here."
        self._draw()

    def _draw(self) -> None:
        options, look = self._options, self._look
        self._place.clear()
        if look is None:
            return
        with self._place:
            if not look.needs_law and not options.law:
                text(
                    "Every link of this network is in the log, so that no law is needed. With one, "
                    "the attacker sees the ends alone.",
                    "p",
                    "words",
                )
            elif self._said:
                text(self._said, "p", "words guess")
            if self._folded and options.law:
                with box("details", "more", open=None if self._untouched else True):
                    text(f"{options.law}: {options.numbers}".removesuffix(": "), "summary")
                    self._controls(look)
            else:
                self._controls(look)

    def _controls(self, look: FirstLook) -> None:
        options = self._options
        with box("div", "controls"):
            choices = law_choices(options.delays)
            if not look.needs_law:
                choices[""] = "none: all links are seen"
            select(FIELDS["law"], choices, options.law, self._set_law)
            if options.law:
                self._numbers()

    def _numbers(self) -> None:
        options = self._options
        law = LAWS[options.law]
        hint = numbers_of(options.law)
        if options.law != MEASURED:
            field(
                "Its numbers",
                options.numbers,
                self._set_numbers,
                hint=f"{hint[:1].upper()}{hint[1:]}. {self._origin}".strip(),
                placeholder=f"such as {law.example}",
            )
        if issubclass(law, DelayLaw):
            field(
                "Time on links",
                options.links,
                self._set_links,
                hint="Seconds that every message takes in any case, on top of the law.",
                placeholder="none",
            )

    async def _set_law(self, given: Any) -> None:
        self._options.delay(str(given))
        self._origin, self._untouched = "", False
        if self._look is not None and self._options.law:
            self._fill(self._look)
        self._draw()
        await self._tell()

    def _fill(self, look: FirstLook) -> None:
        """Numbers of the chosen law, as far as the log tells them."""
        fitted = None if look.guess is None else look.guess.like(self._options.law)
        if fitted is not None:
            self._options.take(law_text(fitted))
            self._origin = _FITTED
        elif self._options.law == "exponential" and look.messages is not None:
            mean = log_mean_delay(look.messages)
            if mean is not None:
                self._options.numbers, self._origin = f"{mean:.4g}", _MEASURED

    async def _set_numbers(self, given: Any) -> None:
        self._options.numbers = str(given).strip()
        await self._tell()

    async def _set_links(self, given: Any) -> None:
        self._options.links = str(given).strip()
        await self._tell()

    async def _tell(self) -> None:
        waiting = self._changed()
        if waiting is not None:
            await waiting
