"""Plain logs: read as any other log is, or left to the reader of all logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from anonymatch.base.errors import InputError
from anonymatch.mixes import Messages, read_messages, synthesize
from anonymatch.mixes.formats import message_files
from anonymatch.mixes.formats.message_files import plain_log

Read = Callable[[Path], Messages]


@pytest.fixture
def read_by_polars(monkeypatch: pytest.MonkeyPatch) -> Read:
    def read(path: Path) -> Messages:
        with monkeypatch.context() as patch:
            patch.setattr(message_files, "plain_log", lambda path: None)
            return read_messages(path)

    return read


def same(one: Messages, other: Messages) -> bool:
    arrays = ("arrivals", "departures", "truth", "cover", "lost")
    pairs = [(getattr(one, name), getattr(other, name)) for name in arrays]
    values = [(log.senders, log.receivers, log.dates, log.notes) for log in (one, other)]
    return values[0] == values[1] and all(
        (a is None and b is None)
        or (a is not None and b is not None and a.dtype == b.dtype and np.array_equal(a, b))
        for a, b in pairs
    )


LOG = "time,direction,user,behaviour,message\n0,in,ann,,1\n.5,in,bob,,2\n2,out,,x,2\n3e0,out,,y,1\n"
PLAIN = LOG.replace(".5", "0.5")
HEADER = "time,direction,user,behaviour\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.removesuffix("\n"),
        "direction,behaviour,time,user\nin,,-1.25,ann\nout,x,1.5E+1,\n",
        HEADER + "0,in, ann b ,kept nowhere\n0,in,bob,\n4,out,,Zoë #1\n",
        PLAIN.replace(",,2", ",,").replace("x,2", "x,"),
        PLAIN.replace("0.5", "0.1234567890123456789"),
    ],
)
def test_a_plain_log_is_read_as_polars_reads_it(
    text: str, tmp_path: Path, read_by_polars: Read
) -> None:
    for suffix, separator in ((".csv", ","), (".tsv", "\t")):
        path = tmp_path / f"log{suffix}"
        path.write_text(text.replace(",", separator), encoding="utf-8")
        plain = plain_log(path)
        assert plain is not None
        assert same(plain, read_by_polars(path))


@pytest.mark.parametrize("seed", range(5))
def test_synthesized_logs_are_read_as_polars_reads_them(
    seed: int, tmp_path: Path, read_by_polars: Read
) -> None:
    path = tmp_path / "log.csv"
    log = synthesize("exponential:3", messages=200, seed=seed, users=40, receivers=30)
    message_files.write_messages(log, path)
    plain = plain_log(path)
    assert plain is not None
    assert same(plain, read_by_polars(path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        HEADER,
        LOG,  # a number that begins with its point
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN + "\n",
        PLAIN.replace("ann", '"ann"'),
        PLAIN.replace("user", "User"),
        PLAIN.replace("user", "sender"),
        PLAIN.replace("message", "cover"),
        PLAIN.replace("message", "user"),
        PLAIN.replace(",in,", ",IN,"),
        PLAIN.replace("ann", ""),
        PLAIN.replace("0.5", " 0.5"),
        PLAIN.replace("0.5", "nan"),
        PLAIN.replace("0.5", "٣"),
        PLAIN.replace("0.5", "1e400"),
        PLAIN.replace("3e0", "3e31"),
        PLAIN.replace("0.5", "-1"),  # goes back
        PLAIN.replace("0.5,in,bob,,2", "0,in,ann,,1"),
        PLAIN.replace("y,1", "y,2"),
        PLAIN.replace("3e0", "1").replace("2,out", "0.2,out"),  # leaves before it comes
        PLAIN.replace("0.5,in,bob,,2", "0.5,in,bob,,2,3"),
        PLAIN.replace("0,in,ann,,1\n0.5,in,bob,,2\n", ""),
        HEADER + "1,in,a,\n2,in,b,\n2000,out,,x\n3000,out,,y\n",  # two units
        HEADER + "1800000000000,in,a,\n1800000000001,out,,x\n",  # milliseconds since 1970
        HEADER + "2026-01-01T00:00,in,a,\n2026-01-01T00:01,out,,x\n",
    ],
)
def test_what_may_be_refused_noted_or_spelled_otherwise_is_no_plain_log(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode())
    assert plain_log(path) is None


def test_no_plain_log_is_a_file_that_is_large_missing_or_of_another_kind(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(PLAIN)
    assert plain_log(log) is not None
    log.write_text(PLAIN + "4,out,,z,\n" * 200_000)
    assert plain_log(log) is None
    for name in ("missing.csv", "log.jsonl", "log.csv.gz"):
        assert plain_log(tmp_path / name) is None
    assert plain_log(tmp_path) is None
    log.write_bytes(PLAIN.encode().replace(b"ann", b"\xff"))
    assert plain_log(log) is None
    with pytest.raises(InputError, match="line 2"):
        read_messages(log)
