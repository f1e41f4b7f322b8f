"""Audits that pages ask for: of a file, under a law, each computed once; and why of one user."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from anonymatch.audits import AT_MOST, FIGURES, Audit, audit, identified
from anonymatch.base.errors import AnonymatchError, BudgetError, InputError
from anonymatch.base.text import Argument, Call, Message, Piece, as_option
from anonymatch.graph import TIMES, Graph
from anonymatch.mixes import FirstLook, ReadOptions, first_look
from anonymatch.reporting import LARGEST
from anonymatch.running import Allowance, Progress
from anonymatch.studio.dropped import columns_of
from anonymatch.studio.uploads import names_of
from anonymatch.tables import TableAudit
from anonymatch.theory.attacks import Exposure, exposure

__all__ = ["FIELDS", "AuditRequest", "Audits", "Looks", "Why", "as_field", "gate_name", "why"]

T = TypeVar("T")

FIELDS = {
    "law": "How messages are delayed",
    "source": "What it is",
    "unit": "Unit of times",
    "budget": "Time for exact answers",
    "departures": "A second file is",
    "original": "A second file is",
    "identifiers": "Identifiers",
    "sensitive": "Sensitive",
    "name": "Column of people's names",
    "hierarchies": "Hierarchies",
    "tolerance": "Off by at most",
    "decoys": "How old decoys are",
    "spends": "How old outputs are when they are spent",
    "merging": "Outputs of one transaction are spent together",
}
"""From arguments to the labels of the fields that give them."""

_KEPT = 8  # answers of each kind that are remembered
_SECONDS = 5.0  # for the exposure of one user
_DRAWN = 2_000_000  # edges of a graph in which neighbours are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What is to be audited, and how.

    Attributes
    ----------
    name : str
        What the file is called.
    path : Path
    token : str
        Of an upload, or "" for an example.
    options : ReadOptions
        How it is to be understood.
    beside : tuple of (str, str)
        Other files that the options name, by path, and what they are called.
    budget : float
        Predicted seconds that may be spent on exact answers.
    """

    name: str
    path: Path
    token: str = ""
    options: ReadOptions = field(default_factory=ReadOptions)
    beside: tuple[tuple[str, str], ...] = ()
    budget: float = 30.0

    def plain(self) -> AuditRequest:
        """The same file with nothing chosen that is only needed to audit it."""
        told = self.options
        bare = ReadOptions(
            source=told.source, unit=told.unit, departures=told.departures, original=told.original
        )
        return replace(self, options=bare, budget=0.0)

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

    def command(self, thresholds: Mapping[str, float] | None = None) -> str:
        """The command line that gives the same, and fails where a threshold is missed."""
        from shlex import quote

        given = [
            as_option(Argument(name, each))
            for name, value in self._shown().items()
            for each in _repeated(value)
        ]
        parts = ["anonymatch", "audit", quote(self.name), *given, f"--budget {self.budget:g}"]
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


def _repeated(value: Any) -> list[Any]:
    """What stands behind an option, which is repeated for each.

    Examples
    --------
    >>> _repeated(("age", "zip")), _repeated({"age": 2.0, "zip": 1.5}), _repeated(())
    (['age,zip'], ['age=2', 'zip=1.5'], [''])
    """
    if isinstance(value, Mapping):
        return [
            f"{name}={each:g}" if isinstance(each, float) else f"{name}={each}"
            for name, each in value.items()
        ]
    if isinstance(value, tuple):
        return [",".join(value)]
    return [f"{value:g}" if isinstance(value, float) else value]


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


def as_field(argument: Argument) -> str:
    """An argument that a message names, as the field of the page that gives it.

    What has no field is named as the option of the command line.

    Examples
    --------
    >>> as_field(Argument("unit", "ms")), as_field(Argument("cover", 1))
    ("'Unit of times' ms", '--cover 1 on the command line')
    """
    label = FIELDS.get(argument.name)
    if label is None:
        return f"{as_option(argument)} on the command line"
    if isinstance(argument.value, Allowance):
        return f"{label!r}"
    given = "" if argument.value in (None, ...) else f" {argument.value}"
    return f"{label!r}{given}"


class Remembered(Generic[T]):
    """Answers about files, the latest few of them."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, T]] = OrderedDict()
        self._lock = Lock()

    def once(self, inquiry: AuditRequest, work: Callable[[], T]) -> T:
        """The answer, from memory or found now."""
        key = repr(inquiry)  # options hold what cannot be hashed
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key][1]
        answer = work()
        with self._lock:
            self._known[key] = inquiry.token, answer
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return answer

    def forget(self, token: str) -> None:
        """Forget what was found about a file that is removed."""
        with self._lock:
            for key in [key for key, (of, _) in self._known.items() if of == token]:
                del self._known[key]


class Looks(Remembered[FirstLook]):
    """First looks at files."""

    def find(self, inquiry: AuditRequest) -> FirstLook:
        """What a file is, whatever law, columns or budget are chosen."""
        plain = inquiry.plain()
        return self.once(plain, plain.first_look)


class Audits(Remembered[Audit]):
    """Audits of this studio."""

    def find(self, inquiry: AuditRequest, progress: Progress) -> Audit:
        """The audit, from memory or computed now."""
        return self.once(inquiry, lambda: _audited(inquiry, progress))


def _audited(inquiry: AuditRequest, progress: Progress) -> Audit:
    progress(0.0, 1.0)
    try:
        # Of a released table, ``name`` is the column of names.
        answer: Audit = audit(
            inquiry.path, budget=inquiry.budget, progress=progress, **inquiry.options.given()
        )
    except AnonymatchError as error:
        raise inquiry.worded(error) from None
    answer = replace(answer, name=inquiry.name)
    return replace(answer, notes=tuple(Message(note).worded(as_field) for note in answer.notes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Why:
    """What is known about one user, and why.

    Attributes
    ----------
    user
    candidates : tuple of (behaviour, float or None)
        What fits the user, each with the probability that it is the user's; the likeliest first.
    degree, allowed : int
        How many fit, and how many of them fit together with everybody else's.
    effective, probability : float or None
        Equally likely behaviours among whom the user hides; probability of the best guess.
    reason : str
        Why the user is identified; "" for those who are not.
    exposure : Exposure or None
        What exposing this user would do.
    around : Graph or None
        The user, and everybody who fits one of the same behaviours, if they can be drawn.
    """

    user: Hashable
    candidates: tuple[tuple[Hashable, float | None], ...]
    degree: int
    allowed: int
    effective: float | None
    probability: float | None
    reason: str
    exposure: Exposure | None
    around: Graph | None


def why(audit: Audit, user: Hashable) -> Why:
    """What an attacker knows about a user of an audit, and what follows.

    Examples
    --------
    >>> import anonymatch as am
    >>> audit = am.audit(am.Graph.from_edges([("ann", "x"), ("bob", "x"), ("bob", "y")]))
    >>> bob = why(audit, "bob")
    >>> bob.candidates, bob.reason
    ((('y', 1.0), ('x', 0.0)), 'nobody else fits y')
    """
    users = audit.answers.users
    row = list(users.users).index(user)
    graph = audit.observation.graph
    probability, effective = float(users.probability.value[row]), float(users.effective.value[row])
    return Why(
        user=user,
        candidates=_candidates(audit, row),
        degree=int(users.degree[row]),
        allowed=int(users.allowed[row]),
        effective=None if effective != effective else effective,
        probability=None if probability != probability else probability,
        reason=_reason(audit, row),
        exposure=_exposure(audit, user),
        around=None if graph is None else _around(graph, user),
    )


def _candidates(audit: Audit, row: int) -> tuple[tuple[Hashable, float | None], ...]:
    graph, probabilities = audit.observation.graph, audit.answers.probabilities
    if graph is None:
        return ()
    begin, end = graph.indptr[row : row + 2].tolist()
    names = [graph.behaviours[j] for j in graph.indices[begin:end].tolist()]
    if probabilities is None:
        return tuple((name, None) for name in names)
    values = probabilities.probabilities[begin:end].tolist()
    return tuple(sorted(zip(names, values, strict=True), key=lambda pair: -pair[1]))


def _reason(audit: Audit, row: int) -> str:
    users = audit.answers.users
    user = users.users[row]
    if users.allowed[row] != 1:
        return ""
    for one in audit.worst:
        if one.user == user:
            return one.reason
    graph = audit.observation.graph
    if graph is None:
        fits_more = int(audit.answers.users.degree[row]) > 1
        if isinstance(audit, TableAudit):
            return "other rows are needed by others" if fits_more else "no other row fits"
        return "nobody else was inside"
    return next((one.reason for one in identified(graph) if one.user == user), "")


def _exposure(audit: Audit, user: Hashable) -> Exposure | None:
    graph = audit.observation.graph
    if graph is None or audit.observation.lost:
        return None
    try:
        return exposure(graph, user, budget=_SECONDS)
    except BudgetError:
        return None


def _around(graph: Graph, user: Hashable) -> Graph | None:
    """Everybody who fits one of the user's behaviours, with these edges only."""
    if graph.n_edges > _DRAWN:
        return None
    row = graph.user_index(user)
    mine = set(graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist())
    pairs = [
        (i, j)
        for i, j in zip(graph.rows().tolist(), graph.indices.tolist(), strict=True)
        if j in mine
    ]
    others = {i for i, _ in pairs}
    if max(len(others), len(mine)) > LARGEST or len(pairs) > 400:
        return None
    return Graph.from_edges([(graph.users[i], graph.behaviours[j]) for i, j in pairs])
