"""Pages as they are served: the state that is in an address is what the page shows."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from tests.studio.conftest import Served


def words(studio: Served, route: str) -> str:
    """All texts of a page, as its reader sees them."""
    return unescape(markup(studio, route))


def markup(studio: Served, route: str) -> str:
    """All texts of a page, as the browser is told to show them."""
    answer = studio.get(route)
    assert answer.status_code == 200
    match = re.search(r"parseElements\(String\.raw`(.*?)`\)", answer.text, re.DOTALL)
    assert match is not None
    return json.dumps(json.loads(unescape(match.group(1))), ensure_ascii=False)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ("/", ["4 stories", "2 stories"]),
        ("/?user=Bob", ["4 → 2 stories", "2 → 1 story", "ring.expose(1, 1)"]),
        ("/?user=Zoe", ["4 stories"]),
        ("/design?users=10&edges=40", ["1,968", "anonymatch design --users 10 --edges 40"]),
        ("/design?users=x&edges=-3", ["96"]),
        ("/design?system=pool&batch=100&pool=10", ["7.13", "am.pool_mix_bits(100, 10)"]),
        (
            "/plan?users=500&rate=0.02&cover=1&corrupt=3",
            [
                "10 messages and their cover",
                "1.19 %",
                "anonymatch plan --users 500 --rate 0.02 --network 3x3 --law exponential:0.6667",
                "--cover 1 --corrupt-mixes 3 --worst 1%=20",
            ],
        ),
        ("/plan?law=pool:1,4&kind=magic&users=-5", ["--users 1 --rate 0.01", "--law pool:1,4"]),
        ("/attack?graph=ring&targets=Alice,Zoe", ["Exposed", "Alice turns out to be behind"]),
        ("/attack?example=mix.csv&targets=ann", ["The file mix.csv", "ann turns out"]),
        ("/audit", ["Drop files here"]),
        ("/audit?example=mix.csv", ["2 of 12", "anonymatch audit mix.csv --budget 30"]),
        ("/audit?file=nonsense", ["no longer here"]),
        ("/audit?example=../../etc/passwd", ["choose one"]),
        (
            "/rounds?users=8&friends=2&batch=3&rounds=9&seed=4",
            ["Drop a log of rounds here", "--rounds 9 --friends 2 --users 8 --batch 3 --seed 4"],
        ),
        ("/rounds?users=3&batch=99&friends=x", ["--friends 3 --users 3 --batch 3"]),
        ("/rounds?file=nonsense", ["no longer here", "anonymatch synthesize rounds.csv"]),
    ],
)
def test_the_address_says_what_is_shown(studio: Served, route: str, expected: list[str]) -> None:
    text = words(studio, route)

    for each in expected:
        assert each in text


def test_markup_in_an_address_is_text(studio: Served) -> None:
    text = markup(studio, "/audit?example=mix.csv&user=%3Cscript%3Ealert(1)%3C/script%3E")

    assert "<script>" not in text.replace('defaultValue": "<script>', "")


@pytest.mark.parametrize("route", ["/studio/../server.py", "/studio/%2e%2e/server.py", "/nothing"])
def test_no_other_file_is_served(studio: Served, route: str) -> None:
    assert studio.get(route).status_code == 404


def test_a_file_for_a_page_that_is_not_open_is_refused(studio: Served) -> None:
    answer = studio.post("/upload/nobody?name=a.csv", b"x", origin=studio.address)

    assert (answer.status_code, answer.text) == (410, "this page is closed; open the studio again")
