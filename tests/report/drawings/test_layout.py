"""Labels of pictures are whole and apart, whatever the font: pictures set their widths."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.html.boxes import cut, overlapping, text_boxes

import anonymatch as am
from anonymatch.reporting import drawings
from anonymatch.reporting.drawings.matrices import density
from anonymatch.reporting.drawings.svg import Picture, text, text_width
from anonymatch.reporting.paper_figures import paper_figures
from anonymatch.theory.designs import Near, Part

WIDE = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"
LONG = f"{WIDE} @@@@ %%%%"
NAMES = st.text(max_size=40)
SIZES = st.integers(1, 60)


def long_names(users: int, behaviours: int) -> am.Graph:
    return am.Graph.from_edges(
        [(f"{i} {LONG}", f"{j} {LONG}") for i in range(users) for j in range(behaviours)]
    )


PICTURES: dict[str, Callable[[], Picture]] = {
    "bipartite": lambda: drawings.bipartite(long_names(3, 5), users=[f"0 {LONG}"]),
    "headings": lambda: drawings.bipartite(am.ring(4, 2), headings=(LONG[:20], LONG[:20])),
    "weighted": lambda: drawings.bipartite(
        am.Graph.from_edges([(i, j, Fraction(i + 1, 7**j)) for i in range(3) for j in range(3)])
    ),
    "matrix": lambda: drawings.matrix(long_names(3, 5)),
    "dense matrix": lambda: drawings.matrix(long_names(30, 30)),
    "thin heat": lambda: drawings.heat(am.Graph.from_rows(["1" * 1000])),
    "tall heat": lambda: drawings.heat(am.Graph.from_rows(["1"] * 1000)),
    "thin density": lambda: density(am.Graph.from_rows(["1" * 1000]), title=""),
    "permutations": lambda: drawings.permutations([(1,), (2, 1), tuple(range(1, 10))]),
    "sets": lambda: drawings.sets({f"{i} {LONG}": "ABC"[: i + 1] for i in range(3)}),
    "many sets": lambda: drawings.sets({f"set {i}": {i, i + 1} for i in range(12)}),
    "exposure": lambda: drawings.exposure(long_names(3, 3), f"0 {LONG}", f"1 {LONG}"),
    "network": lambda: drawings.network(
        [(LONG, "b"), ("b", "c")], users={LONG: LONG, "ann": "b"}, exits={"c": [LONG, LONG]}
    ),
    "parts": lambda: drawings.parts([Part(Near(1), 10**9), Part(Near(30), 2)], spare=10**12),
    **{
        f"figure {figure.number}.{number}": lambda picture=panel.picture: picture  # type: ignore[misc]
        for figure in paper_figures()
        for number, panel in enumerate(figure.panels)
    },
}


@pytest.mark.parametrize("name", PICTURES)
def test_no_label_is_cut_or_on_another(name: str) -> None:
    picture = PICTURES[name]()

    assert text_boxes(picture)
    assert cut(picture) == []
    assert overlapping(picture) == []


@given(NAMES, st.sampled_from(["", "small", "tiny", "bold", "end small bold"]))
def test_every_text_says_how_wide_it_is(name: str, classes: str) -> None:
    drawn = dict(text(0, 0, name, classes).attributes)

    assert float(drawn.get("textLength", 0)) == pytest.approx(text_width(name, classes), abs=0.01)
    assert "x" in drawn


@given(SIZES, SIZES)
def test_pictures_of_any_shape_hold_what_is_written(users: int, behaviours: int) -> None:
    graph = am.Graph.from_rows(["1" * behaviours] * users)
    for picture in (drawings.heat(graph), density(graph, title=""), drawings.matrix(graph)):
        assert cut(picture) == []
        assert overlapping(picture) == []
