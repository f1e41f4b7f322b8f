"""Mixes of several exponential hops, against enumeration by definition and known values."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.measures.passages.explanations import Truth, explained
from tests.measures.passages.test_hidden_chain import assert_agrees, channel_of, random_log

from anonymatch.base.errors import BudgetError, InputError
from anonymatch.mixes.solvers.hops import phase_chain, phase_log
from anonymatch.mixes.solvers.hops.hidden_chain import hidden_figures
from anonymatch.mixes.solvers.hops.phase_log import MOST_HOPS, PhaseLog, PhaseWork
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import Channel, LinkFigures
from anonymatch.running.budget import Budget, Cancelled, CancelToken, Execution

GOLDEN = Path(__file__).parents[2] / "golden"
LOSSY = {
    case["name"]: case
    for case in json.loads((GOLDEN / "lossy.json").read_text())["cases"]
    if case["input"]["flags"] is None
}
WIDE = json.loads((GOLDEN / "wide.json").read_text())
BUDGET = Budget(seconds=300.0, memory=2.0**31)


def phase_figures(*log: Any, hops: int, mean: float, **how: Any) -> LinkFigures:
    return phase_chain.phase_figures(*log, means=[mean] * hops, **how)


def phase_pairs(*log: Any, hops: int, mean: float, **how: Any) -> LinkFigures:
    return phase_chain.phase_pairs(*log, means=[mean] * hops, **how)


def generated(messages: int, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Messages held for 5 s in three hops, by xoshiro256++."""
    word = (1 << 64) - 1
    state, x = [], seed
    for _ in range(4):
        x = (x + 0x9E3779B97F4A7C15) & word
        z = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
        state.append(z ^ (z >> 31))

    def turned(value: int, by: int) -> int:
        return ((value << by) | (value >> (64 - by))) & word

    def exponential() -> float:
        bits = (turned((state[0] + state[3]) & word, 23) + state[0]) & word
        shifted = (state[1] << 17) & word
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = turned(state[3], 45)
        return -math.log1p(-(bits >> 11) * 2.0**-53)

    now, came, left = 0.0, [], []
    for _ in range(messages):
        now += exponential() / rate
        came.append(now)
        left.append(now + sum(exponential() * 5.0 / 3.0 for _ in range(3)))
    return np.array(came), np.sort(left)


def erlang_log(
    seed: int, messages: int, rate: float, *, hops: int, mean: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When messages come and leave, and the departure of each."""
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(draw.exponential(1.0 / rate, messages))
    left = arrivals + draw.gamma(hops, mean, messages)
    return arrivals, np.sort(left), np.argsort(np.argsort(left))


def by_definition(
    arrivals: list[float], departures: list[float], hops: int, mean: float, options: dict[str, Any]
) -> Truth | None:
    def density(delay: float, left: int = hops) -> float:
        x = delay / mean
        return x ** (left - 1) * math.exp(-x) / math.factorial(left - 1) / mean

    def survival(delay: float, left: int = hops) -> float:
        x = delay / mean
        return math.exp(-x) * sum(x**k / math.factorial(k) for k in range(left))

    # Who is inside at the beginning has any number of hops to go, all equally likely.
    return explained(
        arrivals,
        departures,
        density=density,
        survival=survival,
        early_density=lambda delay: sum(density(delay, 1 + k) for k in range(hops)) / hops,
        early_survival=lambda delay: sum(survival(delay, 1 + k) for k in range(hops)) / hops,
        **options,
    )


def matrix(figures: LinkFigures) -> np.ndarray:
    assert figures.pairs is not None
    return figures.pairs


def assert_finite(figures: LinkFigures) -> None:
    for name in ("departed", "lost", "inside", "real", "collision"):
        assert np.isfinite(getattr(figures, name)).all(), name
    for name in ("shannon", "shannon_all", "probability"):
        ends = getattr(figures, name)
        assert np.isfinite([ends.value, ends.low, ends.high]).all(), name
        assert (ends.low <= ends.value).all()
        assert (ends.value <= ends.high).all()
    for figure in (figures.joint_bits, figures.link_bits):
        assert math.isfinite(figure.low)
        assert figure.low <= figure.value <= figure.high < math.inf
    assert math.isfinite(figures.error)


@pytest.mark.grid(quick=8)
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("hops", range(1, MOST_HOPS + 1))
def test_every_combination_of_options_agrees_with_enumeration(hops: int, part: int) -> None:
    explainable = 0
    for seed in range(12 * part, 12 * (part + 1)):
        arrivals, departures, options = random_log(1000 * hops + seed)
        mean = float(np.random.default_rng([seed, hops]).uniform(0.2, 3.0))
        truth = by_definition(arrivals, departures, hops, mean, options)
        how: dict[str, Any] = {"hops": hops, "mean": mean, "channel": Channel(**options)}
        if truth is None:
            with pytest.raises(InputError):
                phase_pairs(arrivals, departures, budget=BUDGET, **how)
            continue
        explainable += 1
        figures = phase_pairs(arrivals, departures, budget=BUDGET, **how)
        assert_agrees(figures, truth)
        assert_finite(figures)
    assert explainable > 1


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("hops", range(1, MOST_HOPS + 1))
def test_logs_that_start_in_mid_traffic_agree_with_enumeration(hops: int, part: int) -> None:
    explainable = 0
    for seed in range(12 * part, 12 * (part + 1)):
        arrivals, departures, options = random_log(1000 * hops + seed)
        draw = np.random.default_rng([seed, hops, 2])
        mean = float(draw.uniform(0.2, 3.0))
        if options.get("cover"):
            options["cover"] = 0
        options |= {
            "begin": -float(draw.integers(0, 2)),
            "inside_at_start": float(draw.uniform(0.05, 4.0)),
        }
        truth = by_definition(arrivals, departures, hops, mean, options)
        how: dict[str, Any] = {"hops": hops, "mean": mean, "channel": Channel(**options)}
        if truth is None:
            with pytest.raises(InputError):
                phase_pairs(arrivals, departures, budget=BUDGET, **how)
            continue
        explainable += 1
        figures = phase_pairs(arrivals, departures, budget=BUDGET, **how)
        assert_agrees(figures, truth)
        assert_finite(figures)
        assert figures.early is not None
        np.testing.assert_allclose(figures.early, truth.early, atol=1e-9)
    assert explainable > 4


@pytest.mark.parametrize("name", LOSSY)
def test_one_hop_is_the_exponential_mix(name: str) -> None:
    given, expected = LOSSY[name]["input"], LOSSY[name]["expect"]
    log = given["arrivals"], given["departures"]
    how: dict[str, Any] = {"mean": 1.0 / given["mu"], "channel": channel_of(given)}
    if not expected["possible"]:
        with pytest.raises(InputError, match=r"departure 1 .* cover"):
            phase_pairs(*log, hops=1, budget=BUDGET, **how)
        return
    figures = phase_pairs(*log, hops=1, budget=BUDGET, **how)
    assert figures.log_evidence == pytest.approx(expected["log_evidence"], abs=1e-10)
    assert figures.joint_bits.value == pytest.approx(expected["joint_bits"], abs=1e-10)
    assert figures.link_bits.low - 1e-10 <= expected["link_bits"] <= figures.link_bits.high + 1e-10
    for key in ("lost", "inside"):
        np.testing.assert_allclose(getattr(figures, key), expected[key], atol=1e-11)
    np.testing.assert_allclose(1.0 - figures.real, expected["cover"], atol=1e-11)
    if given["departures"]:
        np.testing.assert_allclose(matrix(figures), expected["pairs"], atol=1e-11)


def test_one_hop_agrees_with_the_exponential_chain_on_a_longer_log() -> None:
    arrivals, departures, _ = erlang_log(3, 200, 2.0, hops=1, mean=2.0)
    channel = Channel(loss=0.05, cover_rate=0.2, begin=0.0, end=float(departures[-1]) + 1.0)

    figures = phase_figures(arrivals, departures, hops=1, mean=2.0, channel=channel, budget=BUDGET)
    chain = hidden_figures(arrivals, departures, mean=2.0, channel=channel)

    assert figures.log_evidence == pytest.approx(chain.log_evidence, abs=1e-9)
    assert figures.joint_bits.value == pytest.approx(chain.joint_bits.value, abs=1e-7)
    assert figures.link_bits.value == pytest.approx(chain.link_bits.value, abs=1e-7)
    for name in ("lost", "inside", "real", "departed", "collision"):
        np.testing.assert_allclose(getattr(figures, name), getattr(chain, name), atol=1e-9)
    np.testing.assert_allclose(figures.shannon.value, chain.shannon.value, atol=1e-8)
    np.testing.assert_array_equal(figures.guess, chain.guess)


@pytest.mark.parametrize("name", WIDE["logs"])
def test_known_erlang_logs_have_their_figures(name: str) -> None:
    case = WIDE["logs"][name]
    if "generate" in case:
        arrivals, departures = generated(**case["generate"])
    else:
        arrivals, departures = np.array(case["arrivals"]), np.array(case["departures"])
    options: dict[str, Any] = {"begin": 0.0, "end": float(departures[-1]), "drained": True}
    options.update(case.get("options", {}))

    figures = phase_pairs(
        arrivals, departures, hops=3, mean=case["mean"], channel=Channel(**options), budget=BUDGET
    )

    size = len(arrivals)
    for key, value in case["expect"].items():
        answers = {
            "log_evidence": figures.log_evidence,
            "joint_bits": figures.joint_bits.value,
            "joint_bits_each": figures.joint_bits.value / size,
            "shannon_mean": figures.shannon.value.mean(),
            "largest_mean": figures.probability.value.mean(),
            "shannon": figures.shannon.value,
            "unseen": figures.lost + figures.inside,
            "first_row": matrix(figures)[0],
        }[key]
        np.testing.assert_allclose(answers, value, rtol=1e-11, atol=1e-6, err_msg=key)
    assert figures.method == "counts by hop"
    assert figures.confidence == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("case", WIDE["evidence"], ids=lambda case: str(case["messages"]))
def test_long_logs_have_their_evidence(case: dict[str, float]) -> None:
    arrivals, departures = generated(int(case["messages"]), case["rate"], 1)
    channel = Channel(begin=0.0, end=float(departures[-1]), drained=True)

    figures = phase_figures(
        arrivals, departures, hops=3, mean=5 / 3, channel=channel, budget=Budget(seconds=2)
    )

    assert figures.log_evidence == pytest.approx(case["log_evidence"], rel=1e-11)
    assert_finite(figures)


@pytest.mark.parametrize("hops", [2, 3, 4])
def test_rows_and_columns_add_up(hops: int) -> None:
    arrivals, departures, _ = erlang_log(hops, 60, 2.0, hops=hops, mean=1.0)
    channel = Channel(loss=0.1, cover_rate=0.3, begin=0.0, end=float(departures[-1]))

    figures = phase_pairs(arrivals, departures, hops=hops, mean=1.0, channel=channel, budget=BUDGET)

    rows = matrix(figures).sum(axis=1)
    np.testing.assert_allclose(rows, figures.departed, atol=1e-10)
    np.testing.assert_allclose(rows + figures.lost + figures.inside, 1.0, atol=1e-10)
    np.testing.assert_allclose(matrix(figures).sum(axis=0), figures.real, atol=1e-9)


def test_units_of_time_change_nothing() -> None:
    arrivals, departures, _ = erlang_log(5, 40, 2.0, hops=3, mean=0.5)
    end = float(departures[-1]) + 0.5
    figures = [
        phase_pairs(
            arrivals * unit + 7.0,
            departures * unit + 7.0,
            hops=3,
            mean=0.5 * unit,
            channel=Channel(loss=0.05, cover_rate=0.1 / unit, begin=7.0, end=end * unit + 7.0),
            budget=BUDGET,
        )
        for unit in (1.0, 1024.0)
    ]

    np.testing.assert_allclose(matrix(figures[0]), matrix(figures[1]), atol=1e-9)
    assert figures[0].joint_bits.value == pytest.approx(figures[1].joint_bits.value, abs=1e-7)


@pytest.mark.parametrize("gap", [1e-12, 1e-6, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("hops", [2, 3, 4])
def test_gaps_of_any_length_leave_probabilities_finite_and_right(hops: int, gap: float) -> None:
    """Times are far from what the law says: filters over them must not run dry."""
    arrivals, departures = [0.0, 0.0, 0.0], [gap, 1.5 * gap, 1.5 * gap + 1.0]
    channel = Channel(begin=0.0, end=departures[-1], drained=True)

    figures = phase_pairs(arrivals, departures, hops=hops, mean=1.0, channel=channel, budget=BUDGET)

    assert_finite(figures)
    np.testing.assert_allclose(matrix(figures), 1.0 / 3.0, atol=1e-9)
    expected = math.log(6.0) + sum(
        (hops - 1) * math.log(d) - d - math.lgamma(hops) for d in departures
    )
    assert figures.log_evidence == pytest.approx(expected, rel=1e-11)


def test_departures_that_a_filter_thinks_unlikely_are_not_called_impossible() -> None:
    arrivals = [0.0, 1.0, 1.0 + 1e-9, 5.0]
    departures = [1.0 + 2e-9, 1.0 + 3e-9, 9.0, 9.5]
    options: dict[str, Any] = {"begin": 0.0, "end": 10.0, "loss": 0.01}
    truth = by_definition(arrivals, departures, 4, 1.0, options)
    assert truth is not None

    figures = phase_pairs(
        arrivals, departures, hops=4, mean=1.0, channel=Channel(**options), budget=BUDGET
    )

    np.testing.assert_allclose(matrix(figures), truth.pairs, atol=1e-9)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("messages", "options"),
    [(40, {}), (40, {"loss": 0.05, "cover_rate": 0.2}), (20, {"lost": 2, "cover": 3})],
)
def test_drawn_intervals_hold_the_exact_figures(
    messages: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, joint_held, links, total = 0, 0, 0, 0
    for seed in range(40):
        arrivals, departures, _ = erlang_log(seed, messages, 2.0, hops=3, mean=0.8)
        channel = Channel(begin=0.0, end=float(departures[-1]) + 0.1, **options)
        how: dict[str, Any] = {"hops": 3, "mean": 0.8, "channel": channel, "budget": BUDGET}
        truth = phase_figures(arrivals, departures, **how)
        with monkeypatch.context() as patched:
            patched.setattr(phase_log, "HOPS", replace(HOPS, phase_samples=(100,)))
            patched.setattr(phase_chain, "exact_fits", lambda *_: False)
            drawn = phase_figures(arrivals, departures, seed=seed, **how)
        assert (truth.confidence, drawn.confidence) == (1.0, 0.95)
        assert drawn.seed == seed
        assert_finite(drawn)
        assert drawn.log_evidence == pytest.approx(truth.log_evidence)
        for name in ("shannon", "shannon_all", "probability"):
            ends, value = getattr(drawn, name), getattr(truth, name).value
            inside += int(((ends.low <= value) & (value <= ends.high)).sum())
            total += len(value)
        joint_held += drawn.joint_bits.low <= truth.joint_bits.value <= drawn.joint_bits.high
        links += drawn.link_bits.low - 1e-9 <= truth.link_bits.value <= drawn.link_bits.high + 1e-9
        np.testing.assert_allclose(drawn.lost, truth.lost, atol=1e-6)
        np.testing.assert_allclose(drawn.real, truth.real, atol=1e-6)

    assert inside / total > 0.97
    assert joint_held >= 37
    assert links >= 37


@pytest.mark.slow
def test_probabilities_are_calibrated_against_simulated_truth() -> None:
    right, promised, variance = 0, 0.0, 0.0
    size = 150
    for seed in range(12):
        draw = np.random.default_rng([seed, 5])
        arrivals, departures, departure = erlang_log(seed, size, 2.0, hops=3, mean=0.7)
        delivered = draw.random(size) >= 0.05
        left = np.sort(departure[delivered])
        cover = draw.uniform(0.0, departures[-1], draw.poisson(0.2 * departures[-1]))
        times = np.concatenate((departures[left], cover))
        order = np.argsort(times)
        position = np.argsort(order)
        truth = np.full(size, -7)
        truth[np.flatnonzero(delivered)] = position[np.searchsorted(left, departure[delivered])]
        channel = Channel(
            loss=0.05, cover_rate=0.2, begin=0.0, end=float(max(departures[-1], arrivals[-1]))
        )
        figures = phase_figures(
            arrivals, times[order], hops=3, mean=0.7, channel=channel, budget=BUDGET, seed=seed
        )
        right += int((figures.guess == truth).sum())
        probabilities = figures.probability.value
        promised += float(probabilities.sum())
        variance += float((probabilities * (1.0 - probabilities)).sum())

    assert abs(right - promised) < 3.5 * math.sqrt(variance)


def test_a_small_budget_is_kept_by_drawing_and_then_by_refusing() -> None:
    arrivals, departures, _ = erlang_log(1, 400, 8.0, hops=3, mean=1.0)
    channel = Channel(begin=0.0, end=float(departures[-1]), drained=True)
    how: dict[str, Any] = {"hops": 3, "mean": 1.0, "channel": channel}

    drawn = phase_figures(arrivals, departures, budget=Budget(seconds=0.5), **how)
    assert drawn.confidence == 0.95
    assert "drawn paths" in drawn.notes[0]
    with pytest.raises(BudgetError):
        phase_figures(arrivals, departures, budget=Budget(seconds=1e-4), **how)


def test_numbers_too_dear_to_count_are_taken_as_means_and_that_is_told() -> None:
    arrivals, departures, _ = erlang_log(2, 60, 2.0, hops=2, mean=0.8)
    left = np.delete(departures, [5, 17, 30, 40])
    noise = np.sort(np.random.default_rng(1).uniform(0.0, departures[-1], 5))
    log = arrivals, np.sort(np.concatenate((left, noise)))
    channel = Channel(lost=4, cover=5, begin=0.0, end=float(departures[-1]) + 0.1)
    how: dict[str, Any] = {"hops": 2, "mean": 0.8, "channel": channel}

    exact = phase_figures(*log, budget=BUDGET, **how)
    problem = PhaseLog.of(*log, [0.8, 0.8], channel)
    work = PhaseWork(BUDGET, Execution())
    mean = phase_chain._tilted(problem, work, 0)

    assert mean.method.endswith("tilted")
    assert "taken as a mean" in mean.notes[0]
    assert mean.lost.sum() == pytest.approx(4.0, abs=0.05)
    np.testing.assert_allclose(mean.lost, exact.lost, atol=0.05)
    assert np.abs(mean.shannon.value - exact.shannon.value).max() < 0.05
    assert mean.joint_bits.low <= exact.joint_bits.value <= mean.joint_bits.high


def test_ties_leave_time_for_more_than_one_hop() -> None:
    channel = Channel(begin=0.0, end=2.0)
    one = phase_pairs([0.0, 1.0], [1.0], hops=1, mean=1.0, channel=channel, budget=BUDGET)
    two = phase_pairs([0.0, 1.0], [1.0], hops=2, mean=1.0, channel=channel, budget=BUDGET)

    assert matrix(one)[1, 0] > 0.1
    assert matrix(two)[:, 0].tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match=r"departure 1 of \d+: nobody is inside .* cover"):
        phase_pairs([1.0], [1.0], hops=2, mean=1.0, channel=channel, budget=BUDGET)


def test_progress_is_told_and_work_ends_when_asked() -> None:
    arrivals, departures, _ = erlang_log(1, 400, 8.0, hops=3, mean=1.0)
    channel = Channel(begin=0.0, end=float(departures[-1]), drained=True)
    how: dict[str, Any] = {"hops": 3, "mean": 1.0, "channel": channel, "budget": BUDGET}
    steps: list[tuple[float, float]] = []
    stop = CancelToken()

    def progress(done: float, total: float) -> None:
        steps.append((done, total))
        if len(steps) == 5:
            stop.cancel()

    with stop.active(), pytest.raises(Cancelled):
        phase_figures(arrivals, departures, progress=progress, **how)
    assert len(steps) >= 5
    assert all(0.0 <= done <= total for done, total in steps)


def test_an_empty_log_has_figures() -> None:
    channel = Channel(cover_rate=0.5, begin=0.0, end=4.0)

    nothing = phase_pairs([], [], hops=3, mean=1.0, channel=channel, budget=BUDGET)
    cover = phase_pairs([], [1.0, 2.0], hops=3, mean=1.0, channel=channel, budget=BUDGET)

    assert nothing.log_evidence == pytest.approx(-2.0)
    assert cover.log_evidence == pytest.approx(2.0 * math.log(0.5) - 2.0)
    assert cover.real.tolist() == [0.0, 0.0]
    assert nothing.joint_bits.value == cover.joint_bits.value == 0.0


@pytest.mark.parametrize("seconds", [300.0, None])
def test_receivers_and_guesses_follow_from_the_pairs(
    seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrivals, departures, _ = erlang_log(9, 40, 2.0, hops=3, mean=0.8)
    channel = Channel(loss=0.05, cover_rate=0.2, begin=0.0, end=float(departures[-1]) + 0.1)
    groups = np.arange(len(departures)) % 3
    how: dict[str, Any] = {"hops": 3, "mean": 0.8, "channel": channel, "budget": BUDGET}
    pairs = matrix(phase_pairs(arrivals, departures, **how))
    if seconds is None:
        monkeypatch.setattr(phase_chain, "exact_fits", lambda *_: False)

    figures = phase_figures(arrivals, departures, receivers=groups, **how)

    sums = np.stack([pairs[:, groups == k].sum(axis=1) for k in range(3)], axis=1)
    given = sums / sums.sum(axis=1, keepdims=True)
    shannon = -(given * np.log2(given)).sum(axis=1)
    ordered = np.sort(pairs, axis=1)[:, ::-1] / pairs.sum(axis=1, keepdims=True)
    guesses = (ordered * np.arange(1, len(departures) + 1)).sum(axis=1)
    near = 1e-8 if seconds else 0.1
    assert figures.receivers is not None
    assert figures.guessing is not None
    np.testing.assert_allclose(figures.receivers.shannon, shannon, atol=near)
    np.testing.assert_allclose(figures.receivers.probability, sums.max(axis=1), atol=near)
    np.testing.assert_allclose(figures.guessing.value, guesses, rtol=near)
    if seconds:
        np.testing.assert_array_equal(figures.receivers.guess, sums.argmax(axis=1))


@pytest.mark.parametrize(("hops", "number"), [(4, 8), (3, 20), (2, 40)])
def test_messages_that_come_and_leave_together_are_all_alike(hops: int, number: int) -> None:
    """All must be in their last hop at once, which messages followed one by one did not reach."""
    figures = phase_figures(
        np.zeros(number),
        np.ones(number),
        hops=hops,
        mean=1.0,
        channel=Channel(begin=0.0, end=1.0),
        budget=Budget(),
    )

    assert figures.error < 1e-8
    assert figures.confidence == 1.0
    assert figures.departed == pytest.approx(np.ones(number))
    assert figures.shannon.value == pytest.approx(np.full(number, math.log2(number)))
    assert figures.joint_bits.value == pytest.approx(math.lgamma(number + 1) / math.log(2.0))


@pytest.mark.parametrize("number", [20, 60, 100])
def test_a_long_silence_after_many_messages_is_explained_by_losses_and_cover(number: int) -> None:
    """Weights of many inside set the scale, and those of few were 0 beside them."""
    channel = Channel(begin=0.0, end=3.0, loss=0.1, cover_rate=0.1)

    figures = phase_figures(
        [0.0] * number, [3.0] * number, hops=3, mean=0.01, channel=channel, budget=BUDGET
    )

    np.testing.assert_allclose(figures.lost, 1.0, atol=1e-9)
    np.testing.assert_allclose(figures.real, 0.0, atol=1e-9)
    expected = number * (math.log(0.1) + math.log(0.1)) - 0.1 * 3.0
    assert figures.log_evidence == pytest.approx(expected, abs=1e-6)
