"""check(): every claim of the paper, computed now."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.running import Budget, Execution, Progress, tells_misfits
from anonymatch.theory.claims.claim import Checks, Claim, Typeset, Verdict, close_ids
from anonymatch.theory.claims.notation import as_text

if TYPE_CHECKING:
    from anonymatch.theory.claims.question import Check, ClaimContext


_MEMORY = {False: 1.3e8, True: 6e8}  # bytes, by thorough: measured 80 and 470 MB


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
    if not allowed.allows(seconds, _MEMORY[run.thorough]):
        raise allowed.refusal("checking these claims", seconds, _MEMORY[run.thorough])
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
