"""Pages: whole or not written, nothing loaded, every text escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

import anonymatch as am
from anonymatch.reporting.html.document import Section, document, write_html
from anonymatch.reporting.html.paper import paper_html
from anonymatch.reporting.html.tables import table
from anonymatch.theory.claims import PUBLICATION, Claim, Evidence, Typeset, Verdict, check

NASTY = "<script>alert('x')</script> & \"quotes\" \x00\u202e שלום"


def made(claim_id: str, number: int, *, corrected: str | None = None, **changes: Any) -> Claim:
    """A claim with everything that a test does not care about."""
    statement = changes.pop("statement", "Something is so.")
    values: dict[str, Any] = {
        "section": "Section 3",
        "kind": "formula",
        "verdict": Verdict.HOLDS,
        "finding": "It is so.",
        "evidence": (),
        "counterexample": None,
        "partition": None,
        "searched": "",
        "seconds": 0.5,
    }
    title = f"About {claim_id}"
    sentences: dict[str, Any] = {"title": title, "statement": statement, "corrected": corrected}
    typeset = Typeset(**sentences, brief=corrected)
    own = sentences | {"brief": corrected, "typeset": typeset}
    return Claim(id=claim_id, number=number, **own, **values | changes)


def claims() -> list[Claim]:
    """One of everything."""
    chart = {
        "series": [{"name": "b = 1", "x": [10, 100], "y": [0.894, 0.978]}],
        "x_label": "k",
        "y_label": "ratio",
        "log_x": True,
    }
    rows = {"columns": ["n", "m", "H"], "rows": [(8, 24, 81), (10, 40, 1936)]}
    figures = [made(f"figure-{n}", n, section=f"Figure {n}", kind="figure") for n in range(1, 8)]
    return [
        *figures,
        made("crown", 8, section="Figures 8 and 9", verdict=Verdict.MISPRINT, corrected="D(k+1)"),
        made("limit", 23, verdict=Verdict.CONDITION, evidence=(Evidence("The ratio.", chart),)),
        made(
            "optimal",
            24,
            verdict=Verdict.FAILS,
            counterexample=("11110000",) * 4 + ("00001100",) * 2 + ("00000011",) * 2,
            evidence=(Evidence("Better ones.", rows), Evidence("More.", {"H": 81, "best": 96})),
            searched="all graphs with 8 users and 24 edges",
        ),
    ]


def ids(text: str) -> list[str]:
    return re.findall(r' id="([^"]+)"', text)


def test_page_is_well_formed_and_loads_nothing() -> None:
    text = paper_html(claims())
    tree = ET.fromstring(text)

    assert not [each for each in tree.iter() if each.tag in ("img", "link", "iframe")]
    assert not [each for each in tree.iter("script") if each.get("src")]
    still = text.partition("<script>")[0]
    outside = set(re.findall(r"(?:src|href)=\"(?!#)([^\"]*)\"", still))
    assert outside == {PUBLICATION.link}  # followed only by a click
    assert not re.search(r"url\((?!#)", still)
    assert "@import" not in still


def test_every_link_has_a_place_and_every_place_one_name() -> None:
    text = paper_html(claims())
    anchors = ids(text)

    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(anchors)


def test_all_claims_and_figures_are_there() -> None:
    text = paper_html(claims())

    for claim in claims():
        assert f'id="claim-{claim.id}"' in text
    for number in range(1, 10):
        assert text.count(f'id="figure-{number}"') == 1


def test_figures_that_no_claim_names_come_last() -> None:
    text = paper_html([made("one", 1, section="Fig. 2")])

    assert text.index('id="figure-2"') < text.index("Other figures of the paper</h2>")
    assert text.index("Other figures of the paper</h2>") < text.index('id="figure-1"')
    assert all(f'id="figure-{number}"' in text for number in range(1, 10))


def test_summary_counts_verdicts_in_words() -> None:
    text = paper_html(claims())

    assert "10 statements: 7 hold, 1 is a misprint, 1 holds under a condition, 1 fails." in text
    for key in ("holds", "misprint", "condition", "fails"):
        assert f'href="#only-{key}"' in text
        assert f"#only-{key}:target~.card:not(.{key}){{display:none}}" in text
    assert text.count('class="icon ') >= 4 + len(claims())


def test_verdicts_are_words_for_those_who_see_no_icon() -> None:
    tree = ET.fromstring(paper_html(claims()))
    words = [
        "".join(each.itertext()).strip()
        for card in tree.iter("summary")
        for each in card.iter("span")
        if each.get("class") == "mark"
    ]

    assert sorted(words) == sorted(str(getattr(c.verdict, "value", c.verdict)) for c in claims())
    assert all(
        icon.get("aria-hidden") == "true" for icon in tree.iter("svg") if not icon.get("role")
    )


def test_evidence_and_counterexample_are_drawn() -> None:
    text = paper_html(claims())
    _, _, optimal = text.partition('id="claim-optimal"')
    _, _, limit = text.partition('id="claim-limit"')

    assert "96 matchings from 8 users and 24 edges" in optimal
    assert "de-anonymising one user leaves 24 on average" in optimal
    assert '<td class="number">1,936</td>' in optimal
    assert '<td class="short">best</td>' in optimal
    assert "b = 1: from 0.894 at 10 to 0.978 at 100." in limit


def test_a_graph_among_the_evidence_is_drawn_once() -> None:
    rows = ["110", "011", "101"]
    twice = (Evidence("A ring.", {"graph": rows, "matchings": 2}), Evidence("It.", {"graph": rows}))
    text = paper_html([made("ring", 1, evidence=twice)])

    assert text.count("<title>A ring.</title>") == 1
    assert "<title>It.</title>" not in text
    assert '<td class="number">2</td>' in text


def test_far_apart_values_get_a_logarithmic_axis_and_labels_by_either_name() -> None:
    series = [{"name": "a", "x": [10, 10**6], "y": [0, 1]}]
    text = paper_html([made("far", 1, evidence=(Evidence("", {"series": series, "x": "k!"}),))])

    (spec,) = (
        each.get("data-spec") for each in ET.fromstring(text).iter() if each.get("data-spec")
    )
    assert '"type":"log"' in str(spec)
    assert ">k!</text>" in text


@pytest.mark.parametrize(
    ("value", "shown", "number"),
    [
        ("25/7", "25/7", True),
        ("18446744073709551616", "18,446,744,073,709,551,616", True),
        ("11111111111111111", "11111111111111111", False),
        ("0011", "0011", False),
        ("1/0", "1/0", False),
        (True, "yes", False),
        (None, "–", True),
    ],
)
def test_numbers_that_came_as_text_are_numbers(value: object, shown: str, number: bool) -> None:
    cell = table(["a"], [[value]]).rows[0][0]

    assert (cell.text, cell.number) == (shown, number)


def test_the_same_claims_give_the_same_bytes() -> None:
    assert paper_html(claims()) == paper_html(claims())


def test_nasty_text_stays_text() -> None:
    claim = made(
        NASTY,
        1,
        section=NASTY,
        statement=NASTY,
        verdict=NASTY,
        corrected=NASTY,
        finding=NASTY,
        searched=NASTY,
        evidence=(
            Evidence(NASTY, {"columns": [NASTY], "rows": [[NASTY]]}),
            Evidence(NASTY, {"series": [{"name": NASTY, "x": [1], "y": [1]}], "x_label": NASTY}),
            Evidence(NASTY, {NASTY: NASTY}),
        ),
    )
    text = paper_html([claim])
    tree = ET.fromstring(text)

    assert all("vegaEmbed" in (each.text or "") for each in tree.iter("script"))
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "שלום" in text
    text.encode()


def test_checks_of_the_paper_itself_make_a_page() -> None:
    checks = check(["figure-1", "figures-8-9", "equity-difference", "theorem-limit"])
    text = paper_html(checks)

    ET.fromstring(text)
    assert all(f'id="claim-{claim.id}"' in text for claim in checks)


def test_claims_that_cannot_be_shown_are_refused_by_name() -> None:
    bad = made("odd", 1, counterexample=("10", "1x"))
    with pytest.raises(am.InputError, match="claim 'odd' cannot be shown"):
        paper_html([bad])
    with pytest.raises(am.InputError, match="two claims share"):
        paper_html([made("same", 1), made("same", 2)])
    with pytest.raises(am.InputError, match="no claims"):
        paper_html([])
    with pytest.raises(am.InputError, match="row 1 of the table has 1 value, but there are 2"):
        table(["a", "b"], [(1, 2), (3,)])


def test_a_counterexample_without_matchings_or_with_many_users_is_still_shown() -> None:
    none = made("none", 1, counterexample=("100", "100", "111"))
    many = made("many", 2, counterexample=tuple("1" * 201 for _ in range(201)))
    text = paper_html([none, many])

    assert "0 matchings from 3 users and 5 edges" in text
    assert "summed up in 48 by 48 cells" in text


def test_long_tables_are_cut_and_said() -> None:
    rows = {"columns": ["n"], "rows": [[n] for n in range(1000)]}
    text = paper_html([made("long", 1, evidence=(Evidence("Many.", rows),))])

    assert "and 800 more rows" in text
    assert len(text) < 1 << 20


def test_unknown_verdicts_keep_their_words() -> None:
    text = paper_html([made("a", 1, verdict="open"), replace(made("b", 2), verdict=Verdict.FAILS)])

    assert "1 fails, 1 with the verdict “open”" in text
    assert 'href="#only-other-open"' in text


def test_page_lists_its_sections_and_their_entries() -> None:
    first = Section("one", "First <1>", Markup("<p id='x'>here</p>"), (("x", "There & here"),))
    text = document("Title", lead="Lead", sections=(first, Section("two", "Second", Markup(""))))
    tree = ET.fromstring(text)
    links = {each.get("href"): each.text for each in tree.iter("a")}

    assert links["#one"] == "First <1>"
    assert links["#x"] == "There & here"
    assert links["#two"] == "Second"


def test_written_pages_replace_old_ones_and_leave_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_html("old", path)
    write_html("né\n", str(path))

    assert path.read_bytes() == "né\n".encode()
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "it is a folder; give the name of a file"),
        ("nowhere/page.html", "its folder does not exist; make it first"),
        ("x" * 300, "cannot write it"),
        ("a\0b", "zero byte"),
    ],
)
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(am.InputError, match=message) as caught:
        write_html("text", f"{tmp_path}/{name}")

    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_html("old", path)
    with pytest.raises(am.InputError, match="UTF-8"):
        write_html("\ud800", path)

    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_path_must_be_a_path() -> None:
    with pytest.raises(am.InputError, match="path must be text or a Path"):
        write_html("text", 7)  # type: ignore[arg-type]
