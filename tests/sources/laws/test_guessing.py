"""The law that a log looks like: each law is drawn, and told from all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.cli import main
from anonymatch.mixes import LAWS, first_look, guess_law, guess_log_law, law_text, parse_law

DRAWN = [
    "window:1,5",
    "window:0,3",
    "exponential:2",
    "0.5+exponential:2",
    "erlang:3,0.5",
    "0.2+erlang:3,0.5",
    "hops:0.5,4",
    "hops:0.5,1,8",
    "lognormal:5,0.5",
    "lognormal:5,0.5,2",
    "threshold:10",
    "timed:6",
    "timed:6,1.5",
    "pool:10,5",
    "pool:1,3",
    "timed-pool:6,3",
    "binomial:6,0.5",
    "cottrell:6,10,0.6",
]


@pytest.mark.grid
@pytest.mark.parametrize("text", DRAWN)
def test_a_law_that_was_drawn_is_the_one_that_is_guessed(text: str) -> None:
    log = am.mixes.synthesize(text, messages=4000, rate=2.0, seed=3)

    guess = guess_log_law(log)

    assert guess is not None
    assert guess.fits
    assert guess.text.partition(":")[0].split("+")[-1] == text.partition(":")[0].split("+")[-1]
    assert ("+" in guess.text) == ("+" in text)
    assert parse_law(guess.text) == guess.law


@pytest.mark.grid
@pytest.mark.parametrize("text", [each for each in DRAWN if not each.startswith(("hops", "0."))])
def test_its_numbers_are_near_those_that_were_drawn(text: str) -> None:
    log = am.mixes.synthesize(text, messages=4000, rate=2.0, seed=5)
    guess = guess_log_law(log)

    assert guess is not None
    given, numbers = (
        np.array([float(each) for each in one.partition(":")[2].split(",")])
        for one in (text, guess.text)
    )
    assert len(given) == len(numbers)
    assert np.allclose(given, numbers, rtol=0.1, atol=0.02)


def test_every_law_with_numbers_of_its_own_can_be_guessed() -> None:
    named = {parse_law(each).keyword or "linked" for each in DRAWN}

    assert set(LAWS) - {"measured"} <= named


def test_a_share_that_leaves_with_the_clock_is_guessed() -> None:
    log = am.mixes.synthesize("timed-pool:10,2,0.7,3", messages=400, seed=1)

    guess = guess_log_law(log)

    assert guess is not None
    law = guess.law
    assert isinstance(law, am.mixes.TimedPool)
    assert (law.interval, law.share, law.origin) == (10.0, 0.7, 3.0)


def test_delays_that_no_law_has_are_said_to_be_like_none() -> None:
    draw = np.random.default_rng(1)
    two_kinds = np.concatenate((draw.normal(1.0, 0.02, 500), draw.normal(9.0, 0.02, 500)))

    guess = guess_law(two_kinds)

    assert guess is not None
    assert not guess.fits
    assert "like no law that is known here; the nearest is" in guess.reason


@pytest.mark.parametrize("delays", [[], [1.0] * 50, [1.0, 2.0, 3.0]])
def test_few_delays_and_equal_ones_say_nothing(delays: list[float]) -> None:
    assert guess_law(delays) is None


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_delays_that_cannot_be_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="delays must be seconds"):
        guess_law([wrong, *range(1, 40)])


def test_times_alone_tell_no_law_of_single_messages() -> None:
    log = am.mixes.synthesize("exponential:2", messages=200, seed=1)
    blind = am.mixes.Messages(
        arrivals=log.arrivals,
        departures=log.departures,
        senders=log.senders,
        receivers=log.receivers,
    )

    assert guess_log_law(blind) is None


def test_batches_show_without_the_truth() -> None:
    log = am.mixes.synthesize("threshold:7", messages=200, seed=1)
    blind = am.mixes.Messages(
        arrivals=log.arrivals,
        departures=log.departures,
        senders=log.senders,
        receivers=log.receivers,
    )

    guess = guess_log_law(blind)

    assert guess is not None
    assert guess.text == "threshold:7"


def test_lost_messages_and_cover_do_not_hide_the_law() -> None:
    log = am.mixes.synthesize("timed:6", messages=1000, rate=2.0, cover=0.3, loss=0.1, seed=2)

    guess = guess_log_law(log)

    assert guess is not None
    assert guess.text == "timed:6"


@pytest.mark.parametrize("text", ["window:1,5", "timed:60", "timed:60,5", "timed-pool:60,10,0.5"])
def test_a_law_as_text_is_the_law_again(text: str) -> None:
    assert law_text(parse_law(text)) == text


def test_the_command_line_suggests_the_law_that_a_log_looks_like(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv"
    am.mixes.write_messages(am.mixes.synthesize("exponential:2", messages=1000, seed=1), path)

    assert main(["audit", str(path)]) == 2

    error = capsys.readouterr().err
    assert "1,000 delays look like the exponential law" in error
    assert "--law exponential:" in error
    assert error.count("\n") == 1


def test_a_first_look_says_what_a_file_is(tmp_path: Path) -> None:
    edges, log = tmp_path / "edges.csv", tmp_path / "log.csv"
    edges.write_text("user,behaviour\nann,x\nbob,y\n")
    am.mixes.write_messages(am.mixes.synthesize("window:1,5", messages=50, seed=1), log)

    first, second = first_look(edges), first_look(log)

    assert first.graph is not None
    assert (first.kind, first.graph.n_users, first.needs_law) == ("edges", 2, False)
    assert second.messages is not None
    assert (second.kind, second.messages.n_in, second.needs_law) == ("messages", 50, True)
    assert second.guess is not None
    assert second.guess.text.startswith("window:")
