"""What an attacker gains who can learn what single users did."""

from __future__ import annotations

from anonymatch.audits import FIGURES, Audit, CampaignStep, ExposedAudit, confidence_of, figure_text
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, plural, shown
from anonymatch.base.text import label
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import Panel, Section, panel_section
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import name_cell, number_cell, unless_exact

__all__ = ["attack_section"]


def attack_section(audit: Audit) -> Section:
    """The best single exposure, and exposures one after another.

    Examples
    --------
    >>> import anonymatch as am
    >>> "costs the whole system 2 bits" in attack_section(am.audit(am.complete(4))).body
    True
    """
    before = [_one_step(audit)]
    if not isinstance(audit, ExposedAudit):
        return panel_section("attack", "Under attack", before=before)
    steps = audit.campaign.steps
    if not steps:
        before.append(f"There is no series of exposures: {audit.campaign.reason}.")
        return panel_section("attack", "Under attack", before=before)
    before.append(_campaign(audit))
    if audit.campaign.reason:
        before.append(f"Here: {audit.campaign.reason}.")
    table = HtmlTable(
        (
            Cell("step", True),
            Cell("exposed", False),
            *(Cell(name, True) for name in ("bits left", "bits lost so far", "still in doubt")),
        ),
        tuple(_row(step, _bits(audit)) for step in steps),
        "",
    )
    return panel_section(
        "attack",
        "Under attack",
        [_curve(audit)],
        before=before,
        tables=[("Who is exposed", table)],
    )


def _bits(audit: Audit) -> float:
    """Of the whole system, before anybody is exposed."""
    return audit.bits.value * audit.n_users


def _all(audit: Audit) -> str:
    """The bits of the whole system, or the ends between which they lie."""
    number, bits = audit.n_users, audit.bits
    whole = Interval(*(number * end for end in (bits.value, bits.low, bits.high)))
    confidence = confidence_of(audit, FIGURES["bits"])
    return figure_text(whole, "", confidence=confidence, seed=audit.seed).short


def _one_step(audit: Audit) -> str:
    step, words = audit.one_step, audit.observation.nouns
    if step is None:
        return "There is nobody to expose."
    confidence = confidence_of(audit, FIGURES["attack"])
    lost = figure_text(step.lost_bits, "", confidence=confidence, seed=audit.seed)
    between = f", {lost.interval}" if lost.interval else ""
    return (
        f"The attacker's best single exposure is {words.user} {label(step.target, 60)}: learning "
        f"what became of it costs the whole system {lost.value} bits{between}, of {_all(audit)}, "
        f"as a mean over all that it may have been.{unless_exact(lost.sure)}"
    )


def _campaign(audit: ExposedAudit) -> str:
    campaign = audit.campaign
    along = (
        "the truth in the log"
        if campaign.truth == "given"
        else f"one truth drawn from the probabilities (seed {campaign.seed})"
    )
    return (
        f"One after another, each the best at that moment, along {along}. So the first step costs "
        "what this truth makes it cost, which may be more or less than the mean above."
    )


def _curve(audit: ExposedAudit) -> Panel:
    steps, total = audit.campaign.steps, _bits(audit)
    left = steps[-1].bits_left
    exposed = plural(len(steps), audit.observation.nouns.user)
    return Panel(
        embedded(audit.chart("exposures"), "exposures"),
        f"Exposing {exposed} takes {amount(total - left)} of {amount(total)} bits. The "
        f"steeper, the more one exposed {audit.observation.nouns.user} betrays others.",
    )


def _row(step: CampaignStep, total: float) -> tuple[Cell, ...]:
    return (
        number_cell(shown(step.number)),
        name_cell(step.target),
        number_cell(amount(step.bits_left)),
        number_cell(amount(total - step.bits_left)),
        number_cell(shown(step.in_doubt)),
    )
