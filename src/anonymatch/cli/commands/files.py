"""Commands about files: the example that comes with the package, and other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anonymatch as am
from anonymatch.cli import records, saving
from anonymatch.cli.app import File, app
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.observing import OneWay, graph_of, observe
from anonymatch.cli.options import Options, above_zero, amount, command, option, whole

__all__: list[str] = []


@command(app, acts=("json",))
def demo(
    *,
    html: Annotated[
        Path | None, option("--html", "Also write a page with pictures.", metavar="FILE")
    ] = None,
    options: Options,
) -> None:
    """Audit the log that comes with the package, and say what each figure means."""
    from anonymatch.cli.demo import LAW, LOG, demo_page

    if html is not None:
        saving.check_places([LOG], [html])
    found = watch("auditing", lambda tell: am.audit(LOG, law=LAW, top=6, progress=tell))
    if html is not None:
        found.report(html)
    if options.json:
        records.print_json(found.to_dict())
    else:
        show(*demo_page(found))
    if html is not None:
        note(f"wrote {html}; open it in a browser")


@command(app, acts=("json", "threads"))
def convert(
    *,
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The same graph in another format.")],
    way: OneWay,
    options: Options,
) -> None:
    """Write the graph in another format; the suffix of OUT tells which. Logs become edge lists."""
    way.check(1)
    graph = graph_of(observe(file, options, way), options)
    am.write(graph, out)
    if options.json:
        records.print_json({"path": str(out)} | records.graph_record(graph))
        return
    print(f"wrote {out}: {graph!r}")


@command(app, acts=("json", "seed"))
def synthesize(
    *,
    law: Annotated[
        str, typer.Argument(metavar="LAW", help="How messages are delayed, such as window:1,5.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The log: .csv, .tsv or .parquet.")],
    messages: Annotated[
        int, option("--messages", "Messages in (1000 unless told).", metavar="N", parser=whole(1))
    ] = 1000,
    rate: Annotated[
        float,
        option(
            "--rate",
            "Messages in a second (1 unless told).",
            metavar="R",
            parser=above_zero("rate"),
        ),
    ] = 1.0,
    users: Annotated[
        int | None,
        option("--users", "Senders (one a message unless told).", metavar="N", parser=whole(1)),
    ] = None,
    receivers: Annotated[
        int | None,
        option(
            "--receivers", "Receivers (one a message unless told).", metavar="N", parser=whole(1)
        ),
    ] = None,
    cover: Annotated[
        float,
        option(
            "--cover",
            "Messages out that are nobody's, for each real one.",
            metavar="SHARE",
            parser=amount,
        ),
    ] = 0.0,
    loss: Annotated[
        float,
        option(
            "--loss", "Share of the messages that never come out.", metavar="SHARE", parser=amount
        ),
    ] = 0.0,
    options: Options,
) -> None:
    """Make a message log by a law, with the truth in it: for examples, tests and plans."""
    from anonymatch.sources import parse_law, synthesize, write_messages

    log = synthesize(
        parse_law(law),
        messages=messages,
        rate=rate,
        users=users,
        receivers=receivers,
        cover=cover,
        loss=loss,
        seed=options.draw_seed,
    )
    write_messages(log, out)
    entered, left = len(log.arrivals), len(log.departures)
    if options.json:
        records.print_json({"path": str(out), "arrivals": entered, "departures": left})
        return
    print(f"wrote {out}: {entered:,} messages in, {left:,} out")
