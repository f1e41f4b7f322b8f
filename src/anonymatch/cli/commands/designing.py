"""Commands that design: the best groups for a cost, and what chance would give."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.cli import json_output
from anonymatch.cli.app import app
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, command, option, whole

__all__: list[str] = []

_SMALL = 12  # users up to which samples are drawn unasked: they take a moment
_SAMPLES = 1000


def _degree(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"{text} is out of range; give 0 or more")
    return int(value) if value == int(value) else value


Users = Annotated[int, option("--users", "How many users.", metavar="N", parser=whole(1))]


@command(app, acts=("json", "digits"))
def design(
    *,
    users: Users,
    edges: Annotated[
        int,
        option(
            "--edges",
            "The cost: how many pairs of a user and a behaviour are possible.",
            metavar="M",
            parser=whole(1),
        ),
    ],
    method: Annotated[
        str,
        option(
            "--method",
            "best: search many kinds of groups; paper: the paper's partition (best unless told).",
            metavar="NAME",
        ),
    ] = "best",
    objective: Annotated[
        str,
        option(
            "--objective",
            "matchings, or after_attack: most left when the best target is exposed.",
            metavar="NAME",
        ),
    ] = "matchings",
    min_part: Annotated[
        int,
        option(
            "--min-part",
            "Users in the smallest group (2 unless told: nobody alone).",
            metavar="N",
            parser=whole(1),
        ),
    ] = 2,
    out: Annotated[
        Path | None,
        option("--out", "Save the graph as .csv, .tsv, .parquet, ...", metavar="FILE"),
    ] = None,
    options: Options,
) -> None:
    """Which grouping? The best graph for so many users and edges. Its rivals are beside it."""
    result = watch(
        "designing",
        lambda _: am.design(
            users=users, edges=edges, method=method, objective=objective, min_part=min_part
        ),
    )
    if out is not None:
        watch(f"writing {out.name}", lambda _: result.write(out))
    if options.json:
        json_output.print_json(json_output.plain(result.to_dict()))
        return
    from anonymatch.cli.screens import design

    show(*watch("rivals", lambda _: design.design_screen(result, min_part, options.digits)))
    if out is not None:
        note(f"saved the graph in {out}")


@command(app, acts=("json", "seed"))
def random(
    *,
    users: Users,
    degree: Annotated[
        float | None,
        option(
            "--degree",
            "Each pair is an edge by chance, so many a user on average.",
            metavar="K",
            parser=_degree,
        ),
    ] = None,
    edges: Annotated[
        int | None,
        option("--edges", "Instead: exactly so many edges.", metavar="M", parser=whole(0)),
    ] = None,
    samples: Annotated[
        int | None,
        option(
            "--samples",
            f"Graphs to draw and count ({_SAMPLES} up to {_SMALL} users unless told, else none).",
            metavar="N",
            parser=whole(0),
        ),
    ] = None,
    options: Options,
) -> None:
    """How many matchings do random graphs have? Expected and sampled counts."""
    from anonymatch.cli.screens import design

    if (degree is None) == (edges is None):
        raise InputError("give either --degree K or --edges M")
    number = samples if samples is not None else _SAMPLES if users <= _SMALL else 0
    log = am.random_expectation(users, degree, edges=edges)
    drawn = None
    if number:
        drawn = watch(
            "drawing",
            lambda _: am.random_distribution(
                users, degree, edges=edges, samples=number, seed=options.draw_seed
            ),
        )
    if options.json:
        request = {"users": users, "degree": degree, "edges": edges}
        json_output.print_json(json_output.plain(request | design.random_record(log, drawn)))
        return
    show(*design.random_screen(users, degree, edges, log, drawn))
