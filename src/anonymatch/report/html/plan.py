"""A plan as a page: what to take, the front, and the picture of what delay and cover buy."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.numbers import amount, percent
from anonymatch.measures import mixes
from anonymatch.plans import NetworkPlan, Setting
from anonymatch.report.charts.charts import Series, line_chart
from anonymatch.report.html.audit import script, style
from anonymatch.report.html.document import Section, document, panel_section, render
from anonymatch.report.html.tables import table
from anonymatch.report.paper_panels import Panel

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
        f"Plan of {plan.request.network}",
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
        "law", "cover", "mean delay, s", "99 % delay, s", "entropy, bits",
        f"worst {share} hide among", "at least", "identified", "n-1 attack", "meets",
    )  # fmt: skip
    rows = [
        (
            setting.law,
            amount(setting.cover),
            amount(setting.mean_delay.value),
            amount(setting.delay_99.value),
            f"{setting.entropy.value:.2f}",
            amount(setting.worst.value),
            amount(setting.worst.low),
            percent(setting.identified.value),
            setting.n1_price,
            "yes" if setting.meets else "no",
        )
        for setting in plan.front_settings
    ]
    before = ["No other setting that was tried beats these in worst, mean delay and packets."]
    return panel_section(
        "front", "The front", before=before, tables=[("Settings", table(heads, rows))]
    )


def _delays(plan: NetworkPlan) -> Section:
    return _panels(plan, "delays", "What delay buys", late=False)


def _late(plan: NetworkPlan) -> Section:
    return _panels(plan, "late", "The same by the delay of 99 %", late=True)


def _panels(plan: NetworkPlan, name: str, title: str, *, late: bool) -> Section:
    """One chart a level of cover: what the worst hide among, by delay, a line a kind of mix."""
    share = percent(plan.request.targets.worst)
    panels = []
    for cover in dict.fromkeys(setting.cover for setting in plan.tried):
        own = [setting for setting in plan.tried if setting.cover == cover]
        lines = [_curve(own, kind, late) for kind in dict.fromkeys(s.kind for s in own)]
        if not late and math.isfinite(plan.request.busiest):
            lines.append(_ceiling(plan, cover, lines))
        if plan.request.targets.among is not None:
            lines.append(_target(plan, lines))
        best = plan.best or plan.nearest
        if best is not None and best.cover == cover:
            x = best.delay_99.value if late else best.mean_delay.value
            lines.append(
                Series("chosen", [x, x, x], [best.worst.low, best.worst.value, best.worst.high])
            )
        chart = line_chart(
            lines,
            title=f"{amount(cover)} cover packets a message",
            x_label="delay of 99 %, s" if late else "mean delay, s",
            y_label=f"worst {share} hide among",
            log_x=True,
            log_y=True,
        )
        panels.append(Panel(chart, f"With {amount(cover)} cover packets a message."))
    words = (
        ["Nothing can be above the ceiling: no mix and no network, whatever it does."]
        if not late
        else ["Mixes that wait for a number of messages keep the last ones for long."]
    )
    return panel_section(name, title, panels, before=words)


def _curve(settings: list[Setting], kind: str, late: bool) -> Series:
    """The best of a kind at each delay: what a longer one does not improve is left out."""
    points = sorted(
        ((s.delay_99 if late else s.mean_delay).value, s.worst.value)
        for s in settings
        if s.kind == kind
    )
    xs: list[float] = []
    ys: list[float] = []
    for x, y in points:
        if not ys or y >= ys[-1]:
            xs.append(x)
            ys.append(y)
    return Series(kind, xs, ys)


def _range(lines: list[Series]) -> list[float]:
    xs = [x for line in lines for x in line.x]
    return [float(x) for x in np.geomspace(min(xs), max(xs) * 1.0001, 40)]


def _ceiling(plan: NetworkPlan, cover: float, lines: list[Series]) -> Series:
    network, honest = plan.request.network, 1 - plan.request.adversary.corrupt_users
    links = network.link * (network.layers + 1)
    rate = honest * plan.messages * (1 + cover) * plan.request.busiest
    xs = [x for x in _range(lines) if x > links]
    return Series("ceiling", xs, [2 ** mixes.ceiling_bits(rate * (x - links)) for x in xs])


def _target(plan: NetworkPlan, lines: list[Series]) -> Series:
    xs = _range(lines)
    return Series("target", [xs[0], xs[-1]], [plan.request.targets.among] * 2)


def _trade(plan: NetworkPlan) -> Section:
    """Delay against packets for the same anonymity, and the ceiling's hyperbola."""
    among = plan.request.targets.among or 20.0
    packets = np.linspace(1, 1 + max(3.0, max(plan.request.cover)), 40)
    least = (among / math.e - 0.5) / plan.request.busiest
    lines = (
        [Series("ceiling", (least / (plan.messages * packets)).tolist(), packets.tolist())]
        if least > 0
        else []
    )
    for kind in dict.fromkeys(setting.kind for setting in plan.tried):
        points = []
        for cover in dict.fromkeys(setting.cover for setting in plan.tried):
            fit = [
                s.mean_delay.value
                for s in plan.tried
                if s.kind == kind and s.cover == cover and s.worst.low >= among
            ]
            if fit:
                points.append((min(fit), 1 + cover))
        if points:
            lines.append(Series(kind, [x for x, _ in points], [y for _, y in points]))
    chart = line_chart(
        lines,
        title="Delay against packets",
        x_label="mean delay, s",
        y_label="packets a message",
        log_x=True,
    )
    words = (
        f"The shortest mean delay with which the worst hide among {amount(among)}, by packets a "
        "message. Left of the ceiling nothing hides even the average message among so many."
    )
    return panel_section("trade", "Delay against cover", [Panel(chart, words)], before=[])
