"""One studio for all tests of this process, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.patience import PATIENCE, patient_program
from tests.ports import free_port

from anonymatch.studio.guard import cookie_name

LIMIT = ("--upload-limit", "0.5")  # MB
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
        return httpx.get(f"{self.address}{route}", headers=sent, timeout=PATIENCE)

    def post(self, route: str, content: bytes, **headers: str) -> httpx.Response:
        sent = {"cookie": self.cookie} | headers
        return httpx.post(f"{self.address}{route}", content=content, headers=sent, timeout=PATIENCE)

    def entry(self, route: str) -> str:
        """A page's address as it is opened for the first time, with the token."""
        return f"{self.address}{route}{'&' if '?' in route else '?'}token={self.token}"

    def cpu_seconds(self) -> float:
        """Return the seconds of a core that the studio has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_until_idle(self) -> None:
        """Wait until no thread but the main one computes, at 100 looks in a row.

        A thread that computes is runnable on a busy machine too, whether it has a core or not.
        """
        end, idle = time.monotonic() + PATIENCE, 0
        while idle < 100:
            assert time.monotonic() < end
            idle = 0 if self._computes() else idle + 1
            time.sleep(0.01)

    def _computes(self) -> bool:
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                if state == "R" and task.name != str(self.process.pid):
                    return True
        return False

    def files(self) -> list[Path]:
        """What was dropped and is still there."""
        return [path for path in self.folder.glob("anonymatch-studio-*/*") if path.is_file()]


def _environment() -> dict[str, str]:
    """That of a user: NiceGUI behaves differently under pytest."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


@contextmanager
def start(program: tuple[str, ...], folder: Path) -> Iterator[Served]:
    """Start a studio, and end it if it has not ended itself."""
    with (
        free_port() as port,
        subprocess.Popen(
            [*program, "studio", "--port", str(port), "--no-browser", *LIMIT],
            stdout=subprocess.PIPE,
            text=True,
            env=_environment() | {"TMPDIR": str(folder)},
            cwd=folder,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready = READY.match(process.stdout.readline())
            assert ready is not None
            yield Served(ready.group(1), ready.group(2), process, folder)
        finally:
            process.terminate()


@contextmanager
def start_and_stop(program: tuple[str, ...]) -> Iterator[Served]:
    """Start a studio, stop it by Ctrl-C, and check that no dropped file remains."""
    with (
        tempfile.TemporaryDirectory() as folder,
        start(program, Path(folder)) as served,
    ):
        yield served
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(PATIENCE) in (130, -signal.SIGINT)
        assert list(Path(folder).iterdir()) == []


@pytest.fixture(scope="session")
def studio() -> Iterator[Served]:
    """Serve pages that are sent once their answer is complete, however long that takes."""
    modules = ("app", "panel", "pages.audit")
    program = patient_program(*(f"anonymatch.studio.{name}" for name in modules))
    with start_and_stop(program) as served:
        yield served
