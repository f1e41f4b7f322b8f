"""Write the figures of a run to the documentation: ``python -m benchmarks.page run.json``."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Line, summary

__all__ = ["comparison", "render", "with_comparison"]

_ROOT = Path(__file__).parent.parent

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
`python -m benchmarks.page run.json` writes this page and the comparison table of the README again.
Sections can be named: `python -m benchmarks dense sparse`.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Peer:
    """A program in the README's comparison, and the benchmark that it shares with anonymatch."""

    software: str
    strength: str
    limitation: str
    what: str  # the benchmark's name
    peer: str  # the peer's name in that benchmark


_PEERS = (
    _Peer(
        software="[thewalrus](https://github.com/XanaduAI/thewalrus)",
        strength="permanents and hafnians, also complex",
        limitation="64-bit integers overflow silently; no probabilities",
        what="half full, n = 24",
        peer="thewalrus int64",
    ),
    _Peer(
        software="[FLINT](https://flintlib.org)",
        strength="exact integers of any size",
        limitation="dense matrices only",
        what="half full, n = 26",
        peer="FLINT",
    ),
    _Peer(
        software="[exqalibur](https://pypi.org/project/exqalibur/)",
        strength="fast floating-point permanents",
        limitation="rounding error without a bound",
        what="half full, n = 26",
        peer="exqalibur float",
    ),
    _Peer(
        software="[Graphillion](https://github.com/takemaru/graphillion)",
        strength="queries over sets of matchings",
        limitation="sparse graphs of a few dozen users",
        what="3-regular, n = 40",
        peer="Graphillion",
    ),
    _Peer(
        software="scipy",
        strength="one maximum matching of a huge graph",
        limitation="does not count matchings",
        what="blocks: random, 9 edges a user",
        peer="scipy",
    ),
)
_COMPARISON = re.compile(r"(<!-- comparison[^>]*-->\n).*?(<!-- end -->)", re.DOTALL)


def comparison(page: str) -> str:
    """Return the README's comparison table, with the figures of the page of benchmarks."""
    rows = ["| software | strength | limitation here | benchmark | theirs | ours | ratio |"]
    rows.append("|" + "---|" * 7)
    measured = [line.strip("| ").split(" | ") for line in page.splitlines()]
    for row in _PEERS:
        (figures,) = (cells for cells in measured if cells[:1] + cells[2:3] == [row.what, row.peer])
        about = (row.software, row.strength, row.limitation, row.what)
        rows.append("| " + " | ".join((*about, figures[3], figures[1], figures[4])) + " |")
    return "\n".join(rows) + "\n"


def with_comparison(readme: str, page: str) -> str:
    """Return the README with the comparison table that belongs to the page of benchmarks."""
    return _COMPARISON.sub(lambda found: found[1] + comparison(page) + found[2], readme)


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
    written = render(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    (_ROOT / "docs" / "benchmarks.md").write_text(written, encoding="utf-8")
    front = _ROOT / "README.md"
    front.write_text(with_comparison(front.read_text(encoding="utf-8"), written), encoding="utf-8")
