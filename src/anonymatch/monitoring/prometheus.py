"""Gauges that a Prometheus server has scraped, by its query API."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, label, quoted
from anonymatch.monitoring.figures import LIMITS, Window
from anonymatch.monitoring.windows import Gauge, Windows

__all__ = ["Prometheus", "reports_of_prometheus"]

_PATIENCE = 10.0  # seconds for one answer
_METRIC = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(\{[^{}]*\})?")
_PARTS = ("_sum", "_count", "_bucket")
# Nym tells these as gauges, though they only grow.
_GROWING = ("_total", "_count", "_sum", "_received", "_sent", "_dropped")


class Series(NamedTuple):
    """Labels, and values by time."""

    labels: dict[str, str]
    values: list[tuple[float, float]]


class Prometheus:
    """One server: what it says, or one line why not.

    Parameters
    ----------
    url : str
        Where it answers, such as http://127.0.0.1:9090.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                Argument("prometheus"),
                f" must be an address such as http://127.0.0.1:9090, not {url!r}",
            )
        if parts.username is not None:
            raise InputError(
                Argument("prometheus"),
                " must have no password in it: command lines are seen by everybody here",
            )
        # Gauges of pools go to no third party, whatever proxy the environment names.
        self._opener = build_opener(ProxyHandler({}))

    def now(self) -> float:
        """The server's own time: samples are marked with it."""
        with self._understood():
            return float(self._ask("query", query="time()")["result"][0])

    def samples(self, metric: str, end: float, seconds: float) -> list[Series]:
        """Every series of a metric with its samples of so many seconds."""
        with self._understood():
            data = self._ask("query", query=f"{metric}[{round(seconds)}s]", time=f"{end:.3f}")
            return [
                Series(dict(one["metric"]), [(float(at), float(v)) for at, v in one["values"]])
                for one in data["result"]
            ]

    def per_second(self, metric: str, end: float, seconds: float) -> list[Series]:
        """Packets a second by every series: of a counter its growth, of a gauge its mean."""
        with self._understood():
            function = "rate" if self._grows(metric) else "avg_over_time"
            query = f"{function}({metric}[{round(seconds)}s])"
            data = self._ask("query", query=query, time=f"{end:.3f}")
            return [
                Series(dict(one["metric"]), [(end, float(one["value"][1]))])
                for one in data["result"]
            ]

    def names(self) -> list[str]:
        """Of all metrics."""
        with self._understood():
            return [str(name) for name in self._ask("label/__name__/values")]

    def _grows(self, metric: str) -> bool:
        name = _name(metric)
        if name.endswith(_GROWING):
            return True
        known = self._ask("metadata", metric=name).get(name, [])
        return any(one.get("type") == "counter" for one in known)

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """What is not where Prometheus puts it comes from something else."""
        try:
            yield
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise self._strange() from None

    def _ask(self, what: str, **values: str) -> Any:
        address = f"{self.url}/api/v1/{what}" + (f"?{urlencode(values)}" if values else "")
        try:
            with self._opener.open(address, timeout=_PATIENCE) as answer:
                text = answer.read(LIMITS.largest_answer + 1)
        except HTTPError as error:
            raise self._refused(error) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise InputError(
                Argument("prometheus"),
                f" {self.url}: it does not answer ({_line(reason)}); is Prometheus running there?",
            ) from None
        if len(text) > LIMITS.largest_answer:
            raise InputError(
                f"{self.url}: the answer is larger than {LIMITS.largest_answer / 1e6:g} MB"
            )
        try:
            record = json.loads(text)
        except RecursionError:
            raise self._strange() from None
        if record["status"] != "success":
            raise self._strange()
        return record["data"]

    def _refused(self, error: HTTPError) -> InputError:
        """What the server says itself, if it is Prometheus."""
        try:
            reason = json.loads(error.read(100_000))["error"]
        except (ValueError, TypeError, KeyError, OSError, RecursionError):
            reason = f"{error.code} {error.reason}"
        return InputError(Argument("prometheus"), f" {self.url}: it refuses: {_line(reason)}")

    def _strange(self) -> InputError:
        return InputError(
            Argument("prometheus"),
            f" {self.url}: it does not answer as Prometheus does; give the address of the server "
            "and not of what it scrapes, and a gauge",
        )


def _line(reason: object) -> str:
    return label(" ".join(str(reason).split()), 200)


def _name(metric: str) -> str:
    return metric.partition("{")[0]


def checked_metric(metric: str, argument: str) -> str:
    """A metric with labels or without; what is no pool is refused.

    Examples
    --------
    >>> checked_metric('nym_node_process_forward_hop_packets_being_delayed{job="mix"}', "pool")
    'nym_node_process_forward_hop_packets_being_delayed{job="mix"}'
    """
    match = _METRIC.fullmatch(metric.strip())
    if match is None:
        raise InputError(
            Argument(argument),
            f" must be the name of a metric, with labels or without, not {quoted(metric)}; let a "
            "rule of Prometheus make a metric of what is computed",
        )
    name = match[1]
    if argument == "pool":
        _refuse_what_is_no_pool(name)
    return metric.strip()


def _refuse_what_is_no_pool(name: str) -> None:
    base = name
    for part in _PARTS:
        base = base.removesuffix(part)
    if base == "katzenpost_mix_queue_size":
        raise InputError(
            Argument("pool"),
            f" {name} is not the pool: it observes how many packets are put into the queue at "
            "once, and not how many are inside; Katzenpost has no gauge of its pool, so give "
            "JSON lines, or a gauge of your own",
        )
    if name.endswith("_total") or base != name:
        raise InputError(
            Argument("pool"),
            f" {name} counts what has passed; give a gauge of the packets that are inside",
        )


def reports_of_prometheus(
    server: Prometheus,
    windows: Windows,
    *,
    pool: str,
    rate: str | None = None,
    mix_label: str = "instance",
    once: bool = False,
    note: Callable[[str], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Window]:
    """A report at the end of each window; the first one at once, of what the server has.

    Raises
    ------
    InputError
        If the server does not answer at first, or has no such metric. Later ``note`` is told, and
        the server is asked again.
    """
    pool = checked_metric(pool, "pool")
    rate = None if rate is None else checked_metric(rate, "rate")
    end = server.now()
    begin, first = end - windows.every, True
    while True:
        try:
            end = end if first else server.now()
            begin = max(begin, end - LIMITS.question)
            # All is asked before anything is taken: a server that fails in between is asked anew.
            gauges = list(_gauges(server, pool, mix_label, begin, end, first))
            passed = {} if rate is None else _passed(server, rate, mix_label, begin, end, first)
        except InputError as error:
            if first:
                raise
            note(f"{error.message}; asked again in {windows.every:g} s")
        else:
            for gauge in gauges:
                windows.add(gauge, begin)
            for mix, packets in passed.items():
                windows.passed(mix, packets)
            yield windows.close(end)
            begin, first = end, False
        if once:
            return
        sleep(windows.every)


def _gauges(
    server: Prometheus, pool: str, mix_label: str, begin: float, end: float, first: bool
) -> Iterator[Gauge]:
    seconds = end - begin + (LIMITS.before if first else 0)
    series = server.samples(pool, end, seconds)
    if not series and first:
        raise _not_there(server, "pool", pool, seconds)
    names: set[str] = set()
    for one in series:
        mix = _mix(one, mix_label, pool)
        if mix in names:
            raise InputError(
                Argument("pool"),
                f" {_name(pool)}: two series have {mix_label}={quoted(mix)}; name the label that "
                "tells mixes apart with ",
                Argument("mix_label"),
            )
        names.add(mix)
        for at, inside in one.values:
            if not (math.isnan(inside) or 0 <= inside <= LIMITS.most_inside):
                raise InputError(
                    Argument("pool"),
                    f" {_name(pool)}: {label(mix)} has {inside:g} packets inside, which cannot be; "
                    "see what it counts",
                )
            # What the window before had is not taken twice.
            if first or at > begin:
                yield Gauge(at, mix, inside)


def _passed(
    server: Prometheus, rate: str, mix_label: str, begin: float, end: float, first: bool
) -> dict[str, float]:
    """Packets through each mix in the window."""
    series = server.per_second(rate, end, end - begin)
    if not series and first:
        raise _not_there(server, "rate", rate, end - begin)
    return {_mix(one, mix_label, rate): one.values[0][1] * (end - begin) for one in series}


def _not_there(server: Prometheus, argument: str, metric: str, seconds: float) -> InputError:
    name = _name(metric)
    return InputError(
        Argument(argument),
        f" {name} is not there: {server.url} has no samples of it in the last {seconds:.0f} s"
        f"{did_you_mean(name, server.names())}",
    )


def _mix(series: Series, mix_label: str, metric: str) -> str:
    labels = series.labels
    if mix_label not in labels:
        there = ", ".join(name for name in labels if name != "__name__") or "none"
        raise InputError(
            f"{_name(metric)} has no label {quoted(mix_label)} to name mixes by; there are "
            f"{there}: choose one with ",
            Argument("mix_label"),
        )
    return str(labels[mix_label])
