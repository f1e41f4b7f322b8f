"""Answers of about 200 commands, recorded to show that a refactoring changes no figure.

``python -m tests.recorded write`` records them; ``tests/test_recorded.py`` compares. Inputs are the
examples and logs that ``synthesize`` writes with fixed seeds.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anonymatch.cli import main

__all__ = ["FILE", "answers", "cases", "differences", "recorded"]

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FILE = Path(__file__).parent / "golden" / "recorded.json.gz"

ROWS = 12
"""Entries of a list that are kept: the first ones."""

VOLATILE = {"seconds", "seed_seconds", "path", "file", "command", "html", "csv", "out", "folder"}
"""Keys whose values depend on the run and not on the input."""

LAWS = {
    "exponential": "exponential:3",
    "erlang": "erlang:3,1",
    "hops": "hops:1,2",
    "window": "window:0.5,4",
    "lognormal": "lognormal:2,0.5",
    "shifted": "0.25+exponential:2",
    "threshold": "threshold:6",
    "timed": "timed:5",
    "pool": "pool:4,6",
    "timed-pool": "timed-pool:5,4",
    "binomial": "binomial:4,0.6",
    "cottrell": "cottrell:4,3,0.6",
}
CONDITIONS: dict[str, list[str]] = {
    "plain": [],
    "loss": ["--loss", "0.05"],
    "cover": ["--cover-rate", "0.1"],
    "both": ["--loss", "0.05", "--cover-rate", "0.1"],
    "whole": ["--whole-log"],
    "until": ["--until", "30", "--since", "5"],
}


def _logs(folder: Path) -> dict[str, list[str]]:
    """Commands that write the inputs, by the name of the file."""
    written: dict[str, list[str]] = {}
    for name, law in LAWS.items():
        base = ["synthesize", law, str(folder / f"{name}.csv"), "--messages", "60", "--seed", "1"]
        written[f"{name}.csv"] = base
        written[f"{name}.parquet"] = [*base[:2], str(folder / f"{name}.parquet"), *base[3:]]
        lossy = [*base[:2], str(folder / f"{name}-lossy.csv"), *base[3:]]
        written[f"{name}-lossy.csv"] = [*lossy, "--loss", "0.1", "--cover", "0.1"]
    for name, more in {"links": [], "links-lossy": ["--loss", "0.02"]}.items():
        written[f"{name}.csv"] = [
            *("synthesize", "exponential:1", str(folder / f"{name}.csv"), "--network", "2x2"),
            *("--messages", "80", "--rate", "3", "--seed", "2", *more),
        ]
    for users in (6, 20):
        written[f"rounds-{users}.csv"] = [
            *("synthesize", str(folder / f"rounds-{users}.csv"), "--rounds", "40"),
            *("--users", str(users), "--friends", "2", "--batch", "4", "--seed", "3"),
        ]
    return written


def _graphs(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Small graphs of several shapes, as edges by the name of the file."""
    full = [(f"u{i}", f"b{j}") for i in range(7) for j in range(7)]
    band = [(f"u{i}", f"b{j}") for i in range(14) for j in range(14) if abs(i - j) <= 2]
    ring = [(f"u{i}", f"b{(i + k) % 12}") for i in range(12) for k in (0, 1, 3)]
    parts = [(f"u{i}", f"b{j}") for i in range(12) for j in range(12) if i // 3 == j // 3]
    step = [(f"u{i}", f"b{j}") for i in range(9) for j in range(9) if j <= i + 1]
    none = [("u0", "b0"), ("u1", "b0"), ("u2", "b1"), ("u2", "b2")]
    odd = [(f"u{i}", f"b{j}") for i in range(16) for j in range(16) if (3 * i + 5 * j) % 7 < 3]
    names = ("full", "band", "ring", "parts", "step", "none", "odd")
    return dict(zip(names, (full, band, ring, parts, step, none, odd), strict=True))


def cases(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands whose answers are recorded, by name; their inputs lie in ``folder``."""

    def at(name: str) -> str:
        return str(folder / name)

    for name, edges in _graphs(folder).items():
        text = "".join(f"{user},{behaviour}\n" for user, behaviour in edges)
        (folder / f"{name}.csv").write_text("user,behaviour\n" + text)
    for law, condition in itertools.product(LAWS, CONDITIONS):
        file = f"{law}-lossy.csv" if condition in ("loss", "cover", "both") else f"{law}.csv"
        options = ["--law", LAWS[law], *CONDITIONS[condition]]
        yield f"audit {law} {condition}", ["audit", at(file), *options, "--budget", "2"]
    for law in ("exponential", "window", "pool"):
        yield f"posterior {law}", ["posterior", at(f"{law}.csv"), "--law", LAWS[law]]
    for law in ("exponential", "pool"):
        yield f"totals {law}", ["totals", at(f"{law}.parquet"), "--law", LAWS[law]]
    yield "compare", ["compare", at("exponential.csv"), at("shifted.csv"), "--law", "exponential:3"]
    network = ["--source", "network", "--law", "exponential:1"]
    for name, more in {
        "plain": ["links.csv"],
        "corrupt": ["links.csv", "--corrupt", "m1"],
        "loss": ["links-lossy.csv", "--loss", "0.02"],
        "fitted": ["links-lossy.csv"],
        "cover": ["links.csv", "--cover-rate", "0.05"],
        "until": ["links.csv", "--until", "15"],
        "start": ["links.csv", "--inside-at-start", "1"],
    }.items():
        yield f"network {name}", ["audit", at(more[0]), *network, *more[1:]]
    yield "network example", ["audit", str(EXAMPLES / "network.csv"), "--law", "exponential"]
    yield "packets", ["audit", str(EXAMPLES / "packet_log.csv"), "--law", "exponential:2"]
    yield "demo", ["demo"]
    yield "mixim", ["audit", str(EXAMPLES / "mixim"), "--budget", "2"]
    yield "flows", ["audit", str(EXAMPLES / "flows"), "--budget", "2"]
    yield "relays", ["audit", str(EXAMPLES / "topology.json")]
    yield "relay count", ["count", str(EXAMPLES / "relays.csv")]
    release = ["table", "audit", str(EXAMPLES / "people_released.csv")]
    release += ["--original", str(EXAMPLES / "people.csv")]
    for name, more in {
        "plain": [],
        "one identifier": ["--quasi-identifiers", "age"],
        "not sensitive": ["--sensitive", ""],
        "gates": ["--fail-under", "k-anonymity=1", "--fail-over", "prosecutor=1"],
        "missing": ["--missing", "?"],
    }.items():
        yield f"table {name}", [*release, *more]
    improve = ["table", "improve", *release[2:], "--out", at("improved.csv")]
    for target in ("k-anonymity=2", "k-anonymity=3", "l-diversity=2", "(1,k)=2"):
        yield f"table improve {target}", [*improve, "--target", target]
    for name in ("rings.json", "rings_over_time.json", "certain_rings.json"):
        yield f"rings {name}", ["rings", "audit", str(EXAMPLES / name)]
        yield f"rings count {name}", ["count", str(EXAMPLES / name)]
    aged = ["audit", str(EXAMPLES / "rings_over_time.json")]
    yield "rings decoys", [*aged, "--decoys", "uniform", "--spends", "gamma:19.28,1.61"]
    yield "rings merging", [*aged, "--merging", "3"]
    for users, method in itertools.product((6, 20), ("gibbs", "sda", "lsda", "pmda", "em")):
        log = at(f"rounds-{users}.csv")
        yield f"rounds {users} {method}", ["rounds", log, "--method", method, "--budget", "2"]
    yield "rounds presence", ["rounds", at("rounds-6.csv"), "--method", "presence"]
    timed = ["rounds", at("exponential.csv"), "--law", "exponential:3", "--budget", "2"]
    yield "rounds timed", timed
    plan = ["plan", "--users", "50", "--rate", "0.1", "--budget", "2"]
    for name, more in {
        "one": ["--network", "1x1", "--law", "exponential", "--cover", "0", "--worst", "1%=2"],
        "pool": ["--network", "1x1", "--law", "exponential,pool", "--mean-delay", "5"],
        "layers": ["--network", "2x2", "--law", "exponential", "--cover", "0,1"],
        "widths": ["--network", "2x1,2", "--law", "exponential", "--worst", "5%=3"],
    }.items():
        yield f"plan {name}", [*plan, *more]
    yield "plan file", ["plan", str(EXAMPLES / "plan.toml"), "--budget", "2"]
    for name in _graphs(folder):
        graph = at(f"{name}.csv")
        for command in ("count", "bounds", "blocks", "metrics", "audit"):
            yield f"{command} {name}", [command, graph]
        if name != "none":
            yield f"count estimate {name}", ["count", graph, "--method", "estimate"]
            yield f"posterior {name}", ["posterior", graph]
            yield f"attack {name}", ["attack", graph, "--steps", "2"]
            yield f"improve {name}", ["improve", graph, "--edges", "1"]
            yield f"sample {name}", ["sample", graph, "--size", "2"]
    for strategy in ("random", "degree"):
        yield f"attack {strategy}", ["attack", at("ring.csv"), "--strategy", strategy]
    for method in ("glynn", "ryser", "band", "frontier", "subset"):
        yield f"count by {method}", ["count", at("ring.csv"), "--method", method, "--explain"]
    for users, number in ((8, 24), (12, 40), (1000, 5000)):
        design = ["design", "--users", str(users), "--edges", str(number)]
        yield f"design {users}", design
        yield f"design {users} paper", [*design, "--method", "paper"]
    yield "random", ["random", "--users", "8", "--degree", "3", "--samples", "3"]
    for claim in ("figure-1", "figure-2", "figure-3"):
        yield f"paper {claim}", ["paper", "--claim", claim]


def _plain(value: Any) -> Any:
    """Drop volatile keys, sentences and tails of lists, and round numbers to 10 digits."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [_plain(entry) for entry in value[:ROWS]]
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, str) and " " in value:
        return "sentence"
    return value


def _answer(arguments: list[str]) -> Any:
    out, messages = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
        code = main([*arguments, "--json"])
    lines = [_plain(json.loads(line)) for line in out.getvalue().splitlines()[:ROWS]]
    return {"exit": code, "lines": lines}


def answers() -> dict[str, Any]:
    """Run every command and return its answer by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for arguments in _logs(folder).values():
            answer = _answer(arguments)
            assert answer["exit"] == 0, (arguments, answer)
        home = os.getcwd()
        os.chdir(folder)
        try:
            found = {name: _answer(arguments) for name, arguments in cases(folder)}
        finally:
            os.chdir(home)
        text = json.dumps(found).replace(str(folder), "FOLDER").replace(str(EXAMPLES), "EXAMPLES")
        return dict(json.loads(text))


_MESSAGES = {
    "n_users": "n_messages",
    "n_behaviours": "n_departures",
    "user": "sender",
    "guess": "departure",
}
RENAMED: dict[str, dict[str, str]] = {
    "mix": _MESSAGES,
    "network": _MESSAGES,
    "table": {
        "n_users": "n_people",
        "n_behaviours": "n_rows",
        "user": "person",
        "guess": "row",
        "probability_departed": "probability_if_present",
        "notions": "privacy_models",
    },
    "ring": {
        "n_users": "n_inputs",
        "n_behaviours": "n_outputs",
        "user": "input",
        "guess": "output",
    },
    "graph": {},
}
"""Keys of an audit in version 1 of JSON and in version 2, by problem."""

_TRAFFIC = {
    *("ceiling", "entropy_error", "entropy_5%_error", "entropy_1%_error", "half_life"),
    *("people", "people_bits", "rates", "same_delay", "same_delay_seconds", "attacker"),
    *("cost.mean_delay", "cost.longest_delay", "cost.cover", "cost.lost"),
}
_TABLES = {"table", "notions", "unreleased"}
_RINGS = {"chain_reaction", "closed_sets"}
ABSENT: dict[str, set[str]] = {
    "mix": _TABLES | _RINGS,
    "network": _TABLES
    | _RINGS
    | {"campaign", "designs", "front", "half_life", "people_bits"}
    | {"rates"},
    "table": _TRAFFIC | _RINGS | {"score", "campaign", "designs", "front"},
    "ring": _TRAFFIC | _TABLES,
    "graph": _TRAFFIC | _TABLES | _RINGS,
}
"""Keys of version 1 that version 2 does not have, because the problem is another one."""

DROPPED = {("table", "designs"), ("table", "front")}
"""Keys that are absent though version 1 has a value: nothing showed a design of a table."""


def problem_of(name: str) -> str:
    """Return the problem of a recorded audit by the name of its case."""
    first, *others = name.split()
    if first in ("table", "network"):
        return first
    if first in ("rings", "mixim"):
        return {"rings": "ring", "mixim": "network"}[first]
    return "graph" if name == "relays" or (first == "audit" and len(others) == 1) else "mix"


def translated(record: dict[str, Any], problem: str) -> dict[str, Any]:
    """Return a record of an audit in version 1 with the keys of version 2.

    A key that version 2 does not have must be empty, so that no value is lost.
    """
    names, absent, new = RENAMED[problem], ABSENT[problem], dict[str, Any]()
    for key, value in record.items():
        if key in absent:
            followed = value["steps"] if key == "campaign" else value
            assert not followed or (problem, key) in DROPPED, (problem, key, value)
        else:
            new[names.get(key, key)] = value
    new["cost"] = {}
    for key, value in record["cost"].items():
        if f"cost.{key}" in absent:
            assert not value, (problem, key, value)
        else:
            new["cost"][key] = value
    new["worst"] = [
        {names.get(key, key): value for key, value in one.items()} for one in record["worst"]
    ]
    if problem == "ring":  # an input always spends an output
        for one in new["worst"]:
            assert one.pop("probability_departed") == one["probability"]
    if problem == "table":
        details = dict(record["table"])
        details["privacy_models"] = details.pop("notions")
        new["table"] = details
    return new


def recorded() -> dict[str, Any]:
    """Return the answers of the record, with the keys of version 2."""
    old = dict(json.loads(gzip.decompress(FILE.read_bytes())))
    return {name: _in_version_2(name, answer) for name, answer in old.items()}


def _in_version_2(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    lines = []
    for line in answer["lines"]:
        if "one_step" in line:
            line = translated(line, problem_of(name))
        if "audits" in line:
            line = line | {"audits": [translated(each, "mix") for each in line["audits"]]}
        lines.append(line | {"version": 2} if "version" in line else line)
    return {**answer, "lines": lines}


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Name each place at which two answers differ; numbers may differ by 1e-8 of their size."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key not in old or key not in new:
                yield f"{place}.{key}: only {'after' if key in new else 'before'}"
            else:
                yield from differences(old[key], new[key], f"{place}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}[{index}]")
    elif isinstance(old, float | int) and isinstance(new, float | int):
        if abs(old - new) > 1e-8 * max(1, abs(old)):
            yield f"{place}: {old} before, {new} after"
    elif old != new:
        yield f"{place}: {str(old)[:80]!r} before, {str(new)[:80]!r} after"


if __name__ == "__main__":
    now = answers()
    if sys.argv[1:] == ["write"]:
        FILE.write_bytes(gzip.compress(json.dumps(now, sort_keys=True).encode(), mtime=0))
        refused = [name for name, answer in now.items() if answer["exit"] == 2]
        print(f"{len(now)} answers, {FILE.stat().st_size} bytes; refused: {refused}")
    else:
        for line in differences(recorded(), now):
            print(line)
