"""Every audit names its attacker, and the ceiling holds with cover created inside."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.measures.passages.explanations import explained
from tests.report.pages import audit_html

import anonymatch as am
from anonymatch.cli import main
from anonymatch.mixes import synthesize, write_messages
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe

LINKS = """time,from,to,message
0,ann,m1,1
0.1,bob,m1,2
0.5,m1,m2,1
0.7,m1,m2,2
0.9,m2,x,2
1.4,m2,y,1
"""


def g(m: float) -> float:
    return (1 + m) * math.log2(1 + m) - m * math.log2(m)


@pytest.mark.slow
def test_one_mix_and_several_hops_are_about_an_attacker_at_both_ends() -> None:
    for law, several in (("exponential:2", False), ("erlang:3,1", True), ("0.1+hops:1,2", True)):
        log = synthesize(law, messages=40, seed=1)
        audit = am.audit(observe(log, law))
        assert audit.attacker == "sees both ends"
        assert audit.to_dict()["attacker"] == "sees both ends"
        page = audit_html(audit)
        assert "The attacker sees both ends" in page
        assert ("An attacker on the links between the mixes learns more" in page) == several


def test_network_audit_is_about_an_attacker_on_every_link(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text(LINKS)
    audit = am.audit(path, source="network", law="exponential")
    assert audit.attacker == "sees every link"
    corrupt = am.audit(path, source="network", law="exponential", corrupt=("m2",))
    assert corrupt.attacker == "sees every link and controls m2"
    assert "global passive adversary" in audit_html(corrupt)


def test_sources_without_mixes_name_no_attacker() -> None:
    audit = am.audit(am.complete(3))

    assert audit.attacker == ""
    assert "attacker" not in audit.to_dict()


def test_screen_names_the_attacker(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write_messages(synthesize("erlang:3,1", messages=30, seed=0), path)
    assert main(["audit", str(path), "--law", "erlang:3,1"]) == 0
    text = " ".join(capsys.readouterr().out.split())

    assert "The attacker sees both ends" in text
    assert "An attacker on the links between the mixes learns more" in text


@pytest.mark.parametrize(
    ("rate", "cover", "messages"), [(2.0, 3.0, 1500), (0.5, 5.0, 500), (0.1, 20.0, 60)]
)
def test_ceiling_with_exit_cover_is_g_of_all_departures_while_a_message_is_inside(
    rate: float, cover: float, messages: int
) -> None:
    law = "exponential:1"
    log = synthesize(law, messages=messages, rate=rate, cover=cover / rate, seed=1)
    audit = am.audit(observe(log, law, loss=0.0, cover_rate=cover, whole_log=True))
    assert audit.ceiling is not None
    assert audit.entropy.value <= audit.ceiling.value
    assert audit.ceiling.value == pytest.approx(g(rate + cover), abs=0.2)
    assert audit.ceiling.value > g(rate) + 0.5  # which messages in flight alone would allow


@pytest.mark.grid
@pytest.mark.parametrize("loss", [0.0, 0.2])
@pytest.mark.parametrize("cover", [0.0, 0.5])
def test_ceiling_is_the_mean_rank_of_departures_by_enumeration(loss: float, cover: float) -> None:
    draw = np.random.default_rng(7)
    checked = 0
    for _ in range(25):
        came = np.sort(draw.uniform(0, 4, 4)).tolist()
        left = np.sort(draw.uniform(1, 6, 4 if cover else 3)).tolist()
        exact = explained(
            came,
            left,
            density=lambda delay: math.exp(-delay),
            survival=lambda delay: math.exp(-delay),
            begin=came[0],
            end=7.0,
            loss=loss,
            cover_rate=cover,
        )
        if exact is None or left[0] < came[0]:
            continue
        log = Messages(
            arrivals=np.array(came),
            departures=np.array(left),
            senders=tuple("abcd"),
            receivers=tuple("wxyz")[: len(left)],
        )
        observation = observe(
            log, "exponential:1", whole_log=True, loss=loss, cover_rate=cover, until=7.0
        )
        audit = am.audit(observation)
        first = [sum(time < one for time in left) for one in came]
        ranks = sum(
            exact.pairs[i, j] * (j - first[i]) for i in range(4) for j in range(first[i], len(left))
        )
        departed = exact.pairs.sum()
        own = sum(exact.pairs[i].sum() * exact.own_departed(i) for i in range(4)) / departed
        assert audit.ceiling is not None
        seen = float(ranks / departed)
        assert audit.ceiling.value == pytest.approx(g(seen) if seen > 1e-12 else 0.0, abs=1e-6)
        assert own <= audit.ceiling.value + 1e-9
        checked += 1
    assert checked >= 5


@pytest.mark.slow
def test_exact_audits_with_exit_cover_never_exceed_the_ceiling() -> None:
    for seed in range(150):
        draw = np.random.default_rng(seed)
        law = ("exponential:1", "timed:2", "pool:3,2", "erlang:2,0.5")[seed % 4]
        loss, cover = float(draw.choice([0.0, 0.1, 0.3])), float(draw.choice([0.2, 1.0, 4.0]))
        log = synthesize(law, messages=60, seed=seed, rate=2.0, loss=loss, cover=cover)
        audit = am.audit(observe(log, law, loss=loss, cover_rate=2.0 * cover, whole_log=True))
        if audit.ceiling is not None:
            assert audit.entropy.value <= audit.ceiling.value + 1e-9
