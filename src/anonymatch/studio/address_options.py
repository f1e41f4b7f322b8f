"""Which file is looked at and how it is understood: from an address, and back into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from anonymatch.sources import LAWS, SOURCES, ReadOptions, law_name
from anonymatch.studio.address import choice, number
from anonymatch.studio.request import AuditRequest
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
    return {"": "not needed: the file says who fits what"} | named


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

    ``gone`` says that the address names a file that is no longer here.
    """

    file: Upload | None = None
    second: Upload | None = None
    example: str = ""
    law: str = ""
    numbers: str = ""
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
        word, _, rest = query.get("law", "").partition(":")
        kind = law_name(word)
        return cls(
            file=file,
            second=store.adopt(query.get("second", ""), page),
            example=choice(query, "example", ["", *EXAMPLES]),
            law=kind if kind in _laws() else "",
            numbers=rest if kind in _laws() else "",
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
            "source": self.source,
            "unit": self.unit,
            "budget": "" if self.budget == _SECONDS else self.budget,
        }

    @property
    def _law(self) -> str:
        return f"{self.law}:{self.numbers}" if self.law else ""

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
            self.law, _, self.numbers = EXAMPLES[self.example].law.partition(":")

    def delay(self, law: str) -> None:
        """Choose a law. Its numbers are the mix's own: nobody can guess them for it."""
        self.law = choice({"law": law}, "law", ["", *_laws()])
        self.numbers = ""

    def measured(self) -> Callable[[], float | None] | None:
        """Work that finds the mean delay of the log, for laws that have no other number."""
        inquiry = self._inquiry()
        if self.law != "exponential" or self.numbers or inquiry is None:
            return None
        return inquiry.mean_delay

    def tell(self, name: str, given: str) -> None:
        """Choose ``role``, ``source`` or ``unit``."""
        known = {"source": ["", *SOURCES], "unit": list(UNITS), "role": list(ROLES)}[name]
        setattr(self, name, choice({name: given}, name, known))
