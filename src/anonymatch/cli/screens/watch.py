"""Reports of mixes that run, for people: a few lines a window."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from anonymatch.base.numbers import amount, percent
from anonymatch.base.text import label, several
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.monitoring import Report

__all__ = ["watch_screen"]

_SHOWN = 10  # mixes, those with the fewest bits first
_ATTACKER = "Own bits are for an attacker who sees every link."
_SINCE_1970 = 1e9  # seconds; smaller times are of a clock of their own


def watch_screen(report: Report) -> list[RenderableType]:
    """The mixes that hide packets least, the network, and what is missed."""
    told, silent = len(report.mixes), len(report.withheld)
    screen: list[RenderableType] = [
        terminal.heading(
            f"{_when(report.time)}: {told} of {several(told + silent, 'mix', 'mixes')}"
        )
    ]
    if report.mixes:
        screen.append(terminal.indented(_table(report)))
    network = report.network
    if network is not None:
        mixes = several(network.mixes, "mix", "mixes")
        screen.append(
            terminal.paragraph(
                f"Network {network.network}, from {mixes}: about {amount(network.bits)} own bits "
                f"(at most: deep pools {amount(network.deep_bits)}, hops added up "
                f"{amount(network.thin_bits)}, ceiling {amount(network.ceiling_bits)})."
            )
        )
    lines = [f"{label(mix)}: {why}" for mix, why in report.withheld.items()]
    if lines:
        screen.append(terminal.bullets("Nothing is told of", _first(lines)))
    if report.alarms:
        screen.append(terminal.bullets("ALARM", _first(list(report.alarms))))
    lag = f"Latest samples are up to {amount(report.lag)} s old. " if report.mixes else ""
    screen.append(terminal.paragraph(f"{lag}Assumes Poisson between samples. {_ATTACKER}"))
    return screen


def _when(time: float) -> str:
    if time < _SINCE_1970:
        return f"{time:g} s"
    return f"{datetime.fromtimestamp(round(time), UTC):%Y-%m-%d %H:%M:%S} UTC"


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])


def _table(report: Report) -> RenderableType:
    table = terminal.columns(
        "mix", right=("inside", "own bits", "log2 of those inside", "alone", "window")
    )
    worst = sorted(report.mixes, key=lambda one: (one.bits, one.mix))
    for one in worst[:_SHOWN]:
        table.add_row(
            Text(label(one.mix)),
            amount(one.inside),
            amount(one.bits),
            amount(one.joint_bits),
            percent(one.alone),
            f"{amount(one.seconds)} s",
        )
    if len(worst) > _SHOWN:
        table.add_row(f"and {len(worst) - _SHOWN} with more bits")
    return table
