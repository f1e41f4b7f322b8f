"""rounds: how long does anonymity last for users who stay the same?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.options import argument, option
from anonymatch.base.text import did_you_mean
from anonymatch.cli import json_output, saving
from anonymatch.cli.command import command
from anonymatch.cli.console import MISSED, watch
from anonymatch.cli.options import WORK, Options, file_option, html_option, top_option
from anonymatch.cli.presenting import present
from anonymatch.cli.reading import about
from anonymatch.cli.saving import FigureOptions
from anonymatch.disclosure import RoundLog, RoundsOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Rounds:
    file: Path = argument("FILE", "Log of rounds: round,direction,user,behaviour.")
    presence: bool = option(
        False,
        "Find users who were online whenever a pseudonym acted (--method presence).",
        group="Attack",
    )
    compare: bool = option(False, "Compare every applicable method in one table.", group="Attack")
    fail_under: Sequence[str] | None = option(
        None,
        "Exit with code 1 if a figure is below N: half_life=50 (rounds), bits=1 (at the end).",
        metavar="NAME=N",
        many=True,
        group="Thresholds",
    )
    fail_over: Sequence[str] | None = option(
        None,
        "Exit with code 1 if a figure is above N: right=0.5 (share of guesses), believed=0.5.",
        metavar="NAME=N",
        many=True,
        group="Thresholds",
    )
    html: Path | None = html_option()
    csv: Path | None = file_option(
        "Also save the sender profiles (.csv, .tsv, .parquet, .json, .jsonl)."
    )
    top: int = top_option("Rows of each table", 10)


@command(acts=WORK)
def rounds(
    *, how: RoundsOptions, asked: _Rounds, drawn: FigureOptions, options: Options
) -> int | None:
    """How long does anonymity last? Who writes to whom, as rounds go by.

    The attacker sees who sends and who receives in every round. Users who write to the same few
    contacts again and again are identified. The half-life is the number of rounds after which half
    of the bits about a message's receiver are gone.
    """
    from anonymatch.disclosure import ROUND_GATES, rounds_report
    from anonymatch.reporting import judge, parse_thresholds

    method, target, law = how.method, how.target, how.law
    if asked.presence:
        if method not in (None, "presence"):
            raise InputError(f"--presence is a method, and so is --method {method}; keep one")
        method = "presence"
    _check_method(method or "gibbs", target=target, friends=how.friends, compare=asked.compare)
    thresholds = parse_thresholds(list(asked.fail_under or ()), ROUND_GATES, at_most=False)
    thresholds |= parse_thresholds(list(asked.fail_over or ()), ROUND_GATES, at_most=True)
    saving.check_target(asked.csv)
    given: dict[str, Any] = {"friends": how.friends, "alpha": how.alpha}
    if law is not None:
        given["law"] = law
    if asked.compare:
        alone = {
            "--method": method,
            "--html": asked.html,
            "--csv": asked.csv,
            "--figures": drawn.figures,
            "--fail-under": asked.fail_under,
            "--fail-over": asked.fail_over,
        }
        for name, value in alone.items():
            if value:
                raise InputError(f"--compare is a table of its own; leave {name} out")
        _compare(asked.file, target, options, **given)
        return None
    options.limit_readers()
    file = asked.file
    with about(file):
        log = _log(file, law)
        result = watch(
            f"rounds of {file.name}",
            lambda tell: am.rounds(
                log,
                method=method or "gibbs",
                target=_user(log, target),
                **given,
                **options.drawing(tell),
            ),
        )
    most = None if asked.top == 0 else max(asked.top, 200)
    report = rounds_report(result, learnt=how.alpha is None, most=most)
    gates = judge(report, thresholds)
    if asked.csv is not None:
        saving.save(result.profiles.to_dict(as_series=True), asked.csv)
    record = json_output.rounds_record(result, gates) if options.json else None
    present(report, title=file.name, gates=gates, top=asked.top, record=record, html=asked.html)
    saving.note_written(asked.csv)
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
                log, target=_user(log, target), **more, **options.drawing(tell)
            ),
        )
    record = json_output.method_comparison_record(comparison) if options.json else None
    present(methods_report(comparison), title=file.name, record=record)
