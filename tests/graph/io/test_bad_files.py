"""Bad files: each is refused in one line that says what is wrong, where, and what to do."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import subprocess
import sys
import warnings
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anonymatch.base.errors import InputError
from anonymatch.graph.graph import Graph
from anonymatch.graph.io.files import FileNote, read, write

HEAD = "%%MatrixMarket matrix coordinate pattern general\n"


def refusal(path: Path, content: bytes | str) -> str:
    """The one line with which a file of this content is refused."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return refusal_of(path)


def refusal_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("user,behaviour\n", "it has a header and no rows"),
        ("user,behaviour", "it has a header and no rows"),
        ("User,USER,behaviour\nann,x,y\n", "'User', 'USER' could each be 'user'; name one"),
        ("User,User,behaviour\nann,x,y\n", "'User', 'User' could each be 'user'; name one"),
        ("user,behavior,Behaviour\nann,x,y\n", "could each be 'behaviour'"),
        ("user,action\nann,x\n", "no column 'behaviour'; the columns are 'user', 'action'"),
        ("user,behaviour,user\nann,x,y\n", "line 1: column 'user' is there twice"),
        ("user,behaviour,weight\nann,x,2\nbob,x,heavy\n", "line 3: the weight is 'heavy'"),
        ("user,behaviour,weight\nann,x,2\nbob,x,\n", "line 3: there is no weight"),
        ("user,behaviour,weight\nann,x,2\n,x,5\n", "line 3: there is a weight but no user"),
        ("user,behaviour,weight\nann,,2\n", "line 2: there is a weight but no behaviour"),
        ("user,behaviour,weight\nann,x,1/0\n", "line 2: the weight is '1/0'"),
        (
            "user,behaviour,weight\nann,x,-1\n",
            "line 2: the weight of user 'ann', behaviour 'x' is -1.0",
        ),
        ("user,behaviour,weight\n\nann,x,nan\n", "line 3: the weight of user 'ann'"),
        ("user,behaviour,weight\nann,x,inf\n", "behaviour 'x' is inf"),
        ("user,behaviour,weight\nann,x,1e999\n", "behaviour 'x' is inf"),
        (
            "user,behaviour,weight\nann,x,1\nbob,x,1\nann,x,2\n",
            "lines 2 and 4: user 'ann', behaviour 'x' is given twice",
        ),
        (
            'user,behaviour,weight\n"a\nb",x,1\nann,x,1\nann,x,2\n',
            "lines 4 and 5: user 'ann', behaviour 'x' is given twice",
        ),
        ("user,behaviour\nann,x\nbob\n", "line 3: 1 field, but the header has 2"),
        ('user,behaviour\n"ann",x\nbob\n', "line 3: 1 field, but the header has 2"),
        ("user,behaviour\nann,x,y\n", "line 2: 3 fields, but the header has 2"),
        ("user,behaviour,time\nann,x\n", "line 2: 2 fields, but the header has 3"),
        ('user,behaviour\nann,"x\nbob,y\n', "line 2: a quote opens here and is not closed"),
        ('user,behaviour\nann,x\n"bob,y\ncem,z\n', "line 3: a quote opens here"),
        ('user,behaviour,weight\nann,x,1\n\nbob,"y,2\ncem,z,3\n', "line 4: a quote opens here"),
        ('user,behaviour\n"a\nb","c\n', "line 3: a quote opens here"),
        ('user,behaviour\n"ann",x\nbob,"y\ncem,"z"\n', "line 3: a quote opens here"),
        ('user,behaviour\nann,"x"y\nbob,z\n', "line 2: a quote opens here"),
        ('user,behaviour\nann,"x\n' + "bob,y\n" * 50_000, "line 2: a quote opens here"),
        ('user,behaviour\nann,x"\nbob,y\n', "line 2: a quote stands inside a field"),
        ('"user,behaviour\nann,x\n', "line 1: a quote opens here"),
        (
            "user,behaviour,weight\nann,x,2\nbob,x,1e-400\n",
            "line 3: the weight is '1e-400', closer to 0 than a float64 can be .5e-324.; scale the",
        ),
        ("user,behaviour,weight\nann,x,0\nbob,x,0.000E9\ncem,x,.1e-999\n", "line 4: the weight"),
        ("user,behaviour,weight\nann,x,1/3\nbob,x,1e-400\n", "line 3: the weight is '1e-400'"),
        (b"user,behaviour\nann,x\nj\xf6rg,x\n", "line 3: byte 0xf6 is not UTF-8"),
        ("user,behaviour\nann,x\n".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
        (gzip.compress(b"user,behaviour\nann,x\n", mtime=0), "it is a gzip file, not text"),
        ("time,direction,user,behaviour\n1,in,ann,\n2,out,,x\n", "this is a message log; audit it"),
        ("timestamp,DIR,name\n1,in,ann\n2,out,x\n", "make a graph of it with: .*law="),
        ("when,Direction,user,behaviour\n1,in,ann,\n", "by its column 'Direction', .* 'time';"),
        (bytes(range(256)) * 20, "UTF-8|no column"),
        ("\0" * 5000, "no column"),
    ],
)
def test_bad_csv(content: bytes | str, expected: str, tmp_path: Path) -> None:
    assert re.search(expected.replace("(", r"\("), refusal(tmp_path / "seen.csv", content))


def test_equal_edges_are_kept_once_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\nann,x\nann,x\nbob,y\nann,x\n")

    with pytest.warns(FileNote, match="2 rows repeat an edge; kept once"):
        assert read(path).n_edges == 2


def test_csv_under_the_suffix_of_tsv(tmp_path: Path) -> None:
    assert "no column 'user'" in refusal(tmp_path / "seen.tsv", "user,behaviour\nann,x\n")


def test_cut_off_gzip_and_no_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(b"user,behaviour\n" + os.urandom(999).hex().encode())
    path = tmp_path / "seen.csv.gz"

    path.write_bytes(
        gzip.compress(b"user,behaviour\nann", mtime=0) + gzip.compress(b",x\n") + b"\0" * 99
    )
    assert read(path).to_edges() == [("ann", "x")]
    assert "the gzip data is cut off" in refusal(path, packed[:-40])
    assert "the gzip data is cut off" in refusal(path, packed[:5])
    assert "the gzip data is damaged" in refusal(path, packed[:-5] + b"xxxxx")
    assert "it is not gzip-compressed" in refusal(path, "user,behaviour\nann,x\n")


@pytest.mark.slow
def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    """About 1 MiB that unfolds to 1 GiB."""
    bomb = gzip.compress(b"0" * 2**27, compresslevel=9, mtime=0) * 8

    assert "unfold to more than 512 MiB" in refusal(tmp_path / "bomb.csv.gz", bomb)
    assert "unfold to more than 512 MiB" in refusal(tmp_path / "bomb.json.gz", bomb)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "it is a folder" in refusal_of(folder)
    with pytest.raises(InputError, match="it is a folder"):
        write(Graph.from_rows(["1"]), folder)
    os.mkfifo(tmp_path / "pipe.csv")
    assert "it is not a regular file" in refusal_of(tmp_path / "pipe.csv")


def test_a_missing_file_hints_at_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "messages.csv").write_text("user,behaviour\nann,x\n")

    assert "did you mean messages.csv?" in refusal_of(tmp_path / "mesages.csv")
    assert "check the path" in refusal_of(tmp_path / "no" / "such.csv")
    with pytest.raises(InputError, match="its folder does not exist"):
        write(Graph.from_rows(["1"]), tmp_path / "no" / "such.npz")


@pytest.mark.parametrize("name", ["graph", "graph.xlsx", "graph.gz", "graph.parquet.gz", ".csv"])
def test_an_unknown_suffix_names_the_known_ones(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(InputError, match=r"known are \.csv \.tsv \.parquet \.mtx \.npz \.json"):
        read(path)
    with pytest.raises(InputError, match="tells no known format"):
        write(Graph.from_rows(["1"]), path)


def test_no_permission(tmp_path: Path) -> None:
    """In a process without the rights of root, which may read everything.

    It enters the folder and imports all it needs before it gives them up: other users may not
    reach the folders above, nor where this package is installed.
    """
    for name, mode in (("open.csv", 0o644), ("secret.csv", 0)):
        (tmp_path / name).write_text("user,behaviour\nann,x\n")
        (tmp_path / name).chmod(mode)
    code = """
import os
from anonymatch import InputError
from anonymatch import read, write
graph = read("open.csv")
write(graph, "old.json")
os.chmod(".", 0o555)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for work in (lambda: read("secret.csv"), lambda: write(graph, "new.json")):
    try:
        work()
    except InputError as error:
        print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert run.stdout.splitlines() == [
        "secret.csv: no permission to read it; ask its owner or choose another file",
        "new.json: no permission to write there; choose another folder",
    ]


def test_a_file_that_fails_while_it_is_read() -> None:
    """/proc/self/mem is a regular file whose first byte cannot be read, even by root."""
    from anonymatch.tabular import Source

    with pytest.raises(OSError, match="Input/output error"):
        Source(Path("/proc/self/mem"), packed=False).content()


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def test_bad_parquet(tmp_path: Path) -> None:
    path = tmp_path / "seen.parquet"
    good = parquet(user=["ann", "bob"], behaviour=["x", "y"], weight=[1.0, 2.0])

    assert "it is no Parquet file" in refusal(path, "user,behaviour\nann,x\n")
    assert "it is no Parquet file" in refusal(path, "")
    assert "the Parquet data is cut off" in refusal(path, good[:-9])
    assert "the Parquet data is cut off" in refusal(path, b"PAR1")
    assert "the Parquet data is damaged" in refusal(path, good[:4] + b"\xff" * 60 + good[64:])
    assert "the Parquet data is damaged" in refusal(path, b"PAR1" + b"\xff" * 40 + b"PAR1")
    assert "no column 'user'" in refusal(path, parquet(who=["a"], behaviour=["x"]))
    assert "column 'user' holds List" in refusal(path, parquet(user=[["a"]], behaviour=["x"]))
    assert "holds Binary" in refusal(path, parquet(user=["a"], behaviour=[b"x"]))
    assert "holds Struct" in refusal(path, parquet(user=["a"], behaviour=[{"x": 1}]))
    assert "holds Float64" in refusal(path, parquet(user=["a"], behaviour=[1.5]))
    assert "column 'weight' holds Boolean" in refusal(
        path, parquet(user=["a"], behaviour=["x"], weight=[True])
    )
    assert "row 2: the weight of user 'bob', behaviour 'y' is -2.0" in refusal(
        path, parquet(user=["ann", "bob"], behaviour=["x", "y"], weight=[1.0, -2.0])
    )
    assert "row 1: there is no weight" in refusal(
        path, parquet(user=["ann", "bob"], behaviour=["x", "y"], weight=[None, 2.0])
    )
    assert "rows 1 and 2: user 'ann', behaviour 'x' is given twice" in refusal(
        path, parquet(user=["ann", "ann"], behaviour=["x", "x"], weight=[1, 2])
    )
    assert "it has columns and no rows" in refusal(
        path, parquet(user=pl.Series([], dtype=pl.String), behaviour=pl.Series([], dtype=pl.String))
    )


@pytest.mark.slow
def test_a_parquet_bomb_is_refused(tmp_path: Path) -> None:
    """A few KiB of Parquet in which one long name repeats to 2 GiB of text."""
    path = tmp_path / "bomb.parquet"
    name = pl.Series("user", ["x" * 2**20]).new_from_index(0, 2048)
    frame = pl.DataFrame({"user": name, "behaviour": pl.arange(2048, eager=True)})
    frame.write_parquet(path)
    assert path.stat().st_size < 2**20

    assert "unfold to more than 512 MiB" in refusal_of(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "it is empty"),
        ("hello\n", "it is no Matrix Market file"),
        (HEAD, "it ends before the line of sizes"),
        (HEAD.replace("general", "symmetric") + "1 1 1\n1 1\n", "the matrix is symmetric"),
        (HEAD.replace("pattern", "complex") + "1 1 1\n1 1\n", "line 1: matrix coordinate complex"),
        (HEAD + "% c\n2 2\n1 1\n", "line 3: b'2 2'; need 3 whole numbers"),
        (HEAD + "2 2 1\n3 1\n", "entry 1: user"),
        (HEAD + "2 2 1\n0 1\n", "entry 1: user"),
        (HEAD + "2 2 2\n1 1\n", "it holds 1 entry but declares 2"),
        (HEAD + "2 2 1\n1 1\n2\n", "entry 2: 1 number, but an entry has 2"),
        (HEAD + "2 2 900\n1 1\n", "line 2: 900 entries in a file of"),
        (HEAD + "1000000000000 2 1\n1 1\n", "1000000000000 users are declared for 1 entry"),
        (HEAD + "2 2000000000 1\n1 1\n", "2000000000 behaviours are declared for 1 entry"),
        (HEAD.replace("pattern", "real") + "2 2 1\n1 1 x\n", "entry 1: 'x' is not a number"),
        (HEAD.replace("pattern", "real") + "2 2 1\n1 1 5E", "entry 1: '5E' is not a number"),
        (HEAD.replace("pattern", "real") + "2 2 1\n1 1 -2\n", "entry 1: the weight of user 0"),
        (HEAD.replace("pattern", "real") + "2 2 2\n1 1 1\n1 1 2\n", "entry 1 and 2: user 0"),
        (
            HEAD.replace("coordinate pattern", "array real") + "9999999999 9999999999\n1\n",
            "entries in a file of",
        ),
        (HEAD + '%users ["a"]\n2 2 1\n1 1\n', "1 user is named but there are 2"),
        (HEAD + "%users [[]]\n1 2 1\n1 1\n", "a name must be text or a whole number"),
        (HEAD + "%users [1\n1 2 1\n1 1\n", "the names of users are no JSON list"),
    ],
)
def test_bad_matrix_market(content: str, expected: str, tmp_path: Path) -> None:
    assert expected in refusal(tmp_path / "matrix.mtx", content)


def npz(**arrays: object) -> bytes:
    stream = io.BytesIO()
    good = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "data": np.ones(2),
        "indices": np.array([0, 1]),
        "indptr": np.array([0, 1, 2]),
    }
    chosen = {key: array for key, array in (good | arrays).items() if array is not None}
    np.savez(stream, **chosen)  # type: ignore[arg-type]
    return stream.getvalue()


def test_bad_npz(tmp_path: Path) -> None:
    path = tmp_path / "matrix.npz"
    damage = "the npz data is damaged or cut off"
    path.write_bytes(npz())
    assert read(path).to_rows() == ["10", "01"]

    assert "it is no npz file" in refusal(path, "user,behaviour\n")
    assert "it is no npz file" in refusal(path, "")
    assert damage in refusal(path, npz()[:-30])
    assert damage in refusal(path, npz()[:200])
    assert "it has no array 'format'" in refusal(path, npz(format=None))
    assert damage in refusal(path, npz(indptr=None))
    assert "its format is 'dia'" in refusal(path, npz(format=np.array(b"dia")))
    assert "its shape is (2, 2, 2)" in refusal(path, npz(shape=np.array([2, 2, 2])))
    assert "its shape is (-2, 2)" in refusal(path, npz(shape=np.array([-2, 2])))
    assert "users are declared for 2 entries" in refusal(path, npz(shape=np.array([10**12, 2])))
    assert "behaviours are declared" in refusal(path, npz(shape=np.array([2, 10**12])))
    assert damage in refusal(path, npz(indices=np.array([0, 9])))
    assert damage in refusal(path, npz(indices=np.array([0, -1])))
    assert damage in refusal(path, npz(indptr=np.array([0, 5, 2])))
    assert damage in refusal(path, npz(indptr=np.array([0, 1])))
    assert damage in refusal(path, npz(data=np.ones(1)))
    assert "weights of type complex128" in refusal(path, npz(data=np.ones(2, dtype=complex)))
    assert "is nan" in refusal(path, npz(data=np.array([1.0, np.nan])))
    assert "array 'users' holds float64" in refusal(path, npz(users=np.ones(2)))
    assert "1 user is named but there are 2" in refusal(path, npz(users=np.array(["a"])))


def test_pickled_objects_in_npz_are_refused(tmp_path: Path) -> None:
    bad = npz(users=np.array([{"a": 1}, 2], dtype=object))

    assert "holds pickled objects, which could run code" in refusal(tmp_path / "m.npz", bad)


@pytest.mark.slow
def test_npz_that_declares_more_than_it_holds(tmp_path: Path) -> None:
    """A header that claims 10^12 numbers, and a bomb of zeros."""
    path = tmp_path / "m.npz"
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.npy", stream.getvalue() + b"\0" * 24)
    assert "array 'data.npy' declares (1000000000000,)" in refusal_of(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", stream.getvalue() + b"\0" * 2**29)
    assert "unfold to more than 512 MiB" in refusal_of(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "it is empty"),
        ("[1, 2]", "need an object"),
        ("3", "need an object"),
        ('{"edges": 3}', '"edges" must be a list, not an int'),
        ('{"users": ["a"]}', 'there is no "edges"'),
        ('{"edges": [["a"]]}', "edge 0: need [user, behaviour]"),
        ('{"edges": [["a", "x"], "ab"]}', "edge 1: need [user, behaviour]"),
        ('{"edges": [["a", null]]}', "edge 0: behaviour None is null"),
        ('{"edges": [["a", ["x"]]]}', "edge 0: behaviour ['x'] is a list"),
        ('{"edges": [["a", true]]}', "edge 0: behaviour True is a bool"),
        ('{"edges": [["a", "x", "heavy"]]}', "edge 0: the weight is 'heavy'"),
        ('{"edges": [["a", "x", null]]}', "edge 0: the weight is None"),
        ('{"edges": [["a", "x", -1]]}', "edge 0: the weight of user 'a', behaviour 'x' is -1"),
        ('{"edges": [["a", "x", NaN]]}', "is nan"),
        ('{"edges": [["a", "x", 1], ["a", "x", 2]]}', "edges 0 and 1: user 'a', behaviour 'x'"),
        ('{"users": ["b"], "edges": [["a", "x"]]}', "no user 'a'"),
        ('{"users": ["b", "b"], "edges": []}', "user 'b' is named twice"),
        ('{"ann": "x"}', "user 'ann' must have a list of behaviours, not a str"),
        ('{"ann": ["x"], "ann": ["y"]}', "key 'ann' is there twice"),
        ('{"ann": ["x"]', "line 1: no JSON at column 14"),
        ('{"ann":' + "[" * 200_000, "the JSON is nested too deep"),
        ('{"edges": [["a", "x", ' + "9" * 5000 + "]]}", "digits"),
        (b'{"ann": ["\xff"]}', "line 1: byte 0xff is not UTF-8"),
    ],
)
def test_bad_json(content: bytes | str, expected: str, tmp_path: Path) -> None:
    assert expected in refusal(tmp_path / "seen.json", content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "it is empty"),
        ('{"user": "a", "behaviour": "x"}\n[1]\n', "line 2: need an object"),
        ('{"user": "a", "behaviour": "x"}\n{"user"\n', "line 2: no JSON at column 8"),
        ('{"who": "a"}\n', 'line 1: there is neither "user" nor "behaviour"'),
        ('{"user": ["a"], "behaviour": "x"}\n', "line 1: user ['a'] is a list"),
        ('{"user": "a", "behaviour": 1.5}\n', "line 1: behaviour 1.5 is a float"),
        ('{"user": "a", "behaviour": "x", "weight": []}\n', "line 1: the weight is []"),
        ('\n{"user": "a", "behaviour": "x", "weight": -3}\n', "line 2: the weight of user 'a'"),
        (
            (
                '{"user": "a", "behaviour": "x"}\n{"user": "b", "behaviour": "x"}\n'
                '{"user": "a", "behaviour": "x", "weight": 2}\n'
            ),
            "lines 1 and 3: user 'a', behaviour 'x' is given twice",
        ),
        ('{"time": 1, "direction": "in", "user": "a"}\n', "this is a message log; audit it"),
        ('{"user": ' + "[" * 200_000 + "\n", "line 1: the JSON is nested too deep"),
    ],
)
def test_bad_json_lines(content: str, expected: str, tmp_path: Path) -> None:
    assert expected in refusal(tmp_path / "seen.jsonl", content)


def test_notes_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "seen.jsonl"
    path.write_text('{"user": "a", "behaviour": "x", "time": 3}\n')

    with pytest.warns(FileNote, match="ignored keys: 'time'"):
        read(path)


@pytest.mark.grid
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".mtx", ".npz", ".json", ".jsonl"])
def test_damage_anywhere_is_refused_or_harmless(suffix: str, tmp_path: Path) -> None:
    """Cut at any length and with any byte changed: a Graph or an InputError, nothing else."""
    path = tmp_path / f"graph{suffix}"
    write(Graph.from_edges([("ann", "x", 0.5), ("ann", "y", 2), ("bob", "x", 1)]), path)
    good = path.read_bytes()
    rng = np.random.default_rng(7)
    changed = []
    for _ in range(60):
        damaged = bytearray(good)
        damaged[rng.integers(len(good))] = rng.integers(256)
        changed += [bytes(damaged), good[: rng.integers(len(good))]]
    for content in changed:
        path.write_bytes(content)
        with warnings.catch_warnings(), contextlib.suppress(InputError):
            warnings.simplefilter("ignore", FileNote)
            read(path)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("seen.json", '{"edges": [["a", "x", 1],\n["b", "x", 1e-400]]}', 2),
        ("seen.jsonl", '\n{"user": 1, "behaviour": 2, "weight": 0.5E-999}\n', 2),
        ("seen.mtx", HEAD.replace("pattern", "real") + "1 2 2\n1 1 0\n1 2 1e-400\n", 4),
        ("seen.mtx", HEAD.replace("pattern", "real") + f"1 1 1\n1 1 0.{'0' * 400}1\n", 3),
    ],
)
def test_weights_that_would_vanish_are_refused(
    name: str, content: str, line: int, tmp_path: Path
) -> None:
    refused = refusal(tmp_path / name, content)

    assert refused.startswith(f"line {line}: the weight is ")
    assert refused.endswith(", closer to 0 than a float64 can be (5e-324); scale the weights")


def test_the_least_weights_are_read(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour,weight\nann,x,5e-324\nann,y,1e-310\n")

    assert [weight for *_, weight in read(path).to_edges()] == [Fraction(5e-324), Fraction(1e-310)]


def test_a_table_of_too_many_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.graph.io.tables.LARGEST", 2)

    assert "it has 3 rows; a graph holds at most 2 edges" in refusal(
        tmp_path / "seen.csv", "user,behaviour\nann,x\nbob,x\ncem,x\n"
    )
