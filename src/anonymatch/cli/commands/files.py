"""Commands about files: the example that comes with the package, and other formats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anonymatch as am
from anonymatch.base.options import argument, option, whole
from anonymatch.base.text import as_option
from anonymatch.cli import json_output, saving
from anonymatch.cli.command import command
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, html_option
from anonymatch.cli.reading import graph_of, observe
from anonymatch.mixes import ReadOptions, TrafficOptions
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["EXAMPLE", "LAW", "LOG", "demo_screen"]

_OF_LAWS = ("network", "link", "cover", "loss", "messages", "rate")  # options without rounds


@dataclass(frozen=True, kw_only=True)
class _Demo:
    html: Path | None = html_option()


@command(acts=("json",))
def demo(*, asked: _Demo, options: Options) -> None:
    """Audit the log that comes with the package. Explains each figure."""
    if asked.html is not None:
        saving.check_targets([LOG], [asked.html])
    audit = watch("auditing", lambda tell: am.audit(LOG, law=LAW, top=6, progress=tell))
    if asked.html is not None:
        audit.report(asked.html)
    if options.json:
        json_output.print_json(audit.to_dict())
    else:
        show(*demo_screen(audit))
    if asked.html is not None:
        note(f"wrote {asked.html}; open it in a browser")


@dataclass(frozen=True, kw_only=True)
class _Converted:
    file: Path = argument("FILE", "Graph, message log, rings or released table.")
    out: Path = argument("OUT", "The same graph in another format.")


@command(acts=("json", "threads"))
def convert(*, asked: _Converted, reading: ReadOptions, options: Options) -> None:
    """Write the graph in another format, given by the suffix of OUT. Logs become edge lists."""
    graph = graph_of(observe(asked.file, options, reading), options)
    am.write(graph, asked.out)
    _wrote(asked.out, options, json_output.graph_record(graph), repr(graph))


@dataclass(frozen=True, kw_only=True)
class _Synthesized:
    law: str = argument("LAW", "Delay law, such as window:1,5; or --law LAW.", read=str)
    out: Path | None = argument("OUT", "File for the log: .csv, .tsv or .parquet.", default=None)
    law_: str | None = option(None, "The law, instead of the first argument.", metavar="LAW")
    rounds: int | None = option(
        None,
        "Number of rounds: a log of users who stay the same, without a law.",
        metavar="R",
        read=whole(1),
        group="Rounds",
    )
    friends: int | None = option(
        None,
        "Number of contacts of each user.",
        metavar="M",
        shown="3",
        read=whole(1),
        group="Rounds",
    )
    batch: int | None = option(
        None,
        "Number of messages per round.",
        metavar="B",
        shown="10",
        read=whole(1),
        group="Rounds",
    )


@command(acts=("json", "seed"))
def synthesize(*, asked: _Synthesized, traffic: TrafficOptions, options: Options) -> None:
    """Simulate a message log under a law, with the ground truth. For examples, tests and plans."""
    from anonymatch.mixes import parse_law, synthesize, write_messages

    how = dict(vars(traffic))
    if asked.rounds is not None:
        changed = {
            name: how[name] for name in _OF_LAWS if how[name] != getattr(TrafficOptions, name)
        }
        _refuse(changed, "is not for rounds; leave it out")
        drawn = {name: getattr(asked, name) for name in ("rounds", "friends", "batch")}
        people = {name: how[name] for name in ("users", "receivers")}
        given = {name: value for name, value in (drawn | people).items() if value is not None}
        _synthesize_rounds(_only_out(asked.law, asked.out, asked.law_), options, **given)
        return
    _refuse({"friends": asked.friends, "batch": asked.batch}, "is for rounds; give --rounds, too")
    law, out = asked.law, asked.out
    if out is None:  # the one argument is where the log goes
        if asked.law_ is None and traffic.network is None:
            raise am.InputError(f"{law}: say where the log goes, too: LAW OUT")
        law, out = asked.law_ or "exponential:1", Path(law)
    elif asked.law_ is not None:
        raise am.InputError(f"the law is given twice, as {law} and as --law {asked.law_}; keep one")
    if traffic.network is not None:
        _synthesize_network(out, options, law=parse_law(law), **how)
        return
    if how.pop("link"):
        raise am.InputError("--link is for a network; give --network, or leave it out")
    del how["network"]
    log = synthesize(parse_law(law), seed=options.draw_seed, **how)
    write_messages(log, out)
    entered, left = len(log.arrivals), len(log.departures)
    sizes = {"arrivals": entered, "departures": left}
    _wrote(out, options, sizes, f"{entered:,} messages in, {left:,} out")


def _wrote(out: Path, options: Options, sizes: dict[str, Any], text: str) -> None:
    if options.json:
        json_output.print_json({"path": str(out)} | sizes)
    else:
        print(f"wrote {out}: {text}")


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


def _synthesize_rounds(out: Path, options: Options, **how: Any) -> None:
    from anonymatch.disclosure import synthesize_rounds, write_rounds

    log = watch("drawing", lambda _: synthesize_rounds(seed=options.draw_seed, **how))
    write_rounds(log, out)
    sizes = {"rounds": log.n_rounds, "users": len(log.users), "messages": log.n_messages}
    _wrote(out, options, sizes, f"{log.n_rounds:,} rounds, {log.n_messages:,} messages")


def _synthesize_network(out: Path, options: Options, **how: Any) -> None:
    from anonymatch.mixes import synthesize_network, write_network

    log = watch("drawing", lambda _: synthesize_network(seed=options.draw_seed, **how))
    write_network(log, out)
    entered = int(log["message"].n_unique())
    sizes = {"rows": log.height, "messages": entered}
    _wrote(out, options, sizes, f"{entered:,} messages, {log.height:,} link events")


EXAMPLE = Path(__file__).parents[2] / "examples" / "mix.csv"
LOG = EXAMPLE.with_name("mix_log.csv")
LAW = "window:1,6"

_INTRODUCTION = (
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
    from anonymatch.audits import audit_report

    report = audit_report(result, whole=False)
    heading, *rest = terminal.report_screen(report, title=result.name, say=as_option)
    return [heading, terminal.paragraph(_INTRODUCTION), *rest, terminal.paragraph(_NEXT)]
