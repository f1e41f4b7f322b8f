"""Columns of a released table: which identify, which are sensitive, which names people."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from nicegui import background_tasks, ui

from anonymatch.studio.address_options import AddressOptions
from anonymatch.studio.request import FIELDS
from anonymatch.studio.widgets import box, check_box, field, select, text
from anonymatch.tables import TablesLook

__all__ = ["ColumnChoice"]

_KNOWN = "An attacker knows these of everybody: age, sex, postcode."
_WANTED = "An attacker wants to learn these: an illness, an income."


class ColumnChoice:
    """Check boxes for the columns of two tables; ``changed`` is called when the reader changes one.

    What nobody told is guessed; once a box is changed, all boxes of its kind are told.
    """

    def __init__(self, options: AddressOptions, changed: Callable[[], Awaitable[None]]) -> None:
        self._options, self._changed = options, changed
        self._place = box("div")
        self._boxes: dict[tuple[str, str], ui.element] = {}
        self._on: dict[str, list[str]] = {}

    def clear(self) -> None:
        self._place.clear()

    def look(self, look: TablesLook) -> None:
        """Show the boxes for two tables, set as they are told or guessed."""
        options, guess = self._options, look.guess
        self._look = look
        self._on = {
            "identifiers": _known(options.identifiers, guess.identifiers, look.shared),
            "sensitive": _known(options.sensitive, guess.sensitive, look.released.columns),
        }
        self._boxes.clear()
        self._place.clear()
        with self._place:
            self._said = text("", "p", "words guess")
            self._say()
            with box("div", "controls columns"):
                self._group("identifiers", look.shared, _KNOWN)
                self._group("sensitive", look.released.columns, _WANTED)
                self._name(look)
            details = box("details", "more", open=True if options.hierarchies else None)
            with details:
                text("Hierarchies and noise", "summary")
                self._inside = box("div")
            self._more()

    def _say(self) -> None:
        """Which of them are guesses."""
        options = self._options
        told = options.identifiers, options.sensitive, options.name or None
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
        with box("fieldset", "field checks"):
            text(FIELDS[part], "legend", "name")
            for column in columns:
                self._boxes[part, column] = check_box(
                    column,
                    column in self._on[part],
                    partial(self._ticked, part, column),
                    label=f"{FIELDS[part]}: {column}",
                )
            text(hint, "small", "soft")

    def _ticked(self, part: str, column: str, on: bool) -> None:
        other = "sensitive" if part == "identifiers" else "identifiers"
        self._set(part, column, on)
        if on and column in self._on[other]:  # what an attacker knows is nothing to find out
            self._set(other, column, False)
        for each in ("identifiers", "sensitive"):
            setattr(self._options, each, tuple(self._on[each]))
        kept = set(self._on["identifiers"])
        options = self._options
        options.tolerance = {name: one for name, one in options.tolerance.items() if name in kept}
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
        select(
            FIELDS["name"],
            names,
            self._options.name or guess or "",
            self._named,
            hint="Of the original table; it is used in the answer only.",
        )

    def _named(self, given: Any) -> None:
        name = str(given)
        self._options.name = name if name in self._look.original.columns else ""
        self._say()
        self._tell()

    def _more(self) -> None:
        """Hierarchies that were dropped, and how far released numbers may be off."""
        options = self._options
        known = {
            name: one.name
            for name, one in options.hierarchies.items()
            if name in self._on["identifiers"]
        }
        self._inside.clear()
        with self._inside:
            text(
                "A hierarchy says what each value may have become, level by level, as ARX writes "
                "it: drop its file along, named by its column.",
                "p",
                "soft",
            )
            for name, file in known.items():
                text(f"Hierarchy of {name}: {file}", "p")
            with box("div", "controls"):
                for column in self._on["identifiers"]:
                    value = options.tolerance.get(column)
                    field(
                        f"{FIELDS['tolerance']}: {column}",
                        "" if value is None else f"{value:g}",
                        partial(self._set_tolerance, column),
                        placeholder="exact",
                        kind="number",
                    )

    def _set_tolerance(self, column: str, given: Any) -> None:
        try:
            value = float(given)
        except ValueError:
            value = 0.0
        self._options.tolerance.pop(column, None)
        if 0.0 < value < math.inf:
            self._options.tolerance[column] = value
        self._tell()

    def _tell(self) -> None:
        background_tasks.create(self._changed(), name="studio columns")


def _known(
    told: tuple[str, ...] | None, guess: tuple[str, ...], columns: tuple[str, ...]
) -> list[str]:
    """Columns that are ticked."""
    wanted = guess if told is None else told
    return [column for column in columns if column in wanted]
