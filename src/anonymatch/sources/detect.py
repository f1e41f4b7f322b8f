"""The one door: whatever a file or a folder holds, as an observation.

Files are known by what they contain, not by their names alone; ``source=`` decides where that is
not enough. Plain JSON ``{name: [names]}`` is taken as edges, which for rings are the same.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, quoted
from anonymatch.graph import DIRECTIONS, TIMES, Source, read, reading
from anonymatch.running import Budget
from anonymatch.sources.formats.json_files import load_json
from anonymatch.sources.formats.mixmatch import FLOW_PAIR, flow_pair_files, read_flow_pairs
from anonymatch.sources.formats.relay_files import is_relays, read_relays
from anonymatch.sources.formats.rings import is_rings, read_rings
from anonymatch.sources.formats.simulators import NYM_COLUMNS, RECEIVED, SENT, read_mixim, read_nym
from anonymatch.sources.hints import hinting, scale_notes
from anonymatch.sources.laws import Law, check_law, law_examples
from anonymatch.sources.log_graph import observe
from anonymatch.sources.messages import Messages
from anonymatch.sources.observation import Observation
from anonymatch.sources.reading import LOGS, SOURCES, ReadOptions

__all__ = ["PARTS", "mean_delay", "open_observation"]

_NYM_LOG = "packet_log.csv"
PARTS = frozenset({SENT, RECEIVED, _NYM_LOG, FLOW_PAIR})
"""Names of files that simulators write and folders of them hold."""

_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 24
_USERS, _BEHAVIOURS = {"user"}, {"behaviour"}
_JSON_MARKS = (b'"links"', b'"relays"', b'"members"')


def open_observation(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    *,
    budget: Budget | float | None = None,
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
    law = None if options.law is None else check_law(options.law)
    if kind in LOGS:
        return _log(kind, file, options, law, budget)
    if kind == "mixmatch":
        return read_flow_pairs(
            file.parent if file.name == FLOW_PAIR else file,
            law=law,
            longest_delay=options.longest_delay,
            strays=options.strays or 0,
            align=options.align,
        )
    observation = _without_law(kind, file, options, budget)
    if law is None:
        return observation
    unused = "The law was not used: it is for message logs."
    return replace(observation, notes=(*observation.notes, unused))


def _log(
    kind: str, file: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    if law is None:
        raise InputError(
            "a message log needs a law that says how messages are delayed; give ",
            Argument("law"),
            f", one of {law_examples()}",
        ).about(file)
    with _about(file):
        messages = _messages(kind, file, options)
        with hinting(messages, law, unit=options.unit):
            observation = observe(messages, law, budget=budget, **options.of_log())
        notes = (*observation.notes, *scale_notes(messages, law))
        return replace(observation, notes=notes)


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
    if kind not in LOGS:
        return None
    with _about(file):
        messages = _messages(kind, file, options)
    came, left = messages.arrivals, messages.departures
    if len(came) != len(left) or not len(came):
        return None
    mean = float((left - came).mean())  # sorted, so that differences stay small
    return mean if mean > 0 else None


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """What is wrong becomes one line that begins with the file, if it does not yet."""
    try:
        yield
    except InputError as error:
        raise error.about(path) from None


def _without_law(
    kind: str, path: Path, options: ReadOptions, budget: Budget | float | None
) -> Observation:
    if kind == "rings":
        return read_rings(path)
    if kind == "relays":
        return read_relays(path, budget=budget)
    if kind == "edges":
        return Observation(graph=read(path), source=f"edges of {path.name}")
    from anonymatch.sources.formats.released import read_released  # imports polars

    if options.original is None:
        raise InputError(
            "a released table needs the original one; give ", Argument("original", ...)
        ).about(path)
    return read_released(options.original, path, identifiers=options.identifiers, name=options.name)


def _messages(kind: str, path: Path, options: ReadOptions) -> Messages:
    if kind == "mixim":
        return read_mixim(path.parent if path.name in (SENT, RECEIVED) else path)
    if kind == "nym":
        return read_nym(path / _NYM_LOG if os.path.isdir(path) else path)
    from anonymatch.sources.formats.message_files import read_messages  # imports polars

    return read_messages(path, options.departures, unit=options.unit)


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
    if os.path.isdir(path):
        return _folder_kind(path)
    with reading(path):
        if departures:
            return "messages"
        if original:
            return "released"
        if path.name in (SENT, RECEIVED):
            return "mixim"
        if path.name == FLOW_PAIR:
            return "mixmatch"
        suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
        suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else path.suffix
        look = _LOOKS.get(suffix.lower())
        return "edges" if look is None else look(path)


def _folder_kind(folder: Path) -> str:
    marks = {"mixim": SENT, "nym": _NYM_LOG}
    kinds = [kind for kind, mark in marks.items() if os.path.isfile(folder / mark)]
    if next(flow_pair_files(folder), None) is not None:
        kinds.append("mixmatch")
    if not kinds:
        raise InputError(
            f"this folder has neither {SENT} nor {_NYM_LOG} nor folders with a "
            f"{FLOW_PAIR}; give a file, or the folder of a simulator"
        ).about(folder)
    if len(kinds) > 1:
        raise InputError(
            f"this folder may be {' or '.join(kinds)}; tell ", Argument("source")
        ).about(folder)
    return kinds[0]


def _json_kind(path: Path) -> str:
    """Relays or rings by their keys; JSON without any of these is not parsed here."""
    content = Source(path, packed=path.suffix.lower() == ".gz").content()
    if not any(mark in content for mark in _JSON_MARKS):
        return "edges"
    document = load_json(path)
    if is_relays(document):
        return "relays"
    return "rings" if is_rings(document) else "edges"


def _text_kind(path: Path) -> str:
    header = _head(path).decode("utf-8", errors="replace")
    if set(NYM_COLUMNS) <= set(_columns(header, ";")):
        return "nym"
    separator = "\t" if ".tsv" in path.name.lower() else ","
    return _table_kind(path, _columns(header, separator))


def _lines_kind(path: Path) -> str:
    try:
        record = json.loads(_head(path))
    except (ValueError, RecursionError):
        return "edges"
    return _table_kind(path, list(record)) if isinstance(record, dict) else "edges"


def _parquet_kind(path: Path) -> str:
    from anonymatch.graph import parquet  # imports polars

    return _table_kind(path, parquet.columns(Source(path, packed=False)))


_LOOKS: dict[str, Callable[[Path], str]] = {
    ".json": _json_kind,
    ".csv": _text_kind,
    ".tsv": _text_kind,
    ".jsonl": _lines_kind,
    ".parquet": _parquet_kind,
}


def _table_kind(path: Path, columns: list[str]) -> str:
    there = {str(column).strip().lower() for column in columns}
    if there.isdisjoint(TIMES):
        return "edges"
    if there & _USERS and there & _BEHAVIOURS and there.isdisjoint(DIRECTIONS):
        raise InputError(
            "it may be edges with a column of times, or a message log without directions; tell ",
            Argument("source"),
        )
    return "messages"


def _columns(header: str, separator: str) -> list[str]:
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
