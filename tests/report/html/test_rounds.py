"""Rounds as a page: the half-life first, then for whom, and what to do."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.disclosure import (
    RoundLog,
    half_life_in_words,
    profile_matrix,
    rounds_report,
    true_profiles,
)
from anonymatch.reporting import drawn_matrix, report_html, write_report_html

NASTY = "<script>alert('x')</script> & \"quotes\" \x00\u202e"


@cache
def log(rounds: int = 40, users: int = 8) -> RoundLog:
    return am.disclosure.synthesize_rounds(rounds, friends=2, users=users, batch=4, seed=2)


@cache
def found() -> am.Disclosure:
    return am.rounds(log(), budget=3)


def rounds_html(disclosure: am.Disclosure) -> str:
    return report_html(rounds_report(disclosure))


def words(page: str) -> str:
    return " ".join("".join(ET.fromstring(page).itertext()).split())


METHODS: dict[str, Callable[[], am.Disclosure]] = {
    "gibbs": found,
    "target": lambda: am.rounds(log(), target="user 1", budget=3),
    "no decay": lambda: am.rounds(log(), decay=False, budget=3),
    "one round": lambda: am.rounds(log(1), budget=3),
    "exact": lambda: am.rounds(log(), method="exact", target="user 1", friends=2),
    "presence": lambda: am.rounds(log(), method="presence"),
    **{
        name: lambda name=name: am.rounds(log(), method=name)  # type: ignore[misc]
        for name in ("sda", "lsda", "lsda-nn", "pmda", "nsda", "em")
    },
}


@pytest.mark.grid
@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
def test_every_method_has_a_page_that_is_well_formed_and_loads_nothing(
    make: Callable[[], am.Disclosure],
) -> None:
    whole = rounds_html(make())
    root = ET.fromstring(whole)
    page = re.sub(r"<script>.*?</script>", "", whole, flags=re.DOTALL)
    anchors = {each.get("id") for each in root.iter() if each.get("id")}
    links = re.findall(r'href="([^"]*)"', page)

    assert not re.search(r'(src|href)="(?!#)', page)
    assert {link[1:] for link in links} <= anchors
    assert "nan" not in words(page).lower().split()
    assert words(page).count("What the attacker has") == 2  # in the contents, and over it


def test_the_page_begins_with_the_half_life() -> None:
    disclosure = found()
    assert disclosure.half_life is not None
    sentence = half_life_in_words(disclosure)

    assert sentence.startswith(f"The half-life is about {round(disclosure.half_life)} rounds")
    text = words(rounds_html(disclosure))
    assert text.index(sentence) < text.index("the attacker's best guess is right for")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: am.rounds(log(2), budget=2),
            "The half-life is more than 2 rounds",
        ),
        (lambda: am.rounds(log(1), budget=2), "One round alone says nothing"),
        (lambda: am.rounds(log(), decay=False, budget=2), "All 40 rounds were looked at together"),
        (lambda: am.rounds(log(), method="sda"), "no half-life; gibbs does"),
        (
            lambda: am.rounds(RoundLog.of([(1, "a", "x"), (2, "b", "y")]), budget=2),
            "Nobody hides",
        ),
        (
            lambda: am.rounds(log(), method="exact", target="user 1", friends=2),
            "rounds of user 1",
        ),
    ],
)
def test_where_there_is_no_half_life_of_the_log_it_is_said_why(
    make: Callable[[], am.Disclosure], expected: str
) -> None:
    assert expected in half_life_in_words(make())


def test_chains_that_disagree_are_not_called_a_log_that_is_too_short() -> None:
    half = am.Interval.between(5.0, float("inf"))
    open_ended = replace(found(), half_life_between=half, gap=2.3)
    assert "starts disagree too much to say more" in half_life_in_words(open_ended)
    assert "too short" in half_life_in_words(replace(open_ended, gap=0.01))


def test_who_falls_first_comes_first_with_reasons() -> None:
    disclosure = found()
    page = ET.fromstring(rounds_html(disclosure))
    (section,) = [each for each in page.iter() if each.get("id") == "users"]
    cells = [row.findtext("td") for row in section.iter("tr") if row.find("td") is not None]

    assert cells == [one.user for one in disclosure.users]
    shown = words(ET.tostring(section, encoding="unicode"))
    assert all(one.why in shown for one in disclosure.users)


@pytest.mark.slow
def test_few_users_are_a_matrix_and_many_are_pairs() -> None:
    many = am.rounds(log(users=300), method="sda")

    assert profile_matrix(found()) is not None
    assert profile_matrix(many) is None
    assert "The likeliest pairs" in rounds_html(many)
    assert profile_matrix(am.rounds(log(), target="user 1", budget=2)) is None


def test_columns_stay_where_they_are_while_the_matrix_sharpens() -> None:
    disclosure = found()
    names = []
    for rounds in disclosure.profiles_at:
        matrix = profile_matrix(disclosure, rounds=rounds)
        assert matrix is not None
        picture = drawn_matrix(matrix)
        names.append([str(each) for each in picture.content if "rotate" in str(each)])

    assert len(names[0]) == len(disclosure.log.behaviours)
    assert all(each == names[0] for each in names)


@pytest.mark.slow
def test_truth_is_shown_where_it_is_known_and_only_there() -> None:
    blind = am.rounds(replace(log(), truth=None), budget=2)

    assert "true share" in words(rounds_html(found()))
    assert "marked in orange" in words(rounds_html(found()))
    text = words(rounds_html(blind))
    assert "true share" not in text
    assert "marked in orange" not in text
    assert "The log has no ground truth" in text


def test_true_shares_are_those_of_the_messages() -> None:
    true = true_profiles(found())
    assert true is not None
    receivers = log().true_receivers()
    assert receivers is not None
    for user, behaviour, share in zip(*(part.tolist() for part in true), strict=True):
        own = receivers[log().sender == user]

        assert share == pytest.approx((own == behaviour).mean())


def test_page_says_what_the_figures_show_of_calibration() -> None:
    page = {flag: words(rounds_html(replace(found(), calibrated=flag))) for flag in (True, False)}
    disagree = words(rounds_html(replace(found(), calibrated=None)))

    assert "well calibrated" in page[True]
    assert "estimates the attacker" in page[False]
    assert "Chains disagree" in disagree
    assert "calibrated" not in page[False] + disagree


def test_page_prints_the_note_on_chains_that_disagree_once() -> None:
    apart = am.rounds(am.disclosure.synthesize_rounds(120, users=80, batch=20, seed=1), budget=0.5)

    page = words(rounds_html(apart))

    assert page.count("chains from opposite starts differ by") == 1
    assert "R-hat" in page


def test_larger_batches_are_said_to_help() -> None:
    root = ET.fromstring(rounds_html(found()))
    (section,) = [each for each in root.iter() if each.get("id") == "help"]
    rows = [
        [cell.text or "" for cell in row.iter("td")]
        for row in section.iter("tr")
        if row.find("td") is not None
    ]

    assert [row[0] for row in rows] == ["4", "8", "16"]
    needed = [float(row[1]) for row in rows]
    assert needed == sorted(needed)
    assert needed[0] < needed[-1]


def test_owners_of_pseudonyms_are_told_what_helps_them() -> None:
    text = words(rounds_html(am.rounds(log(), method="presence")))

    assert "is online in 50 % of rounds" in text  # 4 of 8 users send in every round
    assert "Stay online" in text
    assert "Larger batches" not in text


def test_pairs_have_the_true_share_of_their_own_user() -> None:
    root = ET.fromstring(rounds_html(found()))
    (section,) = [each for each in root.iter() if each.get("id") == "pairs"]
    true = true_profiles(found())
    assert true is not None
    known = {
        (log().users[user], log().behaviours[behaviour]): share
        for user, behaviour, share in zip(*(part.tolist() for part in true), strict=True)
    }
    rows = [[cell.text or "" for cell in row.iter("td")] for row in section.iter("tr")]
    told = {(row[0], row[1]): row[-1] for row in rows if row}

    assert set(known) <= set(told)
    for pair, share in told.items():
        assert float(share.split()[0]) == pytest.approx(100 * known.get(pair, 0.0), abs=0.06)


def test_names_notes_and_commands_stay_text() -> None:
    nasty = RoundLog.of([(k, [NASTY, "b"], ["x", f"{NASTY}{k % 2}"]) for k in range(6)])
    disclosure = replace(am.rounds(nasty, budget=2), notes=(NASTY,))
    page = report_html(rounds_report(disclosure).run_by(f"anonymatch rounds {NASTY}"))

    assert "<script>alert" not in page
    ET.fromstring(page)


@pytest.mark.slow
def test_the_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    report = rounds_report(found()).run_by("anonymatch rounds log.csv")
    write_report_html(report, tmp_path / "rounds.html")

    assert (tmp_path / "rounds.html").read_text() == report_html(report)
    assert "anonymatch rounds log.csv" in report_html(report)
    found().report(tmp_path / "rounds.html")
    assert (tmp_path / "rounds.html").read_text() == rounds_html(found())
    with pytest.raises(am.InputError):
        write_report_html(report, tmp_path / "missing" / "rounds.html")
    assert [path.name for path in tmp_path.iterdir()] == ["rounds.html"]
