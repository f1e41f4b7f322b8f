"""The site of the documentation: it builds without a warning, and asks nobody for anything."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.browser import Browser

import anonymatch as am
from anonymatch.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
NOTEBOOK = """\
# A notebook

Formulas are drawn by the browser: $n!$

```{code-cell} python
import altair
altair.Chart(altair.Data(values=[{"x": 1}, {"x": 2}])).mark_point().encode(x="x:Q")
```
"""


def tool(name: str) -> ModuleType:
    """One of the modules that build the site."""
    spec = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def page(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"<html><body>{text}</body></html>", encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png">', "loads //cdn.example/x.png"),
        ('<link rel="stylesheet" href="http://cdn.example/x.css">', "loads http://cdn.example/x"),
        ('<a href="nowhere.html">x</a>', "links to nowhere.html, which is not there"),
        ('<a href="other.html#nothing">x</a>', "links to other.html#nothing, which is not there"),
        ('<img src="lost.svg">', "links to lost.svg, which is not there"),
    ],
)
def test_what_leads_elsewhere_or_nowhere_is_found(
    text: str, complaint: str, tmp_path: Path
) -> None:
    page(tmp_path, "index.html", text)
    page(tmp_path, "other.html", "")

    (found,) = tool("links").problems(tmp_path)

    assert f"index.html {complaint}" in found


def test_a_style_that_loads_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text('@font-face{src:url("https://fonts.example/a.woff2")}')

    assert list(tool("links").problems(tmp_path)) == ["x.css loads https://fonts.example/a.woff2"]


def test_links_that_lead_somewhere_are_fine(tmp_path: Path) -> None:
    page(tmp_path, "index.html", '<a href="other.html#here">x</a><a href="https://a.example">y</a>')
    page(tmp_path, "other.html", '<p id="here"></p><img src="data:image/png;base64,AA==">')

    assert list(tool("links").problems(tmp_path)) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with one notebook more."""
    folder = tmp_path_factory.mktemp("site")
    extra = folder / "trial.md"
    extra.write_text(NOTEBOOK, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, SITE / "build.py", folder, "--notebook", extra],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_public_name_and_every_command_has_its_place(site: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in site.glob("api/*.html"))
    modules = {"families", "formulas", "__version__"}
    modules |= {"disclosure", "mixes", "paper", "rings", "sources", "tables", "theory"}

    missing = [name for name in am.__all__ if f'id="anonymatch.{name}"' not in text]
    assert set(missing) == modules
    pages = [site / "commands" / f"{name.replace(' ', '-')}.html" for name in COMMANDS]
    assert [page for page in pages if not page.exists()] == []
    assert "Usage: anonymatch audit FILE" in (site / "commands" / "audit.html").read_text()


@pytest.mark.slow
def test_the_search_knows_what_pages_say(site: Path) -> None:
    assert "bregman" in (site / "searchindex.js").read_text(encoding="utf-8").lower()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "name", ["index", "audits", "glossary", "commands/audit", "api/counting", "notebooks/trial"]
)
def test_pages_open_without_complaint_or_request(
    name: str, width: int, site: Path, browser: Browser
) -> None:
    visit = browser.visit(
        (site / f"{name}.html").as_uri(),
        lambda shown: shown.evaluate("document.documentElement.scrollWidth"),
        width=width,
    )

    told = [line for line in visit.complaints if "[PST]:" not in line]  # what the theme does
    assert told == []
    assert [one for one in visit.requests if not one.startswith(("file:", "data:"))] == []
    assert visit.value <= width


@pytest.mark.slow
def test_charts_of_notebooks_come_to_life_and_formulas_are_drawn(
    site: Path, browser: Browser
) -> None:
    visit = browser.visit(
        (site / "notebooks" / "trial.html").as_uri(),
        lambda shown: (
            shown.wait_for_selector(".chart[data-live] .live svg") is not None,
            shown.locator("math").count(),
        ),
    )

    assert visit.value == (True, 1)


@pytest.mark.slow
def test_charts_of_notebooks_are_there_without_scripts(site: Path, browser: Browser) -> None:
    visit = browser.visit(
        (site / "notebooks" / "trial.html").as_uri(),
        lambda shown: shown.locator(".chart .still svg").is_visible(),
        scripts=False,
    )

    assert visit.value
