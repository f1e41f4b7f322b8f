"""Commands that design: the best groups for a cost, and random graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import Options, file_option
from anonymatch.theory.options import RANDOM_SAMPLES, SMALL_RANDOM, DesignOptions, RandomOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Designed(DesignOptions):
    out: Path | None = file_option("Save the graph as .csv, .tsv, .parquet, ...")


@command(acts=("json", "digits"))
def design(*, asked: _Designed, options: Options) -> None:
    """Which grouping is best for a number of users and edges? Compared with others."""
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


@command(acts=("json", "seed"))
def random(*, asked: RandomOptions, options: Options) -> None:
    """How many matchings do random graphs have? Expected and sampled counts."""
    from anonymatch.cli.screens import design

    users, degree, edges, samples = asked.users, asked.degree, asked.edges, asked.samples
    if (degree is None) == (edges is None):
        raise InputError("give either --degree K or --edges M")
    number = samples if samples is not None else RANDOM_SAMPLES if users <= SMALL_RANDOM else 0
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
