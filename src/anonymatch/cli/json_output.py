"""Answers as JSON: keys are the attribute names of the library and do not change.

Exact numbers are strings of digits, for most readers of JSON know only doubles; logs that are
infinite are null.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.numbers import all_digits
from anonymatch.base.text import Message
from anonymatch.cli.console import pipe_may_close
from anonymatch.cli.words import option
from anonymatch.graph import block_table

if TYPE_CHECKING:
    import anonymatch as am
    from anonymatch.audits import Identified
    from anonymatch.disclosure import MethodComparison, RoundLog
    from anonymatch.reporting import Gate

__all__ = [
    "blocks_record",
    "bounds_record",
    "count_record",
    "graph_record",
    "label",
    "method_comparison_record",
    "plain",
    "posterior_record",
    "print_json",
    "rounds_record",
]

Record = dict[str, Any]

_PIECE = 10_000  # entries of a list that are turned into text at once


VERSION = 2
"""Of the keys of JSON; a key that gets another name or meaning raises it."""


def print_json(record: Record) -> None:
    """Write one JSON object on one line of standard output, long lists piece by piece."""
    with pipe_may_close():
        _write_json({"version": VERSION} | record)


def _write_json(record: Record) -> None:
    encode = json.JSONEncoder(allow_nan=False, default=label).encode  # far faster than json.dump
    for k, (key, value) in enumerate(record.items()):
        sys.stdout.write(f"{', ' if k else '{'}{encode(key)}: ")
        if not isinstance(value, list):
            sys.stdout.write(encode(value))
            continue
        for begin in range(0, len(value), _PIECE):
            sys.stdout.write(("," if begin else "[") + encode(value[begin : begin + _PIECE])[1:-1])
        sys.stdout.write("]" if value else "[]")
    sys.stdout.write("}\n")


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
    return {
        "exact": count.exact,
        "value": _number(count.value),
        "log": _finite(count.log),
        "log2": _finite(count.log2),
        "low": _finite(count.low),
        "high": _finite(count.high),
        "confidence": count.confidence,
        "proven": [_finite(end) for end in count.proven],
        "effective": count.effective,
        "method": count.method,
        "seed": count.seed,
        "plan": _plan(count.plan),
        "witness": _witness(count.witness),
    }


def posterior_record(posterior: am.Posterior, *, counts: bool) -> Record:
    """Every edge with its probability."""
    graph = posterior.graph
    users, behaviours = _labels(graph.users), _labels(graph.behaviours)
    edges: list[Record] = [
        {"user": users[i], "behaviour": behaviours[j], "probability": probability}
        for i, j, probability in zip(
            graph.rows().tolist(),
            graph.indices.tolist(),
            posterior.probabilities.tolist(),
            strict=True,
        )
    ]
    if posterior.errors is not None:
        for edge, error in zip(edges, posterior.errors.tolist(), strict=True):
            edge["error"] = error
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


def bounds_record(bounds: am.Bounds, why: am.Witness | None) -> Record:
    """Every bound, as natural logs; the witness if there is no matching."""
    return {
        "upper": _finite(bounds.upper),
        "lower": _finite(bounds.lower),
        "bregman": _finite(bounds.bregman),
        "all": {name: _finite(value) for name, value in bounds.all.items()},
        "witness": _witness(why),
    }


def blocks_record(graph: am.Graph, pairs: Iterable[Identified]) -> Record:
    """Blocks and exposed pairs."""
    table = block_table(graph)
    users = _members(graph.users, table.users, table.user_offsets)
    behaviours = _members(graph.behaviours, table.behaviours, table.behaviour_offsets)
    edges = np.diff(table.edge_offsets).tolist()
    forced = [
        {"user": label(p.user), "behaviour": label(p.behaviour), "reason": p.reason} for p in pairs
    ]
    return {
        "blocks": [
            {"users": those, "behaviours": these, "n_edges": number}
            for those, these, number in zip(users, behaviours, edges, strict=True)
        ],
        "forced": forced,
        "forced_share": len(forced) / graph.n_users if graph.n_users else 0.0,
    }


def rounds_record(disclosure: am.Disclosure, gates: Sequence[Gate]) -> Record:
    """Who writes to whom over rounds, the curve, its half-life and who falls first."""
    from anonymatch.disclosure import half_right, verdict

    pairs = disclosure.profiles
    last = disclosure.curve[-1] if disclosure.curve else None
    return {
        "method": disclosure.method,
        "verdict": verdict(disclosure),
        "half_life": disclosure.half_life,
        "half_life_between": _half_life_between(disclosure),
        "half_life_error": disclosure.half_life_error,
        "gap": disclosure.gap,
        "end_gap": disclosure.end_gap,
        "half_right": _interval(half_right(disclosure)),
        "bits": _interval(last and last.bits),
        "right": _interval(last and last.right),
        "believed": _interval(last and last.believed),
        "calibrated": disclosure.calibrated,
        "log_score": disclosure.log_score,
        "curve": [
            {name: getattr(one, name) for name in ("rounds", "ordered", "disordered")}
            | {name: _interval(getattr(one, name)) for name in ("bits", "right", "believed")}
            for one in disclosure.curve
        ],
        "users": [plain(asdict(one)) for one in disclosure.users],
        "profiles": [
            {"user": label(user), "behaviour": label(behaviour), "probability": p, "error": error}
            for user, behaviour, p, error in pairs.iter_rows()
        ],
        "target": None if disclosure.target is None else label(disclosure.target),
        "friend_sets": None
        if disclosure.friend_sets is None
        else [
            {"friends": _labels(friends), "weight": weight}
            for friends, weight in disclosure.friend_sets
        ],
        "sets": disclosure.sets,
        "rhat": None if disclosure.rhat is None else _finite(disclosure.rhat),
        "sweeps": disclosure.sweeps,
        "strength": disclosure.strength,
        "seed": disclosure.seed,
        "notes": [Message(note).worded(option) for note in disclosure.notes],
        **_rounds_size(disclosure.log),
        "gates": [gate.to_dict() for gate in gates],
    }


def _half_life_between(disclosure: am.Disclosure) -> Record | None:
    """Return both ends, and no value if there is no single number."""
    between = _interval(disclosure.half_life_between)
    return None if between is None else between | {"value": disclosure.half_life}


def method_comparison_record(comparison: MethodComparison) -> Record:
    """What every method reaches on one log."""
    rows = [
        {
            "method": one.method,
            "right": _interval(one.right),
            "squared_distance": one.squared_distance,
            "believed": _interval(one.believed),
            "reason": one.reason.worded(option) or None,
        }
        for one in comparison.methods
    ]
    more = {"seed": comparison.seed, "notes": [Message(n).worded(option) for n in comparison.notes]}
    return {"methods": rows} | more | _rounds_size(comparison.log)


def _rounds_size(log: RoundLog) -> Record:
    return {
        "n_rounds": log.n_rounds,
        "n_users": len(log.users),
        "n_behaviours": len(log.behaviours),
        "n_messages": log.n_messages,
    }


def _interval(interval: am.Interval | None) -> Record | None:
    if interval is None:
        return None
    return {end: _finite(getattr(interval, end)) for end in ("value", "low", "high")}


def _members(
    names: Sequence[Hashable], members: npt.NDArray[np.int32], offsets: npt.NDArray[np.int32]
) -> list[list[str | int]]:
    """The names in each block, in the order of the graph: a million blocks in one go."""
    block = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    labels = [label(names[i]) for i in members[np.lexsort((members, block))].tolist()]
    return [labels[begin:end] for begin, end in pairwise(offsets.tolist())]


def label(name: Hashable) -> str | int:
    """A name as JSON has it: text and whole numbers stay, anything else becomes text."""
    return name if isinstance(name, str | int) and not isinstance(name, bool) else str(name)


def _labels(names: Iterable[Hashable]) -> list[str | int]:
    return [label(name) for name in names]


def _witness(why: am.Witness | None) -> Record | None:
    if why is None:
        return None
    return {"users": _labels(why.users), "behaviours": _labels(why.behaviours)}


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


def plain(value: Any) -> Any:
    """A result's own dictionary as JSON has it: exact numbers as text, infinite ones as null."""
    if isinstance(value, dict):
        return {str(label(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, Fraction):
        return all_digits(value)
    if isinstance(value, float):
        return _finite(value)
    if value is None or isinstance(value, bool):
        return value
    return label(value)


def _number(value: int | Fraction | float) -> str | float | None:
    return _finite(value) if isinstance(value, float) else all_digits(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
