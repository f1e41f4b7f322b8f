"""The charts of an audit's page in a browser: a brush filters the table, and phones cut nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser import Browser
from tests.report.pages import audit_html

import anonymatch as am
from anonymatch.reporting import write_html

if TYPE_CHECKING:
    from playwright.sync_api import Page

BEYOND = """() => Array.from(
  document.querySelectorAll("main :is(td, th, p, li, svg, input, button)")
).filter(node => node.getClientRects().length)
 .filter(node => node.getBoundingClientRect().right > innerWidth + 1)
 .map(node => node.tagName + " " + node.textContent.slice(0, 40))"""

EMPTY = """() => Array.from(document.querySelectorAll("main tr")).filter(row => {
  const text = document.createRange();
  text.selectNodeContents(row);
  const seen = Array.from(text.getClientRects()).filter(box => box.left < innerWidth - 1);
  const lowest = Math.max(...seen.map(box => box.bottom));
  return row.getBoundingClientRect().bottom - lowest > 24;
}).map(row => row.textContent.slice(0, 60))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("audit")
    log = am.mixes.synthesize("window:1,5", messages=150, rate=2, seed=1)
    am.mixes.write_messages(log, folder / "log.csv")
    audit = am.audit(folder / "log.csv", law="window:1,5")
    write_html(audit_html(audit), folder / "audit.html")
    return (folder / "audit.html").as_uri()


def alive(page: Page) -> Any:
    chart = page.locator(".chart[data-name=entropy]")
    chart.scroll_into_view_if_needed()
    page.locator(".chart[data-name=entropy][data-live]").wait_for()
    return chart


def bits(page: Page) -> list[float]:
    cells = page.locator("#user-table tbody tr:not([hidden]) td:nth-child(5)").all_inner_texts()
    return [float(text) for text in cells]


def ends(page: Page) -> list[str]:
    return [field.input_value() for field in page.locator(".range input").all()]


BRUSH = "document.querySelector('.chart[data-name=entropy]').view.signal('brush').value"


def brushed(page: Page) -> Any:
    return page.evaluate(BRUSH)


def test_a_brush_on_the_chart_filters_the_table_and_can_be_taken_back(
    browser: Browser, address: str
) -> None:
    def look(page: Page) -> dict[str, Any]:
        box = alive(page).bounding_box()
        page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
        page.mouse.up()
        page.locator(".chosen:visible").wait_for()
        seen = {"bits": bits(page), "ends": ends(page), "brush": brushed(page)}
        seen["told"] = page.locator(".search output").inner_text()
        seen["chosen"] = page.locator(".chosen").inner_text()
        page.get_by_role("button", name="Show all").click()
        seen["all"] = len(bits(page)), ends(page), page.locator(".chosen").is_visible()
        page.wait_for_function(f"() => {BRUSH} == null")
        return seen

    visited = browser.visit(address, look)
    seen = visited.value
    low, high = map(float, seen["ends"])

    assert visited.complaints == []
    assert seen["brush"] == pytest.approx([low, high], abs=1e-3)
    assert 0 < len(seen["bits"]) < 150
    assert all(low <= each <= high for each in seen["bits"])
    assert seen["told"] == f"{len(seen['bits'])} of 150 rows, {low:g} to {high:g} bits"
    assert seen["chosen"] == f"The table shows {seen['told']}."
    assert seen["all"] == (150, ["", ""], False)


def test_two_fields_do_the_same_by_the_keyboard(browser: Browser, address: str) -> None:
    def look(page: Page) -> tuple[list[float], str, Any, list[float]]:
        alive(page)
        page.get_by_label("Bits from").fill("2")
        page.get_by_label("to", exact=True).fill("3")
        page.keyboard.press("Tab")
        page.wait_for_function(f"() => Math.abs({BRUSH}?.[1] - 3) < 0.01")
        both = bits(page), page.locator(".search output").inner_text(), brushed(page)
        page.get_by_label("to", exact=True).fill("")
        return *both, bits(page)

    between, told, brush, from_two = browser.visit(address, look).value

    assert between
    assert all(2 <= each <= 3 for each in between)
    assert told == f"{len(between)} of 150 rows, 2 to 3 bits"
    assert brush == pytest.approx([2, 3], abs=0.01)
    assert len(from_two) >= len(between)
    assert min(from_two) >= 2


def test_the_pointer_tells_who_is_in_a_bar(browser: Browser, address: str) -> None:
    def look(page: Page) -> str:
        chart = alive(page)
        bars = chart.locator(".live .mark-rect.role-mark path")
        tallest = max(bars.all(), key=lambda bar: bar.bounding_box()["height"])
        tallest.hover()
        page.locator("#vg-tooltip-element.visible").wait_for()
        return page.locator("#vg-tooltip-element").inner_text()

    told = browser.visit(address, look).value

    assert "such as" in told
    assert "user " in told


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_cut_and_no_row_is_empty(browser: Browser, address: str, width: int) -> None:
    def look(page: Page) -> tuple[list[str], list[str], int]:
        for chart in page.locator(".chart").all():
            chart.scroll_into_view_if_needed()
        page.locator(".chart[data-live]").nth(page.locator(".chart").count() - 1).wait_for()
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return page.evaluate(BEYOND), page.evaluate(EMPTY), wider

    assert browser.visit(address, look, width=width).value == ([], [], 0)


def test_charts_are_still_without_scripts_and_nothing_asks_to_be_dragged(
    browser: Browser, address: str
) -> None:
    def look(page: Page) -> list[int]:
        wanted = (".chart", ".still svg:visible", ".live", ".hint", ".hint:visible")
        return [page.locator(each).count() for each in wanted]

    assert browser.visit(address, look, scripts=False).value == [9, 9, 0, 4, 0]
    assert browser.visit(address, look).value[-1] == 4


@pytest.mark.slow
def test_a_page_of_many_messages_is_small(tmp_path: Path) -> None:
    log = am.mixes.synthesize("exponential:5", messages=30_000, rate=2, seed=1)
    audit = am.audit(am.mixes.observe(log, "exponential:5"), steps=0)
    few = am.mixes.synthesize("exponential:5", messages=300, rate=2, seed=1)
    small = audit_html(am.audit(am.mixes.observe(few, "exponential:5"), steps=0))

    assert len(audit_html(audit)) - len(small) < 250_000  # most of it the 2,000 rows of the table
    assert len(small) < 1_400_000
