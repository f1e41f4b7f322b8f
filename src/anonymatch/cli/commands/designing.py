"""Commands that design: the best groups for a cost, and random graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.options import from_zero, option, whole
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, file_option

__all__: list[str] = []

_SMALL = 12  # users up to which samples are drawn unasked: they take a moment
_SAMPLES = 1000


def _degree(text: str) -> float:
    value = from_zero("a degree")(text)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, kw_only=True)
class _Design:
    users: int = option(..., "Number of users.", metavar="N", read=whole(1))
    edges: int = option(
        ...,
        "Cost: number of possible pairs of a user and a behaviour.",
        metavar="M",
        read=whole(1),
    )
    method: str = option(
        "best",
        "best: search many kinds of groups; paper: the paper's partition.",
        metavar="NAME",
    )
    objective: str = option(
        "matchings",
        "matchings, or after_attack: most matchings after the best target is exposed.",
        metavar="NAME",
    )
    min_part: int = option(2, "Users in the smallest group.", metavar="N", read=whole(1))
    out: Path | None = file_option("Save the graph as .csv, .tsv, .parquet, ...")


@command(acts=("json", "digits"))
def design(*, asked: _Design, options: Options) -> None:
    """Which grouping? The best graph for a number of users and edges, compared with others."""
    result = watch(
        "designing",
        lambda _: am.design(
            users=asked.users,
            edges=asked.edges,
            method=asked.method,
            objective=asked.objective,
            min_part=asked.min_part,
        ),
    )
    out = asked.out
    if out is not None:
        watch(f"writing {out.name}", lambda _: result.write(out))
    if options.json:
        json_output.print_json(json_output.plain(result.to_dict()))
        return
    from anonymatch.cli.screens import design

    show(*watch("rivals", lambda _: design.design_screen(result, asked.min_part, options.digits)))
    if out is not None:
        note(f"saved the graph in {out}")


@dataclass(frozen=True, kw_only=True)
class _Random:
    users: int = option(..., "Number of users.", metavar="N", read=whole(1))
    degree: float | None = option(
        None,
        "Each pair is an edge at random, K per user on average.",
        metavar="K",
        read=_degree,
    )
    edges: int | None = option(
        None, "Exact number of edges (instead of --degree).", metavar="M", read=whole(0)
    )
    samples: int | None = option(
        None,
        "Number of graphs to sample and count.",
        metavar="N",
        shown=f"{_SAMPLES} up to {_SMALL} users, else 0",
        read=whole(0),
    )


@command(acts=("json", "seed"))
def random(*, asked: _Random, options: Options) -> None:
    """How many matchings do random graphs have? Expected and sampled counts."""
    from anonymatch.cli.screens import design

    users, degree, edges, samples = asked.users, asked.degree, asked.edges, asked.samples
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
