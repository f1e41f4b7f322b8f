"""Users marked on the chart of entropies: as a table, as a file, and as targets of an attack."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from nicegui import ui

from anonymatch.audits import Audit
from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import percent, plural
from anonymatch.studio.charts import entropy_chart
from anonymatch.studio.widgets import (
    DrawnChart,
    box,
    button,
    chart,
    drawn_chart,
    field,
    heading,
    link,
    table,
    text,
)

__all__ = ["Marking", "bits_of", "marked_users"]

_ROWS = 200  # marked users that the page shows; the file has all


def bits_of(audit: Audit) -> Floats:
    """Bits of each user; the low end where only the ends are known."""
    shannon = audit.answers.users.shannon
    return np.where(np.isnan(shannon.value), shannon.low, shannon.value)


def marked_users(audit: Audit, stretch: tuple[float, float]) -> list[Hashable]:
    """Counted users whose bits are within a stretch, the fewest bits first.

    Examples
    --------
    >>> import anonymatch as am
    >>> marked_users(am.audit(am.partition([1, 2])), (0.0, 0.5))
    [0]
    """
    bits, users = bits_of(audit), audit.answers.users
    low, high = stretch
    inside = np.flatnonzero(users.counted & (bits >= low - 1e-9) & (bits <= high + 1e-9))
    order = inside[np.argsort(bits[inside], kind="stable")]
    return [users.users[i] for i in order.tolist()]


class Marking:
    """A chart of entropies with a brush, and what is marked by it."""

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

    def drawn(self) -> DrawnChart:
        """The chart; it takes some tenths of a second."""
        bits = bits_of(self._audit)[self._audit.answers.users.counted]
        nouns = self._audit.observation.nouns.users
        made = entropy_chart(bits, nouns=nouns, marked=self._marked)
        return drawn_chart(made, "entropies")

    def build(self, drawn: DrawnChart) -> None:
        """Put the chart and what is marked on the page."""
        words = self._audit.observation.nouns
        heading(f"Mark {words.users} by their entropy")
        self._chart = chart(
            drawn,
            f"Drag over the bars to mark {words.users}: the table below shows them. Bits are the "
            "entropy of the attacker's posterior; few are bad.",
            on_brush=self._brushed,
        )
        low, high = self._shown_ends()
        with box("div", "row ends narrow", role="group", aria_label="The same by typing"):
            self._fields = [
                field("From bits", low, lambda given: self._typed(0, given), kind="number"),
                field("To bits", high, lambda given: self._typed(1, given), kind="number"),
            ]
            button("Mark nobody", self._unmark)
        self._place = box("div")
        self._show()

    def _shown_ends(self) -> list[str]:
        return ["", ""] if self._marked is None else [f"{end:.4g}" for end in self._marked]

    def _fill(self) -> None:
        """What the brush marks stands in the fields too."""
        for place, value in zip(self._fields, self._shown_ends(), strict=True):
            ui.run_javascript(f"studio.fill({place.html_id!r}, {value!r})")

    def _typed(self, end: int, given: Any) -> None:
        try:
            number = float(given)
        except ValueError:
            return
        if not math.isfinite(number):
            return
        ends = list(self._marked or (0.0, max(number, float(bits_of(self._audit).max()))))
        ends[end] = number
        self._mark((min(ends), max(ends)))
        self._chart.draw(self.drawn())

    def _unmark(self) -> None:
        self._mark(None)
        self._fill()
        self._chart.draw(self.drawn())

    def _brushed(self, given: Any) -> None:
        if not given:
            self._mark(None)
            self._fill()
            return
        low, high = sorted(float(end) for end in given[:2])
        close = 0.01 * max(1.0, float(bits_of(self._audit).max()))
        if self._marked is not None and all(
            abs(new - old) < close for new, old in zip((low, high), self._marked, strict=True)
        ):
            return  # the chart was drawn with this mark, and tells its pixels
        self._mark((low, high))
        self._fill()

    def _mark(self, marked: tuple[float, float] | None) -> None:
        if marked == self._marked:
            return
        self._marked = marked
        self._changed(marked)
        self._show()

    def _show(self) -> None:
        self._place.clear()
        if self._marked is None:
            return
        audit, words = self._audit, self._audit.observation.nouns
        names = marked_users(audit, self._marked)
        low, high = self._marked
        with self._place, box("section", "pane marked", aria_label=f"Marked {words.users}"):
            text(
                f"{plural(len(names), words.user, words.users)} of {audit.n_counted:,} "
                f"{'has' if len(names) == 1 else 'have'} {low:.3g} to {high:.3g} bits.",
                "p",
                "words",
            ).props["role"] = "status"
            if not names:
                return
            link(f"Attack the marked {words.users}", self._attack(), "button main")
            rows = self._rows(names)
            table(
                [words.user, "best guess", "probability", "bits", "candidates", "possible"],
                rows[:_ROWS],
                "marked",
                title=f"Marked {words.users}",
                saved=rows,
            )
            if len(rows) > _ROWS:
                text(f"The {_ROWS} with the fewest bits are shown; the file has all.", "p", "soft")

    def _rows(self, names: list[Hashable]) -> list[list[Any]]:
        users, bits = self._audit.answers.users, bits_of(self._audit)
        index = {user: row for row, user in enumerate(users.users)}
        rows: list[list[Any]] = []
        for name in names:
            row = index[name]
            guess, surest = int(users.guess[row]), float(users.surest.value[row])
            rows.append(
                [
                    str(name),
                    str(users.behaviours[guess]) if 0 <= guess < len(users.behaviours) else "–",
                    "–" if math.isnan(surest) else percent(surest),
                    f"{float(bits[row]):.3g}",
                    int(users.degree[row]),
                    int(users.allowed[row]),
                ]
            )
        return rows
