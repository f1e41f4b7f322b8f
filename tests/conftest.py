"""Hypothesis profiles, by the environment variable ANONYMATCH_EXAMPLES: fast, ci or night.

And the fixtures that all tests share.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from tests.browser import browser, browser_with

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
_SLOW_FIXTURES = {"browser", "browser_with"}  # a Chromium, a second and more a page
# They race with other processes, signals and sockets on machines that others load: one failure may
# be the machine's, the same one three times in a row is ours. What is run again is printed.
_RACING = (
    "tests/cli/test_process.py",
    "tests/cli/test_watch_command.py",
    "tests/running/test_checkpoint.py",
    "tests/running/test_cluster.py",
    "tests/watching/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what opens a browser as slow, and what races with other processes, wherever it is."""
    for item in items:
        opens_browser = bool(_SLOW_FIXTURES & set(getattr(item, "fixturenames", ())))
        if opens_browser:
            item.add_marker(pytest.mark.slow)
        if opens_browser or item.nodeid.startswith(_RACING):
            item.add_marker(pytest.mark.flaky(reruns=2))


settings.load_profile(os.environ.get("ANONYMATCH_EXAMPLES", "fast"))
