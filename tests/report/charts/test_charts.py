"""Charts: what is drawn is where the values are, and what cannot be drawn is refused."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.report.charts.charts import Series, bar_chart, line_chart, strip_chart
from anonymatch.report.charts.scales import Scale, scale
from anonymatch.report.drawings.svg import Picture

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


def tree(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.standalone())


def written(picture: Picture) -> list[str]:
    return [each.text or "" for each in tree(picture).iter(SVG + "text")]


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.booleans())
def test_ticks_are_round_few_and_inside(values: list[float], log: bool) -> None:
    values = [abs(value) + 1e-6 for value in values] if log else values
    axis = scale(values, 0.0, 100.0, log=log)
    ticks = axis.ticks()
    room = 1e-6 * max(abs(axis.low), abs(axis.high))

    assert 1 <= len(ticks) <= 20
    assert all(axis.low - room <= tick <= axis.high + room for tick in ticks)
    assert all(0.0 <= axis.at(value) <= 100.0 for value in values)


def test_a_logarithmic_axis_has_equal_steps() -> None:
    axis = Scale(1.0, 1e6, 0.0, 600.0, log=True)

    assert [round(axis.at(tick)) for tick in axis.ticks()] == [0, 100, 200, 300, 400, 500, 600]
    with pytest.raises(am.InputError, match="above 0"):
        scale([0.0, 1.0], 0, 1, log=True)


def test_lines_are_named_at_their_ends_without_meeting() -> None:
    lines = [Series(f"line {i}", [0, 1], [0, 1 + i / 1000]) for i in range(5)]
    picture = line_chart(lines, title="close")
    ends = [
        float(each.get("y") or 0)
        for each in tree(picture).iter(SVG + "text")
        if (each.text or "").startswith("line")
    ]

    assert len(ends) == 5
    assert all(abs(a - b) >= 14 for i, a in enumerate(ends) for b in ends[:i])
    assert max(ends) <= picture.height


def test_many_lines_get_a_legend_and_too_many_are_refused() -> None:
    lines = [Series(f"line {i}", [0, 1], [i, i]) for i in range(9)]

    assert sum(name.startswith("line") for name in written(line_chart(lines, title="nine"))) == 9
    with pytest.raises(am.InputError, match="at most 24 lines"):
        line_chart([Series("a", [0], [0])] * 25, title="many")


def test_gaps_interrupt_a_line() -> None:
    values = [1, None, 3, math.nan, math.inf, 5, Fraction(11, 2)]
    picture = line_chart([Series("a", range(7), values)], title="gaps")
    path = next(each.get("d") for each in tree(picture).iter(SVG + "path"))

    assert path is not None
    assert path.count("M") == 3
    assert path.count("L") == 1


def test_ten_thousand_points_keep_their_peak_and_little_room() -> None:
    values = [0.0] * 100_000
    values[4321] = 7.0
    picture = line_chart([Series("a", range(100_000), values)], title="peak")

    assert len(picture.standalone()) < 60_000
    path = next(each.get("d") for each in tree(picture).iter(SVG + "path")) or ""
    assert " 30.0" in path  # the top of the plot


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (Series("a", [1, 2], [1]), "has 2 x but 1 y"),
        (Series("a", [1], ["one"]), "where a number should be"),
        (Series("a", [1], [10**400]), "give its logarithm"),
    ],
)
def test_what_is_no_point_is_refused(series: Series, message: str) -> None:
    with pytest.raises(am.InputError, match=message):
        line_chart([series], title="bad")


@pytest.mark.parametrize("series", [[], [Series("a", [], [])], [Series("a", [1], [None])]])
def test_a_chart_without_points_is_still_a_chart(series: list[Series]) -> None:
    assert tree(line_chart(series, title="empty")).get("role") == "img"


def test_bars_are_as_long_as_their_values() -> None:
    picture = bar_chart([("<a>", 10), ("b", 5), ("c", 0), ("d", -10)], title="bars")
    bars = [each for each in tree(picture).iter(SVG + "rect") if each.get("class") == "bar"]
    long, half, none, below = (float(bar.get("width") or 0) for bar in bars)

    assert long == pytest.approx(2 * half, abs=0.02)
    assert below == pytest.approx(long, abs=0.02)
    assert none == 1.0


def test_only_the_first_bars_and_strips_are_drawn() -> None:
    bars = bar_chart([(i, i) for i in range(100)], title="many")
    strips = strip_chart([(i, [i]) for i in range(100)], title="many")

    assert "and 60 more" in written(bars)
    assert "and 60 more" in written(strips)


def test_quantiles_are_those_of_the_values() -> None:
    words = strip_chart([("a", [5, 1, 2, 4, 3]), ("b", []), ("c", [1, 2])], title="spread").words

    assert words == (
        "a: 5 values from 1 to 5, middle half 2 to 4, median 3. b: no values. "
        "c: 2 values from 1 to 2, middle half 1.25 to 1.75, median 1.5."
    )


def test_many_values_are_drawn_as_quantiles_only() -> None:
    few, many = (strip_chart([("a", range(n))], title="n") for n in (60, 61))

    assert len(list(tree(few).iter(SVG + "circle"))) == 60
    assert not list(tree(many).iter(SVG + "circle"))
