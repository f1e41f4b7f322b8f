"""Logs of any length through one mix, in constant memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anonymatch as am
from anonymatch.base.numbers import percent
from anonymatch.base.text import several
from anonymatch.cli import json_output
from anonymatch.cli.app import app
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, command, option

__all__: list[str] = []


@command(app, acts=("json",))
def totals(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A .parquet log in order of time, with time and direction."
        ),
    ],
    law: Annotated[
        str,
        option(
            "--law",
            "The mix: exponential, threshold, timed, pool, timed-pool, binomial or cottrell.",
            metavar="LAW",
        ),
    ],
    options: Options,
) -> None:
    """What does a log of any length show, in constant memory?

    All messages together and exact, as an audit has them, without
    names and tables. Nothing is lost: who has not come out by
    the end is taken to be inside.
    """
    result = watch("adding up", lambda tell: am.totals(file, law=law, progress=tell))
    if options.json:
        json_output.print_json(result.to_dict())
        return
    from anonymatch.reporting import terminal

    known = percent(result.identified / result.messages)
    lines = [
        ("entropy per message", f"{result.entropy:.4f} bits", "mean of the attacker's posterior"),
        (
            "worst 5 %, 1 %",
            f"{result.worst_5:.3f}, {result.worst_1:.3f} bits",
            "the worst share of the messages have no more entropy",
        ),
        ("min-entropy", f"{result.min_entropy:.4f} bits", "mean, against a single guess"),
        ("identified", f"{result.identified:,}", f"{known} of the messages are known for certain"),
        ("joint bits", f"{result.joint_bits:.4f} bits", "log2 of the matchings, per message"),
        (
            "ceiling",
            f"{result.ceiling:.4f} bits",
            "what no mix exceeds in the mean with as many inside",
        ),
        ("inside", f"{result.inside:.4g}", "messages in the mix before a departure, on average"),
        ("mean delay", f"{result.mean_delay:.4g} s", "from in to out"),
    ]
    show(
        terminal.heading(f"{file}: {result.messages:,} messages"),
        terminal.figures(lines),
    )
    if result.inside_at_end:
        left = several(result.inside_at_end, "message")
        note(f"{left} had not come out; if they were lost, messages hide among fewer")
