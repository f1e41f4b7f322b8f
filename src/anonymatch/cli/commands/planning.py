"""plan: which mix, which delay and how much cover traffic, and the bound for every mix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anonymatch as am
from anonymatch.base.numbers import amount
from anonymatch.base.options import argument, option
from anonymatch.base.text import as_option
from anonymatch.cli import saving
from anonymatch.cli.command import command
from anonymatch.cli.console import MISSED, note, watch
from anonymatch.cli.options import Options, file_option, html_option
from anonymatch.cli.presenting import present
from anonymatch.cli.saving import FigureOptions
from anonymatch.planning import PlanOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Planned:
    file: Path | None = argument(
        "[FILE]", "Plan in TOML. Command-line options override it.", default=None
    )
    emit: str | None = option(
        None,
        "Print only the setting, as katzenpost, nym or toml. The mean delay then includes the "
        "queue of that client.",
        metavar="LANGUAGE",
        group="Output",
    )
    require: bool = option(
        False, "Exit with code 1 if no setting meets the targets.", group="Output"
    )
    html: Path | None = html_option()
    csv: Path | None = file_option("Also save every setting tried (.csv, .parquet, ...).")


@command(acts=("json", "budget", "threads", "cluster", "resume", "seed"))
def plan(
    *, wanted: PlanOptions, asked: _Planned, drawn: FigureOptions, options: Options
) -> int | None:
    """Which mix, which delay, how much cover? And what is the upper bound?

    The cheapest setting that meets the targets, confirmed by a separate simulation, with the
    anonymity of its worst messages as intervals, and the upper bound for every mix. The attacker
    sees every link.
    """
    from anonymatch.planning import plan_report, plan_thresholds
    from anonymatch.reporting import judge

    saving.check_target(asked.csv)
    result = watch(
        "planning",
        lambda tell: am.plan(asked.file, wanted, emit=asked.emit, **options.drawing(tell)),
    )
    for remark in result.notes:
        note(remark.worded(as_option))
    written = None if asked.emit is None else result.emit(asked.emit)
    if asked.csv is not None:
        saving.save(result.settings.to_dict(as_series=True), asked.csv)
    report = plan_report(result, half_life=not options.json and written is None)
    gates = judge(report, plan_thresholds(result)) if report.figures else ()
    record = result.to_dict() if options.json else None
    present(report, gates=gates, record=record, instead=written, html=asked.html)
    if written is not None and not options.json:
        _emitted_notes(result, asked.emit)
    saving.note_written(asked.csv)
    drawn.write(report.drawings())
    return MISSED if asked.require and not result.met else None


def _emitted_notes(result: am.NetworkPlan, language: str | None) -> None:
    setting = result.best or result.nearest
    stream = None if setting is None or language == "toml" else setting.client()
    if setting is not None and stream is not None and setting.request.targets.mean_delay is None:
        note(
            f"a message waits {amount(stream.queue_delay)} s in the client's queue on average; ask "
            "for less with --mean-delay"
        )
    if not result.met:
        note(result.verdict)
