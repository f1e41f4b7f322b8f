"""Message logs in files: what is written comes back, and what is wrong is said in one line."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymatch.base.errors import InputError
from anonymatch.mixes.formats.message_files import read_messages, write_messages
from anonymatch.mixes.logs.messages import Messages, in_words
from anonymatch.mixes.synthetic import synthesize

HEAD = "time,direction,user,behaviour\n"


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def same(left: Messages, right: Messages) -> bool:
    arrays = ("truth", "cover", "lost")
    for name in ("arrivals", "departures"):
        times = (getattr(log, name) + log.origin for log in (left, right))
        if not np.array_equal(next(times), next(times)):
            return False
    return (left.senders, left.receivers) == (right.senders, right.receivers) and all(
        (getattr(left, name) is None) == (getattr(right, name) is None)
        and np.array_equal(getattr(left, name), getattr(right, name))
        for name in arrays
        if getattr(left, name) is not None or getattr(right, name) is not None
    )


# ---- what is written comes back

SUFFIXES = ("csv", "tsv", "parquet", "jsonl", "csv.gz", "tsv.gz", "jsonl.gz")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_written_logs_are_read_back(suffix: str, tmp_path: Path) -> None:
    made = synthesize("threshold:3", messages=40, users=5, receivers=4, cover=0.2, loss=0.1, seed=7)
    path = tmp_path / f"log.{suffix}"
    write_messages(made, path)
    log = read_messages(path)

    assert same(log, made)
    assert all("the time and name of another" in note for note in log.notes)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@given(st.data())
def test_any_log_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    times = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5)
    came, left = data.draw(times), data.draw(times)
    names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
    size = st.just(None) | st.lists(st.booleans(), min_size=len(left), max_size=len(left))
    made = Messages.in_order(
        arrivals=came,
        departures=left,
        senders=[data.draw(names) for _ in came],
        receivers=[data.draw(names) for _ in left],
        cover=data.draw(size),
    )
    path = tmp_path_factory.mktemp("log") / f"log.{data.draw(st.sampled_from(SUFFIXES))}"
    write_messages(made, path)

    assert same(read_messages(path), made)


def test_whole_numbers_stay_names_in_parquet(tmp_path: Path) -> None:
    made = Messages(arrivals=np.r_[0.0], departures=np.r_[1.0], senders=(7,), receivers=("x",))
    write_messages(made, tmp_path / "log.parquet")

    assert read_messages(tmp_path / "log.parquet").senders == (7,)


# ---- how logs may be written


@pytest.mark.parametrize(
    "text",
    [
        "time,direction,user,behaviour\n0,in,ann,\n1,in,bob,\n2,out,,x\n3,out,,y\n",
        "Time,DIRECTION,Name\n0,IN,ann\n1,Enter,bob\n2,out,x\n3,Leave,y\n",
        "id,timestamp,dir\nann,0,sent\nbob,1,sent\nx,2,received\ny,3,received\n",
        "direction,behavior,user,time\nout,x,,2\nout,y,,3\nin,,ann,0\nin,,bob,1\n",
        "\ufeffwho,time,direction\r\nann,0.0,in\r\nbob,1e0,in\r\nx,2,out\r\n\r\ny,3,out\r\n",
    ],
)
def test_one_log_in_many_spellings(text: str, tmp_path: Path) -> None:
    log = read_messages(put(tmp_path / "log.csv", text))

    assert log.senders == ("ann", "bob")
    assert log.receivers == ("x", "y")
    assert log.arrivals.tolist() == [0, 1]
    assert log.departures.tolist() == [2, 3]
    assert all(known is None for known in (log.truth, log.cover, log.lost))


def test_two_files_need_no_directions(tmp_path: Path) -> None:
    first = put(tmp_path / "in.csv", "time,user,message\n0,ann,p\n1,bob,q\n")
    second = tmp_path / "out.tsv.gz"
    second.write_bytes(gzip.compress(b"time\tbehaviour\tmessage\n2\tx\tq\n3\ty\tr\n"))
    log = read_messages(first, second)

    assert (log.senders, log.receivers) == (("ann", "bob"), ("x", "y"))
    assert log.truth is not None
    assert log.truth.tolist() == [-1, 0]


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_units(unit: str, scale: int, tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", f"{HEAD}{2 * scale},in,ann,\n{5 * scale},out,,x\n")
    log = read_messages(path, unit=unit)

    assert (log.arrivals.tolist(), log.departures.tolist()) == ([2.0], [5.0])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-05-01T10:00:00", "2024-05-01T10:00:02.500"),
        ("2024-05-01 10:00:00.000001", "2024-05-01 10:00:02.500001"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:02.5Z"),
        ("2024-05-01T10:00Z", "2024-05-01T12:00:02.5+02:00"),
        ("2024-05-01T10:00:00+0000", "2024-05-01T08:00:02.5-0200"),
    ],
)
def test_date_times(first: str, second: str, tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", f"{HEAD}{first},in,ann,\n{second},out,,x\n")
    log = read_messages(path)
    began = datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp()

    assert log.arrivals[0] + log.origin == pytest.approx(began, abs=2e-6)
    assert log.departures[0] - log.arrivals[0] == pytest.approx(2.5, abs=1e-6)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_date_times_of_parquet(zone: str | None, tmp_path: Path) -> None:
    began = datetime(2024, 5, 1, 10)
    times = pl.Series([began, began + timedelta(seconds=3)]).cast(pl.Datetime("us", zone))
    frame = pl.DataFrame({"time": times, "direction": ["in", "out"], "id": [1, 2]})
    frame.write_parquet(tmp_path / "log.parquet")
    log = read_messages(tmp_path / "log.parquet")

    assert log.departures[0] - log.arrivals[0] == 3
    assert (log.senders, log.receivers) == ((1,), (2,))


def test_flags_and_truth(tmp_path: Path) -> None:
    text = (
        "time,direction,name,message,cover,dummy\n"
        "0,in,ann,1,,no\n1,in,bob,,,1\n2,in,cem,2,,\n"
        "3,out,x,2,False,\n4,out,y,,TRUE,\n5,out,z,1,0,\n"
    )
    log = read_messages(put(tmp_path / "log.csv", text))

    assert log.truth is not None
    assert log.cover is not None
    assert log.lost is not None
    assert log.truth.tolist() == [2, -1, 0]
    assert log.cover.tolist() == [False, True, False]
    assert log.lost.tolist() == [False, True, False]


def test_a_dummy_that_goes_all_the_way_is_flagged_at_both_ends(tmp_path: Path) -> None:
    text = LINKED + "0,in,ann,1,true\n1,in,bob,2,\n2,out,x,1,true\n3,out,y,2,\n"
    log = read_messages(put(tmp_path / "log.csv", text))

    assert log.truth is not None
    assert log.cover is not None
    assert log.lost is not None
    assert log.truth.tolist() == [0, 1]
    assert log.cover.tolist() == [True, False]
    assert log.lost.tolist() == [True, False]


# ---- what is noted


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("1,in,ann,\n0,in,bob,\n2,out,,x\n", "line 3: the time goes back, from 1 to 0 s"),
        ("0,in,ann,\n0,in,ann,\n0,in,ann,\n2,out,,x\n", "line 3: 2 messages in repeat the time"),
        (
            "1700000000,in,a,\n1700000001,in,b,\n1700000002000,out,,x\n1700000003000,out,,y\n",
            "line 4: no time is between 1.7e+09 and 1.7e+12 s; check the unit",
        ),
        ("0,in,ann,\n,,,\n2,out,,x\n", "ignored 1 empty row"),
    ],
)
def test_what_is_odd_is_noted(rows: str, expected: str, tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", HEAD + rows)
    notes = read_messages(path).notes

    assert len(notes) == 1
    assert notes[0].startswith(f"{path}: {expected}")


def test_honest_times_get_no_note(tmp_path: Path) -> None:
    for seed, law in enumerate(("window:1,3", "exponential:1000", "timed:0.001")):
        write_messages(synthesize(law, messages=500, seed=seed), tmp_path / "log.csv")
        assert read_messages(tmp_path / "log.csv").notes == ()


def test_other_columns_are_noted(tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", "time,direction,name,size\n0,in,ann,1\n1,out,x,1\n")

    assert read_messages(path).notes == (f"{path}: ignored columns: 'size'",)


# ---- what is refused

LINKED = "time,direction,name,message,cover\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "it is empty"),
        ("time,direction,name\n", "it has columns and no rows; add one row a message"),
        ("time,direction,name\n,,\n", "it has columns and no rows"),
        (
            "direction,name\nin,ann\n",
            "no column 'time' or 'entered'; the columns are 'direction', 'name'",
        ),
        ("time,name\n0,ann\n", "no column 'direction'"),
        ("time,direction,user\n0,in,ann\n", "no column 'behaviour'; the columns are"),
        ("time,direction,name,id\n0,in,a,b\n", "columns 'name' and 'id' mean the same; keep one"),
        ("time,Time,direction,name\n0,0,in,a\n", "columns 'time' and 'Time' mean the same"),
        (HEAD + "0,in,ann,\n1,through,,x\n", "line 3: the direction is 'through'; write in or out"),
        (HEAD + "0,1,ann,\n1,0,,x\n", "line 2: the direction is '1'; write in or out"),
        (HEAD + "0,in,ann,\n1,,,x\n", "line 3: there is no direction"),
        (HEAD + "0,in,ann,\n,out,,x\n", "line 3: there is no time"),
        (HEAD + "0,in,ann,\nsoon,out,,x\n", "line 3: the time is 'soon'; give seconds or ISO"),
        (HEAD + "0,in,ann,\nnan,out,,x\n", "line 3: the time is 'nan'"),
        (HEAD + "-inf,in,ann,\n1,out,,x\n", "line 2: the time is '-inf'"),
        (
            HEAD + "0,in,ann,\n2024-05-01T10:00:00,out,,x\n",
            "line 3: the time is '2024-05-01T10:00:00', but the rows before have numbers",
        ),
        (
            HEAD + "2024-05-01T10:00:00,in,ann,\n\n7,out,,x\n",
            "line 4: the time is '7', but the rows before have date-times",
        ),
        (
            HEAD + "2024-05-01T10:00:00Z,in,ann,\n2024-05-01T10:00:00,out,,x\n",
            "line 3: the time '2024-05-01T10:00:00' has no time zone, unlike the rows before",
        ),
        (HEAD + "2024-13-01T10:00:00,in,a,\n2024-05-01T10:00:00,out,,x\n", "line 2: the time is"),
        (HEAD + "0,in,,x\n1,out,,x\n", "line 2: there is no user"),
        (HEAD + "0,in,ann,\n1,out,bob,\n", "line 3: there is no behaviour"),
        (HEAD + "0,in,ann,\n1,in,bob,\n", "no row has the direction out"),
        (HEAD + "0,in,ann\n", "line 2: 3 fields, but the header has 4"),
        (
            LINKED + "0,in,ann,1,\n1,in,bob,1,\n2,out,x,1,\n",
            "line 3: message '1' is there twice on one side, first in line 2; keep one",
        ),
        (
            LINKED + "5,in,ann,1,\n2,out,x,1,\n",
            "line 3: the message of 'ann' leaves at 2 s, before it comes in at 5 s; check",
        ),
        (LINKED + "0,in,ann,1,\n2,out,x,1,true\n", "line 3: the message is nobody's by its flag"),
        (LINKED + "0,in,ann,1,true\n2,out,x,1,\n", "line 2: the message never comes out by its"),
        (LINKED + "0,in,ann,1,\n2,out,x,1,perhaps\n", "line 3: cover is 'perhaps'; write true or"),
    ],
)
def test_bad_logs_are_refused_in_one_line(text: str, expected: str, tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", text)
    with pytest.raises(InputError) as caught:
        read_messages(path)

    assert str(caught.value).startswith(f"{path}: {expected}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n", "it is empty"),
        ('{"time": 0, "direction": "in", "id": 1}\n\n{"time": 1,\n', "line 3: no JSON at column"),
        ("[1]\n", "line 1: need an object"),
        (
            '{"time": 0, "direction": "in", "id": 1}\n\n{"time": 1, "direction": "no", "id": 1}\n',
            "line 3: the direction is 'no'",
        ),
        ('{"time": 0, "direction": "in", "id": 1.5}\n', "column 'name' holds Float64"),
        ('{"time": true, "direction": "in", "id": 1}\n', "column 'time' holds Boolean"),
        ('{"time": 0, "direction": "in"}\n', "no row has the direction out"),
    ],
)
def test_bad_json_lines_are_refused_in_one_line(text: str, expected: str, tmp_path: Path) -> None:
    path = put(tmp_path / "log.jsonl", text)
    with pytest.raises(InputError) as caught:
        read_messages(path)

    assert str(caught.value).startswith(f"{path}: {expected}")
    assert "\n" not in str(caught.value)


def test_rows_of_parquet_are_counted_from_one(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"time": [0.0, None], "direction": ["in", "out"], "id": [1, 2]}).write_parquet(
        path
    )

    with pytest.raises(InputError, match="row 2: there is no time"):
        read_messages(path)


def test_two_files_must_have_one_clock(tmp_path: Path) -> None:
    first = put(tmp_path / "in.csv", "time,user\n0,ann\n")
    second = put(tmp_path / "out.csv", "time,behaviour\n2024-05-01T10:00:00,x\n")
    third = put(tmp_path / "then.csv", "time,user\n2024-05-01T10:00:00,ann\n")

    with pytest.raises(InputError, match=r"out.csv: its times are date-times, but those of"):
        read_messages(first, second)
    with pytest.raises(InputError, match="its times are date-times; leave unit='ms' out"):
        read_messages(third, second, unit="ms")


def test_other_arguments_are_refused(tmp_path: Path) -> None:
    log = synthesize("window:1,2", messages=2)
    with pytest.raises(InputError, match="its suffix tells no known format of message logs"):
        read_messages(tmp_path / "log.pcap")
    with pytest.raises(InputError, match="there is no such file"):
        read_messages(tmp_path / "log.csv")
    with pytest.raises(InputError, match="its suffix tells no known format"):
        write_messages(log, tmp_path / "log.parquet.gz")
    with pytest.raises(InputError, match="need Messages, not list"):
        write_messages([], tmp_path / "log.csv")  # type: ignore[arg-type]
    write_messages(log, tmp_path / "log.csv")
    with pytest.raises(InputError, match="unit must be one of s, ms, us, ns, not 'hours'"):
        read_messages(tmp_path / "log.csv", unit="hours")
    odd = Messages(arrivals=np.r_[0.0], departures=np.r_[1.0], senders=((1, 2),), receivers=("x",))
    with pytest.raises(InputError, match="is a tuple; files hold names"):
        write_messages(odd, tmp_path / "odd.csv")
    assert not (tmp_path / "odd.csv").exists()


# ---- dates that no nanosecond since 1970 reaches, and types that are no text


@pytest.mark.parametrize("year", [1600, 1677, 2262, 9999])
def test_far_dates_are_refused(tmp_path: Path, year: int) -> None:
    rows = f"2026-01-01T00:00:00,in,ann,\n{year}-12-30T00:00:00,out,,x\n"
    with pytest.raises(InputError, match=f"line 3: the time is '{year}-.* 1678 to 2261"):
        read_messages(put(tmp_path / "log.csv", HEAD + rows))


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("us", "UTC")])
@pytest.mark.parametrize("far", [-(2**31), 2**31 - 1])
def test_far_dates_of_parquet_are_refused(tmp_path: Path, kind: pl.DataType, far: int) -> None:
    numbers = pl.Series("time", [0, far * (1 if kind == pl.Date else 10**8)])
    times = numbers.cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    columns = {"direction": ["in", "out"], "user": ["ann", None], "behaviour": [None, "x"]}
    path = tmp_path / "log.parquet"
    pl.DataFrame(columns).insert_column(0, times).write_parquet(path)
    with pytest.raises(InputError, match=r"row 2: the time is too far away; .* 1678 to 2261"):
        read_messages(path)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("direction", [["in"], ["out"]]),
        ("message", [[1], [1]]),
        ("message", [b"1", b"1"]),
        ("time", [{"s": 0}, {"s": 1}]),
        ("cover", [datetime(2026, 1, 1), None]),
    ],
)
def test_columns_of_lists_are_named(tmp_path: Path, column: str, values: list[object]) -> None:
    columns = {
        "time": [0.0, 2.0],
        "direction": ["in", "out"],
        "user": ["ann", None],
        "behaviour": [None, "x"],
        column: values,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match=rf"log\.parquet: column '{column}' holds .*; give text"):
        read_messages(tmp_path / "log.parquet")


def test_lists_in_json_lines_are_named(tmp_path: Path) -> None:
    row = '{"time": 0, "direction": ["in"], "name": "a"}\n'
    with pytest.raises(InputError, match="line 1: 'direction' is a list; give text or numbers"):
        read_messages(put(tmp_path / "log.jsonl", row))


# ---- date-times, units and directions as people write them


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("zone", ["", "Z"])
def test_date_times_come_back_as_date_times(tmp_path: Path, suffix: str, zone: str) -> None:
    rows = (
        f"2026-11-02T09:00:00{zone},in,ann,\n"
        f"2026-11-02T09:00:00.250001{zone},in,bob,\n"
        f"2026-11-02T09:00:03{zone},out,,x\n"
    )
    log = read_messages(put(tmp_path / "log.csv", HEAD + rows))
    path = tmp_path / f"again.{suffix}"
    write_messages(log, path)
    again = read_messages(path)

    assert same(log, again)
    assert again.dates == log.dates == ("UTC" if zone else "local")
    assert repr(again).endswith(f"2026-11-02T09:00:00{zone} to 2026-11-02T09:00:03{zone})")
    if suffix in ("csv", "tsv", "jsonl"):
        assert f"2026-11-02T09:00:00.250001{zone}" in path.read_text()


@given(st.integers(0, 4 * 10**15))
def test_date_times_are_shown_to_the_microsecond(micros: int) -> None:
    shown = in_words(micros / 1e6, "UTC")

    # Seconds since 1970 in float64 are good to a quarter of a microsecond.
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    assert datetime.fromisoformat(shown) == moment


def test_several_time_zones_are_converted_and_told(tmp_path: Path) -> None:
    rows = (
        "2025-11-16T18:00:00Z,in,ann,\n2025-11-16T20:00:01+02:00,in,bob,\n"
        "2025-11-16T13:00:02-0500,out,,x\n2025-11-16T18:00:03+00:00,out,,y\n"
    )
    log = read_messages(put(tmp_path / "log.csv", HEAD + rows))

    assert (log.departures - log.arrivals).tolist() == [2.0, 2.0]
    assert log.arrivals[1] - log.arrivals[0] == 1.0
    assert [note for note in log.notes if "converted to UTC" in note]


def test_one_time_zone_needs_no_note(tmp_path: Path) -> None:
    rows = "2025-11-16T18:00:00Z,in,ann,\n2025-11-16T18:00:03+00:00,out,,y\n"

    assert read_messages(put(tmp_path / "log.csv", HEAD + rows)).notes == ()


@pytest.mark.parametrize(("unit", "many"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_that_look_like_a_smaller_unit_since_1970_are_told(
    tmp_path: Path, unit: str, many: int
) -> None:
    begin = 1_800_000_000 * many
    path = put(tmp_path / "log.csv", f"{HEAD}{begin},in,ann,\n{begin + 2 * many},out,,x\n")
    noted = read_messages(path).notes

    assert len(noted) == 1
    assert f"if they are, give unit='{unit}'" in noted[0]
    assert read_messages(path, unit=unit).notes == ()


@pytest.mark.parametrize("begin", [0, 1_800_000_000, 10**7])
def test_times_in_seconds_need_no_hint_at_units(tmp_path: Path, begin: int) -> None:
    path = put(tmp_path / "log.csv", f"{HEAD}{begin},in,ann,\n{begin + 2},out,,x\n")

    assert read_messages(path).notes == ()


@pytest.mark.parametrize(
    ("inward", "outward"),
    [("send", "recv"), ("Sent", "Received"), ("arrival", "departure"), ("ingress", "egress")],
)
def test_directions_are_known_by_many_words(tmp_path: Path, inward: str, outward: str) -> None:
    log = read_messages(put(tmp_path / "log.csv", f"{HEAD}0,{inward},ann,\n1,{outward},,x\n"))

    assert (log.senders, log.receivers, log.notes) == (("ann",), ("x",), ())


def test_tx_and_rx_are_what_users_do_which_is_told(tmp_path: Path) -> None:
    log = read_messages(put(tmp_path / "log.csv", f"{HEAD}0,tx,ann,\n1,rx,,x\n"))

    assert (log.senders, log.receivers) == (("ann",), ("x",))
    assert log.notes[0].endswith("direction tx as in, rx as out: what users do, not the mix")


def test_rx_and_tx_of_the_mix_are_known_by_the_column_of_users(tmp_path: Path) -> None:
    log = read_messages(put(tmp_path / "log.csv", f"{HEAD}0,rx,ann,\n1,tx,,x\n"))
    assert (log.senders, log.receivers) == (("ann",), ("x",))
    assert log.notes[0].endswith("what the mix does, as rx names users")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tiem,direction,user,behaviour\n0,in,a,\n", "name them with columns='time=tiem'"),
        (
            "time,directoin,user,behaviour\n0,in,a,\n",
            "name them with columns='direction=directoin'",
        ),
        ("time,direction,usr,behavior\n0,in,a,\n", "name them with columns='user=usr'"),
        ("time,direction,user,behaviour\n0,recieved,a,\n", "did you mean 'received'"),
        (
            "time,direction,user,behaviour\n0,ann,a,\n0,bob,a,\n",
            "write in or out (2 rows have none of these)",
        ),
    ],
)
def test_what_is_nearly_right_is_suggested(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read_messages(put(tmp_path / "log.csv", text))

    assert expected in str(caught.value)
