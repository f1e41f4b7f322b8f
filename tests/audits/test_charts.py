"""Charts of audits: by name, of what the audit knows, and with a reason where it does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audits.network_logs import drawn as network_rows
from tests.audits.network_logs import written
from tests.charts.chart_rows import rows

import anonymatch as am
from anonymatch.audits.reports.charts import CHARTS, load_of
from anonymatch.reporting.charts import chart_svg

EVERY = {
    "entropy", "set_size", "probability", "time", "matrix", "delay", "exposures", "decay",
    "decay_guesses", "cost", "latency", "calibration",
}  # fmt: skip


@cache
def log(law: str, messages: int = 200, *, threshold: float | None = None, **more: Any) -> Any:
    messages_ = am.mixes.synthesize(law, messages=messages, rate=2, seed=5, **more)
    return am.audit(am.mixes.observe(messages_, law), threshold=threshold)


@cache
def estimated() -> am.Audit:
    cells = (np.random.default_rng(2).random((44, 44)) < 0.4) | np.eye(44, dtype=bool)
    graph = am.Graph.from_rows(["".join("01"[int(x)] for x in row) for row in cells])
    return am.audit(graph, budget=0.2, seed=7)


AUDITS: dict[str, Callable[[], am.Audit]] = {
    "graph": lambda: am.audit(am.partition([4, 3])),
    "nobody": lambda: am.audit(am.Graph.from_edges([])),
    "one": lambda: am.audit(am.complete(1)),
    "more behaviours": lambda: am.audit(am.Graph.from_rows(["1110", "1111"])),
    "estimated": estimated,
    "window": lambda: log("window:1,5"),
    "exponential": lambda: log("exponential:3"),
    "pool": lambda: log("pool:4,6"),
    "lossy": lambda: log("exponential:3", loss=0.1, cover=0.2),
    "lossy window": lambda: log("window:1,5", messages=60, loss=0.1),
    "few": lambda: log("window:1,5", messages=2),
}


@pytest.mark.grid
@pytest.mark.parametrize("name", AUDITS)
def test_every_chart_is_drawn_or_says_why_not(name: str) -> None:
    audit = AUDITS[name]()

    assert set(CHARTS) == EVERY
    assert set(audit.charts) <= EVERY
    for each in EVERY:
        if each in audit.charts:
            drawn = chart_svg(audit.chart(each))
            assert drawn.startswith("<svg")
            assert "NaN" not in drawn
        else:
            with pytest.raises(am.InputError, match=f"this audit has no chart '{each}': [a-z]"):
                audit.chart(each)


def test_an_unknown_chart_gets_one_line_with_the_known_ones() -> None:
    with pytest.raises(am.InputError) as error:
        am.audit(am.complete(3)).chart("entropie")

    assert str(error.value).startswith("there is no chart 'entropie'; known are entropy, set_size,")
    assert "did you mean 'entropy'?" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_first_chart_is_the_spread_of_entropy_with_quantiles_and_threshold() -> None:
    audit = log("window:1,5", threshold=5)
    chart = audit.chart()
    marks = {row["name"]: row["at"] for row in rows(chart) if "at" in row}
    bars = [row for row in rows(chart) if "number" in row]
    values = audit.answers.users.shannon.value[audit.answers.users.counted]

    worst = audit.entropy_quantile(0.01).value
    assert marks[f"worst 1 %: {worst:.3g} bits"] == worst
    assert marks["threshold 2.32 bits"] == math.log2(audit.threshold)
    assert audit.entropy_quantile(0.5).value in marks.values()
    assert sum(row["number"] for row in bars) == audit.n_counted
    assert bars[0]["value"] <= values.min() <= bars[0]["end"]
    assert "brush" in [param["name"] for param in chart.to_dict()["params"]]


@pytest.mark.parametrize("name", ["entropy", "set_size"])
def test_no_threshold_is_marked_unless_one_is_set(name: str) -> None:
    def marks(audit: am.Audit) -> list[str]:
        return [row["name"] for row in rows(audit.chart(name)) if "at" in row]

    assert not any("threshold" in mark for mark in marks(log("window:1,5")))
    assert any("threshold" in mark for mark in marks(log("window:1,5", threshold=3)))


def test_estimated_quantiles_are_drawn_with_their_ends() -> None:
    audit = estimated()
    marks = [row for row in rows(audit.chart("entropy")) if "at" in row and row["low"] is not None]
    half = audit.entropy_quantile(0.5)

    assert (half.low, half.high) in {(row["low"], row["high"]) for row in marks}


def test_entropy_over_time_is_the_mean_of_those_who_came_then() -> None:
    audit = log("exponential:3")
    users, arrivals = audit.answers.users, audit.observation.arrivals
    assert arrivals is not None
    chart = audit.chart("time")
    stretches = [row for row in rows(chart) if "v0" in row]
    first = min(arrivals.min(), audit.observation.departures.min())
    came = arrivals - first
    one = stretches[3]
    inside = (came >= one["x"] - 1e-6) & (came < one["end"] - 1e-6) & users.counted

    assert sum(int(row["number"]) for row in stretches) == audit.n_counted
    assert int(one["number"]) == inside.sum()
    assert float(one["v0"]) == pytest.approx(users.shannon.value[inside].mean(), abs=1e-3)
    assert float(one["v1"]) == pytest.approx(users.shannon.value[inside].min(), abs=1e-3)


def test_delays_are_those_of_the_truth() -> None:
    audit = log("window:1,5")
    delays = audit.observation.true_delays
    assert delays is not None
    bars = [row for row in rows(audit.chart("delay")) if "number" in row]

    assert delays.mean() == pytest.approx(audit.cost.mean_delay)
    assert sum(row["number"] for row in bars) == len(delays) == 200
    assert 1.0 <= delays.min() <= delays.max() <= 5.0


def test_links_count_in_the_delays() -> None:
    messages = am.mixes.synthesize("window:1,5", messages=60, seed=2)
    later = am.mixes.Messages(
        arrivals=messages.arrivals,
        departures=messages.departures + 2.0,
        senders=messages.senders,
        receivers=messages.receivers,
        truth=messages.truth,
    )
    audit = am.audit(am.mixes.observe(later, "2+window:1,5"))
    delays = audit.observation.true_delays
    assert delays is not None

    assert delays.mean() == pytest.approx(audit.cost.mean_delay)


def test_cells_of_the_matrix_hold_every_candidate() -> None:
    audit = log("window:1,5")
    description = audit.chart("matrix").to_dict()["description"]
    (fits,) = [word for word in description.split() if word.startswith("7.") or word[0] == "8"]

    assert float(fits) == pytest.approx(audit.cost.candidates, rel=0.2)
    assert "after 1" in description


def test_a_mix_is_empty_in_the_end_whatever_was_lost() -> None:
    for audit in (log("exponential:3", loss=0.1, cover=0.2), AUDITS["lossy window"]()):
        load = load_of(audit)
        assert load is not None

        assert load.mean[-1] < 0.5 * load.mean.mean()
        assert load.most.max() < 40


def test_rivals_of_as_much_delay_are_on_their_lines() -> None:
    audit = log("window:1,5")
    lines = [row for row in rows(audit.chart("latency")) if "series" in row]
    by_name = {row["series"] for row in lines}
    title, bits = audit.same_delay[0]
    (own,) = [
        row["y"]
        for row in {(row["x"], row["y"]): row for row in lines}.values()
        if row["series"] == "exponential mixes" and row["x"] == audit.cost.mean_delay
    ]

    assert by_name == {
        "exponential mixes",
        "batches",
        "pools that swap one",
        "ceiling of steady traffic",
    }
    assert title == "one exponential mix"
    rate, held, theirs = audit.observation.rate, audit.cost.mean_delay, audit.same_delay_seconds
    assert rate is not None
    assert held is not None
    assert theirs is not None
    assert own == pytest.approx(am.mixes.exponential_bits(rate * held))
    assert bits == pytest.approx(am.mixes.exponential_bits(rate * theirs))


@pytest.mark.slow
def test_cover_raises_the_ceiling_beside_which_a_system_is_drawn() -> None:
    plain, covered = log("exponential:3"), log("exponential:3", loss=0.1, cover=0.2)

    for audit in (plain, covered):
        lines = [row for row in rows(audit.chart("latency")) if "series" in row]
        (ceiling,) = {
            row["y"]
            for row in lines
            if row["series"] == "ceiling of steady traffic" and row["x"] == audit.cost.mean_delay
        }
        packets = audit.cost.packets or 1.0
        inside = audit.observation.rate * packets * audit.cost.mean_delay
        assert ceiling == pytest.approx(am.mixes.ceiling_bits(inside))
    assert (covered.cost.packets or 1.0) > 1.1


def test_wide_intervals_are_named_by_their_ends() -> None:
    audit = estimated()
    marks = {row["name"]: row for row in rows(audit.chart("entropy")) if "at" in row}
    (worst,) = [name for name in marks if name.startswith("worst: ")]

    assert " to " in worst
    assert marks[worst]["at"] == audit.entropy_quantile(0.0).low


def test_a_network_has_times_of_those_that_were_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path / "net.csv", network_rows(1, packets=40))
    audit = am.audit(path, law="exponential")
    assert audit.observation.arrivals is not None

    assert len(audit.observation.arrivals) == len(audit.answers.users.users)
    assert "time" in audit.charts
    assert chart_svg(audit.chart("time")).startswith("<svg")


def test_a_log_with_rounds_has_its_decay(tmp_path: Path) -> None:
    path = tmp_path / "rounds.csv"
    log_ = am.disclosure.synthesize_rounds(30, users=12, batch=4, seed=1)
    am.disclosure.write_rounds(log_, path)
    found = am.rounds(path)

    assert found.chart("bits").to_dict()["description"].startswith("Bits by rounds seen")


def test_the_spread_of_a_comparison_begins_with_the_worst_of_all() -> None:
    audits = [log("window:1,5"), log("window:0,5")]
    chart = am.compare(audits, ["a", "b"]).chart("spread")

    for name, audit in zip("ab", audits, strict=True):
        line = [row for row in rows(chart) if row.get("series") == name]
        first = min(line, key=lambda row: (row["y"], row["x"]))
        assert first["y"] == 0
        worst = audit.entropy_quantile(0.0)
        assert worst is not None
        assert first["x"] == pytest.approx(worst.value, abs=1e-9)
