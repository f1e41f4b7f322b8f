"""Options that every command takes: how it works and answers."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from anonymatch import counting
from anonymatch.base.errors import InputError
from anonymatch.base.options import amount, option, whole
from anonymatch.base.text import did_you_mean, several
from anonymatch.cli.console import note
from anonymatch.graph import Graph
from anonymatch.running import Budget, Checkpoint, Progress, usable_cores

__all__ = ["WORK", "Here", "Options", "file_option", "html_option", "top_option"]

_COMPUTATION: dict[str, Any] = {"group": "Computation"}
T = TypeVar("T")
_MOST_THREADS = 1024  # far beyond what pays; many thousands only exhaust the system

WORK = ("json", "budget", "memory", "threads", "cluster", "resume", "seed")
"""Options that act on every command with long work."""


def top_option(what: str, default: int = 20) -> Any:
    """Return the option for the number of rows of a table that are shown."""
    text = f"{what} to show; 0 for all."
    return option(default, text, metavar="N", read=whole(0), group="Output")


def file_option(text: str) -> Any:
    """Return an option for a file that is written."""
    return option(None, text, metavar="FILE", read=Path, group="Output")


def html_option() -> Any:
    """Return the option for a page."""
    return file_option("Also write a page with pictures.")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a command works and answers."""

    json: bool = option(False, "Print one JSON object and nothing else.", group="Output")
    digits: bool = option(False, "Print every digit of long numbers.", group="Output")
    exact: bool = option(
        False, "Give an exact answer, or exit with an error that names its cost.", **_COMPUTATION
    )
    method: str = option(
        "auto",
        lambda: f"Method for every block: {', '.join(counting.METHODS)}.",
        metavar="NAME",
        **_COMPUTATION,
    )
    budget: float | None = option(
        None,
        "Predicted seconds of one core that the work may take.",
        metavar="SECONDS",
        unit="s",
        shown="300",
        read=amount,
        **_COMPUTATION,
    )
    memory: float | None = option(
        None,
        "Predicted memory that the work may use, in GiB.",
        metavar="GIB",
        unit="GiB",
        shown="half of the machine's",
        read=amount,
        **_COMPUTATION,
    )
    threads: int | None = option(
        None,
        "Number of threads.",
        metavar="N",
        shown="all cores",
        read=whole(1, _MOST_THREADS),
        **_COMPUTATION,
    )
    cluster: str | None = option(
        None,
        "Work on a Dask cluster: tcp://host:port, or local:N for N processes on this machine.",
        metavar="WHERE",
        **_COMPUTATION,
    )
    resume: Path | None = option(
        None,
        "Record finished work in this file, and continue from it.",
        metavar="FILE",
        read=Path,
        **_COMPUTATION,
    )
    seed: int | None = option(
        None, "Seed of random numbers.", metavar="N", shown="0", read=whole(0), **_COMPUTATION
    )

    def __post_init__(self) -> None:
        if self.method != "auto" and counting.method_named(self.method) is None:
            known = ", ".join(counting.METHODS)
            near = did_you_mean(self.method, counting.METHODS)
            raise InputError(f"--method {self.method}: there is no such method; use {known}{near}")
        if self.cluster is not None and self.threads is not None:
            raise InputError("--threads: a cluster has workers of its own; leave it out")

    def check(self, name: str, acts: Collection[str]) -> None:
        """Refuse options that change how a command works, where they cannot."""
        if self.method != "auto" and "method" not in acts:
            raise InputError(f"--method {self.method}: {name} has no choice of methods")
        if self.cluster is not None and "cluster" not in acts:
            raise InputError(f"--cluster: {name} has no long work; leave it out")
        if self.resume is not None and "resume" not in acts:
            raise InputError(f"--resume: {name} has no long work; leave it out")

    def effort(self) -> Budget:
        """The budget that the options allow."""
        allowed = {} if self.budget is None else {"seconds": self.budget}
        if self.memory is not None:
            allowed["memory"] = self.memory * 2**30
        return Budget(**allowed)

    def keywords(
        self, progress: Progress | None = None, graph: Graph | None = None
    ) -> dict[str, Any]:
        """Keywords for ``count`` and its kin, in a command that is about a graph."""
        return {
            "method": self.method,
            "exact": self.exact or None,
            "budget": self.effort(),
            "seed": self.seed,
            "executor": self.executor(graph),
            "progress": progress,
        }

    @property
    def draw_seed(self) -> int:
        """The seed of what is drawn: the same every time unless told."""
        return 0 if self.seed is None else self.seed

    def drawing(self, progress: Progress, graph: Graph | None = None) -> dict[str, Any]:
        """Return the keywords of work that always draws with a seed."""
        return {
            "budget": self.effort(),
            "seed": self.draw_seed,
            "executor": self.executor(graph),
            "progress": progress,
        }

    def executor(self, graph: Graph | None = None) -> Executor | None:
        """Where chunks of work run, the same at every call; None leaves it to the library.

        ``graph`` is what the command is about, the same at every call too.
        """
        if self.resume is None:
            return self._workers
        if "run" not in self._opened:
            self._opened["run"] = Checkpoint(self.resume, graph, executor=self._workers)
        return self._opened["run"]

    @cached_property
    def _workers(self) -> Executor | None:
        if self.cluster is not None:
            from anonymatch.running import Cluster

            # Ctrl-C leaves at once, and Python's tracker of resources would remark on it.
            os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
            self._opened["cluster"] = Cluster(self.cluster)
            _silence("distributed", "tornado")
            return self._opened["cluster"]
        if self.threads is None:
            return None
        return Here() if self.threads == 1 else ThreadPoolExecutor(self.threads)

    @cached_property
    def _opened(self) -> dict[str, Executor]:
        return {}

    def close(self) -> None:
        """Let go of files and clusters, and say what a file of a run had."""
        run = self._opened.get("run")
        if isinstance(run, Checkpoint) and run.taken:
            total, were = run.taken + run.computed, "was" if run.taken == 1 else "were"
            chunks = f"{run.taken} of {several(total, 'chunk')}"
            note(f"{chunks} {were} there already in {run.path.name}")
        for name in [name for name in ("run", "cluster") if name in self._opened]:
            self._opened.pop(name).shutdown()

    def limit_readers(self) -> None:
        """Hold polars to as many threads, or to the cores; it looks once, when it is imported."""
        if self.threads is not None:
            os.environ["POLARS_MAX_THREADS"] = str(min(self.threads, usable_cores()))


def _silence(*packages: str) -> None:
    """One clear line is what people get: no logs of libraries beside it."""
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] in packages:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class Here(Executor):
    """Runs every call at once in the thread that submits it: one thread and not two."""

    def submit(self, call: Callable[..., T], /, *args: Any, **keywords: Any) -> Future[T]:
        """The finished future of ``call``."""
        future: Future[T] = Future()
        try:
            future.set_result(call(*args, **keywords))
        except Exception as error:
            future.set_exception(error)
        return future
