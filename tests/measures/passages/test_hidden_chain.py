"""One exponential mix with losses, cover and a log's end, against enumeration by definition."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.measures.passages.explanations import Truth, explained

from anonymatch.base.errors import InputError
from anonymatch.mixes.solvers.exponential import passage_count, passage_figures
from anonymatch.mixes.solvers.hops.hidden_chain import hidden_figures
from anonymatch.mixes.solvers.links import Channel, LinkFigures

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "lossy.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["cases"]}


def channel_of(given: dict[str, Any]) -> Channel:
    return Channel(
        loss=given["loss"].get("share", 0.0),
        lost=given["loss"].get("number"),
        cover_rate=given["cover"].get("rate", 0.0),
        cover=given["cover"].get("number"),
        begin=given["log_start"],
        end=given["log_end"],
        drained=given["drained"],
    )


@pytest.mark.parametrize("name", CASES)
def test_known_logs_have_their_figures(name: str) -> None:
    given, expected = CASES[name]["input"], CASES[name]["expect"]
    real = None
    if given["flags"] is not None:
        real = [{"cover": 0.0, "real": 1.0, "unknown": math.nan}[flag] for flag in given["flags"]]

    def solve() -> LinkFigures:
        return hidden_figures(
            given["arrivals"],
            given["departures"],
            mean=1.0 / given["mu"],
            channel=channel_of(given),
            real=real,
            pairs=True,
        )

    if not expected["possible"]:
        with pytest.raises(InputError):
            solve()
        return
    figures = solve()
    assert figures.log_evidence == pytest.approx(expected["log_evidence"], abs=1e-10)
    assert figures.joint_bits.value == pytest.approx(expected["joint_bits"], abs=1e-10)
    assert figures.link_bits.low - 1e-10 <= expected["link_bits"] <= figures.link_bits.high + 1e-10
    for key in ("lost", "inside"):
        np.testing.assert_allclose(getattr(figures, key), expected[key], atol=1e-11)
    np.testing.assert_allclose(1.0 - figures.real, expected["cover"], atol=1e-11)
    if given["departures"] and given["arrivals"]:
        assert figures.pairs is not None
        np.testing.assert_allclose(figures.pairs, expected["pairs"], atol=1e-11)
    np.testing.assert_allclose(figures.shannon_all.value, expected["own_bits"], atol=1e-9)
    departed = [0.0 if bits is None else bits for bits in expected["own_bits_departed"]]
    np.testing.assert_allclose(figures.shannon.value, departed, atol=1e-9)


def random_log(seed: int) -> tuple[list[float], list[float], dict[str, Any]]:
    """A small log with some combination of all options."""
    draw = np.random.default_rng(seed)
    n, m = (int(size) for size in draw.integers(0, 6, 2))
    grid = draw.random() < 0.3  # equal times

    def times(size: int, low: float) -> list[float]:
        drawn = draw.uniform(low, 6.0, size)
        return sorted((np.round(drawn) if grid else drawn).tolist())

    arrivals, departures = times(n, 0.0), times(m, 1.0)
    options: dict[str, Any] = {"begin": 0.0, "end": 6.0 + float(draw.integers(0, 3))}
    options["drained"] = bool(draw.random() < 0.3)
    losses: list[dict[str, Any]] = [
        {"loss": 0.0},
        {"loss": float(draw.uniform(0.01, 0.9))},
        {"lost": int(draw.integers(0, 3))},
    ]
    covers: list[dict[str, Any]] = [
        {"cover_rate": 0.0},
        {"cover_rate": float(draw.uniform(0.01, 2.0))},
        {"cover": int(draw.integers(0, 3))},
    ]
    options |= losses[draw.integers(0, 3)] | covers[draw.integers(0, 3)]
    return arrivals, departures, options


def density(rate: float, delay: float) -> float:
    return rate * math.exp(-rate * delay)


def survival(rate: float, delay: float) -> float:
    return math.exp(-rate * delay)


def assert_agrees(figures: LinkFigures, truth: Truth, tolerance: float = 1e-9) -> None:
    assert figures.log_evidence == pytest.approx(truth.log_evidence, abs=tolerance)
    assert figures.joint_bits.value == pytest.approx(truth.joint_bits, abs=tolerance)
    link = figures.link_bits
    assert link.low - tolerance <= truth.link_bits <= link.high + tolerance
    for key in ("lost", "inside", "real"):
        np.testing.assert_allclose(getattr(figures, key), getattr(truth, key), atol=tolerance)
    if figures.pairs is not None:
        np.testing.assert_allclose(figures.pairs, truth.pairs, atol=tolerance)
    for i in range(len(truth.lost)):
        assert figures.shannon_all.value[i] == pytest.approx(truth.own(i), abs=1e-7)
        if figures.departed[i] > 1e-6:
            assert figures.shannon.value[i] == pytest.approx(truth.own_departed(i), abs=1e-7)
        if truth.pairs.shape[1]:
            assert figures.probability.value[i] == pytest.approx(
                truth.pairs[i].max(), abs=tolerance
            )


@pytest.mark.grid(quick=6)
@pytest.mark.parametrize("part", range(20))
def test_every_combination_of_options_agrees_with_enumeration(part: int) -> None:
    explainable = 0
    for seed in range(25 * part, 25 * (part + 1)):
        arrivals, departures, options = random_log(seed)
        rate = float(np.random.default_rng([seed, 1]).uniform(0.2, 3.0))
        truth = explained(
            arrivals,
            departures,
            density=partial(density, rate),
            survival=partial(survival, rate),
            **options,
        )
        solve = partial(
            hidden_figures,
            arrivals,
            departures,
            mean=1.0 / rate,
            channel=Channel(**options),
            pairs=True,
        )
        if truth is None:
            with pytest.raises(InputError):
                solve()
            continue
        explainable += 1
        assert_agrees(solve(), truth)
    assert explainable > 2


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("part", range(20))
def test_logs_that_start_in_mid_traffic_agree_with_enumeration(part: int) -> None:
    explainable = 0
    for seed in range(25 * part, 25 * (part + 1)):
        arrivals, departures, options = random_log(seed)
        draw = np.random.default_rng([seed, 2])
        rate, inside = float(draw.uniform(0.2, 3.0)), float(draw.uniform(0.05, 4.0))
        if options.get("cover"):
            options["cover"] = 0
        options |= {"begin": -float(draw.integers(0, 2)), "inside_at_start": inside}
        real = None
        if draw.random() < 0.3:
            real = draw.choice([0.0, 1.0, math.nan], len(departures)).tolist()
        truth = explained(
            arrivals,
            departures,
            density=partial(density, rate),
            survival=partial(survival, rate),
            real=real,
            **options,
        )
        solve = partial(
            hidden_figures,
            arrivals,
            departures,
            mean=1.0 / rate,
            channel=Channel(**options),
            real=real,
            pairs=True,
        )
        if truth is None:
            with pytest.raises(InputError):
                solve()
            continue
        explainable += 1
        figures = solve()
        assert_agrees(figures, truth)
        assert figures.early is not None
        np.testing.assert_allclose(figures.early, truth.early, atol=1e-9)
    assert explainable > 12


def test_a_number_of_cover_messages_beside_those_inside_at_the_start_is_refused() -> None:
    channel = Channel(begin=0.0, end=9.0, cover=1, inside_at_start=2.0)

    with pytest.raises(InputError, match=r"not counted apart .* give cover_rate instead"):
        hidden_figures([0.0], [1.0, 2.0], mean=1.0, channel=channel)


# ---- laws that hold at any size


def simulated(
    messages: int, inside: float, loss: float, cover: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Arrivals, departures, the truth (-1: not seen), and the end: by the definition of the mix."""
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(1.0, messages))
    left = arrivals + draw.exponential(inside, messages)
    end = float(arrivals[-1])
    out = (draw.random(messages) >= loss) & (left <= end)
    times = np.concatenate((left[out], draw.uniform(0.0, end, draw.poisson(cover * end))))
    order = np.argsort(times)
    truth = np.full(messages, -1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    truth[out] = rank[: out.sum()]
    return arrivals, times[order], truth, end


@pytest.mark.parametrize("inside", [5.0, 20.0, 100.0])
def test_compressed_rows_are_those_without_compression(inside: float) -> None:
    arrivals, departures, _, end = simulated(600, inside, 0.05, 0.2, seed=int(inside))
    channel = Channel(loss=0.05, cover_rate=0.2, begin=0.0, end=end)
    few, all_at_once = (
        hidden_figures(
            arrivals, departures, mean=inside, channel=channel, pairs=True, together=together
        )
        for together in (16, len(departures) + 1)
    )

    assert few.pairs is not None
    assert all_at_once.pairs is not None
    np.testing.assert_allclose(few.pairs, all_at_once.pairs, atol=1e-8)
    np.testing.assert_allclose(few.shannon.value, all_at_once.shannon.value, atol=1e-8)


def test_rows_and_columns_sum_to_one() -> None:
    arrivals, departures, _, end = simulated(400, 8.0, 0.1, 0.3, seed=1)
    channel = Channel(loss=0.1, cover_rate=0.3, begin=0.0, end=end)
    figures = hidden_figures(arrivals, departures, mean=8.0, channel=channel, pairs=True)
    assert figures.pairs is not None

    np.testing.assert_allclose(figures.pairs.sum(axis=0), figures.real, atol=1e-9)
    rows = figures.pairs.sum(axis=1) + figures.lost + figures.inside
    np.testing.assert_allclose(rows, 1.0, atol=1e-9)
    kinds = [
        -sum(p * math.log2(p) for p in (d, g, i) if p > 0)
        for d, g, i in zip(figures.departed, figures.lost, figures.inside, strict=True)
    ]
    parts = np.array(kinds) + figures.departed * figures.shannon.value
    np.testing.assert_allclose(figures.shannon_all.value, parts, atol=1e-8)
    assert 0.0 <= figures.link_bits.value <= figures.joint_bits.value


def test_without_losses_and_cover_it_is_the_closed_form() -> None:
    draw = np.random.default_rng(3)
    arrivals = np.cumsum(draw.exponential(1.0, 300))
    departures = np.sort(arrivals + draw.exponential(4.0, 300))
    channel = Channel(begin=0.0, end=float(departures[-1]), drained=True)
    figures = hidden_figures(arrivals, departures, mean=1.7, channel=channel)  # any mean
    closed = passage_figures(arrivals, departures)

    np.testing.assert_allclose(figures.shannon.value, closed.shannon.value, atol=1e-9)
    np.testing.assert_allclose(figures.probability.value, closed.probability.value, atol=1e-9)
    assert figures.joint_bits.value == pytest.approx(passage_count(arrivals, departures).log2)


def test_the_unit_of_time_changes_no_probability() -> None:
    arrivals, departures, _, end = simulated(200, 5.0, 0.1, 0.3, seed=2)
    one, other = (
        hidden_figures(
            arrivals * unit,
            departures * unit,
            mean=5.0 * unit,
            channel=Channel(loss=0.1, cover_rate=0.3 / unit, begin=0.0, end=end * unit),
        )
        for unit in (1.0, 1e3)
    )

    np.testing.assert_allclose(one.shannon_all.value, other.shannon_all.value, atol=1e-9)
    assert one.link_bits.value == pytest.approx(other.link_bits.value, abs=1e-6)


def test_silent_nights_neither_overflow_nor_hide_who_must_be_inside() -> None:
    day = np.arange(20.0)
    arrivals = np.concatenate((day, day + 1e7))
    departures = np.concatenate((day[:15] + 0.5, day + 1e7 + 0.5, [2e7]))
    figures = hidden_figures(
        arrivals, departures, mean=1.0, channel=Channel(loss=0.1, begin=0.0, end=3e7)
    )

    assert np.isfinite(figures.shannon_all.value).all()
    assert figures.real.min() == 1.0  # there is no cover: somebody waited all the time
    assert figures.lost.sum() + figures.inside.sum() == pytest.approx(4.0)


def test_a_number_counted_along_a_long_log_is_near_its_rate() -> None:
    arrivals, departures, _, end = simulated(400, 4.0, 0.05, 0.2, seed=5)
    lost = 20
    exact, tilted = (
        hidden_figures(
            arrivals,
            departures,
            mean=4.0,
            channel=Channel(lost=lost, cover_rate=0.2, begin=0.0, end=end),
            seconds=seconds,
        )
        for seconds in (math.inf, 0.0)
    )

    assert exact.lost.sum() == pytest.approx(lost, abs=1e-6)
    assert tilted.lost.sum() == pytest.approx(lost, abs=0.05)
    assert tilted.confidence < 1.0
    np.testing.assert_allclose(tilted.probability.value, exact.probability.value, atol=0.01)
    inside = (tilted.shannon.low <= exact.shannon.value) & (
        exact.shannon.value <= tilted.shannon.high
    )
    assert inside.mean() > 0.95


@pytest.mark.parametrize(
    ("loss", "cover", "inside"), [(0.02, 0.0, 5.0), (0.0, 0.3, 5.0), (0.1, 0.5, 12.0)]
)
def test_probabilities_are_kept_by_simulated_truths(
    loss: float, cover: float, inside: float
) -> None:
    right = promised = variance = 0.0
    lost = expected = 0.0
    for seed in range(20):
        arrivals, departures, truth, end = simulated(500, inside, loss, cover, seed)
        figures = hidden_figures(
            arrivals,
            departures,
            mean=inside,
            channel=Channel(loss=loss, cover_rate=cover, begin=0.0, end=end),
        )
        p = figures.probability.value
        right += float((truth == figures.guess).sum())
        promised += float(p.sum())
        variance += float((p * (1 - p)).sum())
        lost += float((truth < 0).sum())
        expected += float((figures.lost + figures.inside).sum())

    assert abs(right - promised) < 3.5 * math.sqrt(variance)
    assert abs(lost - expected) < 4 * math.sqrt(expected)


def test_receivers_are_sums_over_their_departures() -> None:
    arrivals, departures, _, end = simulated(60, 5.0, 0.1, 0.3, seed=9)
    who = np.arange(len(departures)) % 3
    figures = hidden_figures(
        arrivals,
        departures,
        mean=5.0,
        channel=Channel(loss=0.1, cover_rate=0.3, begin=0.0, end=end),
        receivers=who,
        pairs=True,
    )
    assert figures.pairs is not None
    assert figures.receivers is not None
    sums = np.stack([figures.pairs[:, who == k].sum(axis=1) for k in range(3)], axis=1)
    some = figures.departed > 1e-9
    given = sums[some] / figures.departed[some, None]
    bits = -(given * np.log2(np.where(given > 0, given, 1.0))).sum(axis=1)

    np.testing.assert_allclose(figures.receivers.probability, sums.max(axis=1), atol=1e-10)
    np.testing.assert_allclose(figures.receivers.shannon[some], bits, atol=1e-7)


# ---- rates that nobody told


def test_numbers_far_from_even_odds_explain_a_log() -> None:
    """Weights of 1 for lost and kept alike left out what 20 lost of 300 look like."""
    channel = Channel(begin=0.0, end=1.0, lost=20, cover=10)
    figures = hidden_figures(np.zeros(300), np.ones(290), mean=1.0, channel=channel)

    assert figures.lost == pytest.approx(np.full(300, 20 / 300))
    assert figures.real == pytest.approx(np.full(290, 280 / 290))
    assert figures.shannon.value == pytest.approx(np.full(300, np.log2(290)))
