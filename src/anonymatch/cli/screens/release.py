"""A released table on one screen, in the words of those who answer for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymatch.base import numbers, text
from anonymatch.base.text import Message
from anonymatch.cli.words import option
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.audits import Worst
    from anonymatch.tables import Generalised, Notion, Release

__all__ = ["first_screen", "generalised_screen", "release_screen"]

_SHOWN = 12  # classes of rows that change


def release_screen(audit: am.TableAudit, gates: Sequence[am.Gate] = ()) -> list[RenderableType]:
    """Who is at risk and why, every notion by its name, and what the release is still worth."""
    table = audit.findings
    people, rows = audit.n_users, table.release.n_rows
    size = f"{numbers.plural(people, 'person', 'people')}, {numbers.plural(rows, 'row')}"
    screen: list[RenderableType] = [
        terminal.heading(text.name(f"{audit.name}: {size}")),
        terminal.paragraph(table.headline(audit.identified, audit.n_counted)),
        *(
            terminal.paragraph(Message(note).worded(option))
            for note in (*audit.notes, *table.sentences(), *table.about_present())
        ),
    ]
    if gates:
        screen.append(terminal.bullets("Thresholds:", [gate.text for gate in gates]))
    screen.append(terminal.figures([_line(one) for one in table.notions.values()]))
    screen += _decided(list(table.notions.values()))
    screen += _people(audit)
    used = table.utility
    screen.append(
        terminal.paragraph(
            f"What is left: cells leave open {numbers.percent(used.loss)} of the values of a "
            f"column and a class has {numbers.amount(used.mean_class)} equal rows, on average; "
            f"discernibility {used.discernibility:,}."
        )
    )
    screen.append(
        terminal.paragraph(
            "All ways to match people and rows are taken as equally likely; whoever knows more "
            "than the identifiers does better. By "
            f"{audit.count.method}, {_sure(audit)}, in {numbers.took(audit.seconds)}."
        )
    )
    return screen


def first_screen(name: str, release: Release) -> list[RenderableType]:
    """What equal rows decide, while people and rows are still to be matched."""
    from anonymatch.tables import class_notions

    known = class_notions(release)
    lines = [_line(one) for one in known.values() if one.value is not None]
    paragraph = (
        "First figures. They are exact, and equal rows decide them. Figures that need people and "
        "rows to be matched follow."
    )
    screen = [
        terminal.heading(text.name(f"{name}: {numbers.plural(release.n_rows, 'row')}")),
        terminal.paragraph(paragraph),
        terminal.figures(lines),
    ]
    if "journalist risk" not in known and not release.spare:
        # Each row of a class belongs to another person who is compatible with all of them.
        most = known["prosecutor risk"].text
        mean = numbers.percent(len(release.class_sizes) / release.n_rows)
        screen.append(
            terminal.paragraph(
                f"The journalist risk is at most {most}, and the marketer risk at most {mean}."
            )
        )
    return screen


def _line(notion: Notion) -> terminal.Line:
    better = "more is better" if notion.kind.better == "higher" else "less is better"
    return notion.key, notion.text, f"{notion.kind.meaning} ({better})"


def _decided(notions: Sequence[Notion]) -> list[RenderableType]:
    """What decides them, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for notion in notions:
        if notion.decided_by and notion.value is not None:
            reasons.setdefault(notion.decided_by, []).append(notion.key)
    told = [f"{', '.join(keys)}: {text.name(reason)}" for reason, keys in reasons.items()]
    return [terminal.bullets("Decided by:", told)] if told else []


def _people(audit: am.Audit) -> list[RenderableType]:
    """Those who hide worst."""
    if not audit.worst:
        return []
    present = audit.answers.users.present
    last = "hides among" if present is None else "if in the release"
    table = terminal.columns("person", "likeliest row", "why", right=("probability", last))
    for one in audit.worst:
        table.add_row(*_cells(one, sampled=present is not None))
    return [terminal.paragraph("People at risk:"), terminal.indented(table)]


def _cells(one: Worst, *, sampled: bool) -> tuple[str, ...]:
    guess = "–" if one.guess is None else text.name(one.guess)
    chance, if_present = (
        "–" if share is None else numbers.percent(share)
        for share in (one.probability, one.probability_departed)
    )
    least = "" if one.probability is not None else " or more"
    last = if_present if sampled else f"{one.effective:.3g}{least}"
    return text.name(one.user), guess, one.reason, chance, last


def _sure(audit: am.Audit) -> str:
    if audit.exact:
        return "exact"
    return f"intervals hold with {numbers.percent(audit.confidence)}"


def generalised_screen(
    found: Generalised, title: str, notes: Sequence[str]
) -> list[RenderableType]:
    """What to change in a release, and what every notion is before and after."""
    screen: list[RenderableType] = [
        terminal.heading(text.name(title)),
        terminal.paragraph(found.headline()),
        *(terminal.paragraph(Message(one).worded(option)) for one in notes),
    ]
    if found.changes:
        table = terminal.columns(
            *(column.name for column in found.release.columns), right=("rows",)
        )
        for one in found.changes[:_SHOWN]:
            marked = ["left out", *one.cells()[1:]] if one.after is None else one.cells()
            table.add_row(*(text.name(cell) for cell in marked), f"{len(one.rows):,}")
        more = len(found.changes) - _SHOWN
        rest = f" (the first {_SHOWN}; --json has {more:,} more)" if more > 0 else ""
        screen += [terminal.paragraph(f"What to change{rest}:"), terminal.indented(table)]
    table = terminal.columns("notion", right=("before", "after"))
    for key, kind, before, after in found.notions():
        table.add_row(key, kind.text(before), kind.text(after))
    screen += [terminal.paragraph("What that does:"), terminal.indented(table)]
    return screen
