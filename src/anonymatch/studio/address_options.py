"""Which file is looked at and how it is understood: from an address, and back into one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

from anonymatch.audits import parse_gates
from anonymatch.base.errors import InputError
from anonymatch.sources import LAWS, SOURCES, ReadOptions, law_name
from anonymatch.studio.address import choice, number, texts
from anonymatch.studio.request import AuditRequest, gate_name
from anonymatch.studio.uploads import Store, Upload

__all__ = ["EXAMPLES", "ROLES", "UNITS", "AddressOptions", "Example", "law_choices", "numbers_of"]

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


def law_choices() -> dict[str, str]:
    """From the names of laws to what they and their numbers are; "" for no law."""
    named = {name: f"{name}: {numbers_of(name)}" for name in _laws()}
    return {"": "choose one …"} | named


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
    ``marked`` is a stretch of bits. ``gone`` says that the address names a file that is no longer
    here.
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
    source: str = ""
    unit: str = ""
    budget: float = _SECONDS
    gone: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str], store: Store, page: str) -> AddressOptions:
        """What an address asks for, on behalf of a page."""
        token = query.get("file", "")
        file = store.adopt(token, page)
        links, kind, numbers = _split(query.get("law", ""))
        return cls(
            file=file,
            second=store.adopt(query.get("second", ""), page),
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
            gone=bool(token) and file is None,
        )

    def values(self) -> dict[str, object]:
        """For an address; empty ones are left out there."""
        return {
            "file": self.file.token if self.file else "",
            "example": "" if self.file else self.example,
            "second": self.second.token if self.second else "",
            "role": self.role if self.second else "",
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
        return urlencode({name: str(value) for name, value in query.items()}, safe=":,")

    @property
    def _law(self) -> str:
        links = f"{self.links}+" if self.links else ""
        return f"{links}{self.law}:{self.numbers}" if self.law else ""

    @property
    def missing(self) -> str:
        """What has to be told before there is something to audit; "" if nothing is missing."""
        if not self.law or self.numbers or not (self.file or self.example):
            return ""
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
        return AuditRequest(
            name=name,
            path=path,
            token=token,
            options=ReadOptions(
                law=self._law or None,
                source=self.source or None,
                unit=self.unit or None,
                departures=second.path if second and self.role == "departures" else None,
                original=second.path if second and self.role == "original" else None,
            ),
            second_name="" if second is None else second.name,
            budget=self.budget,
        )

    def look_at(self, example: str) -> None:
        """Choose an example, with the law that it needs."""
        self.example = choice({"example": example}, "example", ["", *EXAMPLES])
        if self.example:
            self.take(EXAMPLES[self.example].law)

    def delay(self, law: str) -> None:
        """Choose a law; its numbers are to be told."""
        self.law = choice({"law": law}, "law", ["", *_laws()])
        self.numbers = self.links = ""

    def take(self, law: str) -> None:
        """Choose a law with its numbers, as text names it."""
        self.links, self.law, self.numbers = _split(law)

    def plain_inquiry(self) -> AuditRequest | None:
        """The file without a law, to look at; None while nothing is chosen."""
        inquiry = self._inquiry()
        if inquiry is None:
            return None
        return replace(inquiry, options=replace(inquiry.options, law=None))

    def tell(self, name: str, given: str) -> None:
        """Choose ``role``, ``source`` or ``unit``."""
        known = {"source": ["", *SOURCES], "unit": list(UNITS), "role": list(ROLES)}[name]
        setattr(self, name, choice({name: given}, name, known))


def _split(text: str) -> tuple[str, str, str]:
    """Seconds on links, the law and its numbers; nothing of a law that an address may not name.

    Examples
    --------
    >>> _split("0.1+loopix:3,0.5"), _split("window:1,5"), _split("measured:/etc/passwd")
    (('0.1', 'erlang', '3,0.5'), ('', 'window', '1,5'), ('', '', ''))
    """
    word, _, numbers = text.partition(":")
    links, plus, mix = word.rpartition("+")
    kind = law_name(mix)
    if kind not in _laws():
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
