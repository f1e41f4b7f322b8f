"""A Prometheus server of its own for a test, with the samples that it asks for.

python -m tests.watching.prometheus_server writes its answers down, for tests on machines that have
none: tests/golden/prometheus.json.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from tests.patience import PATIENCE
from tests.ports import free_port

POOL = "nym_node_process_forward_hop_packets_being_delayed"
RATE = "nym_node_mixnet_ingress_forward_packets_received_rate"
UNWRAPS = "katzenpost_sphinx_unwraps_total"
GOLDEN = Path(__file__).parents[1] / "golden" / "prometheus.json"
INSIDE = {"m1:9000": 10.0, "m2:9000": 3.5, "m3:9000": 0.5}
PER_SECOND = {"m1:9000": 650.0, "m2:9000": 230.0, "m3:9000": 0.2}
EVERY = 30  # seconds from sample to sample, as Nym has it
MISSING = "Debian's package prometheus is not installed: apt-get install prometheus"


def installed() -> bool:
    return shutil.which("prometheus") is not None and shutil.which("promtool") is not None


def samples(end: float, seconds: int = 1200) -> str:
    """Twenty minutes of gauges and counters, in the text that promtool reads."""
    draw = np.random.default_rng(7)
    lines = {name: [f"# TYPE {name} gauge"] for name in (POOL, RATE)}
    lines[UNWRAPS] = [f"# TYPE {UNWRAPS.removesuffix('_total')} counter"]
    for mix, mean in INSIDE.items():
        for back in range(seconds, -1, -EVERY):
            at = f'{{instance="{mix}"}} %g {end - back:.3f}'
            lines[POOL].append(POOL + at % draw.poisson(mean))
            lines[RATE].append(RATE + at % PER_SECOND[mix])
            lines[UNWRAPS].append(UNWRAPS + at % round(PER_SECOND[mix] * (seconds - back)))
    return "\n".join(line for part in lines.values() for line in part) + "\n# EOF\n"


@contextmanager
def served(
    folder: Path, text: str = "", targets: Mapping[str, Sequence[str]] | None = None
) -> Iterator[str]:
    """The address of a server that has these samples, and scrapes these targets each second."""
    data = folder / "data"
    if text:
        (folder / "samples.om").write_text(text)
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
        subprocess.run([*command, "samples.om", str(data)], cwd=folder, check=True, stdout=-3)
    jobs = [
        {"job_name": name, "static_configs": [{"targets": list(those)}]}
        for name, those in (targets or {}).items()
    ]
    config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    with free_port() as port:
        arguments = [
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={data}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=error",
        ]
        with subprocess.Popen(["prometheus", *arguments], cwd=folder) as process:
            try:
                _ready(f"http://127.0.0.1:{port}/-/ready")
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()


def _ready(address: str) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main() -> None:
    """Write down what a real server answers to the questions of one window."""
    from anonymatch.monitoring import Prometheus, Windows, reports_of_prometheus

    answers: dict[str, str] = {}

    class Recorded(Prometheus):
        def __init__(self, url: str) -> None:
            super().__init__(url)
            usual = self._opener.open

            def opened(address: str, timeout: float) -> object:
                answer = usual(address, timeout=timeout)
                body = answer.read()
                answers[address.removeprefix(self.url)] = body.decode()
                answer.read = lambda *_: body
                return answer

            self._opener.open = opened  # type: ignore[assignment,method-assign]

    with tempfile.TemporaryDirectory() as folder, served(Path(folder), samples(time.time())) as url:
        server = Recorded(url)
        now = server.now()
        server.now = lambda: now  # type: ignore[method-assign]  # the same in all questions
        for pool, rate in ((POOL, RATE), (POOL, UNWRAPS), ("nym_node_being_delayed", None)):
            try:
                list(reports_of_prometheus(server, Windows(), pool=pool, rate=rate, once=True))
            except ValueError as error:
                print(error)
    GOLDEN.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
