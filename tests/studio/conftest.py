"""One studio for all tests of this process, started as users start it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from anonymatch.studio.guard import cookie_name

LIMIT_MB = 0.5
READY = re.compile(r"studio: (http://127\.0\.0\.1:\d+)/\?token=([\w-]+) ")


@dataclass(frozen=True)
class Served:
    """A studio that answers: its address, its token, its process, and where it may keep files."""

    address: str
    token: str
    process: subprocess.Popen[str]
    folder: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def cookie(self) -> str:
        """What a browser sends that once opened the printed address."""
        return f"{cookie_name(self.port)}={self.token}"

    def get(self, route: str, **headers: str) -> httpx.Response:
        sent = {"cookie": self.cookie} | headers
        return httpx.get(f"{self.address}{route}", headers=sent, timeout=30)

    def post(self, route: str, content: bytes, **headers: str) -> httpx.Response:
        sent = {"cookie": self.cookie} | headers
        return httpx.post(f"{self.address}{route}", content=content, headers=sent, timeout=30)

    def entry(self, route: str) -> str:
        """A page's address as it is opened for the first time, with the token."""
        return f"{self.address}{route}{'&' if '?' in route else '?'}token={self.token}"

    def cpu_seconds(self) -> dict[str, float]:
        """What each of its threads has used of cores so far."""
        used = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                fields = (task / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                used[task.name] = ticks / os.sysconf("SC_CLK_TCK")
        return used

    def files(self) -> list[Path]:
        """What was dropped and is still there."""
        return [path for path in self.folder.glob("anonymatch-studio-*/*") if path.is_file()]


def _environment() -> dict[str, str]:
    """That of a user: NiceGUI behaves differently under pytest."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


@contextmanager
def start(folder: Path, *more: str) -> Iterator[Served]:
    """A studio of its own, which is ended if it has not ended itself."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    program = Path(sys.executable).with_name("anonymatch")
    with subprocess.Popen(
        [str(program), "studio", "--port", str(port), "--no-browser", *more],
        stdout=subprocess.PIPE,
        text=True,
        env=_environment() | {"TMPDIR": str(folder)},
        cwd=folder,
    ) as process:
        try:
            assert process.stdout is not None
            ready = READY.match(process.stdout.readline())
            assert ready is not None
            yield Served(ready.group(1), ready.group(2), process, folder)
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def studio() -> Iterator[Served]:
    with (
        tempfile.TemporaryDirectory() as folder,
        start(Path(folder), "--upload-limit", str(LIMIT_MB)) as served,
    ):
        yield served
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) in (130, -signal.SIGINT)
        assert list(Path(folder).iterdir()) == []  # nothing that was dropped is left
