"""One damaged file is read: what may come out, and what is a failure."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import anonymatch as am
from anonymatch.graph.io.files import FileNote
from anonymatch.mixes.reading.detect import open_observation
from benchmarks.fuzz.examples import Example, examples
from benchmarks.fuzz.mutations import mutate

__all__ = ["ANSWER", "REFUSAL", "Case", "Trials", "case"]

ANSWER, REFUSAL = "answer", "refusal"

SECONDS = 20.0
"""Of processor time that reading one file of a few hundred KiB may take."""

MEMORY = 1 << 30
"""Bytes by which the process may grow while it reads one."""

_BUDGET = am.Budget(seconds=1.0, memory=2.0**28)
_OF_FILES = ("departures", "original")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Damaged files, and how they are read."""

    name: str
    files: Mapping[str, bytes]
    path: str
    options: Mapping[str, str]


def case(seed: int, number: int) -> Case:
    """The damaged files of this number, the same for everybody."""
    known = examples()
    example = known[number % len(known)]
    draws = random.Random(f"{seed} {number}")
    others = [content for other in draws.sample(known, 3) for content in other.files.values()]
    files = dict(example.files)
    for name in draws.sample(sorted(files), 1 if draws.random() < 0.8 else len(files)):
        files[name] = mutate(name, files[name], draws, others)
    return Case(
        name=f"{example.name} {seed} {number}",
        files=files,
        path=example.path,
        options=_options(example, draws),
    )


def _options(example: Example, draws: random.Random) -> dict[str, str]:
    """How it is read; now and then as something that it is not."""
    options = dict(example.options)
    if draws.random() < 0.1 and not options.keys() & set(_OF_FILES):
        options["source"] = draws.choice(("edges", "messages", "nym", "rings", "relays"))
        options["law"] = "window:0,9"
    return options


class Trials:
    """Reads cases in one folder; standard error goes to a file meanwhile."""

    def __init__(self, folder: Path, stderr: int) -> None:
        self._folder, self._stderr = folder, stderr

    @classmethod
    @contextmanager
    def within(cls) -> Iterator[Trials]:
        """Trials in a folder of their own; what is written to standard error is a failure."""
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        sys.stderr.flush()
        retained = os.dup(2)
        with tempfile.TemporaryDirectory(dir=memory) as folder, tempfile.TemporaryFile() as message:
            os.dup2(message.fileno(), 2)
            try:
                yield cls(Path(folder), message.fileno())
            finally:
                sys.stderr.flush()
                os.dup2(retained, 2)
                os.close(retained)

    def outcome(self, given: Case) -> str:
        """``answer`` or ``refusal``; anything else says in words what went wrong."""
        root = self._folder / "case"
        for name, content in given.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        before, start = _peak(), time.process_time()
        try:
            with warnings.catch_warnings(record=True) as notes:
                warnings.simplefilter("always")
                result = self._read(root, given)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        seconds, grown = time.process_time() - start, _peak() - before
        odd = [note for note in notes if note.category is not FileNote]
        lines = [str(note.message) for note in notes if "\n" in str(note.message)]
        if result in (ANSWER, REFUSAL) and odd:
            return f"warns: {odd[0].category.__name__}: {odd[0].message}"
        if result in (ANSWER, REFUSAL) and lines:
            return f"notes in more than one line: {lines[0]!r}"
        if seconds > SECONDS:
            return f"takes {seconds:.1f} s of processor time ({result})"
        if grown > MEMORY:
            return f"grows by {grown >> 20} MiB ({result})"
        return self._printed() or result

    def _read(self, root: Path, given: Case) -> str:
        options: dict[str, Any] = dict(given.options)
        options |= {name: root / options[name] for name in _OF_FILES if name in options}
        try:
            observation = open_observation(root / given.path, budget=_BUDGET, **options)
        except am.BudgetError as error:
            return REFUSAL if "\n" not in str(error) else f"refuses in more lines: {str(error)!r}"
        except am.InputError as error:
            return REFUSAL if "\n" not in str(error) else f"refuses in more lines: {str(error)!r}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of polars is no Exception
            return f"raises {_told(error)}"
        return _checked(observation)

    def _printed(self) -> str:
        sys.stderr.flush()
        size = os.fstat(self._stderr).st_size
        if not size:
            return ""
        text = os.pread(self._stderr, 2000, 0).decode("utf-8", "replace")
        os.ftruncate(self._stderr, 0)
        os.lseek(self._stderr, 0, os.SEEK_SET)
        return f"prints {text!r}"


def _checked(observation: Any) -> str:
    """An answer whose graph is one: weights finite and above 0, names told apart."""
    graph = observation.graph
    if graph is None:
        return ANSWER
    weights = graph.weights
    if weights is not None and not (np.isfinite(weights).all() and (weights > 0).all()):
        return "answers with weights that are none"
    if len(set(graph.users)) < graph.n_users or len(set(graph.behaviours)) < graph.n_behaviours:
        return "answers with a name twice"
    return ANSWER


def _told(error: BaseException) -> str:
    """The error and the last line of this package that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "anonymatch" in Path(frame.filename).parts]
    position = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}{position}: {first}"


def _peak() -> int:
    """Bytes that the process had at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
