"""Attacks and improvements for people."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymatch.base import numbers, text
from anonymatch.cli.screens import elements
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["attack_screen", "improve_screen", "outcomes_screen"]

_LN2 = math.log(2.0)
_BAR = 16  # characters of the longest bar
_SHORT = 30.0  # natural log of a number that is written in digits


def attack_screen(
    title: str, graph: am.Graph, attack: am.Attack, *, top: int
) -> list[RenderableType]:
    """The campaign in figures, then step by step with what is left as bars."""
    screen = [
        terminal.heading(f"{title}: {elements.size(graph)}"),
        terminal.figures(_lines(attack, graph.nouns[1])),
    ]
    if not attack.steps:
        return [
            *screen,
            terminal.paragraph("One matching is left: everybody is identified already."),
        ]
    along = attack.truth != "unknown"
    table = terminal.columns(
        "step", "target", *(("did", "also identified") if along else ()),
        right=("bits left", "fall", *(() if along else ("also identified",))),
    )  # fmt: skip
    table.add_column("left", no_wrap=True)
    logs = attack.logs
    most = max(logs[0], 1e-300)
    shown = attack.steps if top == 0 else attack.steps[:top]
    for step, before, after in zip(attack.steps[: len(shown)], logs, logs[1:], strict=False):
        revealed = (text.name(step.behaviour), _forced(step)) if along else ()
        table.add_row(
            str(step.number),
            _target(step),
            *revealed,
            _bits(after),
            _bits(before - after),
            *(() if along else (_amount(step.n_forced),)),
            "#" * max(0, round(_BAR * after / most)),
        )
    screen.append(terminal.indented(table))
    if len(shown) < len(attack.steps):
        screen.append(
            terminal.paragraph(f"{len(attack.steps) - len(shown):,} steps more: --top 0.")
        )
    if not along:
        others = f"also identified: how many other {graph.nouns[0]}s, on average."
        screen.append(terminal.paragraph(others))
    return screen


def outcomes_screen(exposure: am.Exposure) -> list[RenderableType]:
    """What falls with each behaviour that one user may have done."""
    title = f"If {text.name(exposure.user)} did, and then is left:"
    if len(exposure.outcomes) == 1:
        did = text.name(exposure.outcomes[0].behaviour)
        return [terminal.paragraph(f"{text.name(exposure.user)} is identified already: {did}.")]
    table = terminal.columns("behaviour", "also identified", right=("probability", "bits left"))
    for outcome in sorted(exposure.outcomes, key=lambda one: -one.probability):
        who = [
            f"{text.name(user)} ({text.name(did)})" for user, did in outcome.newly_forced.items()
        ]
        table.add_row(
            text.name(outcome.behaviour),
            text.names(who) or "nobody",
            numbers.percent(float(outcome.probability)),
            _bits(outcome.log),
        )
    return [terminal.paragraph(title), terminal.indented(table)]


def _forced(step: am.AttackStep) -> str:
    return text.names(list(step.newly_forced or ())) or "nobody"


def _bits(log: float) -> str:
    """Bits without the word; rounding below 0 is 0."""
    return numbers.bits(log if log > 1e-9 or log < -1e-9 else 0.0).split()[0]


def _lines(attack: am.Attack, behaviour: str) -> list[terminal.Line]:
    how = {
        "given": "along the truth that was given",
        "sampled": f"along a truth that was drawn, seed {attack.seed}",
        "unknown": "on average over all matchings",
    }[attack.truth]
    if attack.samples is not None:
        how += f", estimated from {attack.samples} drawn truths, seed {attack.seed}"
    start = attack.start
    what = "weight of all matchings" if start.weighted else "matchings"
    lines = [("before", numbers.power(start.log), f"{what}; {numbers.bits(start.log)}")]
    if start.exact and start.log < _SHORT:
        lines = [("before", _number(start.value, start.log), f"{what}; {numbers.bits(start.log)}")]
    if attack.steps:
        first, last = attack.steps[0], attack.steps[-1]
        lines += [
            (
                "after the first",
                _number(first.expected_left, first.log_expected_left),
                f"{what} left on average when the target's {behaviour} is learnt"
                + ("; exact" if attack.exact and attack.samples is None else ""),
            ),
            ("after all", _bits(attack.logs[-1]) + " bits", how),
        ]
        if attack.samples is not None:
            low, high = last.interval
            lines.append(("", numbers.bits_between(low, high), "95 % interval of that average"))
        if len(first.ties) > 1:
            names = text.names(first.ties[:4], total=len(first.ties))
            lines.append(("as good a target", names, "ties of the first step"))
    if attack.finished:
        lines.append(("identified", "everybody", "one matching is left"))
    return lines


def _target(step: am.AttackStep) -> str:
    if step.target is not None:
        return text.name(step.target)
    user, probability = max(step.targets.items(), key=lambda item: item[1])
    return f"depends: {text.name(user)} in {numbers.percent(float(probability))}"


def _amount(value: int | Fraction | float | None) -> str:
    return "?" if value is None else f"{float(value):.4g}"


def _number(value: int | Fraction | float, log: float) -> str:
    """Whole numbers in digits, others as decimals: people do not read long fractions."""
    if isinstance(value, Fraction) and value.denominator != 1 and log < _SHORT:
        return f"{float(value):.6g}"
    return numbers.count(value, log)


def improve_screen(
    title: str, graph: am.Graph, improvement: am.Improvement
) -> list[RenderableType]:
    """The edges to add, best first, and what each gains."""
    before = "none" if improvement.start.log == -math.inf else numbers.bits(improvement.start.log)
    what = "total weight" if graph.weighted else "matchings"
    trust = "" if improvement.start.high - improvement.start.low < 1e-6 else "; about, see count"
    lines = [("before", before, f"log2 of the {what}{trust}")]
    if improvement.edges:
        more = numbers.plural(len(improvement.edges), "edge")
        lines.append(("after", numbers.bits(improvement.log), f"with {more} more"))
        if improvement.confidence < 1.0:
            share = numbers.percent(improvement.confidence)
            sure = f"{share} sure; estimated with seed {improvement.seed}"
            lines.append(("", numbers.bits_between(improvement.low, improvement.high), sure))
    screen = [terminal.heading(f"{title}: {elements.size(graph)}"), terminal.figures(lines)]
    if not improvement.edges and not improvement.not_searched:
        screen.append(terminal.paragraph("No edge would add a matching."))
    if improvement.edges:
        table = terminal.columns(
            f"add {graph.nouns[0]}", graph.nouns[1], "helps most", right=("times", "gain")
        )
        for edge in improvement.edges:
            table.add_row(
                text.name(edge.user),
                text.name(edge.behaviour),
                "" if edge.helped is None else text.name(edge.helped),
                "with the next" if not edge.alone else f"{float(edge.factor):.4g}",
                "" if not edge.alone else _gained(edge),
            )
        screen.append(terminal.indented(table))
    if improvement.not_searched:
        blocks = numbers.plural(len(improvement.not_searched), "block")
        screen.append(
            terminal.paragraph(
                f"Not searched: {blocks} beyond the budget; a larger --budget may reach."
            )
        )
    return screen


def _gained(edge: am.AddedEdge) -> str:
    if edge.confidence == 1.0:
        return numbers.bits(edge.bits * _LN2)
    return numbers.bits_between(edge.low * _LN2, edge.high * _LN2)
