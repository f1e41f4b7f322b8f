"""Charts of an attack: what is left after each exposure."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from anonymatch.attacks.result import Attack
from anonymatch.charts import AnyChart, Line, line_chart

__all__ = ["attack_charts"]


def attack_charts(attack: Attack) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this attack has, by name.

    Examples
    --------
    >>> import anonymatch as am
    >>> list(attack_charts(am.attack(am.complete(4), steps=3)))
    ['bits', 'doubt']
    """
    charts: dict[str, Callable[[], AnyChart]] = {"bits": partial(_bits, attack)}
    if all(step.in_doubt is not None for step in attack.steps) and attack.steps:
        charts["doubt"] = partial(_doubt, attack)
    return charts


def _bits(attack: Attack) -> AnyChart:
    """Bits left, with an error where they are averages over truths."""
    bits = [log / math.log(2.0) + 0.0 for log in attack.logs]
    errors = [0.0, *(step.log_error / math.log(2.0) for step in attack.steps)]
    low = [max(value - 2 * error, 0.0) for value, error in zip(bits, errors, strict=True)]
    high = [value + 2 * error for value, error in zip(bits, errors, strict=True)]
    drawn = any(errors)
    return line_chart(
        [
            Line(
                "bits left", range(len(bits)), bits, low if drawn else None, high if drawn else None
            )
        ],
        title=f"Exposures one after another, {attack.strategy}",
        x_label="exposed so far",
        y_label="bits left, whole system",
        zero=True,
    )


def _doubt(attack: Attack) -> AnyChart:
    numbers = [step.number for step in attack.steps]
    return line_chart(
        [Line("in doubt", numbers, [float(step.in_doubt or 0) for step in attack.steps])],
        title=f"Users still in doubt, {attack.strategy}",
        x_label="exposed so far",
        y_label="users in doubt",
        zero=True,
    )
