"""WatchOptions: gauges of running mixes, and alarms."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.base.options import above_zero, from_zero, option, share

__all__ = ["WatchOptions"]


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Gauges of running mixes, alarms, and where figures are served."""

    prometheus: str | None = option(
        None, "Prometheus server; without it, JSON lines are read.", metavar="URL", group="Gauges"
    )
    pool: str | None = option(
        None, "Gauge of the number of packets inside a mix.", metavar="METRIC", group="Gauges"
    )
    rate: str | None = option(
        None, "Metric that counts packets through a mix.", metavar="METRIC", group="Gauges"
    )
    mix_label: str | None = option(
        None, "Label that names mixes.", metavar="LABEL", shown="instance", group="Gauges"
    )
    hop: float | None = option(
        None,
        "Mean delay of a mix in seconds (instead of --rate).",
        metavar="SECONDS",
        unit="s",
        read=above_zero("a delay"),
        group="Gauges",
    )
    network: str | None = option(
        None, "Also report a network: LxW, cascade:L or one.", metavar="SHAPE", group="Gauges"
    )
    every: float = option(
        300.0,
        "Length of a window in seconds, at least 300.",
        metavar="SECONDS",
        unit="s",
        read=above_zero("a length"),
        group="Gauges",
    )
    once: bool = option(False, "Report one window of Prometheus, and exit.", group="Gauges")
    alarm: float | None = option(
        None,
        "Alarm if a message of the network or of a mix has fewer than BITS bits.",
        metavar="BITS",
        unit="bits",
        read=from_zero("bits"),
        group="Alarms",
    )
    alarm_alone: float | None = option(
        None,
        "Alarm if more than the share P of packets is alone in a mix.",
        metavar="P",
        read=share,
        group="Alarms",
    )
    exit_: bool = option(False, "Exit with code 1 at the first alarm.", group="Alarms")
    listen: str | None = option(
        None,
        "Serve the figures to Prometheus at 127.0.0.1:PORT/metrics.",
        metavar="[HOST:]PORT",
        group="Output",
    )
    i_know: bool = option(
        False, "Allow --listen on an address that other machines can reach.", group="Output"
    )
    json: bool = option(False, "Print one JSON object per window.", group="Output")
