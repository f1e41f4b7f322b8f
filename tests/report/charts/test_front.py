"""The front of a plan: what is grey is above the ceiling, and points can be picked."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import anonymatch as am
from anonymatch.report import Chosen, FrontLine, Picture, front_chart

SVG = "{http://www.w3.org/2000/svg}"


def chart(**more: object) -> Picture:
    lines = [
        FrontLine("pool", [2.0, 1.0], [20.0, 10.0], ["pool:1,2", 'a"<b>']),
        FrontLine("closed form", [1.0, 5.0], [5.0, 50.0]),
    ]
    return front_chart(
        lines,
        ceiling=lambda x: 12 * x,
        title="t",
        x_label="s",
        y_label="n",
        **more,  # type: ignore[arg-type]
    )


def tree(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.standalone())


def test_every_point_of_a_simulated_line_has_its_key() -> None:
    keys = [each.get("data-pick") for each in tree(chart()).iter() if each.get("data-pick")]

    assert keys == ['a"<b>', "pool:1,2"]


def test_the_grey_region_begins_at_the_ceiling() -> None:
    (area,) = [each for each in tree(chart()).iter(SVG + "path") if each.get("class") == "cell"]
    pairs = re.findall(r"([\d.]+) ([\d.]+)", area.get("d", ""))
    points = [(float(x), float(y)) for x, y in pairs]
    left, right = points[0][0], points[-1][0]

    # From 12 at 1 s to 120 at 10 s, on axes from 1 to 10 s and from 1 to 100.
    assert points[0][1] == points[-1][1] == 30.0
    heights = dict(points[1:-1])
    assert heights[left] == pytest.approx(370 - 340 * 0.5396, abs=0.2)
    assert heights[right] == 30.0


def test_the_chosen_setting_has_its_interval() -> None:
    picture = chart(chosen=Chosen("mine", 3.0, 10.0, 1.0, 100.0), target=10.0)
    (whisker,) = [
        each for each in tree(picture).iter(SVG + "path") if each.get("class") == "whisker"
    ]
    (ring,) = [each for each in tree(picture).iter(SVG + "circle") if each.get("class") == "node"]

    assert re.match(r"M[\d.]+ 370.0V30.0", whisker.get("d", ""))
    assert float(ring.get("cy", "")) == pytest.approx(200.0)
    assert "Chosen: mine, 10 at 3 (from 1 to 100)." in picture.words
    assert "The target is 10." in picture.words


def test_axes_begin_and_end_at_powers_of_ten() -> None:
    written = [each.text for each in tree(chart()).iter(SVG + "text")]

    assert {"1", "10", "100"} <= set(written)


@pytest.mark.parametrize("line", [FrontLine("x", [], []), FrontLine("x", [0.0], [1.0])])
def test_what_has_no_place_on_the_axes_is_refused(line: FrontLine) -> None:
    with pytest.raises(am.InputError, match="above 0"):
        front_chart([line], ceiling=lambda x: x, title="t", x_label="", y_label="")
