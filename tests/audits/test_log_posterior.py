"""Probabilities of all pairs of a log, compared with enumeration and with the audit."""

from __future__ import annotations

import csv
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.audits import log_posterior
from anonymatch.cli import main
from anonymatch.mixes import Messages, observe, synthesize, write_messages
from anonymatch.running import Budget


def matrix(observation: am.mixes.Observation) -> np.ndarray:
    """Messages by departures; the last column is not being seen again."""
    found = log_posterior(observation, budget=Budget())
    table = np.zeros((len(found.messages), len(found.departures) + 1))
    for rows, columns, values in found.pieces:
        table[rows, columns] = values
    return table


def log_of(arrivals: list[float], departures: list[float]) -> Messages:
    return Messages(
        arrivals=np.sort(arrivals),
        departures=np.sort(departures),
        senders=tuple(f"u{i}" for i in range(len(arrivals))),
        receivers=tuple(f"b{j}" for j in range(len(departures))),
    )


def enumerated(log: Messages, mean: float, loss: float, cover: float) -> np.ndarray:
    """Every explanation of a log by the definition: pairs, lost, still inside, cover."""
    n, m, end = log.n_in, log.n_out, max(log.arrivals[-1], log.departures[-1])
    table, total = np.zeros((n, m + 1)), 0.0
    for ends in itertools.product(range(-2, m), repeat=n):  # -2 inside, -1 lost
        used = [j for j in ends if j >= 0]
        if len(set(used)) < len(used):
            continue
        weight = cover ** (m - len(used))
        for i, j in enumerate(ends):
            if j == -1:
                weight *= loss
            elif j == -2:
                weight *= (1 - loss) * math.exp(-(end - log.arrivals[i]) / mean)
            elif log.departures[j] < log.arrivals[i]:
                weight = 0.0
            else:
                delay = log.departures[j] - log.arrivals[i]
                weight *= (1 - loss) / mean * math.exp(-delay / mean)
        total += weight
        for i, j in enumerate(ends):
            table[i, j if j >= 0 else m] += weight
    return table / total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("loss", "cover"), [(0.0, 0.0), (0.2, 0.3), (0.3, 0.0), (0.0, 0.4)])
def test_pairs_of_an_exponential_mix_are_those_of_the_enumeration(
    seed: int, loss: float, cover: float
) -> None:
    draw = np.random.default_rng(seed)
    came = np.sort(draw.uniform(0, 3, 4))
    gone = np.sort(draw.choice(came, 3, replace=False) + draw.exponential(1.0, 3))
    log = log_of(came.tolist(), gone.tolist())
    seen = observe(log, "exponential:1", loss=loss, cover_rate=cover, whole_log=True)

    assert matrix(seen) == pytest.approx(enumerated(log, 1.0, loss, cover), abs=2e-9)


@pytest.mark.parametrize("law", ["exponential:2", "window:0,4", "threshold:4", "pool:3,2"])
def test_rows_sum_to_one_and_their_largest_is_the_guess_of_the_audit(law: str) -> None:
    log = synthesize(law, messages=60, rate=2.0, seed=3)
    seen = observe(log, law, whole_log=True)
    table = matrix(seen)
    audit = am.audit(seen)

    assert table.sum(axis=1) == pytest.approx(np.ones(len(table)), abs=1e-6)
    likeliest = table[:, :-1].max(axis=1)
    assert likeliest == pytest.approx(audit.users["probability"].to_numpy(), abs=1e-6)


def test_a_log_with_a_law_is_written_message_by_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = synthesize("exponential:2", messages=40, rate=2.0, seed=3)
    path = tmp_path / "log.csv"
    write_messages(log, path)
    tables = []
    for name in ("p.csv", "p.parquet", "p.tsv"):
        assert (
            main(["posterior", str(path), "--law", "exponential:2", "--out", str(tmp_path / name)])
            == 0
        )
        assert "saved " in capsys.readouterr().err
    with (tmp_path / "p.csv").open() as file:
        tables.append(
            [
                (row["message"], row["departure"], float(row["probability"]))
                for row in csv.DictReader(file)
            ]
        )
    frame = pl.read_parquet(tmp_path / "p.parquet")
    assert frame.columns == ["message", "departure", "probability"]
    assert [tuple(row) for row in frame.rows()] == tables[0]
    sums = frame.group_by("message").agg(pl.col("probability").sum())
    assert sums["probability"].to_numpy() == pytest.approx(np.ones(40), abs=1e-6)

    assert main(["posterior", str(path), "--law", "exponential:2", "--json"]) == 0
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (record["version"], record["exact"], record["n_messages"]) == (2, True, 40)
    assert len(record["pairs"]) == frame.height
    assert main(["posterior", str(path), "--law", "exponential:2", "--top", "2"]) == 0
    assert "probability" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--law", "lognormal:2,0.5", "--loss", "0.1"], "no exact probabilities of pairs"),
        (["--law", "exponential:2", "--out", "x.json"], "a log is written as .csv or .tsv"),
    ],
)
def test_a_posterior_that_cannot_be_written_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    path = tmp_path / "log.csv"
    write_messages(synthesize("exponential:2", messages=20, seed=1), path)
    options = [str(tmp_path / one) if one == "x.json" else one for one in options]

    assert main(["posterior", str(path), *options]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert not (tmp_path / "x.json").exists()
