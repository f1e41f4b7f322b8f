"""Users marked by the brush of the report's chart: as a file, and as targets of an attack."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from anonymatch.audits import Audit
from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import percent, plural
from anonymatch.studio.widgets import box, button, link, save_table, text

__all__ = ["Marking", "bits_of", "marked_users"]

_DIGITS = 4  # of bits in the table of a report, by which it is filtered


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
    scale = 10.0 ** (_DIGITS - 1 - np.where(np.isfinite(power), power, 0.0))
    return np.asarray(np.round(bits * scale) / scale)


class Marking:
    """Who is marked: the chart of the report has the brush, and its table shows them."""

    def __init__(
        self,
        audit: Audit,
        marked: tuple[float, float] | None,
        *,
        changed: Callable[[tuple[float, float] | None], None],
        attack: Callable[[], str] | None,
    ) -> None:
        self._audit, self._marked = audit, marked
        self._changed, self._attack = changed, attack

    def build(self) -> None:
        """Put what is marked on the page."""
        self._place = box("div")
        self._show()

    def ranged(self, given: Any) -> None:
        """Take the range that the reader chose on the chart or typed beside the table."""
        marked = self._stretch(given)
        if marked != self._marked:
            self._marked = marked
            self._changed(marked)
            self._show()

    def _stretch(self, given: Any) -> tuple[float, float] | None:
        if not isinstance(given, Sequence) or len(given) != 2:
            return None
        most = float(bits_of(self._audit).max(initial=0.0))
        low = 0.0 if given[0] is None else float(given[0])
        high = math.ceil(max(most, low)) if given[1] is None else float(given[1])
        return min(low, high), max(low, high)

    def _show(self) -> None:
        self._place.clear()
        audit, words = self._audit, self._audit.observation.nouns
        with self._place:
            if self._marked is None:
                more = "" if self._attack is None else ", and an attack can have them as targets"
                text(
                    f"Drag over the chart of entropies, or type bits beside the table, to mark "
                    f"{words.users}: the table shows them alone{more}.",
                    "p",
                    "note",
                )
                return
            names = marked_users(audit, self._marked)
            low, high = self._marked
            with box("section", "pane marked", aria_label=f"Marked {words.users}"):
                text(
                    f"{plural(len(names), words.user, words.users)} of {audit.n_counted:,} "
                    f"{'has' if len(names) == 1 else 'have'} {low:.3g} to {high:.3g} bits.",
                    "p",
                    "words",
                ).props["role"] = "status"
                if names:
                    self._actions(names)

    def _actions(self, names: list[Hashable]) -> None:
        words = self._audit.observation.nouns
        with box("div", "row"):
            if self._attack is not None:
                link(f"Attack the marked {words.users}", self._attack(), "button main")
            button(f"Save the marked {words.users} as CSV", lambda: self._save(names))

    def _save(self, names: list[Hashable]) -> None:
        words = self._audit.observation.nouns
        columns = [words.user, "best guess", "probability", "bits", "candidates", "possible"]
        save_table(columns, self._rows(names), "marked")

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
                    f"{float(bits[row]):.4g}",
                    int(users.degree[row]),
                    int(users.allowed[row]),
                ]
            )
        return rows
