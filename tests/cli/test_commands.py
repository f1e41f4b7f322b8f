"""What the commands print, for people and as JSON, and how they end."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.cli import main
from anonymatch.cli.demo import EXAMPLE
from anonymatch.cli.words import all_digits

COMMANDS = ("count", "posterior", "bounds", "blocks")


def hard_graph(folder: Path, n: int) -> Path:
    """Random with density 1/2: no short cut but its size."""
    path = folder / f"hard{n}.npz"
    am.write(am.Graph.from_biadjacency(np.random.default_rng(1).integers(0, 2, (n, n))), path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    record = json.loads(out)
    assert isinstance(record, dict)
    return record


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "three.csv"
    path.write_text("user,behaviour\nann,x\nann,y\nbob,x\nbob,y\ncem,y\ncem,z\n")
    return path


@pytest.fixture
def none(tmp_path: Path) -> Path:
    path = tmp_path / "none.csv"
    path.write_text("user,behaviour\nann,x\nbob,x\ncem,x\ncem,y\ncem,z\n")
    return path


# ---- JSON


def test_count_as_json_has_the_attributes_of_count(
    capsys: pytest.CaptureFixture[str], three: Path
) -> None:
    record = answer(capsys, "count", three)

    keys = "exact,value,log,log2,low,high,confidence,method,seed,plan,witness"
    assert set(keys.split(",")) <= set(record)
    assert (record["exact"], record["value"], record["log2"]) == (True, "2", pytest.approx(1.0))
    assert record["low"] == record["high"] == record["log"] == pytest.approx(math.log(2))
    assert (record["confidence"], record["witness"]) == (1.0, None)


def test_no_matching_is_an_answer_with_null_logs(
    capsys: pytest.CaptureFixture[str], none: Path
) -> None:
    record = answer(capsys, "count", none)

    assert (record["value"], record["log"], record["low"]) == ("0", None, None)
    assert record["witness"] == {"users": ["ann", "bob"], "behaviours": ["x"]}


def test_long_counts_are_all_digits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    n = 2000  # 5736 digits: more than Python turns into text by default
    path = tmp_path / "full.npz"
    am.write(am.Graph.from_rows([range(n)] * n), path)

    record = answer(capsys, "count", path)

    assert record["value"] == all_digits(math.factorial(n))
    assert len(record["value"]) == 5736


def test_posterior_as_json_has_every_edge(capsys: pytest.CaptureFixture[str], three: Path) -> None:
    record = answer(capsys, "posterior", three, "--counts")

    assert record["exact"]
    assert record["edges"][0] == {"user": "ann", "behaviour": "x", "chance": 0.5, "count": "1"}
    assert record["edges"][-1] == {"user": "cem", "behaviour": "z", "chance": 1.0, "count": "2"}


def test_bounds_as_json_enclose_the_count(capsys: pytest.CaptureFixture[str], three: Path) -> None:
    record = answer(capsys, "bounds", three)

    assert record["lower"] <= math.log(2) <= record["upper"] <= record["bregman"]


def test_blocks_as_json_say_who_is_identified_and_why(
    capsys: pytest.CaptureFixture[str], three: Path
) -> None:
    record = answer(capsys, "blocks", three)

    assert [block["users"] for block in record["blocks"]] == [["ann", "bob"], ["cem"]]
    reason = "nobody else fits z"
    assert record["forced"] == [{"user": "cem", "behaviour": "z", "reason": reason}]
    assert record["forced_share"] == pytest.approx(1 / 3)


def test_demo_as_json_is_the_whole_audit(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, "demo")

    assert record["count"]["value"] == "272"
    assert [pair["user"] for pair in record["forced"]] == ["gus", "jon"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_shared_options(
    capsys: pytest.CaptureFixture[str], three: Path, command: str
) -> None:
    shared = ("--seed", 1, "--budget", 10, "--memory", 1, "--threads", 1, "--exact")

    assert answer(capsys, command, three, *shared) == answer(capsys, command, three)


# ---- for people


def test_count_says_what_it_means(capsys: pytest.CaptureFixture[str], three: Path) -> None:
    code, out, err = run(capsys, "count", three, "--explain")

    assert (code, err) == (0, "")
    assert out.startswith("three.csv: 3 users, 3 behaviours, 6 edges\n")
    assert "matchings   2 " in out
    assert "1 bits" in out
    assert "block of 2 users, 4 edges" in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "\x1b" not in out


def test_count_without_matching_names_who_fits_too_little(
    capsys: pytest.CaptureFixture[str], none: Path
) -> None:
    code, out, _ = run(capsys, "count", none)

    assert code == 0
    assert "2 users (ann, bob) together fit only 1 behaviour (x)" in out


def test_digits_prints_all_of_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "full.npz"
    am.write(am.Graph.from_rows([range(30)] * 30), path)

    assert str(math.factorial(30)) not in run(capsys, "count", path)[1]
    assert str(math.factorial(30)) in run(capsys, "count", path, "--digits")[1]


def test_beyond_the_budget_the_count_is_a_proven_interval(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = hard_graph(tmp_path, 30)

    code, out, _ = run(capsys, "count", path, "--budget", 0)
    record = answer(capsys, "count", path, "--budget", 0)

    assert code == 0
    assert "proven interval" in out
    assert "allow it with --budget" in out
    assert not record["exact"]
    assert record["low"] < record["high"]


def test_posterior_lists_the_most_certain_users_first(
    capsys: pytest.CaptureFixture[str], three: Path
) -> None:
    _, out, _ = run(capsys, "posterior", three, "--top", 1)

    assert "cem   z            100 %       1 of 2" in out
    assert "bob" not in out
    assert "2 users who are not worse off" in out


def test_blocks_says_who_is_identified(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "blocks", EXAMPLE)

    assert "gus did 09:00:17: nothing but 09:00:17 fits." in out
    assert "jon did 09:00:29: what else fits is needed by hal, ida" in out
    assert "whose behaviour is certain: 16.7 % of all" in out


def test_demo_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demo")

    assert (code, err) == (0, "")
    for part in ("272 ", "8.087 bits", "84.6 % of it", "gus did", "equally likely"):
        assert part in out


def test_names_cannot_command_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"\x1b[2Jann": ["[bold]x"], "bob\nbob": ["y"]}))

    code, out, _ = run(capsys, "posterior", path)

    assert code == 0
    assert "\x1b" not in out
    assert "\\x1b[2Jann" in out
    assert "[bold]x" in out
    assert "bob\\nbob" in out


def test_notes_on_a_file_go_to_standard_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "more.csv"
    path.write_text("user,behaviour,colour\nann,x,red\n")

    code, out, err = run(capsys, "count", path, "--json")

    assert code == 0
    assert json.loads(out)["value"] == "1"
    assert err.startswith("note: ")
    assert err.count("\n") == 1


# ---- files


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "json", "jsonl"])
def test_chances_are_saved_in_every_format(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"chances.{suffix}"
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "csv": pl.read_csv,
        "tsv": lambda place: pl.read_csv(place, separator="\t"),
        "parquet": pl.read_parquet,
        "json": pl.read_json,
        "jsonl": pl.read_ndjson,
    }

    code, _, err = run(capsys, "posterior", EXAMPLE, "--out", path)
    frame = readers[suffix](path)

    assert (code, err) == (0, f"saved 36 chances in {path}\n")
    assert frame.columns == ["user", "behaviour", "chance"]
    assert frame["chance"].sum() == pytest.approx(12)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_sample_is_seeded_and_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "drawn.csv"
    draw = ("sample", EXAMPLE, "--size", 3, "--seed")
    first, again, other = (answer(capsys, *draw, seed) for seed in (1, 1, 2))

    assert run(capsys, *draw, 1, "--out", path)[0] == 0
    assert first["matchings"] == again["matchings"] != other["matchings"]
    lines = path.read_text().splitlines()
    assert lines[0] == "matching,user,behaviour"
    assert lines[1] == f"0,ann,{first['matchings'][0][0]}"
    assert len(lines) == 1 + 3 * 12


def test_sample_shows_some_matchings(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "sample", EXAMPLE, "--size", 6)

    assert "gus   09:00:17    09:00:17    09:00:17    09:00:17" in out
    assert "... and 2 more" in out


def test_convert_keeps_the_graph(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "convert", EXAMPLE, tmp_path / "mix.json.gz")[0] == 0
    assert am.read(tmp_path / "mix.json.gz") == am.read(EXAMPLE)


# ---- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["count", "nowhere.csv"], "no such file"),
        (["count"], "missing argument"),
        (["cuont"], "no such command"),
        (["count", EXAMPLE, "--frob"], "--frob"),
        (["count", EXAMPLE, "--budget", "much"], "--budget"),
        (["count", EXAMPLE, "--budget", "nan"], "--budget"),
        (["count", EXAMPLE, "--threads", "0"], "--threads"),
        (["count", EXAMPLE, "--seed", "-1"], "--seed"),
        (["count", EXAMPLE, "--method", "magic"], "magic"),
        (["posterior", EXAMPLE, "--out", "nowhere/chances.csv"], "nowhere/chances.csv"),
        (["posterior", EXAMPLE, "--out", "chances.doc"], ".parquet"),
        (["convert", EXAMPLE, "graph.doc"], "graph.doc"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_one_line_and_code_2(
    arguments: list[object],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    code, out, err = run(capsys, *arguments, "--json")

    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_posterior_without_matching_is_bad_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.csv"
    path.write_text("user,behaviour\nann,x\nbob,x\n")

    code, out, err = run(capsys, "posterior", path)

    assert (code, out) == (2, "")
    assert err.startswith("error: no perfect matching: 2 users (ann, bob) fit only")


def test_a_refusal_names_the_cost_and_the_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = run(capsys, "count", hard_graph(tmp_path, 36), "--exact", "--budget", 0)

    assert (code, out) == (2, "")
    assert "an exact answer would take about" in err
    assert "allow it with --budget" in err
