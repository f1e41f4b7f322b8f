"""The command that tells what a file of --resume has recorded."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from anonymatch.cli import json_output
from anonymatch.cli.app import app, top_option
from anonymatch.cli.console import show
from anonymatch.cli.options import Options, command
from anonymatch.running import read_checkpoint

__all__: list[str] = []


@command(app, acts=("json",))
def runs(
    *,
    file: Annotated[Path, typer.Argument(metavar="RUN", help="A file that --resume made.")],
    top: Annotated[int, top_option("Jobs")] = 20,
    options: Options,
) -> None:
    """How far is it? What a file of --resume has, and the time left."""
    saved = read_checkpoint(file)
    if options.json:
        record = asdict(saved) | {"done": saved.done, "left": saved.left}
        json_output.print_json(json_output.plain(record))
        return
    from anonymatch.cli.screens import checkpoint

    show(*checkpoint.checkpoint_screen(file.name, saved, top=top))
