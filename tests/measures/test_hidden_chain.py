"""One exponential mix with losses, cover and a log's end, against enumeration by definition."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymatch.errors import InputError
from anonymatch.measures.hidden_chain import fit_rates, hidden_figures
from anonymatch.measures.links import Channel, LinkFigures
from tests.measures.explanations import Truth, explained

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "lossy.json").read_text())
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
        np.testing.assert_allclose(figures.pairs, expected["pairs"], atol=1e-11)
    np.testing.assert_allclose(figures.shannon_all.value, expected["own_bits"], atol=1e-9)
    departed = [0.0 if bits is None else bits for bits in expected["own_bits_departed"]]
    np.testing.assert_allclose(figures.shannon.value, departed, atol=1e-9)


def random_log(seed: int) -> tuple[list[float], list[float], dict[str, Any]]:
    """A small log with some combination of all options."""
    draw = np.random.default_rng(seed)
    n, m = draw.integers(0, 6), draw.integers(0, 6)
    grid = draw.random() < 0.3  # equal times

    def times(size: int, low: float) -> list[float]:
        drawn = draw.uniform(low, 6.0, size)
        return sorted((np.round(drawn) if grid else drawn).tolist())

    arrivals, departures = times(n, 0.0), times(m, 1.0)
    options: dict[str, Any] = {"begin": 0.0, "end": 6.0 + float(draw.integers(0, 3))}
    options["drained"] = bool(draw.random() < 0.3)
    which = draw.integers(0, 3)
    options.update(
        [
            {"loss": 0.0},
            {"loss": float(draw.uniform(0.01, 0.9))},
            {"lost": int(draw.integers(0, 3))},
        ][which]
    )
    which = draw.integers(0, 3)
    options.update(
        [
            {"cover_rate": 0.0},
            {"cover_rate": float(draw.uniform(0.01, 2.0))},
            {"cover": int(draw.integers(0, 3))},
        ][which]
    )
    return arrivals, departures, options


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


@pytest.mark.parametrize("part", range(20))
def test_every_combination_of_options_agrees_with_enumeration(part: int) -> None:
    explainable = 0
    for seed in range(25 * part, 25 * (part + 1)):
        arrivals, departures, options = random_log(seed)
        rate = float(np.random.default_rng([seed, 1]).uniform(0.2, 3.0))
        truth = explained(
            arrivals,
            departures,
            density=lambda delay, rate=rate: rate * math.exp(-rate * delay),
            survival=lambda delay, rate=rate: math.exp(-rate * delay),
            **options,
        )

        def solve(
            arrivals: list[float] = arrivals,
            departures: list[float] = departures,
            rate: float = rate,
            options: dict[str, Any] = options,
        ) -> LinkFigures:
            channel = Channel(**options)
            return hidden_figures(
                arrivals, departures, mean=1.0 / rate, channel=channel, pairs=True
            )

        if truth is None:
            with pytest.raises(InputError):
                solve()
            continue
        explainable += 1
        assert_agrees(solve(), truth)
    assert explainable > 2
