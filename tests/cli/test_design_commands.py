"""Commands about designs, random graphs, attacks, improvements, measures and the paper."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import anonymatch as am
from anonymatch.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert isinstance(record, dict)
    return record


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Three who hide among each other, two likewise, and one alone."""
    path = tmp_path / "groups.csv"
    lines = [f"{user},{did}" for user in "abc" for did in "xyz"]
    lines += ["d,u", "d,v", "e,u", "e,v", "f,w"]
    path.write_text("user,behaviour\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    path = tmp_path / "nobody.csv"
    path.write_text("user,behaviour\na,x\nb,x\nb,y\nc,x\n")
    return path


# ---- design and random


def test_design_answers_with_parts_bound_and_attack(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, "design", "--users", 8, "--edges", 24)

    assert record["count"] == "96"
    assert record["attack"] == "24"
    assert math.isclose(record["bound"], am.max_bound(8, 24))
    assert sum(part["size"] * part["number"] for part in record["parts"]) == 8


def test_design_shows_both_goals_beside_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "design", "--users", 8, "--edges", 24)

    rows = {
        cells[0]: cells[1:]
        for cells in (re.split(r"\s{2,}", line.strip()) for line in out.splitlines())
    }
    matchings, attack = rows["best, most matchings"], rows["best, most left after an attack"]
    assert float(matchings[0]) == 6.585  # 96, of which 24 are left
    assert float(attack[2]) == 4.755  # 81, of which 27 are left
    assert float(matchings[2]) < float(attack[2])
    assert (matchings[3], attack[3]) == ("50 %", "33.3 %")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_design_saves_the_graph(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"design.{suffix}"
    code, _, err = run(capsys, "design", "--users", 10, "--edges", 40, "--out", path)

    assert (code, err.count("\n")) == (0, 1)
    graph = am.read(path)
    assert (graph.n_edges, am.count(graph).value) == (40, 1968)


def test_design_of_ten_million_users(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, "design", "--users", 10**7, "--edges", 10**8, "--method", "paper")

    assert (record["case"], record["ratio"], record["count"]) == ("A", 1.0, None)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--users", 4, "--edges", 3), "edges"),
        (("--users", 4, "--edges", 17), "edges"),
        (("--users", 0, "--edges", 3), "--users"),
        (("--users", "4.5", "--edges", 9), "--users"),
        (("--users", 4, "--edges", 9, "--method", "magic"), "magic"),
        (("--users", 4, "--edges", 9, "--objective", "fame"), "fame"),
        (("--users", 4, "--edges", 9, "--min-part", 5), "min"),
    ],
)
def test_design_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], reason: str
) -> None:
    assert reason in refusal(capsys, "design", *arguments)


def test_random_tells_the_expectation_and_a_distribution(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = answer(capsys, "random", "--users", 6, "--degree", 3, "--samples", 400, "--seed", 3)

    assert math.isclose(record["log_expected"], math.log(720 * 0.5**6))
    drawn = am.random_distribution(6, 3, samples=400, seed=3)
    assert record["mean"] == str(drawn.mean)
    assert record["zero_share"] == drawn.zero_share
    assert record["quantiles"]["0.5"] == str(drawn.quantile(0.5))


def test_random_with_exactly_so_many_edges(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, "random", "--users", 3, "--edges", 5, "--samples", 0)

    assert math.isclose(math.exp(record["log_expected"]), 5 / 7)
    assert record["samples"] == 0


def test_random_needs_one_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--degree" in refusal(capsys, "random", "--users", 3)
    assert "--degree" in refusal(capsys, "random", "--users", 3, "--degree", 2, "--edges", 5)
    assert "k, edges a user" in refusal(capsys, "random", "--users", 3, "--degree", 4)


# ---- attack and improve


def test_attack_in_expectation(capsys: pytest.CaptureFixture[str], groups: Path) -> None:
    record = answer(capsys, "attack", groups, "--steps", 2)

    first, second = record["steps"]
    assert (first["target"], first["expected_left"]) == ("a", "4")
    assert (second["expected_left"], record["exact"]) == ("2", True)
    assert math.isclose(record["log_start"], math.log(12))


def test_attack_along_a_truth(
    capsys: pytest.CaptureFixture[str], groups: Path, tmp_path: Path
) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("user,behaviour\na,z\nb,x\nc,y\nd,v\ne,u\nf,w\n")
    record = answer(capsys, "attack", groups, "--steps", 6, "--truth", truth)

    assert [step["target"] for step in record["steps"]] == ["a", "b", "d"]
    assert [step["behaviour"] for step in record["steps"]] == ["z", "x", "v"]
    assert record["steps"][1]["newly_forced"] == [["c", "y"]]
    assert record["finished"]


def test_attack_on_users_by_name(capsys: pytest.CaptureFixture[str], groups: Path) -> None:
    record = answer(capsys, "attack", groups, "--target", "d", "--target", "f")

    assert [step["target"] for step in record["steps"]] == ["d", "f"]
    assert [Fraction(step["expected_left"]) for step in record["steps"]] == [6, 6]


def test_attack_among_some_users_exposes_them_alone(
    capsys: pytest.CaptureFixture[str], groups: Path
) -> None:
    record = answer(capsys, "attack", groups, "--among", "d", "--among", "b", "--steps", 2)

    assert [step["target"] for step in record["steps"]] == ["b", "d"]


def test_attack_page_has_a_line_a_step(capsys: pytest.CaptureFixture[str], groups: Path) -> None:
    code, out, err = run(capsys, "attack", groups, "--steps", 3, "--truth", "sampled")

    assert (code, err) == (0, "")
    assert "as good a target  a, b, c" in out
    assert "everybody" in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--steps", 7), "6"),
        (("--steps", 0), "--steps"),
        (("--strategy", "luck"), "luck"),
        (("--target", "zoe"), "zoe"),
        (("--among", "zoe"), "--among"),
        (("--among", "a", "--target", "a"), "--among"),
        (("--among", "a", "--strategy", "degree"), "--among"),
        (("--target", "a", "--strategy", "degree"), "--target"),
    ],
)
def test_attack_refuses_what_cannot_be(
    capsys: pytest.CaptureFixture[str], groups: Path, arguments: tuple[object, ...], reason: str
) -> None:
    assert reason in refusal(capsys, "attack", groups, *arguments)


def test_attack_refuses_a_truth_that_is_no_matching(
    capsys: pytest.CaptureFixture[str], groups: Path, tmp_path: Path
) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("user,behaviour\na,u\nb,x\nc,y\nd,v\ne,z\nf,w\n")
    assert "a" in refusal(capsys, "attack", groups, "--truth", truth)
    truth.write_text("user,behaviour\na,x\na,y\nb,x\nc,y\nd,v\ne,u\nf,w\n")
    assert "exactly one behaviour" in refusal(capsys, "attack", groups, "--truth", truth)


def test_improve_names_edges_and_saves_the_graph(
    capsys: pytest.CaptureFixture[str], groups: Path, tmp_path: Path
) -> None:
    out = tmp_path / "better.csv"
    record = answer(capsys, "improve", groups, "--edges", 2, "--out", out)

    better = am.count(am.read(out))
    assert len(record["edges"]) == 2
    assert math.isclose(record["log"], better.log)
    assert better.log > record["log_start"]


def test_improve_says_when_a_gain_is_an_estimate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    blocks = [am.random_density(16, 0.6, seed=seed).to_rows() for seed in (1, 2)]
    rows = [row + "1" * 16 for row in blocks[0]] + ["0" * 16 + row for row in blocks[1]]
    path = tmp_path / "stairs.csv"
    am.write(am.Graph.from_rows(rows), path)

    code, out, _ = run(capsys, "improve", path, "--budget", 0.02)

    assert code == 0
    assert "95 % sure; estimated with seed 0" in " ".join(out.split())
    assert " to " in out.splitlines()[-1]


def test_without_a_matching_there_is_a_reason(
    capsys: pytest.CaptureFixture[str], nobody: Path
) -> None:
    for command in ("attack", "metrics"):
        assert "no perfect matching" in refusal(capsys, command, nobody)


# ---- metrics


def test_metrics_are_estimated_with_the_seed_that_is_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "hard.csv"
    am.write(am.random_regular(40, 8, seed=1), path)

    record = answer(capsys, "metrics", path, "--budget", 0.1, "--seed", 3)

    assert record["count"]["seed"] == 3


def test_metrics_of_the_system_and_of_users(
    capsys: pytest.CaptureFixture[str], groups: Path
) -> None:
    record = answer(capsys, "metrics", groups, "--threshold", 2.5)

    assert math.isclose(record["degree"], math.log(12) / math.log(720))
    assert record["below"] == 0.5
    users = {row["user"]: row for row in record["users"]}
    assert math.isclose(users["a"]["shannon"], math.log2(3))
    assert users["f"]["effective"] == 1.0


def test_metrics_page_begins_with_the_worst_off(
    capsys: pytest.CaptureFixture[str], groups: Path, tmp_path: Path
) -> None:
    out = tmp_path / "users.parquet"
    code, text, _ = run(capsys, "metrics", groups, "--top", 1, "--out", out)

    assert code == 0
    assert "1 of 6" in text
    line = next(line for line in text.splitlines() if line.split()[:1] == ["f"])
    assert line.split()[1:] == ["w", "100", "%", "1", "0", "1"]
    assert pl.read_parquet(out).height == 6


# ---- paper


def test_paper_checks_single_claims(capsys: pytest.CaptureFixture[str]) -> None:
    record = answer(capsys, "paper", "--claim", "figure-2")

    (claim,) = record["claims"]
    assert (claim["id"], claim["verdict"]) == ("figure-2", "holds")


def test_paper_page_shows_the_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "paper.html"
    code, out, _ = run(capsys, "paper", "--claim", "figure-2", "--html", page)

    assert code == 0
    assert "20" in out
    assert "36" in out
    assert "figure-2" in page.read_text()


def test_errata_are_printed_or_written_as_latex(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, printed, _ = run(capsys, "paper", "--claim", "figure-1", "--latex")
    target = tmp_path / "errata.tex"
    written, screen, said = run(capsys, "paper", "--latex", target, "--claim", "figure-1")

    assert (code, written) == (0, 0)
    assert printed.startswith("% Errata")
    assert target.read_text() == printed
    assert "misprint" in screen
    assert f"wrote {target}" in said.replace("\n", "")


def test_errata_and_json_do_not_share_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert "leave out --json" in refusal(capsys, "paper", "--latex", "--json")


@pytest.mark.slow
def test_paper_lists_theorems_before_figures_by_their_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "paper")

    assert code == 0
    assert "arXiv:2606.10133v1" in out
    assert out.index("Theorem 3") < out.index("Figure 1")


def test_paper_refuses_unknown_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert "figure-2" in refusal(capsys, "paper", "--claim", "figure-22")
