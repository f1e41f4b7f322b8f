"""Commands about files: the example that comes with the package, and other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anonymatch as am
from anonymatch.cli import records
from anonymatch.cli.app import File, app, load
from anonymatch.cli.console import show, watch
from anonymatch.cli.options import Options, command

__all__: list[str] = []


@command(app, acts=("json",))
def demo(*, options: Options) -> None:
    """Audit the example that comes with the package, and say what each figure means."""
    from anonymatch.cli.demo import EXAMPLE, demo_page, demo_record

    graph = load(EXAMPLE, options)
    if options.json:
        records.print_json(watch("auditing", lambda tell: demo_record(graph, options, tell)))
    else:
        show(*watch("auditing", lambda tell: demo_page(graph, options, tell)))


@command(app, acts=("json", "threads"))
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
