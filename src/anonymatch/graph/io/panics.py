"""Panics of polars: they come as exceptions, and are not printed beside them."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_panics"]

_ONE_AT_A_TIME = threading.RLock()
_PANIC = b" panicked at "


@contextmanager
def without_panics() -> Iterator[None]:
    """While polars reads a file that may be damaged, keep its panics from standard error.

    Rust prints a panic before polars turns it into an exception, and nothing but the stream itself
    can be turned away. What others print meanwhile comes out at the end, unless there is a panic
    before it.
    """
    with _ONE_AT_A_TIME:
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
