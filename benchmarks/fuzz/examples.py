"""Good files of every format that is read: where damage begins."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import anonymatch as am
from anonymatch.graph.families import band
from anonymatch.mixes.formats.message_files import write_messages
from anonymatch.mixes.logs.messages import Messages

__all__ = ["Example", "examples"]

ROOT = Path(__file__).parent.parent.parent
_WINDOW, _EXPONENTIAL = {"law": "window:0,9"}, {"law": "exponential:2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Files by their path in one folder, what is opened there, and how it is read."""

    name: str
    files: Mapping[str, bytes]
    path: str
    options: Mapping[str, str] = field(default_factory=dict)


_NO_AUDIT = "rounds.csv"  # which am.rounds reads


@cache
def examples() -> tuple[Example, ...]:
    """Every example of the project, and small graphs, logs and tables in every format."""
    return (*_of_the_project(), *_graphs(), *_logs(), *_tables(), *_documents())


def _one(name: str, content: bytes, **options: str) -> Example:
    return Example(name=name, files={name: content}, path=name, options=options)


def _of_the_project() -> Iterator[Example]:
    given, built_in = ROOT / "examples", ROOT / "src" / "anonymatch" / "examples"
    tables = (*given.glob("*.csv"), *given.glob("*.json"), *built_in.glob("*.csv"))
    for file in sorted(file for file in tables if file.name != "watch_dashboard.json"):
        if file.name not in ("people.csv", "people_released.csv", _NO_AUDIT):
            content = _head(file)
            log = b"time" in content.partition(b"\n")[0].lower()
            law = _EXPONENTIAL if log or file.suffix == ".json" else {}
            yield _one(file.name, content, **law)
    packets = b"entered_at,left_at,sender\n0,2,ann\n1,,bob\n1.5,4,cem\n,5,\n"
    yield _one("packets.csv", packets, **_EXPONENTIAL)
    yield _one("alone.csv", b"time,direction\n0,in\n1,in\n2,out\n4,out\n", **_EXPONENTIAL)
    named = b"ts,way,who\n0,in,ann\n1,in,bob\n2,out,x\n4,out,y\n"
    yield _one("named.csv", named, **_EXPONENTIAL, columns="time=ts,direction=way")
    yield Example(
        name="people_released.csv",
        files={name: _head(given / name) for name in ("people.csv", "people_released.csv")},
        path="people_released.csv",
        options={"original": "people.csv"},
    )
    for folder in ("mixim", "flows"):
        files = sorted(file for file in (given / folder).rglob("*") if file.is_file())
        yield Example(
            name=folder,
            files={
                str(file.relative_to(given / folder)): _head(file)
                if file.suffix == ".csv"
                else _few_packets(file)
                for file in files
            },
            path="",
            options=_WINDOW,
        )


def _head(file: Path, lines: int = 40) -> bytes:
    """The first lines of a table, so that damage meets every kind of field often."""
    content = file.read_bytes()
    if file.suffix == ".json":
        return content
    return b"".join(content.splitlines(keepends=True)[:lines])


def _few_packets(file: Path) -> bytes:
    pair = json.loads(file.read_bytes())
    for side in (pair["initiator"], pair["responder"]):
        for plan in ("to_gateway", "from_gateway"):
            side[plan] = side[plan][:6]
    return json.dumps(pair).encode()


# ---- graphs


def _graphs() -> Iterator[Example]:
    plain = band(5, 1, 1)
    named = am.Graph.from_edges(
        [("ann", "x"), ("ann", "y, z"), ('b"b', "x"), ("çem", "w"), ("dan", "line\nend")]
    )
    weighted = am.Graph.from_edges([("ann", "x", 0.5), ("ann", "y", 2), ("bob", "x", 1)])
    exact = am.Graph.from_edges([("ann", "x", Fraction(1, 3)), ("ann", "y", 2), ("bob", "x", 1)])
    packed = (".csv.gz", ".tsv.gz", ".mtx.gz", ".json.gz", ".jsonl.gz")
    suffixes = (".csv", ".tsv", ".parquet", ".mtx", ".npz", ".json", ".jsonl", *packed)
    for graph, kind in ((plain, "plain"), (named, "named"), (weighted, "weighted")):
        for suffix in suffixes:
            yield _one(f"{kind}{suffix}", _written(graph, suffix))
    for suffix in (".csv", ".json", ".jsonl", ".parquet"):
        yield _one(f"exact{suffix}", _written(exact, suffix))
    yield _one("array.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n0.5\n0\n3\n")
    yield from _matrices()
    frame = pl.DataFrame({"user": ["a", "b"] * 20, "behaviour": list(range(40)), "weight": 0.5})
    for packing in ("uncompressed", "snappy", "gzip", "zstd", "lz4"):
        stream = io.BytesIO()
        frame.write_parquet(stream, compression=packing)
        yield _one(f"{packing}.parquet", stream.getvalue())


def _written(graph: am.Graph, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"graph{suffix}")
        am.write(graph, path)
        return path.read_bytes()


def _matrices() -> Iterator[Example]:
    import scipy.sparse as sp

    dense = np.array([[1, 0, 2], [0, 3, 4]])
    for made in (sp.csr_array(dense), sp.csc_matrix(dense.astype(float)), sp.coo_array(dense)):
        for tight in (False, True):
            stream = io.BytesIO()
            sp.save_npz(stream, made, compressed=tight)
            yield _one(f"{made.format}-{'tight' if tight else 'loose'}.npz", stream.getvalue())


# ---- message logs


def _logs() -> Iterator[Example]:
    times = [0.0, 0.5, 1.25, 2.0, 2.5, 3.0, 4.5, 5.0]
    log = Messages.in_order(
        arrivals=times[:4],
        departures=times[3:7],
        senders=("ann", "bob", "ann", "cem"),
        receivers=("x", "y", "x", "z"),
        truth=[0, 1, -1, 2],
        cover=[False, False, False, True],
        lost=[False, False, True, False],
    )
    for suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".csv.gz", ".jsonl.gz"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"log{suffix}")
            write_messages(log, path)
            yield _one(f"log{suffix}", path.read_bytes(), **_WINDOW)
    frame = pl.DataFrame(
        {
            "time": [f"2024-03-01T12:00:0{at}.25+01:00" for at in range(6)],
            "direction": ["in", "in", "out", "sent", "received", "out"],
            "name": list("abxcyz"),
            "cover": [None, False, None, None, True, False],
        }
    )
    yield _one("dates.csv", frame.write_csv().encode(), law="threshold:2")
    yield _one("dates.jsonl", frame.write_ndjson().encode(), law="erlang:2,3")
    stream = io.BytesIO()
    frame.with_columns(pl.col("time").str.to_datetime(time_zone="UTC")).write_parquet(stream)
    yield _one("dates.parquet", stream.getvalue(), law="window:0,9")
    came = b"time,user,message\n0,ann,1\n1,bob,2\n2.5,cem,\n"
    left = b"timestamp,receiver,msg\n2,x,1\n3,y,2\n4,z,\n"
    for law in ("window:0,9", "exponential:2", "pool:1,1"):
        yield Example(
            name=f"in and out, {law}",
            files={"in.csv": came, "out.csv": left},
            path="in.csv",
            options={"departures": "out.csv", "law": law},
        )


# ---- released tables, rings, relays


def _tables() -> Iterator[Example]:
    born = date(1990, 1, 1)
    people = pl.DataFrame(
        {
            "name": ["mia", "noa", "oli", "pia"],
            "age": [23, 27, 31, 45],
            "zip": ["1010", "1020", "1010", None],
            "born": [born + timedelta(days=400 * at) for at in range(4)],
        }
    )
    released = pl.DataFrame(
        {
            "age": ["20-29", "[20,30)", ">=30", "{45,46}"],
            "zip": ["10**", "1010", "*", "1020"],
            "born": ["*", "1991-02-05", "1992-03-11", "19*"],
            "illness": ["flu", "flu", "cold", ""],
        }
    )
    for suffix in (".csv", ".parquet"):
        yield Example(
            name=f"released{suffix}",
            files={f"people{suffix}": _table(people, suffix), "given.csv": _table(released)},
            path="given.csv",
            options={"original": f"people{suffix}"},
        )


def _table(frame: pl.DataFrame, suffix: str = ".csv") -> bytes:
    stream = io.BytesIO()
    if suffix == ".csv":
        frame.write_csv(stream)
    else:
        frame.write_parquet(stream)
    return stream.getvalue()


def _documents() -> Iterator[Example]:
    listed: list[Any] = [
        {"ring": "i1", "members": ["o1", "o2"], "truth": "o1"},
        {"ring": 2, "members": ["o2", 3], "truth": 3},
    ]
    yield _one("listed.json", json.dumps(listed).encode())
    yield _one("rings.json.gz", gzip.compress(json.dumps(listed).encode(), mtime=0))
    yield _one("mapped.json", b'{"i1": ["o1", "o2"], "i2": ["o2", "o3"]}', source="rings")
    relays: dict[str, Any] = {
        "relays": {"t": ["b", "m", "x2"], "b": ["t", "x1", "m"], "m": ["x1", "x2"]},
        "entries": {"ann": "t", "bob": "t", "cem": "b"},
        "exits": {"1": "x1", "2": "x1", "3": "x2"},
        "bandwidth": {"t": 1, "b": 0.5, "m": "1/3", "x1": 2, "x2": 7},
        "length": 4,
        "truth": {"ann": "1"},
    }
    yield _one("bandwidth.json", json.dumps(relays).encode())
    yield _one("walks.json", json.dumps(relays | {"repeat": True, "length": 3}).encode())
