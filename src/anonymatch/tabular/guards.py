"""Guards against damaged files: a process that reads Parquet first, and panics that stay silent.

A damaged file can end the process that reads it: polars asks for as much memory as a damaged page
claims, and Rust ends the process where there is not so much. What another process could read, this
one can. Panics of polars come as exceptions, and are not printed beside them.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

_IDLE, _LONGEST = 10, 600  # seconds after which the other process ends: not asked, not done
_CODE = f"""
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
import polars as pl
print('""', flush=True)
signal.alarm({_IDLE})
for line in sys.stdin:
    signal.alarm({_LONGEST})
    path, columns = json.loads(line)
    try:
        lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        if columns is None:
            lazy.collect_schema()
            lazy.select(pl.len()).collect(engine="streaming")
        elif columns:
            lazy.select(pl.col(columns).null_count()).collect(engine="streaming")
        answer = ""
    except BaseException as error:
        answer = (str(error).splitlines() or [""])[0] or type(error).__name__
    print(json.dumps(answer), flush=True)
    signal.alarm({_IDLE})
"""


class _Other:
    """A process that answers questions about Parquet files, until one of them ends it."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        if self._heard() is None:  # there is no memory for it, or no polars: it says nothing
            self.end()
            raise OSError("the other process did not start")

    @property
    def usable(self) -> bool:
        """Whether it runs, and was not inherited from a parent, which talks to it too."""
        return self._owner == os.getpid() and self._process.poll() is None

    def answer(self, question: str) -> str | None:
        """None if it ended meanwhile."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
        except OSError:
            return None
        return self._heard()

    def _heard(self) -> str | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return str(json.loads(line)) if line else None

    def end(self) -> None:
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # a question that it did not take
                    if stream is not None:
                        stream.close()


_ONE_AT_A_TIME = threading.Lock()
_other: _Other | None = None


def why_unreadable(path: Path, columns: list[str] | None = None) -> str:
    """Why another process cannot read these columns of a Parquet file; empty if it can.

    Without columns it reads the types and the number of rows. Where no process can be started,
    nothing speaks against the file.
    """
    question = json.dumps([os.path.abspath(path), columns])
    with _ONE_AT_A_TIME:
        for _ in range(2):  # it may have ended by itself just now
            try:
                other = _running()
            except OSError:
                return ""
            answer = other.answer(question)
            if answer is not None:
                return answer
            _end()  # it may still be about to end, and would be asked again
    return "it ends the process that reads it"


def _running() -> _Other:
    global _other
    if _other is not None and not _other.usable:
        _end()
    if _other is None:
        _other = _Other()
    return _other


@atexit.register
def _end() -> None:
    global _other
    if _other is not None:
        _other.end()
        _other = None


# ---- panics

_ONE_READER = threading.RLock()
_PANIC = b" panicked at "


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """While polars reads a file that may be damaged, keep its panics from standard error.

    Rust prints a panic before polars turns it into an exception, and nothing but the stream itself
    can be turned away. What others print meanwhile comes out at the end, unless there is a panic
    before it.
    """
    with _ONE_READER:
        try:
            stream = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        with tempfile.TemporaryFile() as printed:
            _flush()
            os.dup2(printed.fileno(), 2)
            try:
                yield
            finally:
                _flush()
                os.dup2(stream, 2)
                os.close(stream)
                _print(printed.fileno())


def _flush() -> None:
    if sys.stderr is not None:
        sys.stderr.flush()


def _print(printed: int) -> None:
    """What was printed before a panic; all of it where there was none."""
    size = os.fstat(printed).st_size
    if size:
        before, panic, _ = os.pread(printed, size, 0).partition(_PANIC)
        if panic:  # its line begins with the name of the thread
            before = before[: max(before.rfind(b"\nthread "), 0)]
        os.write(2, before)
