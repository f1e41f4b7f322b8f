"""Rooms whose modules are imported on first use."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOMS = ("attacks", "counting", "designs", "measures")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_face_is_the_one_that_type_checkers_see(room: str) -> None:
    face = importlib.import_module(f"anonymatch.{room}")
    assert face.__file__ is not None
    tree = ast.parse(Path(face.__file__).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(face.__name__):
            for alias in node.names:
                names.add(alias.name)
                home = importlib.import_module(str(node.module))
                assert getattr(face, alias.name) is getattr(home, alias.name)
    assert names == set(face.__all__)


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_has_no_other_names(room: str) -> None:
    face = importlib.import_module(f"anonymatch.{room}")
    with pytest.raises(AttributeError, match=f"'anonymatch.{room}' has no attribute 'nothing'"):
        face.nothing  # noqa: B018
