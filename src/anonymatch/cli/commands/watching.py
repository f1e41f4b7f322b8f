"""Watch mixes that run: how well packets are hidden in them, from how many are inside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from anonymatch.base.errors import InputError
from anonymatch.cli import json_output
from anonymatch.cli.app import app
from anonymatch.cli.console import DONE, MISSED, note
from anonymatch.cli.options import Options, above_zero, command, from_zero, option
from anonymatch.cli.presenting import present

if TYPE_CHECKING:
    from anonymatch.monitoring import Window, Windows

__all__: list[str] = []


def _share(text: str) -> float:
    """0.01 or 1%."""
    percent = text.strip().endswith("%")
    try:
        value = float(text.strip().rstrip("%")) / (100 if percent else 1)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no probability; give 0.01 or 1%") from None
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"{text} is out of range; give a probability such as 1%")
    return value


@command(app, acts=())
def watch(
    *,
    prometheus: Annotated[
        str | None,
        option("--prometheus", "Ask this server; else JSON lines are read.", metavar="URL"),
    ] = None,
    pool: Annotated[
        str | None,
        option("--pool", "Its gauge of the packets inside a mix.", metavar="METRIC"),
    ] = None,
    rate: Annotated[
        str | None,
        option("--rate", "Its metric of packets through a mix.", metavar="METRIC"),
    ] = None,
    mix_label: Annotated[
        str | None,
        option("--mix-label", "The label that names mixes (instance).", metavar="LABEL"),
    ] = None,
    hop: Annotated[
        float | None,
        option(
            "--hop",
            "Mean delay of a mix, in place of a rate.",
            metavar="SECONDS",
            parser=above_zero("delay"),
        ),
    ] = None,
    network: Annotated[
        str | None,
        option("--network", "Also tell of LxW, cascade:L or one.", metavar="SHAPE"),
    ] = None,
    every: Annotated[
        float,
        option(
            "--every",
            "Length of a window (300, and no less).",
            metavar="SECONDS",
            parser=above_zero("length"),
        ),
    ] = 300.0,
    alarm: Annotated[
        float | None,
        option(
            "--alarm",
            "Alarm below so many own bits: of the network, or of a mix.",
            metavar="BITS",
            parser=from_zero("bits"),
        ),
    ] = None,
    alarm_alone: Annotated[
        float | None,
        option(
            "--alarm-alone",
            "Alarm if more packets meet nobody in a mix.",
            metavar="P",
            parser=_share,
        ),
    ] = None,
    exit_: Annotated[bool, option("--exit", "End with code 1 at the first alarm.")] = False,
    once: Annotated[bool, option("--once", "Tell one window of Prometheus, and end.")] = False,
    listen: Annotated[
        str | None,
        option("--listen", "Tell Prometheus at 127.0.0.1:PORT/metrics.", metavar="[HOST:]PORT"),
    ] = None,
    i_know: Annotated[
        bool, option("--i-know", "Let others than this machine read there, too.")
    ] = False,
    json: Annotated[bool, option("--json", "Print one JSON object a window.")] = False,
    options: Options,
) -> int:
    """How well are packets hidden right now? From gauges of mixes.

    The number of packets inside is all that an observer of an
    exponential mix, a pool or a batch learns, so gauges suffice:
    from Prometheus, or as lines {"time": 30, "mix": "m1",
    "inside": 4} on standard input. Told are windows of five
    minutes and a hundred packets at least, in two digits: more
    would help the attacker.
    """
    from anonymatch.monitoring import Alarm, Exporter, Windows, address_named
    from anonymatch.planning import Network

    windows = Windows(
        every=every,
        network=None if network is None else Network.named(network),
        hop=hop,
        alarm=Alarm(bits=alarm, alone=alarm_alone),
    )
    if exit_ and not windows.alarm.wanted and network is None:
        raise InputError(
            "--exit: there is no alarm to end at; add --alarm, --alarm-alone or --network"
        )
    if i_know and listen is None:
        raise InputError("--i-know: nothing is told to others without --listen")
    address = None if listen is None else address_named(listen, known=i_know)
    reports = _reports(windows, prometheus, pool, rate, mix_label, once)
    exporter = None if address is None else Exporter(*address)
    if address is not None:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        note(f"figures are at http://{host}:{address[1]}/metrics")
    code = DONE
    for report in reports:
        if exporter is not None:
            exporter.publish(report)
        _tell(report, json)
        if report.alarms:
            code = MISSED
            if exit_:
                break
    return code


def _reports(
    windows: Windows,
    prometheus: str | None,
    pool: str | None,
    rate: str | None,
    mix_label: str | None,
    once: bool,
) -> Iterator[Window]:
    """Reports from where they come from; what was given and has no use there is refused."""
    from anonymatch.monitoring import Prometheus, reports_of_lines, reports_of_prometheus

    if prometheus is None:
        given = {"--pool": pool, "--rate": rate, "--mix-label": mix_label, "--once": once or None}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name}: this is for a server; name it with --prometheus URL")
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError(
                "there is nothing to watch; give --prometheus URL --pool METRIC, or JSON lines on "
                "standard input"
            )
        return reports_of_lines(sys.stdin.buffer, windows)
    if pool is None:
        raise InputError(
            "--prometheus needs --pool METRIC: the gauge of how many packets are inside a mix"
        )
    return reports_of_prometheus(
        Prometheus(prometheus),
        windows,
        pool=pool,
        rate=rate,
        mix_label=mix_label or "instance",
        once=once,
        note=note,
    )


def _tell(window: Window, as_json: bool) -> None:
    from anonymatch.monitoring import watch_report

    present(watch_report(window), record=json_output.plain(window.to_dict()) if as_json else None)
    sys.stdout.flush()
