"""One line a measurement: ours, theirs, the ratio, the goal, and whether it is met."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["HEADER", "Line", "Size", "faster", "plain", "summary", "under", "within"]

Size = Literal["tiny", "quick", "full"]
"""tiny checks answers in a moment, quick takes about a minute, full is what the goals are about."""

HEADER = (
    f"{'what':<45} {'ours':>9}  {'beside':<24} {'theirs':>9} {'ratio':>8}  {'goal':<15} verdict"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One measurement; ``passed`` is None where there is no goal."""

    what: str
    ours: float  # seconds
    peer: str = ""
    theirs: float | None = None  # seconds; None: no peer, or it is not installed
    ratio: float | None = None
    goal: str = ""
    passed: bool | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        return {True: "pass", False: "MISS", None: ""}[self.passed]

    def __str__(self) -> str:
        ours, theirs, ratio = self.cells
        line = (
            f"{self.what:<45} {ours:>9}  {self.peer:<24} {theirs:>9} {ratio:>8}  "
            f"{self.goal:<15} {self.verdict}"
        ).rstrip()
        return line + (f"\n    {self.note}" if self.note else "")

    @property
    def cells(self) -> tuple[str, ...]:
        """Ours, theirs and the ratio as people read them."""
        theirs = "" if self.theirs is None else seconds(self.theirs)
        ratio = "" if self.ratio is None else f"{rounded(self.ratio)}x"
        return seconds(self.ours), theirs, ratio

    def record(self) -> dict[str, Any]:
        return asdict(self)


def faster(
    what: str, ours: float, peer: str, theirs: float | None, times: float | None, note: str = ""
) -> Line:
    """We should be at least ``times`` as fast as the peer; no goal if None."""
    ratio = None if theirs is None else theirs / ours
    return Line(
        what=what,
        ours=ours,
        peer=peer if theirs is not None else f"{peer}: not installed",
        theirs=theirs,
        ratio=ratio,
        goal="" if times is None else f">= {times:g}x faster",
        passed=None if ratio is None or times is None else ratio >= times,
        note=note,
    )


def within(
    what: str, ours: float, peer: str, theirs: float, times: float | None, note: str = ""
) -> Line:
    """We should need at most ``times`` the time of what we are held against."""
    ratio = ours / theirs
    return Line(
        what=what,
        ours=ours,
        peer=peer,
        theirs=theirs,
        ratio=ratio,
        goal="" if times is None else f"<= {times:g}x",
        passed=None if times is None else ratio <= times,
        note=note,
    )


def under(what: str, ours: float, limit: float | None, note: str = "") -> Line:
    """We should need at most ``limit`` seconds."""
    return Line(
        what=what,
        ours=ours,
        goal="" if limit is None else f"<= {limit:g} s",
        passed=None if limit is None else ours <= limit,
        note=note,
    )


def plain(what: str, ours: float, *, goal: str, passed: bool | None, note: str = "") -> Line:
    """A goal that is not about seconds, told in the note."""
    judged = None if passed is None else bool(passed)  # numpy's own are no JSON
    return Line(what=what, ours=ours, goal=goal, passed=judged, note=note)


def seconds(value: float) -> str:
    """In the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{rounded(value / size)} {unit}"
    return f"{rounded(value / 1e-6)} us"


def rounded(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def summary(lines: list[Line]) -> str:
    """How many goals are met, and which are not."""
    judged = [line for line in lines if line.passed is not None]
    missed = [line.what for line in judged if not line.passed]
    met = f"{len(judged) - len(missed)} of {len(judged)} goals met"
    return met + (f"; missed: {', '.join(missed)}" if missed else "")
