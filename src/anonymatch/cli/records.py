"""Answers as JSON: keys are the attribute names of the library and do not change.

Exact numbers are strings of digits, for most readers of JSON know only doubles; logs that are
infinite are null.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Hashable, Iterable
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonymatch.cli.words import all_digits

if TYPE_CHECKING:
    import anonymatch as am
    from anonymatch.cli.exposed import Exposed

__all__ = [
    "blocks_record",
    "bounds_record",
    "count_record",
    "graph_record",
    "label",
    "posterior_record",
    "print_json",
]

Record = dict[str, Any]


def print_json(record: Record) -> None:
    """Write one JSON object on one line of standard output."""
    json.dump(record, sys.stdout, allow_nan=False, default=label)
    sys.stdout.write("\n")


def graph_record(graph: am.Graph) -> Record:
    """The size of a graph."""
    return {
        "n_users": graph.n_users,
        "n_behaviours": graph.n_behaviours,
        "n_edges": graph.n_edges,
        "weighted": graph.weighted,
    }


def count_record(count: am.Count) -> Record:
    """A count and how it was found."""
    why = count.witness
    return {
        "exact": count.exact,
        "value": _number(count.value),
        "log": _finite(count.log),
        "log2": _finite(count.log2),
        "low": _finite(count.low),
        "high": _finite(count.high),
        "confidence": count.confidence,
        "method": count.method,
        "seed": count.seed,
        "plan": _plan(count.plan),
        "witness": None
        if why is None
        else {"users": _labels(why.users), "behaviours": _labels(why.behaviours)},
    }


def posterior_record(posterior: am.Posterior, *, counts: bool) -> Record:
    """Every edge with its chance."""
    graph = posterior.graph
    users, behaviours = _labels(graph.users), _labels(graph.behaviours)
    edges: list[Record] = [
        {"user": users[i], "behaviour": behaviours[j], "chance": chance}
        for i, j, chance in zip(
            graph.rows().tolist(), graph.indices.tolist(), posterior.chances.tolist(), strict=True
        )
    ]
    if counts:
        for edge, value in zip(edges, posterior.counts.by_edge.tolist(), strict=True):
            edge["count"] = _number(value)
    return {
        "exact": posterior.exact,
        "error": posterior.error,
        "confidence": posterior.confidence,
        "method": posterior.method,
        "seed": posterior.seed,
        "plan": _plan(posterior.plan),
        "edges": edges,
    }


def bounds_record(found: am.Bounds) -> Record:
    """Every bound, as natural logs."""
    return {
        "upper": _finite(found.upper),
        "lower": _finite(found.lower),
        "bregman": _finite(found.bregman),
        "all": {name: _finite(value) for name, value in found.all.items()},
    }


def blocks_record(blocks: Iterable[Any], pairs: Iterable[Exposed], n_users: int) -> Record:
    """Blocks and exposed pairs."""
    forced = [
        {"user": label(p.user), "behaviour": label(p.behaviour), "reason": p.reason} for p in pairs
    ]
    return {
        "blocks": [
            {
                "users": _labels(block.users),
                "behaviours": _labels(block.behaviours),
                "n_edges": block.n_edges,
            }
            for block in blocks
        ],
        "forced": forced,
        "forced_share": len(forced) / n_users if n_users else 0.0,
    }


def label(name: Hashable) -> str | int:
    """A name as JSON has it: text and whole numbers stay, anything else becomes text."""
    return name if isinstance(name, str | int) and not isinstance(name, bool) else str(name)


def _labels(names: Iterable[Hashable]) -> list[str | int]:
    return [label(name) for name in names]


def _plan(plan: am.Plan) -> Record:
    steps = [
        {name: _finite(v) if isinstance(v, float) else v for name, v in asdict(step).items()}
        for step in plan.steps
    ]
    return {
        "method": plan.method,
        "seconds": _finite(plan.seconds),
        "memory": _finite(plan.memory),
        "steps": steps,
    }


def _number(value: int | Fraction | float) -> str | float | None:
    return _finite(value) if isinstance(value, float) else all_digits(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
