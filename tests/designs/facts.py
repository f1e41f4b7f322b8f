"""Facts about designs, computed by other programs and kept in tests/golden/designs.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FACTS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "designs.json").read_text()
)
TABLE = FACTS["up_to_seven_users"]  # every pair (users, edges): all graphs were counted


def facts(*kinds: str) -> pytest.MarkDecorator:
    """One test for each fact of these kinds, named by it."""
    chosen = [
        pytest.param(fact["input"], fact["expected"], id=fact["id"])
        for kind in kinds
        for fact in FACTS[kind]
    ]
    return pytest.mark.parametrize(("given", "expected"), chosen)
