"""Start-up: the CPU time of whole processes, beside one that imports numpy and does nothing.

Audits of one exponential mix are here too: start-up is most of a short one, reading of a long one.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anonymatch as am
from benchmarks.report import Line, Size, under, within

__all__ = ["lines"]

_ROUNDS = {"tiny": 1, "quick": 5, "full": 15}
_ENVIRONMENT = {  # bytecode is kept, as on the machine of a user
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
_IMPORT, _VERSION, _COUNT = 1.3, 1.5, 0.4  # times numpy, times numpy, seconds
_LAW = "exponential:20"
_AUDITS = {  # messages, and the seconds that are the goal
    "tiny": ((1000, None),),
    "quick": ((1000, 0.35),),
    "full": ((1000, 0.35), (1_000_000, 4.0)),
}
_LONG = 100_000  # messages of which three rounds are enough


def lines(size: Size) -> Iterator[Line]:
    command = str(Path(sys.executable).parent / "anonymatch")
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        small.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
        processes = {
            "numpy": [sys.executable, "-c", "import numpy"],
            "import": [sys.executable, "-c", "import anonymatch"],
            "used": [sys.executable, "-c", "import anonymatch; anonymatch.count"],
            "version": [command, "--version"],
            "count": [command, "count", str(small)],
        }
        best = dict.fromkeys(processes, float("inf"))
        for _ in range(_ROUNDS[size]):
            for name, arguments in processes.items():
                best[name] = min(best[name], _cpu_seconds(arguments))
        assert am.__version__ in subprocess.check_output(processes["version"], text=True)
        assert "matchings  2" in subprocess.check_output(processes["count"], text=True)
    judged = size != "tiny"
    numpy = best["numpy"]
    yield within("import anonymatch", best["import"], "numpy", numpy, _IMPORT if judged else None)
    yield within("import anonymatch; anonymatch.count", best["used"], "numpy", numpy, None)
    yield within(
        "anonymatch --version", best["version"], "numpy", numpy, _VERSION if judged else None
    )
    yield under("anonymatch count small.csv", best["count"], _COUNT if judged else None)
    for messages, goal in _AUDITS[size]:
        yield _audit(command, messages, goal, min(_ROUNDS[size], 3 if messages > _LONG else 15))


def _audit(command: str, messages: int, goal: float | None, rounds: int) -> Line:
    """A log of one exponential mix, whose matchings a closed form counts."""
    log = am.mixes.synthesize(_LAW, messages=messages, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        am.mixes.write_messages(log, path)
        arguments = [command, "audit", str(path), "--law", _LAW]
        best = min(_cpu_seconds(arguments) for _ in range(rounds))
        answer = json.loads(subprocess.check_output([*arguments, "--json"], text=True))
    exact = am.mixes.exponential_mix_log(log.arrivals, log.departures)
    assert math.isclose(answer["count"]["log"], exact, rel_tol=1e-12)
    return under(f"anonymatch audit, one mix, {messages:,} messages", best, goal)


def _cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
