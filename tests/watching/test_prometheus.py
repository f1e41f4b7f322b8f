"""Gauges from Prometheus: a real server where there is one, and its answers written down."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import pytest
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.watching.prometheus_server import (
    GOLDEN,
    MISSING,
    POOL,
    RATE,
    UNWRAPS,
    installed,
    samples,
    served,
)

import anonymatch as am
from anonymatch.monitoring import Exporter, Prometheus, Window, Windows, reports_of_prometheus

METRICS = Path(__file__).parents[1] / "golden" / "metrics"
Answer = Callable[[str], tuple[int, bytes]]


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A server of this machine that answers so to each path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = answer(self.path)
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


def recorded() -> Answer:
    """What a real server said; a question that it was not asked is an error."""
    answers: dict[str, str] = json.loads(GOLDEN.read_text())

    def answer(path: str) -> tuple[int, bytes]:
        return (200, answers[path].encode()) if path in answers else (500, path.encode())

    return answer


def once(url: str, **more: str) -> Window:
    (report,) = reports_of_prometheus(
        Prometheus(url),
        Windows(),
        pool=POOL,
        once=True,
        **more,  # type: ignore[arg-type]
    )
    return report


def check(report: Window) -> None:
    """Of 10, 3.5 and .5 packets inside, at ten samples; the third has 60 packets in a window."""
    first, second = report.mixes
    assert [first.mix, second.mix] == ["m1:9000", "m2:9000"]
    assert first.bits == pytest.approx(am.mixes.exponential_bits(10.0), abs=0.4)
    assert second.bits == pytest.approx(am.mixes.exponential_bits(3.5), abs=0.6)
    assert report.withheld == {"m3:9000": "fewer than 100 packets"}


@pytest.mark.parametrize("rate", [RATE, UNWRAPS])
def test_answers_of_a_server_become_figures(rate: str) -> None:
    with server(recorded()) as url:
        check(once(url, rate=rate))


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason=MISSING)
@pytest.mark.parametrize("rate", [RATE, UNWRAPS])
def test_a_real_server_is_asked(tmp_path: Path, rate: str) -> None:
    with served(tmp_path, samples(time.time())) as url:
        check(once(url, rate=rate))


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason=MISSING)
def test_a_real_server_scrapes_what_is_told_and_what_systems_tell(tmp_path: Path) -> None:
    with free_port() as port:
        exporter = Exporter("127.0.0.1", port)
    with server(recorded()) as url:
        exporter.publish(once(url, rate=RATE))
    nym, katzenpost = ((METRICS / f"{name}.txt").read_bytes() for name in ("nym", "katzenpost"))
    with (
        server(lambda _: (200, nym)) as one,
        server(lambda _: (200, katzenpost)) as two,
        served(
            tmp_path,
            targets={
                "own": [f"127.0.0.1:{exporter.port}"],
                "nym": [one.removeprefix("http://")],
                "katzenpost": [two.removeprefix("http://")],
            },
        ) as address,
    ):
        prometheus = Prometheus(address)
        wanted = {POOL, "katzenpost_mix_queue_size_sum", "anonymatch_mix_bits", "anonymatch_alarm"}
        end = time.monotonic() + PATIENCE
        while not wanted <= set(prometheus.names()) and time.monotonic() < end:
            time.sleep(0.5)

        assert wanted <= set(prometheus.names())
        # It was scraped for seconds only: the pool is there, and nothing is told of it yet.
        assert set(once(address).withheld.values()) == {"watched for less than 300 s"}
    exporter.close()


def test_a_metric_that_is_not_there_is_said_with_one_that_is() -> None:
    with server(recorded()) as url, pytest.raises(am.InputError) as caught:
        list(
            reports_of_prometheus(
                Prometheus(url), Windows(), pool="nym_node_being_delayed", once=True
            )
        )

    assert "nym_node_being_delayed is not there" in str(caught.value)
    assert "in the last 600 s" in str(caught.value)


@pytest.mark.parametrize(
    "metric",
    [
        "katzenpost_mix_queue_size",
        "katzenpost_mix_queue_size_sum",
        "katzenpost_mix_queue_size_count",
        'katzenpost_mix_queue_size{quantile="0.5"}',
    ],
)
def test_the_queue_of_katzenpost_is_not_taken_for_its_pool(metric: str) -> None:
    with server(recorded()) as url, pytest.raises(am.InputError, match="is not the pool: it obs"):
        next(reports_of_prometheus(Prometheus(url), Windows(), pool=metric))


def test_no_metric_of_katzenpost_is_taken_for_a_pool() -> None:
    text = (METRICS / "katzenpost.txt").read_text()
    names = {line.split("{")[0].split()[0] for line in text.splitlines() if line[0] != "#"}

    assert len(names) == 4
    for name in names:
        with server(recorded()) as url, pytest.raises(am.InputError, match=r"not the pool|counts"):
            next(reports_of_prometheus(Prometheus(url), Windows(), pool=name))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((200, b"<html>"), "does not answer as Prometheus does"),
        ((200, b'{"status": "error"}'), "does not answer as Prometheus does"),
        ((200, b"[1]"), "does not answer as Prometheus does"),
        ((404, b"no"), "it refuses: 404"),
        ((400, b'{"status": "error", "error": "parse\\nerror"}'), "it refuses: parse error"),
    ],
)
def test_a_server_that_is_no_prometheus_is_named(answer: tuple[int, bytes], expected: str) -> None:
    with server(lambda _: answer) as url, pytest.raises(am.InputError, match=expected) as caught:
        once(url)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("strange", [None, 1, "x", [1], {"result": 1}, {"result": ["x"]}])
@pytest.mark.parametrize("question", ["time%28", "being_delayed", "avg_over_time", "metadata"])
def test_answers_of_another_shape_get_one_clear_line(question: str, strange: object) -> None:
    usual = recorded()
    given = [strange] if question == "metadata" else strange

    def answer(path: str) -> tuple[int, bytes]:
        if question in path:
            return 200, json.dumps({"status": "success", "data": given}).encode()
        return usual(path)

    with (
        server(answer) as url,
        pytest.raises(am.InputError, match="does not answer as Prometheus does"),
    ):
        once(url, rate=RATE)


def test_a_server_that_does_not_answer_is_named() -> None:
    refusal = r"does not answer .*is Prometheus running there"
    with free_port() as port, pytest.raises(am.InputError, match=refusal):
        once(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost:9090", "ftp://a", "http://"])
def test_only_http_is_asked(url: str) -> None:
    with pytest.raises(am.InputError, match="must be an address such as"):
        Prometheus(url)


def test_a_password_on_the_command_line_is_refused() -> None:
    with pytest.raises(am.InputError, match="must have no password in it") as caught:
        Prometheus("http://ann:secret@127.0.0.1:9090")

    assert "secret" not in str(caught.value)


def series(*values: tuple[float, float], **labels: str) -> dict[str, Any]:
    return {"metric": labels, "values": [[at, str(value)] for at, value in values]}


def playing(now: list[float], everything: list[dict[str, Any]], down: list[float]) -> Answer:
    """A server whose clock and samples a test sets, and that is down at some times."""

    def inside(one: dict[str, Any], seconds: int) -> dict[str, Any]:
        values = [value for value in one["values"] if now[0] - seconds <= value[0] <= now[0]]
        return {**one, "values": values}

    def answer(path: str) -> tuple[int, bytes]:
        if now[0] in down:
            return 503, b""
        if "time%28%29" in path:
            data: object = {"resultType": "scalar", "result": [now[0], str(now[0])]}
        else:
            seconds = int(path.partition("%5B")[2].partition("s%5D")[0])
            data = {
                "resultType": "matrix",
                "result": [inside(one, seconds) for one in everything],
            }
        return 200, json.dumps({"status": "success", "data": data}).encode()

    return answer


def test_each_sample_is_taken_once_and_an_outage_is_lived_through() -> None:
    rising = [(float(at), float(at // 300)) for at in range(0, 2000, 30)]
    now = [900.0]
    notes: list[str] = []

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with server(playing(now, [series(*rising, instance="m")], down=[1200.0])) as url:
        reports = reports_of_prometheus(
            Prometheus(url), Windows(hop=0.1), pool="pool", sleep=sleep, note=notes.append
        )
        told = [next(reports).mixes[0] for _ in range(3)]

    # The second window is as long as two: the server was down at the end of the first of them.
    assert [one.seconds for one in told] == [300, 600, 300]
    assert told[0].inside == pytest.approx(2.0, abs=0.15)
    assert told[1].inside == pytest.approx(3.5, abs=0.15)
    assert told[2].inside == pytest.approx(5.0, abs=0.15)
    assert len(notes) == 1
    assert "503" in notes[0]
    assert "asked again in 300 s" in notes[0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (({"job": "a"},), "has no label 'instance' to name mixes by; there are job"),
        (({"instance": "a", "job": "x"}, {"instance": "a", "job": "y"}), "two series have"),
    ],
)
def test_labels_that_do_not_tell_mixes_apart_are_refused(
    labels: tuple[dict[str, str], ...], expected: str
) -> None:
    given = [series((600.0, 1.0), **one) for one in labels]

    with server(playing([600.0], given, [])) as url, pytest.raises(am.InputError, match=expected):
        once(url)


def test_a_gauge_below_zero_is_refused() -> None:
    given = [series((600.0, -1.0), instance="m")]

    with server(playing([600.0], given, [])) as url, pytest.raises(am.InputError, match="m has -1"):
        once(url)


def test_one_mix_with_nan_and_one_that_died_leave_the_others_their_figures() -> None:
    times = [float(at) for at in range(300, 601, 30)]
    given = [
        series(*((at, 9.0) for at in times), instance="good"),
        series(*((at, float("nan")) for at in times), instance="nan"),
        series(*((at, 9.0) for at in times if at <= 400), instance="dead"),
    ]

    with server(playing([600.0], given, [])) as url:
        (report,) = reports_of_prometheus(Prometheus(url), Windows(hop=0.1), pool="pool", once=True)

    assert [one.mix for one in report.mixes] == ["good"]
    assert report.withheld == {
        "nan": "its gauge is NaN",
        "dead": "no samples for the last 210 s",
    }


def test_the_endpoint_tells_the_latest_report_to_this_machine_only() -> None:
    with free_port() as port:
        exporter = Exporter("127.0.0.1", port)
    address = f"http://127.0.0.1:{exporter.port}/metrics"
    with urlopen(address) as answer:
        before = answer.read()
    with server(recorded()) as url:
        exporter.publish(once(url, rate=RATE))
    with urlopen(address) as answer:
        text = answer.read().decode()
    exporter.close()

    assert before.strip() == b""
    assert 'anonymatch_mix_withheld{mix="m3:9000"} 1.0' in text
    assert 'anonymatch_mix_bits{mix="m3:9000"}' not in text
    assert "anonymatch_alarm 0.0" in text
    assert "python_info" not in text
