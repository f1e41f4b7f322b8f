"""The same log in every shape that people bring gives the same audit."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.mixes import (
    MessageObservation,
    Messages,
    open_observation,
    read_messages,
    synthesize,
)

ROOT = Path(__file__).parents[3]
LAW = "exponential:2"


@pytest.fixture(scope="module")
def made() -> Messages:
    return synthesize(LAW, messages=60, rate=2.0, users=7, receivers=5, seed=4)


def events(log: Messages, *names: str) -> pl.DataFrame:
    """One row per message seen, under these names of time, direction, user and behaviour."""
    assert log.truth is not None
    rows: list[tuple[float, str, str | None, str | None, int]] = [
        (float(t), "in", str(name), None, k)
        for k, (t, name) in enumerate(zip(log.arrivals, log.senders, strict=True))
    ]
    back = {int(end): k for k, end in enumerate(log.truth) if end >= 0}
    rows += [
        (float(t), "out", None, str(name), back[k])
        for k, (t, name) in enumerate(zip(log.departures, log.receivers, strict=True))
    ]
    titles = [*(names or ("time", "direction", "user", "behaviour")), "message"]
    return pl.DataFrame(sorted(rows), schema=titles, orient="row")


def packets(log: Messages) -> pl.DataFrame:
    """One row per packet."""
    assert log.truth is not None
    ends = [
        (float(log.departures[end]), str(log.receivers[end])) if end >= 0 else (None, None)
        for end in log.truth.tolist()
    ]
    return pl.DataFrame(
        {
            "entered_at": log.arrivals,
            "left_at": [time for time, _ in ends],
            "sender": [str(name) for name in log.senders],
            "receiver": [name for _, name in ends],
        }
    )


def odd(log: Messages) -> pl.DataFrame:
    return events(log, "timestamp_ms", "way", "src", "dst").with_columns(
        pl.col("timestamp_ms") * 1000.0
    )


SHAPES: dict[str, tuple[Callable[[Messages], pl.DataFrame], dict[str, Any]]] = {
    "events": (events, {}),
    "packets": (packets, {}),
    "shuffled packets": (lambda log: packets(log).sample(fraction=1.0, shuffle=True, seed=1), {}),
    "other names": (
        odd,
        {
            "columns": {
                "time": "timestamp_ms",
                "direction": "way",
                "user": "src",
                "behaviour": "dst",
            },
            "unit": "ms",
        },
    ),
    "other names as text": (
        odd,
        {"columns": "time=timestamp_ms,direction=way,user=SRC,behaviour=dst", "unit": "ms"},
    ),
    "packets of other names": (
        lambda log: packets(log).rename({"entered_at": "t0", "left_at": "t1"}),
        {"columns": {"entered": "t0", "left": "t1"}},
    ),
}


def put(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        frame.write_csv(path)
    return path


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_log_gives_the_same_audit_in_every_shape(
    tmp_path: Path, made: Messages, shape: str, suffix: str
) -> None:
    write, how = SHAPES[shape]
    path = put(write(made), tmp_path / f"log.{suffix}")
    audit = am.audit(path, law=LAW, **how)
    expected = am.audit(am.mixes.observe(made, LAW))

    assert audit.entropy.value == pytest.approx(expected.entropy.value, abs=1e-9)
    assert audit.users["user"].to_list() == expected.users["user"].to_list()
    assert audit.users["probability"].to_list() == pytest.approx(
        expected.users["probability"].to_list()
    )
    assert audit.score is not None
    assert expected.score is not None
    assert audit.score.right == expected.score.right


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_log_of_times_and_directions_alone_has_the_same_probabilities(
    tmp_path: Path, made: Messages, suffix: str
) -> None:
    path = put(events(made).select("time", "direction"), tmp_path / f"log.{suffix}")
    audit = am.audit(path, law=LAW)

    expected = am.audit(am.mixes.observe(made, LAW))
    assert audit.entropy.value == pytest.approx(expected.entropy.value, abs=1e-9)
    assert audit.users["user"].to_list()[:2] == ["in 1", "in 2"]
    assert audit.users["guess"].to_list()[0].startswith("out ")


def test_packets_that_never_left_or_never_came_in_are_read(tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    path.write_text("entered_at,left_at,cover\n0,2,false\n1,,false\n,3,false\n1.5,2.5,true\n")
    log = read_messages(path)

    assert log.arrivals.tolist() == [0.0, 1.0, 1.5]
    assert log.departures.tolist() == [2.0, 2.5, 3.0]
    assert log.truth is not None
    assert log.truth.tolist() == [0, -1, 1]
    assert log.lost is not None
    assert log.lost.tolist() == [False, False, True]
    assert log.cover is not None
    assert log.cover.tolist() == [False, True, False]


def test_link_logs_take_names_of_columns(tmp_path: Path) -> None:
    rows = "0,ann,A,1\n1,bob,A,2\n2,A,x,1\n3,A,y,2\n"
    usual, other = tmp_path / "usual.csv", tmp_path / "other.csv"
    usual.write_text(f"time,from,to,message\n{rows}")
    other.write_text(f"ts,src,dst,uid\n{rows}")
    columns = {"time": "ts", "from": "src", "to": "dst", "message": "uid"}
    audits = [
        am.audit(usual, law="exponential"),
        am.audit(other, law="exponential", columns=columns),
    ]

    assert audits[0].entropy == audits[1].entropy
    assert audits[1].score is not None


@pytest.mark.grid(quick=2)
@pytest.mark.parametrize(
    ("header", "row", "option"),
    [
        (
            "timestamp_ms,dir,src,dst",
            "1,in,a,",
            "time=timestamp_ms,user=src,behaviour=dst and --unit ms",
        ),
        ("when,what,who", "1,in,a", "time=when,direction=COLUMN"),
        ("time,direction,src,dst", "1,in,a,b", "user=src,behaviour=dst"),
        ("entered_at,size", "1,2", "left=COLUMN"),
        ("age,zip,illness", "1,2,3", "time=COLUMN,direction=COLUMN"),
        ("time,direction,user", "1,in,a", "behaviour=COLUMN"),
    ],
)
def test_unreadable_columns_are_listed_with_an_option_to_paste(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    header: str,
    row: str,
    option: str,
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{row}\n")

    assert main(["audit", str(path), "--law", LAW]) == 2
    error = capsys.readouterr().err
    found = ", ".join(map(repr, header.split(",")))
    assert f"the columns are {found}; name " in error
    assert error.endswith(f" with --columns {option}\n")
    assert error.count("\n") == 1
    assert "log.csv" in error


def test_the_suggested_columns_read_the_log(
    tmp_path: Path, made: Messages, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(odd(made).rename({"way": "dir"}), tmp_path / "log.csv")
    arguments = ["audit", str(path), "--law", LAW, "--json"]
    assert main(arguments) == 2
    for option in re.findall(r"--(?:columns|unit) \S+", capsys.readouterr().err):
        arguments += option.split()
    assert main(arguments) == 0
    entropy = json.loads(capsys.readouterr().out)["entropy"]["value"]
    assert entropy == pytest.approx(am.audit(am.mixes.observe(made, LAW)).entropy.value)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"tmie": "t"}, "no column is called 'tmie' here; known are time, direction"),
        ({"time": "nowhere"}, "no column 'nowhere'"),
        ("time", "'time' must be MEANING=NAME"),
        ("time=a,time=b", "names 'time' twice"),
        ({"time": "t", "user": "t"}, "gives one column two meanings"),
    ],
)
def test_wrong_names_of_columns_are_refused(tmp_path: Path, columns: Any, says: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text("t,direction,name\n0,in,ann\n1,out,x\n")

    with pytest.raises(am.InputError, match=re.escape(says)):
        am.audit(path, law=LAW, columns=columns)


@pytest.mark.parametrize(
    "header", ["user,behaviour", "age,zip", "round,user,behaviour", "input,output"]
)
def test_a_law_makes_every_table_a_log(tmp_path: Path, header: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n{','.join('1' * len(header.split(',')))}\n")

    with pytest.raises(am.InputError, match="no column 'time' or 'entered'"):
        am.audit(path, law=LAW)


def test_a_law_beside_an_original_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,zip\n1,2\n")

    with pytest.raises(am.InputError, match="law is for message logs and original for released"):
        am.audit(path, law=LAW, original=path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "entered_at,left_at\n0,1\nx,2\n",
            "log.csv: line 3: the time in column 'entered_at' is 'x'",
        ),
        (
            "entered_at,left_at\n0,1\n1,soon\n",
            "log.csv: line 3: the time in column 'left_at' is 'soon'",
        ),
        ("entered_at,left_at\n0,1\n3,2\n", "log.csv: line 3: the message of 'in 2' leaves at 2 s"),
        ("entered_at,left_at\n0,\n1,\n", "no packet is seen to leave: column 'left_at' is empty"),
        ("time,direction\n0,in\n1,sideways\n", "log.csv: line 3: the direction is 'sideways'"),
        ("time,direction\n0,in\n,out\n", "log.csv: line 3: there is no time"),
    ],
)
def test_bad_values_are_refused_in_one_line_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)

    assert main(["audit", str(path), "--law", LAW]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_damaged_logs_of_every_shape_are_read_or_refused_in_one_line(
    tmp_path: Path, made: Messages
) -> None:
    draw = np.random.default_rng(0)
    for shape, (write, how) in SHAPES.items():
        text = write(made).write_csv().encode()
        for k in range(12):
            damaged = bytearray(text)
            for at in draw.integers(0, len(text), 3).tolist():
                damaged[at] = int(draw.integers(32, 127))
            path = tmp_path / f"{shape} {k}.csv"
            path.write_bytes(damaged)
            said = ""
            try:
                read_messages(path, unit=how.get("unit"), columns=how.get("columns"))
            except am.InputError as error:
                said = str(error)
            assert not said or (path.name in said and "\n" not in said)


@pytest.mark.parametrize("law", [None, "erlang:3,0.25"])
def test_a_folder_of_mixim_with_packed_files_gives_the_same_audit(
    tmp_path: Path, law: str | None
) -> None:
    plain, packed = ROOT / "examples" / "mixim", tmp_path / "mixim"
    if not plain.is_dir():
        pytest.skip("no example folder")
    shutil.copytree(plain, packed)
    for file in packed.glob("*.csv"):
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    for path in (packed, packed / "SentMessages.csv.gz"):
        observation = open_observation(path, law=law)

        assert observation.source == open_observation(plain, law=law).source
        assert isinstance(observation, MessageObservation)
        assert observation.arrivals is not None
