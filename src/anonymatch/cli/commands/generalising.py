"""improve, of a released table: what to generalise and which rows to leave out."""

from __future__ import annotations

from pathlib import Path

from anonymatch.base.numbers import amount, percent, plural
from anonymatch.base.text import Message
from anonymatch.cli import json_output, words
from anonymatch.cli.console import MISSED, note, notes, show, watch
from anonymatch.cli.options import Options
from anonymatch.cli.reading import TableOptions, about

__all__ = ["improve_table"]

_SHOWN = 20  # steps


def improve_table(
    file: Path, table: TableOptions, target: str, suppress: int, out: Path | None, options: Options
) -> int | None:
    """Generalise a released table until it reaches a target, and say how."""
    from anonymatch.sources import read_released
    from anonymatch.tables import generalise, parse_target, write_generalised

    key, value = parse_target(target)
    given = table.of_table()
    original = given.pop("original")
    with notes(), about(file):
        observation = watch(
            f"reading {file.name}", lambda _: read_released(original, file, **given)
        )
        release = observation.release
        assert release is not None
        found = watch(
            "improving",
            lambda _: generalise(release, key, value, suppress=suppress, budget=options.effort()),
        )
    if out is not None and found.reached:
        write_generalised(found, file, out)
    if options.json:
        json_output.print_json(json_output.plain(found.to_dict()))
        return None if found.reached else MISSED
    from anonymatch.cli.screens import elements

    columns = [column.name for column in release.columns]
    steps = [step.in_words(columns) for step in found.steps[:_SHOWN]]
    if len(found.steps) > _SHOWN:
        steps.append(f"and {plural(len(found.steps) - _SHOWN, 'step')} more (--json has all)")
    reached = "reaches" if found.reached else "does not reach"
    said = f"{key} {reached} {amount(value)}"
    if found.value is not None:
        said += f": it is {amount(found.value)}"
    loss = f"Loss {percent(found.loss_before)} before, {percent(found.loss)} after"
    if found.optimum is not None:
        loss += f"; the best way to join classes has {percent(found.optimum)}"
    elif len(release.class_sizes) > len(columns):
        loss += "; greedy, there are too many classes to try all ways"
    show(
        elements.heading(f"{file.name}: {plural(release.n_rows, 'row')}"),
        elements.paragraph(f"{said}."),
        *(elements.paragraph(Message(one).worded(words.option)) for one in observation.notes),
        *([elements.bullets("What to change:", steps)] if steps else []),
        elements.paragraph(f"{loss}."),
    )
    if out is not None:
        saved = f"saved the changed table in {out}"
        note(saved if found.reached else f"{out} is not written, since the target is not reached")
    return None if found.reached else MISSED
