"""Which file is looked at and how it is understood: from an address, and back into one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from anonymatch.audits import parse_gates
from anonymatch.base.errors import InputError
from anonymatch.mixes import LAWS, SOURCES, ReadOptions, law_name
from anonymatch.rings import AGE_LAWS
from anonymatch.studio.address import as_text, choice, number, texts
from anonymatch.studio.dropped import Dropped
from anonymatch.studio.request import AuditRequest, gate_name
from anonymatch.studio.uploads import Store, Upload

__all__ = [
    "EXAMPLES",
    "MEASURED",
    "ROLES",
    "UNITS",
    "AddressOptions",
    "Example",
    "law_choices",
    "numbers_of",
]

MEASURED = "measured"
"""The law whose number is a file of delays."""

_FOLDER = Path(__file__).parents[1] / "examples"
_SECONDS = 30.0  # for exact answers, unless told


@dataclass(frozen=True, slots=True)
class Example:
    """A file that comes with the package: what it is, and the law that it needs."""

    story: str
    law: str = ""


EXAMPLES = {
    "mix.csv": Example("A mix in one round, as pairs that fit"),
    "mix_log.csv": Example("The same mix as a message log", "window:1,6"),
}
ROLES = {"departures": "the messages out", "original": "the table before release"}
UNITS = {"": "as the file says, or s", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}


def _laws() -> list[str]:
    """Laws that an address may name: none that would read a file of this machine."""
    return [name for name, law in LAWS.items() if not any(one.path for one in law.parameters)]


def law_choices(delays: Upload | None = None) -> dict[str, str]:
    """From the names of laws to what they and their numbers are; "" for no law."""
    named = {name: f"{name}: {numbers_of(name)}" for name in _laws()}
    told = "a file of delays, dropped along" if delays is None else f"the delays of {delays.name}"
    return {"": "choose one …"} | named | {MEASURED: f"{MEASURED}: {told}"}


def numbers_of(law: str) -> str:
    """What the numbers of a law are, for people.

    Examples
    --------
    >>> numbers_of("erlang")
    'hops, mean delay of one in s'
    """
    return ", ".join(one.text for one in LAWS[law].parameters if not one.optional)


@dataclass
class AddressOptions:
    """What a page asks about; it changes as the reader does.

    ``links`` are seconds on links, on top of the law. ``looking`` says that a law is still being
    chosen, and nothing shall be audited yet. ``thresholds`` are those that are switched on, and
    ``marked`` is a stretch of bits. ``identifiers``, ``sensitive`` and ``name`` are columns of a
    released table, None or "" where they are guessed; ``tolerance`` and ``hierarchies`` are by
    column. ``decoys``, ``spends`` and ``merging`` are of rings. ``gone`` says that the address
    names a file that is no longer here.
    """

    file: Upload | None = None
    second: Upload | None = None
    example: str = ""
    law: str = ""
    numbers: str = ""
    links: str = ""
    looking: bool = False
    thresholds: dict[str, float] = field(default_factory=dict)
    marked: tuple[float, float] | None = None
    role: str = "departures"
    delays: Upload | None = None
    hierarchies: dict[str, Upload] = field(default_factory=dict)
    identifiers: tuple[str, ...] | None = None
    sensitive: tuple[str, ...] | None = None
    name: str = ""
    tolerance: dict[str, float] = field(default_factory=dict)
    decoys: str = ""
    spends: str = ""
    merging: float | None = None
    source: str = ""
    unit: str = ""
    budget: float = _SECONDS
    gone: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str], store: Store, page: str) -> AddressOptions:
        """What an address asks for, on behalf of a page."""
        token = query.get("file", "")
        file = store.adopt(token, page)
        second, delays = (store.adopt(query.get(slot, ""), page) for slot in ("second", "delays"))
        links, kind, numbers = _split(query.get("law", ""), measured=delays is not None)
        return cls(
            file=file,
            second=second,
            delays=delays,
            hierarchies=_uploads(texts(query, "hierarchies"), store, page),
            identifiers=tuple(texts(query, "identifiers")) or None,
            sensitive=tuple(texts(query, "sensitive")) if "sensitive" in query else None,
            name=query.get("name", ""),
            tolerance=_tolerance(texts(query, "tolerance")),
            decoys=_age_law(query.get("decoys", "")),
            spends=_age_law(query.get("spends", "")),
            merging=_merging(query.get("merging", "")),
            example=choice(query, "example", ["", *EXAMPLES]),
            law=kind,
            numbers=numbers,
            links=links,
            looking=query.get("step") == "look",
            thresholds=_thresholds(texts(query, "thresholds")),
            marked=_stretch(texts(query, "marked")),
            role=choice(query, "role", list(ROLES)),
            source=choice(query, "source", ["", *SOURCES]),
            unit=choice(query, "unit", list(UNITS)),
            budget=number(query, "budget", _SECONDS, least=1, most=3600),
            gone=(bool(token) and file is None) or (bool(query.get("second")) and second is None),
        )

    def values(self) -> dict[str, object]:
        """For an address; empty ones are left out there."""
        return {
            "file": self.file.token if self.file else "",
            "example": "" if self.file else self.example,
            "second": self.second.token if self.second else "",
            "role": self.role if self.second else "",
            "delays": self.delays.token if self.delays else "",
            "hierarchies": [f"{name}:{one.token}" for name, one in self.hierarchies.items()],
            "identifiers": list(self.identifiers or ()),
            "sensitive": None if self.sensitive is None else list(self.sensitive) or [""],
            "name": self.name,
            "tolerance": [f"{name}:{number:g}" for name, number in self.tolerance.items()],
            "decoys": self.decoys,
            "spends": self.spends,
            "merging": "" if self.merging is None else self.merging,
            "law": self._law,
            "step": "look" if self.looking and self._law else "",
            "source": self.source,
            "unit": self.unit,
            "budget": "" if self.budget == _SECONDS else self.budget,
        }

    def shown(self) -> dict[str, object]:
        """What is switched on and marked, for an address."""
        thresholds = [f"{gate_name(key)}={value:g}" for key, value in self.thresholds.items()]
        return {
            "thresholds": thresholds,
            "marked": [] if self.marked is None else [f"{end:.4g}" for end in self.marked],
        }

    def system(self) -> str:
        """The file and how it is understood in one word, as the address of a comparison has it."""
        query = {name: value for name, value in self.values().items() if value and name != "step"}
        return urlencode({name: as_text(value) for name, value in query.items()}, safe=":,")

    @property
    def _law(self) -> str:
        links = f"{self.links}+" if self.links else ""
        numbers = f":{self.numbers}" if self.law != MEASURED else ""
        return f"{links}{self.law}{numbers}" if self.law else ""

    @property
    def _law_with_file(self) -> str:
        """The same with the path of measured delays."""
        if self.law == MEASURED and self.delays is not None:
            return f"{self._law}:{self.delays.path}"
        return self._law

    @property
    def missing(self) -> str:
        """What has to be told before there is something to audit; "" if nothing is missing."""
        if not self.law or self.numbers or not (self.file or self.example):
            return ""
        if self.law == MEASURED:
            wanted = "Drop a file of delays along: one a line in seconds, or a column delay."
            return "" if self.delays else wanted
        wanted, example = numbers_of(self.law), LAWS[self.law].example
        return f"Tell the numbers of the {self.law} law: {wanted}, such as {example}."

    def inquiry(self) -> AuditRequest | None:
        """The same with paths of files; None while nothing is chosen, or numbers are missing."""
        return None if self.missing else self._inquiry()

    def _inquiry(self) -> AuditRequest | None:
        if self.file is not None:
            name, path, token = self.file.name, self.file.path, self.file.token
        elif self.example:
            name, path, token = self.example, _FOLDER / self.example, ""
        else:
            return None
        second = self.second if self.file is not None else None
        released = second is not None and self.role == "original"
        beside = [each for each in (second, self.delays, *self.hierarchies.values()) if each]
        return AuditRequest(
            name=name,
            path=path,
            token=token,
            options=ReadOptions(
                law=self._law_with_file or None,
                source=self.source or None,
                unit=self.unit or None,
                departures=second.path if second and self.role == "departures" else None,
                original=second.path if second and released else None,
                quasi_identifiers=self.identifiers if released else None,
                sensitive=self.sensitive if released else None,
                name=self.name or None if released else None,
                tolerance=self.tolerance or None if released else None,
                hierarchies=self._levels() or None if released else None,
                decoys=self.decoys or None,
                spends=self.spends or None,
                merging=self.merging,
            ),
            beside=tuple((str(each.path), each.name) for each in beside),
            budget=self.budget,
        )

    def _levels(self) -> dict[str, Path]:
        """Hierarchies of columns that are not told to be something else than identifiers."""
        told = self.hierarchies if self.identifiers is None else self.identifiers
        return {name: one.path for name, one in self.hierarchies.items() if name in told}

    def receive(self, dropped: Dropped) -> None:
        """Look at other files; nothing that was said of the old ones holds of them."""
        if self.file is not None:
            self.delay("")
            self.looking = False
            self.forget_columns()
            self.forget_rings()
        self.file, self.second, self.role = dropped.file, dropped.second, dropped.role
        self.delays, self.hierarchies = dropped.delays, dict(dropped.hierarchies)
        self.example, self.marked = "", None

    def add(self, dropped: Dropped) -> None:
        """Take files along with the one that is there."""
        if dropped.file is not self.file or dropped.second is not None:
            self.forget_columns()
        self.file = dropped.file
        if dropped.second is not None:
            self.second, self.role = dropped.second, dropped.role
        self.delays = dropped.delays or self.delays
        self.hierarchies |= dropped.hierarchies
        self.marked = None

    def swap(self) -> None:
        """Look at the second file with the help of the first."""
        if self.file is not None and self.second is not None:
            self.file, self.second = self.second, self.file
            self.forget_columns()

    def close(self) -> None:
        """No file any more."""
        self.file = self.second = self.delays = None
        self.hierarchies = {}
        self.delay("")
        self.looking = False
        self.marked = None
        self.forget_columns()
        self.forget_rings()

    def forget_columns(self) -> None:
        """Columns are guessed anew."""
        self.identifiers = self.sensitive = None
        self.name, self.tolerance = "", {}

    def forget_rings(self) -> None:
        """Rings are as their file says."""
        self.decoys = self.spends = ""
        self.merging = None

    def tell_ages(self, name: str, given: str) -> None:
        """Choose the law of ages of ``decoys`` or ``spends``, by its name or with its numbers."""
        setattr(self, name, _age_law(given))

    def look_at(self, example: str) -> None:
        """Choose an example, with the law that it needs."""
        self.example = choice({"example": example}, "example", ["", *EXAMPLES])
        if self.example:
            self.take(EXAMPLES[self.example].law)

    def delay(self, law: str) -> None:
        """Choose a law; its numbers are to be told."""
        self.law = choice({"law": law}, "law", ["", MEASURED, *_laws()])
        self.numbers = self.links = ""

    def take(self, law: str) -> None:
        """Choose a law with its numbers, as text names it."""
        self.links, self.law, self.numbers = _split(law)

    def plain_inquiry(self) -> AuditRequest | None:
        """The file without a law or columns, to look at; None while nothing is chosen."""
        inquiry = self._inquiry()
        return None if inquiry is None else inquiry.plain()

    def tell(self, name: str, given: str) -> None:
        """Choose ``role``, ``source`` or ``unit``."""
        known = {"source": ["", *SOURCES], "unit": list(UNITS), "role": list(ROLES)}[name]
        setattr(self, name, choice({name: given}, name, known))


def _split(text: str, *, measured: bool = False) -> tuple[str, str, str]:
    """Seconds on links, the law and its numbers; nothing of a law that an address may not name.

    ``measured``: delays were dropped, so that the law of them may be named, by no path.

    Examples
    --------
    >>> _split("0.1+loopix:3,0.5"), _split("window:1,5"), _split("measured:/etc/passwd")
    (('0.1', 'erlang', '3,0.5'), ('', 'window', '1,5'), ('', '', ''))
    >>> _split("0.1+measured", measured=True)
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
    """Thresholds that can be understood.

    Examples
    --------
    >>> _thresholds(["entropy=3", "k=5", "magic=1", "surest=7"])
    {'entropy': 3.0, 'global (1,k)': 5.0}
    """
    known: dict[str, float] = {}
    for each in given:
        try:
            known |= parse_gates([each])
        except InputError:
            continue
    return known


def _uploads(given: list[str], store: Store, page: str) -> dict[str, Upload]:
    """Files by column, as far as they are still here."""
    pairs = (each.rpartition(":") for each in given)
    known = {column: store.adopt(token, page) for column, _, token in pairs}
    return {column: upload for column, upload in known.items() if column and upload is not None}


def _tolerance(given: list[str]) -> dict[str, float]:
    """Numbers by column.

    Examples
    --------
    >>> _tolerance(["age:2", "zip:x", "a:b:0.5", "n:-1"])
    {'age': 2.0, 'a:b': 0.5}
    """
    known: dict[str, float] = {}
    for each in given:
        column, _, words = each.rpartition(":")
        try:
            value = float(words)
        except ValueError:
            continue
        if column and 0.0 < value < math.inf:
            known[column] = value
    return known


def _age_law(given: str) -> str:
    """A law of ages that has a name.

    Examples
    --------
    >>> _age_law("gamma:19.28,1.61"), _age_law("uniform"), _age_law("measured:/etc/passwd")
    ('gamma:19.28,1.61', 'uniform', '')
    """
    return given if given.partition(":")[0] in AGE_LAWS else ""


def _merging(given: str) -> float | None:
    """Times that members weigh more; None unless it is a number of 1 or more.

    Examples
    --------
    >>> _merging("10"), _merging("0.5"), _merging("")
    (10.0, None, None)
    """
    try:
        value = float(given)
    except ValueError:
        return None
    return value if 1.0 <= value < math.inf else None


def _stretch(given: list[str]) -> tuple[float, float] | None:
    """Two numbers in order.

    Examples
    --------
    >>> _stretch(["0.5", "2"]), _stretch(["2", "0.5"]), _stretch(["x", "1"]), _stretch([])
    ((0.5, 2.0), (0.5, 2.0), None, None)
    """
    try:
        low, high = sorted(map(float, given))
    except ValueError:
        return None
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
