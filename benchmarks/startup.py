"""Start-up: the CPU time of whole processes that import and do nothing."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anonymatch as am
from benchmarks.report import Line, Size, under, within

__all__ = ["lines"]

_ROUNDS = {"tiny": 1, "quick": 5, "full": 15}
_GOAL = 3.0


def lines(size: Size) -> Iterator[Line]:
    command = Path(sys.executable).parent / "anonymatch"
    python = {
        "nothing": [sys.executable, "-c", ""],
        "arrays": [sys.executable, "-c", "import numpy, scipy.sparse"],
        "ours": [sys.executable, "-c", "import anonymatch"],
        "version": [str(command), "--version"],
    }
    best = dict.fromkeys(python, float("inf"))
    for _ in range(_ROUNDS[size]):
        for name, arguments in python.items():
            best[name] = min(best[name], _cpu_seconds(arguments))
    assert am.__version__ in subprocess.check_output(python["version"], text=True)
    judged = _GOAL if size != "tiny" else None
    yield within("import anonymatch", best["ours"], "numpy, scipy.sparse", best["arrays"], judged)
    bare = best["nothing"]
    yield within(
        "import anonymatch, without the interpreter",
        best["ours"] - bare,
        "numpy, scipy.sparse",
        best["arrays"] - bare,
        judged,
        f"the interpreter alone takes {bare * 1e3:.0f} ms",
    )
    yield under("anonymatch --version", best["version"], 1.0 if size != "tiny" else None)


def _cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
