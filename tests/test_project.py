"""What surrounds the code agrees with it: versions, workflows, notes of changes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def test_the_citation_is_of_this_version() -> None:
    assert load(ROOT / "CITATION.cff")["version"] == PROJECT["project"]["version"]


def test_notes_of_changes_have_a_kind_that_a_release_knows() -> None:
    kinds = "|".join(kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"])
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]

    assert [name for name in names if not re.fullmatch(rf"\+[\w-]+\.({kinds})\.md", name)] == []


def test_a_release_finds_where_its_notes_go() -> None:
    mark = PROJECT["tool"]["towncrier"]["start_string"]

    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count(mark) == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_pinned_actions_and_targets_that_exist(path: Path) -> None:
    """make lint-workflows has actionlint and zizmor look at the rest."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name, job in load(path)["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 90, name
        for step in job.get("steps", []):
            assert re.search(r"^\./|@[0-9a-f]{40}$", step.get("uses", "./"))
            for made in re.findall(r"^make (.+)$", step.get("run", ""), re.MULTILINE):
                assert set(made.split()) <= targets


def test_every_python_that_is_promised_is_tested() -> None:
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    tested = load(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["test"]["strategy"]

    assert tested["matrix"]["python"][0] == lowest


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")))
def test_templates_of_issues_are_whole(path: Path) -> None:
    template = load(path)

    assert path.stem == "config" or {"name", "description", "body"} <= set(template)
