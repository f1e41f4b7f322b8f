"""What a run has recorded, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.cli import words
from anonymatch.cli.screens import answers
from anonymatch.running import time_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.running import CheckpointRecord

__all__ = ["run_page"]

_WORDS = {
    "counting.exact.glynn._count": "count by Glynn's formula",
    "counting.exact.glynn._count_double": "count by Glynn's formula, over doubles",
    "counting.exact.glynn._minors": "minors by Glynn's formula",
    "counting.exact.glynn._minors_double": "probabilities by Glynn's formula",
    "counting.exact.ryser._count": "count by Ryser's sum",
    "counting.exact.band.BandPlan.count": "count of a band",
    "counting.exact.band.BandPlan.real": "count of a band, over doubles",
    "counting.exact.band.BandPlan.probabilities": "probabilities of a band",
    "counting.exact.band_stretches._digits": "count of a band, in stretches",
    "counting.exact.band_stretches._doubles": "ways along a band, in stretches",
    "counting.exact.band_stretches._probabilities": "probabilities of a band, in stretches",
    "counting.exact.frontier_parts._exact": "counts by frontier, in parts",
    "counting.exact.frontier_parts._real": "probabilities by frontier, in parts",
    "counting.approximate.importance._tree_draws": "guided draws",
    "counting.approximate.importance._path_draws": "plain draws",
    "counting.approximate.importance._followed": "weights of chains",
    "counting.approximate.importance._stretch": "stretches of chains",
    "counting.approximate.nested_bound._tally": "draws for a promise",
    "counting.approximate.nested_bound._sample": "exact samples",
    "paper.enumeration._extended": "all small graphs",
    "paper.small_graphs._through": "their matchings",
    "paper.play._attacks": "attacks on them",
}


def run_page(title: str, found: CheckpointRecord, *, top: int) -> list[RenderableType]:
    """How much is recorded, how much is left, and the jobs: those begun last first."""
    recorded = sum(job.recorded for job in found.jobs)
    left = "not known yet" if found.left is None else time_in_words(found.left)
    lines = [
        ("recorded", words.plural(recorded, "chunk"), "finished parts that are not done again"),
        ("done", words.share(found.done), "of the predicted work that was begun"),
        ("left", "nothing" if found.left == 0 else left, "at the pace of the last session"),
        ("sessions", f"{found.sessions:,}", "times that it was started"),
    ]
    table = answers.columns("job", right=("recorded", "of", "state"))
    jobs = found.jobs[::-1] if top == 0 else found.jobs[::-1][:top]
    for job in jobs:
        state = "finished" if job.finished else "open"
        name = _WORDS.get(job.what) or words.name(job.what)
        table.add_row(name, f"{job.recorded:,}", f"{job.number:,}", state)
    page = [
        answers.heading(
            f"{title}: {words.name(found.graph)}, by anonymatch {words.name(found.code)}"
        ),
        answers.figures(lines),
        answers.indented(table),
    ]
    if len(jobs) < len(found.jobs):
        more = words.plural(len(found.jobs) - len(jobs), "job")
        page.append(answers.paragraph(f"... and {more} before them; --top 0 shows all"))
    return page
