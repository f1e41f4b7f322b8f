"""Every format of tables gives the same table; errors name the file, the line and the column."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.mixes import open_observation
from anonymatch.tabular import Column, Columns, header, name_codes, read_table

COLUMNS = Columns(
    Column("who", ("name",), required=True),
    Column("when", ("time",), kind="time"),
    Column("weight"),
    Column("sure"),
)
ROWS = [("ann", 1.5, "yes"), ("bob", 2.0, "no"), ("ann", 4.0, None)]


def written(
    folder: Path, suffix: str, titles: tuple[str, ...] = ("Name", "WEIGHT", "sure")
) -> Path:
    path = folder / f"table{suffix}"
    frame = pl.DataFrame(ROWS, schema=list(titles), orient="row")
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".jsonl":
        frame.write_ndjson(path)
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_csv(path, separator="\t" if suffix == ".tsv" else ";")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".jsonl"])
def test_formats_agree(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix)
    table = read_table(path, COLUMNS)

    assert header(path) == ["Name", "WEIGHT", "sure"]
    assert table.titles == {"who": "Name", "weight": "WEIGHT", "sure": "sure"}
    assert table.text("who").to_list() == ["ann", "bob", "ann"]
    assert table.numbers("weight").tolist() == [1.5, 2.0, 4.0]
    flags = table.flags(None, "sure", "absent")
    assert flags is not None
    assert flags.tolist() == [True, False, False]
    codes, names = name_codes(table.text("who"))
    assert (codes.tolist(), names.to_list()) == ([0, 1, 0], ["ann", "bob"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("who,weight\nann,1\n\nbob,x\n", "line 4: weight is 'x'; give a finite number"),
        ("who,weight\nann,\n", "line 2: weight is empty; give a finite number"),
        ('who,weight\n"a\nb",1\nbob,inf\n', "line 4: weight is 'inf'"),
        ("weight\n1\n", "there is no column 'who'; the columns are 'weight'"),
        ("who,name\na,b\n", "columns 'who' and 'name' mean the same; keep one"),
        ("who,who\na,b\n", "line 1: column 'who' is there twice; keep one"),
        ("who,weight\nann\n", "line 2: 1 field, but the header has 2"),
        ("who,weight\n", "it has columns and no rows"),
    ],
)
def test_what_is_wrong_has_its_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(am.InputError) as caught:
        read_table(path, COLUMNS).numbers("weight")

    assert str(caught.value).startswith(f"{path}: {says}")


def test_gaps_are_not_numbers_where_they_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("who,weight\nann,\nbob,2\n")

    assert np.array_equal(
        read_table(path, COLUMNS).numbers("weight", gaps=True), [np.nan, 2.0], equal_nan=True
    )


def test_callers_name_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("src,weight\nann,1\n")

    assert read_table(path, COLUMNS, names={"who": "SRC"}).text("who").to_list() == ["ann"]
    with pytest.raises(am.InputError, match="no column is called 'whom' here; known are who"):
        read_table(path, COLUMNS, names={"whom": "src"})
    with pytest.raises(am.InputError, match="name them with columns='who=COLUMN'"):
        read_table(path, COLUMNS, names={})


def test_rings_may_be_json_lines(tmp_path: Path) -> None:
    rows = [{"ring": "a", "member": 1}, {"ring": "a", "member": 2}, {"ring": "b", "member": 2}]
    lines, text = tmp_path / "rings.jsonl", tmp_path / "rings.csv"
    pl.DataFrame(rows).write_ndjson(lines)
    pl.DataFrame(rows).write_csv(text)

    assert open_observation(lines).graph == open_observation(text).graph == am.read(lines)
