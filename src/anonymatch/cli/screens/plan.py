"""Plans for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from anonymatch.base.numbers import amount, percent, span
from anonymatch.base.text import several
from anonymatch.cli.screens import elements

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.measures import Interval
    from anonymatch.plans import Setting

__all__ = ["plan_screen"]


def plan_screen(plan: am.NetworkPlan) -> list[RenderableType]:
    """What to take and why; the front; and what nothing can reach."""
    request = plan.request
    rate = amount(plan.messages)
    screen = [
        elements.heading(f"{request.network}, {rate} messages a second: plan"),
        elements.paragraph(plan.verdict),
    ]
    setting = plan.best or plan.nearest
    if setting is not None:
        screen.append(elements.figures(_lines(plan, setting)))
    screen.append(elements.indented(_front(plan)))
    screen.append(elements.paragraph(_words(plan)))
    return screen


def _lines(plan: am.NetworkPlan, setting: Setting) -> list[elements.Line]:
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
    if plan.half_life is not None:
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


def _front(plan: am.NetworkPlan) -> RenderableType:
    share = percent(plan.request.targets.worst)
    table = elements.columns(
        "law",
        right=("cover", "mean delay", "99 % delay", "entropy", f"worst {share}", "low", "meets"),
    )
    for setting in plan.front_settings:
        table.add_row(
            Text(setting.law),
            amount(setting.cover),
            f"{amount(setting.mean_delay.value)} s",
            f"{amount(setting.delay_99.value)} s",
            f"{setting.entropy.value:.2f}",
            amount(setting.worst.value),
            amount(setting.worst.low),
            "yes" if setting.meets else "no",
        )
    return table


def _words(plan: am.NetworkPlan) -> str:
    number = len({(one.law, one.cover) for one in (*plan.tried, *plan.confirmations)})
    were = f"{several(number, 'setting')} {'was' if number == 1 else 'were'}"
    front = (
        f"The front: {were} tried, and no other beats these in what the worst hide among, mean "
        "delay and packets. A target is met if the bound of its interval meets it."
    )
    words = [front]
    if plan.request.network.shape == "free":
        words.append(
            "Routes end after each hop with the same probability: an attacker who knows how long "
            "routes are learns more."
        )
    if plan.request.traffic.hours:
        words.append("Each hour is taken to be long beside the delays.")
    words.append(
        "The attacker sees every link, and knows the mixes; hops are independent. Mixes that wait "
        "for numbers look best until traffic stops or somebody sends: mind the delay of 99 % and "
        "the n-1 attack. Users who stay the same over many rounds are worse off: see 'anonymatch "
        "rounds'."
    )
    words.append(f"Seed {plan.seed}.")
    return " ".join(words)
