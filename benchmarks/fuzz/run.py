"""``python -m benchmarks fuzz``: a million damaged files, in processes that may end or hang."""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.fuzz.trial import ANSWER, REFUSAL, Case, Trials, case

__all__ = ["main", "save"]

_HANGS = 120.0  # seconds for one file
_TELL = 10.0  # seconds between lines that say how far it is


def main(arguments: Sequence[str]) -> int:
    """Read damaged files; 1 if there was a failure, each of which is saved."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000, help="how many (a million)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", type=Path, default=Path("build/fuzz"), help="for failures")
    chosen = parser.parse_args(arguments)
    return _Fuzzing(chosen).run()


@dataclass(slots=True)
class _Worker:
    """One process, what it works on, and since when."""

    process: Any
    answers: Connection
    at: Any
    last: int
    since: float
    step: int
    end: int


class _Fuzzing:
    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.outcomes: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.context = mp.get_context("spawn")

    def run(self) -> int:
        chosen, start = self.chosen, time.monotonic()
        end = chosen.first + chosen.files
        workers = [
            self._start(chosen.first + number, chosen.workers, end)
            for number in range(chosen.workers)
        ]
        reported = start
        while workers:
            time.sleep(0.05)
            workers = [after for worker in workers if (after := self._look(worker)) is not None]
            if time.monotonic() - reported > _TELL:
                reported = time.monotonic()
                print(self._summary(reported - start), flush=True)
        print(self._summary(time.monotonic() - start), flush=True)
        for kind, times in self.kinds.most_common():
            print(f"{times:>8}  {kind}")
        return 1 if self.kinds else 0

    def _start(self, first: int, step: int, end: int) -> _Worker:
        answers, given = self.context.Pipe(duplex=False)
        at = self.context.Value("q", first, lock=False)
        process = self.context.Process(
            target=_work, args=(self.chosen.seed, first, step, end, at, given), daemon=True
        )
        process.start()
        given.close()
        return _Worker(process, answers, at, first, time.monotonic(), step, end)

    def _look(self, worker: _Worker) -> _Worker | None:
        """Take what it says; start another where it ended or hangs."""
        alive = worker.process.is_alive()
        try:
            while worker.answers.poll():
                result = worker.answers.recv()
                if isinstance(result, dict):
                    self.outcomes.update(result)
                else:
                    self._failed(*result)
        except EOFError:
            pass
        number = int(worker.at.value)
        if number != worker.last:
            worker.last, worker.since = number, time.monotonic()
        if alive and time.monotonic() - worker.since > _HANGS:
            worker.process.kill()
            worker.process.join()
            self._failed(number, f"hangs for {_HANGS:g} s")
        elif alive:
            return worker
        elif worker.process.exitcode == 0:
            return None
        else:
            self._failed(number, f"ends the process ({worker.process.exitcode})")
        return self._start(number + worker.step, worker.step, worker.end)

    def _failed(self, number: int, what: str) -> None:
        kind = re.sub(r"\d+", "N", what)[:160]
        self.outcomes["failure"] += 1
        self.kinds[kind] += 1
        if self.kinds[kind] <= 3:
            position = save(case(self.chosen.seed, number), what, self.chosen.save)
            print(f"{position}: {what}", flush=True)

    def _summary(self, seconds: float) -> str:
        total = sum(self.outcomes.values())
        reported = ", ".join(f"{number:,} {name}" for name, number in sorted(self.outcomes.items()))
        return f"{total:,} files in {seconds:.0f} s: {reported}"


def _work(seed: int, first: int, step: int, end: int, at: Any, answers: Connection) -> None:
    outcomes: Counter[str] = Counter()
    with Trials.within() as trials:
        for number in range(first, end, step):
            at.value = number
            result = trials.outcome(case(seed, number))
            if result in (ANSWER, REFUSAL):
                outcomes[result] += 1
            else:
                answers.send((number, result))
            if sum(outcomes.values()) >= 200:
                answers.send(dict(outcomes))
                outcomes.clear()
    answers.send(dict(outcomes))
    answers.close()


def save(given: Case, what: str, folder: Path) -> Path:
    """Write the files of a case, and how they are read, into a folder of its own."""
    position = folder / re.sub(r"[^\w.]+", "-", given.name)
    for name, content in given.files.items():
        (position / name).parent.mkdir(parents=True, exist_ok=True)
        (position / name).write_bytes(content)
    about = {"path": given.path, "options": dict(given.options), "was": what}
    (position / "case.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return position


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
