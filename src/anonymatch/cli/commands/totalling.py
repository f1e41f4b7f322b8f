"""totals: logs of any length through one mix, in constant memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anonymatch as am
from anonymatch.base.numbers import percent
from anonymatch.base.options import argument, option
from anonymatch.base.text import several
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Log:
    file: Path = argument("FILE", "A .parquet log in order of time, with time and direction.")
    law: str = option(
        ...,
        "The mix: exponential, threshold, timed, pool, timed-pool, binomial or cottrell.",
        metavar="LAW",
    )


@command(acts=("json",))
def totals(*, asked: _Log, options: Options) -> None:
    """What does a log of any length show, in constant memory?

    The exact figures of an audit for all messages together, without names and tables. No message is
    lost: messages that have not left when the log ends are assumed to be still in the mix.
    """
    file = asked.file
    result = watch("adding up", lambda tell: am.totals(file, law=asked.law, progress=tell))
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
    show(terminal.heading(f"{file}: {result.messages:,} messages"), terminal.figures(lines))
    if result.inside_at_end:
        left = several(result.inside_at_end, "message")
        note(f"{left} had not come out; if they were lost, messages hide among fewer")
