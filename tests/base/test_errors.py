"""Errors carry where something is wrong as data, and word it alike."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import anonymatch as am
from anonymatch.base.errors import InputError, Where
from anonymatch.base.text import Argument
from anonymatch.graph.edges import EdgeError


@pytest.mark.parametrize(
    ("name", "content", "where", "what"),
    [
        ("a.csv", "user,behaviour,weight\nann,x,1\nann,x,2\n", ((2, 3), "line", None), "ann"),
        (
            "a.jsonl",
            '{"user": "ann"}\n{"user" 1}\n',
            ((2,), "line", 9),
            "no JSON",
        ),
        ("a.json", '{"edges": [["ann", "x"], ["bob"]]}', ((1,), "edge", None), "need [user"),
    ],
)
def test_an_error_about_a_file_says_which_line(
    tmp_path: Path, name: str, content: str, where: tuple[object, ...], what: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        am.read(path)

    error = caught.value
    assert error.where == Where(str(path), *where)  # type: ignore[arg-type]
    assert error.what.startswith(what) or what in error.what
    assert str(error) == f"{error.where}: {error.what}"


def test_a_file_that_is_known_stays() -> None:
    error = InputError("it is empty").about("inner.csv")

    assert error.about("outer.csv") is error
    assert str(error.at(3).more("; see ", Argument("unit"))) == (
        "inner.csv: line 3: it is empty; see unit"
    )


def test_where_travels_to_another_process() -> None:
    error = InputError("give ", Argument("unit", "ms")).at(2, 5).about("a.csv")
    copy = pickle.loads(pickle.dumps(error))

    assert (copy.where, copy.what, str(copy)) == (error.where, error.what, str(error))
    assert copy.message.worded(lambda argument: f"--{argument.name}").endswith("give --unit")


def test_files_in_a_message_may_have_other_names() -> None:
    error = InputError("it is empty").about("/tmp/upload-7.csv")

    assert error.message.renamed({"/tmp/upload-7.csv": "my log.csv"}) == "my log.csv: it is empty"


def test_an_edge_error_travels_with_its_positions() -> None:
    copy = pickle.loads(pickle.dumps(EdgeError("no weight", 3, 7)))

    assert (str(copy), copy.positions) == ("no weight", (3, 7))
