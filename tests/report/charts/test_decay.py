"""The curve of decay: where its half-life is, and what its bands hold."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from anonymatch.measures import Interval
from anonymatch.report.charts.decay import DecayLine, decay_chart
from anonymatch.report.drawings.svg import Picture

SVG = "{http://www.w3.org/2000/svg}"
ENDS = [Interval(2, 2, 2), Interval(1, 0.5, 1.5), Interval(0.5, 0.4, 0.6)]


def chart(rounds: tuple[int, ...] = (1, 10, 100), **more: object) -> Picture:
    line = DecayLine("bits", rounds, ENDS)
    return decay_chart([line], title="t", y_label="bits", **more)  # type: ignore[arg-type]


def tree(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.standalone())


def marks(picture: Picture) -> list[tuple[float, float]]:
    dots = [each for each in tree(picture).iter(SVG + "circle") if each.get("class") == "dot"]
    return [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in dots]


def uprights(picture: Picture) -> dict[str, float]:
    lines = [
        each for each in tree(picture).iter(SVG + "line") if each.find(SVG + "title") is not None
    ]
    return {each.findtext(SVG + "title", ""): float(each.get("x1", "")) for each in lines}


def test_the_half_life_is_between_the_points_around_it() -> None:
    picture = chart(half_life=math.sqrt(1000))
    ((name, x),) = uprights(picture).items()
    points = marks(picture)

    assert name == "half-life: 32 rounds"
    assert x == pytest.approx((points[1][0] + points[2][0]) / 2, abs=0.02)
    assert "half-life 32" in ET.tostring(tree(picture), encoding="unicode")


def test_rounds_that_are_looked_at_have_a_line_of_their_own() -> None:
    picture = chart(chosen=10)

    assert uprights(picture) == {"looked at: 10 rounds": pytest.approx(marks(picture)[1][0])}


def test_a_half_life_beyond_the_log_is_not_drawn() -> None:
    assert uprights(chart(half_life=200.0)) == {}


def test_the_band_is_the_interval() -> None:
    picture = chart(most=2.0)
    (band,) = [each for each in tree(picture).iter(SVG + "path") if each.get("class") == "span"]
    heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", band.get("d", ""))]
    begin, end = 30 + 0.3 * 420 + 90, 30.0

    expected = [2, 1.5, 0.6, 0.4, 0.5, 2]  # along the upper ends, and back along the lower ones
    assert heights == pytest.approx(
        [begin + (end - begin) * value / 2 for value in expected], abs=0.1
    )


def test_a_curve_that_begins_before_the_first_round_has_an_even_axis() -> None:
    points = marks(chart((0, 1, 2)))

    assert points[1][0] - points[0][0] == pytest.approx(points[2][0] - points[1][0], abs=0.02)


def test_a_curve_of_one_point_is_drawn() -> None:
    line = DecayLine("bits", [1], ENDS[:1])

    assert len(marks(decay_chart([line], title="t", y_label=""))) == 1


def test_a_curve_that_is_0_all_the_way_is_drawn() -> None:
    line = DecayLine("bits", [1, 2], [Interval(0, 0, 0)] * 2)

    assert len(marks(decay_chart([line], title="t", y_label=""))) == 2
