"""Histograms, time, matrices and points: bins hold everybody, and selections find their layers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.charts.chart_rows import rows

from anonymatch.reporting.charts import (
    Kept,
    Line,
    Mark,
    Point,
    TimedLine,
    calibration_chart,
    chart_svg,
    embedded,
    histogram_chart,
    inside_over_time,
    line_chart,
    matrix_over_time,
    scatter_chart,
    stretch_ends,
    time_chart,
)


def bars(chart: Any) -> list[dict[str, Any]]:
    return [row for row in rows(chart) if "number" in row]


def over_time(stretches: int = 5, inside: bool = True) -> Any:
    values = [float(k) for k in range(stretches)]
    times = np.arange(0.0, 50.0)
    return time_chart(
        np.linspace(0, 50, stretches + 1),
        [TimedLine("mean", values, values, [value + 1 for value in values])],
        title="T",
        y_label="bits",
        noun="message",
        nouns="messages",
        numbers=[1] * stretches,
        inside=inside_over_time(times, times + 3.0) if inside else None,
    )


draws = np.random.default_rng(4)
VALUES = {
    "far apart": 10 ** draws.uniform(0, 4, 500),
    "near": draws.uniform(3, 3.4, 70),
    "equal": np.ones(9),
    "two": np.array([1.0, 30.0]),
    "zero": np.zeros(3),
    "tiny": np.array([1e-9, 2e-9, 3e-9]),
}


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("log", [False, None, True])
@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_bars_hold_everybody(values: Any, log: bool | None) -> None:
    chart = histogram_chart(values, title="", x_label="x", noun="user", log=log)

    assert sum(row["number"] for row in bars(chart)) == len(values)
    assert len(bars(chart)) <= 45
    for row in bars(chart):
        inside = (values >= row["value"] * (1 - 1e-9)) & (values <= row["end"] * (1 + 1e-9))
        assert inside.sum() >= row["number"]


def test_a_bar_names_those_who_are_in_it() -> None:
    values = [0.5, 3.0, 0.5, 3.0, 3.0]
    chart = histogram_chart(values, title="", x_label="x", noun="user", names="abcde")

    assert [row["names"] for row in bars(chart)] == ["a, c", "b, d, e"]


def test_many_names_are_some_and_how_many_more() -> None:
    names = [f"m{k}" for k in range(1000)]
    chart = histogram_chart(np.ones(1000), title="", x_label="x", noun="user", names=names)

    (bar,) = bars(chart)
    assert bar["names"] == "m0, m1, m2, m3, m4 and 995 more"


def test_what_is_not_finite_is_left_out_and_nobody_is_told() -> None:
    chart = histogram_chart([1.0, np.nan, np.inf], title="", x_label="x", noun="user")
    nobody = histogram_chart([], title="T", x_label="x", noun="user")

    assert sum(row["number"] for row in bars(chart)) == 1
    assert nobody.to_dict()["description"] == "T. There are no users."
    assert chart_svg(nobody).startswith("<svg")


def test_users_count_as_much_as_they_stand_for() -> None:
    chart = histogram_chart([1, 1, 2], title="", x_label="x", noun="user", weights=[1, 2.5, 10])

    assert [row["number"] for row in bars(chart)] == [3.5, 10]


def test_marks_are_drawn_with_the_ends_that_hold_them() -> None:
    marks = [Mark("worst", 1.2, 1.1, 1.4), Mark("far away", 1e9)]
    chart = histogram_chart([1, 1.5, 2], title="", x_label="x", noun="user", marks=marks)

    drawn = [row for row in rows(chart) if "at" in row]
    assert {(row["at"], row["low"], row["high"]) for row in drawn} == {(1.2, 1.1, 1.4)}
    assert "worst" in chart_svg(chart)


def test_the_number_inside_agrees_with_counting_at_every_time() -> None:
    arrivals = np.sort(draws.uniform(0, 1000, 1000))
    departures = arrivals + draws.exponential(5.0, 1000)
    result = inside_over_time(arrivals, departures)
    times = np.sort(np.concatenate((arrivals, departures)))
    inside = [int((arrivals <= t).sum() - (departures <= t).sum()) for t in times]

    assert len(result.mean) == 200
    assert int(result.most.max()) == max(inside)
    assert int(result.least.min()) == min(inside)
    assert float(result.mean.mean()) == pytest.approx(np.mean(inside))
    assert result.begins[-1] == pytest.approx(times[-1] - times[0])


@pytest.mark.parametrize("inside", [True, False])
def test_every_selection_is_of_a_layer_that_is_there(inside: bool) -> None:
    spec = over_time(inside=inside).to_dict()
    layers = {layer.get("name") for part in spec.get("vconcat", [spec]) for layer in part["layer"]}

    assert {"shown", "zoom", "near_lines"} <= {param["name"] for param in spec["params"]}
    for param in spec["params"]:
        assert set(param["views"]) <= layers


def test_time_charts_share_one_axis_and_hold_intervals() -> None:
    spec = over_time().to_dict()

    assert spec["resolve"]["scale"]["x"] == "shared"
    assert [part["height"] for part in spec["vconcat"]] == [190, 130]
    assert {"low": 2.0, "high": 3.0}.items() <= rows(over_time())[2].items()


def test_stretches_are_equal_and_hold_all_times() -> None:
    times = draws.uniform(5, 90, 1000)
    ends = stretch_ends(times)

    assert (ends[0], ends[-1]) == (times.min(), times.max())
    assert np.allclose(np.diff(ends), (ends[-1] - ends[0]) / (len(ends) - 1))
    assert len(stretch_ends(np.array([]))) == 2
    assert len(stretch_ends(np.array([3.0, 3.0]))) == 2


def test_pictures_have_nothing_that_waits_for_a_pointer() -> None:
    drawn = chart_svg(over_time(stretches=80))

    assert 'opacity="0"' not in drawn
    assert len(drawn) < 60_000


def test_a_matrix_takes_two_characters_a_cell_and_keeps_their_order() -> None:
    density = np.zeros((4, 3))
    density[2, 1], density[0, 0] = 1.0, 0.5
    chart = matrix_over_time(
        density, lasted=8.0, delays=(1.0, 4.0), title="M", noun="message", behaviours="messages"
    )

    assert rows(chart) == [4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]  # type: ignore[comparison-overlap]
    drawn = chart_svg(chart)
    assert drawn.count('fill="#1666c1" opacity=') >= 2
    assert "h160" in drawn  # a quarter of the width


def test_cells_of_one_shade_are_one_path_in_a_picture() -> None:
    chart = matrix_over_time(
        np.ones((100, 20)), lasted=9, delays=(0, 1), title="", noun="m", behaviours="m"
    )

    assert chart_svg(chart).count("<path") < 60


def test_data_of_several_layers_are_once_on_a_page() -> None:
    drawn = embedded(over_time(), "time")
    spec = json.loads(drawn.html.split("data-spec='")[1].split("'")[0])

    assert '"values"' not in json.dumps(spec)
    named = {layer["data"]["name"] for layer in spec["vconcat"][0]["layer"]}
    assert named <= set(spec["datasets"])
    assert len(named) == 2


def test_a_click_on_the_legend_is_a_selection_and_no_expression() -> None:
    chart = line_chart([Line("a", [1, 2], [1, 2]), Line("b", [1, 2], [2, 3])], title="T")
    text = json.dumps(chart.to_dict())

    assert '"param": "shown"' in text
    assert '"test": "shown"' not in text


def test_whole_numbers_at_axes_are_written_out() -> None:
    chart = histogram_chart(np.ones(140), title="", x_label="x", noun="user")

    assert "140<" in chart_svg(chart)
    assert "e+" not in chart_svg(chart)


def test_promises_and_what_chance_allows_are_drawn() -> None:
    chart = calibration_chart([Kept(100, 0.5, 0.4), Kept(1, 1.0, 1.0)], title="C")
    drawn = [row for row in rows(chart) if "guesses" in row]

    assert (drawn[0]["low"], drawn[0]["high"]) == pytest.approx((0.4, 0.6))
    assert (drawn[-1]["low"], drawn[-1]["high"]) == (1.0, 1.0)


def test_points_have_names_and_whiskers_where_they_are_intervals() -> None:
    points = [Point("this", 1, 2, 1.5, 2.5), Point("exact", 1, 3)]
    chart = scatter_chart(
        points, [Line("best", [1, 2], [1, 4])], title="S", x_label="x", y_label="y"
    )

    assert "this: 1.5 to 2.5 at 1. exact: 3 at 1." in chart.to_dict()["description"]
    assert {row["name"] for row in rows(chart) if "name" in row} == {"this", "exact"}
    assert all(name in chart_svg(chart) for name in ("this", "exact"))
