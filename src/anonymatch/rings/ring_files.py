"""Ring signatures: each input was signed by one of several outputs, and nobody says by which.

JSON: ``{input: [candidate outputs], ...}``; with what really was, ``{input: {"members": [...],
"truth": output}, ...}``; or a list of ``{"ring": input, "members": [...], "truth": output}``.
Names are text; whole numbers become text. With more about outputs and laws, any of these as
``rings``:

===========  ===================================================================================
``rings``    of each ring ``members``; maybe ``truth``; ``weights``, one a member; ``height`` or
             ``time`` (seconds); ``transaction``, of which it is an input
``outputs``  ``{output: {"height": 7, "time": 840, "transaction": name}, ...}``, any of them
``decoys``   how old decoys are: ``uniform``, ``triangular``, ``gamma``, ``gamma:19.28,1.61``
``spends``   the same of outputs that are spent; ``gamma:unspent``: among those that are left
``merging``  times that a member weighs more if its transaction may be spent from together
===========  ===================================================================================

A table has a row a member: columns ``ring`` and ``member``; maybe ``true`` (1 for what was spent),
``weight``, ``height`` or ``time``, ``transaction``, ``output_height`` or ``output_time``, and
``output_transaction``.

Inputs are users and outputs are behaviours: every input spends one output, no output is spent
twice, and most outputs are spent by none of these inputs.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.graph import Edges, Graph, Names
from anonymatch.mixes import SourceFormat, is_relays
from anonymatch.rings.observation import RingObservation
from anonymatch.rings.ring_ages import age_law, member_weights
from anonymatch.rings.ring_set import Output, Ring, RingFile, RingSet, check_merging, merges
from anonymatch.tabular import (
    Column,
    Columns,
    Source,
    as_name,
    as_object,
    load_json,
    reading,
    split_suffix,
)

if TYPE_CHECKING:
    from anonymatch.mixes import Law, ReadOptions
    from anonymatch.running import Budget
    from anonymatch.tabular import Table

_KEYS = {"ring", "members", "truth", "weights", "height", "time", "transaction"}
_OUTPUT_KEYS = {"height", "time", "transaction"}
_FILE_KEYS = {"rings", "outputs", "decoys", "spends", "merging"}
_UNITS = ("height", "time")

_COLUMNS = Columns(
    Column("ring", ("input",), required=True),
    Column("member", ("output",), required=True),
    *map(Column, ("true", "weight", "height", "time", "transaction")),
    *map(Column, ("output_height", "output_time", "output_transaction")),
)
_TOO_LIGHT = "has the weight {:g}; weights are above 0: leave members out"


def has_ring_columns(columns: Iterable[object]) -> bool:
    """Whether a table has the columns by which rings are known.

    Examples
    --------
    >>> has_ring_columns(["Input", "output"]), has_ring_columns(["ring", "size"])
    (True, False)
    """
    return {"ring", "member"} <= {_COLUMNS.meaning(str(column)) for column in columns}


def read_rings(
    path: str | os.PathLike[str],
    *,
    decoys: str | None = None,
    spends: str | None = None,
    merging: float | None = None,
) -> RingObservation:
    r"""The graph of inputs and their candidate outputs.

    Parameters
    ----------
    path : path
        A .json file or a table, which may end in .gz.
    decoys, spends : str, optional
        How old decoys are, and outputs that are spent, instead of what the file says: members weigh
        the second over the first. If one is given, the other is uniform for decoys, and gamma for
        spends.
    merging : float, optional
        Times that members weigh more that may be spent together.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "rings.json")
    ...     _ = place.write_text('{"i1": ["o1", "o2"], "i2": ["o2", "o3"]}')
    ...     read_rings(place).graph
    Graph(2 users, 3 behaviours, 4 edges)
    """
    file = as_path(path)
    with reading(file):
        is_json = split_suffix(file)[0] == ".json"
        rings = _of_document(load_json(Source.of(file))) if is_json else _of_table(file)
        rings = rings.with_laws(decoys, spends, merging)
        return _observation(rings)


def is_rings(document: object) -> bool:
    """Whether a JSON value can only be rings: it says so, or one of its rings has members."""
    inner = _inner(document)
    if inner is not None:
        return True
    if isinstance(document, list):
        values = document
    elif isinstance(document, dict):
        values = list(document.values())
    else:
        return False
    return any(isinstance(ring, dict) and "members" in ring for ring in values)


def _inner(document: object) -> str | None:
    """The key under which a document has its rings; None if it is the rings.

    An input may be called "rings", too: then its members are names, and other inputs have lists.
    """
    if not isinstance(document, dict):
        return None
    for key in ("rings", "inputs"):
        if key in document:
            inner = document[key]
            objects = isinstance(inner, list) and all(isinstance(ring, dict) for ring in inner)
            alone = set(document) <= {key, *_FILE_KEYS}
            rings = isinstance(inner, dict) and (alone or "members" not in inner)
            if rings or (alone and objects):
                return key
    return None


_HASH = r"[0-9a-f]{64}(:\d+)?"  # a key image, a transaction, or an output of one
_INPUT = re.compile(rf"(i|input|ring|key[_ ]?image)[-_ :#]?\d+|{_HASH}", re.IGNORECASE)
_OUTPUT = re.compile(rf"(o|output|txo|utxo)[-_ :#]?\d+|{_HASH}", re.IGNORECASE)


def has_ring_names(document: object) -> bool:
    """Whether ``{name: [names]}`` has names as inputs and outputs have, and outputs to spare.

    Inputs are numbered or key images. Outputs are numbered, hashes, or beside key images numbers.
    The same numbers of both are as likely messages into a mix and out of it.

    Examples
    --------
    >>> has_ring_names({"i1": ["o1", "o2"], "i2": ["o2", "o3"]})
    True
    >>> has_ring_names({"i1": ["o1", "o2"], "i2": ["o1", "o2"]})
    False
    >>> has_ring_names({"ann": ["o1", "o2"]}), has_ring_names({"ab" * 32: [17, 18]})
    (False, True)
    """
    if not isinstance(document, dict) or not document:
        return False
    if not all(isinstance(members, list) for members in document.values()):
        return False
    if not all(_INPUT.fullmatch(name) for name in document):
        return False
    outputs = set()
    try:
        for member in chain.from_iterable(document.values()):
            outputs.add(as_name(member, "a member"))
    except InputError:
        return False
    hashed = all(len(name) >= 64 for name in document)
    return len(outputs) > len(document) and all(
        _OUTPUT.fullmatch(name) or (hashed and name.isdecimal()) for name in outputs
    )


# ---- documents


def _of_document(document: object) -> RingFile:
    key = _inner(document)
    if key is None:
        return _with_rings(RingFile(rings={}), document)
    assert isinstance(document, dict)
    _check_keys(document, _FILE_KEYS - {"rings"} | {key}, "the file")
    file = RingFile(rings={})
    for name in ("decoys", "spends"):
        law = document.get(name)
        if law is not None and not isinstance(law, str):
            raise InputError(f'"{name}" must be the name of a law, such as "gamma"')
        if law is not None:
            age_law(law, f'"{name}"')
        setattr(file, name, law)
    if document.get("merging") is not None:
        file.merging = _number(document["merging"], '"merging"')
        check_merging(file.merging, '"merging"')
    for name, output in as_object(document.get("outputs", {}), '"outputs"').items():
        who = f"output {quoted(name)}"
        given = as_object(output, who)
        _check_keys(given, _OUTPUT_KEYS, who)
        file.outputs[name] = Output(
            when=_when(file, given, who), transaction=_transaction(given, who)
        )
    return _with_rings(file, document[key])


def _with_rings(file: RingFile, document: object) -> RingFile:
    named = _named(document) if isinstance(document, list) else as_object(document, "rings")
    for name, ring in named.items():
        who = f"ring {quoted(name)}"
        given: dict[str, Any] = ring if isinstance(ring, dict) else {"members": ring}
        _check_keys(given, _KEYS, who)
        members = given.get("members")
        if isinstance(members, list) and not members:
            raise InputError(f"{who} has no members; give at least one")
        if not isinstance(members, list):
            raise InputError(f"{who} must have a list of members, at least one")
        read = Ring(
            members=[as_name(member, f"a member of {who}") for member in members],
            when=_when(file, given, who),
            transaction=_transaction(given, who),
        )
        if given.get("truth") is not None:
            read.truth = as_name(given["truth"], f"the truth of {who}")
        if given.get("weights") is not None:
            read.weights = _weights(given["weights"], len(members), who)
        file.rings[name] = read
    return file


def _named(rings: list[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for number, ring in enumerate(rings):
        name = as_name(as_object(ring, f"ring {number}").get("ring", number), f"ring {number}")
        if name in named:
            raise InputError(f"ring {quoted(name)} is there twice; give each its own name")
        named[name] = ring
    return named


def _check_keys(given: dict[str, Any], known: set[str], who: str) -> None:
    extra = set(given) - known
    if extra:
        raise InputError(
            f"{who} has the unknown key {quoted(min(extra))}; known are "
            f"{', '.join(sorted(known - {'ring'}))}"
        )


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{what} must be a finite number")
    return float(value)


def _when(file: RingFile, given: dict[str, Any], who: str) -> float | None:
    when = None
    for unit in _UNITS:
        if given.get(unit) is not None:
            file.tell_unit(unit, who)
            when = _number(given[unit], f"the {unit} of {who}")
    return when


def _transaction(given: dict[str, Any], who: str) -> str | None:
    name = given.get("transaction")
    return None if name is None else as_name(name, f"the transaction of {who}")


def _weights(given: object, number: int, who: str) -> list[float]:
    if not isinstance(given, list) or len(given) != number:
        raise InputError(f"{who} must have as many weights as members, {number}")
    return [_weight(weight, who) for weight in given]


def _weight(value: object, who: str) -> float:
    weight = _number(value, f"a weight of {who}")
    if weight <= 0.0:
        raise InputError(f"{who} {_TOO_LIGHT.format(weight)}")
    return weight


# ---- tables


def _of_table(path: Path) -> RingFile:
    from anonymatch.tabular import read_table

    table = read_table(path, _COLUMNS)
    if table.ignored:
        known = ", ".join(sorted(_COLUMNS.by_name))
        raise InputError(
            f"a table of rings has no column {quoted(min(table.ignored))}; known are {known}"
        )
    ring, member = (_table_names(table, name) for name in ("ring", "member"))
    file = RingFile(rings={})
    for name, output in zip(ring, member, strict=True):
        file.rings.setdefault(name, Ring(members=[])).members.append(output)
    spent = table.flags(None, "true")
    for row in [] if spent is None else np.flatnonzero(spent).tolist():
        given = file.rings[ring[row]]
        if given.truth not in (None, member[row]):
            table.refuse(
                row,
                f"ring {quoted(ring[row])} spends {quoted(given.truth)} and "
                f"{quoted(member[row])}; it spends one",
            )
        given.truth = member[row]
    if "weight" in table.titles:
        for row, weight in enumerate(table.numbers("weight").tolist()):
            if weight <= 0.0:
                table.refuse(row, f"ring {quoted(ring[row])} {_TOO_LIGHT.format(weight)}")
            given = file.rings[ring[row]]
            given.weights = given.weights or []
            given.weights.append(weight)
    outputs = {name: file.outputs.setdefault(name, Output()) for name in member}
    for prefix, owners, noun in (
        ("", [file.rings[name] for name in ring], "ring"),
        ("output_", [outputs[name] for name in member], "output"),
    ):
        names = ring if noun == "ring" else member
        for unit in _UNITS:
            if prefix + unit in table.titles:
                file.tell_unit(unit, f"column {prefix}{unit}")
                numbers = table.numbers(prefix + unit, gaps=True).tolist()
                whens = [None if math.isnan(when) else when for when in numbers]
                _put_all(table, "two heights or times", noun, names, owners, "when", whens)
        transactions = table.text(f"{prefix}transaction").to_list()
        _put_all(table, "two transactions", noun, names, owners, "transaction", transactions)
    return file


def _table_names(table: Table, name: str) -> list[str]:
    names = table.text(name)
    if names.null_count():
        title = table.titles[name].strip().lower()
        table.refuse(int(names.is_null().arg_true()[0]), f"{title} is empty; name it")
    return names.to_list()


def _put_all(
    table: Table,
    twice: str,
    noun: str,
    names: Sequence[str],
    owners: Sequence[Ring] | Sequence[Output],
    key: str,
    values: Sequence[Any],
) -> None:
    """A value a row, which must be the same in all rows of one ring or output."""
    for row, (name, owner, value) in enumerate(zip(names, owners, values, strict=True)):
        if value is not None:
            if getattr(owner, key) not in (None, value):
                table.refuse(row, f"{noun} {quoted(name)} has {twice}; give one")
            setattr(owner, key, value)


# ---- what follows


def _observation(file: RingFile) -> RingObservation:
    rings = list(file.rings.values())
    outputs: dict[str, int] = {}
    for member in chain.from_iterable(ring.members for ring in rings):
        outputs.setdefault(member, len(outputs))
    codes = [[outputs[member] for member in ring.members] for ring in rings]
    merged = merges(
        codes,
        [ring.transaction for ring in rings],
        _transactions(file, outputs),
    )
    weights, weighted = member_weights(file, outputs, codes, merged)
    graph = _graph(file, outputs, codes, weights)
    when = None
    if any(ring.when is not None for ring in rings):
        when = np.array([math.nan if ring.when is None else ring.when for ring in rings])
    repeats = len(list(chain.from_iterable(codes))) - graph.n_edges
    notes = []
    if repeats:
        notes.append(f"{several(repeats, 'member')} came twice in one ring; once is enough.")
    later = _later(file)
    if later:
        notes.append(
            f"{several(later, 'member')} came later than a ring that may spend it; check the "
            f"{file.unit}s."
        )
    return RingObservation(
        graph=graph,
        source=f"{several(len(rings), 'ring signature')} over {several(len(outputs), 'output')}",
        truth=_truth(file, outputs),
        notes=tuple(notes),
        rings=RingSet(
            when=when,
            unit=file.unit or "height",
            weighted=weighted,
            merges=merged,
            merging=file.merging or 1.0,
        ),
    )


def _later(file: RingFile) -> int:
    """Members that came after their ring, where both are known."""
    told = {name: output.when for name, output in file.outputs.items() if output.when is not None}
    return sum(
        told.get(member, -math.inf) > ring.when
        for ring in file.rings.values()
        if ring.when is not None
        for member in ring.members
    )


def _transactions(file: RingFile, outputs: dict[str, int]) -> list[str | None]:
    made: list[str | None] = [None] * len(outputs)
    for name, output in file.outputs.items():
        if name in outputs:
            made[outputs[name]] = output.transaction
    return made


def _graph(
    file: RingFile, outputs: dict[str, int], codes: list[list[int]], weights: Floats | None
) -> Graph:
    """Rows in the order of the file; members that come twice count once."""
    sizes = np.array([len(ring) for ring in codes], dtype=np.int64)
    rows = np.repeat(np.arange(len(codes)), sizes)
    members = np.fromiter(chain.from_iterable(codes), dtype=np.int64, count=int(sizes.sum()))
    keys = rows * max(len(outputs), 1) + members
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if weights is not None and (weights != weights[first][which]).any():
        row = int(np.argmax(weights != weights[first][which]))
        raise InputError(
            f"ring {quoted(list(file.rings)[rows[row]])} has the member "
            f"{quoted(list(outputs)[members[row]])} twice with two weights; give it once"
        )
    rows, members = rows[first], members[first]
    kept = None if weights is None else weights[first]
    if kept is not None and (kept == 1.0).all():
        kept = None
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(codes)))))
    edges = Edges(
        indptr=indptr.astype(np.int32),
        indices=members.astype(np.int32),
        weights=kept,
        exact=None,
    )
    return Graph(Names(tuple(file.rings), "input"), Names(tuple(outputs), "output"), edges)


def _truth(file: RingFile, outputs: dict[str, int]) -> Any:
    owners: dict[str, str] = {}
    for name, ring in file.rings.items():
        if ring.truth is None:
            continue
        if ring.truth not in ring.members:
            raise InputError(
                f"ring {quoted(name)}: its truth {quoted(ring.truth)} is none of its members; "
                "name one of them, or leave it out"
            )
        if ring.truth in owners:
            raise InputError(
                f'"truth" gives {quoted(ring.truth)} to {quoted(owners[ring.truth])} and '
                f"{quoted(name)}; keep one"
            )
        owners[ring.truth] = name
    if not owners:
        return None
    spent = [-1 if ring.truth is None else outputs[ring.truth] for ring in file.rings.values()]
    return np.array(spent, dtype=np.int64)


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> RingObservation:
    return read_rings(path, decoys=options.decoys, spends=options.spends, merging=options.merging)


FORMAT: SourceFormat = SourceFormat(
    text="ring signatures: .json, {input: [candidate outputs]}; or a table of rings and members",
    open=_open,
    document=lambda document: is_rings(document) and not is_relays(document),
    marks=(b'"members"', b'"rings"', b'"inputs"'),
)
