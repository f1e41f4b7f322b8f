"""Pages in a real browser: from disk, without a request, sorted and searched, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.browser import Browser
from tests.fonts import width_in
from tests.report.pages import audit_html, comparison_html

import anonymatch as am
from anonymatch.audits.auditing import audit
from anonymatch.audits.comparing import compare
from anonymatch.mixes.logs.observation import MessageObservation, Passage
from anonymatch.reporting import report_html
from anonymatch.reporting.html.document import write_html
from anonymatch.reporting.html.paper import paper_html
from anonymatch.theory.claims.claim import check

if TYPE_CHECKING:
    from playwright.sync_api import Page

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u202e\x00"

CONTRAST = """() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const under = node => {
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll("p, li, td, th, h1, h2, h3, h4, a, button, text")) {
    if (node.classList.contains("on")) continue;  // written on a cell, not on the page
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const drawn = node.tagName === "text" ? "fill" : "color";
    const colour = getComputedStyle(node)[drawn];
    if (!colour.startsWith("rgb")) continue;
    const pair = [light(numbers(colour)), light(under(node))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) found.push([node.tagName, node.textContent.slice(0, 40), contrast]);
  }
  return found;
}"""

SAMPLE = "Hamburgefonstiv 0123456789"

WIDTH = """sample => {
  const node = document.createElement("span");
  node.textContent = sample;
  node.style.cssText = "font-size:200px;white-space:nowrap";
  document.body.append(node);
  const { width } = node.getBoundingClientRect();
  node.remove();
  return width;
}"""

WIDER = "document.documentElement.scrollWidth - innerWidth"

OVERLAPS = """() => {
  const found = [];
  for (const picture of document.querySelectorAll("svg.picture")) {
    const texts = Array.from(picture.querySelectorAll("text")).map(node => {
      const box = node.getBoundingClientRect();
      return { text: node.textContent, box };
    });
    const frame = picture.getBoundingClientRect();
    for (const { text, box } of texts) {
      if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(["cut", text]);
    }
    texts.forEach((one, i) => texts.slice(i + 1).forEach(other => {
      const across = Math.min(one.box.right, other.box.right)
        - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom)
        - Math.max(one.box.top, other.box.top);
      if (across > 1.5 && down > 4) found.push([one.text, other.text]);
    }));
  }
  return found;
}"""


def passage(messages: int) -> MessageObservation:
    draws = np.random.default_rng(5)
    arrivals = np.sort(draws.uniform(0, messages, messages))
    return MessageObservation(
        passage=Passage(
            users=tuple(f"m{i}" for i in range(messages)),
            behaviours=tuple(f"o{i}" for i in range(messages)),
            arrivals=arrivals,
            departures=arrivals + draws.exponential(6.0, messages),
        ),
        source="an exponential mix",
        truth=np.arange(messages),
        mean_delay=6.0,
    )


def nasty() -> am.Graph:
    edges = [(user, out) for user in (NASTY, "ann", "שלום") for out in ("x", "y", "z\nz")]
    return am.Graph.from_edges([*edges, ("bob", "w")])


PAGES: dict[str, Callable[[], str]] = {
    "paper": lambda: paper_html(check("figure-1")),
    "passage": lambda: audit_html(audit(passage(150)), command="anonymatch audit log.csv"),
    "blocks": lambda: audit_html(audit(am.partition([40, 30, 20]))),
    "ring": lambda: audit_html(audit(am.ring(12, 3))),
    "nasty": lambda: audit_html(audit(nasty()), command=f"anonymatch audit {NASTY}"),
    "comparison": lambda: comparison_html(
        compare([audit(passage(50)), audit(am.ring(9, 3))], ["mix", NASTY])
    ),
    "rounds": lambda: report_html(
        am.disclosure.rounds_report(
            am.rounds(am.disclosure.synthesize_rounds(60, friends=2, users=14, batch=4), budget=3)
        )
    ),
}


@pytest.fixture(scope="session")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {}
    for name, make in PAGES.items():
        write_html(make(), folder / f"{name}.html")
        paths[name] = (folder / f"{name}.html").as_uri()
    return paths


def column(page: Page, number: int) -> list[str]:
    cells: list[str] = page.locator(
        f"#user-table tbody tr:not([hidden]) td:nth-child({number})"
    ).all_inner_texts()
    return cells


def head(page: Page, name: str) -> Any:
    return page.locator("#user-table th button", has_text=name)


@pytest.mark.parametrize("name", PAGES)
def test_opens_from_disk_without_complaint_or_request_and_is_readable(
    browser: Browser, addresses: dict[str, str], name: str
) -> None:
    def look(page: Page) -> list[Any]:
        light = page.evaluate(CONTRAST)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(CONTRAST)
        return [light, dark, page.evaluate(OVERLAPS), page.evaluate(WIDER)]

    visited = browser.visit(addresses[name], look)

    assert visited.complaints == []
    assert visited.requests == [addresses[name]]
    assert visited.value == [[], [], [], 0]


@pytest.mark.parametrize("name", PAGES)
def test_labels_are_whole_and_apart_in_any_font(
    browser_with: tuple[str, Browser], addresses: dict[str, str], name: str
) -> None:
    family, browser = browser_with

    def look(page: Page) -> list[Any]:
        return [page.evaluate(OVERLAPS), page.evaluate(WIDER), page.evaluate(WIDTH, SAMPLE)]

    overlaps, wider, width = browser.visit(addresses[name], look).value

    assert overlaps == []
    assert wider == 0
    assert width == pytest.approx(width_in(family, SAMPLE, 200), rel=0.005)  # no other font


def test_columns_sort_up_and_down(browser: Browser, addresses: dict[str, str]) -> None:
    def look(page: Page) -> dict[str, Any]:
        result: dict[str, Any] = {"first": column(page, 1)}
        head(page, "probability").click()
        result["down"] = column(page, 3)
        result["said"] = page.locator("th[aria-sort]").get_attribute("aria-sort")
        head(page, "probability").click()
        result["up"] = column(page, 3)
        head(page, "message").click()
        result["names"] = column(page, 1)
        return result

    visited = browser.visit(addresses["passage"], look)
    result = visited.value
    probabilities = [float(text.split()[0]) for text in result["down"]]

    assert visited.complaints == []
    assert len(probabilities) == 150
    assert probabilities == sorted(probabilities, reverse=True)
    assert result["said"] == "descending"
    assert [float(text.split()[0]) for text in result["up"]] == sorted(probabilities)
    assert result["names"] == [f"m{i}" for i in range(150)]
    assert result["first"] != result["names"]


def test_search_leaves_the_rows_that_have_it(browser: Browser, addresses: dict[str, str]) -> None:
    def look(page: Page) -> list[tuple[list[str], str]]:
        result = []
        for wanted in ("M14", "o7", "nobody", ""):
            page.get_by_label("Search names").fill(wanted)
            result.append((column(page, 1), page.locator(".search output").inner_text()))
        return result

    visited = browser.visit(addresses["passage"], look)
    by_name, by_guess, nobody, everybody = visited.value

    assert sorted(by_name[0]) == sorted(["m14", *(f"m{i}" for i in range(140, 150))])
    assert by_name[1] == "11 of 150 rows"
    assert len(by_guess[0]) > 0
    assert nobody == ([], "0 of 150 rows")
    assert len(everybody[0]) == 150


def test_names_stay_names(browser: Browser, addresses: dict[str, str]) -> None:
    def look(page: Page) -> tuple[list[str], int]:
        page.get_by_label("Search names").fill("</SCRIPT>")
        return column(page, 1), page.locator("img").count()

    visited = browser.visit(addresses["nasty"], look)
    (name,), images = visited.value

    assert visited.complaints == []
    assert name.startswith("</script><script>alert(1)</script>")
    assert images == 0


def test_without_scripts_everything_is_there_unsorted(
    browser: Browser, addresses: dict[str, str]
) -> None:
    def look(page: Page) -> tuple[int, bool, int]:
        return (
            page.locator("#user-table tbody tr").count(),
            page.locator(".search").is_visible(),
            page.locator("th button").count(),
        )

    visited = browser.visit(addresses["passage"], look, scripts=False)

    assert visited.complaints == []
    assert visited.value == (150, False, 0)


def test_a_narrow_screen_scrolls_tables_and_not_the_page(
    browser: Browser, addresses: dict[str, str]
) -> None:
    for name in ("nasty", "comparison"):
        wide = browser.visit(
            addresses[name],
            lambda page: page.evaluate(WIDER),
            width=390,
        )

        assert wide.value == 0


def test_on_a_narrow_screen_figures_side_by_side_are_whole(
    browser: Browser, addresses: dict[str, str]
) -> None:
    def look(page: Page) -> tuple[list[int], list[str], int, int]:
        table = page.locator("#sides table")
        sizes = table.evaluate(
            "node => [node.parentElement.scrollWidth, node.parentElement.clientWidth]"
        )
        judged = table.locator("tbody tr").first.locator("td").all_inner_texts()
        rows = table.locator("tbody tr").count()
        return sizes, judged, rows, table.evaluate("node => node.offsetHeight")

    (inner, outer), cells, rows, height = browser.visit(
        addresses["comparison"], look, width=360
    ).value

    assert inner <= outer  # nothing is cut, and the last column is there
    assert cells[-1]
    assert height < 180 * rows


def test_paper_is_white_and_holds_few_rows(browser: Browser, addresses: dict[str, str]) -> None:
    def look(page: Page) -> tuple[str, int]:
        page.emulate_media(media="print")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        rows = page.evaluate(
            "Array.from(document.querySelectorAll('#user-table tbody tr'))"
            ".filter(row => row.getClientRects().length).length"
        )
        return colour, rows

    visited = browser.visit(addresses["passage"], look, scheme="dark")

    assert visited.value == ("rgb(255, 255, 255)", 50)
