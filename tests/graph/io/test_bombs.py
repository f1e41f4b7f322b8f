"""Small files that would fill the memory, or keep a reader busy for hours, are refused at once."""

from __future__ import annotations

import gzip
import io
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anonymatch.base.errors import InputError
from anonymatch.graph.graph import Graph
from anonymatch.graph.io.files import read, write
from anonymatch.mixes.formats.message_files import read_messages
from anonymatch.mixes.formats.mixmatch import read_flow_pairs
from anonymatch.tabular import limits


def packed(head: bytes, unit: bytes, times: int) -> bytes:
    """Gzip of a head and very many equal pieces, of which one is compressed."""
    many = max(1, (1 << 22) // len(unit))
    return gzip.compress(head, mtime=0) + gzip.compress(unit * many, mtime=0) * (times // many)


BOMBS = {
    "blank.csv.gz": (b"user,behaviour\na,b\n", b"\n", 60_000_000),
    "equal.csv.gz": (b"user,behaviour\n", b"a,b\n", 30_000_000),
    "wide.csv.gz": (b"user,behaviour" + b"," * 1000 + b"\na,b" + b"," * 1000 + b"\n", b"\n", 10**7),
    "blank.jsonl.gz": (b'{"user":0,"behaviour":1}\n', b"\n", 60_000_000),
    "zeros.json.gz": (b'{"a":[', b"0,", 60_000_000),
    "matrix.mtx.gz": (
        b"%%MatrixMarket matrix coordinate pattern general\n1 1 30000000\n",
        b"1 1\n",
        30_000_000,
    ),
}


@pytest.mark.grid
@pytest.mark.parametrize("name", BOMBS)
def test_what_unfolds_to_much_memory_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(packed(*BOMBS[name]))
    assert path.stat().st_size < 1_000_000

    with pytest.raises(InputError, match=r"bytes unfold to .* GiB of memory; write it as plain"):
        read(path)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("name", "head", "unit"),
    [
        ("log.csv.gz", b"time,direction,name\n", b"0,in,a\n1,out,b\n"),
        ("log.jsonl.gz", b'{"time":0,"direction":"in","name":"a"}\n', b"{}\n"),
    ],
)
def test_logs_that_unfold_to_much_memory_are_refused(
    name: str, head: bytes, unit: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(packed(head, unit, 30_000_000))

    with pytest.raises(InputError, match=r"bytes unfold to .* GiB of memory"):
        read_messages(path)


def test_equal_rows_of_a_small_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "equal.parquet"
    ones = pl.repeat(1, 40_000_000, dtype=pl.UInt8, eager=True)
    pl.DataFrame({"user": ones, "behaviour": ones}).write_parquet(path)

    with pytest.raises(InputError, match="unfold to a table of 40000000 rows"):
        read(path)


def test_equal_entries_of_a_small_npz_are_refused(tmp_path: Path) -> None:
    path, number = tmp_path / "equal.npz", 40_000_000
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            format=np.array(b"csr"),
            shape=np.array([1, 1]),
            data=np.ones(number, dtype=np.int8),
            indices=np.zeros(number, dtype=np.int8),
            indptr=np.array([0, number]),
        )

    with pytest.raises(InputError, match="unfold to a matrix of 40000000 entries"):
        read(path)


def test_plain_text_of_blank_lines_is_judged_by_the_memory_that_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank line is one byte, and a row of nulls."""
    path = tmp_path / "blank.csv"
    path.write_bytes(b"user,behaviour\na,b\n" + b"\n" * 100_000)
    monkeypatch.setattr(limits, "free_memory", lambda: 5_000_000)

    with pytest.raises(InputError, match="a table of 100002 rows would need about"):
        read(path)


@pytest.mark.slow
def test_honest_compressed_files_are_read(tmp_path: Path) -> None:
    names = [(f"user {at % 5000}", f"behaviour {at * 7 % 9001}") for at in range(60_000)]
    for suffix in (".csv.gz", ".json.gz", ".jsonl.gz", ".parquet", ".npz"):
        write(Graph.from_edges(names), tmp_path / f"graph{suffix}")
        assert read(tmp_path / f"graph{suffix}").n_edges == len(set(names))


def test_millions_of_empty_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_bytes(b"user,behaviour" + b"," * 5_000_000 + b"\na,b" + b"," * 5_000_000 + b"\n")

    with pytest.raises(InputError, match="line 1: 5000002 columns; at most 100000 are read"):
        read(path)


def test_lines_that_all_have_other_keys_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = ['{"time": 0, "direction": "in", "name": "a"}', '{"time": 1, "direction": "out"']
    rows[1] += ', "name": "b", "deep": ' + "[" * 900 + "]" * 900 + "}"
    rows += [f'{{"time": 2, "direction": "out", "name": "c", "k{at}": 0}}' for at in range(40_000)]
    path.write_text("\n".join(rows))

    log = read_messages(path)

    assert (log.n_in, log.n_out) == (1, 40_001)
    assert "ignored columns: 'deep', 'k0'" in log.notes[0]


def test_a_matrix_with_more_entries_than_it_declares_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "matrix.mtx"
    head = "%%MatrixMarket matrix coordinate pattern general\n1 1 2\n"
    path.write_text(head + "1 1\n" * 2_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(InputError, match="it holds 3 entries or more but declares 2"):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_few_packets_over_a_long_time_are_refused(tmp_path: Path) -> None:
    day = 86_400 * 10**9
    side = f'{{"to_gateway": [[0, 9]], "from_gateway": [[{2 * day}, 9]]}}'
    for pair in range(60):
        (tmp_path / str(pair)).mkdir()
        text = f'{{"initiator": {side}, "responder": {side}}}'
        (tmp_path / str(pair) / "flowpair.json").write_text(text)

    with pytest.raises(InputError, match=r"ticks of 120 flows, .* GiB of memory; allow a longer"):
        read_flow_pairs(tmp_path)


# ---- what is printed, and what ends the process

ABORT = Path(__file__).parents[2] / "golden" / "fuzz" / "abort" / "named.parquet"
PANIC = Path(__file__).parents[2] / "golden" / "fuzz" / "panic-2" / "plain.parquet"


@pytest.mark.grid
@pytest.mark.parametrize("path", [ABORT, PANIC], ids=["abort", "panic"])
def test_a_damaged_parquet_prints_one_line_of_ours(path: Path) -> None:
    """polars prints a panic, or ends the process that reads it."""
    done = subprocess.run(
        [sys.executable, "-m", "anonymatch", "count", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert not done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert f"{path}: the Parquet data is damaged (" in done.stderr


def test_what_others_print_while_a_file_is_read_comes_out_after_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    from anonymatch.tabular.guards import without_panics

    with without_panics():
        os.write(2, b"progress 50 %\n")
        os.write(2, b"and more\n")
    assert capfd.readouterr().err == "progress 50 %\nand more\n"
    with without_panics():
        os.write(2, b"before\n\nthread 'polars-1' (7) panicked at lib.rs:1:2:\nboom\n")
    assert capfd.readouterr().err == "before\n"
    with without_panics():
        os.write(2, b"\nthread '<unnamed>' panicked at lib.rs:1:2:\nboom\n")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("program", ["/no/such/program", "/bin/false"])
def test_a_good_parquet_is_read_where_no_process_can_be_started(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonymatch.tabular import guards as other_process

    path = tmp_path / "graph.parquet"
    write(Graph.from_rows(["11", "01"]), path)
    other_process._end()
    monkeypatch.setattr(sys, "executable", program)

    assert read(path).n_edges == 3


def test_a_process_that_ended_by_itself_is_started_again(tmp_path: Path) -> None:
    from anonymatch.tabular import guards as other_process

    path = tmp_path / "graph.parquet"
    write(Graph.from_rows(["11", "01"]), path)
    assert not other_process.why_unreadable(path)
    running = other_process._other
    assert running is not None
    running._process.kill()

    assert not other_process.why_unreadable(path, ["user"])
    assert "ends the process" in other_process.why_unreadable(ABORT, ["user", "behaviour"])
    assert not other_process.why_unreadable(path)


def test_headers_of_arrays_are_never_run_as_python(tmp_path: Path) -> None:
    path = tmp_path / "matrix.npz"
    header = b"{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (1,), }\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        size = len(header).to_bytes(2, "little")
        archive.writestr("format.npy", b"\x93NUMPY\x01\x00" + size + header + bytes(8))
    path.write_bytes(stream.getvalue())

    with pytest.raises(InputError, match=r"array 'format.npy' has the header .* save it again"):
        read(path)
