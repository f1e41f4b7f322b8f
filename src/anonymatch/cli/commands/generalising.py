"""improve, of a released table: what to generalise and which rows to leave out."""

from __future__ import annotations

from pathlib import Path

from anonymatch.base.numbers import plural
from anonymatch.cli import json_output
from anonymatch.cli.console import MISSED, note, notes, show, watch
from anonymatch.cli.options import Options
from anonymatch.cli.reading import TableOptions, about

__all__ = ["improve_table"]


def improve_table(
    file: Path,
    table: TableOptions,
    targets: list[str],
    suppress: int,
    out: Path | None,
    options: Options,
) -> int | None:
    """Generalise a released table until it reaches all targets, and show the changes."""
    from anonymatch.tables import generalise, parse_targets, read_released, write_generalised

    wanted = parse_targets(targets)
    given = table.of_table()
    original = given.pop("original")
    with notes(), about(file):
        observation = watch(
            f"reading {file.name}", lambda _: read_released(original, file, **given)
        )
        release = observation.release
        found = watch(
            "improving",
            lambda _: generalise(release, wanted, suppress=suppress, budget=options.effort()),
        )
    if out is not None and found.reached:
        write_generalised(found, file, out)
    if options.json:
        json_output.print_json(json_output.plain(found.to_dict()))
        return None if found.reached else MISSED
    from anonymatch.cli.screens.release import generalised_screen

    show(
        *generalised_screen(
            found, f"{file.name}: {plural(release.n_rows, 'row')}", observation.notes
        )
    )
    if out is not None:
        saved = f"saved the changed table in {out}"
        note(saved if found.reached else f"{out} is not written because a target is not reached")
    return None if found.reached else MISSED
