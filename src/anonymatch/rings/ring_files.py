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
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Piece, quoted, several
from anonymatch.graph import Edges, Graph, Names, reading
from anonymatch.mixes import SourceFormat, is_relays
from anonymatch.rings.observation import RingObservation
from anonymatch.rings.ring_set import BLOCK, AgeLaw, Merge, RingSet, age_law, log_escaped, merges
from anonymatch.tabular import as_name, as_object, load_json

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes import Law, ReadOptions
    from anonymatch.running import Budget

__all__ = ["has_ring_columns", "has_ring_names", "is_rings", "read_rings"]

_KEYS = {"ring", "members", "truth", "weights", "height", "time", "transaction"}
_OUTPUT_KEYS = {"height", "time", "transaction"}
_FILE_KEYS = {"rings", "outputs", "decoys", "spends", "merging"}
_UNITS = ("height", "time")

_RING, _MEMBER = ("ring", "input"), ("member", "output")  # a column may have either name


def has_ring_columns(columns: Iterable[object]) -> bool:
    """Whether a table has the columns by which rings are known.

    Examples
    --------
    >>> has_ring_columns(["Input", "output"]), has_ring_columns(["ring", "size"])
    (True, False)
    """
    there = {str(column).strip().lower() for column in columns}
    return not there.isdisjoint(_RING) and not there.isdisjoint(_MEMBER)


_MORE_COLUMNS = {
    "true",
    "weight",
    "height",
    "time",
    "transaction",
    "output_height",
    "output_time",
    "output_transaction",
}


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
        is_json = file.name.lower().removesuffix(".gz").endswith(".json")
        rings = _of_document(load_json(file)) if is_json else _of_table(file)
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


# ---- what a file says


@dataclass(slots=True, kw_only=True, eq=False)
class _Output:
    when: float | None = None
    transaction: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class _Ring:
    members: list[str]
    truth: str | None = None
    weights: list[float] | None = None
    when: float | None = None
    transaction: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class _File:
    rings: dict[str, _Ring]
    outputs: dict[str, _Output] = field(default_factory=dict)
    unit: str | None = None
    decoys: str | None = None
    spends: str | None = None
    merging: float | None = None

    def with_laws(self, decoys: str | None, spends: str | None, merging: float | None) -> _File:
        """What is told beside the file comes before what it says."""
        self.decoys, self.spends = decoys or self.decoys, spends or self.spends
        self.merging = self.merging if merging is None else merging
        if merging is not None:
            _check_merging(merging, Argument("merging"))
        if not self.rings:
            raise InputError("it holds no ring; give {input: [candidate outputs], ...}")
        return self

    def tell_unit(self, unit: str, who: str) -> None:
        if self.unit is not None and self.unit != unit:
            raise InputError(f"{who} has a {unit}, and others a {self.unit}; give one of them")
        self.unit = unit


def _check_merging(merging: float, what: Piece) -> None:
    if not 1.0 <= merging < math.inf:
        raise InputError(what, f" must be 1 or more, not {merging:g}")


def _of_document(document: object) -> _File:
    key = _inner(document)
    if key is None:
        return _with_rings(_File(rings={}), document)
    assert isinstance(document, dict)
    _check_keys(document, _FILE_KEYS - {"rings"} | {key}, "the file")
    file = _File(rings={})
    for name in ("decoys", "spends"):
        law = document.get(name)
        if law is not None and not isinstance(law, str):
            raise InputError(f'"{name}" must be the name of a law, such as "gamma"')
        if law is not None:
            age_law(law, f'"{name}"')
        setattr(file, name, law)
    if document.get("merging") is not None:
        file.merging = _number(document["merging"], '"merging"')
        _check_merging(file.merging, '"merging"')
    for name, output in as_object(document.get("outputs", {}), '"outputs"').items():
        who = f"output {quoted(name)}"
        given = as_object(output, who)
        _check_keys(given, _OUTPUT_KEYS, who)
        file.outputs[name] = _Output(
            when=_when(file, given, who), transaction=_transaction(given, who)
        )
    return _with_rings(file, document[key])


def _with_rings(file: _File, document: object) -> _File:
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
        read = _Ring(
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


def _when(file: _File, given: dict[str, Any], who: str) -> float | None:
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
        raise InputError(f"{who} has the weight {weight:g}; weights are above 0: leave members out")
    return weight


# ---- tables


def _of_table(path: Path) -> _File:
    from anonymatch.tabular import find_column, read_text_table

    frame = read_text_table(path)
    columns = {column.strip().lower(): column for column in frame.columns}
    of_ring, of_member = (
        next((name for name in names if name in columns), names[0]) for names in (_RING, _MEMBER)
    )
    ring, member = (frame[find_column(frame, name)].to_list() for name in (of_ring, of_member))
    unknown = set(columns) - {of_ring, of_member} - _MORE_COLUMNS
    if unknown:
        known = ", ".join(sorted({of_ring, of_member} | _MORE_COLUMNS))
        raise InputError(
            f"a table of rings has no column {quoted(columns[min(unknown)])}; known are {known}"
        )
    for name, values in ((of_ring, ring), (of_member, member)):
        if None in values:
            raise InputError(f"{name} is empty; name it").at(values.index(None) + 1, noun="row")
    file = _File(rings={})
    for name, output in zip(ring, member, strict=True):
        file.rings.setdefault(name, _Ring(members=[])).members.append(output)
    _table_truth(file, frame, columns, ring, member)
    _table_weights(file, frame, columns, ring)
    for unit in _UNITS:
        for key, name in ((unit, "ring"), (f"output_{unit}", "output")):
            if key in columns:
                file.tell_unit(unit, f"column {key}")
                values = _optional_numbers(frame[columns[key]])
                _put_all(file, ring if name == "ring" else member, name, "when", values)
    for key, name in (("transaction", "ring"), ("output_transaction", "output")):
        if key in columns:
            of = ring if name == "ring" else member
            _put_all(file, of, name, "transaction", frame[columns[key]].to_list())
    return file


def _put_all(file: _File, names: Sequence[str], what: str, key: str, values: Sequence[Any]) -> None:
    """A value a row, which must be the same in all rows of one ring or output."""
    known: dict[str, Any] = {}
    for row, (name, value) in enumerate(zip(names, values, strict=True), start=1):
        if value is None:
            continue
        if known.setdefault(name, value) != value:
            said = "transactions" if key == "transaction" else "heights or times"
            raise InputError(f"{what} {quoted(name)} has two {said}; give one").at(row, noun="row")
        holder = file.rings[name] if what == "ring" else file.outputs.setdefault(name, _Output())
        setattr(holder, key, value)


def _table_truth(
    file: _File, frame: pl.DataFrame, columns: dict[str, str], ring: list[str], member: list[str]
) -> None:
    if "true" not in columns:
        return
    signs = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    for row, sign in enumerate(frame[columns["true"]].to_list()):
        is_true = sign is not None and signs.get(sign.strip().lower())
        if is_true is None:
            raise InputError(f"true is {quoted(sign)}; give 1 or 0").at(row + 1, noun="row")
        if is_true:
            given = file.rings[ring[row]]
            if given.truth is not None and given.truth != member[row]:
                raise InputError(
                    f"ring {quoted(ring[row])} spends {quoted(given.truth)} and "
                    f"{quoted(member[row])}; it spends one"
                ).at(row + 1, noun="row")
            given.truth = member[row]


def _table_weights(
    file: _File, frame: pl.DataFrame, columns: dict[str, str], ring: list[str]
) -> None:
    if "weight" not in columns:
        return
    from anonymatch.tabular import numbers

    values = numbers(frame[columns["weight"]]).tolist()
    for row, (name, value) in enumerate(zip(ring, values, strict=True), start=1):
        given = file.rings[name]
        given.weights = [] if given.weights is None else given.weights
        try:
            given.weights.append(_weight(value, f"ring {quoted(name)}"))
        except InputError as error:
            raise error.at(row, noun="row") from None


def _optional_numbers(column: pl.Series) -> list[float | None]:
    from anonymatch.tabular import numbers

    there = column.is_not_null().to_list()
    values = iter(numbers(column.fill_null("0")).tolist())
    return [value if known else None for known, value in zip(there, values, strict=True)]


# ---- what follows


def _observation(file: _File) -> RingObservation:
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
    weights, weighted = _member_weights(file, outputs, codes, merged)
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


def _later(file: _File) -> int:
    """Members that came after their ring, where both are known."""
    told = {name: output.when for name, output in file.outputs.items() if output.when is not None}
    return sum(
        told.get(member, -math.inf) > ring.when
        for ring in file.rings.values()
        if ring.when is not None
        for member in ring.members
    )


def _transactions(file: _File, outputs: dict[str, int]) -> list[str | None]:
    made: list[str | None] = [None] * len(outputs)
    for name, output in file.outputs.items():
        if name in outputs:
            made[outputs[name]] = output.transaction
    return made


def _graph(
    file: _File, outputs: dict[str, int], codes: list[list[int]], weights: Floats | None
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


def _truth(file: _File, outputs: dict[str, int]) -> Any:
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


# ---- weights


def _member_weights(
    file: _File, outputs: dict[str, int], codes: list[list[int]], merged: Sequence[Merge]
) -> tuple[Floats | None, str]:
    """Of all members in the order of the file; and what they are from.

    Weights of the file are as they are there. Laws of ages have no unit: with them the heaviest
    member of a ring is 1.
    """
    rings = list(file.rings.values())
    logs = np.zeros(sum(len(ring) for ring in codes))
    begins = np.concatenate(([0], np.cumsum([len(ring) for ring in codes]))).astype(np.int64)
    words = []
    if any(ring.weights is not None for ring in rings):
        words.append("weights in the file")
        for ring, begin in zip(rings, begins.tolist(), strict=False):
            if ring.weights is not None:
                logs[begin : begin + len(ring.weights)] += np.log(ring.weights)
    if file.decoys is not None or file.spends is not None:
        decoys = age_law(file.decoys or "uniform", Argument("decoys"))
        spends = age_law(file.spends or "gamma", Argument("spends"))
        logs += _log_ratio(file, outputs, codes, spends, decoys)
        if decoys.unspent:
            raise InputError(
                Argument("decoys"), " may be spent: unspent is for ", Argument("spends")
            )
        among = " among unspent outputs" if spends.unspent else ""
        words.append(f"{spends.name} spends{among} over {decoys.name} decoys")
    if file.merging is not None and file.merging > 1.0 and merged:
        words.append(f"merged outputs {file.merging:g} times")
        for one in merged:
            begin = int(begins[one.input])
            for at, output in enumerate(codes[one.input]):
                if output == one.output:
                    logs[begin + at] += math.log(file.merging)
    if not words:
        return None, ""
    if file.decoys is None and file.spends is None:
        return _as_told(rings, codes, begins, merged, file.merging or 1.0), ", ".join(words)
    tops = np.maximum.reduceat(logs, begins[:-1])
    return np.exp(np.maximum(logs - np.repeat(tops, np.diff(begins)), -690.0)), ", ".join(words)


def _as_told(
    rings: list[_Ring], codes: list[list[int]], begins: Ints, merged: Sequence[Merge], times: float
) -> Floats:
    """Weights of the file, and merged outputs so many times."""
    weights = np.ones(int(begins[-1]))
    for ring, begin in zip(rings, begins.tolist(), strict=False):
        if ring.weights is not None:
            weights[begin : begin + len(ring.weights)] = ring.weights
    for one in merged if times > 1.0 else ():
        begin = int(begins[one.input])
        for at, output in enumerate(codes[one.input]):
            if output == one.output:
                weights[begin + at] *= times
    return weights


def _log_ratio(
    file: _File, outputs: dict[str, int], codes: list[list[int]], spends: AgeLaw, decoys: AgeLaw
) -> Floats:
    """How much likelier each member is as what was spent than as a decoy, as a log."""
    scale = BLOCK if file.unit != "time" else 1.0
    told = {name: output.when for name, output in file.outputs.items()}
    born = [told.get(name) for name in outputs]
    names = list(outputs)
    first = min((when for when in born if when is not None), default=0.0)
    first = 0.0 if file.unit != "time" else first
    ages, spans = [], []
    for (name, ring), members in zip(file.rings.items(), codes, strict=True):
        if ring.when is None:
            raise InputError(
                f"ring {quoted(name)} has no height or time; laws of ages need one for every ring "
                "and every member"
            )
        for member in members:
            when = born[member]
            if when is None:
                raise InputError(
                    f"output {quoted(names[member])} has no height or time; laws of ages need one "
                    "for every ring and every member"
                )
            if when > ring.when:
                raise InputError(
                    f"ring {quoted(name)} of {file.unit} {ring.when:g} has the member "
                    f"{quoted(names[member])} of {file.unit} {when:g}, which is later; check both"
                )
            ages.append(scale * (ring.when - when))
            spans.append(scale * (ring.when - first))
    age, span = np.array(ages), np.array(spans)
    ratio = spends.log_density(age, span) - decoys.log_density(age, span)
    if spends.unspent:
        births = scale * np.array([when for when in told.values() if when is not None])
        rings = scale * np.array([ring.when for ring in file.rings.values()], dtype=np.float64)
        when_of = np.repeat(rings, [len(members) for members in codes])
        ratio += log_escaped(spends, births, rings, when_of - age, when_of, scale * first)
    return ratio


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
