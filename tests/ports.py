"""TCP ports that no other test uses at the same time, in this process or another."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["free_port"]

# Below the ports that Linux gives to clients and to servers that ask for any.
_PORTS = range(20_000, 32_000)


@contextmanager
def free_port() -> Iterator[int]:
    """Reserve a port: a lock on a file keeps other tests away until the test ends."""
    folder = Path(tempfile.gettempdir()) / f"anonymatch-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with (folder / str(port)).open("w") as lock, socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                trial.bind(("127.0.0.1", port))
            except OSError:  # another test has reserved it, or another program listens there
                continue
            trial.close()
            yield port
            return
