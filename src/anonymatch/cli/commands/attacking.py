"""Commands that attack, and that make attacks harder: exposures, and edges to add."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Annotated, Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.text import name
from anonymatch.cli import json_output
from anonymatch.cli.app import File, app, load, top_option
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.figures import FigureOptions
from anonymatch.cli.options import Options, command, option, whole
from anonymatch.cli.reading import TableOptions

__all__: list[str] = []


@command(app, acts=("json", "exact", "budget", "memory", "threads", "cluster", "resume", "seed"))
def attack(
    *,
    file: File,
    steps: Annotated[
        int | None,
        option(
            "--steps",
            "Users to expose one after another (1 unless told).",
            metavar="T",
            parser=whole(1),
        ),
    ] = None,
    strategy: Annotated[
        str,
        option(
            "--strategy",
            f"Whom the attacker picks: {', '.join(am.STRATEGIES)} (optimal unless told).",
            metavar="NAME",
        ),
    ] = "optimal",
    target: Annotated[
        list[str] | None,
        option("--target", "Expose this user; several in the order given.", metavar="USER"),
    ] = None,
    among: Annotated[
        list[str] | None,
        option(
            "--among",
            "Only this user may be exposed; several: the best of them at each step.",
            metavar="USER",
        ),
    ] = None,
    truth: Annotated[
        str | None,
        option(
            "--truth",
            "What is revealed: a FILE user,behaviour, or 'sampled'; expectations unless told.",
            metavar="FILE",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        option("--samples", "Truths to average over.", metavar="N", parser=whole(1)),
    ] = None,
    top: Annotated[int, top_option("Steps")] = 20,
    drawn: FigureOptions,
    options: Options,
) -> None:
    """What falls when users are exposed? And whom would an attacker pick?"""
    from anonymatch.theory.attacks import attack_charts

    if target and strategy != "optimal":
        raise InputError("--strategy: targets are given by --target; leave one of the two out")
    if target and among:
        raise InputError("--among: targets are given by --target; leave one of the two out")
    graph = load(file, options)
    whom: str | Sequence[Hashable] = strategy
    if target:
        whom = _users(graph, target, "--target")
    result = watch(
        "attacking",
        lambda tell: am.attack(
            graph,
            steps=steps,
            strategy=whom,
            among=_users(graph, among, "--among") if among else None,
            truth=_truth(graph, truth, options),
            exact=options.exact or None,
            samples=samples,
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

    screen = attack.attack_screen(file.name, graph, result, top=top)
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
    pairs = load(Path(text), options)
    many = [user for user, degree in zip(pairs.users, pairs.degrees, strict=True) if degree != 1]
    if many:
        raise InputError(
            f"{text}: user {name(many[0])} must have exactly one behaviour; a truth gives one each"
        )
    users = {str(user): user for user in graph.users}
    behaviours = {str(behaviour): behaviour for behaviour in graph.behaviours}
    named = ((str(edge[0]), str(edge[1])) for edge in pairs.to_edges())
    return {users.get(user, user): behaviours.get(did, did) for user, did in named}


@command(app, acts=("json", "budget", "memory", "threads", "cluster", "resume"))
def improve(
    *,
    file: File,
    edges: Annotated[
        int,
        option("--edges", "Edges to add (1 unless told).", metavar="E", parser=whole(1)),
    ] = 1,
    out: Annotated[
        Path | None,
        option("--out", "Save the graph with the edges, or the changed table.", metavar="FILE"),
    ] = None,
    table: TableOptions,
    target: Annotated[
        list[str] | None,
        option(
            "--target",
            "Released table: value to reach, such as l-diversity=2; may be repeated "
            "[default: k-anonymity=5].",
            metavar="NOTION=N",
        ),
    ] = None,
    suppress: Annotated[
        int,
        option(
            "--suppress",
            "Of a released table: rows that may be left out (0 unless told).",
            metavar="N",
            parser=whole(0),
        ),
    ] = 0,
    options: Options,
) -> int | None:
    """Which edges to add: those that give the most matchings.

    Of a released table (--original): which cells to generalise and which
    rows to leave out, to reach a target at the least loss.
    """
    if table.original is not None:
        from anonymatch.cli.commands.generalising import improve_table

        targets = target or ["k-anonymity=5"]
        return improve_table(file, table, targets, suppress, out, options)
    graph = load(file, options)
    improvement = watch(
        "improving",
        lambda tell: am.improve(
            graph,
            edges,
            budget=options.effort(),
            executor=options.executor(graph),
            progress=tell,
        ),
    )
    if out is not None:
        am.write(improvement.graph, out)
    if options.json:
        record = json_output.plain(improvement.to_dict())
        json_output.print_json(record | json_output.graph_record(graph))
        return None
    from anonymatch.cli.screens import attack

    show(*attack.improve_screen(file.name, graph, improvement))
    if out is not None:
        note(f"saved the graph with the edges in {out}")
    return None
