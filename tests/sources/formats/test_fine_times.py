"""Nanoseconds since 1970 stay apart in every reader, though float64 cannot hold them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.mixes import observe, read_messages, read_network, write_messages

FIRST = 1_700_000_000_123_456_700  # nanoseconds since 1970
ROWS = [(0, "in", "ann"), (100, "out", "x"), (200, "in", "bob"), (300, "out", "y")]
"""Each message leaves before the next one comes in, 100 ns apart."""


def seconds(after: int) -> str:
    whole, part = divmod(FIRST + after, 10**9)
    return f"{whole}.{part:09d}"


def iso(after: int) -> str:
    return f"{np.datetime64(FIRST + after, 'ns')}Z"


def nanoseconds(after: int) -> str:
    return str(FIRST + after)


WRITTEN: dict[str, tuple[Callable[[int], str], str | None]] = {
    "ns": (nanoseconds, "ns"),
    "s": (seconds, None),
    "iso": (iso, None),
}


def plain_file(path: Path, write: Callable[[int], str]) -> Path:
    """The columns that small logs are read by without polars."""
    lines = [
        f"{write(t)},{word},{'' if word == 'out' else name},{'' if word == 'in' else name}\n"
        for t, word, name in ROWS
    ]
    path.write_text("time,direction,user,behaviour\n" + "".join(lines))
    return path


def named_file(path: Path, write: Callable[[int], str]) -> Path:
    lines = [f"{write(t)};{word};{name};more\n" for t, word, name in ROWS]
    path.write_text("time;direction;name;more\n" + "".join(lines))
    return path


def json_file(path: Path, write: Callable[[int], str]) -> Path:
    quote = '"' if write is iso else ""
    lines = [
        f'{{"time": {quote}{write(t)}{quote}, "direction": "{word}", "name": "{name}"}}\n'
        for t, word, name in ROWS
    ]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize(
    ("name", "put"),
    [("log.csv", plain_file), ("named.csv", named_file), ("log.jsonl", json_file)],
)
def test_text_logs_keep_times_100_ns_apart(
    tmp_path: Path, name: str, put: Callable[[Path, Callable[[int], str]], Path], how: str
) -> None:
    write, unit = WRITTEN[how]
    path = put(tmp_path / name, write)
    for law in ("exponential:1e-7", "window:0,1.5e-7"):
        audit = am.audit(path, law=law, unit=unit, whole_log=True)

        assert audit.identified == 2
        assert audit.users["guess"].to_list() == ["x", "y"]


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (pl.Series([FIRST + row[0] for row in ROWS]), "ns"),
        (pl.Series([FIRST + row[0] for row in ROWS]).cast(pl.Datetime("ns")), None),
        (pl.Series([seconds(row[0]) for row in ROWS]), None),
    ],
    ids=["whole", "datetime", "text"],
)
def test_parquet_keeps_times_100_ns_apart(
    tmp_path: Path, times: pl.Series, unit: str | None
) -> None:
    path = tmp_path / "log.parquet"
    words, names = ([row[k] for row in ROWS] for k in (1, 2))
    pl.DataFrame({"time": times, "direction": words, "name": names}).write_parquet(path)

    assert am.audit(path, law="exponential:1e-7", unit=unit, whole_log=True).identified == 2


def test_negative_times_are_counted_from_the_first_second(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "time,direction,name\n-1700000000.0000002,in,ann\n-1700000000.0000001,out,x\n"
        "-1700000000,in,bob\n-1699999999.9999999,out,y\n"
    )
    log = read_messages(path)

    assert log.arrivals + log.origin == pytest.approx([-1.7e9, -1.7e9])
    delays = np.array([log.departures[0] - log.arrivals[0], log.departures[1] - log.arrivals[1]])
    assert delays == pytest.approx([1e-7, 1e-7], rel=1e-6)


@pytest.mark.parametrize("how", WRITTEN)
def test_links_of_a_network_keep_times_100_ns_apart(tmp_path: Path, how: str) -> None:
    write, unit = WRITTEN[how]
    path = tmp_path / "network.csv"
    rows = [(0, "ann", "A"), (100, "A", "x"), (200, "bob", "A"), (300, "A", "y")]
    path.write_text("time,from,to\n" + "".join(f"{write(t)},{a},{b}\n" for t, a, b in rows[::-1]))
    observation = read_network(path, unit=unit)

    assert observation.arrivals is not None
    assert np.diff(observation.arrivals) == pytest.approx([2e-7])
    audit = am.audit(path, law="exponential", unit=unit, whole_log=True)
    assert audit.identified == 2


def test_rounds_of_a_timed_mix_keep_its_clock_with_times_in_nanoseconds(tmp_path: Path) -> None:
    """Flushes at whole multiples of 3 s since 1970, whatever second the log begins with."""
    made = am.mixes.synthesize("timed:3", messages=60, users=5, receivers=5, seed=1)
    start = 1_700_000_001 // 3 * 3  # a flush
    rows = []
    for side, times, names in (
        ("in", made.arrivals, made.senders),
        ("out", made.departures, made.receivers),
    ):
        rows += [
            f"{start * 10**9 + round(t * 1e9)},{side},{name}\n"
            for t, name in zip(times.tolist(), names, strict=True)
        ]
    path = tmp_path / "log.csv"
    path.write_text("time,direction,name\n" + "".join(rows))
    log = read_messages(path, unit="ns")

    assert log.origin > 0
    expected = am.audit(observe(made, "timed:3", whole_log=True))
    assert am.audit(observe(log, "timed:3", whole_log=True)).bits.value == pytest.approx(
        expected.bits.value
    )
    assert len(am.disclosure.rounds_of_messages(log, "timed:3").rounds) == len(
        am.disclosure.rounds_of_messages(made, "timed:3").rounds
    )


def test_since_and_until_are_compared_to_the_nanosecond(tmp_path: Path) -> None:
    path = named_file(tmp_path / "log.csv", iso)
    for since, until in ((iso(150), iso(350)), (seconds(150), seconds(350))):
        part = am.audit(path, law="exponential:1e-7", since=since, until=until, inside_at_start=0)

        assert part.users["user"].to_list() == ["bob"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("write", [seconds, iso])
def test_fine_times_are_written_and_read_back(
    tmp_path: Path, suffix: str, write: Callable[[int], str]
) -> None:
    log = read_messages(plain_file(tmp_path / "log.csv", write))
    path = tmp_path / f"again.{suffix}"
    write_messages(log, path)
    again = read_messages(path)

    assert (again.origin, again.dates) == (log.origin, log.dates)
    assert again.arrivals == pytest.approx(log.arrivals, abs=1e-12)
    assert again.departures == pytest.approx(log.departures, abs=1e-12)


def test_totals_keep_whole_numbers_of_nanoseconds_apart(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    words = [row[1] for row in ROWS]
    times = [FIRST + row[0] for row in ROWS]
    pl.DataFrame({"time": times, "direction": words}).write_parquet(path)

    assert am.totals(path, law="exponential:1").to_dict()["identified"] == 2


def test_since_of_a_link_log_is_compared_to_the_nanosecond(tmp_path: Path) -> None:
    path = tmp_path / "network.csv"
    rows = [(0, "ann", "A"), (100, "A", "x"), (200, "bob", "A"), (300, "A", "y")]
    path.write_text("time,from,to\n" + "".join(f"{iso(t)},{a},{b}\n" for t, a, b in rows))
    part = read_network(path, "exponential:1e-7", since=iso(150), inside_at_start=0.0)

    assert part.passage is not None
    assert part.passage.users == ("bob",)
