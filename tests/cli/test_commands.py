"""What the commands print, for people and as JSON, and how they end."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import anonymatch as am
from anonymatch.base.numbers import all_digits
from anonymatch.cli import json_output, main
from anonymatch.cli.commands.files import EXAMPLE
from anonymatch.cli.options import Options
from anonymatch.cli.screens import methods
from anonymatch.running.budget import usable_cores

COMMANDS = ("count", "posterior", "bounds", "blocks")


def hard_graph(folder: Path, n: int) -> Path:
    """Random with density 1/2: no short cut but its size."""
    path = folder / f"hard{n}.npz"
    am.write(am.Graph.from_biadjacency(np.random.default_rng(1).integers(0, 2, (n, n))), path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


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
    assert record["edges"][0] == {"user": "ann", "behaviour": "x", "probability": 0.5, "count": "1"}
    assert record["edges"][-1] == {
        "user": "cem",
        "behaviour": "z",
        "probability": 1.0,
        "count": "2",
    }


def test_posterior_shows_the_matchings_through_best_guesses(
    capsys: pytest.CaptureFixture[str], three: Path
) -> None:
    code, out, _ = run(capsys, "posterior", three, "--counts")
    lines = [line.split() for line in out.splitlines()]

    assert code == 0
    assert ["cem", "z", "100", "%", "1", "of", "2", "2"] in lines
    assert ["ann", "x", "50", "%", "2", "of", "2", "1"] in lines
    assert "matchings" not in run(capsys, "posterior", three)[1].split("hides among")[1]


def test_a_graph_that_is_too_large_to_build_is_refused_as_that(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "log.csv"
    run(capsys, "synthesize", "window:0,900", log, "--messages", 400)

    code, out, err = run(capsys, "audit", log, "--law", "window:0,900", "--memory", 1e-6)

    assert (code, out) == (2, "")
    assert "building a graph of" in err
    assert "exact" not in err


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
    assert [one["sender"] for one in record["worst"][:2]] == ["gus", "jon"]
    assert record["identified"] == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_shared_options(
    capsys: pytest.CaptureFixture[str], three: Path, command: str
) -> None:
    shared = ("--seed", 1, "--budget", 10, "--memory", 1, "--threads", 1, "--exact")

    assert answer(capsys, command, three, *shared) == answer(capsys, command, three)


def test_readers_get_no_more_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLARS_MAX_THREADS", "")

    for threads in (1, 1024):
        Options(threads=threads).limit_readers()
        assert os.environ["POLARS_MAX_THREADS"] == str(min(threads, usable_cores()))


# ---- for people


def test_count_says_what_it_means(capsys: pytest.CaptureFixture[str], three: Path) -> None:
    code, out, err = run(capsys, "count", three, "--explain")

    assert (code, err) == (0, "")
    assert out.startswith("three.csv: 3 users, 3 behaviours, 6 edges\n")
    assert "matchings  2 " in out
    assert "anonymity  1 bit " in out
    assert "at most    2.585 bits  if everybody fitted everything; 38.7 % of it" in out
    assert "found by   adding up   user after user" in out
    assert "block of 2 users, 4 edges" in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "\x1b" not in out


def test_count_without_matching_names_who_fits_too_little(
    capsys: pytest.CaptureFixture[str], none: Path
) -> None:
    code, out, _ = run(capsys, "count", none)

    assert code == 0
    assert "2 users (ann, bob) together fit only 1 behaviour (x)" in out


def test_bounds_without_matching_give_the_same_reason(
    capsys: pytest.CaptureFixture[str], none: Path
) -> None:
    _, out, _ = run(capsys, "bounds", none)

    assert "2 users (ann, bob) together fit only 1 behaviour (x)" in out
    assert answer(capsys, "bounds", none)["witness"] == answer(capsys, "count", none)["witness"]


def test_no_plan_is_explained_where_nothing_was_counted(
    capsys: pytest.CaptureFixture[str], none: Path
) -> None:
    assert run(capsys, "count", none, "--explain") == run(capsys, "count", none)


def test_bounds_say_what_they_rest_on(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "bounds", EXAMPLE)

    assert "any graph with as many edges at each user (Bregman)" in out
    assert "upper" not in out
    assert "stochastic" not in out


@pytest.mark.parametrize("weight", [None, 2])
def test_every_bound_and_every_method_has_a_meaning(weight: int | None) -> None:
    graph = am.ring(6, 3)
    if weight is not None:
        graph = am.Graph.from_edges([(*edge, weight) for edge in graph.to_edges()])
    none = am.Graph.from_rows(["10", "10"])

    for name in (*am.bounds(graph).all, *am.bounds(none).all):
        assert methods.bound(name) != name
    for method in ("auto", "classes", "closed_form", "frontier", "ryser", "glynn"):
        used = am.count(am.complete(5), method=method).method
        assert methods.in_words(used)[1] != "see --explain"


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

    assert "cem   z                 100 %       1 of 2" in out
    assert "bob" not in out
    assert "2 users who are not worse off" in out


def test_blocks_names_who_hides_among_whom(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "blocks", EXAMPLE)
    _, short, _ = run(capsys, "blocks", EXAMPLE, "--top", 1)

    assert "- ann, bob, cem, dan, eva, fay: 6 users, 6 behaviours\n" in out
    assert "- hal, ida: 2 users, 2 behaviours\n" in out
    assert "hal, ida: 2" not in short
    assert "... and 2 blocks that are not larger; --top 0 shows all" in short
    assert "... and 1 more; --top 0 shows all" in short


def test_names_of_large_blocks_are_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "full.npz"
    am.write(am.complete(3000), path)

    _, out, _ = run(capsys, "blocks", path)

    assert "- 0, 1, 2, 3, 4, 5, 6, 7 and 2,992 more: 3,000 users, 3,000 behaviours" in out


def test_blocks_says_who_is_identified(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "blocks", EXAMPLE)

    assert "gus did 09:00:17: nothing but 09:00:17 fits." in out
    assert "jon did 09:00:29: what else fits is needed by hal, ida" in out
    assert "whose behaviour is certain: 16.7 % of all" in out


def test_demo_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demo")

    assert (code, err) == (0, "")
    for part in ("272 ", "0.674", "84.6 %", "nothing but 09:00:17 fits", "equally likely"):
        assert part in out
    assert "needed by hal" in out


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
def test_probabilities_are_saved_in_every_format(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"probabilities.{suffix}"
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "csv": pl.read_csv,
        "tsv": lambda position: pl.read_csv(position, separator="\t"),
        "parquet": pl.read_parquet,
        "json": pl.read_json,
        "jsonl": pl.read_ndjson,
    }

    code, _, err = run(capsys, "posterior", EXAMPLE, "--out", path)
    frame = readers[suffix](path)

    assert (code, err) == (0, f"saved 36 probabilities in {path}\n")
    assert frame.columns == ["user", "behaviour", "probability"]
    assert frame["probability"].sum() == pytest.approx(12)
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


def test_sample_shows_some_users(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    am.write(am.ring(1000, 2), path)

    _, out, _ = run(capsys, "sample", path, "--top", 3)
    _, standard, _ = run(capsys, "sample", path)

    assert out.splitlines()[-1].strip().startswith("... and 997 more users (--top 0 shows all)")
    assert len(standard.splitlines()) < 40
    assert len(answer(capsys, "sample", path)["matchings"][0]) == 1000


def test_one_is_singular(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("user,behaviour\nann,x\n")

    assert str(am.count(am.read(path))).startswith("1 matching (")
    explained = run(capsys, "count", path, "--method", "closed_form", "--explain")[1]
    assert "block of 1 user, 1 edge:" in explained
    saved = run(capsys, "sample", path, "--out", tmp_path / "drawn.csv")[2]
    assert saved.startswith("saved 1 matching in")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
@pytest.mark.parametrize("command", ["posterior", "sample"])
def test_names_that_are_no_text_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, suffix: str
) -> None:
    path = tmp_path / "half.json"
    path.write_text(r'{"a\ud800": ["x"]}')

    code, _, err = run(capsys, command, path, "--out", tmp_path / f"saved.{suffix}")

    assert code == 2
    assert err.endswith(r"the name 'a\ud800' cannot be written as UTF-8" + "\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["half.json"]


def test_what_cannot_be_written_goes_by_its_own_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = Path.open

    def refuse(self: Path, mode: str = "r", **more: Any) -> Any:
        if mode != "xb":
            return really(self, mode, **more)
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "open", refuse)

    code, _, err = run(capsys, "posterior", EXAMPLE, "--out", tmp_path / "probabilities.csv")

    assert code == 2
    assert err == (
        f"error: {tmp_path}/probabilities.csv: cannot write it (Read-only file system); "
        "choose another place\n"
    )


def test_long_lists_are_written_in_pieces(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"none": [], "few": [1, 2], "many": [[k] for k in range(11)], "x": {"y": [1, 2, 3]}}
    monkeypatch.setattr(json_output, "_PIECE", 3)

    json_output.print_json(record)

    assert json.loads(capsys.readouterr().out) == {"version": 2} | record


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
        (["count", EXAMPLE, "--budget", "-1"], "give 0 or more"),
        (["count", EXAMPLE, "--threads", "0"], "from 1 to 1024"),
        (["count", EXAMPLE, "--threads", "5000"], "from 1 to 1024"),
        (["count", EXAMPLE, "--threads", "two"], "'two' is not a whole number"),
        (["count", EXAMPLE, "--seed", "-1"], "from 0"),
        (["count", EXAMPLE, "--method", "magic"], "magic"),
        (["count", EXAMPLE, "--method", "classes"], "'auto'"),
        (["sample", EXAMPLE, "--method", "frontier"], "no choice of methods"),
        (["sample", EXAMPLE, "--size", "1" + "0" * 11], "give a smaller --size"),
        (["sample", EXAMPLE, "--size", "1" + "0" * 30], "give a smaller --size"),
        (["sample", EXAMPLE, "--sise", "3"], "'anonymatch sample --help'"),
        (["posterior", EXAMPLE, "--out", "nowhere/probabilities.csv"], "nowhere/probabilities.csv"),
        (["posterior", EXAMPLE, "--out", "probabilities.doc"], ".parquet"),
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
    assert "Input should" not in err
    assert "method=" not in err
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
    assert "an exact count would take about" in err
    assert "allow it with --budget" in err


def test_a_refused_campaign_names_what_else_is_affordable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = hard_graph(tmp_path, 20)
    code, out, err = run(capsys, "attack", path, "--steps", 3, "--budget", "0.03")

    assert (code, out) == (2, "")
    assert err.startswith("error: 3 steps along each of 100 sampled truths would take ")
    assert "; allow it with --budget 1, or take fewer truths with --samples " in err


# ---- estimates


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    path = tmp_path / "hard.csv"
    am.write(am.random_regular(40, 8, seed=1), path)
    return path


def test_an_estimate_is_told_with_its_seed_and_what_is_proven(
    capsys: pytest.CaptureFixture[str], hard: Path
) -> None:
    code, out, _ = run(capsys, "count", hard, "--budget", "0.2", "--seed", "3")
    words = " ".join(out.split())

    assert code == 0
    for part in ("95 % sure interval", "an estimate", "seed 3", "proven", "need no luck"):
        assert part in words
    record = answer(capsys, "count", hard, "--budget", "0.2", "--seed", "3")
    assert record["confidence"] == 0.95
    assert record["seed"] == 3
    assert record["effective"] > 1
    assert record["proven"][0] <= record["low"] <= record["log"] <= record["high"]


def test_estimated_probabilities_have_errors(
    capsys: pytest.CaptureFixture[str], hard: Path
) -> None:
    record = answer(capsys, "posterior", hard, "--budget", "0.2")

    assert record["confidence"] == 0.95
    assert all(0 < edge["error"] <= record["error"] for edge in record["edges"])
    code, out, _ = run(capsys, "posterior", hard, "--budget", "0.2")
    assert code == 0
    assert "estimated with seed 0" in " ".join(out.split())
    code, _, err = run(capsys, "posterior", hard, "--budget", "0.2", "--counts")
    assert code == 2
    assert "not exact" in err


def test_what_a_chain_has_drawn_is_said(
    capsys: pytest.CaptureFixture[str], hard: Path, tmp_path: Path
) -> None:
    path = tmp_path / "sparse.npz"
    am.write(am.random_regular(120, 4, seed=1), path)
    code, out, err = run(capsys, "sample", path, "--budget", "0.2", "--size", "2")

    assert code == 0
    assert "nearly independently" in out
    assert "note: matchings of 120 users come from a Markov chain" in err
    code, out, err = run(capsys, "sample", hard, "--budget", "2", "--size", "2")
    assert (code, "nearly" in out, err) == (0, False, "")  # dense: by rejection


def test_a_promise_is_kept_or_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = hard_graph(tmp_path, 40)
    record = answer(capsys, "count", path, "--epsilon", 0.2, "--delta", 0.01)

    assert (record["method"], record["confidence"], record["exact"]) == (
        "guaranteed draws",
        0.99,
        False,
    )
    assert record["high"] - record["low"] <= math.log(1.2 / 0.8) + 1e-9
    for bad in (0, 1, 7):
        code, _, err = run(capsys, "count", path, "--epsilon", bad)
        assert (code, err.count("\n"), "epsilon must" in err) == (2, 1, True)


def test_names_in_tables_for_people_are_no_formulas(tmp_path: Path) -> None:
    """A spreadsheet would run them; one apostrophe less gives each name back."""
    from anonymatch.cli.saving import save

    names = ["=cmd|' /C calc'!A0", "+1+1", "-x", "@sum", "\tx", "'=x", "-0.5", "ann", "o'neill"]
    columns = {"user": names, "behaviour": ["x"] * len(names), "probability": [-0.5] * len(names)}
    written = ["'" + name for name in names[:6]] + names[6:]
    for suffix in (".csv", ".tsv"):
        save(columns, tmp_path / f"table{suffix}")
        with pytest.warns(am.FileNote, match="ignored columns: 'probability'"):
            assert list(am.read(tmp_path / f"table{suffix}").users) == written
    save(columns, tmp_path / "table.parquet")
    with pytest.warns(am.FileNote, match="ignored columns: 'probability'"):
        assert list(am.read(tmp_path / "table.parquet").users) == names


def test_graphs_and_logs_keep_names_that_look_like_formulas(tmp_path: Path) -> None:
    """They are written to be read again, and must name the same users."""
    graph = am.Graph.from_edges([("=1+1", "@x"), ("'-y", "+z")])
    am.write(graph, tmp_path / "graph.csv")

    assert am.read(tmp_path / "graph.csv") == graph


def test_the_table_of_commands_names_the_module_of_each_function() -> None:
    from anonymatch.cli.app import load_command
    from anonymatch.cli.commands import COMMANDS

    for name, module in COMMANDS.items():
        function = load_command(name).function
        assert function.__module__ == f"anonymatch.cli.commands.{module}"
        assert function.__name__ == name.split()[-1]
