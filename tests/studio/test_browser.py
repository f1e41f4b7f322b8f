"""The studio as a reader meets it: in Chromium, by mouse and by keyboard."""

from __future__ import annotations

import re
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from tests.browser import WAIT, Browser
from tests.studio.conftest import Served, start_and_stop

import anonymatch as am
from anonymatch.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

T = TypeVar("T")
SEEN = "user,behaviour\nann,x\nann,y\nbob,x\nbob,y\ncem,y\ncem,z\n"


@pytest.fixture(scope="session")
def studio() -> Iterator[Served]:
    """Serve pages as users start the studio: they come at once and are completed in the browser."""
    with start_and_stop((str(Path(sys.executable).with_name("anonymatch")),)) as served:
        yield served


def visit(browser: Browser, studio: Served, route: str, look: Callable[[Page], T]) -> T:
    """Look at a page; it complains about nothing and asks nobody but the studio."""
    visited = browser.visit(studio.entry(route), look)

    assert visited.complaints == []
    outside = [url for url in visited.requests if not url.startswith((studio.address, "blob:"))]
    assert outside == []
    return visited.value


def gone(studio: Served) -> bool:
    """Return whether dropped files are removed after their page is closed."""
    end = time.monotonic() + WAIT
    while studio.files() and time.monotonic() < end:
        time.sleep(0.1)
    return studio.files() == []


def changed(shown: Locator, before: str) -> str:
    """Wait until an element has another content than before, and return that."""
    end = time.monotonic() + WAIT
    while (content := shown.inner_html()) == before:
        assert time.monotonic() < end
        time.sleep(0.05)
    return content


def test_exposing_a_user_on_the_start_page(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.locator("text=Charlie").first.wait_for()
        page.locator(".pick").first.locator("text", has_text="David").click()
        page.get_by_text("4 → 2 stories").wait_for()
        page.get_by_text("2 → 1 story").wait_for()
        page.wait_for_url("**/?user=David")
        page.reload()
        page.get_by_text("2 → 1 story").wait_for()

    visit(browser, studio, "/", look)


def test_the_keyboard_is_enough(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> str:
        page.get_by_role("button", name="Alice").wait_for()
        reached = ""
        for _ in range(20):
            page.keyboard.press("Tab")
            reached = page.evaluate("document.activeElement.textContent")
            if reached == "Bob":
                break
        page.keyboard.press("Enter")
        page.get_by_text("4 → 2 stories").wait_for()
        return reached

    assert visit(browser, studio, "/", look) == "Bob"


def test_designs_follow_the_numbers(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.get_by_label("Edges, typed").fill("40")
        page.get_by_label("Edges, typed").press("Enter")
        page.get_by_label("Users, typed").fill("10")
        page.get_by_label("Users, typed").press("Enter")
        page.wait_for_url("**users=10&edges=50**")
        page.get_by_label("Edges, typed").fill("40")
        page.get_by_label("Edges, typed").press("Enter")
        page.get_by_text("1,968 matchings").first.wait_for()
        page.get_by_label("System", exact=True).select_option("pool")
        page.get_by_text("bits about one message").first.wait_for()
        page.wait_for_url("**system=pool**")
        front = page.locator(".chart[data-name=front-pool]")
        front.scroll_into_view_if_needed()
        front.locator("path[aria-label*='batch=20 pool=30']").first.click()  # it is a choice
        page.wait_for_url("**batch=20&pool=30**")

    visit(browser, studio, "/design", look)


def test_the_front_moves_at_once_and_a_point_of_it_is_chosen(
    browser: Browser, studio: Served
) -> None:
    def look(page: Page) -> tuple[str, str]:
        front = page.locator(".chart[data-name=front]")
        front.locator(".live svg").wait_for()
        before = front.get_attribute("data-spec")
        page.get_by_label("Cover packets per message, typed").fill("3")
        page.get_by_label("Cover packets per message, typed").press("Enter")
        page.wait_for_url("**cover=3**")
        page.get_by_text("20 messages and their cover").wait_for()
        page.wait_for_function(
            "before => document.querySelector('.chart[data-name=front]').dataset.spec !== before",
            arg=before,
        )
        # As soon as kinds are simulated.
        front.locator("path[aria-label*='setting: pool:1,2']").first.click()
        page.get_by_text("pool:1,2 meets the target.").wait_for()
        page.wait_for_url("**law=pool:1,2**")
        front.locator("[aria-label*='chosen: pool:1,2']").first.wait_for(state="attached")
        page.get_by_label("Points of the front").select_option("pool:1,3")
        page.get_by_text("pool:1,3 meets the target.").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save as TOML").click()
        page.reload()
        page.get_by_text("pool:1,3 meets the target.").wait_for()
        delay = page.get_by_label("Mean delay, typed").input_value()
        return saved.value.path().read_text(), delay

    toml, delay = visit(browser, studio, "/plan?users=200&rate=0.1&layers=2&width=2&among=5", look)

    assert 'law = ["pool:1,3"]' in toml
    assert "cover = [3.0]" in toml
    assert float(delay) == 0.15  # two hops, three packets inside, 40 a second through each mix


def test_curves_are_stopped_and_asked_for_again(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.get_by_role("button", name="Stop").first.click()
        page.get_by_text("Stopped.").first.wait_for()
        page.get_by_label("Corrupt mixes, typed").fill("2")
        page.get_by_label("Corrupt mixes, typed").press("Enter")
        page.get_by_text("Pass corrupt mixes only").wait_for()
        page.get_by_role("button", name="Stop").first.click()
        page.get_by_text("Stopped.").first.wait_for()
        page.get_by_role("button", name="Again").first.click()
        page.locator("progress").first.wait_for()
        page.get_by_role("button", name="Stop").first.click()
        page.get_by_role("button", name="Again").first.wait_for()

    visit(browser, studio, "/plan?layers=4&width=5", look)


def test_a_campaign_is_played_and_taken_back(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.get_by_role("button", name="Expose the best target").click()
        page.get_by_role("button", name="One step back").wait_for()
        page.get_by_label("Or expose").select_option("Heidi")
        page.get_by_text("Heidi turns out to be behind").wait_for()
        page.get_by_role("button", name="Begin again").click()
        page.get_by_text("Click on a user to expose them.").wait_for()

    visit(browser, studio, "/attack?graph=ring", look)


def test_claims_are_filtered(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> tuple[str, int]:
        button = page.get_by_role("button", name="fails")
        button.click()
        page.wait_for_url("**verdict=fails**")
        page.locator(".claim .verdict", has_text="fails").wait_for()
        return button.inner_text(), page.locator(".claimlist li").count()

    words, failing = visit(browser, studio, "/paper", look)

    assert words == f"fails: {failing}"


def test_the_paper_is_named_and_its_three_paragraphs_lead_to_claims(
    browser: Browser, studio: Served
) -> None:
    def look(page: Page) -> str:
        page.get_by_text("What needs a condition.").wait_for()
        page.locator(".paper-summary a", has_text="Conjecture 1").click()
        page.wait_for_url("**claim=conjecture**")
        page.locator(".claim h3", has_text="Conjecture 1").wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save the errata as LaTeX").click()
        return Path(download.value.path()).read_text()

    assert r"\label{erratum:conjecture}" in visit(browser, studio, "/paper", look)


def test_a_dropped_file_is_audited_asked_about_saved_and_removed(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "seen.csv").write_text(SEEN)

    def look(page: Page) -> tuple[str, str, int]:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "seen.csv")
        page.get_by_text("identified").first.wait_for()
        stored = len(studio.files())
        page.reload()
        page.get_by_label("Name of a user").fill("cem")
        page.get_by_label("Name of a user").press("Enter")
        page.get_by_text("cem is identified, because nobody else fits z.").wait_for()
        with page.expect_download() as report:
            page.get_by_role("button", name="Save the report").click()
        with page.expect_download() as table:
            page.get_by_role("button", name="Save all users as CSV", exact=True).click()
        return report.value.path().read_text(), table.value.path().read_text(), stored

    report, table, retained = visit(browser, studio, "/audit", look)

    assert "<h1>Audit of seen.csv</h1>" in report
    assert [line.partition(",")[0] for line in table.splitlines()] == ["user", "ann", "bob", "cem"]
    assert retained >= 1
    assert gone(studio)


def test_pictures_are_saved(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> tuple[bytes, str]:
        with page.expect_download() as png:
            page.get_by_role("button", name="as PNG").first.click()
        with page.expect_download() as svg:
            page.get_by_role("button", name="as SVG").first.click()
        return png.value.path().read_bytes(), svg.value.path().read_text()

    png, svg = visit(browser, studio, "/", look)

    assert png.startswith(b"\x89PNG")
    assert svg.startswith("<svg xmlns=")


def test_a_bad_file_gets_the_line_of_the_command_line(
    browser: Browser, studio: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("user,behaviour\nann,x\nbob\n")

    def look(page: Page) -> str:
        page.set_input_files("input[type=file] >> nth=0", bad)
        return page.locator("[role=alert] p").inner_text()

    line = visit(browser, studio, "/audit", look)

    assert main(["audit", str(bad)]) == 2
    assert capsys.readouterr().err == f"error: {line.replace('bad.csv', str(bad))}\n"


def test_a_file_beyond_the_limit_is_refused(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "large.csv").write_bytes(b"x" * 500_001)

    def look(page: Page) -> str:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "large.csv")
        page.get_by_text("larger than 0.5 MB").wait_for()
        # A browser that does not look at the size itself is told the same.
        return str(
            page.evaluate(
                "async (url) => { const r = await fetch(url, {method: 'POST', "
                "body: 'x'.repeat(500001)}); return r.status + ' ' + await r.text(); }",
                f"/upload/{page.evaluate('window.clientId')}?name=a.csv",
            )
        )

    assert visit_refused(browser, studio, look).startswith("413 the file is larger than 0.5 MB")


def visit_refused(browser: Browser, studio: Served, look: Callable[[Page], str]) -> str:
    """A refusal is an error in the browser's own words, and the only one."""
    visited = browser.visit(studio.entry("/audit"), look)

    assert all("413" in complaint for complaint in visited.complaints)
    return visited.value


def test_long_work_is_stopped_and_another_page_goes_on(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    am.write(am.random_density(200, 0.2, seed=1), tmp_path / "long.csv")

    def look(page: Page) -> None:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "long.csv")
        page.locator("progress").wait_for()
        page.locator(".far", has_text=re.compile("[0-9]+ %, (about|under) .* left")).wait_for()
        other = page.context.new_page()
        other.goto(f"{studio.address}/?user=Alice")
        other.get_by_text("2 → 1 story").wait_for()
        page.get_by_role("button", name="Stop: Auditing").click()
        page.get_by_text("Stopped.").wait_for()
        page.get_by_role("button", name="Again").click()
        page.locator("progress").wait_for()
        page.get_by_role("button", name="Stop: Auditing").click()
        page.get_by_text("Stopped.").wait_for()

    visit(browser, studio, "/audit", look)


@pytest.mark.parametrize("law", ["window:1,30", "erlang:3,5"])
def test_stop_ends_the_work_of_the_server(
    browser: Browser, studio: Served, tmp_path: Path, law: str
) -> None:
    log = am.mixes.synthesize(law, messages=2500, seed=1)
    am.mixes.write_messages(log, tmp_path / "log.csv")

    def look(page: Page) -> float:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "log.csv")
        page.get_by_text("log.csv").first.wait_for()
        page.get_by_role("button", name="Stop: Auditing").click()
        page.get_by_text("Stopped.").wait_for()
        before = studio.cpu_seconds()
        studio.wait_until_idle()
        return studio.cpu_seconds() - before

    used = visit(browser, studio, f"/audit?law={law}", look)

    assert used < 15.0  # seconds of a core, of the minute that the audit would take


def test_the_error_of_a_file_goes_when_another_is_audited(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "bad.csv").write_text("user,behaviour\nann,x\nbob\n")
    am.write(am.random_density(200, 0.2, seed=1), tmp_path / "long.csv")

    def look(page: Page) -> int:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "bad.csv")
        page.locator("[role=alert] p").wait_for()
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "long.csv")
        page.locator("progress").wait_for()
        alerts = page.locator("[role=alert]").count()
        page.get_by_role("button", name="Stop: Auditing").click()
        page.get_by_text("Stopped.").wait_for()
        return alerts

    assert visit(browser, studio, "/audit?file=gone", look) == 0


def without_truth(log: am.mixes.Messages) -> am.mixes.Messages:
    return am.mixes.Messages(
        arrivals=log.arrivals,
        departures=log.departures,
        senders=log.senders,
        receivers=log.receivers,
    )


def test_a_log_is_looked_at_first_its_law_guessed_changed_and_audited(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = am.mixes.synthesize("exponential:2", messages=300, rate=4.0, seed=1)
    am.mixes.write_messages(log, tmp_path / "log.csv")

    def look(page: Page) -> tuple[str, str]:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "log.csv")
        page.get_by_text("300 in, 300 out").wait_for()
        page.locator(".chart[data-name=load] .live svg").wait_for()
        page.get_by_text("300 delays look like the exponential law").wait_for()
        page.get_by_text("taken; change it here").wait_for()
        page.locator(".chart[data-name=delays] .live svg").wait_for()
        page.get_by_role("button", name="Audit it with this law").wait_for()
        assert page.locator("[role=alert]").count() == 0
        assert page.locator(".sections").count() == 0
        before = page.locator(".chart[data-name=delays]").get_attribute("data-spec")
        page.get_by_label("How messages are delayed").select_option("lognormal")
        page.wait_for_url("**law=lognormal:**step=look")
        page.wait_for_function(
            "b => (document.querySelector('.chart[data-name=delays]')?.dataset.spec ?? b) !== b",
            arg=before,
        )
        fitted = page.get_by_label("Its numbers").input_value()
        page.get_by_label("How messages are delayed").select_option("exponential")
        page.wait_for_url("**law=exponential:**step=look")
        page.reload()  # the address has where one was
        page.get_by_role("button", name="Audit it with this law").click()
        page.get_by_text("Is it good enough?").wait_for()
        return fitted, page.url

    fitted, url = visit(browser, studio, "/audit", look)

    assert len(fitted.split(",")) == 2
    assert "step=" not in url


def test_thresholds_turn_green_and_red_and_are_in_the_address(
    browser: Browser, studio: Served
) -> None:
    def look(page: Page) -> list[str]:
        page.get_by_text("Switch on what this system must reach").wait_for()
        entropy = page.get_by_role("switch", name="Entropy per user at least")
        entropy.focus()
        page.keyboard.press("Space")
        page.get_by_text("Not good enough: 0 of 1 threshold reached.").wait_for()
        page.wait_for_url("**thresholds=entropy%3D3**")
        number = page.get_by_label("Entropy per user at least, the number", exact=True)
        number.fill("0.5")
        number.press("Enter")
        page.get_by_text("Good enough: the threshold is reached.").wait_for()
        page.wait_for_url("**thresholds=entropy%3D0.5**")
        page.reload()
        page.get_by_text("Good enough: the threshold is reached.").wait_for()
        row = page.locator(".gate", has=page.get_by_role("switch", checked=True))
        page.get_by_text("--fail-under entropy=0.5").first.wait_for(state="attached")
        with page.expect_download() as report:
            page.get_by_role("button", name="Save the report").click()
        return [row.get_attribute("class") or "", report.value.path().read_text()]

    classes, report = visit(browser, studio, "/audit?example=mix.csv", look)

    assert "reached" in classes.split()
    assert "entropy=0.5 is reached" in report


def test_one_brush_filters_the_table_and_marks_targets(browser: Browser, studio: Served) -> None:
    from playwright.sync_api import TimeoutError as Late

    def look(page: Page) -> dict[str, str]:
        place = page.locator(".chart[data-name=entropy]")
        place.scroll_into_view_if_needed()
        chart = place.locator(".live svg")
        chart.wait_for()
        rows = page.locator(".search output")
        rows.wait_for()
        for _ in range(24):  # charts above may come to life meanwhile, and move this one
            area = chart.bounding_box()
            assert area is not None
            page.mouse.move(area["x"] + area["width"] * 0.4, area["y"] + 90)
            page.mouse.down()
            page.mouse.move(area["x"] + area["width"] * 0.7, area["y"] + 110, steps=8)
            page.mouse.up()
            with suppress(Late):
                page.wait_for_url("**marked=**", timeout=5_000)
                break
        marked = page.get_by_role("region", name="Marked users")
        marked.wait_for()
        seen = {"charts": str(page.locator(".chart[data-name^=entrop]").count())}
        number = rows.inner_text().partition(" of ")[0]
        marked.filter(has_text=re.compile(rf"^\s*{number} user")).wait_for()
        seen["brushed"] = number
        lower = page.get_by_label("Bits from")
        upper = page.locator(".range").get_by_label("to", exact=True)
        lower.fill("0")
        lower.press("Enter")
        upper.fill("0.1")
        upper.press("Enter")
        page.get_by_text("2 users of 12 have 0 to 0.1 bits.").wait_for()
        page.wait_for_url("**marked=0,0.1")
        page.reload()
        page.get_by_text("2 users of 12 have 0 to 0.1 bits.").wait_for()
        page.get_by_text("2 of 12 rows, 0 to 0.1 bits").first.wait_for()
        place.scroll_into_view_if_needed()
        page.wait_for_function(
            "() => { const chart = document.querySelector('.chart[data-name=entropy]'); "
            "return (chart.view?.signal('brush').value ?? [])[1] > 0.05; }"
        )
        for _ in range(50):  # the chart that comes to life marks its users again
            with page.expect_download() as saved:
                page.get_by_role("button", name="Save the marked users as CSV").click()
            seen["file"] = saved.value.path().read_text()
            if len(seen["file"].splitlines()) == 3:
                break
        upper.fill("1.5")
        upper.press("Enter")
        page.get_by_text("have 0 to 1.5 bits.").wait_for()
        page.get_by_role("link", name="Attack the marked users").click()
        page.get_by_text("marked by 0 to 1.5 bits").wait_for()
        page.get_by_role("button", name="Expose the best target").click()
        page.get_by_role("button", name="One step back").wait_for()
        seen["url"] = page.url
        return seen

    seen = visit(browser, studio, "/audit?example=mix.csv", look)

    assert seen["charts"] == "1"
    assert 0 < int(seen["brushed"]) < 12
    assert len(seen["file"].splitlines()) == 3
    assert "marked=0,1.5" in seen["url"]
    assert "targets=" in seen["url"]


def test_marked_messages_of_a_long_log_are_attacked_at_once(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = am.mixes.synthesize("exponential:2", messages=400, rate=3.0, seed=1)
    am.mixes.write_messages(log, tmp_path / "log.csv")

    def look(page: Page) -> int:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "log.csv")
        upper = page.locator(".range").get_by_label("to", exact=True)
        upper.fill("3.5")
        upper.press("Enter")
        page.get_by_role("link", name="Attack the marked messages").click()
        page.get_by_text("the best of them at each step").wait_for()
        page.locator(".chart[data-name=attack-on-marked] .live svg").wait_for()
        return page.get_by_role("region", name="The attack step by step").locator("tr").count()

    assert visit(browser, studio, "/audit?law=exponential:2", look) > 2


PEOPLE = "person,age,zip\nann,23,1010\nbob,27,1010\ncem,24,1020\ndan,31,1020\neve,36,1030\n"
RELEASED = (
    "age,zip,illness\n20-29,101*,flu\n20-29,101*,flu\n20-29,10**,asthma\n30-39,10**,cold\n"
    "30-39,10**,hiv\n"
)


def test_a_release_and_its_original_are_audited_by_columns_that_are_ticked(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "released.csv").write_text(RELEASED)

    def look(page: Page) -> tuple[str, str, list[str]]:
        both = [tmp_path / "people.csv", tmp_path / "released.csv"]
        page.set_input_files("input[type=file] >> nth=0", both)
        page.get_by_text("1 of 5 people in the release (20 %) is identified.").wait_for()
        page.get_by_text("is a guess from names and values").wait_for()
        assert page.get_by_label("Identifiers: zip").is_checked()
        assert page.get_by_label("Sensitive: illness").is_checked()
        assert page.get_by_label("Column of people's names").input_value() == "person"
        first = page.get_by_role("region", name="First rows of the release").inner_text()
        words, rows = page.locator("#content").inner_text(), page.locator("tr").all_inner_texts()
        page.get_by_label("Identifiers: zip").uncheck()
        page.get_by_text("None of 5 people in the release is identified").wait_for()
        page.wait_for_url("**identifiers=age&sensitive=illness")
        page.get_by_label("Sensitive: zip").check()
        page.wait_for_url("**sensitive=zip,illness")
        page.get_by_label("Identifiers: zip").check()  # it cannot be both
        page.wait_for_url("**identifiers=age,zip&sensitive=illness")
        page.get_by_text("1 of 5 people in the release (20 %) is identified.").wait_for()
        assert not page.get_by_label("Sensitive: zip").is_checked()
        page.reload()
        page.get_by_text("As you chose; what you did not change is a guess.").wait_for()
        page.get_by_text("--quasi-identifiers age,zip --sensitive illness").first.wait_for(
            state="attached"
        )
        page.get_by_label("Name of a person").fill("cem")
        page.get_by_label("Name of a person").press("Enter")
        page.get_by_text("cem is identified, because").wait_for()
        page.get_by_label("Identifiers: age").uncheck()
        page.get_by_label("Identifiers: zip").uncheck()
        page.get_by_text("Choose at least one identifier").wait_for()
        page.get_by_role("button", name="Swap them").click()
        page.get_by_text("people.csv").first.wait_for()
        return first, words.lower(), rows

    first, words, rows = visit(browser, studio, "/audit", look)

    assert "101*" in first
    # Ann and Bob share two rows of one illness that others cannot have: certain, not identified.
    certain = {tuple(row.split("\t")[:2]) for row in rows}
    assert {("ann", "flu"), ("bob", "flu"), ("cem", "asthma")} <= certain
    assert [word for word in ("users", "mean delay", "cover", "behaviour") if word in words] == []
    assert gone(studio)


def test_a_hierarchy_is_dropped_along_and_a_lone_release_says_what_is_missing(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("person,city\nann,Graz\nbob,Wien\ncem,Lima\n")
    (tmp_path / "given.csv").write_text("city,illness\nAustria,flu\nAustria,cold\nPeru,flu\n")
    (tmp_path / "city.csv").write_text("Graz;Austria;*\nWien;Austria;*\nLima;Peru;*\n")

    def look(page: Page) -> tuple[str, str]:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "given.csv")
        error = page.locator("[role=alert] p").inner_text()
        along = [tmp_path / "city.csv", tmp_path / "people.csv"]
        page.set_input_files("input[type=file] >> nth=1", along)
        page.get_by_text("1 of 3 people in the release (33.3 %) is identified.").wait_for()
        page.get_by_text("Hierarchy of city: city.csv", exact=True).wait_for()
        page.get_by_text("--hierarchies city=city.csv").first.wait_for(state="attached")
        return error, page.url

    error, url = visit(browser, studio, "/audit", look)

    assert error.startswith("given.csv: ")
    assert "drop the original one along" in error
    assert "hierarchies=city:" in url


def test_rings_have_laws_of_ages_and_merging(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    rings = (
        '{"rings": {"i1": {"members": ["o1", "o2"], "height": 50, "transaction": "t"},'
        ' "i2": {"members": ["o3", "o4", "o5"], "height": 50, "transaction": "t"}},'
        ' "outputs": {"o1": {"height": 1, "transaction": "s"}, "o2": {"height": 49},'
        ' "o3": {"height": 2, "transaction": "s"}, "o4": {"height": 3}, "o5": {"height": 9}}}'
    )
    (tmp_path / "rings.json").write_text(rings)

    def look(page: Page) -> list[str]:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "rings.json")
        page.get_by_text("Ask about one input").wait_for()
        verdict = page.locator(".sections .big").first
        verdicts = [verdict.inner_html()]
        page.get_by_label("How old decoys are").fill("uniform")
        page.get_by_label("How old decoys are").press("Enter")
        page.wait_for_url("**decoys=uniform")
        page.get_by_text("--decoys uniform").first.wait_for(state="attached")
        verdicts.append(changed(verdict, verdicts[-1]))
        page.get_by_label("How old outputs are when they are spent").fill("gamma:10,1")
        page.get_by_label("How old outputs are when they are spent").press("Enter")
        page.get_by_text("--spends gamma:10,1").first.wait_for(state="attached")
        page.get_by_label("Factor for outputs of one transaction").fill("10")
        page.get_by_label("Factor for outputs of one transaction").press("Enter")
        page.wait_for_url("**spends=gamma:10,1&merging=10")
        page.get_by_text("--merging 10").first.wait_for(state="attached")
        page.reload()
        page.get_by_text("--merging 10").first.wait_for(state="attached")
        verdicts.append(changed(verdict, verdicts[-1]))
        return verdicts

    verdicts = visit(browser, studio, "/audit", look)

    assert len(set(verdicts)) == 3
    assert all("per input" in verdict for verdict in verdicts)


def test_every_option_of_a_log_is_set_in_a_form(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = am.mixes.synthesize("exponential:2", messages=120, rate=3.0, loss=0.1, seed=1)
    am.mixes.write_messages(log, tmp_path / "lossy.csv")

    def look(page: Page) -> str:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "lossy.csv")
        page.get_by_role("button", name="Audit it with this law").click()
        page.get_by_text("Ask about one message").wait_for()
        page.locator("summary", has_text="More options").click()
        page.get_by_label("Loss probability").fill("often")
        page.get_by_label("Loss probability").press("Enter")
        page.get_by_text("'often' is not a number").wait_for()
        page.get_by_label("Loss probability").fill("0.1")
        page.get_by_label("Loss probability").press("Enter")
        page.wait_for_url("**loss=0.1")
        page.get_by_text("--loss 0.1").first.wait_for(state="attached")
        page.get_by_label("The mix is empty at the end").check()
        page.get_by_text("--loss 0.1 --drained").first.wait_for(state="attached")
        page.reload()
        page.get_by_text("--loss 0.1 --drained").first.wait_for(state="attached")
        return page.get_by_label("Loss probability").input_value()

    assert visit(browser, studio, "/audit", look) == "0.1"


def test_a_plan_is_searched_with_options_beyond_the_sliders(
    browser: Browser, studio: Served
) -> None:
    def look(page: Page) -> None:
        page.locator("summary", has_text="More options").click()
        page.get_by_label("Corrupt users").fill("10%")
        page.get_by_label("Corrupt users").press("Enter")
        page.wait_for_url("**plan.corrupt_users=0.1**")
        page.get_by_label("Laws", exact=True).fill("pool")
        page.get_by_label("Laws", exact=True).press("Enter")
        page.wait_for_url("**plan.laws=pool**")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("button", name="Save the report").wait_for()
        page.get_by_text("--corrupt-users 0.1").first.wait_for(state="attached")

    visit(browser, studio, "/plan?users=200&rate=0.1&layers=1&width=1&among=5", look)


def test_measured_delays_that_are_dropped_along_are_a_law(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = am.mixes.synthesize("exponential:2", messages=120, rate=3.0, seed=1)
    am.mixes.write_messages(without_truth(log), tmp_path / "log.csv")
    delays = "\n".join(f"{delay:.5f}" for delay in log.true_delays().tolist())
    (tmp_path / "mine.txt").write_text(f"{delays}\n")

    def look(page: Page) -> tuple[str, str]:
        both = [tmp_path / "log.csv", tmp_path / "mine.txt"]
        page.set_input_files("input[type=file] >> nth=0", both)
        page.get_by_role("button", name="Audit it with this law").wait_for()
        chosen = page.get_by_label("How messages are delayed").input_value()
        page.get_by_role("button", name="Audit it with this law").click()
        page.get_by_text("--law measured:mine.txt").first.wait_for(state="attached")
        page.reload()
        page.get_by_text("Is it good enough?").wait_for()
        return chosen, page.locator("#content").inner_text()

    chosen, words = visit(browser, studio, "/audit", look)

    assert chosen == "measured"
    assert "measured delays of delays.txt" in words
    assert "/tmp" not in words
    assert gone(studio)


def test_systems_are_compared_by_what_they_pay(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    for name, law in (("fast", "exponential:1"), ("slow", "exponential:4")):
        log = am.mixes.synthesize(law, messages=200, rate=3.0, seed=1)
        am.mixes.write_messages(log, tmp_path / f"{name}.csv")

    def look(page: Page) -> tuple[str, str]:
        page.get_by_text("Two systems or more can be compared").wait_for()
        page.set_input_files("input[type=file]", [tmp_path / "fast.csv", tmp_path / "slow.csv"])
        page.get_by_text("slow.csv has more entropy per message").wait_for()
        page.locator(".chart[data-name=cost] .live svg").wait_for()
        page.reload()
        page.get_by_text("slow.csv has more entropy per message").wait_for()
        page.get_by_role("button", name="Again under another law").first.click()
        page.get_by_role("region", name="fast.csv").nth(2).wait_for(state="detached")
        again = page.get_by_role("region", name="fast.csv").nth(1)
        again.locator("summary").click()
        again.get_by_label("How messages are delayed").select_option("window")
        page.locator("th", has_text="fast.csv, window").first.wait_for()
        with page.expect_download() as table:
            page.get_by_role("button", name="Save as CSV").first.click()
        with page.expect_download() as report:
            page.get_by_role("button", name="Save the report").click()
        return table.value.path().read_text(), report.value.path().read_text()

    table, report = visit(browser, studio, "/compare", look)

    assert table.startswith("figure,")
    assert "3 audits compared" in report
    assert gone(studio)


def test_a_simulators_folder_comes_as_an_archive(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    header = "Type;ClientID;PacketID;PacketType;PacketTimeSent;PacketTimeDelivered;RealSenderLabel"
    rows = [
        f"RCV_PKT_REAL;c{k % 5};p{k};REAL;{k * 0.3:.3f};{k * 0.3 + 1 + (k * 7 % 10) / 5:.3f};0"
        for k in range(80)
    ]
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.writestr("run/packet_log.csv", "\n".join([header, *rows]))
        archive.writestr("run/readme.txt", "nothing")

    def look(page: Page) -> None:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "run.zip")
        page.get_by_text("Packet_log.csv of the Nym team's simulator").wait_for()
        page.get_by_text("80 in, 80 out").wait_for()
        page.get_by_role("button", name="Audit it with this law").click()
        page.get_by_text("Is it good enough?").wait_for()

    visit(browser, studio, "/audit", look)

    assert gone(studio)


def test_an_exponential_law_takes_its_mean_from_a_log_without_truth(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = without_truth(am.mixes.synthesize("exponential:7", messages=40, seed=1))
    am.mixes.write_messages(log, tmp_path / "log.csv")
    mean = f"{log.departures.mean() - log.arrivals.mean():.4g}"

    def look(page: Page) -> str:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "log.csv")
        page.get_by_text("choose the law of its mix").wait_for()
        page.get_by_label("How messages are delayed").select_option("exponential")
        page.get_by_text("This is the mean of the log").wait_for()
        page.get_by_role("button", name="Audit it with this law").click()
        page.get_by_text(f"--law exponential:{mean}").first.wait_for(state="attached")
        return page.get_by_label("Its numbers").input_value()

    assert visit(browser, studio, "/audit", look) == mean


def test_numbers_that_a_log_does_not_say_are_asked_for(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("time,direction,name\n0,in,a\n1,in,b\n2,out,x\n")

    def look(page: Page) -> tuple[int, str]:
        page.set_input_files("input[type=file] >> nth=0", tmp_path / "log.csv")
        page.get_by_text("choose the law of its mix").wait_for()
        page.get_by_label("How messages are delayed").select_option("exponential")
        page.get_by_text("Tell the numbers of the exponential law: mean delay in s").wait_for()
        page.get_by_label("How messages are delayed").select_option("window")
        page.get_by_text("Tell the numbers of the window law: least, longest delay").wait_for()
        alerts = page.locator("[role=alert], .sections").count()
        page.get_by_label("Its numbers").fill("1,x")
        page.get_by_label("Its numbers").press("Enter")
        return alerts, page.locator("[role=alert] p").inner_text()

    alerts, error = visit(browser, studio, "/audit", look)

    assert alerts == 0
    assert error.startswith("law 'window:1,x':")


def test_everything_is_named_and_reached_by_the_keyboard(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> list[str]:
        wrong = []
        for route in (
            "/design", "/plan", "/audit?example=mix.csv", "/compare?systems=example%3Dmix.csv",
            "/rounds?users=6&rounds=10", "/attack",
        ):  # fmt: skip
            page.goto(f"{studio.address}{route}")
            page.locator("h1").wait_for()
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") != "To the content":
                wrong.append(f"{route}: the first stop is not the link to the content")
            nameless = page.evaluate(
                "Array.from(document.querySelectorAll('button,select,input,a')).filter(e => "
                "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))"
                ".map(e => e.outerHTML.slice(0, 90))"
            )
            wrong += [f"{route}: {each}" for each in nameless]
        return wrong

    assert visit(browser, studio, "/", look) == []


def test_rounds_sharpen_by_keyboard_and_the_address_keeps_how_many(
    browser: Browser, studio: Served
) -> None:
    def look(page: Page) -> list[str]:
        slider = page.get_by_role("slider", name="Rounds seen")
        slider.wait_for()
        matrix = page.locator("svg.picture", has_text="Who writes to whom after")
        page.get_by_text("Bits left after 30 rounds").wait_for()
        drawn = [matrix.inner_html()]
        slider.focus()
        page.keyboard.press("Home")
        page.get_by_text("Bits left after 1 round", exact=True).wait_for()
        assert slider.get_attribute("aria-valuetext") == "1 of 30"
        drawn.append(changed(matrix, drawn[-1]))
        page.keyboard.press("ArrowRight")
        drawn.append(changed(matrix, drawn[-1]))
        # The curve has points around the half-life: the slider itself names the next one.
        second = (slider.get_attribute("aria-valuetext") or "").removesuffix(" of 30")
        page.get_by_text(f"Bits left after {second} rounds").wait_for()
        page.wait_for_url(f"**seen={second}")
        assert page.evaluate("document.activeElement.type") == "range"
        page.get_by_text("half-life").first.wait_for()
        page.reload()
        page.get_by_text(f"Bits left after {second} rounds").wait_for()
        drawn.append(matrix.inner_html())
        return drawn

    last, first, second, again = visit(
        browser, studio, "/rounds?users=8&friends=2&batch=3&rounds=30&seed=3", look
    )

    assert len({last, first, second}) == 3
    assert again == second


def test_a_log_is_made_anew_when_its_numbers_change(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.get_by_text("Bits left after 10 rounds").wait_for()
        page.get_by_label("Rounds, typed").fill("12")
        page.get_by_label("Rounds, typed").press("Enter")
        page.get_by_text("Bits left after 12 rounds").wait_for()
        page.get_by_label("Users, typed").fill("2")
        page.get_by_label("Users, typed").press("Enter")
        page.wait_for_url("**users=2&friends=2&batch=2&rounds=12**")
        page.get_by_role("button", name="Make another").click()
        page.wait_for_url("**seed=2**")

    visit(browser, studio, "/rounds?users=8&rounds=10", look)


def test_a_dropped_log_of_rounds_is_shown_saved_and_removed(
    browser: Browser, studio: Served, tmp_path: Path
) -> None:
    log = am.disclosure.synthesize_rounds(20, friends=2, users=6, batch=3, seed=1)
    am.disclosure.write_rounds(log, tmp_path / "seen.csv")
    (tmp_path / "bad.csv").write_text("round,user,behaviour\n1,ann,x\n")

    def look(page: Page) -> tuple[str, str, str]:
        page.set_input_files("input[type=file]", tmp_path / "bad.csv")
        error = page.locator("[role=alert] p").inner_text()
        page.set_input_files("input[type=file]", tmp_path / "seen.csv")
        page.get_by_text("Bits left after 20 rounds").wait_for()
        page.locator("figcaption", has_text="What is true is marked").wait_for()
        with page.expect_download() as report:
            page.get_by_role("button", name="Save the report").click()
        with page.expect_download() as pairs:
            page.get_by_role("button", name="Save who writes to whom as CSV").click()
        texts = [one.value.path().read_text() for one in (report, pairs)]
        page.get_by_role("button", name="Close it").click()
        page.get_by_label("Users, typed").wait_for()
        return error, texts[0], texts[1]

    error, report, pairs = visit(browser, studio, "/rounds?users=4&rounds=5", look)

    assert error.startswith("bad.csv: line 2: there is a user and a behaviour")
    assert "<h1>Rounds: who writes to whom</h1>" in report
    assert "anonymatch rounds seen.csv" in report
    assert pairs.splitlines()[0] == "user,behaviour,probability,error"
    assert gone(studio)


def test_chains_over_rounds_are_stopped(browser: Browser, studio: Served) -> None:
    def look(page: Page) -> None:
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped.").wait_for()
        page.get_by_label("Rounds, typed").fill("5")
        page.get_by_label("Rounds, typed").press("Enter")
        page.get_by_text("Bits left after 5 rounds").wait_for()

    visit(browser, studio, "/rounds?users=100&batch=20&rounds=2000", look)


def test_a_phone_shows_every_page_in_any_font(
    browser_with: tuple[str, Browser], studio: Served
) -> None:
    _, browser = browser_with

    def look(page: Page) -> list[str]:
        wide = []
        for route in (
            "/", "/design", "/plan", "/audit?example=mix.csv", "/rounds?users=8&rounds=20",
            "/compare?systems=example%3Dmix.csv,example%3Dmix_log.csv%26law%3Dwindow:1%252C6",
            "/attack", "/paper",
        ):  # fmt: skip
            page.goto(f"{studio.address}{route}")
            page.locator("h1").wait_for()
            page.locator(".picture, .chart").first.wait_for()
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(route)
        return wide

    visited = browser.visit(studio.entry("/"), look, scheme="dark", width=360)

    assert visited.value == []
    assert visited.complaints == []
