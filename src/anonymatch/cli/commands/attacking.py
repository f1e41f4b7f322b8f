"""Commands that attack, and that make attacks harder: exposures, and edges to add."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.options import option, whole
from anonymatch.base.text import name
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import WORK, Options, file_option, top_option
from anonymatch.cli.reading import GraphFile, load, load_graph
from anonymatch.cli.saving import FigureOptions
from anonymatch.tables import ImproveOptions, TableOptions
from anonymatch.theory.options import AttackOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Attacked(AttackOptions):
    top: int = top_option("Steps")


@command(acts=(*WORK, "exact"))
def attack(*, given: GraphFile, asked: _Attacked, drawn: FigureOptions, options: Options) -> None:
    """How many matchings remain if users are exposed? Whom would an attacker pick?"""
    from anonymatch.theory.attacks import attack_charts

    target, strategy, among, truth = asked.target, asked.strategy, asked.among, asked.truth
    if target and strategy != "optimal":
        raise InputError("--strategy: targets are given by --target; leave one of the two out")
    if target and among:
        raise InputError("--among: targets are given by --target; leave one of the two out")
    graph = load(given, options)
    whom: str | Sequence[Hashable] = strategy
    if target:
        whom = _users(graph, target, "--target")
    result = watch(
        "attacking",
        lambda tell: am.attack(
            graph,
            steps=asked.steps,
            strategy=whom,
            among=_users(graph, among, "--among") if among else None,
            truth=_truth(graph, truth, options),
            exact=options.exact or None,
            samples=asked.samples,
            seed=options.seed,
            budget=options.effort(),
            executor=options.executor(graph),
            progress=tell,
        ),
    )
    if options.json:
        record = json_output.plain(result.to_dict())
        json_output.print_json(record | json_output.graph_record(graph))
        drawn.write(attack_charts(result))
        return
    from anonymatch.cli.screens import attack

    screen = attack.attack_screen(given.file.name, graph, result, top=asked.top)
    if target is not None and len(target) == 1 and truth is None:
        one = watch("outcomes", lambda _: am.exposure(graph, whom[0], **_exposing(options, graph)))
        screen += attack.outcomes_screen(one)
    show(*screen)
    drawn.write(attack_charts(result))


def _exposing(options: Options, graph: am.Graph) -> dict[str, Any]:
    return {"budget": options.effort(), "executor": options.executor(graph)}


def _users(graph: am.Graph, wanted: Sequence[str], option: str) -> list[Hashable]:
    """Users by what their names look like: names may be numbers in some formats."""
    known: dict[str, Hashable] = {str(user): user for user in graph.users}
    missing = [text for text in wanted if text not in known]
    if missing:
        raise InputError(f"{option} {name(missing[0])}: there is no such user; see the file")
    return [known[text] for text in wanted]


def _truth(graph: am.Graph, text: str | None, options: Options) -> Any:
    if text is None or text == "sampled":
        return text
    pairs = load_graph(Path(text), options)
    many = [user for user, degree in zip(pairs.users, pairs.degrees, strict=True) if degree != 1]
    if many:
        raise InputError(
            f"{text}: user {name(many[0])} must have exactly one behaviour; a truth gives one each"
        )
    users = {str(user): user for user in graph.users}
    behaviours = {str(behaviour): behaviour for behaviour in graph.behaviours}
    named = ((str(edge[0]), str(edge[1])) for edge in pairs.to_edges())
    return {users.get(user, user): behaviours.get(did, did) for user, did in named}


@dataclass(frozen=True, kw_only=True)
class _Improve:
    edges: int = option(1, "Number of edges to add.", metavar="E", read=whole(1))
    out: Path | None = file_option("Save the graph with the edges.")


@command(
    acts=("json", "budget", "memory", "threads", "cluster", "resume"),
    hidden=[each.name for kind in (TableOptions, ImproveOptions) for each in fields(kind)],
)
def improve(
    *,
    given: GraphFile,
    asked: _Improve,
    table: TableOptions,
    wanted: ImproveOptions,
    options: Options,
) -> int | None:
    """Which edges should be added? Those that give the most matchings.

    'anonymatch table improve' is for released tables.
    """
    if table.original is not None:
        note("'improve --original' is now 'anonymatch table improve'; it works until 0.3.0")
        from anonymatch.cli.commands.tables import improve_table

        return improve_table(given.file, asked.out, table, wanted, options)
    graph = load(given, options)
    improvement = watch(
        "improving",
        lambda tell: am.improve(
            graph,
            asked.edges,
            budget=options.effort(),
            executor=options.executor(graph),
            progress=tell,
        ),
    )
    if asked.out is not None:
        am.write(improvement.graph, asked.out)
    if options.json:
        record = json_output.plain(improvement.to_dict())
        json_output.print_json(record | json_output.graph_record(graph))
        return None
    from anonymatch.cli.screens import attack

    show(*attack.improve_screen(given.file.name, graph, improvement))
    if asked.out is not None:
        note(f"saved the graph with the edges in {asked.out}")
    return None
