"""Options that say what a file is: a message log with its law, a simulator's log, a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer.models import OptionInfo

from anonymatch.base.errors import BudgetError, InputError, NoMatchingError
from anonymatch.base.numbers import took
from anonymatch.base.text import Message
from anonymatch.cli import words
from anonymatch.cli.console import notes, watch
from anonymatch.cli.options import Options, above_zero, from_zero, per_mix, whole
from anonymatch.graph import Graph
from anonymatch.mixes import (
    NetworkObservation,
    Observation,
    ReadOptions,
    help_text,
    open_observation,
    passage_graph,
    passage_of,
)
from anonymatch.running import Budget
from anonymatch.tables import Release, TableObservation

__all__ = ["FileOptions", "FilesOptions", "TableOptions", "about", "graph_of", "making", "observe"]

_BYTE = 8e-8  # seconds to read a byte of a table
_MAKING = 1.0  # seconds of making a graph that any budget allows


class _ReadOption(OptionInfo):
    """An option of :class:`ReadOptions`: what its help says is looked up when it is shown."""

    def __init__(self, name: str, metavar: str | None = None, **more: Any) -> None:
        self._field = name
        option = f"--{name.replace('_', '-')}"
        super().__init__(default=..., param_decls=(option,), metavar=metavar, **more)

    @property
    def help(self) -> str:
        return help_text(self._field)

    @help.setter  # noqa: A003
    def help(self, text: object) -> None:
        """Typer would set it at once; laws may come later."""


_PROBABILITY = from_zero("a probability", below=1.0)
_MESSAGES = from_zero("a number of messages")
_RATE = from_zero("a rate")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FilesOptions:
    """Options that say how files are to be understood: fields of :class:`ReadOptions`.

    There may be one law for each file.
    """

    law: Annotated[list[str] | None, _ReadOption("law", "LAW")] = None
    source: Annotated[str | None, _ReadOption("source", "KIND")] = None
    unit: Annotated[str | None, _ReadOption("unit", "UNIT")] = None
    columns: Annotated[list[str] | None, _ReadOption("columns", "MEANING=NAME")] = None
    loss: Annotated[Any, _ReadOption("loss", "P", parser=per_mix(_PROBABILITY))] = None
    lost: Annotated[int | None, _ReadOption("lost", "N", parser=whole(0))] = None
    cover_rate: Annotated[Any, _ReadOption("cover_rate", "R", parser=per_mix(_RATE))] = None
    cover: Annotated[int | None, _ReadOption("cover", "N", parser=whole(0))] = None
    loop_rate: Annotated[Any, _ReadOption("loop_rate", "R", parser=per_mix(_RATE))] = None
    since: Annotated[str | None, _ReadOption("since", "TIME")] = None
    until: Annotated[str | None, _ReadOption("until", "TIME")] = None
    drained: Annotated[bool, _ReadOption("drained")] = False
    inside_at_start: Annotated[
        Any, _ReadOption("inside_at_start", "R", parser=per_mix(_MESSAGES))
    ] = None
    cover_in_pool: Annotated[bool, _ReadOption("cover_in_pool")] = False
    cover_visible: Annotated[bool, _ReadOption("cover_visible")] = False
    whole_log: Annotated[bool, _ReadOption("whole_log")] = False
    longest_delay: Annotated[
        float | None, _ReadOption("longest_delay", "SECONDS", parser=above_zero("delay"))
    ] = None
    strays: Annotated[int | None, _ReadOption("strays", "N", parser=whole(0))] = None
    align: Annotated[str | None, _ReadOption("align", "WHERE")] = None
    corrupt: Annotated[list[str] | None, _ReadOption("corrupt", "MIXES")] = None
    view: Annotated[str | None, _ReadOption("view", "VIEW")] = None
    decoys: Annotated[str | None, _ReadOption("decoys", "LAW")] = None
    spends: Annotated[str | None, _ReadOption("spends", "LAW")] = None
    merging: Annotated[
        float | None, _ReadOption("merging", "TIMES", parser=above_zero("factor"))
    ] = None

    def law_of(self, k: int) -> str | None:
        """The law of the k-th file: one for all of them, or one for each."""
        return self.law[min(k, len(self.law) - 1)] if self.law else None

    def of_file(self, k: int = 0) -> ReadOptions:
        """For the k-th file."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        several = {"corrupt": self.corrupt or None, "columns": self.columns or None}
        return ReadOptions(**values | several | {"law": self.law_of(k)})

    def check(self, files: int) -> None:
        """Refuse laws that are neither one for all files nor one for each."""
        if self.law is not None and len(self.law) not in (1, files):
            raise InputError(f"--law is given {len(self.law)} times for {files} files")


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options that say how a released table is to be understood."""

    original: Annotated[Path | None, _ReadOption("original", "FILE")] = None
    identifiers: Annotated[list[str] | None, _ReadOption("identifiers", "COLUMNS")] = None
    sensitive: Annotated[list[str] | None, _ReadOption("sensitive", "COLUMNS")] = None
    name: Annotated[str | None, _ReadOption("name", "COLUMN")] = None
    hierarchies: Annotated[list[str] | None, _ReadOption("hierarchies", "COLUMN=FILE")] = None
    tolerance: Annotated[list[str] | None, _ReadOption("tolerance", "COLUMN=NUMBER")] = None
    missing: Annotated[list[str] | None, _ReadOption("missing", "TEXTS")] = None

    def of_table(self) -> dict[str, Any]:
        """Those as :func:`anonymatch.tables.read_released` takes them."""
        return {
            "original": self.original,
            "identifiers": self.identifiers or None,
            "sensitive": self.sensitive or None,
            "name": self.name,
            "hierarchies": _pairs(self.hierarchies, "--hierarchies", Path),
            "tolerance": _pairs(self.tolerance, "--tolerance", _distance),
            "missing": self.missing or None,
        }


@dataclass(frozen=True, kw_only=True)
class FileOptions(TableOptions, FilesOptions):
    """The same for a single file, which may have another beside it."""

    departures: Annotated[Path | None, _ReadOption("departures", "FILE")] = None

    def of_file(self, k: int = 0) -> ReadOptions:
        return replace(super().of_file(k), **self.of_table())


def _distance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < math.inf:
        raise InputError(f"--tolerance {text!r} is no number from 0 on")
    return value


def _pairs(given: list[str] | None, option: str, read: Callable[[str], T]) -> dict[str, T] | None:
    """COLUMN=VALUE, repeated, as a dictionary."""
    pairs = {}
    for text in given or ():
        column, equals, value = text.partition("=")
        if not equals or not column or not value:
            raise InputError(f"{option} {text!r} must be COLUMN=VALUE")
        if column in pairs:
            raise InputError(f"{option} is given twice for {column!r}; keep one")
        pairs[column] = read(value)
    return pairs or None


@contextmanager
def about(path: Path) -> Iterator[None]:
    """What is found wrong while a file is solved becomes a line that begins with it."""
    try:
        yield
    except InputError as error:
        raise error.about(path) from None
    except BudgetError as error:
        raise (error if error.where else error.about(path)) from None
    except NoMatchingError as error:
        raise InputError(error.message).about(path) from None


def observe(
    path: Path,
    options: Options,
    reading: FilesOptions,
    k: int = 0,
    early: Callable[[Release], None] | None = None,
) -> Observation:
    """Read FILE, with its notes on standard error."""
    options.limit_readers()
    given, budget = reading.of_file(k), making(options)
    with notes():
        try:
            observation = watch(
                f"reading {path.name}{_reading_time(path, given)}",
                lambda _: open_observation(path, given, budget=budget, early=early),
            )
        except BudgetError as error:  # what is wrong with the file names it, and a law does not
            raise error.about(path) from None
    return replace(
        observation, notes=tuple(Message(note).worded(words.option) for note in observation.notes)
    )


def _reading_time(path: Path, given: ReadOptions) -> str:
    """How long tables take to read, by prediction, where that is long."""
    if given.original is None or not path.is_file() or not Path(given.original).is_file():
        return ""
    seconds = _BYTE * (path.stat().st_size + Path(given.original).stat().st_size)
    return f" (about {took(seconds)})" if seconds >= 1.0 else ""


def making(options: Options) -> Budget:
    """What making a graph may take; --budget 0 forbids long work, and not every graph."""
    allowed = options.effort()
    return Budget(seconds=max(allowed.seconds, _MAKING), memory=allowed.memory)


def graph_of(observation: Observation, options: Options) -> Graph:
    """The graph of an observation; that of one exponential mix is made now, if small."""
    if observation.graph is not None:
        return observation.graph
    if isinstance(observation, TableObservation):
        raise InputError("the tables are too large to be written as a graph; audit them")
    if isinstance(observation, NetworkObservation):
        raise InputError("a network of mixes is no single graph; audit it")
    passage = passage_of(observation)
    assert passage is not None
    return passage_graph(passage, budget=making(options))
