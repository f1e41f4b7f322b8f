"""Windows in words: the only place that turns what was watched into a report."""

from __future__ import annotations

from datetime import UTC, datetime

from anonymatch.base.numbers import amount
from anonymatch.base.text import label, several
from anonymatch.monitoring.figures import Window
from anonymatch.reporting.report import (
    AMOUNT,
    SECONDS,
    SHARE,
    Column,
    Note,
    Report,
    Section,
    Table,
)

__all__ = ["watch_report"]

_SHOWN = 10  # lines of a list
_SINCE_1970 = 1e9  # seconds; smaller times are of another clock


def watch_report(window: Window) -> Report:
    """Return the mixes with the fewest bits, the network, missing mixes and alarms.

    Examples
    --------
    >>> from anonymatch.monitoring import MixFigures
    >>> window = Window(
    ...     time=300.0, mixes=(MixFigures.of("m1", 300.0, {3.0: 10}),), withheld={}, network=None,
    ...     alarms=())
    >>> report = watch_report(window)
    >>> report.title, report.subject
    ('300 s', '1 of 1 mix')
    """
    known = len(window.mixes)
    lists = {
        "No figures for": [f"{label(mix)}: {why}" for mix, why in window.withheld.items()],
        "ALARM": list(window.alarms),
    }
    lag = f"Latest samples are up to {amount(window.lag)} s old. " if window.mixes else ""
    return Report(
        title=_when(window.time),
        subject=f"{known} of {several(known + len(window.withheld), 'mix', 'mixes')}",
        attacker=(
            f"{lag}Assumes Poisson between samples. Own bits are for an attacker who sees every "
            "link."
        ),
        headline=_network(window),
        tables=(_mixes(window),) if window.mixes else (),
        notes=tuple(
            Note(text=title, section="mixes", bullets=_first(lines))
            for title, lines in lists.items()
            if lines
        ),
        sections=(Section("mixes", "Mixes"),),
    )


def _when(time: float) -> str:
    if time < _SINCE_1970:
        return f"{time:g} s"
    return f"{datetime.fromtimestamp(round(time), UTC):%Y-%m-%d %H:%M:%S} UTC"


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return lines[:_SHOWN] + ([f"and {more} more"] if more > 0 else [])


def _network(window: Window) -> tuple[str, ...]:
    network = window.network
    if network is None:
        return ()
    mixes = several(network.mixes, "mix", "mixes")
    return (
        (
            f"Network {network.network}, from {mixes}: about {amount(network.bits)} own bits "
            f"(at most: deep pools {amount(network.deep_bits)}, hops added up "
            f"{amount(network.thin_bits)}, ceiling {amount(network.ceiling_bits)})."
        ),
    )


def _mixes(window: Window) -> Table:
    worst = sorted(window.mixes, key=lambda one: (one.bits, one.mix))
    return Table(
        key="mixes",
        title="",
        section="mixes",
        columns=(
            Column("mix"),
            Column("inside", AMOUNT),
            Column("own bits", AMOUNT),
            Column("log2 of those inside", AMOUNT),
            Column("alone", SHARE),
            Column("window", SECONDS),
        ),
        rows=[
            (label(one.mix), one.inside, one.bits, one.joint_bits, one.alone, one.seconds)
            for one in worst
        ],
        noun="mix",
        nouns="mixes",
    )
