"""check(): every claim of the paper, computed now, with its verdict and the evidence for it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import InputError
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import several
from anonymatch.running import Budget, Execution, Progress, tells_misfits
from anonymatch.theory.claims.notation import as_text

if TYPE_CHECKING:
    from anonymatch.theory.claims.question import Check, ClaimContext

GROUPS = {
    "Theorems, lemmas and the conjecture": ("theorem", "lemma", "corollary", "conjecture"),
    "Statements of the text": ("text", "definition"),
    "Formulas": ("formula",),
    "Appendices": ("appendix",),
    "Figures and their labels": ("figure",),
    "Beyond the paper": (),
}
"""Kinds of claims, what weighs most first, and at last what the paper does not say itself."""
_BEYOND = "Beyond the paper"


_TALLY = {
    "holds": ("holds", "hold"),
    "misprint": ("misprint", "misprints"),
    "holds under a condition": ("holds under a condition", "hold under a condition"),
    "fails": ("fails", "fail"),
}
_NUMBERED = re.compile(
    r"(proof of )?(Theorem|Lemma|Corollary|Conjecture|Definition|Figure|Appendix)"
)


class Verdict(StrEnum):
    """What became of a claim.

    Examples
    --------
    >>> [str(verdict) for verdict in Verdict]
    ['holds', 'misprint', 'holds under a condition', 'fails']
    """

    HOLDS = "holds"
    MISPRINT = "misprint"
    CONDITION = "holds under a condition"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding that a verdict rests on: a sentence, and the numbers behind it.

    Attributes
    ----------
    text : str
    data : mapping
        Fit for JSON: fractions and integers beyond 2^53 are texts. Either a table (``columns``
        and ``rows``), or curves (``series``, each with ``name``, ``x`` and ``y``), or a graph
        (``graph``: a string of bits a user), or single values by name.
    """

    text: str
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typeset:
    """Sentences about a claim with their formulas as TeX between dollar signs.

    :mod:`anonymatch.theory.claims.notation` shows them as text, HTML or LaTeX.
    """

    title: str
    statement: str
    corrected: str | None = None
    brief: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Claim(Summarised):
    """One statement of the paper, and what computing it now says.

    Attributes
    ----------
    id : str
        A short name that stays the same.
    number : int
        Its place in the order of the paper, from 1.
    section : str
        Where the paper says it, by its own numbers.
    kind : str
        theorem, lemma, corollary, figure, formula, conjecture, definition, appendix or text.
    title : str
        What it is about, in few words.
    statement : str
        What the paper says.
    verdict : Verdict
    corrected : str or None
        The corrected form, the condition, or what is true instead; None if it holds.
    brief : str or None
        The same in a few words; None if it holds.
    finding : str
        What was computed.
    evidence : tuple of Evidence
    counterexample : tuple of str, or None
        A graph that contradicts the claim, a string of bits a user.
    partition : tuple of str, or None
        The partition graph H of as many users and edges, where that is what the graph beats.
    searched : str
        Which instances were tried, and what that proves.
    seconds : float
        What it took, without the search over all small graphs that claims share.
    typeset : Typeset
        Title, statement, correction and brief with their formulas as TeX.
    added : bool
        Whether it is not a statement of the paper, but what is left of one.
    """

    id: str
    number: int
    section: str
    kind: str
    title: str
    statement: str
    verdict: Verdict
    corrected: str | None
    brief: str | None
    finding: str
    evidence: tuple[Evidence, ...]
    counterexample: tuple[str, ...] | None
    partition: tuple[str, ...] | None
    searched: str
    seconds: float
    typeset: Typeset
    added: bool = False

    @property
    def group(self) -> str:
        """Which of the groups it belongs to."""
        if self.added:
            return _BEYOND
        return next(name for name, kinds in GROUPS.items() if self.kind in kinds)

    @property
    def label(self) -> str:
        """How the paper numbers it: a theorem, lemma or figure by its name, else the section.

        Examples
        --------
        >>> import anonymatch.theory.claims
        >>> checks = anonymatch.theory.claims.check(["theorem-limit", "crown-limit"])
        >>> [claim.label for claim in checks]
        ['Proof of Theorem 3', 'Theorem 3']
        """
        inner = self.section.split(", ", 1)[-1]
        label = inner if _NUMBERED.match(inner) else self.section
        return label[:1].upper() + label[1:]

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        names = "id number section kind label title added statement verdict corrected brief"
        names += " finding evidence counterexample partition searched seconds"
        graphs = {name: getattr(self, name) for name in ("counterexample", "partition")}
        return {name: getattr(self, name) for name in names.split()} | {
            "verdict": str(self.verdict),
            "evidence": [{"text": each.text, "data": dict(each.data)} for each in self.evidence],
            **{name: None if rows is None else list(rows) for name, rows in graphs.items()},
        }

    def _figures(self) -> Figures:
        yield ("the paper", self.section, self.statement)
        yield ("verdict", str(self.verdict), self.corrected or "")
        yield ("found", "", self.finding)

    def __str__(self) -> str:
        return f"{self.id} ({self.label}): {self.verdict}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Checks(Summarised):
    """Claims that were checked, in the order of the paper.

    Attributes
    ----------
    claims : tuple of Claim
    thorough : bool
        Whether all graphs of up to six users were searched, not only those of up to five.
    seconds : float
        What everything took, the search included.

    Examples
    --------
    >>> import anonymatch.theory.claims
    >>> checks = anonymatch.theory.claims.check(["figure-2", "equity-difference"])
    >>> checks["figure-2"].verdict, len(checks)
    (<Verdict.HOLDS: 'holds'>, 2)
    >>> checks.counts["misprint"]
    1
    """

    claims: tuple[Claim, ...]
    thorough: bool
    seconds: float

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        return {
            str(verdict): sum(claim.verdict == verdict for claim in self.claims)
            for verdict in Verdict
        }

    @property
    def grouped(self) -> dict[str, tuple[Claim, ...]]:
        """Claims by their weight: theorems first, labels of figures last.

        Examples
        --------
        >>> import anonymatch.theory.claims
        >>> checks = anonymatch.theory.claims.check(["figure-2", "theorem-permanent"])
        >>> [claim.id for claims in checks.grouped.values() for claim in claims]
        ['theorem-permanent', 'figure-2']
        """
        groups = {
            name: tuple(claim for claim in self.claims if claim.group == name) for name in GROUPS
        }
        return {name: claims for name, claims in groups.items() if claims}

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(claim.id for claim in self.claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, claim_id: str) -> Claim:
        for claim in self.claims:
            if claim.id == claim_id:
                return claim
        raise InputError(f"no claim {claim_id!r} was checked; {close_ids(claim_id, self.ids)}")

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        return {
            "thorough": self.thorough,
            "seconds": self.seconds,
            "counts": self.counts,
            "claims": [claim.to_dict() for claim in self.claims],
        }

    def _heads(self) -> tuple[str, ...]:
        return ("in the paper", "verdict", "in short")

    def _figures(self) -> Figures:
        for claims in self.grouped.values():
            for claim in claims:
                yield (claim.label, str(claim.verdict), claim.brief or claim.title)

    def __str__(self) -> str:
        parts = ", ".join(
            f"{number} {_TALLY[verdict][number != 1]}"
            for verdict, number in self.counts.items()
            if number
        )
        return f"{several(len(self), 'statement')}: {parts}"


def close_ids(wrong: object, known: tuple[str, ...]) -> str:
    """Which ids may have been meant.

    Examples
    --------
    >>> close_ids("figure1", ("figure-1", "stirling"))
    'did you mean figure-1?'
    """
    from difflib import get_close_matches

    near = get_close_matches(str(wrong), known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known ones: {', '.join(known)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A publication as one cites it.

    Examples
    --------
    >>> PUBLICATION.version, PUBLICATION.link
    ('arXiv:2606.10133v1', 'https://arxiv.org/abs/2606.10133v1')
    """

    title: str
    author: str
    institute: str
    identifier: str
    date: str

    @property
    def version(self) -> str:
        return f"arXiv:{self.identifier}"

    @property
    def link(self) -> str:
        return f"https://arxiv.org/abs/{self.identifier}"


PUBLICATION = Publication(
    title="k-Anonymity by Partitions Maximizes Perfect Matchings",
    author="Ewa J Infeld",
    institute="Katzenpost Project",
    identifier="2606.10133v1",
    date="8 June 2026",
)

WORDS = (
    (
        "de-anonymise a user",
        "expose a user",
        "an attacker learns the behaviour of one user; both leave the graph with their edges",
    ),
    (
        "optimising attacker",
        "best attack on one user",
        "takes the user whose exposure leaves the fewest matchings on average",
    ),
    (
        "component",
        "part, block",
        "users and behaviours joined by edges to each other and to nobody else",
    ),
    (
        "$G_k$, $K_{k+1,k}$",
        "crown of $k+1$",
        "$k+1$ users, each with all behaviours of the component but one",
    ),
    (
        "partition graph $H(n, m)$",
        "design by method “paper”",
        "$n$ users and $m$ edges in components of sizes $k$ and $k+1$",
    ),
    ("neighbourhood", "candidates", "the behaviours that a user may have shown"),
    (r"$\M(G)$", "count", "the number of perfect matchings: ways to explain what was seen"),
)
"""Words of the paper, what they are called elsewhere in anonymatch, and what both mean."""


# ---- checking


@tells_misfits
def check(
    claims: str | Iterable[str] | None = None,
    *,
    thorough: bool = False,
    folder: str | os.PathLike[str] | None = None,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Checks:
    """Check claims of the paper: each is computed, as printed and as corrected, and then judged.

    Parameters
    ----------
    claims : str or iterable of str, optional
        Ids of claims; :func:`questions` lists them. Default: all.
    thorough : bool
        Search all graphs of up to six users instead of five.
    folder : path, optional
        Where finished stages of that search are kept, and found again by a later call.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
    executor, progress
        As for :func:`anonymatch.count`.

    Returns
    -------
    Checks
        An iterable of :class:`Claim` in the order of the paper, also by id.

    Raises
    ------
    InputError
        If there is no such claim or folder.
    BudgetError
        If it is predicted to take longer than allowed; nothing was started.

    Examples
    --------
    >>> import anonymatch.theory.claims
    >>> claim = anonymatch.theory.claims.check("lemma-deanonymisation")["lemma-deanonymisation"]
    >>> print(claim.verdict)
    fails
    >>> claim.counterexample[4]
    '0000001111'
    """
    start = time.perf_counter()
    directory = _directory(folder)
    chosen = _chosen(claims)
    from anonymatch.theory.claims.question import ClaimContext

    effort = Execution(executor=executor, progress=progress)
    run = ClaimContext(thorough=bool(thorough), folder=directory, effort=effort)
    needs = max((question.needs for question in chosen), key=_LEVELS.index, default="")
    seconds = run.predicted(needs) + sum(question.seconds for question in chosen)
    allowed = Budget.of(budget)
    if not allowed.allows(seconds, run.memory):
        raise allowed.refusal("checking these claims", seconds, run.memory)
    effort.expect(seconds)
    run.prepare(needs)
    checked = []
    for question in chosen:
        checked.append(question.answer(run))
        effort.advance(question.seconds)
    return Checks(claims=tuple(checked), thorough=run.thorough, seconds=time.perf_counter() - start)


_LEVELS = ("", "survey", "play")  # what claims need; each includes those before


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A claim before it is checked: its row in ``claims.toml``, and the function that computes it.

    ``needs`` is what it shares with others: "" for nothing, "survey" for all small graphs, "play"
    for best play on all of them too; ``seconds`` are predicted, without that.
    """

    id: str
    number: int
    ask: Check
    section: str
    kind: str
    title: str
    statement: str
    searched: str = ""
    corrected: str | None = None
    brief: str | None = None
    seconds: float = 0.02
    needs: str = ""
    added: bool = False

    def answer(self, run: ClaimContext) -> Claim:
        """Compute it now."""
        start = time.perf_counter()
        finding = self.ask(run)
        corrected, brief = finding.corrected or self.corrected, finding.brief or self.brief
        if finding.verdict is Verdict.HOLDS:
            corrected = brief = None
        typeset = Typeset(
            title=self.title,
            statement=self.statement,
            corrected=corrected,
            brief=brief or corrected,
        )
        searched = finding.searched or self.searched
        if "{scope}" in searched:
            searched = searched.replace("{scope}", run.scope)
        return Claim(
            id=self.id,
            number=self.number,
            section=self.section,
            kind=self.kind,
            title=as_text(self.title),
            statement=as_text(self.statement),
            verdict=finding.verdict,
            corrected=None if corrected is None else as_text(corrected),
            brief=None if typeset.brief is None else as_text(typeset.brief),
            finding=finding.finding,
            evidence=finding.evidence,
            counterexample=finding.counterexample,
            partition=finding.partition,
            searched=searched,
            seconds=time.perf_counter() - start,
            typeset=typeset,
            added=self.added,
        )


def questions() -> dict[str, str]:
    """Ids of all claims with what the paper says, in the order of the paper.

    Examples
    --------
    >>> import anonymatch.theory.claims
    >>> list(anonymatch.theory.claims.questions())[:3]
    ['figure-1', 'figure-2', 'figure-3']
    """
    return {question.id: question.statement for question in all_questions()}


@cache
def all_questions() -> tuple[Question, ...]:
    """All questions; their functions are imported here because they need the whole package."""
    import tomllib

    from anonymatch.theory.claims import (  # noqa: F401 -- each fills ASKED
        appendices,
        asymptotics,
        construction,
        exposing,
        figure_claims,
        foundations,
        optimality,
    )
    from anonymatch.theory.claims.question import ASKED

    rows = tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))
    return tuple(
        Question(id=name, number=number, ask=ASKED[name], **row)
        for number, (name, row) in enumerate(rows.items(), 1)
    )


def _chosen(claims: str | Iterable[str] | None) -> list[Question]:
    everything = all_questions()
    if claims is None:
        return list(everything)
    known = tuple(question.id for question in everything)
    try:
        wanted = [claims] if isinstance(claims, str) else list(claims)
    except TypeError:
        raise InputError(f"claims must be ids of claims, not {claims!r}") from None
    for wrong in wanted:
        if wrong not in known:
            raise InputError(f"there is no claim {wrong!r}; {close_ids(wrong, known)}")
    return [question for question in everything if question.id in wanted]


def _directory(folder: str | os.PathLike[str] | None) -> Path | None:
    if folder is None:
        return None
    directory = Path(folder)
    if not directory.is_dir():
        raise InputError(f"{directory}: no such folder; make it first")
    return directory
