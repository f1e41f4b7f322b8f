"""Logs of rounds from files, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.disclosure import RoundLog, read_rounds, synthesize_rounds, write_rounds

GOOD = (
    "round,direction,user,behaviour,message\n1,in,ann,,m1\n1,in,bob,,m2\n1,out,,x,m2\n1,out,,y,m1\n"
)


def read(folder: Path, text: str, name: str = "rounds.csv") -> RoundLog:
    path = folder / name
    path.write_text(text)
    return read_rounds(path)


def truth(log: RoundLog) -> list[tuple[object, object]]:
    receivers = log.true_receivers()
    assert receivers is not None
    return [
        (log.users[s], log.behaviours[r] if r >= 0 else int(r))
        for s, r in zip(log.sender.tolist(), receivers.tolist(), strict=True)
    ]


def test_rows_become_rounds_with_their_truth(tmp_path: Path) -> None:
    log = read(tmp_path, GOOD)

    assert (log.rounds, log.users, log.behaviours) == ((1,), ("ann", "bob"), ("x", "y"))
    assert truth(log) == [("ann", "y"), ("bob", "x")]


def test_numbers_of_rounds_are_put_in_order_and_names_stay(tmp_path: Path) -> None:
    text = "round,user,behaviour\n10,b,\n10,,x\n9,a,\n9,,x\n"
    log = read(tmp_path, text)
    named = read(tmp_path, text.replace("10", "late").replace("9", "early"))

    assert log.rounds == (9, 10)
    assert "line 4: round 9 comes after round 10; rounds were put in order" in log.notes[-1]
    assert named.rounds == ("late", "early")


def test_lost_and_unknown_messages_differ(tmp_path: Path) -> None:
    text = GOOD.replace("1,out,,y,m1", "1,out,,y,") + "1,in,cem,,\n"
    assert truth(read(tmp_path, text)) == [("ann", -1), ("bob", "x"), ("cem", -2)]


def test_flagged_rows_are_left_out(tmp_path: Path) -> None:
    text = "round,direction,name,cover\n1,in,a,\n1,out,x,false\n1,out,y,true\n"
    log = read(tmp_path, text)

    assert log.behaviours == ("x",)
    assert "left out 1 row of cover traffic or lost messages" in log.notes[-1]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".csv.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, suffix: str) -> None:
    log = synthesize_rounds(7, users=9, friends=2, batch=3, seed=1)
    path = tmp_path / f"rounds{suffix}"
    write_rounds(log, path)
    again = read_rounds(path)

    assert truth(again) == truth(log)
    assert again.rounds == log.rounds
    assert np.array_equal(again.sent, log.sent)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("direction,user,behaviour\nin,a,\n", "round"),
        ("round,user,behaviour\n1,a,x\n", "line 2: there is a user and a behaviour"),
        ("round,user,behaviour\n1,a,\n", "no message out in any round"),
        ("round,user,behaviour\n1,,x\n", "no message in in any round"),
        ("round,user,behaviour\n,a,\n1,,x\n", "line 2: there is no round"),
        ("round,name\n1,a\n", "direction"),
        (GOOD.replace("1,in,bob", "1,up,bob"), "line 3: the direction is 'up'; write in or out"),
        (GOOD.replace("m1\n1,in", "m2\n1,in"), "line 3: message 'm2' is there twice on one side"),
        (GOOD.replace("1,out,,y", "2,out,,y"), "line 2: message 'm1' leaves in another round"),
        ("round,user,behaviour\n", "no rows"),
        ("", "empty"),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(am.InputError, match=words) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path))
