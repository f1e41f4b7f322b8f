"""A plan as a page: what to take, the front, and the picture of what delay and cover buy."""

from __future__ import annotations

from anonymatch.base.numbers import amount, percent
from anonymatch.planning import (
    NetworkPlan,
    cover_in_words,
    covers,
    front_by_delay,
    trade_chart,
    width_in_words,
)
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import (
    Panel,
    Section,
    document,
    panel_section,
    render,
    script,
    style,
)
from anonymatch.reporting.html.tables import table

__all__ = ["plan_html"]


def plan_html(plan: NetworkPlan, *, command: str | None = None) -> str:
    """A page that needs nothing else.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", worst=(0.01, 8))
    >>> "threshold:10" in plan_html(found)
    True
    """
    sections = [_verdict(plan), _settings(plan), _delays(plan), _late(plan), _trade(plan)]
    return document(
        f"Plan of {plan.network}",
        lead=f"{amount(plan.messages)} messages a second, seed {plan.seed}. {command or ''}",
        sections=tuple(sections),
        script=script(),
    )


def _verdict(plan: NetworkPlan) -> Section:
    body = render("audit_verdict.html", verdict=plan.verdict, gates=())
    return Section("verdict", "Verdict", body, style=style())


def _settings(plan: NetworkPlan) -> Section:
    share = percent(plan.request.targets.worst)
    heads = (
        "network", "law", "cover", "mean delay, s", "99 % delay, s", "queue delay, s",
        "entropy, bits", "ceiling, bits", f"worst {share} hide among", "at least", "identified",
        "n-1 attack", "meets",
    )  # fmt: skip
    rows = [
        (
            str(setting.request.network),
            setting.law,
            amount(setting.cover),
            amount(setting.mean_delay.value),
            amount(setting.delay_99.value),
            "" if setting.queue_delay is None else amount(setting.queue_delay),
            f"{setting.entropy.value:.2f}",
            "" if setting.ceiling is None else f"{setting.ceiling.value:.2f}",
            amount(setting.worst.value),
            amount(setting.worst.low),
            percent(setting.identified.value),
            setting.n1_price,
            "yes" if setting.meets else "no",
        )
        for setting in plan.front_settings
    ]
    before = [
        "No other setting that was tried beats these in worst, mean delay and packets.",
        f"Entropy, worst and identified are for an attacker who {plan.request.adversary.in_words}.",
        "The ceiling bounds the entropy at the delay and cover of a setting.",
        "It holds for every attacker who sees at least both ends, and needs Poisson traffic.",
        "Cover goes from end to end; cover created inside would count by its departures.",
        "The queue delay comes in addition if clients send at a steady pace.",
        *([words] if (words := width_in_words(plan)) else []),
    ]
    return panel_section(
        "front", "The front", before=before, tables=[("Settings", table(heads, rows))]
    )


def _delays(plan: NetworkPlan) -> Section:
    return _panels(plan, "delays", "What delay buys", late=False)


def _late(plan: NetworkPlan) -> Section:
    return _panels(plan, "late", "The same by the delay of 99 %", late=True)


def _panels(plan: NetworkPlan, name: str, title: str, *, late: bool) -> Section:
    """One chart a level of cover: what the worst hide among, by delay, a line a kind of mix."""
    panels = [
        Panel(
            embedded(front_by_delay(plan, cover, late=late), f"{name}-{amount(cover)}"),
            f"With {cover_in_words(cover)}. Dashes: 95 % confidence interval.",
        )
        for cover in covers(plan)
    ]
    words = (
        ["Nothing can be above the ceiling: no mix and no network, whatever it does."]
        if not late
        else ["Mixes that wait for a number of messages keep the last ones for long."]
    )
    return panel_section(name, title, panels, before=words)


def _trade(plan: NetworkPlan) -> Section:
    """Delay against packets for the same anonymity, and the ceiling's hyperbola."""
    among = plan.request.targets.among or 20.0
    chart = embedded(trade_chart(plan), "cover")
    words = (
        f"The shortest mean delay with which the worst hide among {amount(among)}, by packets a "
        "message. Left of the ceiling nothing hides even the average message among so many."
    )
    return panel_section("trade", "Delay against cover", [Panel(chart, words)], before=[])
