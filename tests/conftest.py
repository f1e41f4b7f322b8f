"""Hypothesis profiles, by the environment variable ANONYMATCH_EXAMPLES: fast, ci or night.

And the fixtures that all tests share.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.browser import browser, browser_with
from tests.patience import raise_limits

__all__ = ["browser", "browser_with"]

# Everything but night draws the same examples on every run, so that a failure is the change's own.
for profile, examples in (("fast", 25), ("ci", 200), ("night", 2000)):
    settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=profile != "night",
        database=None,
        deadline=None,
        print_blob=profile == "night",
        suppress_health_check=[HealthCheck.too_slow],
    )
gc.disable()  # a third of the time to collect 8,600 tests: nothing of them is ever freed
_SLOW_FIXTURES = {"browser", "browser_with"}  # a Chromium, a second and more a page

raise_limits(
    "anonymatch.cli.console", "anonymatch.running.cluster", "anonymatch.monitoring.prometheus"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow: tests that open a browser, and all cases of a grid but its first ones."""
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        grid = item.get_closest_marker("grid")
        if grid is not None and isinstance(item, pytest.Function):
            case = item.path, item.originalname
            cases[case] += 1
            if cases[case] > grid.kwargs.get("quick", 1):
                item.add_marker(pytest.mark.slow)
        if _SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave the collected tests out of every later garbage collection."""
    gc.freeze()
    gc.enable()


settings.load_profile(os.environ.get("ANONYMATCH_EXAMPLES", "fast"))
