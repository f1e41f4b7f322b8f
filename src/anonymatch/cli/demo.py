"""The demonstration: the log that comes with the package, audited and explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.cli import audit_pages, pages

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["EXAMPLE", "LAW", "LOG", "demo_page"]

EXAMPLE = Path(__file__).parent.parent / "examples" / "mix.csv"
LOG = EXAMPLE.with_name("mix_log.csv")
LAW = "window:1,6"

_STORY = (
    "Twelve users each send a message through a mix, which holds it for one to six seconds. An "
    "attacker sees who sends when and which messages leave when, so each user fits a few of the "
    "messages. Which message is whose?"
)
_NEXT = (
    "Next: 'anonymatch audit FILE --law window:1,6' for a log of your own with the columns time, "
    "direction, user and behaviour; 'anonymatch count FILE' and its kin for a table of users and "
    "behaviours; 'anonymatch design --users 12 --edges 36' for a better system of the same cost."
)


def demo_page(found: am.Audit) -> list[RenderableType]:
    """The story, the audit, and what to do next."""
    heading, *rest = audit_pages.audit_page(found)
    return [heading, pages.paragraph(_STORY), *rest, pages.paragraph(_NEXT)]
