"""Colours: seen against the paper, and told apart by readers who see fewer of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import pytest

from anonymatch.reporting.charts import DARK, GROUPS, LIGHT

THEMES = {"light": LIGHT, "dark": DARK}

# Machado, Oliveira, Fernandes. A physiologically-based model for simulation of color vision
# deficiency. IEEE Transactions on Visualization and Computer Graphics, 2009; severity 1.
VISION = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Vector = tuple[float, float, float]


def linear(colour: str) -> Vector:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue)
    )
    return r, g, b


def apply(rows: tuple[Vector, ...], vector: Vector) -> Vector:
    a, b, c = (sum(x * y for x, y in zip(row, vector, strict=True)) for row in rows)
    return a, b, c


def oklab(light: Vector) -> Vector:
    """Björn Ottosson's perceptual space; 0.02 is a difference that is just seen."""
    r, g, b = (min(max(v, 0.0), 1.0) for v in light)
    cones = apply(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        (r, g, b),
    )
    long, middle, short = (v ** (1 / 3) for v in cones)
    return apply(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        (long, middle, short),
    )


def contrast(one: str, other: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    weights: Vector = (0.2126, 0.7152, 0.0722)
    low, high = sorted(
        sum(w * v for w, v in zip(weights, linear(c), strict=True)) for c in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_text_and_marks_stand_out_from_the_paper(theme: Mapping[str, str]) -> None:
    for paper in (theme["paper"], theme["card"]):
        assert contrast(theme["ink"], paper) > 10
        assert contrast(theme["soft"], paper) > 4.5
        assert all(contrast(theme[f"c{number}"], paper) > 3 for number in range(GROUPS))
    assert contrast(theme["line"], theme["paper"]) > 3


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_colours_of_groups_differ_for_every_reader(theme: Mapping[str, str], vision: str) -> None:
    observed = [oklab(apply(VISION[vision], linear(theme[f"c{n}"]))) for n in range(GROUPS)]

    assert min(math.dist(a, b) for a, b in combinations(observed, 2)) > 0.06
