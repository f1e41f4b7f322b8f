"""How claims are asked: a statement, the function that computes it, and how verdicts follow.

A question tries the paper's statement, and the corrected one, on instances. The verdict follows
from what the trials gave, by :func:`judge` alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from anonymatch.paper.claim import Claim, Evidence, Typeset, Verdict
from anonymatch.paper.context import ClaimContext
from anonymatch.paper.notation import as_text

__all__ = ["Finding", "Question", "Trial", "judge", "question", "trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A statement tried on instances.

    Attributes
    ----------
    tested : int
        How many instances there were.
    failed : tuple
        Those for which it is false.
    """

    tested: int
    failed: tuple[Any, ...]

    @property
    def holds(self) -> bool:
        """True on every instance, of which there was at least one."""
        return self.tested > 0 and not self.failed

    def __str__(self) -> str:
        return f"{self.tested - len(self.failed)} of {self.tested}"


def trial(cases: Iterable[tuple[Any, ...]], holds: Callable[..., bool]) -> Trial:
    """Try a statement on every case; a case has its arguments.

    Examples
    --------
    >>> print(trial([(1, 1), (2, 4), (3, 8)], lambda n, square: n * n == square))
    2 of 3
    """
    tested, failed = 0, []
    for case in cases:
        tested += 1
        if not holds(*case):
            failed.append(case)
    return Trial(tested, tuple(failed))


def judge(as_written: bool, *, corrected: bool = False, conditional: bool = False) -> Verdict:
    """The verdict: on the statement as written, else on its corrected form, else on a part of it.

    Parameters
    ----------
    as_written : bool
        The statement is true on every instance that it speaks of.
    corrected : bool
        What was meant, written right, is true on all of them.
    conditional : bool
        The statement is true on those instances that meet a condition.

    Examples
    --------
    >>> judge(False, corrected=True), judge(False)
    (<Verdict.MISPRINT: 'misprint'>, <Verdict.FAILS: 'fails'>)
    """
    if as_written:
        return Verdict.HOLDS
    if corrected:
        return Verdict.MISPRINT
    return Verdict.CONDITION if conditional else Verdict.FAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The answer to a question; ``corrected`` and ``brief`` may have formulas as TeX."""

    verdict: Verdict
    finding: str
    searched: str
    corrected: str | None = None  # shown unless the claim holds
    brief: str | None = None  # the same in a few words; all of it unless given
    evidence: tuple[Evidence, ...] = ()
    counterexample: tuple[str, ...] | None = None
    partition: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A claim before it is checked.

    Attributes
    ----------
    id, number, section, kind, title, statement
        As in :class:`anonymatch.paper.claim.Claim`, formulas as TeX between dollar signs.
    ask : function
        Computes the finding.
    seconds : float
        Predicted, without what it needs.
    needs : str
        What it shares with others: "" for nothing, "survey" for all small graphs, "play" for best
        play on all of them too.
    """

    id: str
    number: int
    section: str
    kind: str
    title: str
    statement: str
    ask: Callable[[ClaimContext], Finding]
    seconds: float
    needs: str
    added: bool = False

    def answer(self, run: ClaimContext) -> Claim:
        """Compute it now."""
        start = time.perf_counter()
        finding = self.ask(run)
        right = finding.verdict is Verdict.HOLDS
        corrected = None if right else finding.corrected
        typeset = Typeset(
            title=self.title,
            statement=self.statement,
            corrected=corrected,
            brief=None if right else finding.brief or corrected,
        )
        return Claim(
            id=self.id,
            number=self.number,
            section=self.section,
            kind=self.kind,
            title=as_text(self.title),
            statement=as_text(self.statement),
            verdict=finding.verdict,
            corrected=_text(typeset.corrected),
            brief=_text(typeset.brief),
            finding=finding.finding,
            evidence=finding.evidence,
            counterexample=finding.counterexample,
            partition=finding.partition,
            searched=finding.searched,
            seconds=time.perf_counter() - start,
            typeset=typeset,
            added=self.added,
        )


def _text(sentence: str | None) -> str | None:
    return None if sentence is None else as_text(sentence)


def question(
    claim_id: str,
    number: int,
    *,
    section: str,
    kind: str,
    title: str,
    statement: str,
    seconds: float = 0.02,
    needs: str = "",
    added: bool = False,
) -> Callable[[Callable[[ClaimContext], Finding]], Question]:
    """Turn a function that computes a finding into a question."""

    def make(ask: Callable[[ClaimContext], Finding]) -> Question:
        return Question(
            id=claim_id,
            number=number,
            section=section,
            kind=kind,
            title=title,
            statement=statement,
            ask=ask,
            seconds=seconds,
            needs=needs,
            added=added,
        )

    return make
