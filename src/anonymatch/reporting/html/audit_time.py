"""A log along time: when users hide well, what is inside of the mix, and how long that takes."""

from __future__ import annotations

from anonymatch.audits import Audit, links_of
from anonymatch.mixes import MessageAudit
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import Panel, Section, panel_section, with_hint
from anonymatch.reporting.html.user_table import unless_exact, users_sure

__all__ = ["time_section"]

_ZOOM = "Drag to move, and turn the wheel with Shift held to zoom; a double click takes it back."


def time_section(audit: Audit) -> Section | None:
    """Entropy over the load of the mix, and delays where the truth is known; None of no log.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("exponential:5", messages=50, seed=1)
    >>> section = time_section(am.audit(am.mixes.observe(log, "exponential:5")))
    >>> section.anchor, section.body.count('class="chart"')
    ('time', 2)
    """
    words, panels = audit.observation.nouns, []
    if "time" in audit.charts and isinstance(audit, MessageAudit):
        drawn = embedded(audit.chart("time"), "time")
        panels.append(Panel(drawn, with_hint(_over_time(audit), _ZOOM)))
    if "delay" in audit.charts:
        panels.append(
            Panel(
                embedded(audit.chart("delay"), "delay"),
                f"How long {words.users} were held back, by the truth in the log: what the "
                "anonymity is paid with.",
            )
        )
    return panel_section("time", "Over time", panels) if panels else None


def _over_time(audit: MessageAudit) -> str:
    words = audit.observation.nouns
    near = f" {words.users.capitalize()} near an end of the log are not in the lines."
    ends = "" if audit.observation.edge is None else near
    expected = "" if links_of(audit.answers) is None else "expected "
    no_matrix = (
        " There is no picture of who fits what: whoever is inside fits what leaves, so that this "
        "load is the picture."
    )
    passage = no_matrix if audit.observation.passage is not None else ""
    return (
        f"Above, the entropy of the {words.users} that came in at that time: the mean, and what "
        f"the worst do not exceed.{ends} Below, how many {words.users} are {expected}inside: the "
        "line is the mean, the band goes from the fewest to the most. Each "
        f"{words.user} that leaves is one of those inside: where they are few, it hides among "
        f"few.{passage}{unless_exact(users_sure(audit))}"
    )
