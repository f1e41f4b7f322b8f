"""docs/json.md documents every key that a command prints as JSON, and no others."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from anonymatch.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "json.md"

OPEN = {
    "all",
    "attributes",
    "by_column",
    "causes",
    "counts",
    "data",
    "if_present",
    "intervals",
    "meanings",
    "parameters",
    "presence",
    "privacy_models",
    "quantiles",
    "reasons",
    "targets",
    "utility",
}
"""Keys of objects whose own keys are names: of bounds, columns, privacy models or claims."""


def commands(folder: Path) -> list[list[str]]:
    """Small runs of all commands that print JSON."""
    examples = ROOT / "examples"
    release, log, table = (str(examples / "release.csv"), str(folder / "log.csv"), "log.parquet")
    graph = folder / "graph.csv"
    graph.write_text("user,behaviour\na,x\na,y\nb,x\nb,y\nc,z\n")
    people = ["--original", str(examples / "people.csv")]
    law = ["--law", "exponential:3"]
    lossy = [*law, "--loss", "0.1", "--fail-under", "entropy=1"]
    plan = ["--users", "20", "--rate", "1", "--network", "1x1", "--law", "exponential"]
    return [
        ["synthesize", "exponential:3", log, "--messages", "60"],
        ["synthesize", "exponential:3", str(folder / table), "--messages", "60"],
        ["count", release, "--resume", str(folder / "run")],
        ["runs", str(folder / "run")],
        ["posterior", release, "--counts"],
        ["posterior", log, *law],
        ["sample", release],
        ["bounds", release],
        ["blocks", release],
        ["metrics", str(graph)],
        ["attack", str(graph)],
        ["improve", str(graph), "--edges", "1"],
        ["audit", release],
        ["audit", str(examples / "network.csv"), "--law", "exponential"],
        ["table", "audit", str(examples / "people_released.csv"), *people],
        ["rings", "audit", str(examples / "rings_over_time.json")],
        ["audit", log, *lossy],
        ["compare", log, log, *law],
        ["totals", str(folder / table), *law],
        ["design", "--users", "12", "--edges", "40"],
        ["random", "--users", "5", "--degree", "2", "--samples", "2"],
        ["convert", release, str(folder / "x.json")],
        ["demo"],
        ["plan", *plan, "--cover", "0", "--worst", "1%=2"],
        ["paper", "--claim", "figure-1"],
        ["rounds", str(examples / "rounds.csv"), "--budget", "1", "--fail-under", "bits=0"],
        ["rounds", str(examples / "rounds.csv"), "--budget", "1", "--compare"],
        ["watch"],
    ]


def keys(value: Any) -> set[str]:
    """Keys of a record and of all that it holds, but for names."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    inner = (keys(entry) for key, entry in value.items() if key not in OPEN)
    return set(value).union(*inner)


def documented() -> dict[str, set[str]]:
    """Keys on the page, by command."""
    found: dict[str, set[str]] = {}
    for key, names in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE):
        for name in names.split(","):
            found.setdefault(name.strip(), set()).add(key)
    return found


def printed(capsys: pytest.CaptureFixture[str], folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for arguments in commands(folder):
        assert main([*arguments, "--json"]) == 0, arguments
        for line in capsys.readouterr().out.splitlines():
            record = json.loads(line)
            assert record["version"] == 2
            name = arguments[1] if arguments[0] in ("table", "rings") else arguments[0]
            found.setdefault(name, set()).update(keys(record))
    return found


def test_every_key_of_json_is_on_its_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gauges = io.BytesIO((ROOT / "examples" / "gauges.jsonl").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(gauges))
    on_page = documented()
    for command, used in printed(capsys, tmp_path).items():
        assert used - on_page[command] == set(), command
        assert on_page[command] - used == set(), command
