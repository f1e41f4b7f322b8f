"""Logs of any length in stretches, beside whole audits of the same logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.mixes import synthesize, write_messages

LAWS = ("exponential:1", "threshold:10", "timed:2", "pool:3,0")


def log(path: Path, law: str, *, messages: int = 3000, rate: float = 5.0) -> Path:
    write_messages(synthesize(law, messages=messages, rate=rate, seed=4), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [7, 500, 10**6])
def test_stretches_of_any_length_add_up_to_the_whole_audit(
    tmp_path: Path, law: str, rows: int
) -> None:
    path = log(tmp_path / "log.parquet", law)
    audit = am.audit(path, law=law, whole_log=True, drained=True)
    totals = am.totals(path, law=law, rows=rows)
    bits = np.sort(np.asarray(audit.users["shannon"], dtype=np.float64))
    assert totals.messages == 3000
    assert totals.entropy == pytest.approx(bits.mean(), abs=1e-9)
    assert totals.worst_1 == pytest.approx(bits[29], abs=1.01e-3)
    assert totals.worst_5 == pytest.approx(bits[149], abs=1.01e-3)
    assert totals.joint_bits == pytest.approx(audit.bits.value, abs=1e-9)
    guesses = np.asarray(audit.users["min_entropy"], dtype=np.float64)
    assert totals.min_entropy == pytest.approx(guesses.mean(), abs=1e-9)
    assert totals.identified == audit.identified
    assert totals.mean_delay == pytest.approx(audit.cost.mean_delay, abs=1e-6)


@pytest.mark.parametrize(
    "law",
    ["pool:3,4", "timed-pool:1,3,0.5", pytest.param("binomial:1,0.5", marks=pytest.mark.slow)],
)
def test_who_is_inside_at_the_end_hardly_matters(tmp_path: Path, law: str) -> None:
    path = log(tmp_path / "log.parquet", law, messages=4000)
    totals = am.totals(path, law=law, rows=300)
    audit = am.audit(path, law=law)
    assert 0 < totals.inside_at_end < 30
    assert totals.entropy == pytest.approx(audit.entropy.value, abs=0.01)
    assert totals.mean_delay == pytest.approx(audit.cost.mean_delay, rel=0.03)


def test_a_mix_that_is_never_empty_needs_no_more_memory(tmp_path: Path) -> None:
    path = log(tmp_path / "log.parquet", "exponential:1", messages=4000, rate=200.0)
    totals = am.totals(path, law="exponential", rows=100)
    assert totals.inside > 150
    assert totals.entropy == pytest.approx(am.totals(path, law="exponential").entropy, abs=1e-9)
    assert totals.entropy < totals.ceiling


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"time": [1.0, 2.0], "direction": ["in", "in"]}, "no message came out"),
        ({"time": [1.0, 2.0], "direction": ["out", "out"]}, "2 messages more"),
        ({"time": [1.0, 2.0], "direction": ["out", "in"]}, "leaves an empty mix"),
        ({"time": [2.0, 1.0], "direction": ["in", "out"]}, "not in order of time"),
        ({"time": [1.0, None], "direction": ["in", "out"]}, "row 2: there is no time"),
        ({"time": [1.0, 2.0], "direction": ["in", "up"]}, "row 2: direction is in or out"),
        ({"time": [1.0, 2.0]}, "no column direction"),
        ({"time": ["a", "b"], "direction": ["in", "out"]}, "must be seconds"),
        (
            {"time": [1.0, 2.0], "direction": ["in", "out"], "cover": [True, False]},
            "column cover flags",
        ),
    ],
)
def test_logs_that_do_not_add_up_are_refused_in_one_line(
    tmp_path: Path, rows: dict[str, Any], words: str
) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(rows).write_parquet(path)
    with pytest.raises(am.InputError, match=words):
        am.totals(path, law="exponential", rows=1)


def test_laws_that_do_not_choose_uniformly_are_refused(tmp_path: Path) -> None:
    path = log(tmp_path / "log.parquet", "exponential:1", messages=10)
    with pytest.raises(am.InputError, match="law must be a mix that chooses uniformly"):
        am.totals(path, law="window:1,5")
    text = tmp_path / "log.csv"
    text.write_text("time,direction\n")
    with pytest.raises(am.InputError, match=r"give a \.parquet file"):
        am.totals(text, law="exponential")


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = log(tmp_path / "log.parquet", "exponential:1", messages=300)
    data = bytearray(path.read_bytes())
    data[20:400] = bytes(380)
    path.write_bytes(data)
    with pytest.raises(am.InputError, match=r"log\.parquet: the Parquet data is damaged"):
        am.totals(path, law="exponential")
