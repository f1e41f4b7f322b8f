"""Charts of a plan: what delay buys, and what cover buys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from anonymatch.base.numbers import amount, percent
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning.result import NetworkPlan, Setting
from anonymatch.planning.wording import cover_in_words
from anonymatch.reporting.charts import AnyChart, Chosen, FrontLine, Line, front_chart, line_chart

__all__ = ["covers", "front_by_delay", "front_line", "trade_chart"]


def covers(plan: NetworkPlan) -> list[float]:
    """Levels of cover that were tried, in packets a message."""
    return list(dict.fromkeys(setting.cover for setting in _shown(plan)))


def _shown(plan: NetworkPlan) -> list[Setting]:
    """Settings of the network that is shown: a chart is of one width."""
    return [setting for setting in plan.tried if setting.request.network == plan.network]


def front_by_delay(plan: NetworkPlan, cover: float, *, late: bool = False) -> AnyChart:
    """What the worst hide among by delay, a line a kind of mix, at a level of cover.

    ``late``: by the delay of the slowest percent rather than by the mean one. Points have intervals
    (95 %), and their tips the whole setting.
    """
    settings = [setting for setting in _shown(plan) if setting.cover == cover]
    kinds = dict.fromkeys(setting.kind for setting in settings)
    best = plan.best or plan.nearest
    chosen = None
    if best is not None and best.cover == cover:
        worst = best.worst
        chosen = Chosen(best.law, _delay(best, late), worst.value, worst.low, worst.high)
    bounded = not late and math.isfinite(plan.request.busiest)
    return front_chart(
        [front_line(settings, kind, late=late) for kind in kinds],
        title=f"What delay buys with {cover_in_words(cover)}",
        x_label="delay of 99 %, s" if late else "mean delay, s",
        y_label=f"worst {percent(plan.request.targets.worst)} hide among",
        ceiling=_ceiling(plan, cover) if bounded else None,
        chosen=chosen,
        target=plan.request.targets.among,
    )


def trade_chart(plan: NetworkPlan) -> AnyChart:
    """The shortest mean delay for the same anonymity, by packets a message."""
    among = plan.request.targets.among or 20.0
    packets = np.linspace(1, 1 + max(3.0, max(plan.request.cover)), 13)
    least = (among / math.e - 0.5) / plan.request.busiest
    lines = []
    if least > 0:
        delays = (least / (plan.messages * packets)).tolist()
        lines.append(Line("ceiling", delays, packets.tolist()))
    for kind in dict.fromkeys(setting.kind for setting in _shown(plan)):
        points = []
        for cover in covers(plan):
            fit = [
                setting.mean_delay.value
                for setting in _shown(plan)
                if (setting.kind, setting.cover) == (kind, cover) and setting.worst.low >= among
            ]
            if fit:
                points.append((min(fit), 1 + cover))
        if points:
            lines.append(Line(kind, [x for x, _ in points], [y for _, y in points]))
    return line_chart(
        lines,
        title=f"Delay against packets with which the worst hide among {amount(among)}",
        x_label="mean delay, s",
        y_label="packets a message",
        log_x=True,
    )


def _delay(setting: Setting, late: bool) -> float:
    return (setting.delay_99 if late else setting.mean_delay).value


def front_line(settings: Sequence[Setting], kind: str, *, late: bool = False) -> FrontLine:
    """Return the settings of a kind that no setting with a shorter delay exceeds."""
    own = sorted(
        (setting for setting in settings if setting.kind == kind),
        key=lambda setting: (_delay(setting, late), setting.worst.value),
    )
    best: list[Setting] = []
    for setting in own:
        if not best or setting.worst.value >= best[-1].worst.value:
            best.append(setting)
    return FrontLine(
        kind,
        [_delay(setting, late) for setting in best],
        [setting.worst.value for setting in best],
        [setting.law for setting in best],
        [setting.worst.low for setting in best],
        [setting.worst.high for setting in best],
    )


def _ceiling(plan: NetworkPlan, cover: float) -> Callable[[float], float]:
    """Nothing can be above: no mix and no network, whatever it does."""
    network, honest = plan.request.network, 1 - plan.request.adversary.corrupt_users
    links = network.link * (network.layers + 1)
    rate = honest * plan.messages * (1 + cover) * plan.request.busiest
    return lambda delay: float(2 ** mixes.ceiling_bits(rate * max(delay - links, 0.0)))
