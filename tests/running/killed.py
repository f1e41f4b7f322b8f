"""A count that is killed at random moments: run by test_runs.py as a program of its own.

It imports the package once and forks a child for every session, so that twenty kills take seconds.
Prints how often it killed, and the answer of the last child, which is left alone.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.counting.exact import glynn
from anonymatch.running import budget
from anonymatch.running.broadcast import Shared, code

FOLDER = Path(sys.argv[1] if __name__ == "__main__" else ".")
GRAPH = am.random_density(29, 0.5, seed=5)
KILLS = 24
_all_bits, _kept_bits = glynn._count, glynn._count_kept


def counted(matrix: Shared[Any], *rest: int) -> Any:
    """The chunk, which leaves a line for every time that it runs, and takes a while.

    Which of the two it is depends on the processor.
    """
    *words, first, last = rest
    log = os.open(FOLDER / "ran", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{os.getpid()} {first}\n".encode())
    os.close(log)
    time.sleep(0.008)
    if words:
        return _all_bits(matrix, words[0], first, last)
    return _kept_bits(matrix, first, last)


def size() -> int:
    log = FOLDER / "ran"
    return log.stat().st_size if log.exists() else 0


def session(number: int) -> int:
    """A child that counts, and writes its answer down if it gets so far."""
    pid = os.fork()
    if pid:
        return pid
    try:
        with am.Checkpoint(FOLDER / "run.sqlite", GRAPH) as run:
            value = am.count(GRAPH, method="glynn", executor=run).value
        (FOLDER / f"answer-{number}").write_text(str(value))
    finally:
        os._exit(0)


def main() -> None:
    budget.CHUNK_SECONDS = 1e-6  # as many chunks as there are units: 256
    for name in ("_count", "_count_kept"):
        setattr(glynn, name, counted)
    code()  # read once, not by every child
    draw = random.Random(1)
    kills = 0
    for number in range(KILLS):
        before = size()
        pid = session(number)
        patience = time.monotonic() + 5.0
        # Half of them are killed amid chunks in any case.
        while number % 2 and size() == before and time.monotonic() < patience:
            time.sleep(0.001)
        time.sleep(draw.uniform(0.0, 0.05))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        kills += os.WIFSIGNALED(status)
    os.waitpid(session(KILLS), 0)
    print(kills, (FOLDER / f"answer-{KILLS}").read_text())


if __name__ == "__main__":
    main()
