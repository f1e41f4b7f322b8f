"""The one door: whatever a file or a folder holds, as an observation.

Files are known by what they contain, not by their names alone; ``source=`` decides where that is
not enough. Plain JSON ``{name: [names]}`` is taken as rings if its names are those of inputs and
outputs, else as edges; the graph is the same, and a note says which.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import (
    Argument,
    Call,
    Message,
    did_you_mean,
    listed,
    meant_instead,
    quoted,
)
from anonymatch.graph import DIRECTIONS, FORMATS, TIMES, Source, read, reading, separator_in
from anonymatch.mixes.formats import SOURCE_FORMATS, SOURCES, SourceFormat
from anonymatch.mixes.formats.network_files import LINKS
from anonymatch.mixes.laws import Law, check_law, law_examples
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import Observation
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.reading.hints import hinting, law_notes
from anonymatch.mixes.reading.preview import FirstLook, guess_log_law, log_mean_delay
from anonymatch.mixes.reading.reading import ReadOptions
from anonymatch.rings import has_ring_columns, has_ring_names, read_rings
from anonymatch.running import Budget
from anonymatch.tables import Release, look_at_tables, open_released, require_original
from anonymatch.tabular import load_json

__all__ = [
    "PARTS",
    "first_look",
    "has_rounds",
    "holds_relays",
    "holds_rings",
    "mean_delay",
    "open_observation",
]

PARTS = frozenset(name for each in SOURCE_FORMATS.values() for name in (*each.files, *each.parts))
"""Names of files that simulators write and folders of them hold."""

_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 24
_USERS, _BEHAVIOURS = {"user"}, {"behaviour"}
_ROUND = "round"
# Columns of a table with one row per packet that nothing else has.
_PACKETS = (
    {"entered", "entered_at", "arrived_at", "sent_at"},
    {
        "left_at",
        "departed_at",
        "received_at",
    },
)
# Options of a log of which as many messages came in as out, but perhaps not the same ones.
_INCOMPLETE = ("loss", "lost", "cover_rate", "cover", "inside_at_start")
_PLAIN_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"([^"\\]*)"\s*:\s*\[')


def open_observation(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    *,
    budget: Budget | float | None = None,
    early: Callable[[Release], None] | None = None,
    **keywords: Any,
) -> Observation:
    r"""Read what an attacker saw: edges, messages, a simulator's log, rings, relays, a table.

    Parameters
    ----------
    path : path
        A file, or the folder of a simulator.
    options : ReadOptions, optional
        How it is to be understood.
    budget : float or Budget, optional
        What making the graph may take.
    early : callable, optional
        Called with the classes of equal rows of a released table, before a comparison of people and
        rows that takes long by prediction.
    **keywords
        Instead of ``options``: the fields of :class:`ReadOptions`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "log.csv")
    ...     _ = log.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n")
    ...     observation = open_observation(log, law="window:1,3")
    >>> observation.source, observation.graph
    ('window law, 1 to 3 s', Graph(2 users, 2 behaviours, 3 edges))
    """
    options = replace(options or ReadOptions(), **keywords)
    file = as_path(path)
    kind = _checked(options.source) or _kind(file, options)
    _check_used(kind, file, options)
    source = SOURCE_FORMATS[kind]
    if _view(source, file, options) == "links" and source.links is not None:
        with _about(file):
            return source.links(file, options)
    law = None if options.law is None or source.reads_law else check_law(options.law)
    if source.open is None:
        return _log(source, file, options, law, budget)
    if kind == "released":
        observation: Observation = open_released(file, options, law, budget, early)
    else:
        observation = source.open(file, options, law, budget)
    if options.source is None:
        observation = _with_other_reading(kind, file, observation)
    if law is None or source.uses_law:
        return observation
    unused = "The law was not used: it is for message logs."
    return replace(observation, notes=(*observation.notes, unused))


def _with_other_reading(kind: str, file: Path, observation: Observation) -> Observation:
    """Plain JSON of names says neither what it is; where it may be rings the other is told."""
    graph = observation.graph
    if kind not in ("edges", "rings") or graph is None or not _is_plain_json(file):
        return observation
    if kind == "rings":
        note = Message(
            "Read as rings, for its names are those of inputs and outputs; as users and behaviours "
            "with ",
            Argument("source", "edges"),
            ".",
        )
    elif graph.n_behaviours > graph.n_users:
        note = Message(
            "Read as edges of users and behaviours; as rings with ",
            Argument("source", "rings"),
            ".",
        )
    else:
        return observation
    return replace(observation, notes=(*observation.notes, note))


def _log(
    source: SourceFormat,
    file: Path,
    options: ReadOptions,
    law: Law | None,
    budget: Budget | float | None,
) -> Observation:
    if law is None:
        raise InputError(
            "a message log needs a law that says how messages are delayed; give ",
            Argument("law"),
            f", one of {law_examples()}",
            _suggested(source, file, options),
        ).about(file)
    with _about(file):
        messages = _messages(source, file, options)
        with hinting(messages, law, unit=options.unit):
            observation = observe(messages, law, budget=budget, **options.of_log())
        complete = not any(options.of_log().get(name) for name in _INCOMPLETE)
        notes = (*observation.notes, *law_notes(messages, law, complete=complete))
        return replace(observation, notes=notes)


def _suggested(source: SourceFormat, file: Path, options: ReadOptions) -> Message:
    """The law that a log looks like, for whoever told none; nothing where none shows."""
    try:
        guess = guess_log_law(_messages(source, file, options))
    except InputError:  # what is wrong with the log is said when there is a law
        return Message("")
    if guess is None:
        return Message("")
    return Message(f"; its {guess.reason}, which is ", Argument("law", guess.text))


def first_look(
    path: str | os.PathLike[str], options: ReadOptions | None = None, **keywords: Any
) -> FirstLook:
    r"""What a file is, its messages, and the law that it looks like; nothing is counted.

    Options are those of :func:`open_observation`; a law is not needed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "log.csv")
    ...     _ = log.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n")
    ...     look = first_look(log)
    >>> look.kind, look.messages, look.needs_law
    ('messages', Messages(2 in, 2 out, 0 to 4 s), True)
    """
    options = replace(options or ReadOptions(), **keywords)
    file = as_path(path)
    kind = _checked(options.source) or _kind(file, options)
    source = SOURCE_FORMATS[kind]
    if kind == "edges":
        return FirstLook(kind=kind, text=source.text, graph=read(file))
    if kind == "released":
        original = require_original(file, options)
        return FirstLook(kind=kind, text=source.text, tables=look_at_tables(original, file))
    if kind == "rings":
        seen = read_rings(file)
        return FirstLook(kind=kind, text=source.text, graph=seen.graph, rings=seen.rings)
    if source.messages is None:
        return FirstLook(kind=kind, text=source.text)
    with _about(file):
        messages = _messages(source, file, options)
    return FirstLook(
        kind=kind,
        text=source.text,
        messages=messages,
        needs_law=source.links is None,
        guess=guess_log_law(messages),
    )


def mean_delay(
    path: str | os.PathLike[str], options: ReadOptions | None = None, **keywords: Any
) -> float | None:
    r"""Seconds that messages of a log were held on average; None if the log does not say.

    Where as many come out as go in, it does, whoever is who: it is the difference of the mean times
    out and in. Options are those of :func:`open_observation`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "log.csv")
    ...     _ = log.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n")
    ...     mean_delay(log)
    2.5
    """
    options = replace(options or ReadOptions(), **keywords)
    file = as_path(path)
    kind = _checked(options.source) or _kind(file, options)
    if SOURCE_FORMATS[kind].messages is None:
        return None
    with _about(file):
        messages = _messages(SOURCE_FORMATS[kind], file, options)
    return log_mean_delay(messages)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """What is wrong becomes one line that begins with the file, if it does not yet."""
    try:
        yield
    except InputError as error:
        raise error.about(path) from None


def _messages(source: SourceFormat, file: Path, options: ReadOptions) -> Messages:
    assert source.messages is not None
    return source.messages(file, options)


def _view(source: SourceFormat, file: Path, options: ReadOptions) -> str:
    """What the attacker sees: all links, or the ends, as whoever gives a law with numbers says."""
    if options.view not in (None, "links", "ends"):
        near = did_you_mean(options.view, ("links", "ends"))
        raise InputError(Argument("view"), f" must be links or ends, not {options.view!r}{near}")
    if options.view == "ends":
        if source.reads_law:
            raise InputError(
                Argument("view", "ends"),
                " is for simulators' logs; of a network give messages in and out as a message log",
            ).about(file)
        if options.corrupt is not None:
            raise InputError(
                Argument("corrupt"),
                " is for an attacker who sees links; leave out ",
                Argument("view", "ends"),
            ).about(file)
        return "ends"
    law = options.law
    no_numbers = law is None or (isinstance(law, str) and ":" not in law)
    return options.view or ("links" if no_numbers or options.corrupt else "ends")


def _checked(source: str | None) -> str | None:
    if source is not None and source not in SOURCES:
        near = did_you_mean(source, SOURCES)
        raise InputError(f"no source {quoted(source)}; known are {', '.join(SOURCES)}{near}")
    return source


def _check_used(kind: str, path: Path, options: ReadOptions) -> None:
    """Refuse what would be ignored."""
    unused = options.unused(kind)
    if unused is not None:
        name, kinds = unused
        if set(kinds) == {"released"}:
            raise InputError(
                Argument(name),
                " is for a released table beside the original one; give ",
                Argument("original", ...),
                " too",
            ).about(path)
        raise InputError(
            Argument(name),
            f" is for {' and '.join(sorted(kinds))}, and this is {kind}; leave it out, or tell ",
            Argument("source"),
        ).about(path)


# ---- what a file is


def _kind(path: Path, options: ReadOptions) -> str:
    departures, original = options.departures is not None, options.original is not None
    if departures and original:
        raise InputError(
            Argument("departures"),
            " is for message logs and ",
            Argument("original"),
            " for released tables; give one",
        )
    if original and options.law is not None:
        raise InputError(
            Argument("law"),
            " is for message logs and ",
            Argument("original"),
            " for released tables; give one",
        )
    if os.path.isdir(path) and not original:
        return _folder_kind(path)
    with reading(path):
        if departures:
            return "messages"
        if original:
            return "released"
        for name, source in SOURCE_FORMATS.items():
            if path.name in source.files:
                return name
        suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
        suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else path.suffix
        if suffix.lower() == ".json":
            return _json_kind(path)
        look = _TABLES.get(suffix.lower())
        return "edges" if look is None else look(path, options)


def _folder_kind(folder: Path) -> str:
    folders = {name: each for name, each in SOURCE_FORMATS.items() if each.folder is not None}
    kinds = [name for name, each in folders.items() if each.folder and each.folder(folder)]
    if not kinds:
        raise InputError(
            f"this folder has neither {' nor '.join(each.holds for each in folders.values())}; "
            "give a file, or the folder of a simulator"
        ).about(folder)
    if len(kinds) > 1:
        raise InputError(
            f"this folder may be {' or '.join(kinds)}; tell ", Argument("source")
        ).about(folder)
    return kinds[0]


def _json_kind(path: Path, *, guess: bool = True) -> str:
    """By its keys, or by its names; JSON without any marks of either is not parsed here."""
    content = Source(path, packed=path.suffix.lower() == ".gz").content()
    kinds = {name: each for name, each in SOURCE_FORMATS.items() if each.document is not None}
    if not any(mark in content for each in kinds.values() for mark in each.marks):
        first = _PLAIN_JSON.match(content[:_HEAD]) if guess else None
        name = "" if first is None else first[1].decode("utf-8", errors="replace")
        looks = has_ring_names({name: ["o1", "o2"]})  # before all of it is parsed
        return "rings" if looks and has_ring_names(load_json(path)) else "edges"
    document = load_json(path)
    return next(
        (name for name, each in kinds.items() if each.document and each.document(document)), "edges"
    )


def _is_plain_json(path: Path) -> bool:
    """Whether a file begins as ``{name: [...]}``."""
    packed = path.suffix.lower() == ".gz"
    if not path.name.lower().removesuffix(".gz").endswith(".json"):
        return False
    first = _PLAIN_JSON.match(Source(path, packed=packed).content()[:_HEAD])
    return first is not None and first[1] not in (b"users", b"behaviours", b"edges", b"rings")


def has_rounds(path: Path) -> bool:
    """Whether a message log also says in which round each message was seen."""
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    with reading(path):
        if suffix in ("csv", "tsv"):
            header = _head(path).decode("utf-8", errors="replace")
            columns = _columns(header, FORMATS[f".{suffix}"].separator)
        elif suffix == "parquet":
            from anonymatch.graph import parquet  # imports polars

            columns = parquet.columns(Source(path, packed=False))
        else:
            return False
    return _ROUND in {str(column).strip().lower() for column in columns}


def holds_rings(path: Path) -> bool:
    """Whether a file that may be a graph can only be rings: a document or a table of them."""
    suffix = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if not path.is_file():
        return False
    with reading(path):
        if suffix == "json":
            return _json_kind(path, guess=False) == "rings"
        if suffix in ("csv", "tsv"):
            header = _head(path).decode("utf-8", errors="replace")
            columns = _columns(header, FORMATS[f".{suffix}"].separator)
            return has_ring_columns(columns)
        if suffix == "parquet":
            from anonymatch.graph import parquet  # imports polars

            columns = parquet.columns(Source(path, packed=False))
            return has_ring_columns(columns)
    return False


def holds_relays(path: Path) -> bool:
    """Whether a file that may be a graph is a document of relays and the links between them."""
    if not path.is_file() or not path.name.lower().removesuffix(".gz").endswith(".json"):
        return False
    with reading(path):
        return _json_kind(path, guess=False) == "relays"


def _text_kind(path: Path, options: ReadOptions) -> str:
    header = _head(path).decode("utf-8", errors="replace")
    for name, source in SOURCE_FORMATS.items():
        if source.header is not None:
            mark, columns = source.header
            if set(columns) <= set(_columns(header, mark)):
                return name
    separator = FORMATS[".tsv" if ".tsv" in path.name.lower() else ".csv"].separator
    return _table_kind(path, _columns(header, separator), options)


def _lines_kind(path: Path, options: ReadOptions) -> str:
    try:
        record = json.loads(_head(path))
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        return "edges" if options.law is None else "messages"
    return _table_kind(path, list(record), options)


def _parquet_kind(path: Path, options: ReadOptions) -> str:
    from anonymatch.graph import parquet  # imports polars

    return _table_kind(path, parquet.columns(Source(path, packed=False)), options)


_TABLES: dict[str, Callable[[Path, ReadOptions], str]] = {
    ".csv": _text_kind,
    ".tsv": _text_kind,
    ".jsonl": _lines_kind,
    ".parquet": _parquet_kind,
}


def _table_kind(path: Path, columns: list[str], options: ReadOptions) -> str:
    """What a table is by its columns; with a law or names of columns it is a log."""
    there = {str(column).strip().lower() for column in columns}
    named = _meanings(options)
    linked = (there | named).issuperset(LINKS)
    timed = not (there | named).isdisjoint((*TIMES, "sent"))
    if options.law is not None or named:
        return "network" if linked and timed else "messages"
    if has_ring_columns(columns):
        return "rings"
    if linked and timed:
        return "network"
    if all(there & ends for ends in _PACKETS):
        return "messages"
    if there.isdisjoint(TIMES):
        if _ROUND in there:
            raise InputError(
                "it is a log of rounds, and an audit measures one; ",
                Call("call am.rounds(path)", "'anonymatch rounds FILE'"),
                " tells how long anonymity lasts; if it is edges, tell ",
                Argument("source", "edges"),
            ).about(path)
        _refuse_release(path, columns, there)
        return "edges"
    if there & _USERS and there & _BEHAVIOURS and there.isdisjoint(DIRECTIONS):
        raise InputError(
            "it may be edges with a column of times, or a message log without directions; tell ",
            Argument("source"),
        )
    return "messages"


def _meanings(options: ReadOptions) -> set[str]:
    """Meanings of columns that the caller names."""
    if not options.columns:
        return set()
    from anonymatch.mixes.formats.message_tables import column_names

    return set(column_names(options.columns))


def _refuse_release(path: Path, columns: list[str], there: set[str]) -> None:
    """Refuse a table that has nothing of edges: it looks like a released one."""
    edges = {"user", "behaviour", "behavior", "weight"}
    if len(there) < 2 or there & edges or meant_instead(sorted(edges), sorted(there)):
        return
    raise InputError(
        f"it looks like a released table, with columns {listed(columns)}; give the table of the "
        "people with ",
        Argument("original", ...),
        ", or name columns user and behaviour if it is edges",
    ).about(path)


def _columns(header: str, usual: str) -> list[str]:
    separator = separator_in(header, usual)
    return [column.strip().strip('"') for column in header.rstrip("\r").split(separator)]


def _head(path: Path) -> bytes:
    """The first line of a file, unpacked; nothing where it cannot be unpacked."""
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            head = file.read(_HEAD).lstrip(b"\xef\xbb\xbf\r\n ")
            if b"\n" not in head:
                head += file.readline(_LONGEST_HEAD)
            return head.partition(b"\n")[0]
    except (EOFError, ValueError, zlib.error, gzip.BadGzipFile):
        return b""
