"""What a plan says in a sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonymatch.base.numbers import amount, percent

if TYPE_CHECKING:
    from anonymatch.planning.result import NetworkPlan, Setting

__all__ = [
    "cover_in_words",
    "missed_in_words",
    "setting_in_words",
    "verdict",
    "width_in_words",
]

_UNITS = {"mean_delay": " s", "delay_99": " s", "packets": " packets a message"}
_NAMES = {
    "mean_delay": "the mean delay",
    "delay_99": "the delay of 99 %",
    "packets": "cover",
    "identified": "the share known for certain",
    "worst": "what the worst hide among",
}


def verdict(plan: NetworkPlan) -> str:
    """What to do; or which target fails, by how much, and what comes nearest."""
    targets = plan.request.targets
    if plan.best is not None:
        return f"Take {_placed(plan, plan.best)}."
    width = plan.width_needed
    if width is not None:
        share = percent(plan.corrupt_path_share)
        return (
            f"Nothing meets the targets: {share} of all messages pass corrupt mixes only, at any "
            f"delay and with any cover; with {width} mixes a layer at most "
            f"{percent(targets.worst)} do."
        )
    if targets.among is not None and plan.ceiling < (1 - targets.worst) * math.log2(targets.among):
        return (
            "Nothing can meet the targets, whatever the mix: with this traffic and the delay asked "
            f"messages hide among {amount(2**plan.ceiling)} at most on average (the ceiling); "
            f"{amount(targets.among)} for all but the worst take a mean delay of at least "
            f"{amount(plan.least_delay)} s.{_nearest(plan)}"
        )
    return f"No setting that was tried meets the targets.{_nearest(plan)}"


def _nearest(plan: NetworkPlan) -> str:
    if plan.nearest is None:
        return ""
    missed = "; ".join(missed_in_words(plan.nearest))
    missed = missed or "the sweep meets the targets, and the budget was too short to confirm it"
    return f" Nearest is {_placed(plan, plan.nearest)}; there {missed}."


def _placed(plan: NetworkPlan, setting: Setting) -> str:
    """The setting, with its network where widths were swept."""
    words = setting_in_words(setting)
    return f"{setting.request.network} and {words}" if plan.request.widths else words


def width_in_words(plan: NetworkPlan) -> str:
    """What width decides: by the sweep, or how to sweep it; nothing where there is no width."""
    if plan.request.network.shape != "stratified":
        return ""
    if not plan.by_width:
        layers = plan.request.network.layers
        return (
            f"The width is fixed at {plan.network}, and it decides: fewer mixes per layer hide "
            "messages better at the same delay, and more are needed against corrupt mixes; sweep "
            f"it with --network {layers}x1-80."
        )
    share = percent(plan.request.targets.worst)
    rows = ", ".join(f"{amount(one.worst.value)} in {one.request.network}" for one in plan.by_width)
    return (
        f"Width decides: within the delays and packets allowed the worst {share} hide among at "
        f"most {rows}."
    )


def cover_in_words(cover: float) -> str:
    """Return the cover of a setting, in packets per message.

    Examples
    --------
    >>> [cover_in_words(cover) for cover in (0, 1, 3)]
    ['no cover', '1 cover packet per message', '3 cover packets per message']
    """
    if not cover:
        return "no cover"
    return f"{amount(cover)} cover {'packet' if cover == 1 else 'packets'} per message"


def setting_in_words(setting: Setting) -> str:
    """Its law, cover and figures."""
    share = percent(setting.request.targets.worst)
    cover = cover_in_words(setting.cover)
    return (
        f"{setting.law} with {cover}: {amount(setting.mean_delay.value)} s on average, and the "
        f"worst {share} hide among {amount(setting.worst.value)} (at least "
        f"{amount(setting.worst.low)})"
    )


def missed_in_words(setting: Setting) -> list[str]:
    """Targets that it misses, with both numbers."""
    words = []
    for name, reached, asked in setting.missed():
        unit = _UNITS.get(name, "")
        shown = (
            (percent(reached), percent(asked))
            if name == "identified"
            else (f"{amount(reached)}{unit}", f"{amount(asked)}{unit}")
        )
        side = "at least" if name == "worst" else "up to"
        words.append(f"{_NAMES[name]} is {side} {shown[0]} where {shown[1]} was asked")
    return words
