"""The one door: whatever a file or a folder holds, as an observation.

Files are known by what they contain, not by their names alone; ``source=`` decides where that is
not enough. Plain JSON ``{name: [names]}`` is taken as rings if its names are those of inputs and
outputs, else as edges; the graph is the same, and a note says which.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
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
from anonymatch.graph import FileNote, Graph
from anonymatch.graph import read as read_graph
from anonymatch.mixes.formats import SOURCE_FORMATS, SOURCES, SourceFormat
from anonymatch.mixes.formats.network_files import LINKS
from anonymatch.mixes.formats.relay_files import read_relays
from anonymatch.mixes.laws import Law, LawGuess, check_law, law_examples
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import Observation
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.options import ReadOptions
from anonymatch.mixes.reading.hints import guess_log_law, hinting, law_notes
from anonymatch.rings import RingSet, has_ring_columns, has_ring_names, read_rings
from anonymatch.running import Budget
from anonymatch.tables import (
    Release,
    TablesLook,
    look_at_tables,
    open_released,
    require_original,
)
from anonymatch.tabular import (
    DIRECTIONS,
    TABLES,
    TIMES,
    Source,
    about,
    column_names,
    first_line,
    header,
    load_json,
    reading,
    split_suffix,
)

PARTS = frozenset(name for each in SOURCE_FORMATS.values() for name in (*each.files, *each.parts))
"""Names of files that simulators write and folders of them hold."""

_HEAD = 1 << 16
_ROUND = "round"
_TABLE_AUDIT = "'anonymatch table audit FILE --original PEOPLE'"
# Columns of a table with one row per packet that nothing else has.
_ENTERED = {"entered", "entered_at", "arrived_at", "sent_at"}
_LEFT = {"left_at", "departed_at", "received_at"}
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
    options = ReadOptions.of(options, keywords)
    file = as_path(path)
    kind = _checked(options.source) or _kind(file, options)
    _check_used(kind, file, options)
    source = SOURCE_FORMATS[kind]
    if _view(source, file, options) == "links" and source.links is not None:
        with about(file):
            return source.links(file, options)
    law = None if options.law is None or source.reads_law else check_law(options.law)
    if source.messages is not None:
        return _log(source.messages, file, options, law, budget)
    if kind == "released":
        observation: Observation = open_released(file, options, law, budget, early)
    else:
        assert source.open is not None
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
    messages_of: Callable[[Path, ReadOptions], Messages],
    file: Path,
    options: ReadOptions,
    law: Law | None,
    budget: Budget | float | None,
) -> Observation:
    if law is None:
        guess = None
        with suppress(InputError):  # what is wrong with the log is said when there is a law
            guess = guess_log_law(messages_of(file, options))
        hint = (
            ()
            if guess is None
            else (f"; its {guess.reason}, which is ", Argument("law", guess.text))
        )
        raise InputError(
            "a message log needs a law that says how messages are delayed; give ",
            Argument("law"),
            f", one of {law_examples()}",
            *hint,
        ).about(file)
    with about(file):
        messages = messages_of(file, options)
        with hinting(messages, law, unit=options.unit):
            observation = observe(messages, law, budget=budget, **options.of_log())
        complete = not any(options.of_log().get(name) for name in _INCOMPLETE)
        notes = (*observation.notes, *law_notes(messages, law, complete=complete))
        return replace(observation, notes=notes)


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstLook:
    """What there is to see of a file before anything is computed.

    Attributes
    ----------
    kind, text : str
        One of :data:`~anonymatch.mixes.SOURCES`, and what that is in a line.
    messages : Messages or None
        Of a log.
    graph : Graph or None
        Of edges and of rings.
    tables : TablesLook or None
        Of a released table: its columns and those of the original.
    rings : RingSet or None
        What a file of rings says beside their members.
    needs_law : bool
        Whether it cannot be audited before a law is told.
    guess : LawGuess or None
        The law that the log looks like, if it shows.
    """

    kind: str
    text: str
    messages: Messages | None = None
    graph: Graph | None = None
    tables: TablesLook | None = None
    rings: RingSet | None = None
    needs_law: bool = False
    guess: LawGuess | None = None


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
    options = ReadOptions.of(options, keywords)
    file = as_path(path)
    kind = _checked(options.source) or _kind(file, options)
    source = SOURCE_FORMATS[kind]
    look = FirstLook(kind=kind, text=source.text)
    if kind == "edges":
        return replace(look, graph=read_graph(file))
    if kind == "released":
        return replace(look, tables=look_at_tables(require_original(file, options), file))
    if kind == "rings":
        seen = read_rings(file)
        return replace(look, graph=seen.graph, rings=seen.rings)
    if source.messages is None:
        return look
    with about(file):
        messages = source.messages(file, options)
    guess = guess_log_law(messages)
    return replace(look, messages=messages, needs_law=source.links is None, guess=guess)


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


# ---- graphs


def read(
    path: str | os.PathLike[str],
    *,
    decoys: str | None = None,
    spends: str | None = None,
    merging: float | None = None,
) -> Graph:
    r"""Read a graph from a file of edges, of rings, or of relays.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .mtx, .npz, .json or .jsonl file; text formats may end in .gz. Rings
        are known by a table's columns ``ring`` and ``member``, or by the keys of a document, and
        relays by theirs.
    decoys, spends, merging : optional
        Of rings, as in :func:`audit`: weights of their members beside what the file says.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        The file is not usable; one line says what is wrong, where, and what to do.

    Warns
    -----
    FileNote
        Extra columns and empty rows were ignored, equal edges were kept once, edges of weight 0
        were left out, or a name stands in no edge because its rows lack the other name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "seen.csv")
    >>> _ = path.write_text("user,behaviour\nann,x\nann,y\nbob,x\n")
    >>> read(path).to_edges()
    [('ann', 'x'), ('ann', 'y'), ('bob', 'x')]
    >>> _ = path.write_text("ring,member\ni1,o1\ni1,o2\ni2,o2\n")
    >>> read(path).to_edges()
    [('i1', 'o1'), ('i1', 'o2'), ('i2', 'o2')]
    >>> folder.cleanup()
    """
    file = as_path(path)
    kind = _graph_kind(file)
    if kind == "rings":
        observation: Observation = read_rings(file, decoys=decoys, spends=spends, merging=merging)
    else:
        for name, value in (("decoys", decoys), ("spends", spends), ("merging", merging)):
            if value is not None:
                raise InputError(
                    Argument(name), f" is for rings, and this is {kind}; leave it out"
                ).about(file)
        if kind == "edges":
            return read_graph(file)
        observation = read_relays(file)
    for note in observation.notes:
        warnings.warn(f"{file}: {note}", FileNote, stacklevel=2)
    assert observation.graph is not None
    return observation.graph


def _graph_kind(path: Path) -> str:
    """Which of edges, rings and relays a file holds that may be a graph."""
    suffix, _ = split_suffix(path)
    if not path.is_file():
        return "edges"
    with reading(path):
        if suffix == ".json":
            kind = _json_kind(path, guess=False)
            return kind if kind in ("rings", "relays") else "edges"
        return "rings" if suffix in TABLES and has_ring_columns(header(path) or ()) else "edges"


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
        suffix, _ = split_suffix(path)
        if suffix == ".json":
            return _json_kind(path)
        return _table_kind(path, suffix, options) if suffix in TABLES else "edges"


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
    source = Source.of(path)
    content = source.content()
    kinds = {name: each for name, each in SOURCE_FORMATS.items() if each.document is not None}
    if not any(mark in content for each in kinds.values() for mark in each.marks):
        first = _PLAIN_JSON.match(content[:_HEAD]) if guess else None
        name = "" if first is None else first[1].decode("utf-8", errors="replace")
        looks = has_ring_names({name: ["o1", "o2"]})  # before all of it is parsed
        return "rings" if looks and has_ring_names(load_json(source)) else "edges"
    document = load_json(source)
    return next(
        (name for name, each in kinds.items() if each.document and each.document(document)), "edges"
    )


def _is_plain_json(path: Path) -> bool:
    """Whether a file begins as ``{name: [...]}``."""
    if split_suffix(path)[0] != ".json":
        return False
    first = _PLAIN_JSON.match(Source.of(path).content()[:_HEAD])
    return first is not None and first[1] not in (b"users", b"behaviours", b"edges", b"rings")


def has_rounds(path: Path) -> bool:
    """Whether a message log also says in which round each message was seen."""
    if split_suffix(path)[0] not in (".csv", ".tsv", ".parquet"):
        return False
    with reading(path):
        return _ROUND in {column.strip().lower() for column in header(path) or ()}


def _table_kind(path: Path, suffix: str, options: ReadOptions) -> str:
    """What a table is by its columns; with a law or names of columns it is a log."""
    if suffix in (".csv", ".tsv"):
        line = first_line(path)
        for name, source in SOURCE_FORMATS.items():
            if source.header is None:
                continue
            mark, known = source.header
            if set(known) <= {column.strip().strip('"') for column in line.split(mark)}:
                return name
    columns = header(path)
    if columns is None:
        return "edges" if options.law is None else "messages"
    there = {column.strip().lower() for column in columns}
    named = set(column_names(options.columns)) if options.columns else set()
    linked = (there | named).issuperset(LINKS)
    timed = not (there | named).isdisjoint((*TIMES, "sent"))
    if options.law is not None or named:
        return "network" if linked and timed else "messages"
    if has_ring_columns(columns):
        return "rings"
    if linked and timed:
        return "network"
    if there & _ENTERED and there & _LEFT:
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
    if {"user", "behaviour"} <= there and there.isdisjoint(DIRECTIONS):
        raise InputError(
            "it may be edges with a column of times, or a message log without directions; tell ",
            Argument("source"),
        )
    return "messages"


def _refuse_release(path: Path, columns: list[str], there: set[str]) -> None:
    """Refuse a table that has nothing of edges: it looks like a released one."""
    edges = {"user", "behaviour", "behavior", "weight"}
    if len(there) < 2 or there & edges or meant_instead(sorted(edges), sorted(there)):
        return
    raise InputError(
        f"it looks like a released table, with columns {listed(columns)}; ",
        Call("give the table of the people with original=", "run " + _TABLE_AUDIT),
        ", or name columns user and behaviour if it is edges",
    ).about(path)
