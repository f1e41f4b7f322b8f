"""The one door: what files are, what they need, and what is refused."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.mixes import SOURCES, Messages, ReadOptions, open_observation
from anonymatch.mixes.formats import SOURCE_FORMATS, SourceFormat

EXAMPLES = Path(__file__).parents[2] / "examples"

LOG = "time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n3,out,y\n"


def examples() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("make_sources", EXAMPLES / "make_sources.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[Path, str] = module.texts()
    return made


def test_examples_are_what_their_maker_makes() -> None:
    for path, text in examples().items():
        assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("name", "how", "source", "users"),
    [
        ("mixim", {"law": "window:0,9"}, "window law", 34),
        ("mixim", {"law": "window:0,9", "cover_visible": True}, "window law", 28),
        ("mixim/ReceivedMessages.csv", {"law": "window:0,9"}, "window law", 34),
        ("packet_log.csv", {"law": "window:0,3"}, "window law", 30),
        ("packet_log.csv", {"law": "window:0,3", "cover_visible": True}, "window law", 25),
        ("flows", {}, "5 flow pairs, longest delay 2 s", 5),
        ("flows", {"law": "window:0,1"}, "5 flow pairs, longest delay 1 s", 5),
        ("flows/pair0/flowpair.json", {}, "1 flow pair", 1),
        ("rings.json", {}, "8 ring signatures over 11 outputs", 8),
        ("topology.json", {}, "paths of 3 relays", 4),
        ("people_released.csv", {"original": EXAMPLES / "people.csv"}, "released table", 12),
        ("release.csv", {}, "edges of release.csv", 8),
        ("rings.json", {"source": "rings"}, "8 ring", 8),
    ],
)
def test_examples_are_recognised(name: str, how: dict[str, Any], source: str, users: int) -> None:
    observation = open_observation(EXAMPLES / name, **how)

    assert observation.source.startswith(source)
    assert observation.graph is not None
    assert observation.graph.n_users == users
    assert am.count(observation.graph).log > -float("inf")


def test_truth_of_the_examples_is_possible() -> None:
    for name in ("flows", "rings.json"):
        observation = open_observation(EXAMPLES / name)
        assert observation.graph is not None
        assert observation.truth is not None
        cells = observation.graph.to_scipy().toarray()

        assert all(cells[user, behaviour] for user, behaviour in enumerate(observation.truth))


def saved(folder: Path, kind: str) -> Path:
    """The same log as text, packed, as lines and as Parquet."""
    path = folder / f"log.{kind}"
    rows = [line.split(",") for line in LOG.splitlines()]
    records = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    if kind == "csv":
        path.write_text(LOG)
    elif kind == "tsv":
        path.write_text(LOG.replace(",", "\t"))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(LOG.encode()))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        pl.DataFrame(records).write_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])
def test_logs_are_recognised_in_every_format(tmp_path: Path, kind: str) -> None:
    path = saved(tmp_path, kind)
    observation = open_observation(path, law="window:1,3")

    assert observation.graph is not None
    assert observation.graph.n_edges == 4
    with pytest.raises(am.InputError, match=r"needs a law .* window:1,5 exponential:2"):
        open_observation(path)


def test_two_files_are_a_log(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("time,user\n0,ann\n1,bob\n")
    (tmp_path / "out.csv").write_text("time,behaviour\n2,x\n3,y\n")
    observation = open_observation(
        tmp_path / "in.csv", departures=tmp_path / "out.csv", law="window:1,3"
    )

    assert observation.graph is not None
    assert observation.graph.n_edges == 4


@pytest.mark.parametrize(
    "name", ["graph.json", "graph.csv", "graph.npz", "graph.jsonl", "graph.mtx"]
)
def test_anything_else_is_edges(tmp_path: Path, name: str) -> None:
    graph = am.Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])
    am.write(graph, tmp_path / name)
    observation = open_observation(tmp_path / name)

    assert observation.graph == graph
    assert observation.source == f"edges of {name}"


def test_lists_of_names_are_edges_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_text('{"i": ["a", "b"], "j": ["b"]}')

    assert open_observation(path).source == "edges of lists.json"
    assert open_observation(path, source="rings").source == "2 ring signatures over 2 outputs"
    assert open_observation(path).graph == open_observation(path, source="rings").graph


def test_a_law_that_is_not_used_is_noted() -> None:
    observation = open_observation(EXAMPLES / "release.csv", law="window:1,2", source="edges")

    assert observation.notes[-1] == "The law was not used: it is for message logs."


@pytest.mark.parametrize(
    ("name", "how", "says"),
    [
        ("release.csv", {"source": "csv"}, "no source 'csv'; known are edges, messages"),
        ("release.csv", {"unit": "ms"}, "unit is for messages and network, and this is edges"),
        ("release.csv", {"cover": 1}, "cover is for messages and mixim and nym"),
        ("release.csv", {"source": "released"}, "needs the original one"),
        ("release.csv", {"source": "messages", "law": "window:1,2"}, "no column"),
        ("release.csv", {"source": "mixim", "law": "window:1,2"}, "SentMessages.csv"),
        ("release.csv", {"source": "mixmatch"}, "cannot list it"),
        ("release.csv", {"source": "rings"}, "there is no column 'ring'"),
        ("release.csv", {"original": "a", "departures": "b"}, "give one"),
        ("mixim", {"view": "ends"}, "needs a law"),
        ("mixim", {"view": "end"}, "view must be links or ends, not 'end'; did you mean 'ends'?"),
        ("mixim", {"loss": 0.1}, "loss is for an attacker who sees the ends"),
        ("mixim", {"corrupt": "mix 9"}, "there is no mix 'mix 9' to be corrupt"),
        ("release.csv", {"corrupt": "m1"}, "corrupt is for mixim and network, and this is edges"),
        ("mixim", {"law": "window"}, "window needs 2 numbers"),
        ("mixim", {"source": "edges"}, "it is a folder; give a file in it"),
        (
            "mixim",
            {"law": "window:0,9", "unit": "ms"},
            "unit is for messages and network, and this is mixim",
        ),
        ("flows", {"law": "threshold:3"}, "one longest delay"),
        ("flows", {"law": "window:1,3"}, "give law='window:0,SECONDS' or longest_delay="),
        ("flows", {"align": "strat"}, "align must be 'start', not 'strat'; did you mean 'start'?"),
        ("release.csv", {"align": "start"}, "align is for mixmatch, and this is edges"),
        ("flows", {"law": "window:0,1", "longest_delay": 3}, "one longest delay"),
        ("flows", {"cover": 3}, "cover is for"),
        ("rings.json", {"longest_delay": 3}, "longest_delay is for mixmatch, and this is rings"),
        ("topologie.json", {}, "there is no such file; did you mean topology.json"),
        ("nothing", {}, "there is no such file"),
        ("README.md", {}, "suffix tells no known format"),
    ],
)
def test_what_does_not_fit_is_named(name: str, how: dict[str, Any], says: str) -> None:
    with pytest.raises(am.InputError) as caught:
        open_observation(EXAMPLES / name, **how)

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"user,behaviour,time\nann,x,3\n", "no column 'direction' or 'left'"),
        (
            "a.csv",
            b"when,direction,user,behaviour\n1,in,ann,\n",
            "name them with columns='time=when'",
        ),
        ("a.csv", b"", "it is empty"),
        ("a.csv", b"\xff\xfe\x00time", "not UTF-8"),
        ("a.csv.gz", b"no gzip", "not gzip-compressed"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00" + b"\0" * 30, "gzip"),
        ("a.json", b'{"links": ' + b"[" * 100_000, "nested too deep"),
        ("a.json", b'{"links": 3}', '"links" must be a list'),
        ("a.json", b"\xff", "not UTF-8"),
        ("a.json.gz", b"no gzip", "not gzip-compressed"),
        ("a.jsonl", b"[" * 100_000, "nested too deep"),
        ("a.jsonl", b'{"time": ', "no JSON"),
        ("a.parquet", b"PAR1" + b"\0" * 20 + b"PAR1", "damaged"),
        ("a.parquet", b"", "no Parquet file"),
        ("a.csv", LOG.replace("\n", "\r").encode(), "line 1: it ends with CR alone"),
        ("a.csv", b"\0" * 100_000, "\\x00\\x0...'"),
        ("a.csv", b"time,direction,name" + b"x" * 200_000 + b"\n", "field larger than field limit"),
        ("a\udcff.csv", LOG.encode(), "its name is not UTF-8; rename it"),
        ("a.csv", LOG.replace("3,out,y", "99,out,y").encode(), "message out 'y' at 99 s"),
        ("a.csv", LOG.replace("3,out,y", "1e200,out,y").encode(), "line 5: the time is 1e+200 s"),
        ("a.csv", (LOG + "z" * 500 + ",out,y\n").encode(), "zz...'; give seconds"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(am.InputError) as caught:
        open_observation(path, law="window:1,2")

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).count(str(path)) == 1
    assert len(str(caught.value)) < 300 + len(str(path))


def test_a_header_may_be_long(tmp_path: Path) -> None:
    more = "".join(f",column {k}" for k in range(20_000))
    head, *rows = LOG.splitlines()
    path = tmp_path / "a.csv"
    path.write_text("\n".join([head + more, *(row + "," * 20_000 for row in rows)]) + "\n")
    observation = open_observation(path, law="window:1,3")

    assert observation.graph is not None
    assert observation.graph.n_users == 2
    assert "ignored columns: 'column 0', " in observation.notes[0]
    assert len(observation.notes[0]) < 200 + len(str(path))


def test_odd_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match=r"this folder has neither SentMessages\.csv"):
        open_observation(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(am.InputError, match="cannot read it"):
        open_observation(tmp_path / "loop")
    (tmp_path / "SentMessages.csv").write_text("x\n")
    (tmp_path / "packet_log.csv").write_text("x\n")
    with pytest.raises(am.InputError, match="may be mixim or nym; tell source"):
        open_observation(tmp_path)


def test_every_source_has_one_line() -> None:
    assert list(SOURCES) == [
        "edges", "messages", "network", "mixim", "nym", "mixmatch", "rings", "relays", "released",
    ]  # fmt: skip
    assert all("\n" not in line and line for line in SOURCES.values())


def test_a_format_of_a_test_is_recognised_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def messages(path: Path, options: ReadOptions) -> Messages:
        rows = [line.split("|") for line in path.read_text().splitlines()[1:]]
        return Messages(
            arrivals=np.array([float(row[0]) for row in rows]),
            departures=np.array([float(row[1]) for row in rows]),
            senders=tuple(row[2] for row in rows),
            receivers=tuple(row[3] for row in rows),
        )

    bars = SourceFormat(text="bars", messages=messages, header=("|", ("came", "left")))
    monkeypatch.setitem(SOURCE_FORMATS, "bars", bars)
    path = tmp_path / "log.csv"
    path.write_text("came|left|from|to\n0|2|ann|x\n1|3|bob|y\n")

    observation = open_observation(path, law="window:1,3")
    assert observation.graph is not None
    assert observation.graph.n_edges == 4
    with pytest.raises(am.InputError, match="needs a law"):
        open_observation(path)
