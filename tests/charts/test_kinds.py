"""What charts are made of: every value given is drawn, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.charts.chart_rows import rows

import anonymatch as am
from anonymatch.reporting.charts import (
    Chosen,
    FrontLine,
    Line,
    Rule,
    chart_svg,
    front_chart,
    interval_bars,
    line_chart,
)


def test_every_point_and_its_interval_are_in_the_chart() -> None:
    chart = line_chart([Line("a", [2, 1], [5, 4], [4, 3], [6, 5])], title="T")

    assert {(row["x"], row["y"], row["low"], row["high"]) for row in rows(chart) if "y" in row} == {
        (1.0, 4.0, 3.0, 5.0),
        (2.0, 5.0, 4.0, 6.0),
    }


def test_long_lines_keep_their_peak_and_their_gaps() -> None:
    values = np.zeros(100_000)
    values[77_777] = 9.0
    values[5] = np.nan
    heights = [
        row["y"]
        for row in rows(line_chart([Line("a", range(100_000), values.tolist())], title="T"))
    ]

    assert len(heights) < 2500
    assert max(height for height in heights if height is not None) == 9.0
    assert None in heights


@pytest.mark.parametrize("lines", [[], [Line("a", [], [])], [Line("a", [1], [None])]])
def test_nothing_to_draw_is_still_a_picture(lines: list[Line]) -> None:
    assert chart_svg(line_chart(lines, title="empty")).startswith("<svg")


def test_too_many_lines_and_unequal_ones_are_refused() -> None:
    with pytest.raises(am.InputError, match="at most 24 lines"):
        line_chart([Line("a", [0], [0])] * 25, title="many")
    with pytest.raises(am.InputError, match="has 2 x but 1 y"):
        line_chart([Line("a", [1, 2], [1])], title="bad")
    with pytest.raises(am.InputError, match="as many names"):
        interval_bars(["a"], [], ["1"], title="")


def test_names_of_any_text_are_drawn_as_they_are() -> None:
    nasty = "a'\"\\<b>&\u202e"
    svg = chart_svg(interval_bars([nasty, "b"], [(1, 1, 1), None], ["1", "?"], title="T"))

    assert "<b>" not in svg
    assert "&lt;b&gt;" in svg


def test_rules_have_their_names() -> None:
    svg = chart_svg(line_chart([Line("a", [1, 9], [1, 2])], title="T", rules=[Rule("half", x=3)]))

    assert ">half</text>" in svg


def test_a_front_shows_settings_ceiling_target_and_choice() -> None:
    line = FrontLine("pool", [4, 1], [20, 10], ["pool:4", "pool:1"], [18, 9], [22, 11])
    chart = front_chart(
        [line, FrontLine("mean", [1, 2], [3, 4])],
        ceiling=lambda x: 15 * x,
        title="Front",
        x_label="s",
        y_label="n",
        chosen=Chosen("pool:2", 2, 14, 12, 16),
        target=12,
    )
    found = rows(chart)

    assert {(row["x"], row["key"]) for row in found if row.get("key")} == {
        (1.0, "pool:1"),
        (4.0, "pool:4"),
    }
    assert all(row["y"] <= row["top"] for row in found if "top" in row)
    assert {"at": 12, "name": "target"} in found
    assert "pick" in str(chart.to_dict()["params"])


def test_a_front_of_nothing_is_refused() -> None:
    with pytest.raises(am.InputError, match="above 0"):
        front_chart([], title="", x_label="", y_label="")
