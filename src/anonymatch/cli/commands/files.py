"""Commands about files: the example that comes with the package, and other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import anonymatch as am
from anonymatch.cli import json_output, saving
from anonymatch.cli.app import File, app
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, above_zero, amount, command, option, whole
from anonymatch.cli.reading import FileOptions, graph_of, observe
from anonymatch.cli.screens import audit
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["EXAMPLE", "LAW", "LOG", "demo_screen"]


@command(app, acts=("json",))
def demo(
    *,
    html: Annotated[
        Path | None, option("--html", "Also write a page with pictures.", metavar="FILE")
    ] = None,
    options: Options,
) -> None:
    """Audit the log that comes with the package. Says what each figure means."""
    if html is not None:
        saving.check_targets([LOG], [html])
    audit = watch("auditing", lambda tell: am.audit(LOG, law=LAW, top=6, progress=tell))
    if html is not None:
        audit.report(html)
    if options.json:
        json_output.print_json(audit.to_dict())
    else:
        show(*demo_screen(audit))
    if html is not None:
        note(f"wrote {html}; open it in a browser")


@command(app, acts=("json", "threads"))
def convert(
    *,
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The same graph in another format.")],
    reading: FileOptions,
    options: Options,
) -> None:
    """Write the graph in another format. The suffix of OUT tells which; logs become edge lists."""
    reading.check(1)
    graph = graph_of(observe(file, options, reading), options)
    am.write(graph, out)
    if options.json:
        json_output.print_json({"path": str(out)} | json_output.graph_record(graph))
        return
    print(f"wrote {out}: {graph!r}")


@command(app, acts=("json", "seed"))
def synthesize(
    *,
    law: Annotated[
        str,
        typer.Argument(
            metavar="LAW",
            help="How messages are delayed, such as window:1,5; or --law LAW.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="The log: .csv, .tsv or .parquet.", show_default=False),
    ] = None,
    law_: Annotated[
        str | None, option("--law", "The law, instead of the first argument.", metavar="LAW")
    ] = None,
    network: Annotated[
        str | None,
        option(
            "--network",
            "All links of a network of such mixes: one, cascade:3, or 3x4 (layers x mixes).",
            metavar="SHAPE",
        ),
    ] = None,
    link: Annotated[
        float,
        option("--link", "Of a network: seconds on every link.", metavar="SECONDS", parser=amount),
    ] = 0.0,
    rounds: Annotated[
        int | None,
        option(
            "--rounds",
            "A log of so many rounds, of users who stay the same; it takes no law.",
            metavar="R",
            parser=whole(1),
        ),
    ] = None,
    friends: Annotated[
        int | None,
        option(
            "--friends",
            "Of rounds: receivers that each user writes to (3 unless told).",
            metavar="M",
            parser=whole(1),
        ),
    ] = None,
    batch: Annotated[
        int | None,
        option(
            "--batch", "Of rounds: messages in each (10 unless told).", metavar="B", parser=whole(1)
        ),
    ] = None,
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
        option(
            "--users",
            "Senders (one a message unless told; of rounds 100).",
            metavar="N",
            parser=whole(1),
        ),
    ] = None,
    receivers: Annotated[
        int | None,
        option(
            "--receivers",
            "Receivers (one a message unless told; of rounds as many as users).",
            metavar="N",
            parser=whole(1),
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
    """Make a message log by a law, with the truth in it. For examples, tests and plans."""
    from anonymatch.mixes import parse_law, synthesize, write_messages

    if rounds is not None:
        path = _only_out(law, out, law_)
        of_laws = {
            "network": network, "link": link, "cover": cover, "loss": loss,
            "messages": messages != 1000, "rate": rate != 1.0,
        }  # fmt: skip
        _refuse(of_laws, "is not for rounds; leave it out")
        _synthesize_rounds(
            path,
            options,
            rounds=rounds,
            **_given(friends=friends, batch=batch, users=users, receivers=receivers),
        )
        return
    _refuse({"friends": friends, "batch": batch}, "is for rounds; give --rounds, too")
    if out is None:  # the one argument is where the log goes
        if law_ is None and network is None:
            raise am.InputError(f"{law}: say where the log goes, too: LAW OUT")
        law, out = law_ or "exponential:1", Path(law)
    elif law_ is not None:
        raise am.InputError(f"the law is given twice, as {law} and as --law {law_}; keep one")
    if network is not None:
        _synthesize_network(
            out,
            options,
            network=network,
            law=parse_law(law),
            messages=messages,
            rate=rate,
            users=users,
            receivers=receivers,
            cover=cover,
            loss=loss,
            link=link,
        )
        return
    if link:
        raise am.InputError("--link is for a network; give --network, or leave it out")
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
        json_output.print_json({"path": str(out), "arrivals": entered, "departures": left})
        return
    print(f"wrote {out}: {entered:,} messages in, {left:,} out")


def _only_out(first: str, second: Path | None, law: str | None) -> Path:
    """Where a log without a law goes."""
    if second is None and law is None:
        return Path(first)
    raise am.InputError(f"--rounds takes no law; leave {law or first} out")


def _refuse(given: dict[str, Any], why: str) -> None:
    """Refuse options that would do nothing."""
    for name, value in given.items():
        if value:
            raise am.InputError(f"--{name} {why}")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _synthesize_rounds(out: Path, options: Options, **how: Any) -> None:
    from anonymatch.disclosure import synthesize_rounds, write_rounds

    log = watch("drawing", lambda _: synthesize_rounds(seed=options.draw_seed, **how))
    write_rounds(log, out)
    if options.json:
        sizes = {"rounds": log.n_rounds, "users": len(log.users), "messages": log.n_messages}
        json_output.print_json({"path": str(out)} | sizes)
        return
    print(f"wrote {out}: {log.n_rounds:,} rounds, {log.n_messages:,} messages")


def _synthesize_network(out: Path, options: Options, **how: Any) -> None:
    from anonymatch.mixes import synthesize_network, write_network

    log = watch("drawing", lambda _: synthesize_network(seed=options.draw_seed, **how))
    write_network(log, out)
    entered = int(log["message"].n_unique())
    if options.json:
        json_output.print_json({"path": str(out), "rows": log.height, "messages": entered})
        return
    print(f"wrote {out}: {entered:,} messages, {log.height:,} link events")


EXAMPLE = Path(__file__).parents[2] / "examples" / "mix.csv"
LOG = EXAMPLE.with_name("mix_log.csv")
LAW = "window:1,6"

_STORY = (
    "Twelve users each send a message through a mix, which holds it for one to six seconds. An "
    "attacker sees who sends when and which messages leave when, so each user fits a few of the "
    "messages. Which message is whose?"
)
_NEXT = (
    "Next: 'anonymatch audit FILE --law window:1,6' for a log of your own with the columns time, "
    "direction, user and behaviour; 'anonymatch count FILE' and its kin for a table of users and "
    "behaviours; 'anonymatch design --users 12 --edges 36' for a better system of the same cost."
)


def demo_screen(result: am.Audit) -> list[RenderableType]:
    """The story, the audit, and what to do next."""
    heading, *rest = audit.audit_screen(result)
    return [heading, terminal.paragraph(_STORY), *rest, terminal.paragraph(_NEXT)]
