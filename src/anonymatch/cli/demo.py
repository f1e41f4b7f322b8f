"""The demonstration: the example that comes with the package, audited and explained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anonymatch as am
from anonymatch.audits.identified import identified
from anonymatch.cli import meanings, pages, records, words
from anonymatch.cli.certainty import certainty, order

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.cli.options import Options
    from anonymatch.effort import Progress


__all__ = ["EXAMPLE", "demo_page", "demo_record"]

EXAMPLE = Path(__file__).parent.parent / "examples" / "mix.csv"

_STORY = (
    "Twelve users each send a message through a mix, which holds it for one to six seconds. An "
    "attacker sees who sends when and which messages leave when, so each user fits a few of the "
    "messages. Which message is whose?"
)
_CAVEAT = (
    "These figures take every matching as equally likely, speak of one round only, and the count "
    "is a figure of the whole system: look at the worst users too."
)

_MARKS = ("surest", "", "least sure", "")


def demo_page(graph: am.Graph, options: Options, tell: Progress) -> list[RenderableType]:
    """Count, bound, blocks, identified users, and the most and least certain ones."""
    keywords = options.keywords(tell)
    count = am.count(graph, **keywords)
    bound = am.bounds(graph).bregman
    parts = am.blocks(graph)
    pairs = identified(graph)
    found = certainty(am.posterior(graph, **keywords))
    free = [row for row in order(found).tolist() if found.candidates[row] > 1]
    lines = pages.count_lines(graph, count)[:-1]
    reached = words.share(count.log / bound)
    lines += [
        ("at most", words.bits(bound), f"{meanings.SAME_DEGREES}; {reached} of it is reached"),
        ("blocks", f"{len(parts)}", "groups that hide only among themselves: " + _sizes(parts)),
        ("identified", words.plural(len(pairs), "user"), "only one behaviour is left for them"),
    ]
    return [
        pages.heading(f"The example {EXAMPLE.name}: {pages.size(graph)}"),
        pages.paragraph(_STORY),
        pages.figures(lines),
        pages.identified_list(pairs, len(pairs)),
        pages.paragraph("How sure the attacker is of the others:"),
        pages.certainty_table(graph, found, [*free[:2], *free[-2:]], _MARKS),
        pages.paragraph(
            "chance: that the best guess is right. hides among: as many equally likely "
            "behaviours as the chances are worth, of those that fit."
        ),
        pages.paragraph(_CAVEAT),
        pages.paragraph(
            "Next: anonymatch count FILE, anonymatch blocks FILE, anonymatch posterior FILE, "
            "where FILE is a table with the columns user and behaviour."
        ),
    ]


def demo_record(graph: am.Graph, options: Options, tell: Progress) -> dict[str, Any]:
    """The same as one JSON object."""
    keywords = options.keywords(tell)
    return {
        "path": str(EXAMPLE),
        "count": records.count_record(am.count(graph, **keywords)),
        "bounds": records.bounds_record(am.bounds(graph), am.witness(graph)),
        **records.blocks_record(graph, identified(graph)),
        "posterior": records.posterior_record(am.posterior(graph, **keywords), counts=False),
        **records.graph_record(graph),
    }


def _sizes(parts: am.Blocks) -> str:
    sizes = sorted((part.n_users for part in parts), reverse=True)
    return ", ".join(str(size) for size in sizes) + " users"
