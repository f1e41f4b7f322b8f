"""watch: how anonymous are packets in mixes that run, from the number of packets inside?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import DONE, MISSED, note
from anonymatch.cli.options import Options
from anonymatch.cli.presenting import present
from anonymatch.monitoring import WatchOptions

if TYPE_CHECKING:
    from anonymatch.monitoring import Window, Windows

__all__: list[str] = []


@command()
def watch(*, asked: WatchOptions, options: Options) -> int:
    """How anonymous are packets right now? From gauges of mixes.

    The number of packets inside is all that an observer of an exponential mix, a pool or a batch
    learns, so gauges suffice: from Prometheus, or as lines {"time": 30, "mix": "m1", "inside": 4}
    on standard input. Reports cover at least five minutes and a hundred packets, in two digits:
    more detail would help the attacker.
    """
    from anonymatch.monitoring import Alarm, Exporter, Windows, address_named
    from anonymatch.planning import Network

    windows = Windows(
        every=asked.every,
        network=None if asked.network is None else Network.named(asked.network),
        hop=asked.hop,
        alarm=Alarm(bits=asked.alarm, alone=asked.alarm_alone),
    )
    if asked.exit_ and not windows.alarm.wanted and asked.network is None:
        raise InputError(
            "--exit: there is no alarm to end at; add --alarm, --alarm-alone or --network"
        )
    if asked.i_know and asked.listen is None:
        raise InputError("--i-know: nothing is told to others without --listen")
    address = None if asked.listen is None else address_named(asked.listen, known=asked.i_know)
    reports = _reports(windows, asked)
    exporter = None if address is None else Exporter(*address)
    if address is not None:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        note(f"figures are at http://{host}:{address[1]}/metrics")
    code = DONE
    for report in reports:
        if exporter is not None:
            exporter.publish(report)
        _tell(report, asked.json)
        if report.alarms:
            code = MISSED
            if asked.exit_:
                break
    return code


def _reports(windows: Windows, asked: WatchOptions) -> Iterator[Window]:
    """Reports from where they come from; what was given and has no use there is refused."""
    from anonymatch.monitoring import Prometheus, reports_of_lines, reports_of_prometheus

    if asked.prometheus is None:
        given = {
            "--pool": asked.pool,
            "--rate": asked.rate,
            "--mix-label": asked.mix_label,
            "--once": asked.once or None,
        }
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name}: this is for a server; name it with --prometheus URL")
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError(
                "there is nothing to watch; give --prometheus URL --pool METRIC, or JSON lines on "
                "standard input"
            )
        return reports_of_lines(sys.stdin.buffer, windows)
    if asked.pool is None:
        raise InputError(
            "--prometheus needs --pool METRIC: the gauge of how many packets are inside a mix"
        )
    return reports_of_prometheus(
        Prometheus(asked.prometheus),
        windows,
        pool=asked.pool,
        rate=asked.rate,
        mix_label=asked.mix_label or "instance",
        once=asked.once,
        note=note,
    )


def _tell(window: Window, as_json: bool) -> None:
    from anonymatch.monitoring import watch_report

    present(watch_report(window), record=json_output.plain(window.to_dict()) if as_json else None)
    sys.stdout.flush()
