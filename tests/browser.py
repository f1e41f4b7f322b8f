"""Pages as a browser sees them: the system's Chromium, without a window, once a session.

A test asks for the fixture ``browser`` and calls :meth:`Browser.visit`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import pytest
from tests.fonts import FAMILIES, only_font

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page, Playwright

__all__ = ["WAIT", "Browser", "Visit", "browser", "browser_with"]

# Seconds until a wait fails: far above any wait on a machine with ten busy processes, and far below
# PATIENCE, since one failing test must not take ten minutes.
WAIT = 180.0
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_MISSING = (
    "these tests need Chromium: apt-get install chromium (make test does so as root); "
    "ANONYMATCH_NO_BROWSER=1 leaves them out"
)

T = TypeVar("T")


@dataclass(frozen=True)
class Visit(Generic[T]):
    """What a look at a page gave, what it complained about, and what it asked for."""

    value: T
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


class Browser:
    """Chromium in a thread of its own: its event loop would stop other tests from having one."""

    def __init__(self, program: str, fonts: Path | None = None) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._driver, self._chromium = self._thread.submit(self._start, program, fonts).result()

    @staticmethod
    def _start(program: str, fonts: Path | None) -> tuple[Playwright, Chromium]:
        from playwright.sync_api import sync_playwright  # most runs of tests need no browser

        driver = sync_playwright().start()
        given = {} if fonts is None else {"FONTCONFIG_FILE": str(fonts)}
        environment: dict[str, str | float | bool] = {**os.environ, **given}
        return driver, driver.chromium.launch(executable_path=program, env=environment)

    def visit(
        self,
        address: str,
        look: Callable[[Page], T],
        *,
        scheme: Literal["dark", "light"] = "light",
        scripts: bool = True,
        width: int = 1200,
    ) -> Visit[T]:
        """Open a page in a new context and look at it; ``look`` runs in the browser's thread."""
        return self._thread.submit(self._visit, address, look, scheme, scripts, width).result()

    def _visit(
        self,
        address: str,
        look: Callable[[Page], T],
        scheme: Literal["dark", "light"],
        scripts: bool,
        width: int,
    ) -> Visit[T]:
        context = self._chromium.new_context(
            color_scheme=scheme,
            java_script_enabled=scripts,
            viewport={"width": width, "height": 900},
        )
        complaints: list[str] = []
        requests: list[str] = []
        page = context.new_page()
        page.set_default_timeout(1000 * WAIT)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        try:
            page.goto(address)
            return Visit(look(page), complaints, requests)
        finally:
            context.close()

    def close(self) -> None:
        """End the browser and its thread."""
        self._thread.submit(self._chromium.close).result()
        self._thread.submit(self._driver.stop).result()
        self._thread.shutdown()


def program() -> str:
    """The browser's program; without one the test is left out if asked for, else it fails."""
    if os.environ.get("ANONYMATCH_NO_BROWSER") == "1":
        pytest.skip("ANONYMATCH_NO_BROWSER is set")
    result = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if result is None:
        pytest.fail(_MISSING, pytrace=False)
    return result


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this process."""
    opened = Browser(program())
    yield opened
    opened.close()


@pytest.fixture(scope="session", params=list(FAMILIES))
def browser_with(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Browser]]:
    """A browser that has one font only, whatever the machine has, and the name of its family."""
    family: str = request.param
    folder = tmp_path_factory.mktemp("fonts")
    opened = Browser(program(), only_font(family, folder))
    yield family, opened
    opened.close()
