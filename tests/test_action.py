"""The action for continuous integration: its shell steps, run as a runner runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.patience import without_progress

ROOT = Path(__file__).parent.parent
TARGETS = """
[traffic]
users = 100
rate = 0.1
[network]
shape = "one"
[strategy]
law = ["threshold:10"]
cover = [0]
[target]
worst = 0.01
among = {among}
"""


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return loaded


def step(name: str) -> dict[str, Any]:
    (chosen,) = [one for one in action()["runs"]["steps"] if one["name"] == name]
    return dict(chosen)


def run(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """One step with these inputs; others have their defaults."""
    given = {key: value["default"] for key, value in action()["inputs"].items()} | inputs
    chosen = step(name)

    def value(match: re.Match[str]) -> str:
        names = [part.strip() for part in match[1].split("||")]
        known = {f"inputs.{key}": text for key, text in given.items()}
        known["github.action_path"] = str(ROOT)
        return next((known[one] for one in names if known[one]), "")

    own = {
        key: re.sub(r"\$\{\{(.*?)\}\}", value, text) for key, text in chosen.get("env", {}).items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {
        "RUNNER_TEMP": str(folder),
        "GITHUB_PATH": str(folder / "path"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    assert chosen["shell"] == "bash"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", chosen["run"]],
        cwd=folder,
        env={**os.environ, "PATH": path, **places, **own},
        capture_output=True,
        text=True,
        check=False,
    )


def test_inputs_never_become_a_part_of_a_script() -> None:
    steps = action()["runs"]["steps"]

    assert action()["runs"]["using"] == "composite"
    assert len(steps) == 2
    assert [one for one in steps if "${{" in one["run"]] == []


@pytest.mark.grid
@pytest.mark.parametrize(("among", "code"), [(8, 0), (11, 1)])
def test_a_plan_is_a_gate_and_its_table_is_in_the_summary(
    tmp_path: Path, among: int, code: int
) -> None:
    (tmp_path / "my plan.toml").write_text(TARGETS.format(among=among))

    done = run("Run the gate", tmp_path, plan="my plan.toml")
    summary = (tmp_path / "summary.md").read_text()

    assert done.returncode == code
    assert ("### anonymatch: targets are met" in summary) == (code == 0)
    assert ("::error::anonymatch: targets are missed" in done.stdout) == (code == 1)
    assert "threshold:10" in summary
    assert "threshold:10" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("gate", "code"), [("entropy=0.1", 0), ("entropy=30", 1)])
def test_an_audit_is_a_gate(tmp_path: Path, gate: str, code: int) -> None:
    example = ROOT / "src" / "anonymatch" / "examples" / "mix.csv"

    done = run("Run the gate", tmp_path, audit=str(example), options=f"--fail-under {gate}")

    assert (done.returncode, without_progress(done.stderr)) == (code, "")
    assert "~~~~text" in (tmp_path / "summary.md").read_text()


def test_an_input_with_a_command_in_it_is_a_name(tmp_path: Path) -> None:
    done = run("Run the gate", tmp_path, plan="$(touch broken).toml; touch broken")

    assert done.returncode == 2
    assert "there is no such file" in (tmp_path / "summary.md").read_text()
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("inputs", [{}, {"plan": "a.toml", "audit": "b.csv"}])
def test_exactly_one_kind_of_input_is_needed(tmp_path: Path, inputs: dict[str, str]) -> None:
    done = run("Run the gate", tmp_path, **inputs)

    assert done.returncode == 2
    assert "::error::anonymatch: give plan, audit, table or rings, one of them" in done.stdout


@pytest.mark.slow
def test_what_is_installed_is_on_the_path(tmp_path: Path) -> None:
    done = run("Install anonymatch", tmp_path, install="pip")  # which is there: nothing is fetched

    assert (done.returncode, done.stderr) == (0, "")
    places = (tmp_path / "path").read_text().split()
    assert [(Path(place) / "python").exists() for place in places] == [True]


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"table": "people_released.csv", "options": "--original people.csv"}, "k-anonymity"),
        ({"rings": "certain_rings.json", "options": ""}, "ring"),
    ],
)
def test_tables_and_rings_are_audited_by_their_own_commands(
    tmp_path: Path, inputs: dict[str, str], text: str
) -> None:
    for name in ("people_released.csv", "people.csv", "certain_rings.json"):
        (tmp_path / name).write_bytes((ROOT / "examples" / name).read_bytes())

    done = run("Run the gate", tmp_path, **inputs)

    assert done.returncode == 0
    assert text in done.stdout
    assert "until 0.3.0" not in done.stdout
