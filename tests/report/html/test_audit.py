"""The page of an audit: every figure with how sure it is, whole, small, and safe."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from html import unescape

import numpy as np
import pytest
from tests.report.pages import audit_html, comparison_html

import anonymatch as am
from anonymatch.audits import figure_text, user_rows
from anonymatch.audits.auditing import audit
from anonymatch.audits.comparing import compare
from anonymatch.audits.gates import check_gates
from anonymatch.audits.result import Audit
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import percent
from anonymatch.base.text import plain
from anonymatch.mixes.logs.observation import MessageObservation, Passage
from anonymatch.reporting.drawings.matrices import density
from anonymatch.reporting.html.document import document

NASTY = "</script><b>&\u202e\x00'\""


def passage(messages: int, lost: int = 0) -> MessageObservation:
    draws = np.random.default_rng(3)
    arrivals = np.sort(draws.uniform(0, messages, messages))
    departures = (arrivals + draws.exponential(5.0, messages))[: messages - lost]
    return MessageObservation(
        passage=Passage(
            users=tuple(f"m{i}" for i in range(messages)),
            behaviours=tuple(f"o{i}" for i in range(messages - lost)),
            arrivals=arrivals,
            departures=departures,
        ),
        source="an exponential mix",
        truth=np.where(np.arange(messages) < messages - lost, np.arange(messages), -1),
        mean_delay=5.0,
        lost=lost,
    )


@cache
def estimated() -> Audit:
    draws = np.random.default_rng(2)
    cells = (draws.random((44, 44)) < 0.4) | np.eye(44, dtype=bool)
    graph = am.Graph.from_rows(["".join("01"[int(x)] for x in row) for row in cells])
    return audit(graph, budget=0.2, seed=7)


def words(text: str) -> str:
    """What a reader sees, without tags."""
    shown = re.sub(r"<(style|script|desc|title)[ >].*?</\1>", "", text, flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown)))


def section(text: str, anchor: str) -> str:
    return text.split(f'<section id="{anchor}">')[1].split("</section>")[0]


def anchors(text: str) -> list[str]:
    return re.findall(r' id="([^"]+)"', text)


@pytest.mark.grid(quick=2)
@pytest.mark.parametrize(
    "source",
    [
        am.Graph.from_edges([]),
        am.Graph.from_rows(["10", "01"]),
        am.Graph.from_rows(["1110", "1111"]),
        am.partition([30, 20, 4]),
        am.ring(1200, 3),
        passage(3),
        passage(40, lost=7),
    ],
)
def test_page_is_well_formed_loads_nothing_and_links_inside(
    source: am.Graph | MessageObservation,
) -> None:
    page = audit_html(audit(source))
    tree = ET.fromstring(page)
    text = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)

    loading = [each.tag for each in tree.iter() if each.tag in ("script", "img", "link")]
    assert set(loading) <= {"script"}
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    assert not re.search(r"url\((?!#)", text)
    assert len(anchors(text)) == len(set(anchors(text)))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(anchors(text))
    assert not re.search(r"\b(nan|inf|None)\b", words(text))


def test_sections_come_in_the_order_of_a_readers_questions() -> None:
    text = audit_html(audit(passage(20)))

    assert re.findall(r'<section id="([^"]+)"', text) == [
        "verdict", "figures", "spread", "users", "time", "attack", "cost", "truth", "about",
    ]  # fmt: skip


@pytest.mark.slow
def test_that_figures_are_exact_is_said_once_and_only_others_say_how_sure_they_are() -> None:
    for result in (audit(am.ring(6, 3)), estimated()):
        text = audit_html(result)
        cards = re.findall(r"<li><h4>.*?</li>", text, flags=re.DOTALL)

        assert words(text).count("exact up to rounding") == 1
        assert len(cards) == 12
        for card in cards:
            known = re.search(r"estimated|proven|not known", card)
            assert ('class="sure"' in card) == (known is not None)
            assert len(words(card.split('class="what">')[1])) > 20
    assert "estimated, 95 % sure, seed 7" in words(audit_html(estimated()))


@pytest.mark.slow
def test_estimates_name_their_probability_and_seed_and_exact_figures_do_not() -> None:
    result = estimated()
    text = words(audit_html(result))

    assert result.confidence == 0.95
    assert "estimated, 95 % sure, seed 7" in text
    assert "Identified users 0 of 44 Users with exactly one possible match" in text
    assert "There is no series of exposures: probabilities are not known exactly" in text
    assert "estimated" not in words(audit_html(audit(am.ring(6, 3))))


def test_proven_intervals_are_not_called_estimates() -> None:
    shown = figure_text(Interval(2.0, 1.0, 3.0), "", confidence=1.0, seed=0)

    assert (shown.value, shown.sure) == ("1 to 3", "proven interval")


@pytest.mark.parametrize("share", [0.9995, 0.99996, 1 - 1e-8])
def test_nearly_all_is_not_all(share: float) -> None:
    assert percent(share) == ">99.9 %"


def test_gates_are_reached_missed_or_open() -> None:
    result = audit(am.complete(4))
    gates = check_gates(result, {"bits": 1, "k": 5})
    unsure = replace(gates[0], figure=Interval(1.0, 0.5, 1.5))
    text = section(audit_html(result, gates=[*gates, unsure]), "verdict")
    cards = re.findall(r"<li class.*?</li>", text, flags=re.DOTALL)

    assert "Thresholds: 1 of 3 passed" in words(text)
    for card, (state, colour, passes, figure) in zip(
        cards,
        (
            ("bits=1 is reached", "g2", "PASS", "1.146; must be at least 1"),
            ("global (1,k)=5 is missed", "g1", "FAIL", "4; must be at least 5"),
            ("bits=1 is not sure to be reached", "g4", "FAIL", "0.5 to 1.5; must be at least 1"),
        ),
        strict=True,
    ):
        assert all(part in words(card) for part in (state, passes, figure))
        assert f'<li class="{colour}">' in card
        assert f'class="icon {colour}"' in card
    assert "Thresholds" not in words(section(audit_html(result), "verdict"))


def test_gates_say_which_way_they_go_and_when_there_is_nobody() -> None:
    result = audit(am.complete(4))
    (within,) = check_gates(result, {"surest": 0.3})
    nobody = replace(within, name="worst", figure=Interval(math.inf, math.inf, math.inf))
    text = words(section(audit_html(result, gates=[within, nobody]), "verdict"))

    assert "0.25; must be at most 0.3" in text
    assert "there is nobody; must be at least 0.3" in text


@pytest.mark.slow
def test_hundred_thousand_messages_make_a_small_page_with_the_worst_of_them() -> None:
    result = audit(passage(100_000), steps=0)
    text = audit_html(result)
    rows = section(text, "users").split('id="user-table"')[1].count("<tr><td>")

    assert len(text.encode()) < 1_500_000
    assert rows == 2000
    assert "The 2,000 worst of 100,000 messages are in this page" in text
    assert "--csv" in text
    assert user_rows(result)[0][0] == result.worst[0].user


def test_rows_are_ranked_like_the_worst_users() -> None:
    result = audit(am.Graph.from_rows(["1100", "1110", "1111", "0011"]))

    assert [row[0] for row in user_rows(result)] == [str(one.user) for one in result.worst]


@pytest.mark.slow
def test_large_graphs_are_shades_and_small_ones_cells() -> None:
    small, large = (
        section(audit_html(audit(graph)), "picture") for graph in (am.ring(8, 3), am.ring(600, 4))
    )

    assert small.count("– ") >= 64
    assert "in the darkest cell" in large
    assert large.count("<path") <= 9
    assert "<line" not in large


@pytest.mark.grid
@pytest.mark.parametrize(
    ("graph", "pairs"),
    [
        (am.ring(60, 3), True),
        (am.partition([40, 40]), True),  # so many edges are drawn in another way
        (am.ring(300, 3), False),
        (am.ring(600, 4), False),
    ],
)
def test_captions_say_what_a_cell_stands_for(graph: am.Graph, *, pairs: bool) -> None:
    text = section(audit_html(audit(graph, steps=0)), "picture").split("<figcaption")[1]

    assert ("a cell a pair, coloured where the two fit" in text) == pairs
    assert ("cells, the darker the more pairs fit" in text) == (not pairs)
    assert ("in the darkest cell" in text) == (not pairs)


def test_density_keeps_all_edges_and_the_order_given() -> None:
    graph = am.partition([100, 300])
    drawn = density(graph, title="")
    lines = re.findall(r"M(\d+) (\d+)\.5h(\d+)", "".join(map(str, drawn.content)))
    cells = np.zeros((200, 200), dtype=bool)
    for begin, row, length in lines:
        cells[int(row), int(begin) : int(begin) + int(length)] = True

    assert cells[:50, :50].all()
    assert cells[50:, 50:].all()
    assert cells.sum() == 50 * 50 + 150 * 150


def test_density_of_noise_is_coarser_rather_than_large() -> None:
    draws = np.random.default_rng(1)
    pairs = np.argwhere(draws.random((1000, 1000)) < 0.1)
    drawn = density(am.Graph.from_edges(pairs.tolist()), title="")

    assert "100 by 100 cells" in drawn.words
    assert len(drawn.standalone()) < 250_000


@pytest.mark.slow
def test_truth_is_held_against_promises() -> None:
    result = audit(passage(300))
    score = result.score
    assert score is not None
    text = words(section(audit_html(result), "truth"))

    assert f"Of 300 best guesses, {percent(score.right)} were right" in text
    assert "The probabilities are well calibrated" in text
    wrong = replace(result, score=replace(score, calibrated=False))
    assert "The probabilities are not calibrated" in words(section(audit_html(wrong), "truth"))
    wrong = replace(result, score=replace(score, calibrated=False, impossible=2))
    shown_text = words(section(audit_html(wrong), "truth"))
    assert "does not fit what really happened" in shown_text
    assert "well calibrated" not in shown_text
    assert "For 2 messages the truth is none of the candidates" in shown_text
    assert section(audit_html(result), "truth").count("data-name='calibration'") == 1


@pytest.mark.slow
def test_campaign_is_a_curve_and_a_table_that_agree() -> None:
    result = audit(am.partition([4, 3]), steps=3)
    text = section(audit_html(result), "attack")

    assert '[{"x":0.0,"y":7.16' in unescape(text)
    for step in result.campaign.steps:
        assert f'{{"x":{step.number:.1f},"y":{step.bits_left!r}' in unescape(text)
    assert text.count("<tr><td") == len(result.campaign.steps)


@pytest.mark.slow
def test_lost_messages_are_named_as_lost() -> None:
    text = words(audit_html(audit(passage(40, lost=7))))

    assert "40 messages in, 33 out" in text
    assert "Lost 7 Messages that never came out" in text
    assert "What is paid is delay" in text


def test_people_have_a_table_of_their_own() -> None:
    graph = am.complete(4)
    result = audit(
        MessageObservation(graph=graph, source="x", senders=("a", "a", "b", NASTY), mean_delay=1.0)
    )
    text = section(audit_html(result), "people")

    assert text.count("<tr><td") == 3
    assert "who wrote to whom" in text
    assert "<b>" not in text


def test_nasty_names_stay_names() -> None:
    graph = am.Graph.from_edges([(NASTY, NASTY), (NASTY, "y"), ("b" * 200, "y")])
    result = audit(graph)
    text = audit_html(replace(result, name=NASTY, notes=(NASTY,)), command=NASTY)
    ET.fromstring(text)

    assert text.count("</script>") == 2
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "b" * 100 not in words(text)


def test_only_the_script_of_the_page_may_run() -> None:
    text = document("x", script="let a = 1;")

    assert "script-src 'sha256-" in text
    assert "script-src" not in document("x")
    with pytest.raises(am.InputError, match="must do without"):
        document("x", script="a[b[0]]>c")


def test_comparison_shows_all_figures_and_claims_what_is_said() -> None:
    audits = [audit(passage(60)), audit(am.ring(9, 3)), estimated()]
    comparison = compare(audits, ["mix", NASTY, "random"])
    text = comparison_html(comparison, command="anonymatch compare a b c")
    ET.fromstring(text)
    shown_text = words(text)

    assert "Intervals overlap: no difference in entropy per message can be claimed" in shown_text
    assert "random has the most joint bits per message" in shown_text
    for row in comparison.rows:
        assert f"{row.title} {row.meaning}" in shown_text
        assert plain(row.judgement) in unescape(text)
    assert "estimated, 95 % sure, seed 7" in shown_text
    assert "not known" in shown_text
    source = audits[0].observation.source
    assert f"{source}, the attacker sees both ends; " in shown_text
    assert "random: Some figures are estimated" in shown_text
    assert "anonymatch compare a b c" in shown_text
    assert len(anchors(text)) == len(set(anchors(text)))


def test_more_than_six_audits_are_refused() -> None:
    one = audit(am.complete(2))
    with pytest.raises(am.InputError, match="at most 6 audits"):
        comparison_html(compare([one] * 7))


@pytest.mark.slow
def test_the_same_audit_gives_the_same_bytes() -> None:
    result = audit(am.ring(8, 3))

    assert audit_html(result) == audit_html(result)


@pytest.mark.slow
def test_the_page_of_one_exponential_mix_says_why_it_has_no_matrix() -> None:
    log = am.mixes.synthesize("exponential:5", messages=40, seed=1)
    passage = audit_html(am.audit(am.mixes.observe(log, "exponential:5")))
    graph = audit_html(am.audit(am.mixes.observe(log, "window:0,40")))

    assert "There is no picture of who fits what" in passage
    assert "There is no picture of who fits what" not in graph


@pytest.mark.slow
def test_the_caption_of_the_matrix_holds_in_light_and_dark() -> None:
    log = am.mixes.synthesize("window:1,5", messages=200, seed=1)
    page = audit_html(am.audit(am.mixes.observe(log, "window:1,5")))

    assert "to the colour of the page, the fewer fit" in " ".join(page.split())
    assert "it is pale" not in page
