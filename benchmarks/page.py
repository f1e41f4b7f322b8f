"""The page of figures from a run: ``python -m benchmarks.page < run.json > docs/benchmarks.md``."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.report import Line, summary

__all__ = ["render"]

_TITLES = {
    "dense": "Dense counts",
    "posteriors": "Posteriors",
    "sparse": "Sparse, near-complete and split graphs",
    "estimates": "Estimates beyond exact reach",
    "lossy": "Logs with losses, cover and an end",
    "hops": "Wide logs of several hops",
    "networks": "Networks of mixes of which every link is seen",
    "planning": "Plans of networks",
    "releases": "Released tables: who has which row, and what to change",
    "rings": "Ring signatures with spare outputs",
    "rounds": "Rounds of users who stay the same",
    "tables": "Tables of few classes, and tables that lack few edges",
    "shapes": "Planar, tree-like and low-rank graphs",
    "budgets": "Budgets: what a second buys",
    "plans": "Plans against what they take",
    "wide": "Wide logs of any other law",
    "structure": "Structure: blocks, allowed and forced edges",
    "scale": "Scale: growth of time and memory with the users",
    "cluster": "Threads, processes and recording",
    "csv": "Reading CSV",
    "startup": "Start-up",
}

_INTRODUCTION = """\
# Benchmarks

`make bench` installs the peers and prints these figures; `python -m benchmarks --quick` takes about
a minute and a half, and `python -m benchmarks --json > run.json` followed by
`python -m benchmarks.page < run.json > docs/benchmarks.md` writes this page again. Sections can be
named: `python -m benchmarks dense sparse`.

How to read them:

- Seconds are CPU time of one thread, the best of several rounds, in turns with the peer, because
  wall time on a shared machine says little (two threads and two processes are the exception: their
  notes tell the CPU time too). Ratios are what carries over to other machines.
  `count()` uses all cores unless told; here it is held to one.
- Every answer is asserted: against peers, known numbers, or the same graph read in another way.
  A fast wrong answer is no result; where a peer wraps around or rounds, the line says so.
- *faster*: their time through ours should be at least the goal. *<= 3x*: our time through theirs
  should be at most that. No goal: the line is there for comparison.
- Growth: each size in a process of its own; the exponent is fitted to the sizes from 10^4 users on
  and may exceed the documented order by 0.2.
- Goals for growth with the edges (an exponent of at most 1.2, as large graphs leave the caches) and
  for equal blocks (at most 1.5 times their reduction) say what *linear* and *as fast* mean here.
- Graphs are seeded and new to the package in every round, so nothing is remembered between rounds.
- Peers: thewalrus (`perm`, Ryser on int64, compiled beforehand), FLINT (`fmpz_mat_permanent`,
  called in the shared library of python-flint, which does not offer it), exqalibur (Glynn on
  doubles, Ryser on int64), Graphillion (`perfect_matchings`, in its own edge order and in ours, the
  better of the two), scipy (`maximum_bipartite_matching` and `connected_components`), polars
  (`read_csv`).
"""


def render(run: dict[str, Any]) -> str:
    """The page as Markdown."""
    machine = run["machine"]
    parts = {name: [Line(**record) for record in run["lines"][name]] for name in run["lines"]}
    everything = [line for lines in parts.values() for line in lines]
    missed = [line for line in everything if line.passed is False]
    measured = (
        f"Measured on {machine['date']} with anonymatch {machine['anonymatch']}, Python "
        f"{machine['python']}: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['instructions']}, a virtual machine shared with other work (load "
        f"{machine['load']} at the start).\n"
    )
    pieces = [
        _INTRODUCTION,
        measured,
        f"{summary(everything).partition(';')[0].capitalize()}.",
    ]
    if missed:
        pieces.append("\nMissed:\n")
        pieces += [f"- {line.what}: {_told(line)}" for line in missed]
    for name, lines in parts.items():
        pieces += ["", f"## {_TITLES[name]}", "", _table(lines)]
    return "\n".join(pieces) + "\n"


def _told(line: Line) -> str:
    ours, _, ratio = line.cells
    figure = f"{ratio} {line.peer}" if ratio else ours
    return f"{figure}, goal {line.goal}" + (f" ({line.note})" if line.note else "")


def _table(lines: list[Line]) -> str:
    rows = ["| what | ours | beside | theirs | ratio | goal | | |", "|" + "---|" * 8]
    for line in lines:
        ours, theirs, ratio = line.cells
        cells = (line.what, ours, line.peer, theirs, ratio, line.goal, line.verdict, line.note)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(render(json.load(sys.stdin)))
