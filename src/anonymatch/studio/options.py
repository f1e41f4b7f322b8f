"""Which files a page is about and how they are read: from an address, and back into one.

The options are those of :class:`~anonymatch.mixes.ReadOptions`, whose declarations say how a text
is read and what its help is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from anonymatch.audits import parse_gates
from anonymatch.base.errors import InputError
from anonymatch.base.options import option_texts
from anonymatch.mixes import LAWS, SOURCES, ReadOptions, law_name
from anonymatch.studio.address import (
    CHOICES,
    Query,
    address,
    as_text,
    choice,
    number,
    option_groups,
    option_values,
    read_options,
    texts,
)
from anonymatch.studio.request import AuditRequest, gate_name
from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Dropped, Store, Upload

MEASURED = "measured"
"""The law whose number is a file of delays."""

_FOLDER = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """A file of the package: its description, and the law that it needs."""

    text: str
    law: str = ""


EXAMPLES = {
    "mix.csv": Example("A mix in one round, as pairs that fit"),
    "mix_log.csv": Example("The same mix as a message log", "window:1,6"),
}

_OPTIONS = option_texts(ReadOptions)
_DEFAULTS: Mapping[str, Any] = {each.name: each.default for each in fields(ReadOptions)}
_FILES = frozenset({"law", "departures", "original", "hierarchies"})
"""Options that name files; an address names dropped files only, by their tokens."""

_ELSEWHERE = frozenset(
    {"source", "unit", "columns", "quasi_identifiers", "sensitive", "name", "tolerance"}
)
"""Options that have a place of their own on the page."""


# ---- the form


def form_fields(kind: str) -> dict[str, list[str]]:
    """Return the options for files of a kind that have no place of their own, by their groups.

    Examples
    --------
    >>> form_fields("rings"), form_fields("edges")
    ({'Ring signatures': ['decoys', 'spends', 'merging']}, {})
    """
    known = _FILES | _ELSEWHERE
    names = [name for name, one in _OPTIONS.items() if name not in known and kind in one.sources]
    return option_groups(ReadOptions, names)


# ---- laws


def _laws() -> list[str]:
    """Return the laws that an address may name: none that would read a file of this machine."""
    return [name for name, law in LAWS.items() if not any(one.path for one in law.parameters)]


def law_choices(delays: Upload | None = None) -> dict[str, str]:
    """Return the names of laws with their descriptions; "" is no law."""
    named = {name: f"{name}: {numbers_of(name)}" for name in _laws()}
    given = "a file of delays, dropped along" if delays is None else f"the delays of {delays.name}"
    return {"": "choose one …"} | named | {MEASURED: f"{MEASURED}: {given}"}


def numbers_of(law: str) -> str:
    """Return a description of the numbers of a law.

    Examples
    --------
    >>> numbers_of("erlang")
    'hops, mean delay of one in s'
    """
    return ", ".join(one.text for one in LAWS[law].parameters if not one.optional)


@dataclass
class AddressOptions:
    """The files of a page, the options to read them, and what is shown of the answer.

    ``read`` has all options except those that name files. ``links`` are seconds on links, added to
    the law. ``looking``: the law is still being chosen, and nothing is audited yet. ``thresholds``
    are those that are switched on, and ``marked`` is a range of bits. ``gone``: the address names a
    file that is no longer here.
    """

    file: Upload | None = None
    second: Upload | None = None
    delays: Upload | None = None
    hierarchies: dict[str, Upload] = field(default_factory=dict)
    example: str = ""
    role: str = "departures"
    law: str = ""
    numbers: str = ""
    links: str = ""
    read: ReadOptions = field(default_factory=ReadOptions)
    budget: float = TUNING.audit_seconds
    looking: bool = False
    thresholds: dict[str, float] = field(default_factory=dict)
    marked: tuple[float, float] | None = None
    gone: bool = False

    @classmethod
    def of(cls, query: Query, store: Store, page: str) -> AddressOptions:
        """Read an address on behalf of a page; invalid values are ignored."""
        uploads: dict[str, Any] = {
            slot: store.adopt(query.get(slot, ""), page) for slot in ("file", "second", "delays")
        }
        links, law, numbers = split_law(
            query.get("law", ""), measured=uploads["delays"] is not None
        )
        options = cls(
            **uploads,
            hierarchies=_uploads(texts(query, "hierarchies"), store, page),
            example=choice(query, "example", ["", *EXAMPLES]),
            role=choice(query, "role", list(CHOICES["role"])),
            law=law,
            numbers=numbers,
            links=links,
            budget=number(query, "budget", TUNING.audit_seconds, least=1, most=3600),
            looking=query.get("step") == "look",
            thresholds=_thresholds(texts(query, "thresholds")),
            marked=_range(texts(query, "marked")),
            gone=any(query.get(slot) and uploads[slot] is None for slot in ("file", "second")),
        )
        options.read = read_options(ReadOptions, query, _OPTIONS.keys() - _FILES)
        return options

    def values(self) -> dict[str, object]:
        """Return the values for an address, which leaves out empty ones."""
        return {
            "file": self.file.token if self.file else "",
            "example": "" if self.file else self.example,
            "second": self.second.token if self.second else "",
            "role": self.role if self.second else "",
            "delays": self.delays.token if self.delays else "",
            "hierarchies": [f"{name}:{one.token}" for name, one in self.hierarchies.items()],
            "law": self._law,
            "step": "look" if self.looking and self._law else "",
            **option_values(self.read),
            "budget": "" if self.budget == TUNING.audit_seconds else self.budget,
        }

    def shown(self) -> dict[str, object]:
        """Return thresholds and marks for an address."""
        thresholds = [f"{gate_name(key)}={value:g}" for key, value in self.thresholds.items()]
        return {
            "thresholds": thresholds,
            "marked": [] if self.marked is None else [f"{end:.4g}" for end in self.marked],
        }

    def route(self, page: str, **more: object) -> str:
        """Return the address of a page about the same files."""
        return address(page, **self.values() | more)

    def system(self) -> str:
        """Return the files and options as one word, which addresses of comparisons have."""
        query = {name: value for name, value in self.values().items() if value and name != "step"}
        return urlencode({name: as_text(value) for name, value in query.items()}, safe=":,")

    @property
    def name(self) -> str:
        return self.file.name if self.file is not None else self.example

    @property
    def _law(self) -> str:
        links = f"{self.links}+" if self.links else ""
        numbers = f":{self.numbers}" if self.law != MEASURED else ""
        return f"{links}{self.law}{numbers}" if self.law else ""

    @property
    def missing(self) -> str:
        """What must be given before there is something to audit; "" if nothing is missing."""
        if not self.law or self.numbers or not self.name:
            return ""
        if self.law == MEASURED:
            wanted = "Drop a file of delays along: one per line in seconds, or a column delay."
            return "" if self.delays else wanted
        wanted, example = numbers_of(self.law), LAWS[self.law].example
        return f"Tell the numbers of the {self.law} law: {wanted}, such as {example}."

    def inquiry(self) -> AuditRequest | None:
        """Return the request; None while no file is chosen, or numbers are missing."""
        return None if self.missing else self._inquiry()

    def plain_inquiry(self) -> AuditRequest | None:
        """Return the request for a first look: without a law or columns."""
        inquiry = self._inquiry()
        return None if inquiry is None else inquiry.plain()

    def _inquiry(self) -> AuditRequest | None:
        if not self.name:
            return None
        second = self.second if self.file is not None else None
        released = second is not None and self.role == "original"
        read = self.read if released else self._without({"released"})
        law = self._law
        if self.law == MEASURED and self.delays is not None:
            law += f":{self.delays.path}"
        known = self.hierarchies if read.quasi_identifiers is None else read.quasi_identifiers
        levels = {name: one.path for name, one in self.hierarchies.items() if name in known}
        beside = [each for each in (second, self.delays, *self.hierarchies.values()) if each]
        return AuditRequest(
            name=self.name,
            path=self.file.path if self.file is not None else _FOLDER / self.example,
            token=self.file.token if self.file is not None else "",
            options=replace(
                read,
                law=law or None,
                departures=second.path if second and not released else None,
                original=second.path if second and released else None,
                hierarchies=levels or None if released else None,
            ),
            beside=tuple((str(each.path), each.name) for each in beside),
            budget=self.budget,
        )

    # ---- changes

    def tell(self, **changes: Any) -> None:
        """Set options that name no files."""
        self.read = replace(self.read, **changes)

    def _without(self, kinds: set[str]) -> ReadOptions:
        """Return the options except those that are for files of these kinds only."""
        gone: dict[str, Any] = {
            name: _DEFAULTS[name]
            for name, option in _OPTIONS.items()
            if option.sources and option.sources <= kinds
        }
        return replace(self.read, **gone)

    def keep_for(self, kind: str) -> None:
        """Forget options that files of another kind have."""
        kept = {name: getattr(self.read, name) for name in ("unit", "columns")}
        self.read = replace(self._without(set(SOURCES) - {kind}), **kept)

    def forget(self) -> None:
        """Forget options that belong to the files, because there are others now."""
        self.delay("")
        self.looking, self.marked = False, None
        self.read = ReadOptions(source=self.read.source, unit=self.read.unit)

    def receive(self, dropped: Dropped) -> None:
        """Look at other files."""
        if self.file is not None:
            self.forget()
        self.file, self.second, self.role = dropped.file, dropped.second, dropped.role
        self.delays, self.hierarchies = dropped.delays, dict(dropped.hierarchies)
        self.example, self.marked = "", None

    def add(self, dropped: Dropped) -> None:
        """Take files along with the one that is there."""
        if dropped.file is not self.file or dropped.second is not None:
            self.read = self._without({"released"})
        self.file = dropped.file
        if dropped.second is not None:
            self.second, self.role = dropped.second, dropped.role
        self.delays = dropped.delays or self.delays
        self.hierarchies |= dropped.hierarchies
        self.marked = None

    def swap(self) -> None:
        """Audit the second file with the help of the first."""
        if self.file is not None and self.second is not None:
            self.file, self.second = self.second, self.file
            self.read = self._without({"released"})

    def close(self) -> None:
        """Close all files."""
        self.file = self.second = self.delays = None
        self.hierarchies = {}
        self.forget()

    def look_at(self, example: str) -> None:
        """Choose an example, with the law that it needs."""
        self.example = choice({"example": example}, "example", ["", *EXAMPLES])
        if self.example:
            self.take(EXAMPLES[self.example].law)

    def delay(self, law: str) -> None:
        """Choose a law, without its numbers."""
        self.law = choice({"law": law}, "law", ["", MEASURED, *_laws()])
        self.numbers = self.links = ""

    def take(self, law: str) -> None:
        """Choose a law with its numbers."""
        self.links, self.law, self.numbers = split_law(law)


def split_law(text: str, *, measured: bool = False) -> tuple[str, str, str]:
    """Return the seconds on links, the law and its numbers, if an address may name that law.

    ``measured``: delays were dropped, so that the law of them may be named, by no path.

    Examples
    --------
    >>> split_law("0.1+loopix:3,0.5"), split_law("window:1,5"), split_law("measured:/etc/passwd")
    (('0.1', 'erlang', '3,0.5'), ('', 'window', '1,5'), ('', '', ''))
    >>> split_law("0.1+measured", measured=True)
    ('0.1', 'measured', '')
    """
    word, _, numbers = text.partition(":")
    links, plus, mix = word.rpartition("+")
    kind = law_name(mix)
    allowed = [*_laws(), MEASURED] if measured and not numbers else _laws()
    if kind not in allowed:
        return "", "", ""
    return (links if plus else ""), kind, numbers


def _thresholds(given: list[str]) -> dict[str, float]:
    """Return the thresholds that can be understood.

    Examples
    --------
    >>> _thresholds(["entropy=3", "k=5", "magic=1", "surest=7"])
    {'entropy': 3.0, 'global (1,k)': 5.0}
    """
    known: dict[str, float] = {}
    for each in given:
        with suppress(InputError):
            known |= parse_gates([each])
    return known


def _uploads(given: list[str], store: Store, page: str) -> dict[str, Upload]:
    """Return files by column, if they are still here."""
    pairs = (each.rpartition(":") for each in given)
    known = {column: store.adopt(token, page) for column, _, token in pairs}
    return {column: upload for column, upload in known.items() if column and upload is not None}


def _range(given: list[str]) -> tuple[float, float] | None:
    """Return two numbers in order.

    Examples
    --------
    >>> _range(["0.5", "2"]), _range(["2", "0.5"]), _range(["x", "1"]), _range([])
    ((0.5, 2.0), (0.5, 2.0), None, None)
    """
    try:
        low, high = sorted(map(float, given))
    except ValueError:
        return None
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
