"""Commands that count: how many ways, who did what, who hides among whom."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.cli import json_output
from anonymatch.cli.app import File, Out, app, load, top_option
from anonymatch.cli.console import notes, show, watch
from anonymatch.cli.options import Options, amount, command, option, whole
from anonymatch.running import CancelToken

if TYPE_CHECKING:
    pass

__all__: list[str] = []

OF_RINGS = ("decoys", "spends", "merging")  # options of files of rings

_BYTES_DRAWN = 64  # a user of a matching, at the peak: random keys, their order, names to print

_EARLY = "Interrupted: this is what was known by then; with more time it would be closer.\n"

Explain = Annotated[bool, option("--explain", "Show the plan, block by block, and why.")]
Size = Annotated[
    int,
    option("--size", "How many matchings (1 unless told).", metavar="N", parser=whole(0)),
]


@command(
    app,
    acts=(
        "json",
        "exact",
        "method",
        "budget",
        "memory",
        "threads",
        "cluster",
        "resume",
        "seed",
        "digits",
        *OF_RINGS,
    ),
)
def count(
    *,
    file: File,
    explain: Explain = False,
    epsilon: Annotated[
        float | None,
        option(
            "--epsilon",
            "Promise a value within a factor 1 +- E, or refuse.",
            metavar="E",
            parser=amount,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        option(
            "--delta",
            "Probability that the promise fails (0.05 unless told).",
            metavar="D",
            parser=amount,
        ),
    ] = None,
    options: Options,
) -> None:
    """How many ways can users be matched to what was seen? In bits, exactly if possible."""
    graph = load(file, options)
    promise: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
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
            file.name, graph, answer, digits=options.digits, explain=explain
        )
        show(*([_EARLY] if stop.cancelled else []), *screen)
    if stop.cancelled:
        sys.stdout.flush()
        options.close()
        raise KeyboardInterrupt  # ends as every command ends on Ctrl-C


@command(app, acts=("json", "budget", "memory", "threads", "cluster", "resume", "seed", *OF_RINGS))
def sample(
    *,
    file: File,
    size: Size = 1,
    top: Annotated[int, top_option("Users")] = 20,
    out: Out = None,
    options: Options,
) -> None:
    """Draw matchings at random. Each is as likely as any other, or as it weighs."""
    from anonymatch.cli import saving
    from anonymatch.cli.screens import elements

    saving.check_target(out)
    graph = load(file, options)
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
        show(*elements.sample_screen(file.name, graph, drawn, how, top=top))
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


@command(app, acts=("json", "threads"))
def bounds(*, file: File, options: Options) -> None:
    """What can be proven without counting: at least, at most."""
    graph = load(file, options)
    result = watch("bounds", lambda _: am.bounds(graph))
    why = am.witness(graph)
    if options.json:
        json_output.print_json(
            json_output.bounds_record(result, why) | json_output.graph_record(graph)
        )
        return
    from anonymatch.cli.screens import elements

    show(*elements.bounds_screen(file.name, graph, result, why))


@command(app, acts=("json", "threads"))
def blocks(
    *, file: File, top: Annotated[int, top_option("Blocks and users")] = 20, options: Options
) -> None:
    """Who hides among whom, who is identified, and why."""
    from anonymatch.audits import identified
    from anonymatch.cli.screens import elements

    graph = load(file, options)
    parts = watch("blocks", lambda _: am.blocks(graph))
    most = None if options.json else top or None
    pairs = watch("reasons", lambda _: identified(graph, most))
    if options.json:
        json_output.print_json(
            json_output.blocks_record(graph, pairs) | json_output.graph_record(graph)
        )
        return
    show(*elements.blocks_screen(file.name, graph, parts, pairs, top=top))
