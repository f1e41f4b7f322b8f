"""posterior: the probability that each user did each behaviour, of graphs and of message logs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.base.options import argument, option
from anonymatch.cli import json_output
from anonymatch.cli.command import command
from anonymatch.cli.commands.counting import EXPLAIN, SAVED
from anonymatch.cli.console import note, show, watch
from anonymatch.cli.options import WORK, Options, file_option, top_option
from anonymatch.cli.reading import about, load_graph, observe
from anonymatch.counting import Posterior
from anonymatch.mixes import ReadOptions
from anonymatch.rings import RingOptions
from anonymatch.running import Progress
from anonymatch.tables import TableOptions

__all__: list[str] = []


@dataclass(frozen=True, kw_only=True)
class _Posterior:
    file: Path = argument("FILE", "Graph; with --law, a message log.")
    counts: bool = option(False, "Also report the number of matchings through each edge.")
    explain: bool = option(False, EXPLAIN)
    out: Path | None = file_option(SAVED)
    top: int = top_option("Users")


@command(acts=(*WORK, "exact", "method"), without=[each.name for each in fields(TableOptions)])
def posterior(*, asked: _Posterior, reading: ReadOptions, options: Options) -> None:
    """Who is exposed? The probability that each user did each behaviour.

    With --law, FILE is a message log. The command then reports the probability of each pair of a
    message in and a message out.
    """
    from anonymatch.cli import saving
    from anonymatch.cli.screens import elements
    from anonymatch.cli.screens.confidence import certainty

    file, out, counts = asked.file, asked.out, asked.counts
    saving.check_target(out)
    if reading.law is not None:
        _log_posterior(file, reading, out, options, top=asked.top)
        return
    rings = {each.name: getattr(reading, each.name) for each in fields(RingOptions)}
    graph = load_graph(file, options, **rings)
    probabilities = watch(
        "probabilities", lambda tell: _posterior(graph, options, tell, counts=counts)
    )
    if out is not None:
        saving.save(_edge_columns(probabilities, counts=counts), out)
    if options.json:
        record = json_output.posterior_record(probabilities, counts=counts)
        json_output.print_json(record | json_output.graph_record(graph))
        return
    sureness = certainty(probabilities)
    screen = elements.posterior_screen(
        file.name, probabilities, sureness, top=asked.top, counts=counts, explain=asked.explain
    )
    show(*screen)
    if out is not None:
        print(
            f"saved {plural(graph.n_edges, 'probability', 'probabilities')} in {out}",
            file=sys.stderr,
        )


def _log_posterior(
    file: Path, reading: ReadOptions, out: Path | None, options: Options, *, top: int
) -> None:
    """Probabilities of a message log, written piece by piece."""
    import numpy as np
    import polars as pl

    from anonymatch.audits import log_posterior
    from anonymatch.cli import saving
    from anonymatch.reporting import terminal

    observation = observe(file, options, reading)
    with about(file):
        found = watch(
            "probabilities", lambda tell: log_posterior(observation, **options.drawing(tell))
        )
    messages = pl.Series([str(name) for name in found.messages], dtype=pl.String)
    departures = pl.Series([*map(str, found.departures), None], dtype=pl.String)

    def named() -> Iterator[pl.DataFrame]:
        for rows, columns, values in found.pieces:
            ends = np.where(columns < 0, len(departures) - 1, columns)
            yield pl.DataFrame(
                {
                    "message": messages.gather(rows),
                    "departure": departures.gather(ends),
                    "probability": values,
                }
            )

    if out is not None:
        rows = saving.save_pieces(named(), out)
        print(f"saved {plural(rows, 'probability', 'probabilities')} in {out}", file=sys.stderr)
    about_it = {"exact": found.exact, "error": found.error, "method": found.method}
    if options.json:
        sizes = {"n_messages": len(messages), "n_departures": len(departures) - 1}
        pairs = [] if out is not None else [row for piece in named() for row in piece.to_dicts()]
        more = {"seed": options.draw_seed, "pairs": pairs, "notes": list(found.notes)}
        json_output.print_json(about_it | more | sizes)
        return
    if out is not None:
        return
    table = terminal.columns("message", "departure", right=("probability",))
    shown: set[str] = set()
    for piece in named():
        for message, departure, probability in piece.iter_rows():
            if top and len(shown | {message}) > top:
                break
            shown.add(message)
            table.add_row(message, departure or "not seen again", f"{probability:.6g}")
        else:
            continue
        break
    show(table)
    if len(shown) < len(messages):
        note(f"{len(shown)} of {len(messages)} messages; --top 0 shows all, --out FILE saves all")


def _posterior(graph: am.Graph, options: Options, tell: Progress, *, counts: bool) -> Posterior:
    probabilities = am.posterior(graph, **options.keywords(tell, graph))
    if counts:
        if not probabilities.exact:
            raise InputError("--counts: these probabilities are not exact; add --exact")
        _ = probabilities.counts  # long work, so it belongs here and not to the printing
    return probabilities


def _edge_columns(probabilities: Posterior, *, counts: bool) -> dict[str, Any]:
    from anonymatch.base.numbers import all_digits

    graph = probabilities.graph
    users, behaviours = graph.users, graph.behaviours
    columns: dict[str, Any] = {
        "user": [users[i] for i in graph.rows().tolist()],
        "behaviour": [behaviours[j] for j in graph.indices.tolist()],
        "probability": probabilities.probabilities,
    }
    if probabilities.errors is not None:
        columns["error"] = probabilities.errors
    if counts:
        columns["count"] = [all_digits(value) for value in probabilities.counts.by_edge.tolist()]
    return columns
