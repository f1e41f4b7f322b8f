"""Plan a mix network: which mix, which delay, how much cover, and what nothing can do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import anonymatch as am
from anonymatch.base.numbers import amount
from anonymatch.base.text import as_option
from anonymatch.cli import saving
from anonymatch.cli.app import app
from anonymatch.cli.console import MISSED, note, watch
from anonymatch.cli.figures import FigureOptions
from anonymatch.cli.options import Options, above_zero, command, from_zero, option, whole
from anonymatch.cli.presenting import present

__all__: list[str] = []


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give numbers with commas between them") from None


def _share(text: str) -> float:
    """0.01 or 1%."""
    percent = text.strip().endswith("%")
    try:
        value = float(text.strip().rstrip("%"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no share; give 0.01 or 1%") from None
    return value / 100 if percent else value


def _worst(text: str) -> tuple[float, float]:
    share, _, among = text.partition("=")
    try:
        return _share(share), float(among)
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give SHARE=NUMBER, such as 1%=20") from None


def _corrupt(text: str) -> int | tuple[int, ...]:
    try:
        numbers = tuple(int(value) for value in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give a number, or one a layer such as 1,1,1") from None
    return numbers if len(numbers) > 1 else numbers[0]


def _burst(text: str) -> tuple[float, float]:
    numbers = _numbers(text)
    if len(numbers) != 2:
        raise typer.BadParameter(f"{text!r}: give MEAN,GAP such as 5,0.2")
    return numbers[0], numbers[1]


@command(app, acts=("json", "budget", "threads", "cluster", "resume", "seed"))
def plan(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Plan in TOML. Command-line options override it."),
    ] = None,
    preset: Annotated[
        str | None,
        option("--preset", "Start from katzenpost, nym or loopix as shipped.", metavar="NAME"),
    ] = None,
    users: Annotated[
        int | None, option("--users", "How many users.", metavar="N", parser=whole(1))
    ] = None,
    rate: Annotated[
        float | None,
        option("--rate", "Messages a second of each.", metavar="R", parser=above_zero("rate")),
    ] = None,
    hours: Annotated[
        Any,
        option("--hours", "Relative rates by hour.", metavar="R,R,...", parser=_numbers),
    ] = None,
    burst: Annotated[
        Any,
        option(
            "--burst",
            "Messages in bursts: number, seconds apart.",
            metavar="MEAN,GAP",
            parser=_burst,
        ),
    ] = None,
    arrivals: Annotated[
        Path | None,
        option("--arrivals", "Instead: a log of messages with a column time.", metavar="FILE"),
    ] = None,
    network: Annotated[
        str | None,
        option(
            "--network",
            "one, cascade:LAYERS, LAYERSxWIDTH or free:HOPS,MIXES; 3x1,3,10 or 3x1-80 sweeps "
            "widths, 3 leaves them open [default: 3x3].",
            metavar="SHAPE",
        ),
    ] = None,
    link: Annotated[
        float | None,
        option("--link", "Seconds on every link.", metavar="S", parser=from_zero("seconds")),
    ] = None,
    law: Annotated[
        str | None,
        option(
            "--law",
            "Mixes to try: exponential, pool, threshold, timed, timed-pool, binomial (all unless "
            "told); with parameters, such as pool:2,4, once for each.",
            metavar="NAMES",
        ),
    ] = None,
    cover: Annotated[
        Any,
        option(
            "--cover",
            "Cover packets for each message, levels with commas (0,1,3 unless told).",
            metavar="C,C,...",
            parser=_numbers,
        ),
    ] = None,
    corrupt_mixes: Annotated[
        Any,
        option(
            "--corrupt-mixes",
            "Mixes that the attacker has: anywhere, or so many a layer.",
            metavar="N|N,N,...",
            parser=_corrupt,
        ),
    ] = None,
    corrupt_users: Annotated[
        Any,
        option(
            "--corrupt-users", "Share of packets that he sends.", metavar="SHARE", parser=_share
        ),
    ] = None,
    active: Annotated[
        str | None,
        option("--active", "none, or n-1: what that attack costs is told.", metavar="KIND"),
    ] = None,
    worst: Annotated[
        Any,
        option(
            "--worst",
            "Target: the worst share of messages hide among so many.",
            metavar="1%=N",
            parser=_worst,
        ),
    ] = None,
    mean_delay: Annotated[
        float | None,
        option(
            "--mean-delay",
            "Target: seconds at most, on average.",
            metavar="S",
            parser=above_zero("delay"),
        ),
    ] = None,
    delay_99: Annotated[
        float | None,
        option(
            "--delay-99",
            "Target: seconds at most for 99 %.",
            metavar="S",
            parser=above_zero("delay"),
        ),
    ] = None,
    packets: Annotated[
        float | None,
        option(
            "--packets",
            "Target: packets a message at most.",
            metavar="P",
            parser=above_zero("number"),
        ),
    ] = None,
    identified: Annotated[
        Any,
        option(
            "--identified",
            "Target: share known for certain at most.",
            metavar="SHARE",
            parser=_share,
        ),
    ] = None,
    emit: Annotated[
        str | None,
        option(
            "--emit",
            "Print the setting alone, as katzenpost, nym or toml has it. The mean delay then "
            "includes the queue of such a client.",
            metavar="LANGUAGE",
        ),
    ] = None,
    require: Annotated[
        bool, option("--require", "End with code 1 if no setting meets the targets.")
    ] = False,
    html: Annotated[
        Path | None, option("--html", "Also write a page with pictures.", metavar="FILE")
    ] = None,
    csv: Annotated[
        Path | None,
        option("--csv", "Also save every setting tried (.csv, .parquet, ...).", metavar="FILE"),
    ] = None,
    drawn: FigureOptions,
    options: Options,
) -> int | None:
    """Which mix, which delay, how much cover? And what can nothing reach?

    The cheapest setting that meets the targets, confirmed by a
    simulation of its own; what it gives the worst messages, with
    intervals; and the ceiling that no mix exceeds. The attacker
    sees every link.
    """
    from anonymatch.planning import plan_report, plan_thresholds
    from anonymatch.reporting import judge

    saving.check_target(csv)
    result = watch(
        "planning",
        lambda tell: am.plan(
            file,
            preset=preset,
            users=users,
            rate=rate,
            hours=hours,
            burst=burst,
            arrivals=arrivals,
            network=network,
            link=link,
            laws=None if law is None else _laws(law),
            cover=cover,
            corrupt_mixes=corrupt_mixes,
            corrupt_users=corrupt_users,
            active=active,
            worst=worst,
            mean_delay=mean_delay,
            delay_99=delay_99,
            packets=packets,
            identified=identified,
            emit=emit,
            seed=options.draw_seed,
            budget=options.effort(),
            executor=options.executor(),
            progress=tell,
        ),
    )
    for remark in result.notes:
        note(remark.worded(as_option))
    written = None if emit is None else result.emit(emit)
    if csv is not None:
        saving.save(result.settings.to_dict(as_series=True), csv)
    report = plan_report(result, half_life=not options.json and written is None)
    gates = judge(report, plan_thresholds(result)) if report.figures else ()
    record = result.to_dict() if options.json else None
    present(report, gates=gates, record=record, instead=written, html=html)
    if written is not None and not options.json:
        _emitted_notes(result, emit)
    if csv is not None:
        note(f"wrote {csv}")
    drawn.write(report.drawings())
    return MISSED if require and not result.met else None


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


def _laws(text: str) -> list[str]:
    """Names with commas between them; a law with parameters has commas of its own."""
    laws: list[str] = []
    for piece in text.split(","):
        if laws and ":" in laws[-1] and _is_number(piece):
            laws[-1] += f",{piece}"
        else:
            laws.append(piece.strip())
    return laws


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
