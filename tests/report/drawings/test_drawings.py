"""Drawings: well formed whatever the names, small whatever the size, and told in words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import Matrix, graph_of, weighted_matrices

import anonymatch as am
from anonymatch.reporting import drawings
from anonymatch.reporting.drawings.curves import hull, round_curve
from anonymatch.reporting.drawings.svg import Picture, element
from anonymatch.theory.designs.parts import Near, Part, Searched

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ["<script>alert(1)</script>", "\"'&amp;", "two\nlines\x00", "\u202eright", "שלום", "\ud800"]
MEGABYTE = 1 << 20


def tree(picture: Picture) -> ET.Element:
    """The picture as a browser would parse it; fails if it is not well formed."""
    root = ET.fromstring(picture.standalone().encode())
    ET.fromstring(picture.inline().encode())
    return root


def tags(picture: Picture, tag: str, class_: str = "") -> list[ET.Element]:
    return [
        each
        for each in tree(picture).iter(SVG + tag)
        if class_ in (each.get("class") or "").split() or not class_
    ]


def written(picture: Picture) -> list[str]:
    """All text but tips."""
    return [
        "".join([each.text or "", *(tip.tail or "" for tip in each)])
        for each in tree(picture).iter(SVG + "text")
    ]


def nasty_graph() -> am.Graph:
    pairs = [(user, "b" + other) for user in NASTY for other in NASTY]
    return am.Graph.from_edges(pairs)


PICTURES: dict[str, Callable[[], Picture]] = {
    "bipartite": lambda: drawings.bipartite(nasty_graph(), groups="blocks"),
    "weighted": lambda: drawings.bipartite(
        am.Graph.from_edges([(NASTY[0], NASTY[1], Fraction(1, 3)), (NASTY[2], NASTY[1], 1e-300)])
    ),
    "matrix": lambda: drawings.matrix(nasty_graph()),
    "heat": lambda: drawings.heat(am.partition([40, 30, 1])),
    "heat without matching": lambda: drawings.heat(am.Graph.from_rows(["10" * 50] * 60)),
    "permutations": lambda: drawings.permutations([(1, 2), (2, 1), (3, 1, 2)]),
    "sets": lambda: drawings.sets({name: NASTY[: i + 1] for i, name in enumerate(NASTY)}),
    "exposure": lambda: drawings.exposure(nasty_graph(), NASTY[0], "b" + NASTY[1]),
    "network": lambda: drawings.network(
        [(NASTY[0], NASTY[1]), (NASTY[1], NASTY[2])],
        users={NASTY[3]: NASTY[0]},
        exits={NASTY[2]: NASTY},
        paths=[NASTY[:3]],
    ),
    "parts": lambda: drawings.parts([Part(Near(5, 2), 3), Part(Searched((3, 3)), 1)], spare=1),
    "no users": lambda: drawings.bipartite(am.Graph.from_edges([])),
    "no edges": lambda: drawings.matrix(am.Graph.from_edges([], users=["a"], behaviours=["b"])),
    "one user": lambda: drawings.bipartite(am.complete(1), groups="blocks"),
    "empty heat": lambda: drawings.heat(am.Graph.from_edges([])),
}


@pytest.mark.parametrize("name", PICTURES)
def test_every_drawing_is_well_formed_titled_and_the_same_again(name: str) -> None:
    picture = PICTURES[name]()
    root = tree(picture)

    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert root[0].tag == SVG + "title"
    assert root[0].text
    assert root[1].tag == SVG + "desc"
    assert picture.inline() == PICTURES[name]().inline()
    assert not any(each.tag == SVG + "script" for each in root.iter())
    assert "id=" not in picture.inline()  # two pictures on a page cannot collide


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4, unique=True))
def test_any_name_is_drawn_as_text(names: list[str]) -> None:
    graph = am.Graph.from_edges([(name, name) for name in names])
    for picture in (drawings.bipartite(graph), drawings.matrix(graph)):
        text = written(picture)
        for name in names:
            if name.isprintable() and len(name) <= 28:
                assert name in text


@given(weighted_matrices(users=(1, 5), spare=2))
def test_a_line_and_a_coloured_cell_for_each_edge(matrix: Matrix) -> None:
    graph = graph_of(matrix)

    assert len(tags(drawings.bipartite(graph), "line", "edge")) == graph.n_edges
    assert len(tags(drawings.matrix(graph), "rect", "cell")) == graph.n_edges


def test_control_characters_are_spelt_out() -> None:
    text = written(drawings.bipartite(nasty_graph()))

    assert "two\\nlines\\x00" in text
    assert "\\u202eright" in text
    assert "שלום" in text


def test_long_names_are_cut_and_whole_in_the_tip() -> None:
    name = "a name that is much longer than any picture has room for"
    dot = next(
        each
        for each in tags(drawings.bipartite(am.Graph.from_edges([(name, "x")])), "text", "end")
        if each.find(SVG + "title") is not None
    )

    assert dot.findtext(SVG + "title") == name
    assert "".join(dot.itertext()).endswith("…")


def test_marked_edges_and_users_stand_out() -> None:
    picture = drawings.bipartite(am.crown(4), edges=[(0, 1), (2, 3)], users=[3])

    assert len(tags(picture, "line", "mark")) == 2
    assert len(tags(picture, "circle", "ring")) == 1
    assert picture.words.endswith("Marked: 0 with 1, 2 with 3.")


def test_what_is_no_edge_cannot_be_marked() -> None:
    with pytest.raises(am.InputError, match="cannot mark 0 with 0: that is not an edge"):
        drawings.bipartite(am.crown(4), edges=[(0, 0)])


def test_blocks_have_colours_of_their_own_on_both_sides() -> None:
    picture = drawings.bipartite(am.partition([2, 1]), groups="blocks")
    shades = [each.get("class") for each in tree(picture).iter(SVG + "g") if each.get("class")]

    assert shades == ["g0", "g0", "g1", "g0", "g0", "g1"]


def test_groups_are_given_by_name() -> None:
    graph = am.Graph.from_rows(["11", "01"])
    picture = drawings.bipartite(graph, groups=[[0], [1]])
    edges = [each.get("class") for each in tags(picture, "line", "edge")]

    assert edges == ["edge g0", "edge", "edge"]  # behaviour 1 is shared by both groups


def test_weights_are_written_and_make_lines_thick() -> None:
    picture = drawings.bipartite(am.Graph.from_edges([("a", "x", Fraction(1, 3)), ("b", "x", 1)]))
    widths = [each.get("style") for each in tags(picture, "line", "edge")]

    assert {"1/3", "1"} <= set(written(picture))
    assert widths == ["stroke-width:2.1", "stroke-width:5.0"]


@pytest.mark.parametrize("n", [40, 41, 200, 201, 2000])
def test_large_graphs_are_summed_up_and_small_files(n: int) -> None:
    graph = am.random_density(n, 0.5, seed=n)
    for draw in (drawings.bipartite, drawings.matrix):
        picture = draw(graph)

        assert len(picture.standalone()) < MEGABYTE
        assert ("a cell a pair" in picture.words) == (40 < n <= 200)
        assert ("summed up" in picture.words) == (n > 200)


def test_the_largest_names_and_a_full_graph_stay_below_a_megabyte() -> None:
    names = ["&" * 40 + f"{i}" for i in range(40)]
    graph = am.Graph.from_biadjacency([[1] * 40] * 40, names, names)
    for picture in (drawings.bipartite(graph), drawings.matrix(graph)):
        assert len(picture.standalone()) < MEGABYTE


def test_heat_shows_blocks_on_the_diagonal_whatever_their_order() -> None:
    sizes = am.partition([48, 48])
    mixed = sizes.take([*range(0, 96, 2), *range(1, 96, 2)], [*range(95, -1, -1)])

    assert drawings.heat(mixed).content == drawings.heat(sizes).content


def test_heat_covers_as_much_as_there_are_edges() -> None:
    for graph, cells in (
        (am.partition([960]), 48 * 48),
        (am.partition([4] * 15), 240),  # a cell a pair: groups do not run into each other
        (am.random_density(200, 0.1, seed=1), None),
    ):
        [path] = tags(drawings.heat(graph), "path", "shade")
        lengths = [int(length) for length in re.findall(r"h(\d+)", path.get("d") or "")]

        assert sum(lengths) == (graph.n_edges if cells is None else cells)
        assert path.get("stroke-opacity") == "1"


def test_exposure_removes_both_ends_and_keeps_the_rest() -> None:
    graph = am.Graph.from_rows(["1110", "1111", "1101", "1101"])
    picture = drawings.exposure(graph, 2, 0)
    left = graph.expose(2, 0)

    assert len(tags(picture, "line", "edge")) == graph.n_edges + left.n_edges
    assert len(tags(picture, "line", "gone")) == graph.n_edges - left.n_edges - 1
    assert len(tags(picture, "line", "mark")) == 1


def test_exposure_of_many_users_is_refused() -> None:
    with pytest.raises(am.InputError, match="at most 40 users"):
        drawings.exposure(am.ring(50, 3), 0, 0)


def test_sets_with_the_same_members_share_a_curve() -> None:
    picture = drawings.sets({"ann": "AB", "bob": "BA", "cem": "C"})

    assert len(tags(picture, "path", "set")) == 2
    assert "ann's set = bob's set" in written(picture)


def test_members_need_places_and_sets_an_end() -> None:
    with pytest.raises(am.InputError, match="member 'B' has no place"):
        drawings.sets({"ann": "AB"}, positions={"A": (0.0, 0.0)})
    with pytest.raises(am.InputError, match="at most 40"):
        drawings.sets({i: [i] for i in range(41)})


def test_a_path_must_follow_links() -> None:
    with pytest.raises(am.InputError, match="goes from 'a' to 'x': no link"):
        drawings.network(
            [("a", "m"), ("m", "x")], users={"ann": "a"}, exits={"x": [1]}, paths=[("a", "x")]
        )
    with pytest.raises(am.InputError, match="relay 'z' has no link"):
        drawings.network([("a", "m")], users={"ann": "z"}, exits={})


def test_links_in_both_directions_are_two_curves() -> None:
    picture = drawings.network([("a", "b"), ("b", "a")], users={"u": "a"}, exits={"b": [1]})
    curves = {each.get("d") for each in tags(picture, "path", "edge")}

    assert len(curves) == 4  # two links, one user, one behaviour


@pytest.mark.parametrize("order", [(1, 1), (0, 1), (), tuple(range(1, 11))])
def test_only_permutations_are_drawn(order: tuple[int, ...]) -> None:
    with pytest.raises(am.InputError, match="no permutation"):
        drawings.permutations([order])


def test_a_design_of_ten_million_users_is_one_block_a_kind() -> None:
    picture = drawings.parts([Part(Near(7), 1_428_571), Part(Near(3), 1)], spare=5)

    assert picture.title == "10,000,000 users and 69,999,993 edges in parts"
    assert "× 1,428,571" in written(picture)
    assert len(tags(picture, "rect", "solid")) == 49 + 9


def test_few_parts_are_drawn_one_by_one() -> None:
    picture = drawings.parts([Part(Near(4, 4), 2), Part(Near(2), 1)])

    assert written(picture).count("4 × 4") == 2
    assert len(tags(picture, "rect", "solid")) == 2 * 12 + 4


def test_many_kinds_of_parts_are_cut_and_said() -> None:
    picture = drawings.parts([Part(Near(size), 1) for size in range(40, 0, -1)])

    assert "and 24 more kinds of part" in written(picture)
    assert len(picture.standalone()) < MEGABYTE
    with pytest.raises(am.InputError, match="no parts"):
        drawings.parts([])


def test_hull_holds_all_points_and_its_curve_closes() -> None:
    points = [(float(x * x % 17), float(x * 7 % 13)) for x in range(30)]
    corners = hull(points)
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        assert all((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= -1e-9 for x, y in points)

    assert round_curve(points, 5).count("A") == len(corners)
    assert round_curve(points, 5).endswith("Z")


def test_attributes_are_escaped_and_none_is_left_out() -> None:
    drawn = str(element("text", "<&>", class_='"><b>', fill=None))

    assert drawn == '<text class="&quot;&gt;&lt;b&gt;">&lt;&amp;&gt;</text>'
