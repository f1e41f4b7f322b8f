"""Users who stay the same over rounds: how long does anonymity last?"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.cli import json_output, saving
from anonymatch.cli.app import app
from anonymatch.cli.console import MISSED, note, watch
from anonymatch.cli.figures import FigureOptions
from anonymatch.cli.options import Options, above_zero, command, option, whole
from anonymatch.cli.presenting import present
from anonymatch.cli.reading import about

if TYPE_CHECKING:
    from anonymatch.disclosure import RoundLog

__all__: list[str] = []

_ACTS = ("json", "budget", "memory", "threads", "cluster", "resume", "seed")


def _methods() -> str:
    from anonymatch.disclosure import METHODS

    return f"The attack: {', '.join(METHODS)} (gibbs unless told)."


@command(app, acts=_ACTS)
def rounds(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A log of rounds: round,direction,user,behaviour."),
    ],
    law: Annotated[
        str | None,
        option(
            "--law",
            "FILE is a message log instead: how messages are delayed, such as exponential:5.",
            metavar="LAW",
        ),
    ] = None,
    method: Annotated[str | None, option("--method", _methods(), metavar="NAME")] = None,
    presence: Annotated[
        bool,
        option("--presence", "Who was online whenever a pseudonym acted: --method presence."),
    ] = False,
    target: Annotated[str | None, option("--target", "Only this user.", metavar="USER")] = None,
    friends: Annotated[
        int | None,
        option(
            "--friends",
            "Behaviours that the target writes to, for --method exact.",
            metavar="M",
            parser=whole(1),
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        option(
            "--alpha",
            "Strength of the Dirichlet prior of profiles [default: learnt from the log].",
            metavar="A",
            parser=above_zero("number"),
        ),
    ] = None,
    compare: Annotated[
        bool, option("--compare", "Compare every applicable method in one table.")
    ] = False,
    html: Annotated[
        Path | None, option("--html", "Also write a page with pictures.", metavar="FILE")
    ] = None,
    csv: Annotated[
        Path | None,
        option(
            "--csv",
            "Also save who writes to whom (.csv, .tsv, .parquet, .json, .jsonl).",
            metavar="FILE",
        ),
    ] = None,
    drawn: FigureOptions,
    fail_under: Annotated[
        list[str] | None,
        option(
            "--fail-under",
            "Exit with code 1 if a figure is below N: half_life=50 (rounds), bits=1 (at the end).",
            metavar="NAME=N",
        ),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        option(
            "--fail-over",
            "Exit with code 1 if a figure is above N: right=0.5 (share of guesses), believed=0.5.",
            metavar="NAME=N",
        ),
    ] = None,
    top: Annotated[
        int,
        option(
            "--top",
            "Rows of each table to show; 0 for all [default: 10].",
            metavar="N",
            parser=whole(0),
        ),
    ] = 10,
    options: Options,
) -> int | None:
    """How long does anonymity last? Who writes to whom, as rounds go by.

    The attacker sees who sends and who receives in every round.
    Users who write to the same few behaviours again and again
    become known: the half-life says after how many rounds half of
    the bits about a message's receiver are gone.
    """
    from anonymatch.disclosure import ROUND_GATES, rounds_report
    from anonymatch.reporting import judge, parse_thresholds

    if presence:
        if method not in (None, "presence"):
            raise InputError(f"--presence is a method, and so is --method {method}; keep one")
        method = "presence"
    _check_method(method or "gibbs", target=target, friends=friends, compare=compare)
    thresholds = parse_thresholds(fail_under or [], ROUND_GATES, at_most=False)
    thresholds |= parse_thresholds(fail_over or [], ROUND_GATES, at_most=True)
    saving.check_target(csv)
    given: dict[str, Any] = {} if law is None else {"law": law}
    if compare:
        alone = {
            "--method": method, "--html": html, "--csv": csv, "--figures": drawn.figures,
            "--fail-under": fail_under, "--fail-over": fail_over,
        }  # fmt: skip
        for name, value in alone.items():
            if value:
                raise InputError(f"--compare is a table of its own; leave {name} out")
        _compare(file, target, options, friends=friends, alpha=alpha, **given)
        return None
    options.limit_readers()
    with about(file):
        log = _log(file, law)
        result = watch(
            f"rounds of {file.name}",
            lambda tell: am.rounds(
                log,
                method=method or "gibbs",
                target=_user(log, target),
                friends=friends,
                alpha=alpha,
                seed=options.draw_seed,
                budget=options.effort(),
                executor=options.executor(),
                progress=tell,
                **given,
            ),
        )
    report = rounds_report(result, learnt=alpha is None, most=None if top == 0 else max(top, 200))
    gates = judge(report, thresholds)
    if csv is not None:
        saving.save(result.profiles.to_dict(as_series=True), csv)
    record = json_output.rounds_record(result) if options.json else None
    present(report, title=file.name, gates=gates, top=top, record=record, html=html)
    if csv is not None:
        note(f"wrote {csv}")
    drawn.write(report.drawings())
    return MISSED if any(gate.passed is False for gate in gates) else None


def _check_method(method: str, *, target: str | None, friends: int | None, compare: bool) -> None:
    """Refuse what no method, or not this one, takes: before the file is read."""
    from anonymatch.disclosure import METHODS

    if method not in METHODS:
        near = did_you_mean(method, METHODS)
        raise InputError(
            f"--method {method}: there is no such method; use {', '.join(METHODS)}{near}"
        )
    if method == "exact" and (target is None or friends is None):
        raise InputError("--method exact is about one user; give --target USER and --friends M")
    if friends is not None and method != "exact" and not compare:
        raise InputError(f"--friends is for --method exact, not {method}; leave it out")
    if friends is not None and target is None:
        raise InputError("--friends is about one user; give --target USER, too")


def _log(file: Path, law: str | None) -> RoundLog | Path:
    """The log, read once; a message log is read by who knows its law."""
    from anonymatch.disclosure import read_rounds

    if law is not None:
        return file
    return watch(f"reading {file.name}", lambda _: read_rounds(file))


def _user(log: RoundLog | Path, target: str | None) -> Hashable | None:
    """The user by what its name looks like: names may be numbers in some formats."""
    if target is None or isinstance(log, Path):
        return target
    return next((user for user in log.users if str(user) == target), target)


def _compare(file: Path, target: str | None, options: Options, **more: Any) -> None:
    from anonymatch.disclosure import compare_methods, methods_report

    options.limit_readers()
    with about(file):
        log = _log(file, more.get("law"))
        comparison = watch(
            f"comparing on {file.name}",
            lambda tell: compare_methods(
                log,
                target=_user(log, target),
                seed=options.draw_seed,
                budget=options.effort(),
                executor=options.executor(),
                progress=tell,
                **more,
            ),
        )
    record = json_output.method_comparison_record(comparison) if options.json else None
    present(methods_report(comparison), title=file.name, record=record)
