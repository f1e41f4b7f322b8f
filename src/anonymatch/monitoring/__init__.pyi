"""Anonymity of mixes that run: from how many packets are inside them, coarse enough to be told."""

from anonymatch.monitoring.exporter import (
    Exporter as Exporter,
    METRICS as METRICS,
    address_named as address_named,
)
from anonymatch.monitoring.figures import (
    MixFigures as MixFigures,
    NetworkFigures as NetworkFigures,
    Window as Window,
    coarse as coarse,
)
from anonymatch.monitoring.options import (
    WatchOptions as WatchOptions,
)
from anonymatch.monitoring.prometheus import (
    Prometheus as Prometheus,
    reports_of_prometheus as reports_of_prometheus,
)
from anonymatch.monitoring.report import (
    watch_report as watch_report,
)
from anonymatch.monitoring.windows import (
    Alarm as Alarm,
    Gauge as Gauge,
    LEAST_PACKETS as LEAST_PACKETS,
    LEAST_SECONDS as LEAST_SECONDS,
    Windows as Windows,
    reports_of_lines as reports_of_lines,
)
