"""Audits that pages ask for: of a file, under a law, each computed once; and why of one user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.audits import AT_MOST, FIGURES, Audit, audit
from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.base.text import Argument, Call, Message, Piece, as_option
from anonymatch.mixes import FirstLook, ReadOptions, first_look
from anonymatch.running import Allowance, Progress
from anonymatch.studio.uploads import columns_of, names_of
from anonymatch.tabular import TIMES

if TYPE_CHECKING:
    from anonymatch.problems import Problem
    from anonymatch.reporting import Section

LABELS = {
    "law": "How messages are delayed",
    "source": "What it is",
    "unit": "Unit of times",
    "columns": "Names of columns",
    "budget": "Time for exact answers",
    "departures": "A second file is",
    "original": "A second file is",
    "loss": "Loss probability",
    "lost": "Lost messages",
    "cover_rate": "Dummy messages per second",
    "cover": "Dummy messages",
    "loop_rate": "Loops per second",
    "since": "Start of the observation",
    "until": "End of the observation",
    "drained": "The mix is empty at the end",
    "inside_at_start": "Messages inside at the start",
    "cover_in_pool": "Dummy messages enter the pool",
    "cover_visible": "The attacker recognises dummy messages",
    "whole_log": "Averages over the whole log",
    "quasi_identifiers": "Identifiers",
    "sensitive": "Sensitive",
    "name": "Column of people's names",
    "hierarchies": "Hierarchies",
    "tolerance": "Off by at most",
    "missing": "Texts of unknown values",
    "longest_delay": "Longest delay",
    "strays": "Stray packets",
    "align": "Recordings begin",
    "corrupt": "Corrupt mixes",
    "view": "The attacker sees",
    "decoys": "How old decoys are",
    "spends": "How old outputs are when they are spent",
    "merging": "Factor for outputs of one transaction",
}
"""Labels of the fields that give an option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """The file to audit, and how to read it.

    ``token`` is that of an upload, "" for an example. ``beside`` has the paths and names of other
    files that the options name. ``budget`` limits the predicted seconds of exact answers.
    """

    name: str
    path: Path
    token: str = ""
    options: ReadOptions = field(default_factory=ReadOptions)
    beside: tuple[tuple[str, str], ...] = ()
    budget: float = 30.0

    def plain(self) -> AuditRequest:
        """The same file with nothing chosen that is only needed to audit it."""
        kept = ("source", "unit", "columns", "departures", "original")
        bare = ReadOptions(**{name: getattr(self.options, name) for name in kept})
        return replace(self, options=bare, budget=0.0)

    def reported(self, problem: Problem, progress: Progress) -> tuple[Section, ...]:
        """Solve a registered problem, and return the sections of its report."""
        from anonymatch.reporting import report_sections

        result = problem.solve(
            self.path, seed=0, budget=self.budget or None, executor=None, progress=progress
        )
        return report_sections(problem.report(result).run_by(self.command()))

    def audit(self, progress: Progress) -> Audit:
        """Audit the file, with names and notes in the words of the page."""
        progress(0.0, 1.0)
        try:
            # Of a released table, ``name`` is the column of names.
            answer: Audit = audit(
                self.path, budget=self.budget, progress=progress, **self.options.given()
            )
        except AnonymatchError as error:
            raise self.worded(error) from None
        notes = tuple(Message(note).worded(as_field) for note in answer.notes)
        return replace(answer, name=self.name, notes=notes)

    def first_look(self) -> FirstLook:
        """What the file is; no law is needed for that."""
        try:
            return first_look(self.path, self.plain().options)
        except AnonymatchError as error:
            if self.is_lone_table:
                raise InputError(
                    f"{self.name}: no column says who may have done what; if it is a released "
                    "table, drop the original one along; if it is edges, name columns user and "
                    "behaviour"
                ) from None
            raise self.worded(error) from None

    @property
    def is_lone_table(self) -> bool:
        """Whether it may be a released table whose original was not dropped."""
        if self.options.given():
            return False
        columns = {each.lower() for each in columns_of(self.path)}
        return len(columns) > 1 and columns.isdisjoint({*TIMES, "user", "behaviour", "ring"})

    def worded(self, error: AnonymatchError) -> InputError:
        """An error in the words of the page, with files called as the reader calls them."""
        names = names_of(self.path, self.name) | dict(self.beside)
        message = error.message.renamed(names)
        worded = Message(*map(_as_page, message.pieces)).worded(as_field)
        for path, name in self.beside:  # laws name their file within their text
            worded = worded.replace(path, name)
        return InputError(worded)

    def _shown(self) -> dict[str, Any]:
        """Options with files called as the reader calls them."""
        return {name: self._called(value) for name, value in self.options.given().items()}

    def _called(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._called(each) for name, each in value.items()}
        if not isinstance(value, str | Path):
            return value
        words = str(value)
        for path, name in self.beside:
            words = words.replace(path, name)
        return words

    @property
    def _audit(self) -> list[str]:
        """The words of the command for files of this kind."""
        told = self.options
        if told.original is not None:
            return ["table", "audit"]
        rings = told.source == "rings" or told.decoys or told.spends or told.merging
        return ["rings", "audit"] if rings else ["audit"]

    def command(self, thresholds: Mapping[str, float] | None = None) -> str:
        """The command line that gives the same, and fails where a threshold is missed."""
        from shlex import quote

        given = option_line(self._shown() | {"budget": self.budget})
        parts = ["anonymatch", *self._audit, quote(self.name), *given]
        for name, threshold in (thresholds or {}).items():
            option = "--fail-over" if name in AT_MOST else "--fail-under"
            parts.append(f"{option} {quote(f'{gate_name(name)}={threshold:g}')}")
        return " ".join(parts)

    def python(self) -> str:
        """The Python lines that give the same."""
        arguments = "".join(f", {name}={value!r}" for name, value in self._shown().items())
        return (
            "import anonymatch as am\n"
            f"audit = am.audit({self.name!r}{arguments}, budget={self.budget:g})\n"
            "print(audit)\n"
            "audit.report('audit.html')"
        )


def option_line(options: Mapping[str, Any]) -> list[str]:
    """Return options as the command line has them."""
    return [
        as_option(Argument(name, each))
        for name, value in options.items()
        for each in _repeated(name, value)
    ]


def keywords(options: Mapping[str, Any]) -> str:
    """Return options as Python has them."""
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value!r}"
        for name, value in options.items()
    )


def _repeated(name: str, value: Any) -> list[Any]:
    """Return the texts of an option, which is repeated for each.

    Examples
    --------
    >>> _repeated("sensitive", ("age", "zip")), _repeated("tolerance", {"age": 2.0, "zip": 1.5})
    (['age,zip'], ['age=2', 'zip=1.5'])
    >>> _repeated("loss", {"m1": 0.1, "m2": 0.2}), _repeated("drained", True)
    (['m1=0.1,m2=0.2'], [None])
    """
    if value is True:
        return [None]
    if isinstance(value, Mapping):
        texts = [f"{key}={_repeated(name, each)[0]}" for key, each in value.items()]
        return texts if name in ("hierarchies", "tolerance") else [",".join(texts)]
    if isinstance(value, tuple):
        return [",".join(str(_repeated(name, each)[0]) for each in value)]
    return [f"{value:.12g}" if isinstance(value, float) else value]


def _as_page(piece: Piece) -> Piece:
    """What another page of the studio does in place of another command."""
    if isinstance(piece, Call) and "anonymatch rounds" in piece.otherwise:
        return "the page 'Rounds'"
    return piece


def gate_name(key: str) -> str:
    """The usual name of a threshold: without signs, where there is such a one.

    Examples
    --------
    >>> gate_name("global (1,k)"), gate_name("entropy")
    ('k', 'entropy')
    """
    return (*FIGURES[key].names, key)[0] if key in FIGURES else key


def label_of(name: str, labels: Mapping[str, str] = LABELS) -> str:
    """Return the label of the field that gives an option."""
    return labels.get(name, name.replace("_", " ").capitalize())


def as_field(argument: Argument) -> str:
    """Return the field of the page for an argument that a message names.

    An argument without a field is named as the option of the command line.

    Examples
    --------
    >>> as_field(Argument("unit", "ms")), as_field(Argument("steps", 1))
    ("'Unit of times' ms", '--steps 1 on the command line')
    """
    if argument.name not in LABELS:
        return f"{as_option(argument)} on the command line"
    label = repr(label_of(argument.name))
    if argument.value in (None, ...) or isinstance(argument.value, Allowance):
        return label
    return f"{label} {argument.value}"
