"""Topologies from files: the figure of the paper, other spellings, and files that are broken."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.mixes.formats.relay_files import read_relays

FIGURE: dict[str, Any] = {
    "links": [[a, b] for a, b in ("tb", "bt", "tm", "tx", "by", "bm", "mx", "my")],
    "entries": {"alice": "t", "bob": "t", "cem": "b", "dan": "b"},
    "exits": {"1": "y", "2": "y", "3": "x", "4": "x"},
}


def save(folder: Path, document: object) -> Path:
    path = folder / "relays.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_the_figure_of_the_paper(tmp_path: Path) -> None:
    observation = read_relays(save(tmp_path, FIGURE))
    assert observation.graph is not None
    before = [edge[2] for edge in observation.graph.to_edges() if edge[0] == "alice"]
    after = am.posterior(observation.graph, exact=True).counts["alice"].values()
    total = am.count(observation.graph, exact=True).value

    assert before == [Fraction(1, 3)] * 2 + [Fraction(1, 6)] * 2
    assert [value / total for value in after] == [Fraction(4, 11)] * 2 + [Fraction(3, 22)] * 2
    assert observation.truth is None


def test_relays_may_be_listed_one_by_one(tmp_path: Path) -> None:
    links: dict[str, list[str]] = {}
    for one, two in FIGURE["links"]:
        links.setdefault(one, []).append(two)
    document = {key: value for key, value in FIGURE.items() if key != "links"}
    observation = read_relays(save(tmp_path, document | {"relays": links, "length": 3}))

    assert observation.graph == read_relays(save(tmp_path, FIGURE)).graph


def test_numbers_and_text_name_the_same_relay(tmp_path: Path) -> None:
    document = {
        "links": [[1, 2], [1, 3]],
        "entries": {"ann": 1, "bob": "1"},
        "exits": {"x": 2, "y": "3"},
        "bandwidth": {"1": 1, "2": 0.5, "3": 1.5},
        "length": 2,
        "truth": {"bob": "x"},
    }
    path = tmp_path / "relays.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    observation = read_relays(path)

    assert observation.graph is not None
    assert [edge[2] for edge in observation.graph.to_edges()] == [
        Fraction(1, 4),
        Fraction(3, 4),
    ] * 2
    assert observation.source == "paths of 2 relays, by bandwidth"
    assert observation.truth is not None
    assert observation.truth.tolist() == [-1, 0]


def test_walks_may_pass_a_relay_again(tmp_path: Path) -> None:
    links = [list(link) for link in ("ab", "ba", "bc")]
    document = {"links": links, "entries": {"u": "a"}, "exits": {"v": "a", "w": "c"}}
    walks = read_relays(save(tmp_path, document | {"repeat": True})).graph
    paths = read_relays(save(tmp_path, document)).graph

    assert walks is not None
    assert walks.n_edges == 2
    assert paths is not None
    assert paths.to_edges() == [("u", "w")]


def test_somebody_may_have_entered_at_any_of_several_relays(tmp_path: Path) -> None:
    """By hand: a-c, a-d, b-d; through a or b one path ends at c and two at d."""
    document = {
        "links": [["a", "c"], ["a", "d"], ["b", "d"]],
        "length": 2,
        "entries": {"ann": ["a", "b"], "bob": "a"},
        "exits": {"x": "c", "y": ["c", "d"]},
    }
    graph = read_relays(save(tmp_path, document)).graph

    assert graph is not None
    ann = [weight for user, _, weight in graph.to_edges() if user == "ann"]
    assert ann == [Fraction(1, 4), Fraction(3, 4)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"links": None}, '"links" must be a list'),
        ({"links": []}, "there is no link"),
        ({"links": [["a"]]}, "link 0 must be a pair"),
        ({"links": [["a", None]]}, "an end of link 0 is null"),
        ({"links": [["a", 1.5]]}, "an end of link 0 is a number"),
        ({"links": [["a", {"b": 1}]]}, "an end of link 0 is an object"),
        ({"relays": {}}, "one of them"),
        ({"entries": None}, '"entries" must be an object {...}, not null'),
        ({"entries": {}}, '"entries" is empty'),
        ({"entries": {"ann": []}}, "user 'ann' has an empty list of relays"),
        ({"entries": {"ann": [None]}}, "a relay of 'ann' in 'entries' is null"),
        ({"exits": {"v": ["zz"]}}, "exit 'zz' is on no link"),
        ({"entries": {"ann": "zz"}}, "entry 'zz' is on no link"),
        ({"exits": {"v": "zz"}}, "exit 'zz' is on no link"),
        ({"exits": [1]}, '"exits" must be an object {...}, not a list'),
        ({"length": 0}, "relays must be a whole number from 1"),
        ({"length": 10**9}, "relays must be a whole number from 1 to 10000"),
        ({"length": "3"}, "relays must be a whole number"),
        ({"length": 7}, "no path of 7 relays"),
        ({"repeat": 1}, '"repeat" must be true or false'),
        ({"bandwidth": [1]}, '"bandwidth" must be an object'),
        ({"bandwidth": {"t": 1}}, "has no bandwidth"),
        ({"truth": {"eva": "1"}}, "names the user 'eva'"),
        ({"truth": {"bob": "9"}}, "gives 'bob' the unknown '9'"),
        ({"truth": {"bob": "1", "cem": "1"}}, "gives '1' to 'bob' and 'cem'"),
        ({"lenght": 3}, "unknown key 'lenght'"),
    ],
)
def test_broken_topologies_are_named(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(am.InputError) as caught:
        read_relays(save(tmp_path, FIGURE | change))

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"links": [' * 5000, '{"a": 1, "a": 2}'])
def test_what_is_no_topology_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(am.InputError) as caught:
        read_relays(save(tmp_path, text))

    assert "\n" not in str(caught.value)


def test_relays_are_read_as_a_graph_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path, FIGURE)
    assert am.read(path) == read_relays(path).graph
    for command in ("count", "posterior", "sample", "blocks", "metrics", "attack"):
        assert main([command, str(path), "--json"]) == 0
        capsys.readouterr()
    assert main(["count", str(path), "--json", "--exact"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == "11/108"
    assert main(["count", str(path), "--merging", "3"]) == 2
    assert "--merging is for rings, and this is relays" in capsys.readouterr().err
