"""What a plan says of its setting, line by line: the same in the terminal and in notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonymatch.base.numbers import amount, percent, span

if TYPE_CHECKING:
    from anonymatch.measures import Interval
    from anonymatch.plans.result import NetworkPlan, Setting

__all__ = ["plan_figures"]

Line = tuple[str, str, str]


def plan_figures(plan: NetworkPlan, *, half_life: bool = True) -> list[Line]:
    """Name, value and meaning of what the best setting gives, or else the nearest; none if none.

    The half-life takes a simulation of its own, so it can be left out.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2)
    >>> [name for name, _, _ in plan_figures(plan, half_life=False)][:3]
    ['setting', 'cover', 'mean delay']
    """
    setting = plan.best or plan.nearest
    return [] if setting is None else _lines(plan, setting, half_life)


def _lines(plan: NetworkPlan, setting: Setting, half_life: bool) -> list[Line]:
    share = percent(plan.request.targets.worst)
    how = "simulated again with seeds of its own" if setting.confirmed else "of the sweep"
    lines = [
        ("setting", setting.law, f"{how}: {setting.targets:,} messages followed"),
        ("cover", amount(setting.cover), "cover packets for each message, from end to end"),
        ("mean delay", f"{_span(setting.mean_delay)} s", "from sender to receiver, links included"),
        ("99 % delay", f"{_span(setting.delay_99)} s", "of messages are there by then"),
        (
            "entropy",
            f"{_span(setting.entropy)} bits",
            "mean over messages: which departure it is",
        ),
        (
            f"worst {share}",
            f"hide among {amount(setting.worst.value)}",
            f"at least {amount(setting.worst.low)} with {percent(plan.confidence)} confidence",
        ),
        ("identified", percent(setting.identified.value), _identified(setting)),
        ("n-1 attack", setting.n1_price, "what one mix costs an attacker who may send and block"),
    ]
    if half_life and plan.half_life is not None:
        meaning = "of a user with 3 friends: then half is known of whom they write to, see rounds"
        lines.append(("half-life", f"{amount(plan.half_life.value)} messages", meaning))
    if math.isfinite(plan.ceiling):
        meaning = "what no mix and no network exceeds with the traffic and delay allowed"
        lines.append(("ceiling", f"{plan.ceiling:.2f} bits", meaning))
    if setting.guessing is not None:
        meaning = "until a message is named, the likeliest first (guessing entropy)"
        lines.append(("guesses", amount(setting.guessing.value), meaning))
    if plan.corrupt_path_share:
        lines.append(
            (
                "corrupt paths",
                percent(plan.corrupt_path_share),
                "of messages pass corrupt mixes only: no delay or cover mends it",
            )
        )
    causes = "; ".join(
        f"{percent(share)} {name}"
        for name, share in sorted(setting.causes.items(), key=lambda item: -item[1])
    )
    lines.append(("who they are", f"worst {share}", causes))
    return lines


def _identified(setting: Setting) -> str:
    return f"of messages are known for certain; at most {percent(setting.identified.high)}"


def _span(interval: Interval) -> str:
    return span(interval.value, interval.low, interval.high)
