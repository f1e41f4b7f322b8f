"""The options that every command has, once, and how a function becomes a command."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial, wraps
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from anonymatch.counting.plan import METHODS
from anonymatch.effort import Budget, Progress
from anonymatch.errors import InputError

__all__ = ["Options", "command"]

T = TypeVar("T")
_EVERYWHERE = "Options of every command"


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_EVERYWHERE, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a command shall work and answer."""

    json: Annotated[bool, _option("--json", text="Print one JSON object and nothing else.")] = False
    exact: Annotated[
        bool,
        _option("--exact", text="An exact answer, or a refusal that names the cost; no interval."),
    ] = False
    method: Annotated[
        str, _option("--method", text=f"One method for every block: {', '.join(METHODS)}.")
    ] = "auto"
    budget: Annotated[
        float | None,
        _option(
            "--budget",
            text="Predicted seconds of one core that may be spent (300 unless told).",
            metavar="SECONDS",
        ),
    ] = None
    memory: Annotated[
        float | None,
        _option(
            "--memory",
            text="Predicted memory that may be used (half of the machine's unless told).",
            metavar="GIB",
        ),
    ] = None
    threads: Annotated[
        int | None,
        _option("--threads", text="Threads that work (all cores unless told).", metavar="N", min=1),
    ] = None
    seed: Annotated[
        int | None,
        _option(
            "--seed", text="Seed of what is drawn at random (0 unless told).", metavar="N", min=0
        ),
    ] = None
    digits: Annotated[bool, _option("--digits", text="Print every digit of long numbers.")] = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise InputError(f"--method {self.method}: there is no such method; use {known}")
        for name in ("budget", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"--{name} {value}: it must be 0 or more")

    def effort(self) -> Budget:
        """The budget that the options allow."""
        allowed = {} if self.budget is None else {"seconds": self.budget}
        if self.memory is not None:
            allowed["memory"] = self.memory * 2**30
        return Budget(**allowed)

    def keywords(self, progress: Progress | None = None) -> dict[str, Any]:
        """Keywords for ``count`` and its kin."""
        return {
            "method": self.method,
            "exact": self.exact or None,
            "budget": self.effort(),
            "seed": self.seed,
            "executor": self.executor(),
            "progress": progress,
        }

    @property
    def draw_seed(self) -> int:
        """The seed of what is drawn: the same every time unless told."""
        return 0 if self.seed is None else self.seed

    def drawing(self, progress: Progress) -> dict[str, Any]:
        """Keywords for ``sample``."""
        if self.method != "auto":
            raise InputError(f"--method {self.method}: matchings are drawn by one method; leave it")
        return {
            "budget": self.effort(),
            "seed": self.draw_seed,
            "executor": self.executor(),
            "progress": progress,
        }

    def executor(self) -> Executor | None:
        """Where chunks of work run; None leaves it to the library."""
        if self.threads is None:
            return None
        return Here() if self.threads == 1 else ThreadPoolExecutor(self.threads)

    def limit_readers(self) -> None:
        """Hold polars to the same number of threads; it looks once, when it is imported."""
        if self.threads is not None:
            os.environ["POLARS_MAX_THREADS"] = str(self.threads)


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


def command(app: typer.Typer, **settings: Any) -> Callable[[Callable[..., None]], None]:
    """Register ``function(..., options)`` as a command that also takes every field of Options.

    The command returns the work instead of doing it: typer would turn Ctrl-C and broken pipes into
    messages of its own.
    """

    def register(function: Callable[..., None]) -> None:
        hints = get_type_hints(function, include_extras=True)
        shared = get_type_hints(Options, include_extras=True)
        own = [
            p.replace(annotation=hints[p.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(function).parameters.values()
            if p.name != "options"
        ]
        common = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=shared[field.name],
            )
            for field in fields(Options)
        ]

        @wraps(function)
        def parsed(**values: Any) -> Callable[[], None]:
            options = Options(**{field.name: values.pop(field.name) for field in fields(Options)})
            return partial(function, **values, options=options)

        parameters = [*own, *common]
        parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        parsed.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(**settings)(parsed)

    return register
