"""Measures for people and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from anonymatch.base import numbers, text
from anonymatch.cli import json_output
from anonymatch.cli.screens import elements
from anonymatch.reporting import terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am

__all__ = ["metrics_record", "metrics_screen"]

_LN2 = math.log(2.0)
_TITLES = {
    "degree": "degree of anonymity",
    "weighted_degree": "weighted degree",
    "matching_entropy": "matching entropy",
    "log_rescaled": "log-rescaled",
    "below": "below the threshold",
}


def metrics_record(metrics: am.Metrics) -> json_output.Record:
    """Every figure with its interval, and a line a user."""
    figures = {
        name: json_output.plain({"value": figure.value, "low": figure.low, "high": figure.high})
        for name, figure in metrics.figures.items()
    }
    return {
        **{name: figure["value"] for name, figure in figures.items()},
        "weighted_degree": figures.get("weighted_degree", {}).get("value"),
        "intervals": {name: [figure["low"], figure["high"]] for name, figure in figures.items()},
        "reasons": dict(metrics.reasons),
        "meanings": {name: list(meaning) for name, meaning in metrics.meanings.items()},
        "confidence": metrics.confidence,
        "count": json_output.count_record(metrics.count),
        "users": [json_output.plain(row) for row in metrics.users.iter_rows(named=True)],
    }


def metrics_screen(
    title: str, graph: am.Graph, metrics: am.Metrics, *, top: int
) -> list[RenderableType]:
    """The system's figures, then the users, those with the smallest sets first."""
    lines: list[terminal.Line] = list(elements.count_lines(graph, metrics.count)[:1])
    if metrics.confidence < 1.0:
        low, high = (numbers.power(end) for end in (metrics.count.low, metrics.count.high))
        sure = (
            f"{numbers.percent(metrics.confidence)} sure; estimated with seed {metrics.count.seed}"
        )
        lines.append(("", f"{low} to {high}", sure))
    for name, shown in _TITLES.items():
        if name in metrics.figures:
            lines.append(
                (
                    shown,
                    _figure(metrics, name),
                    text.renamed(metrics.meanings[name].meaning, *graph.nouns),
                )
            )
        elif name in metrics.reasons:
            lines.append((shown, "none", text.renamed(metrics.reasons[name], *graph.nouns)))
    return [
        terminal.heading(f"{title}: {elements.size(graph)}"),
        terminal.figures(lines),
        *_users(metrics, top, *graph.nouns),
    ]


def _figure(metrics: am.Metrics, name: str) -> str:
    figure = metrics.figures[name]
    if name == "below":
        return numbers.span(figure.value, figure.low, figure.high, numbers.percent)
    if name == "log_rescaled":
        log = metrics.log_rescaled_log
        return (
            "0" if log == -math.inf else f"{figure.value:.4g}" if figure.value else f"e^{log:.6g}"
        )
    if figure.high - figure.low < 1e-6:
        return f"{figure.value:.4f}"
    return f"{figure.low:.4f} to {figure.high:.4f}"


def _users(metrics: am.Metrics, top: int, user: str, behaviour: str) -> list[RenderableType]:
    columns = ("effective", "shannon", "probability", "guess", "degree")
    frame = metrics.users.sort("effective", maintain_order=True, nulls_last=False)
    shown = frame if top == 0 else frame.head(top)
    table = terminal.columns(
        user, "best guess", right=("probability", "set size", "bits", "candidates")
    )
    for one, effective, shannon, probability, guess, degree in shown.select(
        "user", *columns
    ).iter_rows():
        table.add_row(
            text.name(one),
            "–" if guess is None else text.name(guess),
            "–" if probability is None else numbers.percent(probability),
            _number(effective),
            _number(shannon),
            str(degree),
        )
    title = f"{user.capitalize()}s, the smallest effective sets first"
    if len(shown) < len(frame):
        title += f" ({len(shown)} of {len(frame):,}; --top 0 shows all)"
    return [
        terminal.paragraph(f"{title}:"),
        terminal.indented(table),
        terminal.paragraph(
            "probability: that the attacker's best guess is right; set size: as many equally "
            f"likely {behaviour}s as the {user} hides among; bits: what an attacker lacks on "
            f"average; –: not known. --out FILE has more figures of each {user}."
        ),
    ]


def _number(value: Any) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.4g}"
