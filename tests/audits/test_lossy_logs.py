"""Audits of logs with losses, cover and ends: figures of the right model, and of one attacker."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.measures.passages.explanations import explained

import anonymatch as am
from anonymatch.audits import PassageAnswers, audit_report
from anonymatch.mixes.laws import DensityLaw, FlushLaw, check_law
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.solvers.flushes.flush_chain import flush_pairs
from anonymatch.mixes.solvers.hops import stretches
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import Channel
from anonymatch.mixes.synthetic import synthesize


def log_of(came: list[float], left: list[float], **more: Any) -> Messages:
    return Messages(
        arrivals=np.array(came),
        departures=np.array(left),
        senders=tuple(f"u{i}" for i in range(len(came))),
        receivers=tuple(f"b{j}" for j in range(len(left))),
        **more,
    )


def unflagged(log: Messages) -> Messages:
    return replace(log, cover=None, lost=None)


def test_two_lost_of_seven_are_weighed_by_their_delays() -> None:
    """All sets of lost messages taken alike gave 1.644 bits where .8 are right."""
    came, left = [0.0, 1, 2, 3, 4, 5, 6], [0.4, 2.3, 3.5, 5.2, 6.6]
    audit = am.audit(observe(log_of(came, left), "exponential:0.5", lost=2, drained=True))
    truth = explained(
        came,
        left,
        density=lambda delay: 2 * math.exp(-2 * delay),
        survival=lambda delay: math.exp(-2 * delay),
        begin=0.0,
        end=6.6,
        lost=2,
        cover=0,
        drained=True,
    )
    assert truth is not None
    users = audit.answers.users

    assert audit.answers.entropy.value / math.log(2) == pytest.approx(truth.link_bits, abs=1e-9)
    assert users.shannon_all is not None
    for i in range(7):
        assert users.shannon_all.value[i] == pytest.approx(truth.own(i), abs=1e-9)
        assert users.shannon.value[i] == pytest.approx(truth.own_departed(i), abs=1e-8)


@pytest.mark.parametrize(
    "how",
    [{"loss": 0.02}, {"cover": 0.3}, {"loss": 0.05, "cover": 0.2}],
    ids=["loss", "cover", "both"],
)
def test_promises_are_kept_where_the_rates_are_told(how: dict[str, Any]) -> None:
    right = promised = variance = 0.0
    for seed in range(8):
        log = synthesize("exponential:5", messages=600, seed=seed, **how)
        conditions: dict[str, Any] = {
            "loss": how.get("loss", 0.0),
            "cover_rate": how.get("cover", 0.0),
        }
        score = am.audit(observe(log, "exponential:5", **conditions)).score
        assert score is not None
        right += score.right * score.guesses
        promised += score.promised * score.guesses
        variance += (score.error * score.guesses) ** 2

    assert abs(right - promised) < 3.5 * math.sqrt(variance)


def test_losses_that_nobody_told_are_estimated() -> None:
    log = synthesize("exponential:5", messages=2000, loss=0.02, seed=1)
    audit = am.audit(observe(unflagged(log), "exponential:5"))

    assert audit.score is not None
    assert audit.score.calibrated
    assert any("is lost: 0.01" in note and "Estimated" in note for note in audit.notes)


def test_cover_that_nobody_told_is_estimated() -> None:
    log = synthesize("exponential:5", messages=1000, cover=0.3, seed=2)
    audit = am.audit(observe(unflagged(log), "exponential:5"))

    assert audit.score is not None
    assert audit.score.calibrated
    assert any("dummy messages per second" in note for note in audit.notes)
    assert audit.cost.cover == pytest.approx(0.23, abs=0.03)


def test_cover_that_is_visible_is_taken_out() -> None:
    came = [0.0, 1.0, 2.0, 3.0]
    flagged = log_of(came, [1.5, 2.5, 3.5, 4.0, 4.5], cover=[False, True, False, False, False])
    clean = log_of(came, [1.5, 3.5, 4.0, 4.5])
    visible = am.audit(observe(flagged, "exponential:2", cover_visible=True))
    hidden = am.audit(observe(flagged, "exponential:2"))
    without = am.audit(observe(clean, "exponential:2"))

    assert visible.bits.value == pytest.approx(without.bits.value)
    assert hidden.bits.value > visible.bits.value
    assert hidden.cost.cover == pytest.approx(1 / 5, abs=0.2)


def test_messages_still_inside_are_not_identified() -> None:
    log = synthesize("exponential:5", messages=300, seed=4)
    last = float(log.arrivals[-1])
    early = log.departures <= last
    cut = Messages(
        arrivals=log.arrivals,
        departures=log.departures[early],
        senders=log.senders,
        receivers=tuple(np.array(log.receivers, dtype=object)[early]),
    )
    audit = am.audit(observe(cut, "exponential:5"))

    assert audit.answers.users.inside is not None
    assert audit.answers.users.inside.sum() == pytest.approx(300 - early.sum(), abs=1e-6)
    assert audit.answers.users.edge is not None
    assert audit.answers.users.edge[-1]


def test_the_whole_log_is_kept_on_request() -> None:
    log = synthesize("exponential:2", messages=500, seed=4)

    assert observe(log, "exponential:2").edge is not None
    assert observe(log, "exponential:2", whole_log=True).edge is None


def test_a_log_ends_with_its_last_event() -> None:
    """Nobody leaves any more after 4 s, though the log goes on to 9 s: the last one is lost."""
    log = log_of([0.0, 1, 2, 9], [3.0, 4.0])
    observation = observe(log, "window:1,3", lost=2)
    assert observation.graph is not None

    with pytest.raises(am.InputError, match="'u"):
        observe(log, "window:1,3")


def test_senders_of_several_messages_have_receivers_with_losses_too() -> None:
    log = synthesize("exponential:5", messages=200, loss=0.05, users=10, receivers=6, seed=3)
    audit = am.audit(observe(log, "exponential:5", loss=0.05))

    assert audit.people is not None
    assert audit.people["receiver"].null_count() == 0
    gates = am.check_gates(audit, {"receivers": 1.5})
    assert 1.0 <= gates[0].figure.value <= 6.0


@pytest.mark.parametrize(
    "law", ["timed:5", "threshold:6", "pool:5,10", "timed-pool:5,4", "binomial:5,0.5"]
)
def test_losses_of_a_flush_mix_that_nobody_told_are_estimated(law: str) -> None:
    log = synthesize(law, messages=400, loss=0.05, seed=3)
    audit = am.audit(observe(unflagged(log), law))

    assert audit.score is not None
    assert audit.score.calibrated
    assert any("Estimated probability that a message is lost" in str(note) for note in audit.notes)


@pytest.mark.parametrize(
    "law",
    ["timed:4", "threshold:6", "pool:5,10", pytest.param("erlang:3,2", marks=pytest.mark.slow)],
)
def test_promises_of_other_mixes_are_kept_with_losses_and_cover(law: str) -> None:
    right = promised = variance = 0.0
    for seed in range(6):
        log = synthesize(law, messages=200, loss=0.05, cover=0.2, seed=seed)
        score = am.audit(observe(log, law, loss=0.05, cover_rate=0.2)).score
        assert score is not None
        right += score.right * score.guesses
        promised += score.promised * score.guesses
        variance += (score.error * score.guesses) ** 2

    assert abs(right - promised) < 3.5 * math.sqrt(variance)


@pytest.mark.parametrize("law", ["exponential:1", "erlang:2,1"])
@pytest.mark.parametrize("how", [{"cover": 1}, {"lost": 0}, {}], ids=["cover", "lost", "fitted"])
def test_cover_in_a_log_of_no_seconds_is_refused_in_one_line(law: str, how: dict[str, Any]) -> None:
    """A rate of 1e300 a second was told to be estimated; numbers were a traceback."""
    with pytest.raises(am.InputError, match=r"lasts (longer than )?0 seconds"):
        am.audit(observe(log_of([], [3.0]), law, **how))


@pytest.mark.filterwarnings("error")
def test_messages_that_hardly_departed_have_finite_figures() -> None:
    """-log2 of a probability that is 0 to all digits was infinite, with a warning."""
    came, left = [0.54, 3.6], [3.76]
    audit = am.audit(observe(log_of(came, left), "exponential:0.05", cover_rate=0.0, drained=True))
    users = audit.answers.users

    assert users.departed is not None
    assert 0.0 < users.departed[0] < 1e-20
    for part in users.min_entropy.parts:
        assert np.isfinite(part).all()


def test_hops_take_time_so_that_cover_is_fitted_where_only_just_came_in_somebody() -> None:
    """Under an exponential law the message that came in at 2 may leave at 2; under Erlang not."""
    log = log_of([0.0, 2.0, 2.5], [1.0, 2.0, 4.0])
    hops = am.audit(observe(log, "erlang:2,1"))
    one = am.audit(observe(log, "exponential:1"))

    assert any(note.startswith("Estimated cover traffic") for note in hops.notes)
    assert not any(note.startswith("Estimated cover traffic") for note in one.notes)


@pytest.mark.parametrize(
    ("law", "came", "left", "how", "why"),
    [
        ("timed:1", [0.25], [], {"drained": True}, "inside when the log ends"),
        ("timed:1", [0.25], [], {"until": 1.5, "loss": 0.0}, "would be inside"),
        ("timed:1", [0.25], [1.0, 1.0], {"cover_rate": 0.0}, "at most 1 message can be inside"),
        ("pool:2,1", [0.25], [], {"drained": True}, "inside when the log ends"),
    ],
    ids=["drained", "no loss", "no cover", "pool"],
)
def test_a_flush_mix_without_losses_or_cover_is_taken_at_its_word(
    law: str, came: list[float], left: list[float], how: dict[str, Any], why: str
) -> None:
    """What was told to be nothing was not looked at, and messages were inside or cover."""
    with pytest.raises(am.InputError, match=why):
        am.audit(observe(log_of(came, left), law, **how))


@pytest.mark.parametrize("mean", [1.5, 20.0])
def test_a_mean_that_does_not_fit_is_told(mean: float) -> None:
    log = synthesize("exponential:5", messages=400, loss=0.05, cover=0.2, seed=1)
    wrong, right = (
        am.audit(observe(log, f"exponential:{mean_told}", loss=0.05, cover_rate=0.2))
        for mean_told in (mean, 5.0)
    )

    assert any("s is told, but this log fits" in note for note in wrong.notes)
    assert not any("s is told, but this log fits" in note for note in right.notes)


def test_a_clock_that_is_shifted_is_told() -> None:
    log = log_of([0.0, 1, 7, 8], [2.5, 2.5, 8.5, 8.5])

    with pytest.raises(am.InputError, match=r"as the law's last number, 2\.5"):
        observe(log, "timed:6")
    assert observe(log, "timed:6,2.5").graph is not None


def test_losses_beside_a_number_of_cover_messages_are_estimated() -> None:
    log = synthesize("exponential:5", messages=600, loss=0.08, cover=0.2, seed=3)
    assert log.truth is not None
    cover = log.n_out - int((log.truth >= 0).sum())
    audit = am.audit(observe(log, "exponential:5", cover=cover))

    assert audit.answers.users.lost is not None
    assert audit.answers.users.lost.sum() == pytest.approx(48, abs=20)


def test_visible_cover_still_costs() -> None:
    flagged = log_of([0.0, 1.0, 2.0, 3.0], [1.5, 2.5, 3.5, 4.0], cover=[False, True, False, False])
    audit = am.audit(observe(flagged, "exponential:2", cover_visible=True))

    assert audit.cost.cover == pytest.approx(1 / 4)


@pytest.mark.filterwarnings("error")
def test_figures_are_finite_where_the_log_ends_long_after_its_last_message() -> None:
    """What was left out was infinite, and with it the ends of guesses."""
    log = log_of([0.0, 2, 2, 2, 2, 2], [0.0, 0, 0, 1, 1, 2])
    audit = am.audit(observe(log, "erlang:3,0.3", loss=0.0, cover_rate=0.015, until=202.0))
    links = audit.answers.links

    assert links is not None
    assert math.isfinite(links.error)
    assert audit.exact <= (links.error < 1e-6)
    for range_ in (links.shannon, links.probability, audit.answers.users.guesses):
        assert range_ is not None
        for part in range_.parts:
            assert np.isfinite(part).all()


# ---- flags of made-up logs, and what is said of lossy ones


@pytest.mark.parametrize("law", ["exponential:5", "timed-pool:5,4"])
def test_guesses_about_synthetic_logs_are_scored_by_their_flags(law: str) -> None:
    log = synthesize(law, messages=600, loss=0.08, cover=0.3, seed=3)
    score = am.audit(observe(log, law)).score

    assert log.lost is not None
    assert score is not None
    assert score.calibrated
    assert score.guesses >= 600 - 30  # those that were lost too: a guess about them is wrong


def test_cover_of_a_synthetic_log_can_be_made_visible() -> None:
    log = synthesize("exponential:5", messages=300, loss=0.1, cover=0.3, seed=1)
    audit = am.audit(observe(log, "exponential:5", cover_visible=True))

    assert log.truth is not None
    assert audit.n_users == audit.n_behaviours == int((log.truth >= 0).sum())


def test_one_name_for_a_probability_is_one_thing_in_lists_and_tables() -> None:
    log = synthesize("exponential:5", messages=200, loss=0.2, seed=3)
    audit = am.audit(observe(log, "exponential:5", loss=0.2))
    table = {row["user"]: row for row in audit.users.iter_rows(named=True)}

    assert audit.worst
    for one in audit.worst:
        row = table[one.user]
        assert one.probability == pytest.approx(row["probability"])
        assert one.probability_departed == pytest.approx(row["probability_departed"])
        assert row["probability_departed"] == pytest.approx(row["probability"] / row["departed"])
        assert row["probability"] < row["probability_departed"]
    assert audit.worst[0].probability_departed == pytest.approx(audit.surest.value)
    assert audit.to_dict()["worst"][0]["probability_departed"] == pytest.approx(audit.surest.value)


def test_losses_that_are_only_expected_are_not_called_exact() -> None:
    log = synthesize("exponential:5", messages=300, loss=0.1, seed=3)
    expected = am.audit(observe(log, "exponential:5", loss=0.1))
    audit = am.audit(observe(log, "exponential:5", lost=20))

    assert expected.lost_is_expected
    assert not audit.lost_is_expected
    assert audit.cost.lost == 20
    shown = audit_report(expected).figure("lost")
    assert shown.text.startswith("about ")
    assert shown.sure
    assert audit_report(audit).figure("lost").text == "20"
    assert not audit_report(audit).figure("lost").sure


def test_a_rate_of_losses_that_the_log_contradicts_is_noted() -> None:
    """A pool mix is followed by what it lets out: 0.4 of 303 messages, 'at a loss of 0.05'."""
    log = synthesize("pool:10,5", messages=303, seed=0)
    wrong = am.audit(observe(log, "pool:10,5", loss=0.05))
    right = am.audit(observe(synthesize("pool:10,5", messages=303, loss=0.05), "pool:10,5"))

    assert any("this rate is not that of the log" in note for note in wrong.notes)
    assert not any("this rate is not that of the log" in note for note in right.notes)


def test_dummies_that_are_inside_at_the_end_are_not_lost() -> None:
    flags = np.array([False, True, False, True, True])
    log = log_of(
        [0.0, 1.0, 2.0, 90.0, 90.5],
        [2.0, 3.0, 3.5, 91.0],
        truth=[0, 1, 2, -1, -1],
        lost=flags,
        cover=[False, True, False, True],
    )
    passage = observe(log, "exponential:1").passage
    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.loss is None
    assert passage.conditions.cover_rate is not None

    early = replace(log, arrivals=np.array([0.0, 1.0, 2.0, 20.0, 90.5]))
    passage = observe(early, "exponential:1").passage
    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.loss == pytest.approx(1 / 5)


def test_people_are_not_led_by_messages_at_the_ends_of_a_log() -> None:
    log = synthesize("exponential:2", messages=500, users=20, receivers=20, seed=4)
    inner, whole = (
        am.audit(observe(log, "exponential:2", whole_log=whole)) for whole in (False, True)
    )
    edge = dict(zip(inner.users["user"], inner.users["edge"], strict=True))
    assert inner.people is not None
    assert whole.people is not None

    assert not any(edge[message] for message in inner.people["surest_message"])
    assert any(edge[message] for message in whole.people["surest_message"])


def test_receivers_are_certain_by_messages_that_count_only() -> None:
    log = synthesize("exponential:2", messages=200, users=100, receivers=20, seed=4)
    people = am.audit(observe(log, "exponential:2")).people
    assert people is not None

    counted = people["counted"].to_list()
    assert counted == sorted(counted, reverse=True)
    assert not all(counted)  # some have no other message


@pytest.mark.parametrize("law", ["timed:5", "pool:5,10", "timed-pool:5,4", "threshold:6"])
def test_guessing_entropy_of_flush_logs_with_losses_is_known(law: str) -> None:
    log = synthesize(law, messages=60, loss=0.05, seed=3)
    observation = observe(log, law, loss=0.05, whole_log=True)
    audit = am.audit(observation)
    assert observation.passage is not None
    assert observation.passage.conditions is not None
    assert isinstance(observation.passage.law, FlushLaw)
    conditions = observation.passage.conditions
    pairs = flush_pairs(
        observation.passage.law,
        log.arrivals,
        log.departures,
        channel=Channel(loss=0.05, begin=conditions.begin, end=conditions.end),
    ).pairs
    users = audit.answers.users

    assert audit.guessing_entropy is not None
    assert users.guesses is not None
    for i, row in enumerate(pairs):
        if row.sum() > 1e-9:
            ranks = np.sort(row)[::-1] @ np.arange(1.0, len(row) + 1) / row.sum()
            assert users.guesses.value[i] == pytest.approx(ranks, rel=1e-9)
            assert users.guesses.low[i] <= ranks * (1 + 1e-12)
            assert users.guesses.high[i] >= ranks * (1 - 1e-12)


def cut(log: Messages, end: float) -> Messages:
    """The rows of a log up to a moment, without ground truth."""
    came, left = (int(np.searchsorted(times, end)) for times in (log.arrivals, log.departures))
    return Messages(
        arrivals=log.arrivals[:came],
        departures=log.departures[:left],
        senders=log.senders[:came],
        receivers=log.receivers[:left],
    )


LAWS = (
    "exponential:2",
    "0.25+exponential:2",
    "erlang:2,1",
    "hops:1,2",
    "erlang:5,0.4",
    "lognormal:2,0.6",
    "window:1,4",
    "threshold:4",
    "timed:3",
    "pool:4,6",
    "timed-pool:3,4",
    "timed-pool:3,4,0.5",
    "binomial:3,0.5",
    "cottrell:3,2,0.5",
)


@pytest.mark.parametrize("law", LAWS)
def test_a_lossless_log_without_conditions_is_audited_without_losses(law: str) -> None:
    for seed in range(3):
        whole = synthesize(law, messages=24, seed=seed)
        log = cut(whole, float(whole.arrivals[18]) + 0.01)
        silent, stated = (
            am.audit(observe(log, law, whole_log=True, loss=rate, cover_rate=rate)).answers
            for rate in (None, 0.0)
        )
        if isinstance(silent, PassageAnswers) and silent.rates is not None:
            assert silent.rates.loss.rate == 0.0
        users, others = silent.users, stated.users
        counted = others.counted
        assert (users.counted == counted).all()
        np.testing.assert_allclose(users.surest.value[counted], others.surest.value[counted])
        np.testing.assert_allclose(
            users.shannon.value[counted], others.shannon.value[counted], atol=1e-8
        )


def test_a_pool_mix_near_the_end_of_its_log_is_as_sure_as_one_of_its_batch() -> None:
    """Each of ten messages in the last flush left with one of its four departures, if it left."""
    whole = synthesize("pool:4,6", messages=30, seed=1)
    users = am.audit(observe(unflagged(whole), "pool:4,6", whole_log=True)).answers.users
    last = np.flatnonzero(whole.arrivals <= whole.departures[-1])[-4:]

    np.testing.assert_allclose(users.surest.value[last], 0.25)
    assert users.surest.value[users.counted].max() < 0.26
    assert users.departed is not None
    np.testing.assert_allclose(users.departed[last], 0.4)


@pytest.mark.parametrize("law", ["exponential:1", "erlang:2,0.5", "lognormal:1,0.6", "window:0,2"])
@pytest.mark.parametrize("lost", [1, 2])
def test_links_with_a_number_lost_and_nothing_inside_give_what_enumeration_does(
    law: str, lost: int
) -> None:
    rule = check_law(law)
    assert isinstance(rule, DensityLaw)
    longest = rule.longest_delay or math.inf

    def density(delay: float) -> float:
        if not 0.0 < delay <= longest:
            return 0.0
        if law == "exponential:1":
            return math.exp(-delay)
        return math.exp(rule.log_density(np.array([delay]))[0])

    seen = 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        came = np.sort(draw.uniform(0.0, 3.0, 5))
        left = np.sort(came[:4] + 0.25 + draw.uniform(0.0, 1.2, 4))[: 5 - lost]
        end = float(max(came[-1], left[-1]))
        truth = explained(
            came.tolist(),
            (left - 0.25).tolist(),
            density=density,
            survival=lambda delay: 0.0,
            begin=0.0,
            end=end,
            lost=lost,
            cover=0,
            drained=True,
        )
        late = int((came > end - 0.25).sum())
        log = log_of(came.tolist(), left.tolist())
        if truth is None:
            with pytest.raises(am.InputError):
                am.audit(observe(log, f"0.25+{law}", lost=lost, drained=True, cover=0))
            continue
        seen += late > 0
        users = am.audit(
            observe(log, f"0.25+{law}", lost=lost, drained=True, cover=0, whole_log=True)
        ).answers.users
        departed = truth.pairs.sum(axis=1)
        given = truth.pairs.max(axis=1) / np.maximum(departed, 1e-300)
        counted = departed > 1e-12
        np.testing.assert_allclose(users.surest.value[counted], given[counted], atol=1e-6)
    assert seen >= 2  # logs in which a message came too late to come out


def test_fewer_lost_than_came_too_late_to_come_out_are_refused() -> None:
    log = log_of([0.0, 0.5, 1.2], [0.9, 1.3])
    with pytest.raises(am.InputError, match=r"lost is 0, but 1 message in came too late"):
        observe(log, "0.25+exponential:1", lost=0, drained=True)


def test_errors_show_the_times_of_the_log_and_not_those_before_the_links() -> None:
    log = log_of([10.0], [10.1])
    for law in ("0.25+exponential:1", "0.25+erlang:2,1"):
        with pytest.raises(am.InputError, match=r"'b0' at 10\.1 s"):
            observe(log, law, cover_rate=0.0)
    with pytest.raises(am.InputError, match=r"'b0' at 10\.1 s"):
        observe(log, "0.25+lognormal:1,1")


@pytest.mark.parametrize(
    "told", [{"loss": 0.02, "cover_rate": 0.1}, {"loss": 0.02, "cover_rate": 0.1, "drained": True}]
)
def test_messages_in_stretches_of_a_long_log_have_the_figures_of_the_whole_log(
    told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(HOPS, stretch_quick=0.0, stretch_least_core=100, stretch_seconds=1e-3)
    monkeypatch.setattr(stretches, "HOPS", quick)
    log = synthesize("exponential:1", messages=20_000, receivers=500, loss=0.02, cover=0.1, seed=2)
    observation = observe(log, "exponential:1", **told)
    whole, drawn = (am.audit(observation, budget=seconds) for seconds in (30.0, 0.06))
    chosen = drawn.answers.chosen
    assert whole.answers.chosen is None
    assert chosen is not None
    assert 100 < len(chosen) < 10_000

    every, some = whole.answers.users, drawn.answers.users
    assert list(some.users) == [every.users[one] for one in chosen.tolist()]
    assert (some.guess == every.guess[chosen]).mean() > 0.999  # of equals another one may be first
    np.testing.assert_allclose(some.shannon.value, every.shannon.value[chosen], atol=1e-6)
    np.testing.assert_allclose(some.probability.value, every.probability.value[chosen], atol=1e-7)
    for name in ("entropy", "min_entropy", "bits"):
        interval, exact = getattr(drawn, name), getattr(whole, name)
        assert interval.low <= exact.value <= interval.high, name
    assert drawn.answers.confidence == 0.99
    assert any("stretches of the log" in note for note in drawn.notes)


def test_a_long_log_with_many_inside_is_refused_in_one_line() -> None:
    log = synthesize("exponential:400", messages=40_000, loss=0.02, seed=2)
    with pytest.raises(am.BudgetError, match=r"10 stretches of .* messages would take about"):
        am.audit(observe(unflagged(log), "exponential:400", loss=0.02), budget=0.5)


def test_rates_of_a_long_log_are_fitted_to_its_first_part() -> None:
    log = unflagged(synthesize("exponential:2", messages=20_000, loss=0.05, seed=2))
    rates = am.audit(observe(log, "exponential:2"), budget=0.5).rates
    assert rates is not None
    assert rates.loss.rate == pytest.approx(0.05, abs=0.02)
    assert rates.loss.error is not None
    assert rates.loss.error > 0.0025  # as of a few thousand messages
