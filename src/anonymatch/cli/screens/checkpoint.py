"""What a run has recorded, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base import numbers, text
from anonymatch.cli.screens import answers
from anonymatch.running import time_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.running import CheckpointRecord

__all__ = ["checkpoint_screen"]

_WORDS = {
    "counting.signs._count": "count by signs",
    "counting.signs._count_double": "count by signs, over doubles",
    "counting.signs._minors": "minors by signs",
    "counting.signs._minors_double": "probabilities by signs",
    "counting.ryser._count": "count by Ryser's sum",
    "counting.band.BandWay.count": "count of a band",
    "counting.band.BandWay.real": "count of a band, over doubles",
    "counting.band.BandWay.probabilities": "probabilities of a band",
    "counting.band_stretches._digits": "count of a band, in stretches",
    "counting.band_stretches._doubles": "ways along a band, in stretches",
    "counting.band_stretches._probabilities": "probabilities of a band, in stretches",
    "counting.frontier_parts._exact": "counts by frontier, in parts",
    "counting.frontier_parts._real": "probabilities by frontier, in parts",
    "counting.guide._tree_draws": "guided draws",
    "counting.guide._path_draws": "plain draws",
    "counting.guide._followed": "weights of chains",
    "counting.guide._stretch": "stretches of chains",
    "counting.guarantee._tally": "draws for a promise",
    "counting.guarantee._sample": "exact samples",
    "paper.enumeration._extended": "all small graphs",
    "paper.search._through": "their matchings",
    "paper.play._attacks": "attacks on them",
}


def checkpoint_screen(title: str, record: CheckpointRecord, *, top: int) -> list[RenderableType]:
    """How much is recorded, how much is left, and the jobs: those begun last first."""
    recorded = sum(job.recorded for job in record.jobs)
    left = "not known yet" if record.left is None else time_in_words(record.left)
    lines = [
        ("recorded", numbers.plural(recorded, "chunk"), "finished parts that are not done again"),
        ("done", numbers.percent(record.done), "of the predicted work that was begun"),
        ("left", "nothing" if record.left == 0 else left, "at the pace of the last session"),
        ("sessions", f"{record.sessions:,}", "times that it was started"),
    ]
    table = answers.columns("job", right=("recorded", "of", "state"))
    jobs = record.jobs[::-1] if top == 0 else record.jobs[::-1][:top]
    for job in jobs:
        state = "finished" if job.finished else "open"
        name = _WORDS.get(job.what) or text.name(job.what)
        table.add_row(name, f"{job.recorded:,}", f"{job.number:,}", state)
    screen = [
        answers.heading(
            f"{title}: {text.name(record.graph)}, by anonymatch {text.name(record.code)}"
        ),
        answers.figures(lines),
        answers.indented(table),
    ]
    if len(jobs) < len(record.jobs):
        more = numbers.plural(len(record.jobs) - len(jobs), "job")
        screen.append(answers.paragraph(f"... and {more} before them; --top 0 shows all"))
    return screen
