"""``python -m benchmarks [--quick] [--json] [section ...]``: print every measurement as it is done.

Ends with 0 whether goals are met or not: seconds are no test. A wrong answer ends it at once.
``python -m benchmarks fuzz`` reads damaged files instead; ``--help`` after it tells its options.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

import anonymatch as am
from anonymatch._native import best_isa
from benchmarks import (
    budgets,
    cluster,
    dense,
    estimates,
    hops,
    lossy,
    networks,
    planning,
    plans,
    posteriors,
    read_csv,
    releases,
    rings,
    rounds,
    scale,
    shapes,
    sparse,
    startup,
    structure,
    tables,
    wide,
)
from benchmarks.report import HEADER, Line, Size, summary

SECTIONS: dict[str, Callable[[Size], Iterator[Line]]] = {
    "dense": dense.lines,
    "posteriors": posteriors.lines,
    "releases": releases.lines,
    "rings": rings.lines,
    "sparse": sparse.lines,
    "shapes": shapes.lines,
    "estimates": estimates.lines,
    "budgets": budgets.lines,
    "plans": plans.lines,
    "planning": planning.lines,
    "lossy": lossy.lines,
    "hops": hops.lines,
    "networks": networks.lines,
    "rounds": rounds.lines,
    "tables": tables.lines,
    "wide": wide.lines,
    "structure": structure.lines,
    "scale": scale.lines,
    "cluster": cluster.lines,
    "csv": read_csv.lines,
    "startup": startup.lines,
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Sections, size and form of what is to be printed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--size", choices=["tiny", "quick", "full"], default="full")
    parser.add_argument(
        "--quick",
        dest="size",
        action="store_const",
        const="quick",
        default="full",
        help="smaller graphs, about a minute",
    )
    parser.add_argument(
        "--json", action="store_true", help="one object on standard output at the end"
    )
    chosen = parser.parse_args(arguments)
    for name in chosen.sections:
        if name not in SECTIONS:
            parser.error(f"no section {name!r}; there are {', '.join(SECTIONS)}")
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["fuzz"]:
        from benchmarks.fuzz.run import main as fuzz

        return fuzz(given[1:])
    chosen = parse(given)
    size = cast(Size, chosen.size)
    about = machine()
    tell = partial(print, file=sys.stderr if chosen.json else sys.stdout, flush=True)
    tell(" | ".join(f"{key}: {value}" for key, value in about.items()))
    tell("CPU seconds of one thread, best of several, in turns with the peer")
    done: dict[str, list[Line]] = {}
    for name in chosen.sections or SECTIONS:
        done[name] = []
        tell(f"\n{name}\n{HEADER}")
        for line in SECTIONS[name](size):
            done[name].append(line)
            tell(line)
    verdict = summary([line for part in done.values() for line in part])
    tell(f"\n{verdict}")
    if chosen.json:
        records = {name: [line.record() for line in part] for name, part in done.items()}
        print(json.dumps({"machine": about, "size": size, "lines": records, "summary": verdict}))
    return 0


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    return {
        "anonymatch": am.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "instructions": best_isa.name,
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
