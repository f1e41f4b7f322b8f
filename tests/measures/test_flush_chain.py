"""Flush mixes with cover and losses: figures against every explanation, and against the truth."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flush_reference import Reference, Round, explanations, summary

from anonymatch.errors import BudgetError, InputError
from anonymatch.measures.flush_chain import Dummies, FlushPairs, flush_figures, flush_pairs
from anonymatch.measures.links import Channel, LinkFigures
from anonymatch.sources.laws import (
    Binomial,
    Cottrell,
    FlushLaw,
    Pool,
    Threshold,
    Timed,
    TimedPool,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "flushes.json"
CLOCKS: list[FlushLaw] = [
    Timed(1),
    TimedPool(1, 1),
    TimedPool(1, 2),
    Binomial(1, 0.6),
    Binomial(1, 1.0),
    Cottrell(1, 1, 0.6),
    Cottrell(1, 2, 1.0),
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


def compare(found: FlushPairs, figures: LinkFigures, truth: Reference) -> None:
    """All figures against those from the explanations."""
    near = {"rtol": 1e-9, "atol": 1e-11}
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-9)
    assert figures.log_evidence == pytest.approx(truth.log_evidence, abs=1e-9)
    for name in ("pairs", "lost", "inside", "cover"):
        np.testing.assert_allclose(getattr(found, name), getattr(truth, name), **near)
    np.testing.assert_allclose(figures.lost, truth.lost, **near)
    np.testing.assert_allclose(figures.inside, truth.inside, **near)
    np.testing.assert_allclose(figures.departed, truth.pairs.sum(axis=1), **near)
    np.testing.assert_allclose(figures.real, 1 - truth.cover, **near)
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


def entropy(chances: np.ndarray) -> float:
    some = chances[chances > 0]
    return float(-(some * np.log2(some)).sum())


def rates(channel: Channel, n_in: int, span: float) -> tuple[float, float]:
    """Any rates do where a number is told, as they cancel."""
    loss = channel.loss if channel.lost is None else 0.37 * (channel.lost > 0)
    rate = channel.cover_rate if channel.cover is None else 0.21 * (channel.cover > 0)
    return loss, rate


def normal(weights: float, channel: Channel, n_in: int, loss: float, mean: float) -> float:
    """Log evidence given the numbers told, whose own probability is taken out."""
    if channel.lost:
        number = channel.lost
        chance = math.comb(n_in, number) * loss**number * (1 - loss) ** (n_in - number)
        weights -= math.log(chance)
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
        loss, rate = rates(channel, len(came), len(rounds) - 1)
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
        found = flush_pairs(law, came, left, channel=channel, dummies=dummies)
        figures = flush_figures(law, came, left, channel=channel, dummies=dummies)
        if options.get("drained") and dummies == "pool":
            fixed = found.log_evidence  # whether cover is inside as well is another question
        truth = Reference(**{**vars(truth), "log_evidence": fixed})
        compare(found, figures, truth)
    assert checked + impossible > 0 or numbers_refused(law, channel, dummies)


def numbers_refused(law: FlushLaw, channel: Channel, dummies: Dummies) -> bool:
    """Whether a number is told where cover traffic in the pool allows for none."""
    told = channel.lost is not None or channel.cover is not None
    some = channel.cover_rate > 0 or bool(channel.cover)
    return told and some and dummies == "pool" and not law.flush.even_coins


def mean_cover(law: FlushLaw, rate: float, flushes: int, dummies: Dummies) -> float:
    if dummies == "exit" or not isinstance(law, Timed | Binomial):
        return rate * flushes
    stay = 1 - (law.leave if isinstance(law, Binomial) else 1.0)
    return rate * sum(1 - stay**k for k in range(1, flushes + 1))
