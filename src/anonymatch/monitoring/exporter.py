"""Figures for Prometheus to scrape: on this machine only, of whole windows, in two digits."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.monitoring.figures import ASSUMPTION, Window

__all__ = ["METRICS", "Exporter", "address_named"]

METRICS = {
    "anonymatch_mix_bits": f"Own bits of a packet through a mix ({ASSUMPTION})",
    "anonymatch_mix_joint_bits": "Mean of log2 of those inside when one leaves",
    "anonymatch_mix_alone_probability": "Probability that a packet meets nobody in a mix",
    "anonymatch_mix_withheld": "1 if too little passed a mix for figures of it",
    "anonymatch_network_bits": "Own bits of a message through the network, about",
    "anonymatch_network_ceiling_bits": "Own bits that nothing exceeds with so many in flight",
    "anonymatch_alarm": "1 if a target is missed",
    "anonymatch_last_report_seconds": "When the figures were made, in seconds since 1970",
}
"""From the names of metrics to what they are; those of mixes have the label mix."""

_MISSING = "the endpoint needs prometheus-client; install it with: pip install 'anonymatch[watch]'"


def address_named(text: str, *, known: bool = False) -> tuple[str, int]:
    """A host and a port from words; other hosts than this one only if that is ``known``.

    Examples
    --------
    >>> address_named("9464"), address_named("[::1]:9464")
    (('127.0.0.1', 9464), ('::1', 9464))
    """
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise InputError(Argument("listen"), f" must be a port or HOST:PORT, not {text!r}")
    if not _is_loopback(host) and not known:
        raise InputError(
            Argument("listen"),
            f" {text}: others could read there how well packets are hidden; use 127.0.0.1, or add ",
            Argument("i_know"),
            " if they may",
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _host(header: str) -> str:
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


class _Latest:
    """What the registry collects: the latest report, all of it at once, and nothing before."""

    def __init__(self) -> None:
        self.report: Window | None = None

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        if self.report is None:
            return
        for name, values in _values(self.report).items():
            family = GaugeMetricFamily(name, METRICS[name], labels=["mix"] * ("_mix_" in name))
            for mix, value in values:
                family.add_metric([mix] * ("_mix_" in name), value)
            yield family


def _values(report: Window) -> dict[str, list[tuple[str, float]]]:
    """Each metric with its values by mix; of no mix where it is not about one."""
    mixes, network = report.mixes, report.network
    told = [(one.mix, 0.0) for one in mixes]
    values = {
        "anonymatch_mix_bits": [(one.mix, one.bits) for one in mixes],
        "anonymatch_mix_joint_bits": [(one.mix, one.joint_bits) for one in mixes],
        "anonymatch_mix_alone_probability": [(one.mix, one.alone) for one in mixes],
        "anonymatch_mix_withheld": [*told, *((mix, 1.0) for mix in report.withheld)],
        "anonymatch_alarm": [("", float(bool(report.alarms)))],
        "anonymatch_last_report_seconds": [("", float(round(report.time)))],
    }
    if network is not None:
        values["anonymatch_network_bits"] = [("", network.bits)]
        values["anonymatch_network_ceiling_bits"] = [("", network.ceiling_bits)]
    return values


class Exporter:
    """An endpoint that tells the latest report, from the first one on, until the program ends.

    Parameters
    ----------
    host, port : str, int
    """

    def __init__(self, host: str, port: int) -> None:
        try:
            from prometheus_client import CollectorRegistry
        except ImportError:
            raise InputError(_MISSING) from None
        # A registry of its own: the usual one also tells about this process and its Python.
        self._registry, self._latest = CollectorRegistry(), _Latest()
        self._registry.register(self._latest)
        self._server = self._serve(host, port)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def publish(self, report: Window) -> None:
        """Take the place of the report before; what is not told any more is gone."""
        self._latest.report = report

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, host: str, port: int) -> ThreadingHTTPServer:
        registry, local = self._registry, _is_loopback(host)

        class Handler(BaseHTTPRequestHandler):
            """Tells the metrics, and nothing to pages that reached here by another name."""

            server_version, sys_version = "anonymatch", ""

            def do_GET(self) -> None:
                from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

                if local and not _is_loopback(_host(self.headers.get("Host", ""))):
                    self.send_error(403)
                elif self.path.partition("?")[0] != "/metrics":
                    self.send_error(404)
                else:
                    body = generate_latest(registry)
                    self.send_response(200)
                    self.send_header("Content-Type", CONTENT_TYPE_LATEST)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Who asked is not written down."""

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
            daemon_threads = True

        try:
            server = Server((host, port), Handler)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                Argument("listen"), f" {host}:{port} cannot be used: {reason}; choose another port"
            ) from None
        Thread(target=server.serve_forever, daemon=True).start()
        return server
