"""The command that measures: what the count means, for the system and for each user."""

from __future__ import annotations

import sys
from typing import Annotated

import anonymatch as am
from anonymatch.base.numbers import plural
from anonymatch.cli import json_output
from anonymatch.cli.app import File, Out, app, load, top_option
from anonymatch.cli.console import show, watch
from anonymatch.cli.options import Options, command, option, size

__all__: list[str] = []


@command(app, acts=("json", "method", "budget", "memory", "threads", "cluster", "resume", "seed"))
def metrics(
    *,
    file: File,
    threshold: Annotated[
        float | None,
        option(
            "--threshold",
            "Effective set size: also the share of users below it.",
            metavar="SIZE",
            parser=size,
        ),
    ] = None,
    top: Annotated[int, top_option("Users")] = 20,
    out: Out = None,
    options: Options,
) -> None:
    """How anonymous is it? Every measure, of the system and each user."""
    from anonymatch.cli import saving
    from anonymatch.cli.screens import metrics

    saving.check_target(out)
    graph = load(file, options)
    result = watch(
        "measuring",
        lambda tell: am.metrics(
            graph,
            threshold=threshold,
            method=options.method,
            budget=options.effort(),
            seed=options.seed,
            executor=options.executor(graph),
            progress=tell,
        ),
    )
    if out is not None:
        saving.save(result.users.to_dict(as_series=True), out)
    if options.json:
        json_output.print_json(metrics.metrics_record(result) | json_output.graph_record(graph))
        return
    show(*metrics.metrics_screen(file.name, graph, result, top=top))
    if out is not None:
        print(f"saved {plural(graph.n_users, 'user')} in {out}", file=sys.stderr)
