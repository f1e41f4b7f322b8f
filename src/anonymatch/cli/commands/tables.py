"""Released tables: re-identification risk, and changes that reduce it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymatch.base.options import argument
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.commands.auditing import AuditOptions, run_audit
from anonymatch.cli.console import MISSED, note, notes, watch
from anonymatch.cli.options import WORK, Options, file_option
from anonymatch.cli.presenting import present
from anonymatch.cli.reading import about
from anonymatch.cli.saving import FigureOptions
from anonymatch.mixes import ReadOptions
from anonymatch.tables import ImproveOptions, TableOptions

__all__ = ["improve_table"]


@dataclass(frozen=True, kw_only=True)
class _File:
    file: Path = argument("RELEASED", "The released table.")


@command(acts=WORK)
def audit(
    *,
    where: _File,
    table: TableOptions,
    asked: AuditOptions,
    drawn: FigureOptions,
    options: Options,
) -> int | None:
    """How anonymous are the people of a released table? Re-identification risk and k-anonymity.

    The attacker knows the quasi-identifiers of everybody in the original table. The audit reports
    the risks (prosecutor, journalist, marketer), every privacy model, data utility, and the people
    who are re-identified most easily.
    """
    given = ReadOptions(source="released", **vars(table))
    return run_audit(where.file, given, asked, drawn, options)


@dataclass(frozen=True, kw_only=True)
class _Released(_File):
    out: Path | None = file_option("Save the improved table.")


@command(acts=("json", "budget"))
def improve(
    *, where: _Released, table: TableOptions, asked: ImproveOptions, options: Options
) -> int | None:
    """How should a table be generalised? Reach targets at the least information loss.

    The command lists which cells to generalise and which rows to suppress.
    """
    return improve_table(where.file, where.out, table, asked, options)


def improve_table(
    file: Path, out: Path | None, table: TableOptions, asked: ImproveOptions, options: Options
) -> int | None:
    """Generalise a released table until it reaches all targets, and show the changes."""
    from anonymatch.tables import generalise, open_released, parse_targets, write_generalised

    wanted = parse_targets(list(asked.target or ["k-anonymity=5"]))
    with notes(), about(file):
        given = ReadOptions(**vars(table))
        observation = watch(
            f"reading {file.name}", lambda _: open_released(file, given, None, None)
        )
        release = observation.release
        assert release is not None
        found = watch(
            "improving",
            lambda _: generalise(release, wanted, suppress=asked.suppress, budget=options.effort()),
        )
    if out is not None and found.reached:
        write_generalised(found, file, out)
    if options.json:
        json_output.print_json(json_output.plain(found.to_dict()))
        return None if found.reached else MISSED
    from anonymatch.audits import improved_report

    present(improved_report(found, file.name, observation.notes))
    if out is not None:
        saved = f"saved the changed table in {out}"
        unsaved = f"{out} is not written because a target is not reached"
        note(saved if found.reached else unsaved)
    return None if found.reached else MISSED
