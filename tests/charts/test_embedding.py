"""Charts on pages: still without scripts, alive with them, and nothing is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from markupsafe import Markup
from tests.browser import Browser

from anonymatch.reporting.charts import (
    DARK,
    LIGHT,
    Line,
    chart_attributes,
    embedded,
    line_chart,
    save_chart,
)
from anonymatch.reporting.html.document import Section, document

if TYPE_CHECKING:
    from playwright.sync_api import Page

NASTY = "</script><b>\"&'\x00\u202e"


def page(*names: str) -> str:
    drawn = [
        embedded(line_chart([Line(name, [1, 2], [3, 4])], title=name, x_label=name), "curve")
        for name in names
    ]
    body = Markup("").join(Markup(each.html) for each in drawn)
    return document("Charts", sections=(Section("one", "One", body),))


def test_a_page_with_charts_is_well_formed_and_the_same_each_time() -> None:
    text = page("one", NASTY, r"spelled \x00")

    ET.fromstring(text)
    assert text == page("one", NASTY, r"spelled \x00")


def test_still_pictures_on_one_page_do_not_share_names() -> None:
    text = page("one", "two")
    names = [each.get("id") for each in ET.fromstring(text).iter() if each.get("id")]

    assert len(names) == len(set(names))


def test_colours_on_a_page_are_the_pages_own() -> None:
    drawn = embedded(line_chart([Line("a", [1, 2], [3, 4])], title="A"), "a").html

    assert "var(--c0)" in drawn
    assert not any(colour in drawn for colour in (*LIGHT.values(), *DARK.values()))


WRITTEN = [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]


@pytest.mark.parametrize(("suffix", "begin"), WRITTEN)
def test_a_chart_is_written_as_its_suffix_says(tmp_path: Path, suffix: str, begin: bytes) -> None:
    path = tmp_path / f"chart.{suffix}"
    save_chart(line_chart([Line("a", [1, 2], [3, 4])], title="A"), path)

    assert path.read_bytes().startswith(begin)


@pytest.mark.parametrize("scripts", [True, False])
def test_charts_live_where_scripts_run_and_are_still_where_not(
    browser: Browser, tmp_path: Path, *, scripts: bool
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("one", NASTY), "utf-8")

    def look(opened: Page) -> tuple[int, int]:
        if scripts:
            opened.locator(".chart[data-live]").nth(1).wait_for()
        visible = (".still svg:visible", ".live svg:visible")
        still, live = (opened.locator(each).count() for each in visible)
        return still, live

    visit = browser.visit(path.as_uri(), look, scripts=scripts)

    assert visit.value == ((0, 2) if scripts else (2, 0))
    assert (visit.complaints, visit.requests) == ([], [path.as_uri()])


def test_a_chart_is_saved_as_a_picture_with_real_colours(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("one"), "utf-8")

    def look(opened: Page) -> list[tuple[str, bytes]]:
        opened.locator(".chart[data-live]").wait_for()
        saved = []
        for kind in ("SVG", "PNG"):
            with opened.expect_download() as waiting:
                opened.get_by_role("button", name=f"Save the chart curve as {kind}").click()
            written = waiting.value
            saved.append((written.suggested_filename, Path(written.path()).read_bytes()))
        return saved

    (svg_name, svg), (png_name, png) = browser.visit(path.as_uri(), look).value

    assert (svg_name, png_name) == ("curve.svg", "curve.png")
    assert svg.startswith(b"<svg")
    assert LIGHT["c0"].encode() in svg
    assert b"var(--" not in svg
    assert png.startswith(b"\x89PNG")


def test_a_chart_whose_data_change_is_drawn_anew(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("one"), "utf-8")
    later = chart_attributes(line_chart([Line("b", [1, 2], [3, 4])], title="Later"), "later")

    def look(opened: Page) -> tuple[int, int]:
        opened.locator(".chart[data-live]").wait_for()
        opened.eval_on_selector(
            ".chart",
            "(place, later) => Object.assign(place.dataset, later)",
            {"name": later["data-name"], "spec": later["data-spec"]},
        )
        opened.locator("[aria-label^=Later]:visible").wait_for()
        return opened.locator(".live svg").count(), opened.locator(".saves button").count()

    assert browser.visit(path.as_uri(), look).value == (1, 2)
