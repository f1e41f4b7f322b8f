"""Logs of networks for tests: written, drawn at random, and solved by all their histories."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Row = tuple[float, str, str, int]
Solution = dict[tuple[int, ...], float]


def written(
    path: Path, rows: list[Any], columns: tuple[str, ...] = ("time", "from", "to", "message")
) -> Path:
    """A log with these columns; rows may have more, which are left out."""
    lines = [",".join(columns)]
    lines += [",".join(str(cell) for cell in row[: len(columns)]) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def drawn(seed: int, packets: int = 5, layers: int = 2, width: int = 2) -> list[Row]:
    """Packets through layers of exponential mixes: rows in order of time."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for packet in range(packets):
        way = [f"u{packet}", *(f"m{k}{draw.integers(width)}" for k in range(layers)), f"x{packet}"]
        now = float(draw.uniform(0.0, 3.0))
        for hop in range(layers + 1):
            rows.append((now, way[hop], way[hop + 1], packet))
            now += float(draw.exponential(1.5))
    return sorted(rows)


def all_histories(rows: list[Row], weigh: Callable[[float], float] = lambda delay: 1.0) -> Solution:
    """Weights of who comes out at each exit, in their order, over all histories of the log.

    One loop and one choice at a time, as the definition says.
    """
    names = {row[1] for row in rows} & {row[2] for row in rows}

    def go(at: int, inside: dict[str, tuple[tuple[int, float], ...]]) -> Iterator[Any]:
        if at == len(rows):
            yield (), 1.0
            return
        time, source, target, packet = rows[at]
        choices = inside[source] if source in names else ((packet, time),)
        for one in choices:
            after = dict(inside)
            weight = 1.0
            if source in names:
                after[source] = tuple(other for other in choices if other != one)
                weight = weigh(time - one[1])
            if target in names:
                after[target] = (*after[target], (one[0], time))
            out = () if target in names else (one[0],)
            for rest, factor in go(at + 1, after):
                yield (*out, *rest), weight * factor

    sums: Solution = defaultdict(float)
    for exits, weight in go(0, dict.fromkeys(names, ())):
        sums[exits] += weight
    return sums


def entropy(solution: Solution) -> float:
    total = sum(solution.values())
    return -sum(w / total * math.log2(w / total) for w in solution.values() if w > 0)


def marginals(solution: Solution, packets: int) -> np.ndarray:
    """Probability of each packet (row) to come out at each exit (column)."""
    total = sum(solution.values())
    table = np.zeros((packets, len(next(iter(solution)))))
    for exits, weight in solution.items():
        for column, packet in enumerate(exits):
            table[packet, column] += weight / total
    return table


def bits(row: np.ndarray) -> float:
    some = row[row > 0]
    return float(-(some * np.log2(some)).sum())
