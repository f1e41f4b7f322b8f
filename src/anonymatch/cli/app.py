"""The commands: what each takes, the one call it makes, and what it prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import anonymatch as am
from anonymatch.cli import records
from anonymatch.cli.console import INTERRUPTED, notes, show, watch
from anonymatch.cli.options import Options, command
from anonymatch.errors import InputError
from anonymatch.graph.structure import structure

if TYPE_CHECKING:
    from anonymatch.counting.posterior import Posterior
    from anonymatch.effort import Progress

__all__ = ["parse"]

# Both the click that typer carries and the click of older typers call this UsageError.
_Usage: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="anonymatch",
    help=(
        "Measure anonymity: count the ways users can be matched to what an attacker saw.\n\n"
        "FILE is a table user,behaviour[,weight] as .csv, .tsv or .parquet, or a graph as .mtx, "
        ".npz, .json or .jsonl. Start with 'anonymatch demo'."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Who may have done what.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Save as .csv, .tsv, .parquet, .json or .jsonl."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show the plan, block by block, and why.")]
Top = Annotated[int, typer.Option("--top", metavar="N", min=0, help="Users to show; 0 for all.")]


def parse(arguments: list[str]) -> Callable[[], None] | None:
    """The work that the arguments ask for; None if the answer was given (help, version)."""
    program = typer.main.get_command(app)
    try:
        work: Any = program.main(args=arguments, prog_name="anonymatch", standalone_mode=False)
    except _Usage as error:
        where = error.ctx.command_path if error.ctx is not None else "anonymatch"
        text = error.format_message().strip().rstrip(".?")
        raise InputError(f"{text[:1].lower()}{text[1:]}; see '{where} --help'") from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    if work == INTERRUPTED:  # newer typers return the code of Ctrl-C
        raise KeyboardInterrupt
    return work if callable(work) else None


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """What the program is, and its version."""
    if version:
        print(f"anonymatch {am.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def load(path: Path, options: Options) -> am.Graph:
    """Read FILE, with its notes on standard error."""
    options.limit_readers()
    with notes():
        return watch(f"reading {path.name}", lambda _: am.read(path))


@command(app)
def count(*, file: File, explain: Explain = False, options: Options) -> None:
    """How many ways can users be matched to what was seen? In bits, and exactly."""
    graph = load(file, options)
    answer = watch("counting", lambda tell: am.count(graph, **options.keywords(tell)))
    if options.json:
        records.print_json(records.count_record(answer) | records.graph_record(graph))
        return
    from anonymatch.cli import pages

    show(*pages.count_page(file.name, graph, answer, digits=options.digits, explain=explain))


@command(app)
def posterior(
    *,
    file: File,
    out: Out = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Also the number of matchings through each edge.")
    ] = False,
    top: Top = 20,
    explain: Explain = False,
    options: Options,
) -> None:
    """Who is exposed? The chance that each user did each behaviour."""
    from anonymatch.cli import exposed, pages, saving

    saving.check_target(out)
    graph = load(file, options)
    chances = watch("chances", lambda tell: _posterior(graph, options, tell, counts=counts))
    if out is not None:
        saving.save(_edge_columns(chances, counts=counts), out)
    if options.json:
        record = records.posterior_record(chances, counts=counts)
        records.print_json(record | records.graph_record(graph))
        return
    found = exposed.certainty(chances)
    show(*pages.posterior_page(file.name, chances, found, top=top, explain=explain))
    if out is not None:
        print(f"saved {graph.n_edges:,} chances in {out}", file=sys.stderr)


def _posterior(graph: am.Graph, options: Options, tell: Progress, *, counts: bool) -> Posterior:
    chances = am.posterior(graph, **options.keywords(tell))
    if counts:
        if not chances.exact:
            raise InputError("--counts: the weights make floating-point chances; add --exact")
        _ = chances.counts  # long work, so it belongs here and not to the printing
    return chances


def _edge_columns(chances: Posterior, *, counts: bool) -> dict[str, Any]:
    from anonymatch.cli.words import all_digits

    graph = chances.graph
    columns: dict[str, Any] = {
        "user": [graph.users[i] for i in graph.rows().tolist()],
        "behaviour": [graph.behaviours[j] for j in graph.indices.tolist()],
        "chance": chances.chances,
    }
    if counts:
        columns["count"] = [all_digits(value) for value in chances.counts.by_edge.tolist()]
    return columns


@command(app)
def sample(
    *,
    file: File,
    size: Annotated[int, typer.Option("--size", metavar="N", min=0, help="How many.")] = 1,
    out: Out = None,
    options: Options,
) -> None:
    """Draw matchings at random, each as likely as any other (or as it weighs)."""
    from anonymatch.cli import pages, saving

    saving.check_target(out)
    graph = load(file, options)
    drawn = watch("drawing", lambda tell: am.sample(graph, size, **options.drawing(tell)))
    if out is not None:
        saving.save(_drawn_columns(graph, drawn), out)
    if options.json:
        matchings = [[records.label(graph.behaviours[j]) for j in row] for row in drawn.tolist()]
        record = {"users": [records.label(user) for user in graph.users], "matchings": matchings}
        records.print_json(record | {"seed": options.draw_seed} | records.graph_record(graph))
    elif out is None:
        show(*pages.sample_page(file.name, graph, drawn, options.draw_seed))
    else:
        print(f"saved {size:,} matchings in {out}", file=sys.stderr)


def _drawn_columns(graph: am.Graph, drawn: Any) -> dict[str, Any]:
    import numpy as np

    size, users = drawn.shape
    return {
        "matching": np.repeat(np.arange(size), users),
        "user": list(graph.users) * size,
        "behaviour": [graph.behaviours[j] for j in drawn.ravel().tolist()],
    }


@command(app)
def bounds(*, file: File, options: Options) -> None:
    """What can be proven without counting: at least, at most."""
    graph = load(file, options)
    found = watch("bounds", lambda _: am.bounds(graph))
    if options.json:
        records.print_json(records.bounds_record(found) | records.graph_record(graph))
        return
    from anonymatch.cli import pages

    show(*pages.bounds_page(file.name, graph, found))


@command(app)
def blocks(*, file: File, top: Top = 20, options: Options) -> None:
    """Who hides among whom, who is identified, and why."""
    import numpy as np

    from anonymatch.cli import exposed, pages

    graph = load(file, options)
    parts = watch("blocks", lambda _: am.blocks(graph))
    n_forced = len(am.forced(graph))
    if options.json:
        pairs = watch("reasons", lambda _: exposed.exposed(graph))
        record = records.blocks_record(parts, pairs, graph.n_users)
        records.print_json(record | records.graph_record(graph))
        return
    pairs = watch("reasons", lambda _: exposed.exposed(graph, top or None))
    labels = structure(graph).block_of_user
    sizes = np.bincount(labels, minlength=len(parts))
    show(*pages.blocks_page(file.name, graph, sizes, pairs, n_forced))


@command(app)
def demo(*, options: Options) -> None:
    """Audit the example that comes with the package, and say what each figure means."""
    from anonymatch.cli.demo import EXAMPLE, demo_page, demo_record

    graph = load(EXAMPLE, options)
    if options.json:
        records.print_json(watch("auditing", lambda tell: demo_record(graph, options, tell)))
    else:
        show(*watch("auditing", lambda tell: demo_page(graph, options, tell)))


@command(app)
def convert(
    *,
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The same graph in another format.")],
    options: Options,
) -> None:
    """Write the graph in another format; the suffix of OUT tells which."""
    graph = load(file, options)
    am.write(graph, out)
    if options.json:
        records.print_json({"path": str(out)} | records.graph_record(graph))
        return
    print(f"wrote {out}: {graph!r}")
