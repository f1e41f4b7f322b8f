"""Verdicts as words with an icon, so that colour is never needed to read them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from anonymatch.reporting.drawings.svg import Element, element

__all__ = ["VerdictMark", "verdict"]


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """A verdict as a page shows it.

    Attributes
    ----------
    words, key : str
        As the claim has it, and as a name for links and styles.
    shade : str
        Class of its colour.
    meaning : str
        What it says, in one line.
    one, several : str
        How a sentence ends that begins with a number of claims.
    rank : int
        Its place among the others.
    drawing : tuple of Element
        What is inside the circle of the icon.
    instead : str
        What stands before the corrected form.
    """

    words: str
    key: str
    shade: str
    meaning: str
    one: str
    several: str
    rank: int
    drawing: tuple[Element, ...]
    instead: str = "Correct is"

    @property
    def icon(self) -> Markup:
        circle = element("circle", cx=8, cy=8, r=7, stroke="currentColor", fill="none")
        icon = element(
            "svg",
            circle,
            *self.drawing,
            class_=f"icon {self.shade}",
            viewBox="0 0 16 16",
            stroke_width=1.8,
            stroke_linecap="round",
            aria_hidden="true",
        )
        return Markup(str(icon))

    @property
    def filter(self) -> str:
        """Rules that leave only its cards, and headings over them, when its link was followed."""
        return (
            f"#only-{self.key}:target~.card:not(.{self.key}){{display:none}}\n"
            f"#only-{self.key}:target~.group:not(.has-{self.key}){{display:none}}"
        )

    def verb(self, number: int) -> str:
        return self.one if number == 1 else self.several


def _path(data: str, fill: str = "none") -> tuple[Element, ...]:
    return (element("path", d=data, fill=fill, stroke="currentColor"),)


_KNOWN = {
    each.words: each
    for each in (
        VerdictMark(
            words="holds",
            key="holds",
            shade="g2",
            meaning="true as printed; a design may rely on it.",
            one="holds",
            several="hold",
            rank=0,
            drawing=_path("M4.6 8.4L7 10.8L11.4 5.6"),
        ),
        VerdictMark(
            words="misprint",
            key="misprint",
            shade="g0",
            meaning="wrong as printed, right in the form given here; rely on that form.",
            one="is a misprint",
            several="are misprints",
            rank=1,
            drawing=_path("M4.8 11.2L5.4 9L10 4.4L11.6 6L7 10.6Z"),
        ),
        VerdictMark(
            words="holds under a condition",
            key="condition",
            shade="g4",
            meaning="true where the condition given here is met; check it for your system.",
            one="holds under a condition",
            several="hold under a condition",
            rank=2,
            drawing=_path("M8 1A7 7 0 0 1 8 15Z", "currentColor"),
            instead="Condition",
        ),
        VerdictMark(
            words="fails",
            key="fails",
            shade="g1",
            meaning="not true; what contradicts it is shown, and no design should rely on it.",
            one="fails",
            several="fail",
            rank=3,
            drawing=_path("M5.4 5.4L10.6 10.6M10.6 5.4L5.4 10.6"),
            instead="Instead",
        ),
    )
}


def verdict(words: str) -> VerdictMark:
    """How a verdict is shown; one that is not known keeps its words.

    Examples
    --------
    >>> verdict("fails").verb(2), verdict("open").verb(1)
    ('fail', 'with the verdict “open”')
    """
    plain = str(getattr(words, "value", words))
    if plain in _KNOWN:
        return _KNOWN[plain]
    ending = f"with the verdict “{plain}”"
    return VerdictMark(
        words=plain,
        key="other-" + re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-"),
        shade="g5",
        meaning="see the claims themselves.",
        one=ending,
        several=ending,
        rank=len(_KNOWN),
        drawing=(element("circle", cx=8, cy=8, r=1, fill="currentColor"),),
    )
