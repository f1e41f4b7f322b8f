"""Attacks and improvements for people."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymatch.cli import pages, words

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["attack_page", "improve_page"]

_BAR = 24  # characters of the longest bar


def attack_page(title: str, graph: am.Graph, found: am.Attack, *, top: int) -> list[RenderableType]:
    """The campaign in figures, then step by step with what is left as bars."""
    page = [pages.heading(f"{title}: {pages.size(graph)}"), pages.figures(_lines(found))]
    if not found.steps:
        return [*page, pages.paragraph("One matching is left: everybody is identified already.")]
    along = found.truth != "unknown"
    table = pages.columns(
        "step", "target", *(("did",) if along else ()), "left",
        right=("bits left", "fall", "also identified"),
    )  # fmt: skip
    logs = found.logs
    most = max(logs[0], 1e-300)
    shown = found.steps if top == 0 else found.steps[:top]
    for step, before, after in zip(found.steps, logs, logs[1:], strict=False):
        if step.number > len(shown):
            break
        table.add_row(
            str(step.number),
            _target(step),
            *((words.name(step.behaviour),) if along else ()),
            "#" * max(0, round(_BAR * after / most)),
            words.bits(max(after, 0.0)).removesuffix("s").removesuffix(" bit"),
            words.bits(max(before - after, 0.0)).removesuffix("s").removesuffix(" bit"),
            "?" if step.n_forced is None else _amount(step.n_forced),
        )
    page.append(pages.indented(table))
    if len(shown) < len(found.steps):
        page.append(pages.paragraph(f"{len(found.steps) - len(shown):,} steps more: --top 0."))
    return page


def _lines(found: am.Attack) -> list[pages.Line]:
    how = {
        "given": "along the truth that was given",
        "sampled": f"along a truth that was drawn, seed {found.seed}",
        "unknown": "on average over all matchings",
    }[found.truth]
    if found.samples is not None:
        how += f", estimated from {found.samples} drawn truths, seed {found.seed}"
    start = found.start
    lines = [
        ("before", words.number(start.value, start.log), f"matchings; {words.bits(start.low)}"),
    ]
    if found.steps:
        first, last = found.steps[0], found.steps[-1]
        lines += [
            (
                "after the first",
                words.number(first.expected_left, first.log_expected_left),
                "matchings left on average when the target's behaviour is learnt"
                + ("; exact" if found.exact and found.samples is None else ""),
            ),
            ("after all", words.bits(max(found.logs[-1], 0.0)), how),
        ]
        if found.samples is not None:
            low, high = last.interval
            lines.append(("", words.bits_between(low, high), "95 % interval of that average"))
        if len(first.ties) > 1:
            names = words.names(first.ties[:4], total=len(first.ties))
            lines.append(("as good a target", names, "ties of the first step"))
    if found.finished:
        lines.append(("identified", "everybody", "one matching is left"))
    return lines


def _target(step: am.AttackStep) -> str:
    if step.target is not None:
        return words.name(step.target)
    user, chance = max(step.targets.items(), key=lambda item: item[1])
    return f"depends: {words.name(user)} in {words.share(float(chance))}"


def _amount(value: int | Fraction | float) -> str:
    return f"{float(value):.4g}"


def improve_page(title: str, graph: am.Graph, found: am.Improvement) -> list[RenderableType]:
    """The edges to add, best first, and what each gains."""
    before = "none" if found.start.log == -math.inf else words.bits(found.start.low)
    lines = [
        ("before", before, "anonymity: log2 of the matchings"),
        ("after", words.bits(found.log), f"with {words.plural(len(found.edges), 'edge')} more"),
    ]
    page = [pages.heading(f"{title}: {pages.size(graph)}"), pages.figures(lines)]
    if not found.edges:
        page.append(pages.paragraph("No edge would add a matching."))
    else:
        table = pages.columns("add user", "behaviour", "helps most", right=("times", "gain"))
        for edge in found.edges:
            table.add_row(
                words.name(edge.user),
                words.name(edge.behaviour),
                "" if edge.helped is None else words.name(edge.helped),
                "with the next" if not edge.alone else f"{float(edge.factor):.4g}",
                "" if not edge.alone else words.bits(edge.bits * math.log(2)),
            )
        page.append(pages.indented(table))
    if found.not_searched:
        blocks = words.plural(len(found.not_searched), "block")
        page.append(pages.paragraph(f"{blocks} beyond the budget: raise --budget to search them."))
    return page
