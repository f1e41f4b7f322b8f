"""What a new user reads is true: code runs, links lead somewhere, pictures are up to date."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.patience import without_progress

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md"))
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
SAVED = re.compile(r"(note: )?(wrote|saved) .*")
PLACE = re.compile(r"`((?:src|cpp|tests|docs|examples|benchmarks)/[\w./-]*)`")


def blocks(page: Path, *languages: str) -> list[str]:
    result = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [text for language, text in result if language in languages]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=str)
def test_python_runs_as_written(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(text, {}, str(page), str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)

    runner.run(test)

    assert test.examples
    assert runner.failures == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "sh")], ids=str)
def test_shell_runs_as_written(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for script in blocks(page, "sh"):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

        message = [
            line for line in without_progress(done.stderr).splitlines() if not SAVED.fullmatch(line)
        ]
        assert (done.returncode, message) == (0, [])


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_no_block_of_code_goes_unchecked(page: Path) -> None:
    known = len(blocks(page, "python", "sh", "text"))

    assert len(BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))) == known


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_and_places_exist(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [(ROOT / page).parent / target for target, _ in LINK.findall(text) if target]
    positions = [ROOT / position for position in PLACE.findall(text)]

    assert [str(target) for target in (*targets, *positions) if not target.exists()] == []


def test_the_map_names_every_part_of_the_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    parts = [
        path.name
        for path in (ROOT / "src" / "anonymatch").iterdir()
        if path.suffix == ".py" or (path.is_dir() and not path.name.startswith("_"))
    ]

    assert [name for name in parts if name.removesuffix(".py") not in text] == []


def test_every_command_is_documented() -> None:
    from anonymatch.cli.commands import COMMANDS

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")

    assert [name for name in COMMANDS if f"\n### {name}\n" not in text] == []


def test_the_picture_shows_what_the_library_answers() -> None:
    import anonymatch as am

    pictures = module("docs/make_pictures.py")

    assert pictures.TARGET.read_text(encoding="utf-8") == pictures.picture(
        am.read(pictures.EXAMPLE)
    )


def test_the_first_commands_print_what_the_readme_shows() -> None:
    """python docs/make_pictures.py writes it again."""
    pictures = module("docs/make_pictures.py")

    assert pictures.front() == pictures.README.read_text(encoding="utf-8")


def test_examples_are_what_their_script_makes() -> None:
    for path, rows in module("examples/make_examples.py").tables().items():
        lines = path.read_text(encoding="utf-8").splitlines()

        assert lines == [",".join(str(value) for value in row) for row in rows]


def module(position: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(position).stem, ROOT / position)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
