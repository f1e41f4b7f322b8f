"""The matrix of who writes to whom."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from anonymatch.reporting.drawings.matrices import profile_matrix
from anonymatch.reporting.drawings.svg import Picture

SVG = "{http://www.w3.org/2000/svg}"
VALUES = np.array([[0.9, 0.1, 0.0], [0.3, 0.3, 0.4], [np.nan] * 3])
USERS, BEHAVIOURS = ("ann", "bob", "<cem>"), ("x", "y", "z")


def tree(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.standalone())


def opacities(picture: Picture) -> dict[str, float]:
    cells = [each for each in tree(picture).iter(SVG + "rect") if each.get("class") == "solid"]
    return {each.findtext(SVG + "title", ""): float(each.get("fill-opacity", "")) for each in cells}


def test_the_likelier_a_pair_the_fuller_its_cell() -> None:
    shown = opacities(profile_matrix(VALUES, USERS, BEHAVIOURS, title="t"))

    assert set(shown) == {
        "ann – x: 90 %", "ann – y: 10 %", "bob – x: 30 %", "bob – y: 30 %", "bob – z: 40 %",
    }  # fmt: skip
    by_probability = sorted(
        (float(name.split(": ")[1][:-2]), shade) for name, shade in shown.items()
    )
    assert [shade for _, shade in by_probability] == sorted(shown.values())


def test_the_same_probability_has_the_same_colour_in_every_picture() -> None:
    alone = opacities(profile_matrix(np.array([[0.4]]), ["ann"], ["x"], title="t"))
    among = opacities(profile_matrix(VALUES, USERS, BEHAVIOURS, title="t"))

    assert alone["ann – x: 40 %"] == among["bob – z: 40 %"]


def test_a_user_who_has_not_sent_is_no_user_who_writes_to_nobody() -> None:
    picture = profile_matrix(VALUES, USERS, BEHAVIOURS, title="t")
    dashed = [each for each in tree(picture).iter(SVG + "line") if each.get("stroke-dasharray")]

    assert [each.findtext(SVG + "title") for each in dashed] == ["<cem> has not sent yet"]
    assert "1 user has not sent yet." in picture.words


@pytest.mark.parametrize("size", [3, 60])
def test_what_is_true_is_marked_in_any_size(size: int) -> None:
    truth = np.eye(size, dtype=bool)
    names = [str(k) for k in range(size)]
    picture = profile_matrix(np.full((size, size), 0.2), names, names, title="t", truth=truth)

    assert len(list(tree(picture).iter(SVG + "circle"))) == size


def test_many_users_have_cells_without_names() -> None:
    names = [f"user {k}" for k in range(60)]
    picture = profile_matrix(np.eye(60), names, names, title="t")

    assert "user 7" not in {each.text for each in tree(picture).iter(SVG + "text")}
    assert "60 users in rows and 60 behaviours in columns." in picture.words
    assert picture.width < 500
