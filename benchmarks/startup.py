"""Start-up: the CPU time of whole processes, beside one that imports numpy and does nothing."""

from __future__ import annotations

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
_IMPORT, _VERSION = 1.3, 1.5  # times numpy
_COUNT, _AUDIT = 0.4, 0.35  # seconds
_MESSAGES = 1000


def lines(size: Size) -> Iterator[Line]:
    command = str(Path(sys.executable).parent / "anonymatch")
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        small.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\n")
        log = Path(folder) / "log.csv"
        am.sources.write_messages(
            am.sources.synthesize("exponential:20", messages=_MESSAGES, seed=1), log
        )
        processes = {
            "numpy": [sys.executable, "-c", "import numpy"],
            "import": [sys.executable, "-c", "import anonymatch"],
            "used": [sys.executable, "-c", "import anonymatch; anonymatch.count"],
            "version": [command, "--version"],
            "count": [command, "count", str(small)],
            "audit": [command, "audit", str(log), "--law", "exponential:20"],
        }
        best = dict.fromkeys(processes, float("inf"))
        for _ in range(_ROUNDS[size]):
            for name, arguments in processes.items():
                best[name] = min(best[name], _cpu_seconds(arguments))
        assert am.__version__ in subprocess.check_output(processes["version"], text=True)
        printed = subprocess.check_output(processes["audit"], text=True)
        assert f"{_MESSAGES:,} messages in" in printed
        assert "closed_form" in printed
        assert "matchings  2" in subprocess.check_output(processes["count"], text=True)
    judged = size != "tiny"
    numpy = best["numpy"]
    yield within("import anonymatch", best["import"], "numpy", numpy, _IMPORT if judged else None)
    yield within("import anonymatch; anonymatch.count", best["used"], "numpy", numpy, None)
    yield within(
        "anonymatch --version", best["version"], "numpy", numpy, _VERSION if judged else None
    )
    yield under("anonymatch count small.csv", best["count"], _COUNT if judged else None)
    yield under(
        f"anonymatch audit, {_MESSAGES:,} messages of one exponential mix",
        best["audit"],
        _AUDIT if judged else None,
    )


def _cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
