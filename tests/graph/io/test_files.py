"""Files: what is written is read back, and every format keeps what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymatch.base.errors import InputError
from anonymatch.graph.graph import Graph
from anonymatch.graph.io.files import FileNote, read, write
from anonymatch.tabular import factorise, factorise_hashed

TEXT = [".csv", ".tsv", ".csv.gz", ".tsv.gz"]
TABLES = [*TEXT, ".parquet", ".jsonl", ".jsonl.gz"]
OTHERS = [".mtx", ".mtx.gz", ".npz", ".json", ".json.gz"]
ALL = [*TABLES, *OTHERS]

NAMED = Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])
ODD_NAMES = Graph.from_edges(
    [
        ("a b", "x,y"),
        (" c ", 'say "hi"'),
        ("line\nbreak", "tab\there"),
        ("é漢字🙂", "\r\n"),
        ("", "#"),
    ]
)
ALONE = Graph.from_edges(
    [("bob", "z"), ("dan", "x")], users=["ann", "bob", "cem", "dan", "eve"], behaviours=list("wxyz")
)
WEIGHTS = Graph.from_edges([("ann", "x", 0.1), ("ann", "y", 1e-300), ("bob", "x", 3)])
WHOLE = Graph.from_edges([("ann", "x", 2), ("bob", "y", 2**53)])
GRAPHS = [NAMED, ODD_NAMES, ALONE, WEIGHTS, WHOLE]


def round_trip(graph: Graph, path: Path) -> Graph:
    write(graph, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Rows that keep a name without an edge are noted: elsewhere they may be a slip.
        warnings.filterwarnings("ignore", ".* is named for .* no edge$", FileNote)
        return read(path)


@pytest.mark.parametrize("suffix", ALL)
@pytest.mark.parametrize("graph", GRAPHS, ids=["named", "odd", "alone", "weights", "whole"])
def test_what_is_written_is_read_back(graph: Graph, suffix: str, tmp_path: Path) -> None:
    assert round_trip(graph, tmp_path / f"graph{suffix}") == graph
    assert [entry.name for entry in tmp_path.iterdir()] == [f"graph{suffix}"]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", *OTHERS])
def test_whole_number_names_stay_numbers(suffix: str, tmp_path: Path) -> None:
    for graph in (Graph.from_rows(["110", "000", "001"]), Graph.from_edges([(7, 5), (7, -3)])):
        assert round_trip(graph, tmp_path / f"graph{suffix}") == graph


@pytest.mark.parametrize("suffix", TEXT)
def test_whole_number_names_become_text_in_csv(suffix: str, tmp_path: Path) -> None:
    back = round_trip(Graph.from_rows(["110", "000", "001"]), tmp_path / f"graph{suffix}")

    assert back.users == ("0", "1", "2")
    assert back.to_rows() == ["110", "000", "001"]


@pytest.mark.parametrize("suffix", OTHERS)
def test_an_empty_graph_is_read_back(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_rows([])

    assert round_trip(graph, tmp_path / f"graph{suffix}") == graph


@pytest.mark.parametrize("suffix", TABLES)
def test_a_table_cannot_hold_an_empty_graph(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot hold an empty graph"):
        write(Graph.from_rows([]), tmp_path / f"graph{suffix}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [*TABLES, ".json"])
def test_weights_that_no_float_holds_are_read_back(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_edges([("a", "x", Fraction(1, 3)), ("a", "y", 2**60 + 1), ("b", "x", 2)])

    assert round_trip(graph, tmp_path / f"graph{suffix}").to_edges() == graph.to_edges()


@pytest.mark.parametrize("suffix", [".mtx", ".npz"])
def test_matrices_refuse_weights_they_cannot_hold(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_edges([("a", "x", Fraction(1, 3))])

    with pytest.raises(InputError, match="cannot hold weights such as 1/3"):
        write(graph, tmp_path / f"graph{suffix}")


names = st.one_of(st.text(st.characters(codec="utf-8"), max_size=4), st.integers(-9, 9).map(str))
weights = st.one_of(st.floats(5e-324, 1e308), st.integers(1, 2**53))


@pytest.mark.grid
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".json", ".mtx", ".npz"])
@settings(deadline=None, max_examples=40)
@given(edges=st.dictionaries(st.tuples(names, names), weights, min_size=1, max_size=12))
def test_any_text_names_and_any_weights_are_read_back(
    suffix: str, edges: dict[tuple[str, str], float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = Graph.from_edges([(*pair, weight) for pair, weight in edges.items()])
    path = tmp_path_factory.mktemp("any") / f"graph{suffix}"

    assert round_trip(graph, path) == graph


def test_columns_come_in_any_order_and_extra_ones_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("time,weight,behaviour,user\n1,2,x,ann\n2,3,y,ann\n")

    with pytest.warns(FileNote, match="ignored columns: 'time'"):
        graph = read(path)

    assert graph.to_edges() == [("ann", "x", 2), ("ann", "y", 3)]


def test_windows_line_ends_byte_order_mark_and_blank_lines_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_bytes(b"\xef\xbb\xbfuser,behaviour,weight\r\nann,x,2\r\n\r\nbob,x,1\r\n")

    with pytest.warns(FileNote, match="ignored 1 empty row"):
        assert read(path).to_edges() == [("ann", "x", 2), ("bob", "x", 1)]


def test_names_keep_their_spaces_and_leading_zeros(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\n ann ,007\nNA,null\n")

    assert read(path).to_edges() == [(" ann ", "007"), ("NA", "null")]


def notes_on(path: Path) -> list[str]:
    """What is noted when a file is read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(path)
    assert all(note.category is FileNote for note in caught)
    return [str(note.message).removeprefix(f"{path}: ") for note in caught]


def test_a_row_without_a_behaviour_keeps_its_user(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\nann,x\nbob,\n,y\n")

    with pytest.warns(FileNote):
        graph = read(path)

    assert (graph.users, graph.behaviours) == (("ann", "bob"), ("x", "y"))
    assert graph.to_rows() == ["10", "00"]


STANDING_ALONE = [
    ("seen.csv", "user,behaviour\nann,\nann,x\n,x\nbob,\n,y\n,z\n,\n"),
    ("seen.tsv", "user\tbehaviour\nann\t\nann\tx\n\tx\nbob\t\n\ty\n\tz\n\t\n"),
    (
        "seen.jsonl",
        """{"user": "ann"}
        {"user": "ann", "behaviour": "x"}
        {"behaviour": "x"}
        {"user": "bob", "behaviour": null}
        {"behaviour": "y"}
        {"behaviour": "z", "user": null}""",
    ),
]


@pytest.mark.parametrize(
    ("name", "content"), STANDING_ALONE, ids=[name for name, _ in STANDING_ALONE]
)
def test_names_that_only_stand_alone_are_noted(name: str, content: str, tmp_path: Path) -> None:
    """Ann has an edge elsewhere, and so has x: their rows say nothing new."""
    path = tmp_path / name
    path.write_text(content)

    assert [note for note in notes_on(path) if "empty row" not in note] == [
        "no behaviour is named for 1 user ('bob'): it has no edge",
        "no user is named for 2 behaviours ('y', 'z'): they have no edge",
    ]


WEIGHTLESS = [
    ("seen.csv", "user,behaviour,weight\nann,x,0\nann,y,2\nbob,x,0.0\n"),
    ("seen.jsonl", '{"user":1,"behaviour":1,"weight":0}\n{"user":1,"behaviour":2,"weight":0.0}\n'),
    ("seen.json", '{"edges": [["ann", "x", 0], ["ann", "y", 1], ["bob", "x", 0.0]]}'),
    ("seen.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0\n1 2 2\n2 1 0.0\n"),
]


@pytest.mark.parametrize(("name", "content"), WEIGHTLESS, ids=[name for name, _ in WEIGHTLESS])
def test_edges_of_weight_0_are_noted(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert notes_on(path) == ["2 edges of weight 0 are no edges; left out"]


def test_edges_of_weight_0_are_noted_in_binary_files(tmp_path: Path) -> None:
    matrix = scipy.sparse.coo_array(([0.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
    scipy.sparse.save_npz(tmp_path / "seen.npz", matrix)
    table = pl.DataFrame({"user": ["ann", "bob"], "behaviour": ["x", "y"], "weight": [0.0, 2.0]})
    table.write_parquet(tmp_path / "seen.parquet")

    for name in ("seen.npz", "seen.parquet"):
        assert notes_on(tmp_path / name) == ["1 edge of weight 0 is no edge; left out"]


def test_zeros_of_a_dense_matrix_need_no_note(tmp_path: Path) -> None:
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0.0\n1\n")

    assert notes_on(path) == []


REPEATED = [
    ("seen.csv", "user,behaviour\nann,x\nann,x\n", "1 row repeats an edge; kept once"),
    ("seen.json", '{"edges": [["a", "x"], ["a", "x"]]}', "1 entry repeats an edge; kept once"),
    ("seen.json", '{"a": ["x", "x", "x"]}', "2 entries repeat an edge; kept once"),
    ("seen.jsonl", '{"user":1,"behaviour":2}\n' * 2, "1 line repeats an edge; kept once"),
]


@pytest.mark.parametrize(("name", "content", "note"), REPEATED)
def test_edges_given_twice_are_noted(name: str, content: str, note: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert notes_on(path) == [note]


def test_more_users_than_behaviours_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour\nann,x\nbob,x\n")

    assert repr(read(path)) == "Graph(2 users, 1 behaviour, 2 edges)"


def test_fractions_and_zero_weights_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("user,behaviour,weight\nann,x,1/3\nann,y,0\nbob,y,2.5e0\n")

    with pytest.warns(FileNote, match="1 edge of weight 0 is no edge"):
        graph = read(path)

    assert graph.to_edges() == [("ann", "x", Fraction(1, 3)), ("bob", "y", Fraction(5, 2))]


def test_scipy_reads_our_npz_and_we_read_scipys(tmp_path: Path) -> None:
    write(WEIGHTS, tmp_path / "ours.npz")
    ours = scipy.sparse.load_npz(tmp_path / "ours.npz")
    assert ours.toarray().tolist() == WEIGHTS.to_scipy().toarray().tolist()
    for layout in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(tmp_path / "theirs.npz", WEIGHTS.to_scipy().asformat(layout))
        theirs = read(tmp_path / "theirs.npz")
        assert theirs == Graph.from_biadjacency(WEIGHTS.to_scipy())


def test_matrix_market_without_names_and_as_dense_array(tmp_path: Path) -> None:
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n% note\n2 3 2\n1 1\n2 3\n")
    assert read(path).to_rows() == ["100", "001"]
    path.write_text("%%MatrixMarket matrix array integer general\n2 2\n1\n0\n1\n1\n")
    assert read(path).to_rows() == ["11", "01"]


def test_json_of_users_with_their_behaviours(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    path.write_text('{"ann": ["x", "y"], "bob": ["x"], "cem": []}')

    assert read(path).to_rows() == ["11", "10", "00"]


def test_parquet_of_categories(tmp_path: Path) -> None:
    path = tmp_path / "seen.parquet"
    frame = pl.DataFrame({"user": ["b", "a", "b"], "behaviour": ["x", "x", "y"]})
    frame.with_columns(pl.all().cast(pl.Categorical)).write_parquet(path)

    assert read(path).to_edges() == [("b", "x"), ("b", "y"), ("a", "x")]


def test_a_name_with_wildcards_is_just_a_name(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_text("user,behaviour\nann,x\n")
    (tmp_path / "a*.csv").write_text("user,behaviour\nbob,y\n")

    assert read(tmp_path / "a*.csv").users == ("bob",)


def test_writing_replaces_the_file_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    write(NAMED, path)
    before = path.read_bytes()

    with pytest.raises(InputError, match="tuple"):
        write(Graph.from_edges([("ann", (1, 2))]), path)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ALL)
def test_names_that_files_cannot_hold_are_refused(suffix: str, tmp_path: Path) -> None:
    for graph in (
        Graph.from_edges([(("a", 1), "x")]),
        Graph.from_edges([("a", 1.5)]),
        Graph.from_edges([(True, "x")]),
    ):
        with pytest.raises(InputError, match=r"graph.*(whole number|surrogate)"):
            write(graph, tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_half_a_character_in_a_name_is_refused(tmp_path: Path) -> None:
    for suffix in (".csv", ".json", ".jsonl", ".parquet"):
        with pytest.raises(InputError, match=r"UTF-8|surrogate"):
            write(Graph.from_edges([("\ud800", "x")]), tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_large_factorisation_agrees_with_a_dictionary() -> None:
    """More rows than one chunk, random and grouped, text and numbers."""
    rng = np.random.default_rng(5)
    shuffled = rng.integers(0, 50_000, 400_000)
    for numbers in (shuffled, np.sort(shuffled), np.repeat(shuffled[:4000], 100)):
        for values in (pl.Series(numbers), pl.Series(numbers).cast(pl.String)):
            codes, different = factorise(values)
            counts: dict[object, int] = {}
            expected = [counts.setdefault(value, len(counts)) for value in values.to_list()]
            assert codes.tolist() == expected
            assert different.to_list() == list(counts)


@pytest.mark.parametrize("kinds", [1, 2, 50])
def test_names_whose_hashes_collide_are_told_apart(kinds: int) -> None:
    values = pl.Series(np.random.default_rng(kinds).integers(0, 300, 2000)).cast(pl.String)
    weak = values.hash().to_numpy() % np.uint64(kinds) << np.uint64(60 - kinds.bit_length())

    codes, different = factorise_hashed(values, weak)

    assert different.to_list() == list(dict.fromkeys(values.to_list()))
    assert different.gather(codes).to_list() == values.to_list()


def test_importing_the_graph_imports_no_reader() -> None:
    """The command line must start fast."""
    heavy = ["polars", "pandas", "networkx", "scipy.sparse", "scipy.stats", "pyarrow"]
    code = (
        "import sys, anonymatch.graph.io.files\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "[]"


# ---- headers


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize(
    "header",
    [
        ("user", "behavior", "weight"),
        ("User", "BEHAVIOUR", "Weight"),
        ("USER", "Behavior", "WEIGHT"),
    ],
)
def test_headers_may_be_american_and_in_any_case(
    tmp_path: Path, suffix: str, header: tuple[str, str, str]
) -> None:
    graph = Graph.from_edges([("ann", "x", 2.0), ("ann", "y", 3.0), ("bob", "y", 4.0)])
    path = tmp_path / f"seen{suffix}"
    write(graph, path)
    if suffix == ".parquet":
        frame = pl.read_parquet(path)
        frame.rename(dict(zip(frame.columns, header, strict=True))).write_parquet(path)
    else:
        separator = "\t" if suffix == ".tsv" else ","
        _, *rest = path.read_text().splitlines()
        path.write_text("\n".join([separator.join(header), *rest]))

    assert read(path) == graph


def test_a_column_by_its_own_name_comes_before_those_like_it(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("User,user,behaviour\nA,ann,x\nB,bob,y\n")

    with pytest.warns(FileNote, match="ignored columns: 'User'"):
        graph = read(path)

    assert graph.users == ("ann", "bob")


def test_frames_may_have_other_headers_too() -> None:
    columns = {"User": ["ann", "bob"], "Behavior": ["x", "y"]}

    assert Graph.from_frame(pl.DataFrame(columns)) == Graph.from_edges([("ann", "x"), ("bob", "y")])
    pandas = pytest.importorskip("pandas")
    assert Graph.from_frame(pandas.DataFrame(columns)).users == ("ann", "bob")
