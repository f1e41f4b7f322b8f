"""Answers for people: every figure with one line that says what it means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from anonymatch.cli import words
from anonymatch.cli.exposed import Certainty, Exposed, order
from anonymatch.effort import in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am


__all__ = [
    "Line",
    "blocks_page",
    "bounds_page",
    "bullets",
    "certainty_table",
    "count_lines",
    "count_page",
    "exposed_list",
    "figures",
    "heading",
    "paragraph",
    "posterior_page",
    "sample_page",
    "size",
]

_SIZES = 20  # of blocks that are told apart
_DRAWN = 4  # matchings that are shown beside each other

Line = tuple[str, str, str]
"""A figure: its name, its value, what it means."""


def heading(text: str) -> RenderableType:
    """The first line of a page."""
    return Text(text, style="bold")


def figures(lines: Sequence[Line]) -> RenderableType:
    """Figures under each other: name, value, meaning."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", style="bold cyan", max_width=32)
    grid.add_column(overflow="fold", style="dim")
    for line in lines:
        grid.add_row(*(Text(part) for part in line))
    return Padding(grid, (1, 0, 0, 2))


def paragraph(text: str) -> RenderableType:
    """Words below the figures."""
    return Padding(Text(text), (1, 0, 0, 2))


def size(graph: am.Graph) -> str:
    """How large a graph is."""
    sizes = ((graph.n_users, "user"), (graph.n_behaviours, "behaviour"), (graph.n_edges, "edge"))
    return ", ".join(words.plural(amount, noun) for amount, noun in sizes) + (
        ", weighted" if graph.weighted else ""
    )


def bullets(title: str, lines: Sequence[str]) -> RenderableType:
    """A list under its title."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", Text(line))
    return Padding(Group(Text(title), grid), (1, 0, 0, 2))


def _table(*left: str, right: Sequence[str] = ()) -> Table:
    """A table without lines: names to the left, numbers to the right."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in left:
        table.add_column(column, overflow="fold")
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table


# ---- count


def count_page(
    title: str, graph: am.Graph, count: am.Count, *, digits: bool, explain: bool
) -> list[RenderableType]:
    """A count and what it means."""
    page = [heading(f"{title}: {size(graph)}"), figures(count_lines(graph, count))]
    if count.witness is not None:
        page.append(paragraph(_no_matching(count.witness)))
    if not count.exact and not graph.weighted:
        page.append(paragraph(_price(count.plan)))
    if explain:
        page.append(bullets(f"How: {count.method}", str(count.plan).splitlines()))
    if digits and count.exact:
        assert isinstance(count.value, int | Fraction)
        page.append(paragraph(words.all_digits(count.value)))
    return page


def count_lines(graph: am.Graph, count: am.Count) -> list[Line]:
    """The figures of a count."""
    way = ("found by", count.method, "see --explain for the plan, block by block")
    if graph.weighted:
        return [
            ("total weight", _value(count), "of all matchings, each the product of its weights"),
            ("", "", _trust(count)),
            ("log2", f"{count.log2:.10g}", "of the total weight; it depends on the weights' unit"),
            way,
        ]
    lines = [("matchings", _value(count), f"ways to match users to what was seen; {_trust(count)}")]
    if count.log == -math.inf:
        return lines
    least = "" if count.exact else "at least "
    anonymity = words.bits(count.low)
    if not count.exact:
        anonymity = f"{anonymity.removesuffix(' bits')} to {words.bits(count.high)}"
    lines.append(("anonymity", anonymity, "log2 of it: yes-no answers an attacker still needs"))
    full = _full(graph)
    if full > 0:
        reached = words.share(max(count.low / full, 0.0))
        meaning = f"if everybody fitted everything; {least}{reached} of it"
        lines.append(("of at most", words.bits(full), meaning))
    each = words.bits(count.low / max(graph.n_users, 1))
    meaning = "on average; some users may have none: see blocks"
    return [*lines, ("per user", least + each, meaning), way]


def _value(count: am.Count) -> str:
    if count.exact:  # a number too long to show need not be multiplied out
        return words.power(count.log) if count.log >= 60 else words.number(count.value, count.log)
    if count.high - count.low < 1e-6:
        return words.number(count.value, count.log)
    return f"{words.power(count.low)} to {words.power(count.high)}"


def _trust(count: am.Count) -> str:
    if count.exact:
        return "exact"
    sure = "proven" if count.confidence == 1.0 else f"{words.share(count.confidence)} sure"
    width = count.high - count.low
    return f"{sure}, within {math.expm1(width):.1g} of it" if width < 1e-6 else f"{sure} interval"


def _full(graph: am.Graph) -> float:
    """Natural log of the count if every user had every behaviour."""
    return math.lgamma(graph.n_behaviours + 1) - math.lgamma(graph.n_behaviours - graph.n_users + 1)


def _price(plan: am.Plan) -> str:
    if math.isinf(plan.seconds):
        return "No exact method reaches one of its blocks."
    cost = in_words(plan.seconds, plan.memory)
    return f"An exact count would take {cost}: allow it with --budget {math.ceil(plan.seconds)}."


def _no_matching(why: am.Witness) -> str:
    return (
        f"Why: {words.plural(len(why.users), 'user')} ({words.names(why.users)}) together fit only "
        f"{words.plural(len(why.behaviours), 'behaviour')}"
        + (f" ({words.names(why.behaviours)})" if why.behaviours else "")
        + ".\nWhat to do: widen what they may have done, or drop users who did nothing."
    )


# ---- posterior


def posterior_page(
    title: str, posterior: am.Posterior, found: Certainty, *, top: int, explain: bool
) -> list[RenderableType]:
    """The users of whom an attacker is surest."""
    graph = posterior.graph
    trust = "exact" if posterior.exact else f"errors below {posterior.error:.1g}"
    rows = order(found)
    shown = rows if top == 0 else rows[:top]
    sure = int((found.chance > 1 - 1e-12).sum())
    page = [
        heading(f"{title}: {size(graph)}"),
        figures(
            [
                ("chances", trust, f"all matchings equally likely; by {posterior.method}")
                if not graph.weighted
                else ("chances", trust, f"matchings likely as they weigh; by {posterior.method}"),
                ("identified", words.plural(sure, "user"), "whose behaviour is certain"),
            ]
        ),
        certainty_table(graph, found, shown),
    ]
    if len(shown) < len(rows):
        page.append(
            paragraph(
                f"... and {words.plural(len(rows) - len(shown), 'user')} who are not worse off. "
                "--top 0 shows all, --out FILE saves every chance."
            )
        )
    if explain:
        page.append(bullets(f"How: {posterior.method}", str(posterior.plan).splitlines()))
    return page


def certainty_table(
    graph: am.Graph, found: Certainty, rows: Sequence[int] | npt.NDArray[np.int64]
) -> RenderableType:
    """A line a user: best guess, its chance, and what the candidates are worth."""
    table = _table("user", "best guess", right=("chance", "hides among"))
    for row in np.asarray(rows).tolist():
        worth = f"{found.candidates[row]:.3g} of {graph.degrees[row]}"
        table.add_row(
            Text(words.name(graph.users[row])),
            Text(words.name(graph.behaviours[int(found.behaviour[row])])),
            Text(words.share(float(found.chance[row]))),
            Text(worth),
        )
    return Padding(table, (1, 0, 0, 2))


# ---- sample


def sample_page(
    title: str, graph: am.Graph, drawn: npt.NDArray[np.int32], seed: int
) -> list[RenderableType]:
    """Matchings, one under the other."""
    table = _table("user", *(f"matching {k + 1}" for k in range(min(len(drawn), _DRAWN))))
    for user, row in zip(graph.users, drawn[:_DRAWN].T.tolist(), strict=True):
        table.add_row(*(Text(words.name(v)) for v in (user, *(graph.behaviours[j] for j in row))))
    page = [
        heading(f"{title}: {size(graph)}"),
        figures([("drawn", words.plural(len(drawn), "matching"), f"independently; seed {seed}")]),
        Padding(table, (1, 0, 0, 2)),
    ]
    if len(drawn) > _DRAWN:
        page.append(paragraph(f"... and {len(drawn) - _DRAWN} more; --out FILE saves all."))
    return page


# ---- bounds and blocks


def bounds_page(title: str, graph: am.Graph, found: am.Bounds) -> list[RenderableType]:
    """Every proven bound, in bits."""
    lines = [
        ("at least", words.bits(found.lower), "proven without counting"),
        ("at most", words.bits(found.upper), "proven without counting"),
    ]
    if not graph.weighted and graph.n_users == graph.n_behaviours:
        meaning = "at most, for any graph with as many edges at each user (Bregman)"
        lines.append(("these degrees", words.bits(found.bregman), meaning))
    table = _table("bound", right=("bits",))
    for name, value in sorted(found.all.items(), key=lambda item: -item[1]):
        table.add_row(Text(name), Text(words.bits(value).removesuffix(" bits")))
    return [heading(f"{title}: {size(graph)}"), figures(lines), Padding(table, (1, 0, 0, 2))]


def blocks_page(
    title: str,
    graph: am.Graph,
    sizes: npt.NDArray[np.int64],
    pairs: Sequence[Exposed],
    n_forced: int,
) -> list[RenderableType]:
    """Blocks by size, and who is exposed and why."""
    exposed = n_forced / graph.n_users if graph.n_users else 0.0
    largest = int(sizes.max(initial=0))
    lines = [
        ("blocks", f"{len(sizes):,}", "groups that hide only among themselves"),
        ("largest", words.plural(largest, "user"), "the most that anybody can hide among"),
        (
            "identified",
            words.plural(n_forced, "user"),
            f"whose behaviour is certain: {words.share(exposed)} of all",
        ),
    ]
    table = _table(right=("users in a block", "blocks", "users"))
    values, copies = np.unique(sizes, return_counts=True)
    for value, number in list(zip(values.tolist(), copies.tolist(), strict=True))[::-1][:_SIZES]:
        table.add_row(f"{value:,}", f"{number:,}", f"{value * number:,}")
    page = [
        heading(f"{title}: {size(graph)}"),
        figures(lines),
        Padding(table, (1, 0, 0, 2)),
    ]
    if len(values) > _SIZES:
        page.append(paragraph(f"... and {len(values) - _SIZES} smaller sizes."))
    if pairs:
        page.append(exposed_list(pairs, n_forced))
    return page


def exposed_list(pairs: Sequence[Exposed], n_forced: int) -> RenderableType:
    """Identified users with the reason."""
    lines = [
        f"{words.name(pair.user)} did {words.name(pair.behaviour)}: {pair.reason}."
        for pair in pairs
    ]
    if n_forced > len(pairs):
        lines.append(f"... and {n_forced - len(pairs)} more; --top 0 shows all")
    return bullets("Identified:", lines)
