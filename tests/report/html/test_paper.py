"""The page about the paper: one that its author can be sent."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser import Browser

from anonymatch.reporting import paper_html, write_html
from anonymatch.theory.claims import PUBLICATION, Checks, Verdict, check

if TYPE_CHECKING:
    from playwright.sync_api import Page

_HEIGHT = 4388  # px: a tenth of what the page took when everything was unfolded
_DEBUG = ("True", "False", "None", "passes:", "nan")


@pytest.fixture(scope="module")
def checks() -> Checks:
    return check()


@pytest.fixture(scope="module")
def text(checks: Checks) -> str:
    return paper_html(checks)


@pytest.fixture(scope="module")
def address(text: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "paper.html"
    write_html(text, path)
    return path.as_uri()


def words(text: str) -> str:
    """What is read on the page, without its pictures."""
    tree = ET.fromstring(text)
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.tag in ("svg", "style", "script") or child.tag.endswith("}svg"):
                child.text, child[:] = "", []
    return " ".join("".join(tree.itertext()).split())


def test_title_author_version_and_link_come_first(text: str) -> None:
    head = text[text.index("<body>") : text.index("<main")]

    for part in (PUBLICATION.title, PUBLICATION.author, PUBLICATION.version, PUBLICATION.link):
        assert part in head


def test_three_paragraphs_name_every_statement_that_stands_needs_a_condition_or_fails(
    text: str, checks: Checks
) -> None:
    summary = text[text.index('id="summary"') : text.index('id="counterexamples"')]

    def linked(part: str) -> set[str]:
        _, _, begun = summary.partition(f"<strong>What {part}")
        return set(re.findall(r'href="#claim-([^"]+)"', begun.partition("</p>")[0]))

    assert linked("needs") == {c.id for c in checks if c.verdict is Verdict.CONDITION}
    assert linked("fails") == {c.id for c in checks if c.verdict is Verdict.FAILS}
    right = {c.id for c in checks if c.verdict in (Verdict.HOLDS, Verdict.MISPRINT)}
    assert {c.id for c in checks if c.kind in ("theorem", "lemma")} & right <= linked("stands")
    assert linked("stands") <= right


def test_the_paragraphs_follow_from_the_verdicts() -> None:
    only = paper_html(check("theorem-permanent"))

    assert "What stands." in only
    assert "What fails." not in only
    assert "1 of 1 statement of the paper is true as printed" in only


def test_statements_that_the_paper_does_not_make_are_not_counted_as_its_own(checks: Checks) -> None:
    added = [claim for claim in checks if claim.added]
    text = words(paper_html(checks))

    assert len(added) == 2
    assert f"of {len(checks) - 2} statements of the paper are true as printed" in text


def test_theorems_come_before_labels_of_figures_by_the_papers_numbers(text: str) -> None:
    order = [
        text.index(f'<span class="label">{label}</span>')
        for label in ("Theorem 1", "Lemma 3", "Theorem 3", "Lemma 4", "Conjecture 1", "Figure 1")
    ]

    assert order == sorted(order)


def test_words_of_the_paper_stand_beside_ours(text: str) -> None:
    _, _, part = text.partition('<details class="claim words">')

    for pair in (("de-anonymise a user", "expose a user"), ("component", "part, block")):
        assert all(word in part for word in pair)


def test_every_refutation_is_drawn_beside_the_graph_that_it_beats(
    text: str, checks: Checks
) -> None:
    section = text[text.index('id="counterexamples"') : text.index('<section id="claims"')]
    failing = [claim for claim in checks if claim.verdict is Verdict.FAILS]

    assert section.count("<svg") == len(failing) == 7
    body = text[text.index('id="claim-lemma-deanonymisation"') :]
    assert "de-anonymising one user leaves 492 on average" in body
    assert "The partition graph H: 1,936 matchings" in body


def test_nothing_on_the_page_reads_like_a_program(text: str) -> None:
    read = words(text)

    assert [word for word in _DEBUG if re.search(rf"\b{re.escape(word)}", read)] == []
    assert "$" not in read
    assert "\\" not in read


def test_formulas_are_set_and_not_spelled(text: str) -> None:
    assert "(<i>k</i>!)<sup><i>n</i>/<i>k</i></sup>" in text
    assert "^(" not in words(text)


# ---- in a browser


def test_the_page_is_short_until_something_is_unfolded(browser: Browser, address: str) -> None:
    def look(page: Page) -> tuple[int, int]:
        height = "document.documentElement.scrollHeight"
        folded = page.evaluate(height)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        return folded, page.evaluate(height)

    folded, unfolded = browser.visit(address, look, width=1280).value

    assert folded <= _HEIGHT
    assert unfolded > 5 * folded


def test_a_link_to_a_statement_unfolds_it(browser: Browser, address: str) -> None:
    def look(page: Page) -> list[str]:
        page.locator("#summary a", has_text="Conjecture 1").click()
        page.locator("#claim-conjecture blockquote").wait_for()
        return page.locator("details[open] .label").all_inner_texts()

    assert browser.visit(address, look, scripts=False).value == ["Conjecture 1"]


def test_a_choice_of_verdict_leaves_its_statements_and_their_headings(
    browser: Browser, address: str
) -> None:
    def look(page: Page) -> tuple[int, list[str]]:
        page.locator(".filters a", has_text="fails").click()
        shown = page.locator("details.card:visible").count()
        return shown, page.locator("h3.group:visible").all_inner_texts()

    shown, headings = browser.visit(address, look).value

    assert shown == 7
    assert headings == ["Theorems, lemmas and the conjecture", "Statements of the text"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_on_a_phone_folded_or_not(
    browser: Browser, address: str, scheme: str
) -> None:
    cut = """() => [...document.querySelectorAll('main *')].filter(each => {
        if (each.closest('svg, .scroll, figure, .unseen')) return false;
        const box = each.getBoundingClientRect();
        return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
    }).map(each => each.tagName + ' ' + each.textContent.slice(0, 60))"""

    def look(page: Page) -> tuple[int, list[str]]:
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        return page.evaluate("document.documentElement.scrollWidth"), page.evaluate(cut)

    dark = scheme == "dark"
    width, outside = browser.visit(
        address, look, width=360, scheme="dark" if dark else "light"
    ).value

    assert outside == []
    assert width == 360


def test_on_paper_everything_is_unfolded(browser: Browser, address: str, tmp_path: Path) -> None:
    def look(page: Page) -> tuple[bool, bool]:
        body = page.locator("#claim-conjecture blockquote")
        before = body.is_visible()
        page.emulate_media(media="print")
        return before, body.is_visible()

    assert browser.visit(address, look).value == (False, True)
