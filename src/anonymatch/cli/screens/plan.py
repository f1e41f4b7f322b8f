"""Plans for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import several
from anonymatch.planning import plan_figures, width_in_words
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["plan_screen"]


def plan_screen(plan: am.NetworkPlan) -> list[RenderableType]:
    """What to take and why; the front; and what nothing can reach."""
    rate = amount(plan.messages)
    screen = [
        terminal.heading(f"{plan.network}, {rate} messages per second: plan"),
        terminal.paragraph(plan.verdict),
    ]
    if lines := plan_figures(plan):
        screen.append(terminal.figures(lines))
    screen.append(terminal.indented(_front(plan)))
    screen.append(terminal.paragraph(_words(plan)))
    return screen


def _front(plan: am.NetworkPlan) -> RenderableType:
    share = percent(plan.request.targets.worst)
    swept = bool(plan.request.widths)
    table = terminal.columns(
        "network and law" if swept else "law",
        right=("cover", "mean delay", "99 % delay", "entropy", f"worst {share}", "low", "meets"),
    )
    for setting in plan.front_settings:
        table.add_row(
            Text(f"{setting.request.network} {setting.law}" if swept else setting.law),
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
    number = len({one.key for one in (*plan.tried, *plan.confirmations)})
    were = f"{several(number, 'setting')} {'was' if number == 1 else 'were'}"
    front = (
        f"The front: {were} tried, and no other beats these in the anonymity set of the worst, "
        "mean delay and packets. A target is met if the bound of its interval meets it."
    )
    words = [front, width] if (width := width_in_words(plan)) else [front]
    if plan.request.network.shape == "free":
        words.append(
            "Routes end after each hop with the same probability: an attacker who knows how long "
            "routes are learns more."
        )
    if plan.request.traffic.hours:
        words.append("Each hour is assumed to be long compared with the delays.")
    words.append(
        f"The attacker {plan.request.adversary.in_words}, and knows the mixes; hops are "
        "independent. An attacker who sees only both ends learns less. The ceiling is for Poisson "
        "traffic whose cover goes from end to end; cover created inside raises it. Threshold and "
        "pool mixes look best until traffic stops or an attacker sends messages: check the 99 % "
        "delay and the n-1 attack. Users who stay the same over many rounds lose more anonymity: "
        "see 'anonymatch rounds'."
    )
    words.append(f"Seed {plan.seed}.")
    return " ".join(words)
