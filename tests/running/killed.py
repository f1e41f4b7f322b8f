"""A count that is killed at random moments: test_checkpoint.py runs it as a separate program.

The program imports the package once and forks a child for every session. Half of the children kill
themselves when they begin a chunk. The parent kills the others after a random time; these stop
after a few chunks, so that no child finishes the count before it is killed. The program prints the
number of kills and the answer of the last child, which is not killed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.counting.exact import glynn
from anonymatch.running import budget
from anonymatch.running.broadcast import Shared, code

FOLDER = Path(sys.argv[1] if __name__ == "__main__" else ".")
GRAPH = am.random_density(29, 0.5, seed=5)
KILLS = 24
AT_MOST = 8  # chunks that a session begins before it is killed
_all_bits, _kept_bits = glynn._count, glynn._count_kept
_begun = count()  # chunks of this session, numbered
_killed_at: int | None = None  # the chunk at which this session kills itself


def counted(matrix: Shared[Any], *rest: int) -> Any:
    """Compute a chunk after recording it in a file; the processor decides which of the two runs."""
    *words, first, last = rest
    log = os.open(FOLDER / "ran", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, f"{os.getpid()} {first}\n".encode())
    os.close(log)
    begun = next(_begun)
    if begun == _killed_at:
        os.kill(os.getpid(), signal.SIGKILL)
    if _killed_at is not None and begun >= AT_MOST:
        threading.Event().wait()  # until the parent kills this process
    if words:
        return _all_bits(matrix, words[0], first, last)
    return _kept_bits(matrix, first, last)


def session(number: int, killed_at: int | None) -> int:
    """Start a child that counts and writes its answer to a file."""
    global _killed_at
    pid = os.fork()
    if pid:
        return pid
    _killed_at = killed_at
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
        by_itself = number % 2 == 0
        pid = session(number, draw.randrange(AT_MOST) if by_itself else AT_MOST)
        if not by_itself:
            time.sleep(draw.uniform(0.0, 0.1))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        kills += os.WIFSIGNALED(status)
    os.waitpid(session(KILLS, None), 0)
    print(kills, (FOLDER / f"answer-{KILLS}").read_text())


if __name__ == "__main__":
    main()
