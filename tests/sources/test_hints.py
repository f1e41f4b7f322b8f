"""Logs and laws of different units: told beside figures, and beside refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import open_observation, parse_law, synthesize, write_messages
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.reading.hints import law_notes, scale_notes

LAWS = ("exponential:2", "erlang:3,0.5", "window:0,60", "timed:30", "threshold:10", "pool:20,5")


def without_truth(log: Messages) -> Messages:
    return Messages(
        arrivals=np.array(log.arrivals),
        departures=np.array(log.departures),
        senders=log.senders,
        receivers=log.receivers,
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("cover", "loss"), [(0.0, 0.0), (0.3, 0.0), (0.1, 0.1)])
def test_a_law_that_fits_its_log_gets_no_note(law: str, cover: float, loss: float) -> None:
    for seed in range(20):
        log = synthesize(law, messages=60, cover=cover, loss=loss, seed=seed)
        for each in (log, without_truth(log)):
            assert scale_notes(each, parse_law(law)) == ()


@pytest.mark.parametrize("hops", ["exponential:", "erlang:3,"])
@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_a_law_in_another_unit_than_its_log_is_told(hops: str, factor: float) -> None:
    log = without_truth(synthesize(f"{hops}2", messages=200, seed=3))
    notes = scale_notes(log, parse_law(f"{hops}{2 * factor}"))

    assert len(notes) == 1
    assert "the numbers of a law are seconds" in notes[0]


@pytest.mark.grid
@pytest.mark.parametrize(
    "law",
    ["exponential:2", "erlang:3,0.5", "hops:0.5,1,2", "lognormal:5,2", "window:1,5", "timed:30"],
)
@pytest.mark.parametrize("messages", [8, 60])
def test_the_right_law_is_hardly_ever_called_wrong(law: str, messages: int) -> None:
    told = 0
    for seed in range(200):
        log = without_truth(synthesize(law, messages=messages, seed=seed))
        told += bool(law_notes(log, parse_law(law)))

    assert told < 2  # of 200


@pytest.mark.parametrize("law", ["exponential:40", "exponential:8", "erlang:3,4", "window:0,90"])
@pytest.mark.parametrize("truth", [True, False])
def test_a_law_of_another_mean_is_told_with_both_means(law: str, truth: bool) -> None:
    log = synthesize("exponential:4", messages=300, seed=2)
    mean, says = float(log.true_delays().mean()), parse_law(law).mean_delay

    (note,) = law_notes(log if truth else without_truth(log), parse_law(law))

    assert note == f"delays in this log average {mean:.3g} s; the law says {says:.3g} s"


@pytest.mark.parametrize("law", ["exponential:4.2", "window:0,14"])
def test_a_mean_that_is_near_or_within_a_window_is_not_told(law: str) -> None:
    log = synthesize("exponential:4", messages=300, seed=2)

    assert law_notes(log, parse_law(law)) == ()


def test_a_piece_of_running_traffic_tells_no_mean() -> None:
    told = equal = 0
    for seed in range(400):
        draw = np.random.default_rng(seed)
        came = np.sort(draw.uniform(-200, 100, 300))
        left = came + draw.exponential(20, 300)
        ins, outs = came[came >= 0], np.sort(left[(left >= 0) & (left <= 100)])
        if len(ins) == len(outs):
            names = tuple(map(str, range(len(ins))))
            log = Messages(arrivals=ins, departures=outs, senders=names, receivers=names)
            equal += 1
            told += bool(law_notes(log, parse_law("exponential:20")))

    assert equal > 5
    assert told == 0


def test_equal_numbers_tell_no_mean_where_losses_and_cover_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_messages(without_truth(synthesize("exponential:4", messages=60, seed=1)), path)

    def told(**keywords: Any) -> list[str]:
        notes = open_observation(path, law="exponential:40", **keywords).notes
        return [note for note in notes if "the law says 40 s" in note]

    assert len(told()) == 1
    assert told(loss=0.1, cover_rate=0.1) == []


def test_a_log_with_losses_is_judged_by_what_is_sure() -> None:
    log = without_truth(synthesize("exponential:2", messages=200, loss=0.1, seed=3))

    assert scale_notes(log, parse_law("exponential:2000")) == ()  # the log lasts 200 s
    assert len(scale_notes(log, parse_law("exponential:20000"))) == 1


def test_the_audit_tells_of_a_law_that_is_far_from_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_messages(without_truth(synthesize("exponential:2", messages=30, seed=1)), path)

    def far(law: str) -> list[str]:
        return [note for note in am.audit(path, law=law).notes if "far from this log" in note]

    assert far("exp:2") == []
    assert len(far("exp:2000")) == 1


def test_a_refusal_suggests_the_unit_that_may_be_meant(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    begin = 1_800_000_000_000
    came = "".join(f"{begin + 1000 * k},in,{k}\n" for k in range(9))
    left = "".join(f"{begin + 2000 + 1000 * k},out,{k}\n" for k in range(9))
    path.write_text(f"time,direction,name\n{came}{left}")

    with pytest.raises(am.InputError, match=r"since 1970; if they are, give unit='ms'$"):
        open_observation(path, law="window:1,3")
    notes = open_observation(path, law="window:1,3", unit="ms").notes
    assert not [note for note in notes if "1970" in note]


def test_a_refusal_suggests_that_the_law_may_be_in_another_unit(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_messages(without_truth(synthesize("window:1,3", messages=30, seed=1)), path)

    with pytest.raises(am.InputError, match=r"nobody can have sent .* is far from this log"):
        open_observation(path, law="window:1000,3000")
