"""Notebooks of the docs run as written, and everything that they show can be shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.md"))
CELL = re.compile(r"^```\{code-cell\} ipython3\n(?::[^\n]*\n)*(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(notebook: Path) -> list[str]:
    return CELL.findall(notebook.read_text(encoding="utf-8"))


def run(cell: str, names: dict[str, Any]) -> Any:
    """What a notebook would show below the cell: the value of its last line, if that has one."""
    tree = ast.parse(cell)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def shown(value: Any) -> str:
    """As a notebook shows it: a still chart, its own HTML, or text."""
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        return str((bundle[0] if isinstance(bundle, tuple) else bundle)["image/svg+xml"])
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return repr(value)


@pytest.fixture(autouse=True)
def _renderer_as_before() -> Iterator[None]:
    before = altair.renderers.active
    yield
    altair.renderers.enable(before)


@pytest.mark.grid
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_written(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}

    values = [run(cell, names) for cell in cells(notebook)]
    outputs = [shown(value) for value in values if value is not None]

    assert outputs
    assert all(len(output) < 200_000 for output in outputs)
    assert not any(re.search(r'(?:src|href)="http', output) for output in outputs)


def test_there_are_three_notebooks_with_a_kernel_each() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["audit-a-mix", "plan-a-network", "the-paper"]
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n")
        assert len(cells(path)) == text.count("```{code-cell}")
