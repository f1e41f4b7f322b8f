"""check(): every claim of the paper, computed now."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.paper.claim import Checks, close_ids
from anonymatch.running import Budget, Execution, Progress, tells_misfits

if TYPE_CHECKING:
    from anonymatch.paper.question import Question

__all__ = ["check", "questions"]

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
        An iterable of :class:`anonymatch.paper.Claim` in the order of the paper, also by id.

    Raises
    ------
    InputError
        If there is no such claim or folder.
    BudgetError
        If it is predicted to take longer than allowed; nothing was started.

    Examples
    --------
    >>> import anonymatch.paper
    >>> claim = anonymatch.paper.check("lemma-deanonymisation")["lemma-deanonymisation"]
    >>> print(claim.verdict)
    fails
    >>> claim.counterexample[4]
    '0000001111'
    """
    start = time.perf_counter()
    directory = _directory(folder)
    chosen = _chosen(claims)
    from anonymatch.paper.context import ClaimContext

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


def questions() -> dict[str, str]:
    """Ids of all claims with what the paper says, in the order of the paper.

    Examples
    --------
    >>> import anonymatch.paper
    >>> list(anonymatch.paper.questions())[:3]
    ['figure-1', 'figure-2', 'figure-3']
    """
    return {question.id: question.statement for question in _all()}


def _all() -> tuple[Question, ...]:
    """All questions; imported here because they need the whole package."""
    from anonymatch.paper.catalogue import QUESTIONS

    return QUESTIONS


def _chosen(claims: str | Iterable[str] | None) -> list[Question]:
    everything = _all()
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
