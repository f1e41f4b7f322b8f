"""People with several messages, as a section of an audit."""

from __future__ import annotations

from anonymatch.audits import Audit, figure_text
from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.mixes import MessageAudit, MixAudit
from anonymatch.reporting.html.document import Section, panel_section
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import name_cell, number_cell, unless_exact, users_sure

__all__ = ["people_section"]

_ROWS = 200
_COLUMNS = {
    "sender": "sender",
    "messages": "messages",
    "surest_message": "surest message",
    "probability": "probability",
    "effective": "hides among",
    "receiver": "receiver",
    "receiver_probability": "its probability",
    "receivers_effective": "among receivers",
}
_NAMES = ("sender", "surest_message", "receiver")


def people_section(audit: Audit) -> Section | None:
    """The senders that are worst off; None if nobody has several messages.

    Examples
    --------
    >>> import anonymatch as am
    >>> people_section(am.audit(am.complete(3))) is None
    True
    """
    if not isinstance(audit, MessageAudit) or audit.people is None:
        return None
    columns = [name for name in _COLUMNS if name in audit.people.columns]
    rows = audit.people.select(columns).head(_ROWS).rows()
    more = len(audit.people) - len(rows)
    table = HtmlTable(
        tuple(Cell(_COLUMNS[name], name not in _NAMES) for name in columns),
        tuple(
            tuple(_cell(name, value) for name, value in zip(columns, row, strict=True))
            for row in rows
        ),
        f"and {plural(more, 'more sender')}" if more else "",
    )
    before = (
        "Somebody who sends several messages is as exposed as the surest of them: the message "
        "about which the attacker's best guess is likeliest to be right, and how many it hides "
        "among. Messages to one receiver are added up, since it does not matter to an attacker "
        f"which of them it was. The surest first.{unless_exact(users_sure(audit))}"
    )
    sentences = [before, *_bits(audit)]
    return panel_section("people", "People", before=sentences, tables=[("Senders", table)])


def _bits(audit: Audit) -> list[str]:
    """Doubt about people, which is never more than doubt about messages."""
    if not isinstance(audit, MixAudit) or audit.people_bits is None:
        return []
    people, messages = (
        figure_text(figure, "", confidence=audit.confidence, seed=audit.seed)
        for figure in (audit.people_bits, audit.bits)
    )
    between = f", {people.interval}" if people.interval else ""
    about = (
        f"Joint bits per message about who wrote to whom: {people.value}{between}."
        f"{unless_exact(people.sure)}"
    )
    return [f"{about} About messages they are {messages.value}."]


def _cell(name: str, value: object) -> Cell:
    if name in _NAMES:
        return name_cell(value, "lost")
    if isinstance(value, float):
        return number_cell(percent(value) if name.endswith("probability") else amount(value))
    return number_cell(shown(value))
