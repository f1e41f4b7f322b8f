"""The paper's figures: every number in a caption is the count of the graph that is drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

import anonymatch as am
from anonymatch.counting.reference import permanent
from anonymatch.mixes.formats.relays import path_counts
from anonymatch.reporting.drawings.svg import Picture
from anonymatch.reporting.paper_figures import paper_figure, paper_figures, paths_from

SVG = "{http://www.w3.org/2000/svg}"

# Matchings of the graph of each panel, by hand or from the paper.
COUNTS = {
    1: [4, 2, 2],
    2: [20, 36],
    4: [24, 24, 36],
    5: [3, 3, 3, 2, 2],
    6: [24],
    7: [9, 9],
    8: [2, 9, 44],
    9: [10],
}
EDGES = {1: [8, 8, 8], 2: [18, 18], 4: [17, 19, 19], 5: [7, 7, 7, 6, 6], 8: [6, 12, 20], 9: [13]}


def test_there_are_nine_in_order() -> None:
    assert [figure.number for figure in paper_figures()] == list(range(1, 10))


@pytest.mark.parametrize("number", COUNTS)
def test_panels_have_the_known_counts(number: int) -> None:
    graphs = [panel.graph for panel in paper_figure(number).panels]

    assert [am.count(graph).value for graph in graphs if graph] == COUNTS[number]
    if number in EDGES:
        assert [graph.n_edges for graph in graphs if graph] == EDGES[number]


@pytest.mark.parametrize("figure", paper_figures(), ids=lambda figure: f"figure {figure.number}")
def test_captions_say_what_am_count_says(figure: object) -> None:
    for panel in paper_figure(figure.number).panels:  # type: ignore[attr-defined]
        assert isinstance(panel.picture, Picture)
        ET.fromstring(panel.picture.standalone())
        match = re.search(r"(\d+) matchings? from (\d+) edges", panel.caption)
        if match and panel.graph:
            assert int(match[1]) == am.count(panel.graph).value
            assert int(match[2]) == panel.graph.n_edges
            cells = panel.graph.to_scipy().toarray().tolist()
            assert int(match[1]) == permanent(cells)


def test_every_figure_has_a_meaning_and_says_what_is_right() -> None:
    for figure in paper_figures():
        assert figure.meaning.endswith(".")
        assert figure.right.endswith(".")
        assert all(panel.caption for panel in figure.panels)


def test_figure_1_as_printed_lacks_david_and_as_meant_nobody() -> None:
    _, printed, meant = paper_figure(1).panels

    assert "David's set lacks David" in printed.caption
    assert "every set holds its user" in meant.caption
    assert meant.graph is not None
    assert meant.graph.to_rows() == ["1100", "0110", "0011", "1001"]
    assert printed.picture.words != meant.picture.words


def test_figure_2_groups_leave_more_after_an_attack() -> None:
    assert "12 explanations" in paper_figure(2).meaning
    assert "34/5" in paper_figure(2).meaning


def test_figure_3_gives_probabilities_before_and_after_matching() -> None:
    figure = paper_figure(3)

    assert figure.panels[0].caption.endswith("with probability 1/3, 1/3, 1/6, 1/6")
    assert "11/108" in figure.panels[1].caption
    assert "4/11, 4/11, 3/22, 3/22" in figure.corrected
    assert Fraction(8, 11) > Fraction(2, 3)  # more likely still


def test_paths_that_are_drawn_are_those_that_are_counted() -> None:
    links = [("a", "b"), ("b", "a"), ("a", "m"), ("a", "2"), ("b", "1"), ("b", "m"), ("m", "1"),
             ("m", "2")]  # fmt: skip
    ends = [path[-1] for path in paths_from(links, "a", 3)]

    assert {end: ends.count(end) for end in ends} == path_counts(links, entry="a", relays=3)


def test_figure_5_shows_every_matching_of_both_graphs() -> None:
    words = [panel.picture.words.partition("Marked: ")[2] for panel in paper_figure(5).panels]

    assert len(set(words[:3])) == 3
    assert len(set(words[3:])) == 2
    assert set(words[3:]) < set(words[:3])


def test_figure_6_has_the_permutations_of_the_paper() -> None:
    words = paper_figure(6).panels[0].picture.words

    assert words == "Picks 1234, 4123, 4231, 2431, 2413, 2134, 3124, 2314."


def test_figure_7_has_every_edge_in_three_matchings() -> None:
    assert "every edge is in 3 matchings" in paper_figure(7).right


def test_figure_8_is_complete_but_for_a_perfect_matching() -> None:
    for k, panel in zip((2, 3, 4), paper_figure(8).panels, strict=True):
        assert panel.graph is not None
        assert panel.graph.to_rows() == am.crown(k + 1).to_rows()


def test_figure_9_counts_before_after_and_for_the_better_target() -> None:
    figure = paper_figure(9)

    assert "10 before and 3 after" in figure.right
    assert "leaves 17/5 matchings on average, exposing x₂ leaves 14/5" in figure.corrected
