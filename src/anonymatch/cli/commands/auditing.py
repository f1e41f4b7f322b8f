"""The main job: is this system good enough, and for whom is it worst? One system or several."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import anonymatch as am
from anonymatch.cli import json_output, saving
from anonymatch.cli.app import app, top_option
from anonymatch.cli.console import MISSED, note, show, watch
from anonymatch.cli.figures import FigureOptions
from anonymatch.cli.options import Options, command, option, size, whole
from anonymatch.cli.reading import FileOptions, FilesOptions, about, observe
from anonymatch.mixes import has_rounds
from anonymatch.running import Progress
from anonymatch.tables import Release, TableObservation

__all__: list[str] = []

_LONG = 20_000  # pairs of kinds of people and classes of rows whose matching may take long
_ACTS = ("json", "budget", "memory", "threads", "cluster", "resume", "seed")


def _thresholds(kind: str) -> str:
    """The names of thresholds, with examples: as the table of figures is when help is shown."""
    from anonymatch import audits

    return audits.gates_in_words(getattr(audits, kind))


Log = Annotated[
    Path, typer.Argument(metavar="FILE", help="A message log, a simulator's log, or a table.")
]
Threshold = Annotated[
    float | None,
    option(
        "--threshold",
        "Effective set size: the share of users below it is told (5 unless told).",
        metavar="SIZE",
        parser=size,
    ),
]
Steps = Annotated[
    int,
    option("--steps", "Exposures of the campaign (10 unless told).", metavar="T", parser=whole(0)),
]
Html = Annotated[Path | None, option("--html", "Also write a page with pictures.", metavar="FILE")]


@command(app, acts=_ACTS)
def audit(
    *,
    file: Log,
    reading: FileOptions,
    html: Html = None,
    csv: Annotated[
        Path | None,
        option(
            "--csv",
            "Also save the table of users (.csv, .tsv, .parquet, .json, .jsonl).",
            metavar="FILE",
        ),
    ] = None,
    drawn: FigureOptions,
    fail_under: Annotated[
        list[str] | None,
        option(
            "--fail-under",
            lambda: f"Exit with code 1 if a figure is below N: {_thresholds('AT_LEAST')}.",
            metavar="NAME=N",
        ),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        option(
            "--fail-over",
            lambda: f"Exit with code 1 if a figure exceeds N: {_thresholds('AT_MOST')}.",
            metavar="NAME=N",
        ),
    ] = None,
    strict: Annotated[
        bool,
        option(
            "--strict",
            "Also exit with code 1 if a threshold is within the sampling error of the traffic.",
        ),
    ] = False,
    threshold: Threshold = None,
    steps: Steps = 10,
    top: Annotated[int, top_option("Worst users")] = 20,
    options: Options,
) -> int | None:
    """Is this system good enough, and for whom is it worst? Everything in one answer.

    The attacker sees both ends: messages that enter and leave.
    With the links of a network (--source network) the attacker
    sees every link, and with --corrupt also inside some mixes. The
    headline is the mean Shannon entropy of the posterior about one
    message (unlinkability), with that of the worst 5 % and 1 %.
    Costs are latency and dummy (cover) traffic. If the log has the
    ground truth, the calibration of the probabilities is checked.
    """
    from anonymatch.audits import AT_LEAST, AT_MOST, audit_charts, parse_gates

    thresholds = parse_gates(fail_under or [], AT_LEAST) | parse_gates(fail_over or [], AT_MOST)
    saving.check_target(csv)
    reading.check(1)
    first = None if options.json else _FirstFigures(file)
    observation = observe(file, options, reading, early=first)
    of_table = isinstance(observation, TableObservation)
    if first is not None and isinstance(observation, TableObservation):
        first.if_long(observation.release)
    if of_table and any(text.replace(" ", "").startswith("k=") for text in fail_under or ()):
        raise am.InputError(
            "of a released table k has several meanings: say k-anonymity=N, or global (1,k)=N"
        )
    options.executor(observation.graph)  # a file of a run is about this graph
    all_designs = options.json or html is not None or drawn.figures is not None
    shown = "designs" if all_designs else "best_design"
    result = _audit(
        file, observation, options, threshold=threshold, steps=steps, top=top, shown=shown
    )
    part = reading.columns or reading.since or reading.until
    rounds = "half_life" in thresholds and not part and has_rounds(file)
    if isinstance(result, am.MixAudit) and rounds:
        result = replace(result, disclosure=_rounds(file, options))
    gates = am.check_gates(result, thresholds, strict=strict)
    if csv is not None:
        saving.save(result.frame.to_dict(as_series=True), csv)
    if html is not None:
        from anonymatch.reporting import audit_html, write_html

        write_html(audit_html(result, command=_command(), gates=gates), html)
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
        json_output.print_json(result.to_dict() | {"gates": lines})
    else:
        from anonymatch.cli.screens import audit, release

        if isinstance(result, am.TableAudit):
            show(*release.release_screen(result, gates))
        else:
            show(*audit.audit_screen(result, gates))
    for path in (csv, html):
        if path is not None:
            note(f"wrote {path}")
    drawn.write(audit_charts(result))
    return MISSED if any(gate.passed is False for gate in gates) else None


@command(app, acts=_ACTS)
def compare(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Two logs or tables, or more.")
    ],
    reading: FilesOptions,
    html: Html = None,
    drawn: FigureOptions,
    threshold: Threshold = None,
    steps: Steps = 10,
    options: Options,
) -> None:
    """Which setting is better? Audits side by side. --law once for all, or once for each."""
    from anonymatch.audits import comparison_charts

    files = list(files)
    if len(files) == 1 and reading.law is not None and len(reading.law) > 1:
        files *= len(reading.law)  # one log under several laws
    if len(files) < 2:
        raise am.InputError("to compare takes two files, or one file and several --law")
    reading.check(len(files))
    audits, names = [], []
    for k, path in enumerate(files):
        observation = observe(path, options, reading, k)
        audits.append(
            _audit(
                path,
                observation,
                options,
                threshold=threshold,
                steps=steps,
                top=20,
                shown="designs" if options.json else None,
            )
        )
        several_laws = files.count(path) > 1 and reading.law is not None and len(reading.law) > 1
        names.append(str(reading.law_of(k)) if several_laws else path.name)
    comparison = am.compare(audits, names)
    if html is not None:
        from anonymatch.reporting import comparison_html, write_html

        write_html(comparison_html(comparison, command=_command()), html)
    if options.json:
        json_output.print_json(comparison.to_dict())
    else:
        from anonymatch.cli.screens import audit

        show(*audit.comparison_screen(comparison))
    if html is not None:
        note(f"wrote {html}")
    drawn.write(comparison_charts(comparison))


def _audit(
    path: Path,
    observation: am.mixes.Observation,
    options: Options,
    *,
    threshold: float | None,
    steps: int,
    top: int,
    shown: str | None,
) -> am.Audit:
    """The audit, and what is ``shown`` of it that is computed late: while there is a bar."""
    from anonymatch.audits import ExposedAudit

    def work(tell: Progress) -> am.Audit:
        result: am.Audit = am.audit(
            observation,
            name=path.name,
            threshold=threshold,
            steps=steps,
            top=top,
            budget=options.effort(),
            seed=options.draw_seed,
            executor=options.executor(),
            progress=tell,
        )
        if shown is not None and isinstance(result, ExposedAudit):
            getattr(result, shown)
        return result

    with about(path):
        return watch(f"auditing {path.name}", work)


def _rounds(path: Path, options: Options) -> am.Disclosure:
    """What rounds tell, which a threshold of the half-life asks for."""
    with about(path):
        return watch(
            f"rounds of {path.name}",
            lambda tell: am.rounds(
                path,
                budget=options.effort(),
                seed=options.draw_seed,
                executor=options.executor(),
                progress=tell,
            ),
        )


class _FirstFigures:
    """Shows what equal rows decide, once, before people and rows are matched."""

    def __init__(self, file: Path) -> None:
        self._file, self._shown = file, False

    def __call__(self, release: Release) -> None:
        from anonymatch.cli.screens.release import first_screen

        if not self._shown:
            self._shown = True
            show(*first_screen(self._file.name, release))

    def if_long(self, release: Release) -> None:
        """Show the first figures if matching the remaining pairs may take long."""
        if len(release.indices) >= _LONG:
            self(release)


def _command(arguments: Sequence[str] | None = None) -> str:
    """What was typed, for the report."""
    return shlex.join(["anonymatch", *(sys.argv[1:] if arguments is None else arguments)])
