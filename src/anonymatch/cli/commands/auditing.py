"""audit and compare: how anonymous is a system, and which one is better?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anonymatch as am
from anonymatch.base.options import above_zero, argument, option, repeated, whole
from anonymatch.cli import json_output, saving
from anonymatch.cli.command import command
from anonymatch.cli.console import MISSED, note, show, watch
from anonymatch.cli.options import WORK, Options, file_option, html_option, top_option
from anonymatch.cli.presenting import answer, present
from anonymatch.cli.reading import about, observe
from anonymatch.cli.saving import FigureOptions
from anonymatch.mixes import LogOptions, Observation, ReadOptions, has_rounds
from anonymatch.rings import RingObservation, RingOptions
from anonymatch.running import Progress
from anonymatch.tables import Release, TableObservation, TableOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["AuditOptions", "run_audit"]

_TABLES = tuple(each.name for each in fields(TableOptions))
_RINGS = tuple(each.name for each in fields(RingOptions))


def _gates(kind: str, text: str) -> Callable[[], str]:
    """The line of an option for thresholds, with the figures that have one when it is shown."""

    def line() -> str:
        from anonymatch import audits

        return f"{text}: {audits.gates_in_words(getattr(audits, kind))}."

    return line


@dataclass(frozen=True, kw_only=True)
class _Reported:
    threshold: float | None = option(
        None,
        "Report the share whose effective anonymity set is below SIZE.",
        metavar="SIZE",
        shown="5",
        read=above_zero("a set size"),
        group="Output",
    )
    steps: int = option(
        10, "Number of users exposed one after another.", metavar="T", read=whole(0), group="Output"
    )
    html: Path | None = html_option()


@dataclass(frozen=True, kw_only=True)
class AuditOptions(_Reported):
    """What an audit reports."""

    fail_under: Sequence[str] | None = option(
        None,
        _gates("AT_LEAST", "Exit with code 1 if a figure is below N"),
        metavar="NAME=N",
        many=True,
        group="Thresholds",
    )
    fail_over: Sequence[str] | None = option(
        None,
        _gates("AT_MOST", "Exit with code 1 if a figure exceeds N"),
        metavar="NAME=N",
        many=True,
        group="Thresholds",
    )
    strict: bool = option(
        False,
        "Also exit with code 1 if a threshold is within the sampling error of the traffic.",
        group="Thresholds",
    )
    csv: Path | None = file_option(
        "Also save the table of messages, people or inputs (.csv, .tsv, .parquet, .json, .jsonl)."
    )
    top: int = top_option("Least anonymous messages, people or inputs")


@dataclass(frozen=True, kw_only=True)
class _File:
    file: Path = argument("FILE", "Message log, simulator's log, links of a network, or a graph.")
    explain: bool = option(
        False,
        "Show the solver that is chosen for the log, and the cost of the other solvers.",
        group="Computation",
    )


@command(acts=WORK, hidden=(*_TABLES, *_RINGS, "view"), sources=("messages", "network"))
def audit(
    *,
    where: _File,
    reading: ReadOptions,
    asked: AuditOptions,
    drawn: FigureOptions,
    options: Options,
) -> int | None:
    """Is this system good enough, and for whom is it worst? Everything in one answer.

    The attacker sees both ends: messages that enter and leave. With the links of a network
    (--source network) the attacker sees every link, and controls the mixes that --corrupt names.
    The headline is the mean Shannon entropy of the posterior about one message (unlinkability),
    with that of the worst 5 % and 1 %. Costs are latency and dummy (cover) traffic. If the log has
    the ground truth, the calibration of the probabilities is checked.

    'anonymatch table audit' is for released tables, and 'anonymatch rings audit' for ring
    signatures. 'anonymatch audit --source KIND --help' lists the options of one kind of file, such
    as mixim (simulator) or mixmatch (flow pairs).
    """
    from anonymatch.problems import detected

    problem = detected(where.file)
    if problem is not None:
        return answer(
            problem,
            where.file,
            options,
            fail_under=asked.fail_under or (),
            fail_over=asked.fail_over or (),
            strict=asked.strict,
            top=asked.top,
            html=asked.html,
        )
    if reading.original is not None:
        note("'audit --original' is now 'anonymatch table audit'; it works until 0.3.0")
    return run_audit(
        where.file, reading, asked, drawn, options, forwarding=True, explain=where.explain
    )


def run_audit(
    file: Path,
    reading: ReadOptions,
    asked: AuditOptions,
    drawn: FigureOptions,
    options: Options,
    *,
    forwarding: bool = False,
    explain: bool = False,
) -> int | None:
    """Audit a file of any kind; ``forwarding`` says which command would have been its own."""
    from anonymatch.audits import AT_LEAST, AT_MOST, audit_charts, audit_report, parse_gates

    thresholds = parse_gates(list(asked.fail_under or ()), AT_LEAST)
    thresholds |= parse_gates(list(asked.fail_over or ()), AT_MOST)
    saving.check_target(asked.csv)
    first = None if options.json else _FirstFigures(file)
    observation = observe(file, options, reading, early=first)
    if forwarding and isinstance(observation, RingObservation):
        note(f"{file.name} has ring signatures; this is 'anonymatch rings audit'")
    of_table = isinstance(observation, TableObservation)
    if first is not None and isinstance(observation, TableObservation):
        first.if_long(observation.release)
    if of_table and any(text.replace(" ", "").startswith("k=") for text in asked.fail_under or ()):
        raise am.InputError(
            "of a released table k has several meanings: say k-anonymity=N, or global (1,k)=N"
        )
    options.executor(observation.graph)  # a file of a run is about this graph
    all_designs = options.json or asked.html is not None or drawn.figures is not None
    result = _audit(
        file,
        observation,
        options,
        threshold=asked.threshold,
        steps=asked.steps,
        top=asked.top,
        shown="designs" if all_designs else "best_design",
    )
    part = reading.columns or reading.since or reading.until
    rounds = "half_life" in thresholds and not part and has_rounds(file)
    if isinstance(result, am.MixAudit) and rounds:
        with about(file):
            disclosure = watch(
                f"rounds of {file.name}", lambda tell: am.rounds(file, **options.drawing(tell))
            )
        result = replace(result, disclosure=disclosure)
    gates = am.check_gates(result, thresholds, strict=asked.strict)
    if asked.csv is not None:
        saving.save(result.frame.to_dict(as_series=True), asked.csv)
    record = None
    if options.json:
        lines = [
            {
                "name": gate.name,
                "threshold": gate.threshold,
                "reached": gate.reached,
                "within_sampling_error": gate.within_error,
                "passed": gate.passed,
            }
            for gate in gates
        ]
        solvers = {"solvers": _solvers(observation, options)} if explain else {}
        record = result.to_dict() | {"gates": lines} | solvers
    if record is None or asked.html is not None:
        missed = {gate.name: gate.threshold for gate in gates if gate.missed}
        report = audit_report(result, missed=missed, whole=asked.html is not None)
        present(
            report,
            title=result.name,
            gates=gates,
            top=asked.top,
            record=record,
            html=asked.html,
        )
    else:
        json_output.print_json(record)
    if explain and record is None:
        show(_solver_table(observation, options))
    saving.note_written(asked.csv)
    drawn.write(audit_charts(result))
    return MISSED if any(gate.passed is False for gate in gates) else None


def _solvers(observation: Observation, options: Options) -> list[dict[str, object]]:
    """Return what every solver offers for the log; the chosen one is the first that applies."""
    from anonymatch.audits import explained

    return [
        {"name": name, "chosen": chosen, "applies": hasattr(offer, "seconds"), **offer._asdict()}
        for name, offer, chosen in explained(observation, options.effort())
    ]


def _solver_table(observation: Observation, options: Options) -> RenderableType:
    from anonymatch.reporting.terminal import bullets

    lines = []
    for one in _solvers(observation, options):
        cost = "does not apply"
        if one["applies"]:
            kind = "exact" if one["exact"] else "estimated"
            cost = f"{'chosen, ' if one['chosen'] else ''}{kind}, about {one['seconds']:.2g} s"
        lines.append(f"{one['name']}: {cost} ({one['why']})")
    return bullets("Solvers:", lines or ["none: this is not the log of one mix"])


@dataclass(frozen=True, kw_only=True)
class _Compared(_Reported):
    files: Sequence[Path] = argument("FILE...", "At least two logs or graphs.", many=True)
    law: Sequence[str] | None = repeated(LogOptions, "law")


@command(acts=WORK, hidden=_RINGS, without=(*_TABLES, "departures"))
def compare(
    *, asked: _Compared, reading: ReadOptions, drawn: FigureOptions, options: Options
) -> None:
    """Which setting is better? Audits side by side. Give --law once, or once per audit."""
    from anonymatch.audits import comparison_charts, comparison_report

    files, laws = list(asked.files), list(asked.law or ())
    if len(files) == 1 and len(laws) > 1:
        files *= len(laws)  # one log under several laws
    if len(files) < 2:
        raise am.InputError("compare needs two files, or one file and several --law")
    if len(laws) not in (0, 1, len(files)):
        raise am.InputError(f"--law is given {len(laws)} times for {len(files)} files")
    audits, names = [], []
    for k, path in enumerate(files):
        law = laws[min(k, len(laws) - 1)] if laws else None
        audits.append(
            _audit(
                path,
                observe(path, options, replace(reading, law=law)),
                options,
                threshold=asked.threshold,
                steps=asked.steps,
                top=20,
                shown="designs" if options.json else None,
            )
        )
        names.append(str(law) if files.count(path) > 1 and len(laws) > 1 else path.name)
    comparison = am.compare(audits, names)
    record = comparison.to_dict() if options.json else None
    report = comparison_report(comparison, whole=asked.html is not None)
    present(report, record=record, html=asked.html)
    drawn.write(comparison_charts(comparison))


def _audit(
    path: Path, observation: Observation, options: Options, *, shown: str | None, **asked: Any
) -> am.Audit:
    """The audit, and what is ``shown`` of it that is computed late: while there is a bar."""
    from anonymatch.audits import ExposedAudit

    def work(tell: Progress) -> am.Audit:
        result: am.Audit = am.audit(observation, name=path.name, **asked, **options.drawing(tell))
        if shown is not None and isinstance(result, ExposedAudit):
            getattr(result, shown)
        return result

    with about(path):
        return watch(f"auditing {path.name}", work)


class _FirstFigures:
    """Shows what equal rows decide, once, before people and rows are matched."""

    _long = 20_000  # pairs of kinds of people and classes of rows whose matching may take long

    def __init__(self, file: Path) -> None:
        self._file, self._shown = file, False

    def __call__(self, release: Release) -> None:
        from anonymatch.audits import first_report

        if not self._shown:
            self._shown = True
            present(first_report(self._file.name, release))

    def if_long(self, release: Release) -> None:
        """Show the first figures if matching the remaining pairs may take long."""
        if len(release.indices) >= self._long:
            self(release)
