"""Subpackages whose modules are imported on first use."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import anonymatch

ROOT = Path(anonymatch.__file__).parent
PACKAGES = sorted(
    ".".join(("anonymatch", *stub.parent.relative_to(ROOT).parts))
    for stub in ROOT.rglob("__init__.pyi")
    if stub.parent != ROOT
)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_the_one_that_type_checkers_see(name: str) -> None:
    package = importlib.import_module(name)
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    names = set(re.findall(r"^    \w+ as (\w+),$", stub, re.MULTILINE))

    assert names == set(package.__all__)
    assert all(getattr(package, each) is not None for each in names)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_has_no_other_names(name: str) -> None:
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match=f"'{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018
