"""The endpoint: it answers this machine, and says no more than it may."""

from __future__ import annotations

import http.client
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.ports import free_port

import anonymatch as am
from anonymatch.monitoring import METRICS, Alarm, Exporter, Gauge, Window, Windows, address_named
from anonymatch.planning import Network

DASHBOARD = Path(__file__).parents[2] / "examples" / "watch_dashboard.json"


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with free_port() as port:
        made = Exporter("127.0.0.1", port)
        yield made
        made.close()


def report() -> Window:
    windows = Windows(hop=1.0, network=Network.named("1x2"), alarm=Alarm(bits=9.0))
    for time in range(0, 300, 30):
        windows.add(Gauge(float(time), 'a"\n', 8.123), 0.0)
        windows.add(Gauge(float(time), "quiet", 0.0), 0.0)
    return windows.close(300.0)


def get(exporter: Exporter, path: str = "/metrics", host: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", exporter.port, timeout=PATIENCE)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{exporter.port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_every_metric_is_told_in_two_digits_and_nothing_else(exporter: Exporter) -> None:
    exporter.publish(report())

    code, text = get(exporter)
    lines = [line for line in text.splitlines() if not line.startswith("#")]

    assert code == 200
    assert {re.split(r"[{ ]", line)[0] for line in lines} == set(METRICS)
    values = [float(line.rpartition(" ")[2]) for line in lines if "last_report" not in line]
    assert all(value == float(f"{value:.2g}") for value in values)
    assert 'anonymatch_mix_bits{mix="a\\"\\n"} 4.6' in text
    assert "anonymatch_alarm 1.0" in text


def test_what_is_not_told_any_more_is_gone(exporter: Exporter) -> None:
    first = report()
    exporter.publish(first)
    empty = Window(time=600.0, mixes=(), withheld={'a"\n': "no samples"}, network=None, alarms=())
    exporter.publish(empty)

    _, text = get(exporter)

    assert "anonymatch_mix_bits{" not in text
    assert "anonymatch_network_bits" not in text
    assert 'anonymatch_mix_withheld{mix="a\\"\\n"} 1.0' in text


def test_pages_that_reach_it_by_another_name_are_refused(exporter: Exporter) -> None:
    exporter.publish(report())

    assert get(exporter, host="evil.example:80") == get(exporter, host="evil.example")
    assert get(exporter, host="evil.example")[0] == 403
    assert get(exporter, host="localhost")[0] == 200
    assert get(exporter, host=f"[::1]:{exporter.port}")[0] == 200
    assert get(exporter, path="/")[0] == 404


@pytest.mark.parametrize("text", ["0.0.0.0:9464", "192.168.1.2:9464", "[::]:9464", "example.org:1"])
def test_other_addresses_than_this_machine_need_a_word(text: str) -> None:
    with pytest.raises(am.InputError, match="others could read there"):
        address_named(text)

    assert address_named(text, known=True)[1] in (9464, 1)


@pytest.mark.parametrize("text", ["", "x", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "a:b"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(am.InputError, match="must be a port or HOST:PORT"):
        address_named(text)


def test_a_port_that_is_taken_is_said(exporter: Exporter) -> None:
    with pytest.raises(am.InputError, match="cannot be used: address already in use"):
        Exporter("127.0.0.1", exporter.port)


def test_the_dashboard_asks_for_metrics_that_are_told() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    names = {name for text in asked for name in re.findall(r"anonymatch_\w+", text)}

    assert names
    assert names <= set(METRICS)


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    with pytest.raises(am.InputError, match=r"pip install 'anonymatch\[watch\]'"):
        Exporter("127.0.0.1", 9464)
