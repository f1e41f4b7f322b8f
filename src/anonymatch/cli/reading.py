"""Files that commands read: graphs, and logs or tables with the options that describe them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import BudgetError, InputError, NoMatchingError
from anonymatch.base.numbers import took
from anonymatch.base.options import argument
from anonymatch.base.text import Message
from anonymatch.cli import words
from anonymatch.cli.console import notes, watch
from anonymatch.cli.options import Options
from anonymatch.graph import Graph
from anonymatch.rings import RingOptions
from anonymatch.running import Budget

if TYPE_CHECKING:
    from anonymatch.mixes import Observation, ReadOptions
    from anonymatch.tables import Release

__all__ = ["GraphFile", "about", "graph_of", "load", "load_graph", "making", "observe"]

_LAW_KEYS = ("decoys", "spends", "merging")  # of files of rings
_KEYS = ("members", "rings", "inputs", "outputs", "links", "relays")  # of rings and relays
_HEAD = 1 << 16  # bytes of a file that show whether it may be these
_BYTE = 8e-8  # seconds to read a byte of a table
_MAKING = 1.0  # seconds of making a graph that any budget allows


@dataclass(frozen=True, kw_only=True)
class GraphFile(RingOptions):
    """A graph in a file."""

    file: Path = argument("FILE", "Graph: a table user,behaviour[,weight], or rings.")


def load(given: GraphFile, options: Options) -> Graph:
    """Read the graph, with its notes on standard error."""
    rings = {each.name: getattr(given, each.name) for each in fields(RingOptions)}
    return load_graph(given.file, options, **rings)


def load_graph(path: Path, options: Options, **rings: Any) -> Graph:
    """Read a graph of edges, or of rings or relays."""
    options.limit_readers()
    told = {name: value for name, value in rings.items() if value is not None}

    def read() -> Graph:
        if told or _may_be_more(path):
            import anonymatch as am

            return am.read(path, **told)
        from anonymatch.graph import read  # most are edges: nothing about mixes is imported

        return read(path)

    with notes():
        return watch(f"reading {path.name}", lambda _: read())


def _may_be_more(path: Path) -> bool:
    """Whether the beginning of a file has a word by which rings or relays are known."""
    name = path.name.lower()
    marks = [b"member", b"output"]
    if name.removesuffix(".gz").endswith(".json"):
        marks = [f'"{key}"'.encode() for key in (*_KEYS, *_LAW_KEYS)]
    elif not name.removesuffix(".gz").endswith((".csv", ".tsv")):
        return name.endswith(".parquet")
    try:
        with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
            head = file.read(_HEAD).lower()
    except (OSError, EOFError, zlib.error):
        return False  # whoever reads it says what is wrong
    return any(mark in head for mark in marks)


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
    path: Path, options: Options, given: ReadOptions, early: Callable[[Release], None] | None = None
) -> Observation:
    """Read a log or a table, with its notes on standard error."""
    options.limit_readers()
    from anonymatch.mixes import open_observation

    budget = making(options)
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
    from anonymatch.mixes import NetworkObservation, passage_graph, passage_of
    from anonymatch.tables import TableObservation

    if isinstance(observation, TableObservation):
        raise InputError("the tables are too large to be written as a graph; audit them")
    if isinstance(observation, NetworkObservation):
        raise InputError("a network of mixes is no single graph; audit it")
    passage = passage_of(observation)
    assert passage is not None
    return passage_graph(passage, budget=making(options))
