"""Thresholds as switches: each turns green where it is reached, and red where it is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from anonymatch.audits import AT_MOST, FIGURES, GATES, Audit, Gate, check_gates
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.studio.widgets import box, heading, switch, text
from anonymatch.tables import TableAudit

__all__ = ["Thresholds"]

_FIRST = ("entropy", "entropy_1%", "identified", "surest", "smallest_set", "bits")
"""Those that are there at once; the others unfold."""

_OF_TABLES = (
    "k-anonymity", "global (1,k)", "prosecutor risk", "journalist risk", "l-diversity",
    "t-closeness", "identified",
)  # fmt: skip
"""The same of released tables."""


class Thresholds:
    """The thresholds of one audit; ``on`` has those that are switched on, and is changed here."""

    def __init__(self, audit: Audit, on: dict[str, float], changed: Callable[[], None]) -> None:
        self._audit, self._on, self._changed = audit, on, changed
        self._numbers = {key: on.get(key, FIGURES[key].gate or 0.0) for key in GATES}
        self._places: dict[str, tuple[ui.element, ui.element, ui.html]] = {}
        known = [key for key in GATES if self._known(key)]
        first = _OF_TABLES if isinstance(audit, TableAudit) else _FIRST
        order = [*(key for key in first if key in known), *(key for key in known if key in on)]
        self._first = list(dict.fromkeys(order))
        self._rest = [key for key in known if key not in self._first]

    def build(self) -> None:
        """Put them on the page."""
        heading("Is it good enough?")
        with box("div", "thresholds"):
            self._sum = box("p", "sum", role="status")
            with box("ul", "gates"):
                for key in self._first:
                    self._row(key)
            if self._rest:
                with box("details", "more"):
                    text("More thresholds", "summary")
                    with box("ul", "gates"):
                        for key in self._rest:
                            self._row(key)
        self._total()

    def _known(self, key: str) -> bool:
        """Whether the figure is one of this source; what others only have is not asked of it."""
        try:
            return FIGURES[key].value(self._audit) is not None
        except InputError:
            return False

    def _gate(self, key: str) -> Gate:
        return check_gates(self._audit, {key: self._numbers[key]})[0]

    def _row(self, key: str) -> None:
        figure = FIGURES[key]
        title = figure.title_for(self._audit.observation.nouns)
        place = box("li", "gate")
        with place:
            words = f"{title[:1].upper()}{title[1:]} {'at most' if key in AT_MOST else 'at least'}"
            made = switch(words, key in self._on, partial(self._toggle, key))
            number = box(
                "input",
                "typed",
                type="number",
                min=0,
                step="any",
                defaultValue=f"{self._numbers[key]:g}",
                aria_label=f"{words}, the number",
            )
            number.on(
                "change",
                lambda event: self._set(key, event.args),
                js_handler="(event) => emit(event.target.value)",
            )
            state = text("", "span", "state")
            state.props["role"] = "status"
        self._places[key] = place, made, state
        self._mark(key)

    def _toggle(self, key: str) -> None:
        if key in self._on:
            del self._on[key]
        else:
            self._on[key] = self._numbers[key]
        self._after(key)

    def _set(self, key: str, given: Any) -> None:
        try:
            number = float(given)
            check_gates(self._audit, {key: number})
        except (ValueError, InputError):
            share = key in AT_MOST and FIGURES[key].unit == "share"
            self._places[key][2].set_content(f"give a number{' from 0 to 1' if share else ''}")
            return
        self._numbers[key] = number
        self._on[key] = number  # whoever types a number means it
        self._after(key)

    def _after(self, key: str) -> None:
        self._mark(key)
        self._total()
        self._changed()

    def _mark(self, key: str) -> None:
        place, made, state = self._places[key]
        on = key in self._on
        gate = self._gate(key)
        state_of = "reached" if gate.reached else "missed" if gate.missed else "open"
        look = state_of if on else "off"
        made.props["aria-checked"] = str(on).lower()
        place.classes(remove="off reached missed open", add=look)
        words = {
            "off": f"it is {gate.shown}",
            "reached": f"reached: {gate.shown}",
            "missed": f"missed: {gate.shown}",
            "open": f"not sure: {gate.shown}",
        }[look]
        state.set_content(words)

    def _total(self) -> None:
        gates = [self._gate(key) for key in self._on if key in self._places]
        self._sum.clear()
        what = "release" if isinstance(self._audit, TableAudit) else "system"
        look, words = "off", f"Switch on what this {what} must reach; the address keeps it."
        if gates:
            reached = sum(gate.reached is True for gate in gates)
            look = "reached" if reached == len(gates) else "missed"
            words = (
                f"Good enough: {_all(len(gates))} reached."
                if reached == len(gates)
                else f"Not good enough: {reached} of {plural(len(gates), 'threshold')} reached."
            )
        self._sum.classes(remove="off reached missed", add=look)
        with self._sum:
            text(words, "span")

    def gates(self) -> tuple[Gate, ...]:
        """Those that are on, for the report."""
        return check_gates(self._audit, {key: self._on[key] for key in self._on})


def _all(number: int) -> str:
    return {1: "the threshold is", 2: "both thresholds are"}.get(
        number, f"all {number} thresholds are"
    )
