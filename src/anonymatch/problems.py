"""Kinds of problems: how each is recognised, solved and reported.

The command line and the studio read this table. To add a problem, write its folder with a
``report(result)``, and register one row here; renderers, gates and JSON need no change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import InputError

if TYPE_CHECKING:
    from anonymatch.reporting.report import Report

__all__ = ["PROBLEMS", "Problem", "detected", "registered", "reported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A kind of problem.

    Attributes
    ----------
    kind, title : str
        Its name in addresses and messages, and on screens.
    command : str
        The command that solves it.
    solve : callable
        From a file, with ``seed``, ``budget``, ``executor`` and ``progress``, to a result.
    report : callable
        From a result to a `Report`.
    accepts : callable
        Whether a result is of this kind.
    detect : callable or None
        Whether a file is of this kind; None if only its own command reads such files.
    """

    kind: str
    title: str
    command: str
    solve: Callable[..., Any]
    report: Callable[[Any], Report]
    accepts: Callable[[Any], bool]
    detect: Callable[[str | os.PathLike[str]], bool] | None = None


def _rounds(file: Any, **options: Any) -> Any:
    from anonymatch.disclosure import rounds

    return rounds(file, **options)


def _rounds_report(result: Any) -> Report:
    from anonymatch.disclosure import rounds_report

    return rounds_report(result)


def _plan(file: Any, **options: Any) -> Any:
    from anonymatch.planning import plan

    return plan(file, **options)


def _plan_report(result: Any) -> Report:
    from anonymatch.planning import plan_report

    return plan_report(result)


def _watch_report(result: Any) -> Report:
    from anonymatch.monitoring import watch_report

    return watch_report(result)


def _watch(file: Any, **_: Any) -> Any:
    """Return the last window of a file of gauges."""
    from anonymatch.monitoring import Windows, reports_of_lines

    with open(file, "rb") as stream:
        return list(reports_of_lines(stream, Windows(every=300.0)))[-1]


def _is(name: str) -> Callable[[Any], bool]:
    """Return a test for a class by its name, which imports nothing."""
    return lambda result: type(result).__name__ == name


_PROBLEMS = {
    each.kind: each
    for each in (
        Problem(
            kind="rounds",
            title="Disclosure over rounds",
            command="rounds",
            solve=_rounds,
            report=_rounds_report,
            accepts=_is("Disclosure"),
        ),
        Problem(
            kind="plan",
            title="Plan of a mix network",
            command="plan",
            solve=_plan,
            report=_plan_report,
            accepts=_is("NetworkPlan"),
        ),
        Problem(
            kind="watch",
            title="Running mixes",
            command="watch",
            solve=_watch,
            report=_watch_report,
            accepts=_is("Window"),
        ),
    )
}

PROBLEMS: Mapping[str, Problem] = MappingProxyType(_PROBLEMS)
"""Problems by kind."""


@contextmanager
def registered(problem: Problem) -> Iterator[None]:
    """Add a problem while the context lasts."""
    if problem.kind in _PROBLEMS:
        raise InputError(f"there is a problem of the kind {problem.kind!r} already")
    _PROBLEMS[problem.kind] = problem
    try:
        yield
    finally:
        del _PROBLEMS[problem.kind]


def detected(file: str | os.PathLike[str]) -> Problem | None:
    """Return the registered problem that recognises a file; None if none does."""
    for problem in PROBLEMS.values():
        if problem.detect is not None and problem.detect(file):
            return problem
    return None


def reported(result: Any) -> Report:
    """Return the report of any result.

    Examples
    --------
    >>> import anonymatch as am
    >>> reported(am.rounds(am.disclosure.RoundLog.of([(1, "ab", "xy")]))).title
    'Rounds: who writes to whom'
    """
    for problem in PROBLEMS.values():
        if problem.accepts(result):
            return problem.report(result)
    raise InputError(f"there is no report for {type(result).__name__}")
