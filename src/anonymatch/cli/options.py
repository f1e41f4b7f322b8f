"""The options that every command takes, once, and how a function becomes a command.

Every command takes every option, so that scripts can pass the same ones to all of them; its help
lists those that act on it.
"""

from __future__ import annotations

import copy
import inspect
import logging
import math
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from anonymatch import counting
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean, several
from anonymatch.cli.console import note
from anonymatch.cli.help import LIVE, Command
from anonymatch.cli.saving import check_targets
from anonymatch.graph import Graph
from anonymatch.running import Budget, Checkpoint, Progress, usable_cores

__all__ = ["Options", "above_zero", "amount", "command", "from_zero", "option", "size", "whole"]

T = TypeVar("T")
_READ = ("file", "files", "departures", "original", "truth")  # parameters that are files
_NO_FILES = ("sampled", "-")  # which --truth takes instead of a file, and standard output
_STAGES = "*.npz"  # files of a search, in the folder that keeps them
_WRITTEN = ("out", "csv", "html", "latex")
_MOST_THREADS = 1024  # far beyond what pays; many thousands only exhaust the system


def option(name: str, text: str | Callable[[], str], **more: Any) -> Any:
    """An option of the command line and its line in the help, or what makes that when it is shown.

    A line that is made is that of the name, whatever the command.
    """
    if not isinstance(text, str):
        LIVE[name] = text
        return typer.Option(name, help=name, **more)
    return typer.Option(name, help=text, **more)


def _methods() -> str:
    return f"One method for every block: {', '.join(counting.METHODS)} (auto unless told)."


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers in a range."""
    span = f"from {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a whole number") from None
        if value < least or (most is not None and value > most):
            raise typer.BadParameter(f"{value} is out of range; give a whole number {span}")
        return value

    return read


def amount(text: str) -> float:
    """A number from 0; "inf" is no limit."""
    try:
        value = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
    if not value >= 0:  # also refuses NaN
        raise typer.BadParameter(f"{text} is out of range; give 0 or more")
    return value


def above_zero(what: str) -> Callable[[str], float]:
    """A reader of finite numbers above 0."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a number") from None
        if not 0 < value < float("inf"):
            raise typer.BadParameter(f"{text} is out of range; give a {what} above 0")
        return value

    return read


size = above_zero("set size")


def from_zero(what: str, below: float = math.inf) -> Callable[[str], float]:
    """A reader of finite numbers from 0, and below a limit."""
    span = "0 or more" if below == math.inf else f"from 0 to below {below:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a number") from None
        if not 0 <= value < below:  # also refuses NaN
            raise typer.BadParameter(f"{text} is out of range; give {what}, {span}")
        return value

    return read


def per_mix(read: Callable[[str], float]) -> Callable[[str], float | dict[str, float]]:
    """A reader of one number, or of a number per mix as in m1=0.01,m2=0.02."""

    def read_all(text: str) -> float | dict[str, float]:
        if "=" not in text:
            return read(text)
        values: dict[str, float] = {}
        for part in text.split(","):
            mix, equals, value = (piece.strip() for piece in part.rpartition("="))
            if not mix or not equals:
                raise typer.BadParameter(f"{part!r} is not MIX=NUMBER")
            if mix in values:
                raise typer.BadParameter(f"mix {mix!r} is given twice; keep one")
            values[mix] = read(value)
        return values

    return read_all


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a command shall work and answer."""

    json: Annotated[bool, option("--json", "Print one JSON object and nothing else.")] = False
    exact: Annotated[
        bool, option("--exact", "An exact answer, or a refusal that names the cost; no interval.")
    ] = False
    method: Annotated[
        str,
        option(
            "--method",
            _methods,
            metavar="NAME",
        ),
    ] = "auto"
    budget: Annotated[
        float | None,
        option(
            "--budget",
            "Predicted seconds of one core that may be spent (300 unless told).",
            metavar="SECONDS",
            parser=amount,
        ),
    ] = None
    memory: Annotated[
        float | None,
        option(
            "--memory",
            "Predicted memory that may be used (half of the machine's unless told).",
            metavar="GIB",
            parser=amount,
        ),
    ] = None
    threads: Annotated[
        int | None,
        option(
            "--threads",
            "Threads that work (all cores unless told).",
            metavar="N",
            parser=whole(1, _MOST_THREADS),
        ),
    ] = None
    cluster: Annotated[
        str | None,
        option(
            "--cluster",
            "Work on a Dask cluster: tcp://host:port, or local:N for N processes here.",
            metavar="WHERE",
        ),
    ] = None
    resume: Annotated[
        Path | None,
        option(
            "--resume",
            "Record what is finished in this file, and go on from there.",
            metavar="FILE",
        ),
    ] = None
    seed: Annotated[
        int | None,
        option(
            "--seed",
            "Seed of what is drawn at random (0 unless told).",
            metavar="N",
            parser=whole(0),
        ),
    ] = None
    digits: Annotated[bool, option("--digits", "Print every digit of long numbers.")] = False
    decoys: Annotated[
        str | None,
        option(
            "--decoys",
            "Of rings: how old decoys are, uniform, triangular or gamma:SHAPE,RATE.",
            metavar="LAW",
        ),
    ] = None
    spends: Annotated[
        str | None,
        option(
            "--spends",
            "Of rings: how old outputs are when they are spent (gamma where decoys are told).",
            metavar="LAW",
        ),
    ] = None
    merging: Annotated[
        float | None,
        option(
            "--merging",
            "Of rings: times that members weigh more which one transaction may spend together.",
            metavar="TIMES",
            parser=amount,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.method != "auto" and counting.method_named(self.method) is None:
            known = ", ".join(counting.METHODS)
            near = did_you_mean(self.method, counting.METHODS)
            raise InputError(f"--method {self.method}: there is no such method; use {known}{near}")
        if self.cluster is not None and self.threads is not None:
            raise InputError("--threads: a cluster has workers of its own; leave it out")

    @property
    def of_rings(self) -> dict[str, Any]:
        """What is told of rings, by its keyword."""
        told = {"decoys": self.decoys, "spends": self.spends, "merging": self.merging}
        return {name: value for name, value in told.items() if value is not None}

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

    def drawing(self, progress: Progress, graph: Graph) -> dict[str, Any]:
        """Keywords for ``sample``."""
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


def command(
    app: typer.Typer, *, acts: tuple[str, ...]
) -> Callable[[Callable[..., int | None]], None]:
    """Register ``function(..., options)`` as a command that also takes every field of Options.

    A parameter of its own goes before a field of the same name; one whose type is a dataclass
    stands for the options that its fields are. ``acts`` names the shared options that act on it.
    The command returns the work instead of doing it:
    typer would turn Ctrl-C and broken pipes into messages of its own.
    """

    def register(function: Callable[..., int | None]) -> None:
        hints = get_type_hints(function, include_extras=True)
        groups: dict[str, Any] = {}
        own: list[inspect.Parameter] = []
        for p in inspect.signature(function).parameters.values():
            if p.name == "options":
                continue
            if is_dataclass(hints[p.name]):
                groups[p.name] = hints[p.name]
                own += _parameters(hints[p.name])
            else:
                kind = inspect.Parameter.KEYWORD_ONLY
                own.append(p.replace(annotation=hints[p.name], kind=kind))
        names = {p.name for p in own}
        shared = [p for p in _parameters(Options, acts) if p.name not in names]

        @wraps(function)
        def parsed(**values: Any) -> Callable[[], int | None]:
            options = Options(**{p.name: values.pop(p.name) for p in shared})
            _check_acts(function.__name__, options, acts)
            _check_files(values, options)
            for name, group in groups.items():
                values[name] = group(**{f.name: values.pop(f.name) for f in fields(group)})
            return partial(_work, partial(function, **values, options=options), options)

        parameters = [*own, *shared]
        parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        parsed.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(cls=Command)(parsed)

    return register


def _check_acts(name: str, options: Options, acts: tuple[str, ...]) -> None:
    """Refuse options that change how a command works, where they cannot."""
    if options.method != "auto" and "method" not in acts:
        raise InputError(f"--method {options.method}: {name} has no choice of methods")
    if options.cluster is not None and "cluster" not in acts:
        raise InputError(f"--cluster: {name} has no long work; leave it out")
    if options.resume is not None and "resume" not in acts:
        raise InputError(f"--resume: {name} has no long work; leave it out")


def _check_files(values: dict[str, Any], options: Options) -> None:
    """Refuse files to write that are read too, whatever the command."""
    read = [path for name in _READ for path in _places(values.get(name))]
    read += [stage for path in _places(values.get("folder")) for stage in path.glob(_STAGES)]
    written = [path for name in _WRITTEN for path in _places(values.get(name))]
    check_targets(read, [*written, *_places(options.resume)])


def _places(value: Path | str | list[Path] | None) -> list[Path]:
    if value is None or str(value) in _NO_FILES:
        return []
    return [Path(value)] if isinstance(value, Path | str) else list(value)


def _work(function: Callable[[], int | None], options: Options) -> int | None:
    """Do the work of a command and let go of what it opened; Ctrl-C waits for nothing."""
    try:
        code = function()
    except KeyboardInterrupt:
        raise
    except BaseException:
        options.close()
        raise
    options.close()
    return code


def _parameters(group: Any, shown: tuple[str, ...] | None = None) -> list[inspect.Parameter]:
    """The fields of a group as parameters; hidden from the help unless they are ``shown``."""
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        kind, info = hints[field.name].__origin__, copy.copy(hints[field.name].__metadata__[0])
        info.hidden = shown is not None and field.name not in shown
        parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[kind, info],
            )
        )
    return parameters
