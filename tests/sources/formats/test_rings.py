"""Ring signatures: every spelling of the same rings, and files that are broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.sources.formats.rings import is_rings, read_rings

PLAIN = {"i1": ["o1", "o2"], "i2": ["o2", "o3"]}


def save(folder: Path, document: object) -> Path:
    path = folder / "rings.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_every_ring_is_matched_and_not_every_output(tmp_path: Path) -> None:
    graph = read_rings(save(tmp_path, PLAIN)).graph

    assert graph is not None
    assert (graph.n_users, graph.n_behaviours) == (2, 3)
    assert am.count(graph, exact=True).value == 3


@pytest.mark.parametrize(
    "document",
    [
        {name: {"members": members} for name, members in PLAIN.items()},
        [{"ring": name, "members": members} for name, members in PLAIN.items()],
    ],
    ids=["objects", "list"],
)
def test_other_spellings_are_the_same_rings(tmp_path: Path, document: object) -> None:
    plain = read_rings(save(tmp_path, PLAIN)).graph

    assert read_rings(save(tmp_path, document)).graph == plain
    assert is_rings(document)
    assert not is_rings(PLAIN)


def test_the_truth_is_kept_by_index(tmp_path: Path) -> None:
    document = {
        "a": {"members": [7, 8], "truth": 8},
        "b": {"members": ["8", "9", 9]},
        "c": {"members": [7], "truth": None},
    }
    observation = read_rings(save(tmp_path, document))

    assert observation.graph is not None
    assert observation.graph.behaviours == ("7", "8", "9")
    assert observation.truth is not None
    assert observation.truth.tolist() == [1, -1, -1]
    assert observation.notes == ("1 member came twice in one ring; once is enough.",)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("", "it is empty"),
        ("nul", "no JSON"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": [1], "a": [2]}', "key 'a' is there twice"),
        ('{"a": [' + "1" * 5000 + "]}", "4300 digits"),
        (7, "rings must be an object {...}, not a number"),
        ({}, "it holds no ring"),
        ([], "it holds no ring"),
        ([[1]], "ring 0 must be an object"),
        ({"a": []}, "ring 'a' must have a list of members, at least one"),
        ({"a": "xy"}, "ring 'a' must have a list of members"),
        ({"a": [None]}, "a member of ring 'a' is null"),
        ({"a": [1.5]}, "a member of ring 'a' is a number"),
        ({"a": [True]}, "a member of ring 'a' is true or false"),
        ("{" + '"a": [NaN]}', "a member of ring 'a' is a number"),
        ({"a": {"members": ["x"], "truth": "y"}}, "its truth 'y' is none of its members"),
        ({"a": {"member": ["x"]}}, "unknown key 'member'"),
        (
            {"a": {"members": ["x"], "truth": "x"}, "b": {"members": ["x"], "truth": "x"}},
            "gives 'x' to 'a' and 'b'",
        ),
        (
            [{"ring": 1, "members": ["x"]}, {"ring": "1", "members": ["y"]}],
            "ring '1' is there twice",
        ),
    ],
)
def test_broken_rings_are_named(tmp_path: Path, document: object, says: str) -> None:
    with pytest.raises(am.InputError) as caught:
        read_rings(save(tmp_path, document))

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
