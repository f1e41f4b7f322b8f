"""What a run has recorded, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base import numbers, text
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.running import CheckpointRecord

__all__ = ["checkpoint_screen"]

_WORDS = {
    "counting.exact.glynn._count": "count by Glynn's formula",
    "counting.exact.glynn._count_double": "count by Glynn's formula, over doubles",
    "counting.exact.glynn._minors": "minors by Glynn's formula",
    "counting.exact.glynn._minors_double": "probabilities by Glynn's formula",
    "counting.exact.ryser._count": "count by Ryser's sum",
    "counting.exact.band.BandOrdering.count": "count of a band",
    "counting.exact.band.BandOrdering.real": "count of a band, over doubles",
    "counting.exact.band.BandOrdering.probabilities": "probabilities of a band",
    "counting.exact.band._digits": "count of a band, in stretches",
    "counting.exact.band._doubles": "ways along a band, in stretches",
    "counting.exact.band._probabilities": "probabilities of a band, in stretches",
    "counting.exact.frontier._exact_part": "counts by frontier, in parts",
    "counting.exact.frontier._real_part": "probabilities by frontier, in parts",
    "counting.approximate.importance._tree_draws": "guided draws",
    "counting.approximate.importance._path_draws": "plain draws",
    "counting.approximate.importance._followed": "weights of chains",
    "counting.approximate.importance._stretch": "stretches of chains",
    "counting.approximate.nested_bound._tally": "draws for a promise",
    "counting.approximate.nested_bound._sample": "exact samples",
    "theory.claims.small_graphs._extended": "all small graphs",
    "theory.claims.small_graphs._through": "their matchings",
    "theory.claims.question._attacks": "attacks on them",
}


def checkpoint_screen(title: str, record: CheckpointRecord, *, top: int) -> list[RenderableType]:
    """How much is recorded, how much is left, and the jobs: those begun last first."""
    recorded = sum(job.recorded for job in record.jobs)
    left = "not known yet" if record.left is None else numbers.time_in_words(record.left)
    lines = [
        ("recorded", numbers.plural(recorded, "chunk"), "finished parts that are not done again"),
        ("done", numbers.percent(record.done), "of the predicted work that was begun"),
        ("left", "nothing" if record.left == 0 else left, "at the pace of the last session"),
        ("sessions", f"{record.sessions:,}", "times that it was started"),
    ]
    table = terminal.columns("job", right=("recorded", "of", "state"))
    jobs = record.jobs[::-1] if top == 0 else record.jobs[::-1][:top]
    for job in jobs:
        state = "finished" if job.finished else "open"
        name = _WORDS.get(job.what) or text.name(job.what)
        table.add_row(name, f"{job.recorded:,}", f"{job.number:,}", state)
    screen = [
        terminal.heading(
            f"{title}: {text.name(record.graph)}, by anonymatch {text.name(record.code)}"
        ),
        terminal.figures(lines),
        terminal.indented(table),
    ]
    if len(jobs) < len(record.jobs):
        more = numbers.plural(len(record.jobs) - len(jobs), "job")
        screen.append(terminal.paragraph(f"... and {more} before them; --top 0 shows all"))
    return screen
