"""Is it good enough, and who is not: thresholds as switches, and users marked by their bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from nicegui import ui

from anonymatch.audits import AT_MOST, FIGURES, GATES, Audit, Gate, check_gates
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.studio import widgets as w
from anonymatch.studio.tuning import TUNING
from anonymatch.tables import TableAudit
from anonymatch.tabular import plain_table

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
        w.heading("Is it good enough?")
        with w.box("div", "thresholds"):
            self._sum = w.box("p", "sum", role="status")
            with w.box("ul", "gates"):
                for key in self._first:
                    self._row(key)
            if self._rest:
                with w.box("details", "more"):
                    w.text("More thresholds", "summary")
                    with w.box("ul", "gates"):
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
        place = w.box("li", "gate")
        with place:
            words = f"{title[:1].upper()}{title[1:]} {'at most' if key in AT_MOST else 'at least'}"
            made = w.switch(words, key in self._on, partial(self._toggle, key))
            w.number_input(f"{words}, the number", self._numbers[key], partial(self._set, key))
            state = w.text("", "span", "state")
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
            w.text(words, "span")

    def gates(self) -> tuple[Gate, ...]:
        """Those that are on, for the report."""
        return check_gates(self._audit, {key: self._on[key] for key in self._on})


def _all(number: int) -> str:
    return {1: "the threshold is", 2: "both thresholds are"}.get(
        number, f"all {number} thresholds are"
    )


def bits_of(audit: Audit) -> Floats:
    """Bits of each user; the low end where only the ends are known."""
    shannon = audit.answers.users.shannon
    return np.where(np.isnan(shannon.value), shannon.low, shannon.value)


def marked_users(audit: Audit, stretch: tuple[float, float]) -> list[Hashable]:
    """Counted users whose bits, as a report shows them, are within a stretch; the fewest first.

    Examples
    --------
    >>> import anonymatch as am
    >>> marked_users(am.audit(am.partition([1, 2])), (0.0, 0.5))
    [0]
    """
    bits, users = bits_of(audit), audit.answers.users
    low, high = stretch
    read = _as_shown(bits)
    inside = np.flatnonzero(users.counted & (read >= low - 1e-9) & (read <= high + 1e-9))
    order = inside[np.argsort(bits[inside], kind="stable")]
    return [users.users[i] for i in order.tolist()]


def _as_shown(bits: Floats) -> Floats:
    """Rounded as a report's table has them, so that both mark the same users."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(bits)))
    scale = 10.0 ** (TUNING.digits - 1 - np.where(np.isfinite(power), power, 0.0))
    return np.asarray(np.round(bits * scale) / scale)


class Marking:
    """Users marked by their bits: the chart of the report has the brush, its table shows them.

    ``changed`` gets another range, and ``attack`` returns the address of an attack on the marked.
    """

    def __init__(
        self,
        audit: Audit,
        marked: tuple[float, float] | None,
        *,
        changed: Callable[[tuple[float, float] | None], None],
        attack: Callable[[], str],
    ) -> None:
        self._audit, self._marked = audit, marked
        self._changed, self._attack = changed, attack
        self._place = w.box("div")
        self._show()

    def ranged(self, given: Any) -> None:
        """Take the range that the reader chose on the chart or typed beside the table."""
        marked = None
        if isinstance(given, Sequence) and len(given) == 2:
            most = float(bits_of(self._audit).max(initial=0.0))
            low = 0.0 if given[0] is None else float(given[0])
            high = math.ceil(max(most, low)) if given[1] is None else float(given[1])
            marked = min(low, high), max(low, high)
        if marked != self._marked:
            self._marked = marked
            self._changed(marked)
            self._show()

    def _show(self) -> None:
        self._place.clear()
        audit, words = self._audit, self._audit.observation.nouns
        with self._place:
            if self._marked is None:
                w.text(
                    f"Drag over the chart of entropies, or type bits beside the table, to mark "
                    f"{words.users}: the table shows them only, and an attack can have them as "
                    "targets.",
                    "p",
                    "note",
                )
                return
            names = marked_users(audit, self._marked)
            low, high = self._marked
            with w.box("section", "pane marked", aria_label=f"Marked {words.users}"):
                w.text(
                    f"{plural(len(names), words.user, words.users)} of {audit.n_counted:,} "
                    f"{'has' if len(names) == 1 else 'have'} {low:.3g} to {high:.3g} bits.",
                    "p",
                    "words",
                ).props["role"] = "status"
                if names:
                    with w.box("div", "row"):
                        w.link(f"Attack the marked {words.users}", self._attack(), "button main")
                        save = partial(save_users, audit, "marked", names)
                        w.button(f"Save the marked {words.users} as CSV", save)


def save_users(audit: Audit, name: str, chosen: Sequence[Hashable] | None = None) -> None:
    """Save the table of users, or the rows of some of them, as CSV."""
    rows = audit.frame
    if chosen is not None:
        index = {user: row for row, user in enumerate(audit.answers.users.users)}
        rows = rows[[index[user] for user in chosen]]
    w.save(plain_table(rows).write_csv(), f"{name}.csv", "text/csv")
