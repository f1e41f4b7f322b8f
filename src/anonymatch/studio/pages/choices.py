"""How a file is read: its law, its columns and all other options."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Protocol

from nicegui import background_tasks, ui

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.base.options import option_of
from anonymatch.mixes import LAWS, DelayLaw, FirstLook, law_text, log_mean_delay
from anonymatch.rings import AGE_LAWS, RingSet
from anonymatch.studio import widgets as w
from anonymatch.studio.address import CHOICES, form_text, number, with_text
from anonymatch.studio.options import (
    MEASURED,
    AddressOptions,
    form_fields,
    law_choices,
    numbers_of,
)
from anonymatch.studio.request import LABELS, label_of
from anonymatch.tables import TablesLook

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
        self._place = w.box("div")
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
                w.text(
                    "Every link of this network is in the log, so that no law is needed. With one, "
                    "the attacker sees the ends alone.",
                    "p",
                    "words",
                )
            elif self._said:
                w.text(self._said, "p", "words guess")
            if self._folded and options.law:
                with w.box("details", "more", open=None if self._untouched else True):
                    w.text(f"{options.law}: {options.numbers}".removesuffix(": "), "summary")
                    self._controls(look)
            else:
                self._controls(look)

    def _controls(self, look: FirstLook) -> None:
        options = self._options
        with w.box("div", "controls"):
            choices = law_choices(options.delays)
            if not look.needs_law:
                choices[""] = "none: all links are seen"
            w.select(LABELS["law"], choices, options.law, self._set_law)
            if options.law:
                self._numbers()

    def _numbers(self) -> None:
        options = self._options
        law = LAWS[options.law]
        hint = numbers_of(options.law)
        if options.law != MEASURED:
            w.field(
                "Its numbers",
                options.numbers,
                self._set_numbers,
                hint=f"{hint[:1].upper()}{hint[1:]}. {self._origin}".strip(),
                placeholder=f"such as {law.example}",
            )
        if issubclass(law, DelayLaw):
            w.field(
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


_KNOWN = "An attacker knows these of everybody: age, sex, postcode."
_WANTED = "An attacker wants to learn these: an illness, an income."


class ColumnChoice:
    """Check boxes for the columns of two tables; ``changed`` is called when the reader changes one.

    What nobody told is guessed; once a box is changed, all boxes of its kind are told.
    """

    def __init__(self, options: AddressOptions, changed: Callable[[], Awaitable[None]]) -> None:
        self._options, self._changed = options, changed
        self._place = w.box("div")
        self._boxes: dict[tuple[str, str], ui.element] = {}
        self._on: dict[str, list[str]] = {}

    def clear(self) -> None:
        self._place.clear()

    def look(self, look: TablesLook) -> None:
        """Show the boxes for two tables, set as they are told or guessed."""
        options, guess = self._options, look.guess
        self._look = look
        self._on = {
            "quasi_identifiers": _known(
                options.read.quasi_identifiers, guess.identifiers, look.shared
            ),
            "sensitive": _known(options.read.sensitive, guess.sensitive, look.released.columns),
        }
        self._boxes.clear()
        self._place.clear()
        with self._place:
            self._said = w.text("", "p", "words guess")
            self._say()
            with w.box("div", "controls columns"):
                self._group("quasi_identifiers", look.shared, _KNOWN)
                self._group("sensitive", look.released.columns, _WANTED)
                self._name(look)
            details = w.box("details", "more", open=True if options.hierarchies else None)
            with details:
                w.text("Hierarchies and noise", "summary")
                self._inside = w.box("div")
            self._more()

    def _say(self) -> None:
        """Which of them are guesses."""
        options = self._options
        told = options.read.quasi_identifiers, options.read.sensitive, options.read.name
        if all(each is None for each in told):
            left = self._look.guess.left_out
            out = f" Left out, since it tells all rows apart: {', '.join(left)}." if left else ""
            words = (
                "Which column is what is a guess from names and values; nobody but you knows what "
                f"an attacker knows. Change it here.{out}"
            )
        elif all(each is not None for each in told):
            words = "As you chose."
        else:
            words = "As you chose; what you did not change is a guess."
        self._said.set_content(words)

    def _group(self, part: str, columns: tuple[str, ...], hint: str) -> None:
        with w.box("fieldset", "field checks"):
            w.text(LABELS[part], "legend", "name")
            for column in columns:
                self._boxes[part, column] = w.check_box(
                    column,
                    column in self._on[part],
                    partial(self._ticked, part, column),
                    label=f"{LABELS[part]}: {column}",
                )
            w.text(hint, "small", "soft")

    def _ticked(self, part: str, column: str, on: bool) -> None:
        other = "sensitive" if part == "quasi_identifiers" else "quasi_identifiers"
        self._set(part, column, on)
        if on and column in self._on[other]:  # what an attacker knows is nothing to find out
            self._set(other, column, False)
        self._options.tell(**{each: tuple(names) for each, names in self._on.items()})
        self._set_tolerances({})
        self._say()
        self._more()
        self._tell()

    def _set(self, part: str, column: str, on: bool) -> None:
        order = [name for kind, name in self._boxes if kind == part]
        chosen = {*self._on[part], column} if on else {*self._on[part]} - {column}
        self._on[part] = [name for name in order if name in chosen]
        made = self._boxes.get((part, column))
        if made is not None:
            made.props["checked"] = on
            made.update()

    def _name(self, look: TablesLook) -> None:
        guess = look.guess.name
        names = {each: each for each in look.original.columns}
        if guess is None:
            names = {"": "none: people are numbered"} | names
        w.select(
            LABELS["name"],
            names,
            self._options.read.name or guess or "",
            self._named,
            hint="Of the original table; it is used in the answer only.",
        )

    def _named(self, given: Any) -> None:
        name = str(given)
        self._options.tell(name=name if name in self._look.original.columns else None)
        self._say()
        self._tell()

    def _more(self) -> None:
        """Hierarchies that were dropped, and how far released numbers may be off."""
        options = self._options
        known = {
            name: one.name
            for name, one in options.hierarchies.items()
            if name in self._on["quasi_identifiers"]
        }
        self._inside.clear()
        with self._inside:
            w.text(
                "A hierarchy says what each value may have become, level by level, as ARX writes "
                "it: drop its file along, named by its column.",
                "p",
                "soft",
            )
            for name, file in known.items():
                w.text(f"Hierarchy of {name}: {file}", "p")
            with w.box("div", "controls"):
                for column in self._on["quasi_identifiers"]:
                    value = (options.read.tolerance or {}).get(column)
                    w.field(
                        f"{LABELS['tolerance']}: {column}",
                        "" if value is None else f"{value:g}",
                        partial(self._set_tolerance, column),
                        placeholder="exact",
                        kind="number",
                    )

    def _set_tolerance(self, column: str, given: Any) -> None:
        value = number({"n": str(given)}, "n", 0.0, least=0.0, most=1e300)
        self._set_tolerances({column: value})
        self._tell()

    def _set_tolerances(self, changes: Mapping[str, float]) -> None:
        """Change differences, and keep those of identifiers that are not 0."""
        given = {**(self._options.read.tolerance or {}), **changes}
        kept = {name: given[name] for name in self._on["quasi_identifiers"] if given.get(name)}
        self._options.tell(tolerance=kept or None)

    def _tell(self) -> None:
        background_tasks.create(self._changed(), name="studio columns")


def _known(
    told: Sequence[str] | None, guess: tuple[str, ...], columns: tuple[str, ...]
) -> list[str]:
    """Return the columns that are ticked."""
    wanted = guess if told is None else told
    return [column for column in columns if column in wanted]


class Optioned(Protocol):
    """A page, or a part of it, that has options of the library."""

    read: Any


class OptionForm:
    """A field for each of some options; ``changed`` is called when one is changed.

    The fields follow from the declarations of the options that ``owner.read`` has.
    """

    def __init__(
        self,
        owner: Optioned,
        changed: Callable[[], Awaitable[None] | None],
        labels: Mapping[str, str] = LABELS,
    ) -> None:
        self._owner, self._changed = owner, changed
        self._label = partial(label_of, labels=labels)
        self._said = w.text("", "p", "misfit")
        self._said.props["role"] = "status"
        self._place = w.box("div")

    def clear(self) -> None:
        self._place.clear()

    def look(self, look: FirstLook) -> bool:
        """Show the fields for a file; False if it has none."""
        groups = form_fields(look.kind)
        self.show(groups, _rings_words(look.rings) if look.rings is not None else "")
        return bool(groups)

    def show(self, groups: Mapping[str, Iterable[str]], words: str = "") -> None:
        """Show the fields of options, by their groups."""
        self._place.clear()
        with self._place:
            if words:
                w.text(words, "p", "words")
            for group, names in groups.items():
                if group:
                    w.text(group, "h3")
                with w.box("div", "controls"):
                    for name in names:
                        self.field(name)

    def field(self, name: str) -> None:
        """Show the field of one option."""
        value, label = getattr(self._owner.read, name), self._label(name)
        hint = re.sub(
            r"--([a-z-]+)",
            lambda found: repr(self._label(found[1].replace("-", "_"))),
            option_of(self._owner.read, name).help,
        )
        change = partial(self._change, name)
        if isinstance(value, bool):
            with w.box("div", "field"):
                w.check_box(label, value, change)
                w.text(hint, "small", "soft")
        elif name in CHOICES:
            w.select(label, CHOICES[name], value or "", change, hint=hint)
        else:
            known = list(AGE_LAWS) if name in ("decoys", "spends") else []
            w.field(label, form_text(self._owner.read, name), change, hint=hint, suggestions=known)

    async def _change(self, name: str, given: Any) -> None:
        text = "" if given is False else str(given)
        try:
            self._owner.read = with_text(self._owner.read, name, text)
        except InputError as error:
            self._said.set_content(escape(f"{self._label(name)}: {error}"))
            return
        self._said.set_content("")
        waiting = self._changed()
        if waiting is not None:
            await waiting


def _rings_words(rings: RingSet) -> str:
    times = f"each ring has a {rings.unit}" if rings.when is not None else "rings have no times"
    weighed = (
        f"members weigh differently: {rings.weighted}"
        if rings.weighted
        else "all members of a ring weigh the same"
    )
    pairs = len(rings.merges)
    together = (
        f"{plural(pairs, 'member')} of rings may be spent together with others"
        if pairs
        else "the file names no transactions by which outputs belong together"
    )
    return f"As the file says, {times}, {weighed}, and {together}."
