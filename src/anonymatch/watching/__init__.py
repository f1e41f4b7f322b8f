"""Anonymity of mixes that run: from how many packets are inside them, coarse enough to be told."""

from anonymatch.watching.exporter import METRICS, Exporter, address_named
from anonymatch.watching.figures import MixFigures, NetworkFigures, Report, coarse
from anonymatch.watching.lines import reports_of_lines
from anonymatch.watching.prometheus import Prometheus, reports_of_prometheus
from anonymatch.watching.windows import (
    LEAST_PACKETS,
    LEAST_SECONDS,
    Alarm,
    Gauge,
    Windows,
)

__all__ = [
    "LEAST_PACKETS",
    "LEAST_SECONDS",
    "METRICS",
    "Alarm",
    "Exporter",
    "Gauge",
    "MixFigures",
    "NetworkFigures",
    "Prometheus",
    "Report",
    "Windows",
    "address_named",
    "coarse",
    "reports_of_lines",
    "reports_of_prometheus",
]
