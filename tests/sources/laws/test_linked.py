"""A fixed time on links before the law, and hops with means of their own, in text and audits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.cli import main
from anonymatch.mixes import Erlang, Hops, Linked, Messages, observe, parse_law, synthesize


def test_the_time_on_links_stands_before_the_law() -> None:
    assert parse_law("0.1+erlang:3,0.5") == Linked(Erlang(3, 0.5), 0.1)
    assert parse_law("hops:0.5,1,2") == Hops(0.5, 1, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x+erlang:3,0.5", "the time on links is 'x'; give seconds"),
        ("0.1+threshold:5", "time on links is for laws of delays"),
        ("0.1+erlang:3", "erlang needs 2 numbers"),
        ("0+exponential:2", "must be above 0"),
        ("hops:1", "hops needs 2 to 4 numbers"),
    ],
)
def test_bad_text_gets_one_clear_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_law(text)


@pytest.mark.parametrize("law", ["erlang:2,1", "hops:0.5,1", "exponential:2", "window:0,3"])
def test_links_change_nothing_but_the_delay(law: str) -> None:
    log = synthesize(law, messages=60, rate=2.0, seed=1)
    later = Messages(
        arrivals=log.arrivals,
        departures=log.departures + 5.0,
        senders=log.senders,
        receivers=log.receivers,
        truth=log.truth,
    )

    plain, linked = am.audit(observe(log, law)), am.audit(observe(later, f"5+{law}"))

    assert linked.entropy.value == pytest.approx(plain.entropy.value, abs=1e-9)
    assert linked.bits.value == pytest.approx(plain.bits.value, abs=1e-9)
    assert plain.cost.mean_delay is not None
    assert linked.cost.mean_delay == pytest.approx(plain.cost.mean_delay + 5.0)


def cut_log() -> tuple[Messages, float, int]:
    """A log that ends while messages are inside, its end, and how many cannot be out by then."""
    log = synthesize("1.5+erlang:2,1", messages=200, rate=2.0, seed=1)
    end = float(log.arrivals[-1])
    kept = log.departures <= end
    cut = Messages.in_order(
        arrivals=log.arrivals,
        departures=log.departures[kept],
        senders=log.senders,
        receivers=[name for name, one in zip(log.receivers, kept, strict=True) if one],
    )
    return cut, end, int((log.arrivals > end - 1.5).sum())


@pytest.mark.parametrize("told", [{}, {"loss": 0.02}, {"cover": 3, "lost": 2}])
def test_messages_that_came_too_late_to_come_out_are_inside_or_lost(told: dict[str, float]) -> None:
    cut, end, late = cut_log()
    assert late >= 2
    observation = observe(cut, "1.5+erlang:2,1", until=end, **told)  # type: ignore[arg-type]

    assert any(f"{late} messages in came too late" in str(note) for note in observation.notes)
    users = am.audit(observation).users
    departed, lost, inside = (users[name].to_numpy() for name in ("departed", "lost", "inside"))
    assert len(departed) == 200
    assert (departed[-late:] < 1e-9).all()
    assert (inside[-late:] > 0.8).all()
    if "lost" in told:
        assert lost.sum() == pytest.approx(told["lost"], abs=0.05)
    if "loss" in told:
        assert lost[-late:] == pytest.approx(np.full(late, told["loss"]), abs=1e-6)


def test_messages_too_late_are_lost_in_a_log_that_is_drained() -> None:
    cut, end, late = cut_log()
    observation = observe(cut, "1.5+erlang:2,1", until=end, drained=True, loss=0.1)
    assert observation.passage is not None
    assert len(observation.passage.users) == 200
    assert any(str(note).endswith("and are lost") for note in observation.notes)
    lost = am.audit(observation).users["lost"].to_numpy()
    assert lost[-late:] == pytest.approx(np.ones(late), abs=1e-9)


@pytest.mark.slow
def test_guesses_keep_their_promises_on_logs_with_links_and_unlike_hops() -> None:
    right = promised = variance = 0.0
    for seed in range(6):
        log = synthesize("0.7+hops:0.3,1,0.6", messages=300, rate=3.0, loss=0.03, seed=seed)
        score = am.audit(observe(log, "0.7+hops:0.3,1,0.6", loss=0.03), budget=20).score
        assert score is not None
        right += score.right * score.guesses
        promised += score.promised * score.guesses
        variance += (score.error * score.guesses) ** 2
    assert abs(right - promised) < 4 * np.sqrt(variance)


@pytest.mark.parametrize("law", ["hops:0.01,3", "hops:0.001,0.001,3", "0.05+hops:1e-9,1e9"])
def test_hops_that_differ_too_much_get_one_line(
    law: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n0,in,a\n1,in,b\n3,out,x\n4,out,y\n")

    assert main(["audit", str(path), "--law", law]) == 2
    assert "take the fast ones as a time on links" in " ".join(capsys.readouterr().err.split())


def test_who_has_hardly_left_is_not_identified_by_the_last_departure() -> None:
    log = Messages(
        arrivals=np.array([0.0, 1.0, 9.999]),
        departures=np.array([3.0, 10.0]),
        senders=("ann", "bob", "cem"),
        receivers=("x", "y"),
    )

    audit = am.audit(observe(log, "erlang:3,1", loss=0.0, cover_rate=0.0, whole_log=True))

    assert audit.answers.users.departed is not None
    assert audit.answers.users.departed[2] < 0.01
    assert audit.identified == 0


def test_the_command_line_takes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    assert main(["synthesize", "0.2+hops:0.5,1", str(path), "--messages", "50"]) == 0
    assert main(["audit", str(path), "--law", "0.2+hops:0.5,1", "--budget", "5"]) == 0
    assert "0.2 s on links" in " ".join(capsys.readouterr().out.split())
