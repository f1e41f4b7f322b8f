"""Designs and random graphs for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import anonymatch as am
from anonymatch.base import numbers
from anonymatch.cli import json_output
from anonymatch.reporting import terminal
from anonymatch.theory.designs import graph_of

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["design_screen", "random_record", "random_screen"]

_PARTS = 12  # kinds of parts that are listed
_POSTERIORS_UP_TO = 20  # users of a part: a moment
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def design_screen(design: am.Design, min_part: int, digits: bool) -> list[RenderableType]:
    """The design, its parts, and other graphs of the same cost."""
    title = f"{numbers.plural(design.users, 'user')}, {numbers.plural(design.edges, 'edge')}"
    screen = [
        terminal.heading(f"{title}: {design.method}, for {_goal(design.objective)}"),
        terminal.figures(_lines(design)),
        terminal.indented(_parts(design)),
        terminal.paragraph(
            " ".join(_sentence(text) for text in (design.proof, design.note) if text)
        ),
        terminal.indented(_rivals(design, min_part)),
        terminal.paragraph(
            "left: matchings left on average when the attacker exposes the best target; the most "
            "matchings need not leave the most. guess: probability that one guess about the "
            "worst-off "
            "user is right."
        ),
    ]
    if digits and design.value is not None:
        screen.append(terminal.paragraph(numbers.all_digits(design.value)))
    return screen


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _goal(objective: str) -> str:
    return "most matchings" if objective == "matchings" else "most left after an attack"


def _lines(design: am.Design) -> list[terminal.Line]:
    amount = numbers.power(design.low)
    if design.exact:
        amount = amount if design.value is None else numbers.count(design.value, design.log)
    trust = "exact" if design.exact else f"at least; at most {numbers.power(design.high)}"
    each = numbers.bits(design.log / design.users)
    lines = [
        ("matchings", amount, f"ways to match users to what is seen; {trust}"),
        ("anonymity", numbers.bits(design.log), f"log2 of it; {each} a user"),
        ("at most", numbers.bits(design.bound), "what no graph with as many edges can exceed"),
        (
            "of the bound",
            numbers.percent(design.ratio),
            "matchings as a share of the bound of as many edges"
            + ("" if design.exact else ", at least"),
        ),
        (
            "after an attack",
            numbers.bits(max(design.attack_log, 0.0)),
            "left on average when the attacker exposes the best target",
        ),
        ("smallest group", numbers.plural(design.smallest_group, "user"), _group(design)),
    ]
    if design.case is not None:
        lines.append(("the paper's case", design.case, _CASES[design.case]))
    return lines


_CASES = {
    "A": "equal complete groups: the bound is reached",
    "B": "complete groups, and some one larger that lack a matching",
    "C": "as B, with the edges that are left put back into the larger groups",
    "D": "equal complete groups; the edges that are left are spare",
    "ext": "not defined by the paper: its rule continued",
}


def _group(design: am.Design) -> str:
    if design.smallest_group == 1:
        return "somebody is exposed: there is no one to hide among"
    return "that hide among each other"


def _parts(design: am.Design) -> Any:
    table = terminal.columns("groups", right=("number", "users each", "edges each", "bits each"))
    for part in design.parts[:_PARTS]:
        table.add_row(
            part.kind,
            f"{part.number:,}",
            f"{part.size:,}",
            f"{part.edges:,}",
            numbers.bits(part.log).removesuffix("s").removesuffix(" bit"),
        )
    if len(design.parts) > _PARTS:
        table.add_row(f"and {len(design.parts) - _PARTS} kinds more")
    if design.spare:
        table.add_row("spare edges, in no matching", "", "", f"{design.spare:,}")
    return table


def _rivals(design: am.Design, min_part: int) -> Any:
    table = terminal.columns(
        "for the same cost", right=("bits", "of the bound", "left, bits", "guess")
    )
    size: dict[str, Any] = {"users": design.users, "edges": design.edges}
    rows = {
        "best, most matchings": am.design(**size, min_part=min_part),
        "best, most left after an attack": am.design(
            **size, min_part=min_part, objective="after_attack"
        ),
        "the paper's partition": am.design(**size, method="paper"),
    }
    for name, other in rows.items():
        table.add_row(
            name,
            _bits(other.low, other.high if not other.exact else other.low),
            numbers.percent(other.ratio),
            _bits(other.attack_log, other.attack_log),
            _guess(other),
        )
    for rival in design.rivals():
        share = math.exp(min(rival.low - design.bound, 0.0))
        name = rival.name + (" (expected)" if rival.expected else "")
        table.add_row(name, _bits(rival.low, rival.high), numbers.percent(share), "", "")
    return table


def _guess(design: am.Design) -> str:
    """The probability of the best guess about the worst-off user, where it is quickly known."""
    worst = 0.0
    for part in design.parts:
        if part.edges == part.size**2:
            worst = max(worst, 1 / part.size)
        elif part.size <= _POSTERIORS_UP_TO:
            graph = graph_of(part.size, part.shape.cells())
            worst = max(worst, float(am.posterior(graph).probabilities.max()))
        else:
            return ""
    return numbers.percent(worst)


def _bits(low: float, high: float) -> str:
    if low == -math.inf:
        return "none"
    text = numbers.bits(low) if low == high else numbers.bits_between(low, high)
    return text.removesuffix("s").removesuffix(" bit")


# ---- random graphs


def random_record(log: float, drawn: am.RandomDistribution | None) -> json_output.Record:
    """Expected, and as drawn."""
    record: json_output.Record = {"log_expected": log, "samples": 0}
    if drawn is None:
        return record
    return record | {
        "samples": drawn.samples,
        "seed": drawn.seed,
        "mean": drawn.mean,
        "zero_share": drawn.zero_share,
        "quantiles": {str(share): str(drawn.quantile(share)) for share in _QUANTILES},
    }


def random_screen(
    users: int,
    degree: float | None,
    edges: int | None,
    log: float,
    drawn: am.RandomDistribution | None,
) -> list[RenderableType]:
    """What is expected of random graphs, and how rarely a typical one has it."""
    cost = edges if edges is not None else round((degree or 0.0) * users)
    kind = f"{degree:g} edges a user on average" if edges is None else f"exactly {edges:,} edges"
    lines = [("expected", numbers.bits(log), "log2 of the expected number of matchings")]
    if users <= cost <= users * users:
        bound = am.max_bound(users, cost)
        share = math.exp(min(log - bound, 0.0))
        lines += [
            ("at most", numbers.bits(bound), "what no graph with as many edges can exceed"),
            ("of the bound", numbers.percent(share), "expected matchings as a share of it"),
        ]
    screen = [
        terminal.heading(f"Random graphs of {numbers.plural(users, 'user')}, {kind}"),
        terminal.figures(lines),
    ]
    if drawn is None:
        screen.append(
            terminal.paragraph(
                "Few graphs with very many matchings can make the expectation: a typical one has "
                "fewer, often none. --samples N draws some."
            )
        )
        return screen
    table = terminal.columns("of the graphs drawn", right=("matchings at most",))
    for share in _QUANTILES:
        table.add_row(numbers.percent(share), f"{drawn.quantile(share):,}")
    none = numbers.percent(drawn.zero_share)
    mean = f"{float(drawn.mean):.6g}"
    return [
        *screen,
        terminal.indented(table),
        terminal.paragraph(
            f"{numbers.plural(drawn.samples, 'graph')} drawn, seed {drawn.seed}: {mean} matchings "
            f"on average; {none} have none at all."
        ),
    ]
