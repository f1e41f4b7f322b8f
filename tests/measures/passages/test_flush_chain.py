"""Flush mixes with cover and losses: figures against every explanation, and against the truth."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import xlogy
from tests.measures.passages.flush_reference import Reference, Round, explanations, summary

from anonymatch import count, posterior
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.mixes.laws import Binomial, Cottrell, FlushLaw, Pool, Threshold, Timed, TimedPool
from anonymatch.mixes.logs.log_graph import passage_graph
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.solvers.exponential import passage_figures
from anonymatch.mixes.solvers.flushes import flush_states
from anonymatch.mixes.solvers.flushes.flush_chain import (
    FlushPairs,
    flush_figures,
    flush_pairs,
)
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES
from anonymatch.mixes.solvers.links import Channel, Dummies, LinkFigures
from anonymatch.mixes.synthetic import synthesize

GOLDEN = Path(__file__).parents[2] / "golden" / "flushes.json"
CLOCKS: list[FlushLaw] = [
    Timed(1),
    TimedPool(1, 1),
    TimedPool(1, 2),
    Binomial(1, 0.6),
    Binomial(1, 1.0),
    Cottrell(1, 1, 0.6),
    Cottrell(1, 2, 1.0),
    TimedPool(1, 1, 0.5),
    Binomial(1, 2, 1.5),
]
NUMBERS: list[FlushLaw] = [Threshold(1), Threshold(2), Pool(1, 1), Pool(2, 1)]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"loss": 0.2},
    {"cover_rate": 0.4},
    {"loss": 0.1, "cover_rate": 0.3},
    {"loss": 0.1, "cover_rate": 0.3, "drained": True},
    {"lost": 1},
    {"cover": 1},
    {"lost": 1, "cover": 1},
    {"lost": 2, "cover_rate": 0.4},
    {"loss": 0.2, "cover": 2},
]


def compare(pairs: FlushPairs, figures: LinkFigures, truth: Reference) -> None:
    """All figures against those from the explanations."""
    assert pairs.log_evidence == pytest.approx(truth.log_evidence, abs=1e-9)
    assert figures.log_evidence == pytest.approx(truth.log_evidence, abs=1e-9)
    for name in ("pairs", "lost", "inside", "cover"):
        np.testing.assert_allclose(
            getattr(pairs, name), getattr(truth, name), rtol=1e-9, atol=1e-11
        )
    np.testing.assert_allclose(figures.lost, truth.lost, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(figures.inside, truth.inside, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(figures.departed, truth.pairs.sum(axis=1), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(figures.real, 1 - truth.cover, rtol=1e-9, atol=1e-11)
    for i, row in enumerate(truth.pairs):
        departed = row.sum()
        bits = entropy(row / departed) if departed > 1e-12 else 0.0
        assert figures.shannon.value[i] == pytest.approx(bits, abs=1e-9)
        everything = entropy(np.append(row, (truth.lost[i], truth.inside[i])))
        assert figures.shannon_all.value[i] == pytest.approx(everything, abs=1e-9)
        assert figures.probability.value[i] == pytest.approx(row.max(initial=0.0), abs=1e-11)
        assert figures.allowed[i] == np.count_nonzero(row > 1e-12)
        if departed > 1e-12:
            assert figures.collision[i] == pytest.approx(((row / departed) ** 2).sum(), abs=1e-9)
            assert row[figures.guess[i]] == pytest.approx(row.max(), abs=1e-11)
        else:
            assert figures.guess[i] == -1
    for figure, bits in (
        (figures.joint_bits, truth.joint_bits),
        (figures.link_bits, truth.link_bits),
    ):
        assert figure.low - 1e-9 <= bits <= figure.high + 1e-9
        if figure.high - figure.low < 1e-6:
            assert figure.value == pytest.approx(bits, abs=1e-9)


def entropy(probabilities: np.ndarray) -> float:
    some = probabilities[probabilities > 0]
    return float(-(some * np.log2(some)).sum())


def rates(channel: Channel) -> tuple[float, float]:
    """Any rates do where a number is told, as they cancel."""
    loss = channel.loss if channel.lost is None else 0.37 * (channel.lost > 0)
    rate = channel.cover_rate if channel.cover is None else 0.21 * (channel.cover > 0)
    return loss, rate


def normal(weights: float, channel: Channel, n_in: int, loss: float, mean: float) -> float:
    """Log evidence given the numbers told, whose own probability is taken out."""
    if channel.lost:
        number = channel.lost
        probability = math.comb(n_in, number) * loss**number * (1 - loss) ** (n_in - number)
        weights -= math.log(probability)
    if channel.cover:
        number = channel.cover
        weights -= math.log(math.exp(-mean) * mean**number / math.factorial(number))
    return weights


def clock_rounds(draw: np.random.Generator, most: int) -> list[Round]:
    n_rounds = int(draw.integers(1, most + 1))
    came, left, rounds = 0, 0, []
    for at in range(n_rounds + 1):
        number = int(draw.integers(0, 3))
        out = int(draw.integers(0, 3)) if at < n_rounds else 0
        rounds.append(
            Round(
                list(range(came, came + number)),
                list(range(left, left + out)),
                1.0 if at < n_rounds else 0.0,
                ends=at == n_rounds,
            )
        )
        came, left = came + number, left + out
    return rounds


def times_of(rounds: list[Round], draw: np.random.Generator) -> tuple[list[float], list[float]]:
    """Ticks are at 1, 2 and so on; departures follow their tick at once, or a bit later."""
    came: list[float] = []
    left: list[float] = []
    for at, part in enumerate(rounds):
        came += sorted((at + draw.uniform(0.01, 0.9, len(part.came))).tolist())
        left += sorted((at + 1 + draw.choice([0.0, 0.3], len(part.left))).tolist())
    return came, left


@pytest.mark.grid(quick=15)
@pytest.mark.parametrize("law", CLOCKS, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dummies", ["exit", "pool"])
def test_figures_are_those_of_all_explanations(
    law: FlushLaw, options: dict[str, Any], dummies: Dummies
) -> None:
    draw = np.random.default_rng(7)
    checked = impossible = 0
    for _ in range(10):
        rounds = clock_rounds(draw, 3 if dummies == "exit" else 2)
        came, left = times_of(rounds, draw)
        end = len(rounds) - 0.05
        channel = Channel(begin=0.0, end=end, **options)
        if numbers_refused(law, channel, dummies) or (channel.lost or 0) > len(came):
            continue
        if (channel.cover or 0) > len(left):
            continue
        loss, rate = rates(channel)
        weights = explanations(
            law.flush,
            rounds,
            n_in=len(came),
            channel=channel,
            loss=loss,
            rate=rate,
            pool=dummies == "pool",
        )
        if not weights:
            impossible += 1
            with pytest.raises(InputError, match=r"flush at|log|begins|cover"):
                flush_figures(law, came, left, channel=channel, dummies=dummies)
            continue
        checked += 1
        truth = summary(weights, len(left))
        if not options.get("drained") or dummies == "exit":
            mean = mean_cover(law, rate, len(rounds) - 1, dummies)
            fixed = normal(truth.log_evidence, channel, len(came), loss, mean)
        pairs = flush_pairs(law, came, left, channel=channel, dummies=dummies)
        figures = flush_figures(law, came, left, channel=channel, dummies=dummies)
        if options.get("drained") and dummies == "pool":
            fixed = pairs.log_evidence  # whether cover is inside as well is another question
        truth = Reference(**{**vars(truth), "log_evidence": fixed})
        compare(pairs, figures, truth)
    assert checked + impossible > 0 or numbers_refused(law, channel, dummies)


def numbers_refused(law: FlushLaw, channel: Channel, dummies: Dummies) -> bool:
    """Whether a number is told where cover traffic in the pool allows for none."""
    numbered = channel.lost is not None or channel.cover is not None
    some = channel.cover_rate > 0 or bool(channel.cover)
    return numbered and some and dummies == "pool" and not law.flush.even_coins


def mean_cover(law: FlushLaw, rate: float, flushes: int, dummies: Dummies) -> float:
    if dummies == "exit" or not isinstance(law, Timed | Binomial):
        return rate * flushes
    stay = 1 - (law.leave if isinstance(law, Binomial) else 1.0)
    return rate * sum(1 - stay**k for k in range(1, flushes + 1))


def number_log(
    law: FlushLaw, options: dict[str, Any], dummies: Dummies, draw: np.random.Generator
) -> tuple[list[float], list[float], list[Round], float]:
    """A small log of a mix that waits for a number, as it would run, and its rounds."""
    rule = law.flush
    batch, need = rule.batch or 1, (rule.batch or 1) + rule.kept
    losing = bool(options.get("loss") or options.get("lost"))
    pool = dummies == "pool" and bool(options.get("cover_rate"))
    events = [(time, "mail") for time in draw.uniform(0, 4, int(draw.integers(1, 6)))]
    if pool:
        events += [(time, "cover") for time in draw.uniform(0, 4, draw.poisson(1.5))]
    inside, came, left = 0, [], []
    for time, kind in sorted(events):
        if kind == "mail":
            came.append(float(time))
        if kind == "mail" and losing and draw.random() < 0.3:
            continue
        inside += 1
        if inside == need:
            extra = 0 if pool else int(draw.integers(0, 2))
            left += [float(time)] * (batch + extra * bool(options))
            inside -= batch
    end = 4.25
    hidden = losing or pool
    flushes = sorted(set(left)) if hidden else came[need - 1 :: batch]
    rounds, begin = [], 0.0
    for at, moment in enumerate([*flushes, end]):
        rounds.append(
            Round(
                [i for i, time in enumerate(came) if begin < time <= moment],
                [j for j, time in enumerate(left) if time == moment],
                moment - begin,
                at_once=moment in came,
                ends=at == len(flushes),
            )
        )
        begin = moment
    return came, left, rounds, end


@pytest.mark.grid(quick=8)
@pytest.mark.parametrize("law", NUMBERS, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dummies", ["exit", "pool"])
def test_mixes_that_wait_for_a_number_have_all_explanations(
    law: FlushLaw, options: dict[str, Any], dummies: Dummies
) -> None:
    draw = np.random.default_rng(11)
    checked = refused = 0
    while checked < 8 and refused < 60:
        came, left, rounds, end = number_log(law, options, dummies, draw)
        channel = Channel(begin=0.0, end=end, **options)
        if (channel.lost or 0) > len(came) or (channel.cover or 0) > len(left):
            refused += 1
            continue
        loss, rate = rates(channel)
        pool = dummies == "pool" and rate > 0
        if numbers_refused(law, channel, dummies):
            with pytest.raises(InputError, match=r"tell rates \(loss, cover_rate\)"):
                flush_figures(law, came, left, channel=channel, dummies=dummies)
            return
        weights = explanations(
            law.flush, rounds, n_in=len(came), channel=channel, loss=loss, rate=rate, pool=pool
        )
        if not weights:
            refused += 1
            with pytest.raises(
                InputError, match=r"flush at|when the log ends|no explanation|no flush"
            ):
                flush_figures(law, came, left, channel=channel, dummies=dummies)
            continue
        checked += 1
        truth = summary(weights, len(left))
        mean = rate * sum(part.span for part in rounds if not part.ends)
        fixed = normal(truth.log_evidence, channel, len(came), loss, mean)
        pairs = flush_pairs(law, came, left, channel=channel, dummies=dummies)
        figures = flush_figures(law, came, left, channel=channel, dummies=dummies)
        compare(pairs, figures, Reference(**{**vars(truth), "log_evidence": fixed}))
    assert checked == 8 or channel.drained or channel.lost or channel.cover


@pytest.mark.parametrize("case", json.loads(GOLDEN.read_text()))
def test_golden_flushes(case: dict[str, Any]) -> None:
    law = Binomial(1, case["leave"]) if case["leave"] < 1 else Timed(1)
    came = [at + 0.5 for at, number in enumerate(case["entered"]) for _ in range(number)]
    left = [at + 1.0 for at, number in enumerate(case["left"]) for _ in range(number)]
    rounds = len(case["left"])
    channel = Channel(loss=case["loss"], cover_rate=case["d"], begin=0.0, end=rounds)
    dummies: Dummies = "pool" if "pool" in case["dummies"] else "exit"
    pairs = flush_pairs(law, came, left, channel=channel, dummies=dummies)

    assert pairs.log_evidence == pytest.approx(case["log_evidence"], abs=1e-12)
    flush = np.repeat(np.arange(rounds), case["left"])
    for i, expected in enumerate(case["round_then_inside_then_lost"]):
        by_flush = np.bincount(flush, pairs.pairs[i], minlength=rounds)
        row = [*by_flush, pairs.inside[i], pairs.lost[i]]
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)
        for at in range(rounds):  # within a flush each place alike
            assert np.ptp(pairs.pairs[i, flush == at]) < 1e-15


MADE: list[FlushLaw] = [
    Timed(3, 1),
    Threshold(6),
    Pool(5, 10),
    TimedPool(3, 8),
    Binomial(2, 0.4),
    Cottrell(2, 4, 0.6),
]


def made(
    law: FlushLaw, dummies: Dummies, seed: int, *, messages: int = 250, cover: float, loss: float
) -> tuple[Messages, Channel]:
    """A log by the law, and the channel that it went through."""
    log = synthesize(
        law, messages=messages, rate=2.0, cover=cover, loss=loss, dummies=dummies, seed=seed
    )
    rule, end = law.flush, float(log.arrivals[-1])
    if rule.interval is not None:
        end = rule.origin + math.ceil((end - rule.origin) / rule.interval) * rule.interval
    return log, Channel(loss=loss, cover_rate=2.0 * cover, begin=0.0, end=end)


@pytest.mark.grid
@pytest.mark.parametrize("law", MADE, ids=str)
@pytest.mark.parametrize("dummies", ["exit", "pool"])
def test_what_is_promised_holds_in_logs_that_follow_the_law(
    law: FlushLaw, dummies: Dummies
) -> None:
    right = promised = variance = lost = lost_promised = 0.0
    n_lost = cover = cover_promised = 0.0
    for seed in range(20):
        log, channel = made(law, dummies, seed, cover=0.3, loss=0.1)
        figures = flush_figures(law, log.arrivals, log.departures, channel=channel, dummies=dummies)
        assert log.truth is not None
        right += np.count_nonzero((log.truth == figures.guess) & (log.truth >= 0))
        probabilities = figures.probability.value
        promised += probabilities.sum()
        variance += (probabilities * (1 - probabilities)).sum()
        lost += np.count_nonzero(log.truth < 0)
        n_lost += len(probabilities)
        lost_promised += (figures.lost + figures.inside).sum()
        cover += log.n_out - np.count_nonzero(log.truth >= 0)
        cover_promised += (1 - figures.real).sum()
    assert abs(right - promised) < 3.5 * math.sqrt(variance)
    # Wider than what is left open, as the numbers themselves tell of losses.
    assert abs(lost - lost_promised) < 4 * math.sqrt(n_lost * 0.1)
    assert abs(cover - cover_promised) < 4 * math.sqrt(n_lost * 0.3)


@pytest.mark.grid(quick=12)
@pytest.mark.parametrize("law", MADE, ids=str)
@pytest.mark.parametrize("dummies", ["exit", "pool"])
@pytest.mark.parametrize(("cover", "loss"), [(0.0, 0.0), (0.0, 0.2), (0.4, 0.0), (0.3, 0.1)])
def test_rows_and_columns_add_up_to_one(
    law: FlushLaw, dummies: Dummies, cover: float, loss: float
) -> None:
    log, channel = made(law, dummies, 5, cover=cover, loss=loss)
    pairs = flush_pairs(law, log.arrivals, log.departures, channel=channel, dummies=dummies)
    figures = flush_figures(law, log.arrivals, log.departures, channel=channel, dummies=dummies)

    np.testing.assert_allclose(pairs.pairs.sum(axis=1) + pairs.lost + pairs.inside, 1, atol=1e-11)
    np.testing.assert_allclose(pairs.pairs.sum(axis=0), figures.real, atol=1e-11)
    assert pairs.pairs.min(initial=0.0) >= 0
    np.testing.assert_allclose(figures.departed + figures.lost + figures.inside, 1, atol=1e-11)
    for part in (figures.shannon, figures.shannon_all, figures.probability):
        assert np.isfinite(part.value).all()
        assert (part.low <= part.value).all()
        assert (part.value <= part.high).all()
    kinds = sum(-xlogy(p, p) for p in (figures.departed, figures.lost, figures.inside)) / math.log(
        2
    )
    np.testing.assert_allclose(
        figures.shannon_all.value, kinds + figures.departed * figures.shannon.value, atol=1e-9
    )
    joint, link = figures.joint_bits, figures.link_bits
    assert 0 <= link.low <= joint.high
    assert joint.low <= figures.shannon_all.high.sum()
    if not cover and not loss:
        assert figures.log_evidence == pytest.approx(0.0, abs=1e-9) or law.flush.share is not None


@pytest.mark.parametrize("law", [Timed(3, 1), Threshold(6), Pool(5, 10)], ids=str)
def test_without_cover_and_losses_figures_are_those_of_the_graph(law: FlushLaw) -> None:
    log, channel = made(law, "exit", 3, messages=60, cover=0.0, loss=0.0)
    observation = observe(log, law)
    pairs = flush_pairs(law, log.arrivals, log.departures, channel=channel)
    figures = flush_figures(law, log.arrivals, log.departures, channel=channel)
    if observation.passage is not None:
        graph = passage_graph(observation.passage)
    else:
        assert observation.graph is not None
        graph = observation.graph
    table = posterior(graph).matrix.toarray()[:, : log.n_out]

    np.testing.assert_allclose(pairs.pairs, table, atol=1e-9)
    missing = log.n_in - log.n_out
    matchings = count(graph).log - math.lgamma(missing + 1)
    assert figures.joint_bits.value == pytest.approx(matchings / math.log(2), rel=1e-9)
    assert figures.link_bits.value == pytest.approx(figures.joint_bits.value)


@pytest.mark.parametrize(
    "law",
    [
        TimedPool(3, 8),
        TimedPool(2, 3, 0.5),
        Binomial(2, 0.4),
        Binomial(2, 5, 2),
        Cottrell(2, 4, 0.6),
    ],
    ids=str,
)
def test_without_cover_and_losses_whoever_is_inside_may_leave(law: FlushLaw) -> None:
    log, channel = made(law, "exit", 4, messages=60, cover=0.0, loss=0.0)
    rule = law.flush
    assert rule.interval is not None
    flush = rule.origin + np.ceil((log.arrivals - rule.origin) / rule.interval) * rule.interval
    figures = flush_figures(law, log.arrivals, log.departures, channel=channel)
    plain = passage_figures(flush, log.departures)

    own = plain.probability.value, plain.shannon.value
    everything = plain.shannon if plain.shannon_all is None else plain.shannon_all
    np.testing.assert_allclose(figures.shannon_all.value, everything.value, atol=1e-9)
    np.testing.assert_allclose(figures.shannon.value, own[1], atol=1e-9)
    np.testing.assert_allclose(figures.probability.value, own[0], atol=1e-9)


@pytest.mark.grid
@pytest.mark.parametrize("law", [Pool(2, 60), TimedPool(1, 50), Binomial(0.5, 0.05)], ids=str)
def test_reduced_rank_changes_nothing(law: FlushLaw, monkeypatch: pytest.MonkeyPatch) -> None:
    log, channel = made(law, "exit", 6, messages=400, cover=0.2, loss=0.05)
    reduced = flush_pairs(law, log.arrivals, log.departures, channel=channel)
    monkeypatch.setattr(flush_states, "FLUSHES", replace(FLUSHES, state_fresh=10**9))
    plain = flush_pairs(law, log.arrivals, log.departures, channel=channel)

    np.testing.assert_allclose(reduced.pairs, plain.pairs, atol=1e-12)
    np.testing.assert_allclose(reduced.inside, plain.inside, atol=1e-12)


def test_equal_rounds_of_a_timed_mix_are_solved_once() -> None:
    log, channel = made(Timed(3, 1), "exit", 8, messages=400, cover=0.2, loss=0.05)
    once = flush_figures(Timed(3, 1), log.arrivals, log.departures, channel=channel)
    coins = flush_pairs(Timed(3, 1), log.arrivals, log.departures, channel=channel)

    assert once.method == "closed_form"
    assert once.log_evidence == pytest.approx(coins.log_evidence, rel=1e-12)
    np.testing.assert_allclose(once.probability.value, coins.pairs.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(once.real, 1 - coins.cover, atol=1e-12)
    assert (coins.pairs[np.arange(400), once.guess] >= once.probability.value - 1e-12).all()


def test_times_may_come_in_any_order() -> None:
    law = Binomial(1, 0.5)
    came, left = [0.5, 2.5, 1.5], [3.0, 2.0]
    channel = Channel(loss=0.1, cover_rate=0.2, begin=0.0, end=3.5)
    pairs = flush_pairs(law, came, left, channel=channel)
    sorted_ = flush_pairs(law, sorted(came), sorted(left), channel=channel)

    np.testing.assert_allclose(pairs.pairs, sorted_.pairs[np.ix_([0, 2, 1], [1, 0])])
    np.testing.assert_allclose(pairs.lost, sorted_.lost[[0, 2, 1]])


def test_scaled_times_change_no_probability() -> None:
    log, channel = made(Binomial(2, 0.4), "pool", 9, cover=0.2, loss=0.05)
    scaled = Channel(loss=0.05, cover_rate=channel.cover_rate / 7, begin=0, end=channel.end * 7)
    slow = flush_figures(
        Binomial(14, 0.4), log.arrivals * 7, log.departures * 7, channel=scaled, dummies="pool"
    )
    fast = flush_figures(
        Binomial(2, 0.4), log.arrivals, log.departures, channel=channel, dummies="pool"
    )

    assert slow.log_evidence == pytest.approx(fast.log_evidence, rel=1e-12)
    np.testing.assert_allclose(slow.probability.value, fast.probability.value, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "came", "left", "options", "expected"),
    [
        (
            Timed(1),
            [0.5, 1.5],
            [1.0, 2.0, 2.0],
            {},
            r"flush at 2 s: 2 messages leave \(the first is number 2 of those out\), but at most 1",
        ),
        (
            Timed(1),
            [0.2, 0.5],
            [1.0],
            {},
            r"flush at 1 s: 1 message leaves .* but at least 2 messages would be inside; .*loss",
        ),
        (Binomial(1, 0.5), [0.2], [1.0, 1.0], {}, r"at most 1 message can be inside; .*cover_rate"),
        (TimedPool(1, 2), [0.2, 0.5, 0.7], [1.0, 1.0], {}, r"at most 3 .* inside, 2 of which stay"),
        (TimedPool(1, 1), [0.2, 0.5, 0.7], [1.0], {}, r"at least 3 messages would be inside"),
        (Threshold(2), [0.2, 0.5], [0.5], {}, r"this mix lets 2 leave together; .*\(loss\)"),
        (Threshold(2), [0.2, 0.5], [0.3], {}, r"leaves at 0.3 s, before 2 messages came in"),
        (
            Threshold(2),
            [0.2, 0.5],
            [0.5] * 3,
            {},
            r"at most 2 messages can be inside; .*cover_rate",
        ),
        (Threshold(2), [0.2], [0.5, 0.5], {"loss": 0.1}, r"at most 1 message can be inside"),
        (Pool(2, 1), [0.1, 0.2, 0.5], [0.5] * 2, {"drained": True}, r"at least 1 message.*drained"),
        (Timed(1), [0.2], [1.0], {"lost": 1}, r"flush at 1 s|no explanation .* 1 lost message"),
        (Timed(1), [0.2], [1.0], {"lost": 2}, r"lost is 2, but only 1 came in"),
        (Timed(1), [0.2], [1.0], {"cover": 2}, r"cover is 2, but only 1 left"),
        (Timed(1), [0.2], [1.0], {"lost": 1, "loss": 0.1}, r"give lost or loss, not both"),
        (Timed(1), [0.2], [1.0], {"loss": 1.0}, r"loss must be below 1"),
        (Timed(1), [0.2], [9.0], {}, r"message out at 9 s is not between begin, 0 s, and end, 3 s"),
        (Timed(1), [0.2], [math.nan], {}, r"departures must be a list of finite times"),
    ],
)
def test_logs_that_cannot_be_are_refused_with_what_to_tell(
    law: FlushLaw, came: list[float], left: list[float], options: dict[str, Any], expected: str
) -> None:
    channel = Channel(begin=0.0, end=3.0, **options)
    with pytest.raises(InputError, match=expected):
        flush_figures(law, came, left, channel=channel)


def test_an_unlikely_log_is_not_called_impossible() -> None:
    """So many losses that a cut by probability so far would miss them."""
    channel = Channel(loss=1e-6, begin=0.0, end=2.5)
    pairs = flush_pairs(TimedPool(1, 0), np.linspace(0.1, 0.9, 40), [1.0], channel=channel)

    np.testing.assert_allclose(pairs.pairs, 1 / 40, rtol=1e-9)
    np.testing.assert_allclose(pairs.lost, 39 / 40, rtol=1e-9)


def test_empty_logs_have_figures() -> None:
    channel = Channel(loss=0.1, cover_rate=0.5, begin=0.0, end=3.0)
    for law in MADE:
        nothing = flush_figures(law, [], [], channel=channel)
        assert len(nothing.lost) == len(nothing.real) == 0
        assert nothing.joint_bits.value == 0
    waiting = flush_figures(Timed(10), [1.0, 2.0], [], channel=channel)
    assert waiting.guess.tolist() == [-1, -1]
    np.testing.assert_allclose(waiting.lost, 0.1)
    np.testing.assert_allclose(waiting.inside, 0.9)


def test_work_beyond_the_budget_is_refused() -> None:
    channel = Channel(begin=0.0, end=1e9)
    with pytest.raises(BudgetError, match=r"following 1e.09 flushes would take"):
        flush_figures(Binomial(1, 0.5), [0.5], [1.0], channel=channel)
    log, wide = made(Binomial(2, 0.4), "exit", 9, cover=0.2, loss=0.05)
    with pytest.raises(BudgetError, match="following how many are inside over"):
        flush_figures(Binomial(2, 0.4), log.arrivals, log.departures, channel=wide, budget=0.01)


def test_a_place_of_dummies_that_is_none_is_refused() -> None:
    channel = Channel(begin=0.0, end=1.0)
    with pytest.raises(InputError, match="dummies must be exit or pool, not 'wire'"):
        flush_figures(Timed(1), [], [], channel=channel, dummies="wire")  # type: ignore[arg-type]


# ---- cover between the flushes of a mix that waits for a number


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("law", [Threshold(2), Pool(2, 1)])
def test_cover_at_the_exit_may_leave_before_the_first_flush(
    law: Threshold | Pool, loss: float
) -> None:
    came = [1.0, 2, 3, 4, 5]
    left = [5.0, 5] if isinstance(law, Pool) and loss else [3.0, 3, 5, 5]
    left = [2.0, 2, 4, 4] if isinstance(law, Threshold) else left
    channel = Channel(loss=loss, cover_rate=0.2, begin=0.0, end=6.0)
    without = flush_pairs(law, came, left, channel=channel)
    pairs = flush_pairs(law, came, [0.5, *left], channel=channel)

    assert pairs.pairs[:, 0].max() == 0.0
    assert pairs.cover[0] == 1.0
    np.testing.assert_allclose(pairs.pairs[:, 1:], without.pairs, atol=1e-12)
    np.testing.assert_allclose(pairs.lost, without.lost, atol=1e-12)
    np.testing.assert_allclose(pairs.inside, without.inside, atol=1e-12)


def test_cover_at_the_exit_may_leave_between_flushes_where_messages_get_lost() -> None:
    came, left = [1.0, 2, 3, 4, 5], [2.0, 2, 5, 5]
    channel = Channel(loss=0.1, cover_rate=0.2, begin=0.0, end=6.0)
    without = flush_pairs(Threshold(2), came, left, channel=channel)
    pairs = flush_pairs(Threshold(2), came, [*left, 3.5], channel=channel)

    assert pairs.pairs[:, 4].max() == 0.0
    np.testing.assert_allclose(pairs.pairs[:, :4], without.pairs, atol=1e-12)
    np.testing.assert_allclose(pairs.lost, without.lost, atol=1e-12)
    # One of 3 and 4 is lost: with both inside, the flush would have come at 4.
    assert pairs.lost[2:4].sum() == pytest.approx(1.0)


def test_fewer_than_a_batch_leave_only_where_there_is_cover() -> None:
    for channel in (
        Channel(loss=0.1, begin=0.0, end=6.0),
        Channel(begin=0.0, end=6.0),
    ):
        with pytest.raises(InputError, match="cover_rate"):
            flush_pairs(Threshold(2), [1.0, 2, 3, 4], [0.5, 2, 2, 4, 4], channel=channel)
