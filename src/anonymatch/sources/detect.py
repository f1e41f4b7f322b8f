"""The one door: whatever a file or a folder holds, as an observation.

Files are known by what they contain, not by their names alone; ``source=`` decides where that is
not enough. Plain JSON ``{name: [names]}`` is taken as edges, which for rings are the same.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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

__all__ = ["PARTS", "SOURCES", "mean_delay", "open_observation"]

SOURCES = {
    "edges": "who may have done what: .csv .tsv .parquet .mtx .npz .json .jsonl",
    "messages": "a message log: times, directions and names; needs a law",
    "mixim": f"a folder of the MiXiM simulator, with {SENT} and {RECEIVED}; needs a law",
    "nym": "packet_log.csv of the Nym team's simulator; needs a law",
    "mixmatch": f"a folder of flow pairs, each a folder with {FLOW_PAIR}",
    "rings": "ring signatures: .json, {input: [candidate outputs]}",
    "relays": ".json with links between relays, entries of users and exits of behaviours",
    "released": "a released table beside the original one",
}
"""Kinds of files and folders, each in one line."""

_NYM_LOG = "packet_log.csv"
PARTS = frozenset({SENT, RECEIVED, _NYM_LOG, FLOW_PAIR})
"""Names of files that simulators write and folders of them hold."""

_WITH_LAW = {"messages", "mixim", "nym"}
_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 24
_USERS, _BEHAVIOURS = {"user"}, {"behaviour"}
_JSON_MARKS = (b'"links"', b'"relays"', b'"members"')


def open_observation(
    path: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    law: Law | str | None = None,
    source: str | None = None,
    unit: str | None = None,
    loss: float | None = None,
    lost: int | None = None,
    cover_rate: float | None = None,
    cover: int | None = None,
    until: float | str | None = None,
    drained: bool = False,
    inside_at_start: float | None = None,
    cover_in_pool: bool = False,
    cover_visible: bool = False,
    whole_log: bool = False,
    original: str | os.PathLike[str] | None = None,
    identifiers: Sequence[str] | None = None,
    name: str | None = None,
    longest_delay: float | None = None,
    strays: int | None = None,
    align: str | None = None,
    budget: Budget | float | None = None,
) -> Observation:
    r"""Read what an attacker saw: edges, messages, a simulator's log, rings, relays, a table.

    Parameters
    ----------
    path : path
        A file, or the folder of a simulator.
    out : path, optional
        The messages out, if ``path`` has only those in.
    law : Law or str, optional
        How messages are delayed, such as ``"window:1,5"``. Message logs need it; of flow pairs it
        says the longest delay; nothing else uses it.
    source : str, optional
        What ``path`` is, one of :data:`SOURCES`; default: as it shows.
    unit : {"s", "ms", "us", "ns"}, optional
        Of the times in a message log.
    loss, lost, cover_rate, cover, until, drained, inside_at_start, cover_in_pool, cover_visible, \
    whole_log
        Of message logs, as for :func:`~anonymatch.sources.log_graph.observe`.
    original : path, optional
        The table before release; ``path`` is the released one.
    identifiers, name
        As for :func:`~anonymatch.sources.formats.released.read_released`.
    longest_delay, strays, align
        As for :func:`~anonymatch.sources.formats.mixmatch.read_flow_pairs`.
    budget : float or Budget, optional
        What making the graph may take.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "log.csv")
    ...     _ = place.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n")
    ...     seen = open_observation(place, law="window:1,3")
    >>> seen.source, seen.graph
    ('window law, 1 to 3 s', Graph(2 users, 2 behaviours, 3 edges))
    """
    file = as_path(path)
    log_options: dict[str, Any] = {
        "loss": loss,
        "lost": lost,
        "cover_rate": cover_rate,
        "cover": cover,
        "until": until,
        "drained": drained,
        "inside_at_start": inside_at_start,
        "cover_in_pool": cover_in_pool,
        "cover_visible": cover_visible,
        "whole_log": whole_log,
    }
    kind = _checked(source) or _kind(file, out=out is not None, original=original is not None)
    _check_used(
        kind,
        file,
        {
            "out": (out, {"messages"}),
            "unit": (unit, {"messages"}),
            **{key: (value or None, _WITH_LAW) for key, value in log_options.items()},
            "original": (original, {"released"}),
            "identifiers": (identifiers, {"released"}),
            "name": (name, {"released"}),
            "longest_delay": (longest_delay, {"mixmatch"}),
            "strays": (strays, {"mixmatch"}),
            "align": (align, {"mixmatch"}),
        },
    )
    rule = None if law is None else check_law(law)
    if kind in _WITH_LAW:
        if rule is None:
            raise InputError(
                f"{file}: a message log needs a law that says how messages are delayed; give ",
                Argument("law"),
                f", one of {law_examples()}",
            )
        with _about(file, out):
            messages = _messages(kind, file, out, unit)
            with hinting(messages, rule, unit=unit):
                log = observe(messages, rule, budget=budget, **log_options)
            return dataclasses.replace(log, notes=(*log.notes, *scale_notes(messages, rule)))
    if kind == "mixmatch":
        folder = file.parent if file.name == FLOW_PAIR else file
        return read_flow_pairs(
            folder, law=rule, longest_delay=longest_delay, strays=strays or 0, align=align
        )
    if kind == "released":
        from anonymatch.sources.formats.released import read_released  # imports polars

        if original is None:
            raise InputError(
                f"{file}: a released table needs the original one; give ",
                Argument("original", ...),
            )
        observation = read_released(original, file, identifiers=identifiers, name=name)
    else:
        observation = _graph_source(kind, file, budget)
    if rule is None:
        return observation
    unused = "The law was not used: it is for message logs."
    return dataclasses.replace(observation, notes=(*observation.notes, unused))


def mean_delay(
    path: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    source: str | None = None,
    unit: str | None = None,
) -> float | None:
    r"""Seconds that messages of a log were held on average; None if the log does not say.

    Where as many come out as go in, it does, whoever is who: it is the difference of the mean times
    out and in.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "log.csv")
    ...     _ = place.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n")
    ...     mean_delay(place)
    2.5
    """
    file = as_path(path)
    kind = _checked(source) or _kind(file, out=out is not None, original=False)
    if kind not in _WITH_LAW:
        return None
    with _about(file, out):
        messages = _messages(kind, file, out, unit)
    came, left = messages.arrivals, messages.departures
    if len(came) != len(left) or not len(came):
        return None
    mean = float((left - came).mean())  # sorted, so that differences stay small
    return mean if mean > 0 else None


@contextmanager
def _about(path: Path, out: str | os.PathLike[str] | None) -> Iterator[None]:
    """What is wrong becomes one line that begins with the file, if it does not yet."""
    try:
        yield
    except InputError as error:
        known = (str(path),) if out is None else (str(path), str(as_path(out)))
        if error.message.startswith(known):
            raise
        raise error.about(path) from None


def _graph_source(kind: str, path: Path, budget: Budget | float | None) -> Observation:
    if kind == "rings":
        return read_rings(path)
    if kind == "relays":
        return read_relays(path, budget=budget)
    return Observation(graph=read(path), source=f"edges of {path.name}")


def _messages(
    kind: str, path: Path, out: str | os.PathLike[str] | None, unit: str | None
) -> Messages:
    if kind == "mixim":
        return read_mixim(path.parent if path.name in (SENT, RECEIVED) else path)
    if kind == "nym":
        return read_nym(path / _NYM_LOG if os.path.isdir(path) else path)
    from anonymatch.sources.formats.message_files import read_messages  # imports polars

    return read_messages(path, out, unit=unit)


def _checked(source: str | None) -> str | None:
    if source is not None and source not in SOURCES:
        near = did_you_mean(source, SOURCES)
        raise InputError(f"no source {quoted(source)}; known are {', '.join(SOURCES)}{near}")
    return source


def _check_used(kind: str, path: Path, given: dict[str, tuple[object, set[str]]]) -> None:
    """Refuse what would be ignored."""
    for name, (value, kinds) in given.items():
        if value is not None and kind not in kinds:
            raise InputError(
                f"{path}: ",
                Argument(name),
                f" is for {' and '.join(sorted(kinds))}, and this is {kind}; leave it out, or ",
                "tell ",
                Argument("source"),
            )


# ---- what a file is


def _kind(path: Path, *, out: bool, original: bool) -> str:
    if out and original:
        raise InputError(
            Argument("out"),
            " is for message logs and ",
            Argument("original"),
            " for released tables; give one",
        )
    if os.path.isdir(path):
        return _folder_kind(path)
    with reading(path):
        if out:
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
            f"{folder}: this folder has neither {SENT} nor {_NYM_LOG} nor folders with a "
            f"{FLOW_PAIR}; give a file, or the folder of a simulator"
        )
    if len(kinds) > 1:
        raise InputError(
            f"{folder}: this folder may be {' or '.join(kinds)}; tell ", Argument("source")
        )
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
