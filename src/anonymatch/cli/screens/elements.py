"""Answers for people: every figure with one line that says what it means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from rich.padding import Padding
from rich.text import Text

from anonymatch.base import numbers, text
from anonymatch.cli.screens import methods
from anonymatch.cli.screens.confidence import Certainty, order
from anonymatch.counting import log_of
from anonymatch.graph import structure
from anonymatch.reporting.terminal import Line, bullets, columns, figures, heading, paragraph

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.audits import Identified


__all__ = [
    "blocks_screen",
    "bounds_screen",
    "certainty_table",
    "count_lines",
    "count_screen",
    "identified_list",
    "posterior_screen",
    "sample_screen",
    "size",
]

_SIZES = 20  # of blocks that are told apart
_DRAWN = 4  # matchings that are shown beside each other
_NAMED = 8  # users of a block who are named
_OUT_OF_REACH_SECONDS = 30 * 86400.0
_OUT_OF_REACH_BYTES = 2.0**42


def size(graph: am.Graph) -> str:
    """How large a graph is."""
    user, behaviour = graph.nouns
    sizes = ((graph.n_users, user), (graph.n_behaviours, behaviour), (graph.n_edges, "edge"))
    return ", ".join(numbers.plural(amount, noun) for amount, noun in sizes) + (
        ", weighted" if graph.weighted else ""
    )


# ---- count


def count_screen(
    title: str, graph: am.Graph, count: am.Count, *, digits: bool, explain: bool
) -> list[RenderableType]:
    """A count and what it means."""
    screen = [heading(f"{title}: {size(graph)}"), figures(count_lines(graph, count))]
    if count.witness is not None:
        return [*screen, paragraph(_no_matching(graph, count.witness))]
    if not count.exact and not graph.weighted:
        screen.append(paragraph(_price(count.plan)))
    if explain:
        screen.append(bullets(f"How: {count.method}", str(count.plan).splitlines()))
    if digits and count.exact:
        assert isinstance(count.value, int | Fraction)
        screen.append(paragraph(numbers.all_digits(count.value)))
    return screen


def count_lines(graph: am.Graph, count: am.Count) -> list[Line]:
    """The figures of a count."""
    how, why = (text.renamed(part, *graph.nouns) for part in methods.in_words(count.method))
    method = ("found by", how, why)
    if count.log == -math.inf:
        return [("matchings", "0", f"{ways_to_match(graph)}; exact")]
    if graph.weighted:
        return [
            ("total weight", _value(count), "of all matchings, each the product of its weights"),
            ("", "", _trust(count)),
            ("log2", f"{count.log2:.10g}", "of the total weight; it depends on the weights' unit"),
            *_luck(count),
            method,
        ]
    lines = [("matchings", _value(count), f"{ways_to_match(graph)}; {_trust(count)}")]
    least = "" if count.exact else "at least "
    anonymity = (
        numbers.bits(count.low) if count.exact else numbers.bits_between(count.low, count.high)
    )
    lines.append(("anonymity", anonymity, "log2 of it: yes-no answers an attacker still needs"))
    each = numbers.bits(count.low / max(graph.n_users, 1))
    meaning = f"on average; some {graph.nouns[0]}s may have none: see blocks"
    lines.append((f"per {graph.nouns[0]}", least + each, meaning))
    full = _full(graph)
    if full > 0:
        reached = numbers.percent(max(count.low / full, 0.0))
        meaning = f"if everybody fitted everything; {least}{reached} of it is reached"
        lines.append(("at most", numbers.bits(full), meaning))
    return [*lines, *_luck(count), method]


def _luck(count: am.Count) -> list[Line]:
    """What an estimate rests on, and what holds without it."""
    if count.confidence == 1.0:
        return []
    draws = f"seed {count.seed}: the same seed gives the same answer"
    if count.effective:
        worth = f"{count.effective:,.0f} draws"
        lines = [("worth", worth, f"independent draws that would tell as much; {draws}")]
    else:
        lines = [("worth", "little", f"draws and chain hardly meet: more --budget helps; {draws}")]
    sure = numbers.bits_between(*count.proven)
    return [*lines, ("proven", sure, "bits of it that need no luck")]


def _value(count: am.Count) -> str:
    if count.exact:  # a number too long to show need not be multiplied out
        return (
            numbers.power(count.log) if count.log >= 60 else numbers.count(count.value, count.log)
        )
    if count.high - count.low < 1e-6:
        return numbers.count(count.value, count.log)
    return f"{numbers.power(count.low)} to {numbers.power(count.high)}"


def _trust(count: am.Count) -> str:
    if count.exact:
        return "exact"
    sure = "proven" if count.confidence == 1.0 else f"{numbers.percent(count.confidence)} sure"
    width = count.high - count.low
    return f"{sure}, within {math.expm1(width):.1g} of it" if width < 1e-6 else f"{sure} interval"


def _full(graph: am.Graph) -> float:
    """Natural log of the count if every user had every behaviour."""
    return math.lgamma(graph.n_behaviours + 1) - math.lgamma(graph.n_behaviours - graph.n_users + 1)


def _price(plan: am.Plan) -> str:
    if math.isinf(plan.seconds):
        return "No exact method reaches one of its blocks."
    cost = numbers.cost_in_words(plan.seconds, plan.memory)
    if plan.seconds > _OUT_OF_REACH_SECONDS or plan.memory > _OUT_OF_REACH_BYTES:
        return f"An exact count would take {cost}: out of reach."
    allow = f"--budget {math.ceil(plan.seconds)}"
    if plan.memory >= 2**30:
        allow += f" --memory {math.ceil(plan.memory / 2**30)}"
    return f"An exact count would take {cost}: allow it with {allow}."


def ways_to_match(graph: am.Graph) -> str:
    """What is counted."""
    user, behaviour = graph.nouns
    those = "what was seen" if behaviour == "behaviour" else f"{behaviour}s"
    return f"ways to match {user}s to {those}"


def _no_matching(graph: am.Graph, why: am.Witness) -> str:
    user, behaviour = graph.nouns
    advice = (
        "widen what they may have done, or drop users who did nothing"
        if behaviour == "behaviour"
        else f"check what fits these {user}s"
    )
    return (
        f"Why: {numbers.plural(len(why.users), user)} ({text.names(why.users)}) "
        f"{'fits' if len(why.users) == 1 else 'together fit'} only "
        f"{numbers.plural(len(why.behaviours), behaviour)}"
        + (f" ({text.names(why.behaviours)})" if why.behaviours else "")
        + f".\nWhat to do: {advice}."
    )


# ---- posterior


def posterior_screen(
    title: str,
    posterior: am.Posterior,
    sureness: Certainty,
    *,
    top: int,
    counts: bool,
    explain: bool,
) -> list[RenderableType]:
    """The users of whom an attacker is surest."""
    graph = posterior.graph
    trust = "exact" if posterior.exact else f"errors below {posterior.error:.1g}"
    if posterior.confidence < 1.0:
        trust += f", {numbers.percent(posterior.confidence)} sure"
    likely = "as likely as they weigh" if graph.weighted else "equally likely"
    rows = order(sureness)
    shown = rows if top == 0 else rows[:top]
    sure = int((sureness.probability > 1 - 1e-12).sum())
    screen = [
        heading(f"{title}: {size(graph)}"),
        figures(
            [
                (
                    "probabilities",
                    trust,
                    f"all matchings {likely}; {_source(posterior)}see --explain",
                ),
                (
                    "identified",
                    numbers.plural(sure, graph.nouns[0]),
                    f"whose {graph.nouns[1]} is certain",
                ),
            ]
        ),
        certainty_table(graph, sureness, shown, posterior.counts if counts else None),
    ]
    if len(shown) < len(rows):
        screen.append(
            paragraph(
                f"... and {numbers.plural(len(rows) - len(shown), graph.nouns[0])} who are not "
                "worse off. --top 0 shows all, --out FILE saves every probability."
            )
        )
    if explain:
        screen.append(bullets(f"How: {posterior.method}", str(posterior.plan).splitlines()))
    return screen


def _source(posterior: am.Posterior) -> str:
    return "" if posterior.confidence == 1.0 else f"estimated with seed {posterior.seed}; "


def certainty_table(
    graph: am.Graph,
    sureness: Certainty,
    rows: Sequence[int] | npt.NDArray[np.int64],
    counts: am.EdgeCounts | None = None,
) -> RenderableType:
    """A line a user: best guess, its probability, what the candidates are worth, maybe its
    matchings.
    """
    more = () if counts is None else ("matchings",)
    table = columns(graph.nouns[0], "best guess", right=("probability", "hides among", *more))
    for row in np.asarray(rows).tolist():
        user, guess = graph.users[row], graph.behaviours[int(sureness.behaviour[row])]
        cells = [
            text.name(user),
            text.name(guess),
            numbers.percent(float(sureness.probability[row])),
            f"{sureness.candidates[row]:.3g} of {graph.degrees[row]}",
        ]
        if counts is not None:
            through = counts[user][guess]
            cells.append(numbers.count(through, log_of(through)))
        table.add_row(*map(Text, cells))
    return Padding(table, (1, 0, 0, 2))


# ---- sample


def sample_screen(
    title: str, graph: am.Graph, drawn: npt.NDArray[np.int32], how: str, *, top: int
) -> list[RenderableType]:
    """Matchings beside each other, a line a user."""
    shown = graph.n_users if top == 0 else min(top, graph.n_users)
    table = columns(graph.nouns[0], *(f"matching {k + 1}" for k in range(min(len(drawn), _DRAWN))))
    users, behaviours = graph.users, graph.behaviours
    for user, row in zip(users[:shown], drawn[:_DRAWN, :shown].T.tolist(), strict=True):
        table.add_row(*(Text(text.name(v)) for v in (user, *(behaviours[j] for j in row))))
    screen = [
        heading(f"{title}: {size(graph)}"),
        figures([("drawn", numbers.plural(len(drawn), "matching"), how)]),
        Padding(table, (1, 0, 0, 2)),
    ]
    more = []
    if shown < graph.n_users:
        more.append(
            f"{numbers.plural(graph.n_users - shown, f'more {graph.nouns[0]}')} (--top 0 shows all)"
        )
    if len(drawn) > _DRAWN:
        more.append(numbers.plural(len(drawn) - _DRAWN, "more matching"))
    if more:
        screen.append(paragraph(f"... and {' and '.join(more)}; --out FILE saves everything."))
    return screen


# ---- bounds and blocks


def bounds_screen(
    title: str, graph: am.Graph, bounds: am.Bounds, why: am.Witness | None
) -> list[RenderableType]:
    """Every proven bound, in bits, and what it rests on."""
    lines = [
        ("at least", numbers.bits(bounds.lower), "for this graph, proven without counting"),
        ("at most", numbers.bits(bounds.upper), "for this graph, proven without counting"),
    ]
    if not graph.weighted and graph.n_users == graph.n_behaviours:
        lines.append(("at most", numbers.bits(bounds.bregman), methods.SAME_DEGREES))
    table = columns("bound", "bits", "what it rests on")
    for side, prefix in (("at most", "upper"), ("at least", "lower")):
        ours = ((name, value) for name, value in bounds.all.items() if name.startswith(prefix))
        for name, value in sorted(ours, key=lambda item: -item[1]):
            table.add_row(side, numbers.bits(value), Text(methods.bound(name)))
    screen = [heading(f"{title}: {size(graph)}"), figures(lines), Padding(table, (1, 0, 0, 2))]
    return screen if why is None else [*screen, paragraph(_no_matching(graph, why))]


def blocks_screen(
    title: str, graph: am.Graph, parts: am.Blocks, pairs: Sequence[Identified], *, top: int
) -> list[RenderableType]:
    """Blocks by size, who hides among whom, and who is exposed and why."""
    blocks = structure(graph)
    sizes = np.bincount(blocks.block_of_user, minlength=blocks.n_blocks)
    used = blocks.block_of_behaviour[blocks.block_of_behaviour >= 0]
    forced = (sizes == 1) & (np.bincount(used, minlength=blocks.n_blocks) == 1)
    n_forced = int(forced.sum())
    exposed = numbers.percent(n_forced / max(graph.n_users, 1))
    lines = [
        ("blocks", f"{len(sizes):,}", "groups that hide only among themselves"),
        (
            "largest",
            numbers.plural(int(sizes.max(initial=0)), graph.nouns[0]),
            "the most that anybody can hide among",
        ),
        (
            "identified",
            numbers.plural(n_forced, graph.nouns[0]),
            f"whose {graph.nouns[1]} is certain: {exposed} of all",
        ),
    ]
    screen = [
        heading(f"{title}: {size(graph)}"),
        figures(lines),
        *_size_table(sizes, graph.nouns[0]),
    ]
    hiding = np.flatnonzero(~forced)
    if len(hiding):
        screen.append(_hiding_list(parts, hiding[np.argsort(-sizes[hiding], kind="stable")], top))
    if pairs:
        screen.append(identified_list(pairs, n_forced, graph.nouns[1] == "output"))
    return screen


def _size_table(sizes: npt.NDArray[np.int64], user: str) -> list[RenderableType]:
    table = columns(right=(f"{user}s in a block", "blocks", f"{user}s"))
    values, copies = np.unique(sizes, return_counts=True)
    for value, number in list(zip(values.tolist(), copies.tolist(), strict=True))[::-1][:_SIZES]:
        table.add_row(f"{value:,}", f"{number:,}", f"{value * number:,}")
    screen: list[RenderableType] = [Padding(table, (1, 0, 0, 2))]
    if len(values) > _SIZES:
        screen.append(paragraph(f"... and {len(values) - _SIZES} smaller sizes."))
    return screen


def _hiding_list(parts: am.Blocks, order: npt.NDArray[np.int64], top: int) -> RenderableType:
    """The users of each block, the largest first."""
    shown = order if top == 0 else order[:top]
    lines = []
    for part in (parts[k] for k in shown.tolist()):
        user, behaviour = part.whole.nouns
        sizes = numbers.plural(part.n_users, user), numbers.plural(part.n_behaviours, behaviour)
        lines.append(f"{text.names(part.users, _NAMED)}: {', '.join(sizes)}")
    if len(shown) < len(order):
        more = numbers.plural(len(order) - len(shown), "block")
        lines.append(f"... and {more} that are not larger; --top 0 shows all")
    return bullets("Who hides among whom:", lines)


def identified_list(
    pairs: Sequence[Identified], n_forced: int, spent: bool = False
) -> RenderableType:
    """Identified users with the reason; inputs spend outputs."""
    did = "spends" if spent else "did"
    lines = [
        f"{text.name(pair.user)} {did} {text.name(pair.behaviour)}: {pair.reason}."
        for pair in pairs
    ]
    if n_forced > len(pairs):
        lines.append(f"... and {n_forced - len(pairs):,} more; --top 0 shows all")
    return bullets("Identified:", lines)
