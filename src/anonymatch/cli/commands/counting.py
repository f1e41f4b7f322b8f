"""Commands that count: matchings, samples, bounds, blocks and measures of a graph."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.base.options import above_zero, amount, option, whole
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import notes, show, watch
from anonymatch.cli.options import WORK, Options, file_option, top_option
from anonymatch.cli.reading import GraphFile, load
from anonymatch.running import CancelToken

__all__ = ["EXPLAIN", "SAVED"]

SAVED = "Save as .csv, .tsv, .parquet, .json or .jsonl."
EXPLAIN = "Show the plan for each block, and why."
_BYTES_DRAWN = 64  # a user of a matching, at the peak: random keys, their order, names to print
_EARLY = "Interrupted: this is what was known by then; with more time it would be closer.\n"


@dataclass(frozen=True, kw_only=True)
class _Counted:
    explain: bool = option(False, EXPLAIN)
    epsilon: float | None = option(
        None, "Guarantee a value within a factor 1 +- E, or refuse.", metavar="E", read=amount
    )
    delta: float | None = option(
        None, "Probability that the guarantee fails.", metavar="D", shown="0.05", read=amount
    )


@command(acts=(*WORK, "exact", "method", "digits"))
def count(*, given: GraphFile, asked: _Counted, options: Options) -> None:
    """How many matchings of users and behaviours exist? In bits, exactly if possible."""
    graph = load(given, options)
    promise: dict[str, Any] = {"epsilon": asked.epsilon, "delta": asked.delta}
    stop = CancelToken()
    answer = watch(
        "counting",
        lambda tell: am.count(graph, **promise, **options.keywords(tell, graph)),
        stop=stop,
    )
    if options.json:
        early = {"interrupted": True} if stop.cancelled else {}
        json_output.print_json(
            json_output.count_record(answer) | early | json_output.graph_record(graph)
        )
    else:
        from anonymatch.cli.screens import elements

        screen = elements.count_screen(
            given.file.name, graph, answer, digits=options.digits, explain=asked.explain
        )
        show(*([_EARLY] if stop.cancelled else []), *screen)
    if stop.cancelled:
        sys.stdout.flush()
        options.close()
        raise KeyboardInterrupt  # ends as every command ends on Ctrl-C


@dataclass(frozen=True, kw_only=True)
class _Sampled:
    size: int = option(1, "Number of matchings.", metavar="N", read=whole(0))
    top: int = top_option("Users")
    out: Path | None = file_option(SAVED)


@command(acts=WORK)
def sample(*, given: GraphFile, asked: _Sampled, options: Options) -> None:
    """Sample matchings at random. Probabilities are equal, or proportional to weights."""
    from anonymatch.cli import saving
    from anonymatch.cli.screens import elements

    size, out = asked.size, asked.out
    saving.check_target(out)
    graph = load(given, options)
    _check_size(size, graph, options)
    with notes() as remarks:
        drawn = watch(
            "drawing", lambda tell: am.sample(graph, size, **options.drawing(tell, graph))
        )
    if out is not None:
        saving.save(_drawn_columns(graph, drawn), out)
    if options.json:
        names = [json_output.label(behaviour) for behaviour in graph.behaviours]
        matchings = [[names[j] for j in row] for row in drawn.tolist()]
        record = {
            "users": [json_output.label(user) for user in graph.users],
            "matchings": matchings,
        }
        json_output.print_json(
            record | {"seed": options.draw_seed} | json_output.graph_record(graph)
        )
    elif out is None:
        how = f"{'nearly ' if remarks else ''}independently; seed {options.draw_seed}"
        show(*elements.sample_screen(given.file.name, graph, drawn, how, top=asked.top))
    else:
        print(f"saved {plural(size, 'matching')} in {out}", file=sys.stderr)


def _check_size(size: int, graph: am.Graph, options: Options) -> None:
    """Refuse matchings that would not fit in the memory."""
    needed = size * graph.n_users * _BYTES_DRAWN
    if needed > options.effort().memory:
        raise InputError(
            f"--size {size}: so many matchings need about {needed / 2**30:.3g} GiB; "
            "give a smaller --size"
        )


def _drawn_columns(graph: am.Graph, drawn: Any) -> dict[str, Any]:
    import numpy as np

    size, users = drawn.shape
    behaviours = graph.behaviours
    return {
        "matching": np.repeat(np.arange(size), users),
        "user": list(graph.users) * size,
        "behaviour": [behaviours[j] for j in drawn.ravel().tolist()],
    }


@command(acts=("json", "threads"))
def bounds(*, given: GraphFile, options: Options) -> None:
    """Which lower and upper bounds are proven without counting?"""
    graph = load(given, options)
    result = watch("bounds", lambda _: am.bounds(graph))
    why = am.witness(graph)
    if options.json:
        json_output.print_json(
            json_output.bounds_record(result, why) | json_output.graph_record(graph)
        )
        return
    from anonymatch.cli.screens import elements

    show(*elements.bounds_screen(given.file.name, graph, result, why))


@dataclass(frozen=True, kw_only=True)
class _Listed:
    top: int = top_option("Blocks and users")


@command(acts=("json", "threads"))
def blocks(*, given: GraphFile, asked: _Listed, options: Options) -> None:
    """Which users hide among each other, who is identified, and why?"""
    from anonymatch.audits import identified
    from anonymatch.cli.screens import elements

    graph = load(given, options)
    parts = watch("blocks", lambda _: am.blocks(graph))
    most = None if options.json else asked.top or None
    pairs = watch("reasons", lambda _: identified(graph, most))
    if options.json:
        json_output.print_json(
            json_output.blocks_record(graph, pairs) | json_output.graph_record(graph)
        )
        return
    show(*elements.blocks_screen(given.file.name, graph, parts, pairs, top=asked.top))


@dataclass(frozen=True, kw_only=True)
class _Measured:
    threshold: float | None = option(
        None,
        "Also report the share of users whose effective anonymity set is below SIZE.",
        metavar="SIZE",
        read=above_zero("a set size"),
    )
    top: int = top_option("Users")
    out: Path | None = file_option(SAVED)


@command(acts=(*WORK, "method"))
def metrics(*, given: GraphFile, asked: _Measured, options: Options) -> None:
    """How anonymous is a graph? Every measure, of the system and of each user."""
    from anonymatch.cli import saving
    from anonymatch.cli.screens import metrics

    saving.check_target(asked.out)
    graph = load(given, options)
    result = watch(
        "measuring",
        lambda tell: am.metrics(
            graph,
            threshold=asked.threshold,
            method=options.method,
            budget=options.effort(),
            seed=options.seed,
            executor=options.executor(graph),
            progress=tell,
        ),
    )
    if asked.out is not None:
        saving.save(result.users.to_dict(as_series=True), asked.out)
    if options.json:
        json_output.print_json(metrics.metrics_record(result) | json_output.graph_record(graph))
        return
    show(*metrics.metrics_screen(given.file.name, graph, result, top=asked.top))
    if asked.out is not None:
        print(f"saved {plural(graph.n_users, 'user')} in {asked.out}", file=sys.stderr)
